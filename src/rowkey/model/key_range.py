r"""Ranges of keys, always half open, in the order of results.

The order is PartitionKey, then RowKey, each by UTF-16 code units. The string that follows `s` at once in that order is
`s + "\0"`: so every kind of bound becomes a half-open one, and no stored key contains U+0000.
"""

from typing import NamedTuple

from rowkey.model.entity import Key


class KeyRange(NamedTuple):
    """The keys from `start` on and before `end`; `end` None is the end of the table."""

    start: Key
    end: Key | None


FIRST_KEY = Key("", "")
WHOLE_TABLE = KeyRange(FIRST_KEY, None)


def successor(text: str) -> str:
    """The string that follows `text` at once in ordinal order."""
    return text + "\0"


def key_order(key: Key) -> tuple[bytes, bytes]:
    """A sort key for the order of results."""
    return (
        key.partition_key.encode("utf-16-be", "surrogatepass"),
        key.row_key.encode("utf-16-be", "surrogatepass"),
    )
