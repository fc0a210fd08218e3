"""The eight Edm types, and the spelling of their values that all payload formats share.

Sources: the data model page (ranges), recorded answers (spelling of doubles, dates and GUIDs).
"""

import math
import re
from enum import StrEnum

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


class EdmType(StrEnum):
    """The types a property may have; the value is the name on the wire."""

    STRING = "Edm.String"
    BINARY = "Edm.Binary"
    BOOLEAN = "Edm.Boolean"
    DATETIME = "Edm.DateTime"
    DOUBLE = "Edm.Double"
    GUID = "Edm.Guid"
    INT32 = "Edm.Int32"
    INT64 = "Edm.Int64"


_GUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def parse_guid(text: str) -> str:
    """The lower-case spelling of a GUID; ValueError for anything but 8-4-4-4-12 hexadecimal digits."""
    if _GUID.fullmatch(text) is None:
        raise ValueError("not a GUID")
    return text.lower()


def parse_integer(text: str, lowest: int, highest: int) -> int:
    """A decimal integer between two bounds; ValueError otherwise."""
    if _INTEGER.fullmatch(text) is None:
        raise ValueError("not an integer")
    value = int(text)
    if not lowest <= value <= highest:
        raise ValueError("out of range")
    return value


def parse_double(text: str) -> float:
    """A finite double in decimal spelling; ValueError otherwise, also for one past the range of the type."""
    if _DOUBLE.fullmatch(text) is None:
        raise ValueError("not a number")
    value = float(text)
    if math.isinf(value):
        raise ValueError("out of range")
    return value


def format_double(value: float) -> str:
    """A finite double as .NET's round-trip format spells it, always with a point or an exponent.

    15 significant digits if they read back to the same value, else 17; an exponent from 1E+15 (1E+17) up and
    from 1E-05 down. The service was recorded to spell all of 1,300 doubles so. Python's `repr` is the shortest text
    that reads back: where that has at most 15 digits the two agree on the digits, though not on the notation.
    """
    shortest = repr(value)
    length = len(shortest)
    if "e" not in shortest and (length <= 16 or (length == 18 and shortest[0] not in "-0" and shortest[-1] != "0")):
        return shortest  # at most 15 digits, or all of 17
    digits = 15
    figures, exponent = _split_figures(shortest)
    if len(figures) > 15:
        digits = 17
        figures, exponent = _split_figures(f"{value:.16e}")
    sign = "-" if shortest[0] == "-" else ""
    point = exponent + 1  # the decimal point stands after this many figures
    if point > digits or point < -3:
        tail = f".{figures[1:]}" if len(figures) > 1 else ""
        return f"{sign}{figures[0]}{tail}E{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{figures}"
    if len(figures) <= point:
        return f"{sign}{figures}{'0' * (point - len(figures))}.0"
    return f"{sign}{figures[:point]}.{figures[point:]}"


def _split_figures(text: str) -> tuple[str, int]:
    """The significant digits of a number's text, and the power of ten of the first."""
    mantissa, _, exponent = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    figures = digits.lstrip("0")
    power = len(whole) - 1 - (len(digits) - len(figures)) + int(exponent or 0)
    return figures.rstrip("0") or "0", power


def utf16_length(text: str) -> int:
    """Number of UTF-16 code units, the unit of every length limit of the service."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
