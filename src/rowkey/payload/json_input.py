"""Request bodies in JSON: an object as its members by name, annotations among them."""

import json
from typing import Any

import orjson

from rowkey.errors import DuplicatePropertiesSpecified, InvalidInput


def read_object(body: bytes) -> dict[str, Any]:
    """The members of a JSON object; raises InvalidInput, or DuplicatePropertiesSpecified for a name given twice."""
    try:
        value = orjson.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        raise InvalidInput from None
    if not isinstance(value, dict):
        raise InvalidInput
    # The parser keeps the last of two equal names. Without them, the quotes in the body are those around the names and
    # around the strings among the values; only where that does not add up is the body parsed again.
    strings = list(map(type, value.values())).count(str)
    if _count_quotes(body) != 2 * (len(value) + strings):
        _verify_unique(body)
    return value


def _count_quotes(body: bytes) -> int:
    """The number of quotes that are not escaped; -1 where it cannot be told without parsing."""
    if b"\\" not in body:
        return body.count(b'"')
    return -1 if b"\\\\" in body else body.count(b'"') - body.count(b'\\"')


def _verify_unique(body: bytes) -> None:
    def collect(pairs: list[tuple[str, Any]]) -> None:
        if len({name for name, _ in pairs}) != len(pairs):
            raise DuplicatePropertiesSpecified

    try:
        json.loads(body.removeprefix(b"\xef\xbb\xbf"), object_pairs_hook=collect)
    except (ValueError, RecursionError):
        raise InvalidInput from None
