r"""An entity, kept as its own wire text.

At rest and in every result an entity is the text that a feed entry has in JSON with minimal metadata:

    {"odata.etag":"W/\"datetime'...'\"","PartitionKey":"p","RowKey":"r","Timestamp":"...","Qty":3,"Big@odata.type":...}

pure ASCII, without blanks, properties in wire order. Stores keep it, pages are these texts joined by commas, and the
other metadata levels and formats are derived from it, so that the common answer costs no encoding at all.

A *member* is the text of one custom property with its annotation: `"Big@odata.type":"Edm.Int64","Big":"255"`.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import NamedTuple

import orjson

from rowkey.model.datetimes import format_datetime
from rowkey.model.edm import EdmType, utf16_length

Members = Mapping[str, str]
"""Custom properties by name, in wire order; the value is the member text."""


class Key(NamedTuple):
    """The address of an entity in its table; compares by code point, which is not the order of results."""

    partition_key: str
    row_key: str


class Entity(NamedTuple):
    """A stored entity: `timestamp` in ticks and its wire text (see the module)."""

    timestamp: int
    text: str

    @property
    def etag(self) -> str:
        """The ETag, as the text states it."""
        return etag_of(self.text)


def compose_entity(key: Key, timestamp: int, members: Members) -> Entity:
    """The entity with these custom properties as of `timestamp`."""
    head, time = _format_stamp(timestamp)
    partition_key, row_key = json_string(key.partition_key), json_string(key.row_key)
    tail = f",{','.join(members.values())}}}" if members else "}"
    return Entity(timestamp, f'{head}{partition_key},"RowKey":{row_key},{time}{tail}')


@lru_cache(maxsize=16)
def _format_stamp(timestamp: int) -> tuple[str, str]:
    """The text before the partition key and the Timestamp member; the entities of a transaction share them."""
    time = format_datetime(timestamp)
    escaped = time.replace(":", "%3A")
    return f'{{"odata.etag":"W/\\"datetime\'{escaped}\'\\"","PartitionKey":', f'"Timestamp":"{time}"'


def etag_of(text: str) -> str:
    """The ETag that an entity's wire text begins with."""
    end = text.index("'", _ETAG_TIME_START)
    return f"W/\"datetime'{text[_ETAG_TIME_START:end]}'\""


_ETAG_TIME_START = len('{"odata.etag":"W/\\"datetime\'')

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_MEMBER = re.compile(rf'(?:"[^"]*@odata\.type":("Edm\.[A-Za-z0-9]+"),)?"([^"]*)":({_STRING}|[^,}}]+)')


class WireMember(NamedTuple):
    """One member as it stands in wire text: JSON texts of name (without quotes), annotation and value."""

    name: str
    edm_type: str | None
    value: str
    text: str


def wire_members(text: str) -> list[WireMember]:
    r"""All members of an entity's wire text in order, odata.etag and the system properties among them.

    Names are as written, that is with `\uXXXX` escapes. Only for text that `compose_entity` made.
    """
    return [WireMember(match[2], match[1] and match[1][1:-1], match[3], match[0]) for match in _MEMBER.finditer(text)]


_HEAD = re.compile(rf'\{{("odata\.etag":"[^,]*"),"PartitionKey":({_STRING}),"RowKey":({_STRING}),')


def split_head(text: str) -> tuple[str, str, str, str]:
    """The ETag's member of an entity's wire text, the JSON texts of its keys, and what follows them to the end."""
    match = _HEAD.match(text)
    assert match is not None
    return match[1], match[2], match[3], text[match.end() :]


def split_entities(texts: str) -> list[str]:
    """The wire texts that `texts` joins. Raw quotes stand only around strings, so the mark is unambiguous."""
    if not texts:
        return []
    first, *others = texts.split(',{"odata.etag":')
    return [first, *('{"odata.etag":' + other for other in others)]


SYSTEM_NAMES = frozenset({"odata.etag", "PartitionKey", "RowKey", "Timestamp"})


def members_of(text: str) -> dict[str, str]:
    """The custom properties of an entity's wire text."""
    return {
        (member.name if "\\" not in member.name else unescape(member.name)): member.text
        for member in wire_members(text)
        if member.name not in SYSTEM_NAMES
    }


def ordinal(name: str) -> bytes:
    """A sort key: the order of UTF-16 code units, which is the service's order of names and keys."""
    return name.encode("utf-16-be", "surrogatepass")


def entity_bytes(key: Key, members: Members) -> int:
    """Size of an entity by the service's published formula.

    4 + 2 * (units of both keys) + for each property 8 + 2 * (units of its name) + the size of its value.
    """
    size = 4 + 2 * (utf16_length(key.partition_key) + utf16_length(key.row_key))
    for name, text in members.items():
        (member,) = wire_members(text)
        size += 8 + 2 * utf16_length(name) + _value_bytes(member)
    return size


_FIXED_BYTES = {EdmType.INT64: 8, EdmType.DATETIME: 8, EdmType.DOUBLE: 8, EdmType.GUID: 16}


def _value_bytes(member: WireMember) -> int:
    value = member.value
    if member.edm_type is None:
        if value[0] == '"':
            return 2 * utf16_length(unescape(value[1:-1])) + 4
        if value in ("true", "false"):
            return 1
        return 4 if value.lstrip("-").isdigit() else 8
    if member.edm_type == EdmType.BINARY:
        return (len(value) - 2) // 4 * 3 - value[-3:-1].count("=") + 4
    return _FIXED_BYTES[EdmType(member.edm_type)]


def json_string(text: str) -> str:
    r"""`text` as the service writes a JSON string: pure ASCII, lower-case `\uXXXX` (recorded, 18 of 18).

    U+007F is ASCII and stands as it is, which the standard library's encoder would escape.
    """
    if text.isascii():
        return orjson.dumps(text).decode("ascii")
    if "\x7f" in text:
        return '"' + "\x7f".join(encode_basestring_ascii(part)[1:-1] for part in text.split("\x7f")) + '"'
    return encode_basestring_ascii(text)


_ESCAPE = re.compile(r'\\(?:u([0-9a-f]{4})|(["\\/bfnrt]))')
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescape(text: str) -> str:
    """The text of a JSON string (without its quotes) that `json_string` wrote."""
    if "\\" not in text:
        return text
    units = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _SHORT_ESCAPES.get(m[2], m[2]), text)
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
