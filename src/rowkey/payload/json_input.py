"""Request bodies in JSON: an object as its members by name, annotations among them."""

import json
from typing import Any

import orjson

from rowkey.errors import DuplicatePropertiesSpecified, InvalidInput


def read_object(body: bytes) -> dict[str, Any]:
    """The members of a JSON object; raises InvalidInput, or DuplicatePropertiesSpecified for a name given twice.

    An integer of any length is an int, all other numbers are floats.
    """
    try:
        value = orjson.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        raise InvalidInput from None
    if not isinstance(value, dict):
        raise InvalidInput
    # The parser keeps the last of two equal names. Without them, the quotes in the body are those around the names and
    # around the strings among the values; only where that does not add up is the body parsed again. So it is where the
    # parser may have made a float of an integer, which it does beyond 64 bits.
    types = list(map(type, value.values()))
    if _count_quotes(body) != 2 * (len(value) + types.count(str)) or (float in types and _has_large_float(value)):
        return _read_closely(body)
    return value


def _count_quotes(body: bytes) -> int:
    """The number of quotes that are not escaped; -1 where it cannot be told without parsing."""
    if b"\\" not in body:
        return body.count(b'"')
    return -1 if b"\\\\" in body else body.count(b'"') - body.count(b'\\"')


def _has_large_float(value: dict[str, Any]) -> bool:
    for item in value.values():  # noqa: SIM110 - `any` with a generator takes twice as long
        if type(item) is float and not -_LARGE < item < _LARGE:
            return True
    return False


_LARGE = 2.0**63


def _read_closely(body: bytes) -> dict[str, Any]:
    """The members of an object that has been parsed already, by a slower parser that keeps everything."""

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            raise DuplicatePropertiesSpecified
        return members

    try:
        value: dict[str, Any] = json.loads(body.removeprefix(b"\xef\xbb\xbf"), object_pairs_hook=collect)
    except (ValueError, RecursionError):
        raise InvalidInput from None
    return value
