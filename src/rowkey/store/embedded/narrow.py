"""A `$filter` as an SQL condition that is never too strict.

SQLite cannot decide as the service does (types, big integers, DateTime ticks, missing properties); it can leave out
most of what cannot match, without the interpreter. So each comparison becomes a condition that holds at least wherever
the evaluator says true, and the evaluator decides about what is left. What has no such condition is left out of an
`and`, and makes an `or` or a `not` useless: None, everything may match.

Why each comparison is safe, with v = `body ->> '$.name'` (NULL for a missing property, which matches no comparison).
SQLite orders all numbers before all texts, and booleans are the numbers 0 and 1 to it. Looking v up
is much of the cost, so it is asked for once where that is possible.

* A string equals a constant only where v is that text.
* A number equals a number only where v is that number (SQLite compares integers and reals exactly) or, for Int64 and
  the special doubles, which are JSON strings, its text.
* For the ordering of numbers every text passes too. Texts are greater than any number, so for `gt` and `ge` they do so
  by themselves, and for the others v is not between the constant and infinity.
* Below a string comes everything that is no string: numbers by themselves, and what has an annotation. Above it come
  strings alone. They are ordered by UTF-16 units there and by UTF-8 bytes here: the same as long as the constant has
  nothing above U+D7FF.
* Dates are texts that agree in their order as far as the seconds; above a date comes every string, too.
* What differs from a number or a string is not equal to it; but `true` differs from 1, which it equals here.
"""

import math
import re

from rowkey.model.datetimes import format_datetime
from rowkey.model.edm import EdmType
from rowkey.odata.ast import And, BooleanProperty, Comparison, Filter, Fixed, Not, Or

_SQL_OPERATORS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_NUMBERS = frozenset({EdmType.INT32, EdmType.INT64, EdmType.DOUBLE})
_ASCII_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_SECONDS_LENGTH = len("YYYY-MM-DDThh:mm:ss")
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
    if not _ASCII_NAME.fullmatch(comparison.name):
        return None
    column = f"body ->> '$.{comparison.name}'"
    if edm_type in _NUMBERS and isinstance(value, int | float):
        return _number(column, operator, value, parameters)
    if edm_type is EdmType.STRING and isinstance(value, str):
        return _string(comparison.name, operator, value, parameters)
    if operator == "eq" and edm_type is EdmType.GUID and isinstance(value, str):
        parameters.append(value)
        return f"({column} = ?)"
    if edm_type is EdmType.DATETIME and isinstance(value, int):
        return _datetime(comparison.name, operator, value, parameters)
    if operator == "eq" and edm_type is EdmType.BOOLEAN:
        parameters.append(int(bool(value)))
        return f"({column} = ?)"
    return None


def _number(column: str, operator: str, value: float, parameters: list[str | int | float]) -> str | None:
    if value != value or abs(value) > 2**63 - 1:  # NaN, or past what SQLite holds exactly
        return None
    match operator:
        case "eq":
            parameters += [value, str(int(value)) if value == int(value) else "NaN"]
            return f"({column} IN (?, ?))"
        case "ne" if value in (0, 1):
            return None
        case "lt" | "le":
            parameters.append(value if operator == "lt" else math.nextafter(float(value), math.inf))
            return f"({column} NOT BETWEEN ? AND 9e999)"
        case _:
            parameters.append(value)
            return f"({column} {_SQL_OPERATORS[operator]} ?)"


def _string(name: str, operator: str, value: str, parameters: list[str | int | float]) -> str | None:
    if operator not in ("eq", "ne") and any(character > "\ud7ff" for character in value):
        return None
    if operator != "eq" and name == "Timestamp":  # a date without an annotation
        return None
    parameters.append(value)
    condition = f"body ->> '$.{name}' {_SQL_OPERATORS[operator]} ?"
    return f"({condition})" if operator in ("eq", "gt", "ge") else f"({condition} OR {_is_annotated(name)})"


def _datetime(name: str, operator: str, ticks: int, parameters: list[str | int | float]) -> str | None:
    text = format_datetime(ticks)
    seconds = text[:_SECONDS_LENGTH]  # what follows is a point and digits, or a Z, which would come after the point
    column = f"body ->> '$.{name}'"
    match operator:
        case "eq":
            parameters.append(text)
            return f"({column} = ?)"
        case "lt" | "le":
            parameters.append(seconds + "[")  # which comes after the Z
            return f"({column} < ?)"
        case "gt" | "ge" if name == "Timestamp":
            parameters.append(seconds)
            return f"({column} >= ?)"
        case "gt" | "ge":
            parameters.append(seconds)
            return f"({column} >= ? OR {column} IS NOT NULL AND NOT {_is_annotated(name)})"
        case _:
            return None


def _is_annotated(name: str) -> str:
    return f"(body ->> '$.\"{name}@odata.type\"' IS NOT NULL)"
