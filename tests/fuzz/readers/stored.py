"""What is stored: keys and wire text."""

from __future__ import annotations

import json

import orjson

from rowkey.model.entity import Key, compose_entity, members_of, split_entities, wire_members
from rowkey.model.key_range import key_order
from rowkey.store.embedded.key_code import read_key, table_prefix, write_key
from tests.fuzz.readers.given import NOW


def read_stored(data: bytes) -> None:
    """Stored keys and wire text: what is written is read back, in the same order."""
    text = data.decode("utf-16-le", "surrogatepass") if len(data) % 2 == 0 else data.decode("utf-8", "replace")
    text = "".join(c for c in text if c != "\0" and not "\ud800" <= c <= "\udfff")
    half = len(text) // 2
    key, other = Key(text[:half], text[half:]), Key(text[half:], text[:half])
    codes = [write_key(table_prefix(1), one) for one in (key, other)]
    assert [read_key(code) for code in codes] == [key, other]
    assert (codes[0] < codes[1]) == (key_order(key) < key_order(other))
    name, value = orjson.dumps(f"N{half}").decode(), orjson.dumps(text).decode()
    value = value.encode("ascii", "backslashreplace").decode() if value.isascii() else json.dumps(text)
    members = {f"N{half}": f"{name}:{value}"}
    entity = compose_entity(key, NOW, members)
    assert members_of(entity.text) == members
    assert [member.text for member in wire_members(entity.text)][-1] == members[f"N{half}"]
    assert split_entities(",".join([entity.text] * 3)) == [entity.text] * 3
