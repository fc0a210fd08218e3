r"""The value code: values of properties as bytes whose order agrees with what comparisons say.

An index of a property keeps for each entity that has it

    tag (1 byte) | the value, in the order of its type

| tag | type | bytes after it |
|---|---|---|
| 10 | Edm.Boolean | 00 or 01 |
| 20 | Edm.Int32, Edm.Int64, Edm.Double | 8: the nearest double, its sign turned so that bytes sort as numbers do |
| 28 | NaN | none |
| 30 | Edm.DateTime | 8: ticks, big endian |
| 40 | Edm.Guid | 16: its digits |
| 50 | Edm.Binary | the value; of more than 48 bytes the first 48 and a digest of all |
| 60 | Edm.String | UTF-8 of its UTF-16 units, whose bytes sort as the units do; of more than 48 bytes as above |

Codes may be equal where values are not, as those of big integers, and long values sort by their beginnings alone. So a
comparison becomes spans of codes, both ends included, outside of which it is certainly false; within them the evaluator
decides (`odata/evaluator.py`). It is the evaluator, too, that orders types: a string comes after everything else, which
is why its tag is the last, and other types have no order among each other.
"""

import struct
from binascii import a2b_base64
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from rowkey.model.datetimes import parse_datetime
from rowkey.model.edm import EdmType
from rowkey.odata.ast import Comparison, Constant

PREFIX_BYTES = 48
_DIGEST_BYTES = 8

_BOOLEAN, _NUMBER, _NOT_A_NUMBER, _DATETIME, _GUID, _BINARY, _STRING = (
    bytes([tag]) for tag in (0x10, 0x20, 0x28, 0x30, 0x40, 0x50, 0x60)
)
_OTHER = b"\x08"
"""A type that this version does not know: present, and before all strings."""
_FIRST, _LAST = b"", b"\xff"
_AFTER_VALUES = b"\xff" * (PREFIX_BYTES + _DIGEST_BYTES + 1)
"""After a tag: past all values of the type."""


class Span(NamedTuple):
    """Codes from `low` to `high`, both included."""

    low: bytes
    high: bytes


def write_value(values: Mapping[str, Any], name: str) -> bytes | None:
    """The code of a property, given an entity's decoded wire text; None where the entity does not have it."""
    value = values.get(name)
    if isinstance(value, str):
        edm_type = values.get(f"{name}@odata.type")
        if edm_type is None:
            return _write_text(value) if name != "Timestamp" else _DATETIME + _write_ticks(value)
        write = _ANNOTATED.get(edm_type)
        return _OTHER if write is None else write(value)
    if value is None:
        return None
    return _BOOLEAN + bytes([value]) if isinstance(value, bool) else _write_number(value)


def spans_of(comparison: Comparison) -> tuple[Span, ...] | None:
    """The spans outside of which a comparison is certainly false; None where these would be no use."""
    operator, constant = comparison.operator, comparison.constant
    if operator == "ne":
        return None
    code = _write_constant(constant)
    if operator == "eq":
        return () if code == _NOT_A_NUMBER else (Span(code, code),)
    prefix = code[: 1 + PREFIX_BYTES]
    lowest, highest = prefix, prefix if len(code) <= 1 + PREFIX_BYTES else prefix + b"\xff" * _DIGEST_BYTES
    if constant.edm_type is EdmType.STRING:
        return (Span(_FIRST, highest),) if operator in ("lt", "le") else (Span(lowest, _LAST),)
    tag = code[:1]
    of_its_type = Span(tag, highest) if operator in ("lt", "le") else Span(lowest, tag + _AFTER_VALUES)
    spans = () if code == _NOT_A_NUMBER else (of_its_type,)
    return spans if operator in ("lt", "le") else (*spans, Span(_STRING, _LAST))


def intersect(left: Sequence[Span], right: Sequence[Span]) -> tuple[Span, ...]:
    """What is in a span of both."""
    both = (Span(max(one.low, other.low), min(one.high, other.high)) for one in left for other in right)
    return tuple(span for span in both if span.low <= span.high)


def _write_constant(constant: Constant) -> bytes:
    value = constant.value
    match constant.edm_type:
        case EdmType.STRING:
            return _write_text(str(value))
        case EdmType.BOOLEAN:
            return _BOOLEAN + bytes([bool(value)])
        case EdmType.DATETIME:
            ticks = int(value)
            return _DATETIME + ticks.to_bytes(8, "big") if ticks >= 0 else _DATETIME  # before all that is stored
        case EdmType.GUID:
            return _write_guid(str(value))
        case EdmType.BINARY:
            return _BINARY + _shorten(value if isinstance(value, bytes) else b"")
        case _:
            return _write_number(value if isinstance(value, int | float) else 0)


def _write_number(number: float) -> bytes:
    double = float(number) + 0.0  # so that -0.0 and 0.0, which are equal, have one code
    if double != double:
        return _NOT_A_NUMBER
    (bits,) = _BITS.unpack(_DOUBLE.pack(double))
    return _NUMBER + _BITS.pack(bits ^ (_ALL_BITS if bits & _SIGN else _SIGN))


_DOUBLE, _BITS = struct.Struct(">d"), struct.Struct(">Q")
_SIGN, _ALL_BITS = 1 << 63, (1 << 64) - 1


def _write_ticks(text: str) -> bytes:
    return parse_datetime(text).to_bytes(8, "big")


def _write_guid(text: str) -> bytes:
    return _GUID + bytes.fromhex(text.replace("-", ""))


_ANNOTATED: Mapping[str, Callable[[str], bytes]] = {
    "Edm.Binary": lambda text: _BINARY + _shorten(a2b_base64(text)),
    "Edm.DateTime": lambda text: _DATETIME + _write_ticks(text),
    "Edm.Double": lambda text: _write_number(float(text)),
    "Edm.Guid": _write_guid,
    "Edm.Int64": lambda text: _write_number(int(text)),
}


def _write_text(text: str) -> bytes:
    if text.isascii() or max(text) <= "\uffff":
        return _STRING + _shorten(text.encode("utf-8", "surrogatepass"))
    raw = text.encode("utf-16-be", "surrogatepass")
    units = struct.unpack(f">{len(raw) // 2}H", raw)
    return _STRING + _shorten("".join(map(chr, units)).encode("utf-8", "surrogatepass"))


def _shorten(value: bytes) -> bytes:
    """What fits into an index: equal values stay equal, and the order of the beginnings stays as it is."""
    if len(value) <= PREFIX_BYTES:
        return value
    return value[:PREFIX_BYTES] + blake2b(value, digest_size=_DIGEST_BYTES).digest()
