"""A `$filter` as an SQL condition that is never too strict.

SQLite cannot decide as the service does (types, big integers, DateTime ticks, missing properties); it can leave out
most of what cannot match, without the interpreter. So each comparison becomes a condition that holds at least wherever
the evaluator says true, and the evaluator decides about what is left. What has no such condition is left out of an
`and`, and makes an `or` or a `not` useless: None, everything may match.

Why each comparison is safe, with v = `body ->> '$.name'` (NULL for a missing property, which matches no comparison):

* a string equals a constant only where v is that text;
* a number equals a number only where v is that number (SQLite compares integers and reals exactly) or, for Int64 and
  the special doubles, which are JSON strings, its text;
* for the ordering of numbers every text passes too, and for that of strings everything that is no text: the
  service orders values of different types (`odata/evaluator.py`);
* strings are ordered by UTF-16 units there and by UTF-8 bytes here: the same as long as the constant has
  nothing above U+D7FF.
"""

import re

from rowkey.model.datetimes import format_datetime
from rowkey.model.edm import EdmType
from rowkey.odata.ast import And, BooleanProperty, Comparison, Filter, Fixed, Not, Or

_SQL_OPERATORS = {"eq": "=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_NUMBERS = frozenset({EdmType.INT32, EdmType.INT64, EdmType.DOUBLE})
_ASCII_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_COMPARISONS_MAX = 200
"""SQLite bounds the depth of an expression and the number of its parameters; longer filters are not narrowed."""


def narrow(predicate: Filter) -> tuple[str, list[str | int | float]]:
    """The condition and its parameters; `TRUE` where nothing can be left out."""
    parameters: list[str | int | float] = []
    condition = _condition(predicate, parameters)
    if condition is None or len(parameters) > _COMPARISONS_MAX:
        return "TRUE", []
    return condition, parameters


def _condition(predicate: Filter, parameters: list[str | int | float]) -> str | None:
    match predicate:
        case Comparison():
            return _comparison(predicate, parameters)
        case BooleanProperty(name) if _ASCII_NAME.fullmatch(name):
            return f"(body ->> '$.{name}')"
        case And(operands):
            known = [text for item in operands if (text := _condition(item, parameters)) is not None]
            return f"({' AND '.join(known)})" if known else None
        case Or(operands):
            mark = len(parameters)
            branches = [_condition(item, parameters) for item in operands]
            if any(branch is None for branch in branches):
                del parameters[mark:]
                return None
            return f"({' OR '.join(branch for branch in branches if branch)})"
        case Not() | Fixed() | BooleanProperty():
            return None


def _comparison(comparison: Comparison, parameters: list[str | int | float]) -> str | None:
    value, edm_type, operator = comparison.constant.value, comparison.constant.edm_type, comparison.operator
    sql_operator = _SQL_OPERATORS.get(operator)
    if sql_operator is None or not _ASCII_NAME.fullmatch(comparison.name):
        return None
    column = f"body ->> '$.{comparison.name}'"
    if edm_type in _NUMBERS and isinstance(value, int | float):
        if value != value or abs(value) > 2**63 - 1:  # NaN, or past what SQLite holds exactly
            return None
        if operator == "eq":
            parameters += [value, str(int(value)) if value == int(value) else "NaN"]
            return f"({column} IN (?, ?))"
        parameters.append(value)
        return f"({column} {sql_operator} ? OR typeof({column}) = 'text')"
    if edm_type is EdmType.STRING and isinstance(value, str):
        if operator != "eq" and (comparison.name == "Timestamp" or any(character > "\ud7ff" for character in value)):
            return None  # Timestamp is a date without an annotation
        parameters.append(value)
        if operator == "eq":
            return f"({column} = ?)"
        return f"({column} {sql_operator} ? OR typeof({column}) <> 'text' OR {_is_annotated(comparison.name)})"
    if operator == "eq" and edm_type is EdmType.GUID and isinstance(value, str):
        parameters.append(value)
        return f"({column} = ?)"
    if operator == "eq" and edm_type is EdmType.DATETIME and isinstance(value, int):
        parameters.append(format_datetime(value))
        return f"({column} = ?)"
    if operator == "eq" and edm_type is EdmType.BOOLEAN:
        parameters.append(int(bool(value)))
        return f"({column} = ?)"
    return None


def _is_annotated(name: str) -> str:
    return f"body ->> '$.\"{name}@odata.type\"' IS NOT NULL"
