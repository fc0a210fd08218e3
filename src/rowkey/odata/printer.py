"""A tree back to `$filter` text: `parse_filter(print_filter(tree)) == tree` for every tree that was parsed."""

from collections.abc import Callable
from typing import Any, Final

from rowkey.model.datetimes import format_datetime
from rowkey.model.edm import EdmType
from rowkey.odata.ast import And, BooleanProperty, Comparison, Constant, Filter, Fixed, Not, Or


def print_filter(tree: Filter) -> str:
    """The text of a filter, with no more parentheses than it needs."""
    match tree:
        case Comparison(name, operator, constant):
            return f"{name} {operator} {print_constant(constant)}"
        case BooleanProperty(name):
            return name
        case Fixed(value):
            return "true" if value else "false"
        case Not(operand):
            return f"not ({print_filter(operand)})"
        case And(operands):
            return " and ".join(f"({print_filter(o)})" if isinstance(o, Or) else print_filter(o) for o in operands)
        case Or(operands):
            return " or ".join(map(print_filter, operands))


def print_constant(constant: Constant) -> str:
    """The literal of a constant."""
    return _PRINTERS[constant.edm_type](constant.value)


def _print_string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _print_double(value: float) -> str:
    text = repr(value)
    return {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(text, text)


_PRINTERS: Final[dict[EdmType, Callable[[Any], str]]] = {
    EdmType.STRING: _print_string,
    EdmType.BINARY: lambda value: f"X'{value.hex()}'",
    EdmType.BOOLEAN: lambda value: "true" if value else "false",
    EdmType.DATETIME: lambda ticks: f"datetime'{format_datetime(ticks)}'",
    EdmType.DOUBLE: _print_double,
    EdmType.GUID: lambda text: f"guid'{text}'",
    EdmType.INT32: str,
    EdmType.INT64: lambda value: f"{value}L",
}
