"""Where a page starts: the continuation parameters of a query, and the headers that name the next page."""

from collections.abc import Mapping

from rowkey.errors import InvalidInput
from rowkey.model.entity import Key
from rowkey.odata.tokens import read_table_token, read_token, write_plain_or_token, write_table_token, write_token
from rowkey.wire.version import Version


def read_entity_start(options: Mapping[str, str]) -> Key | None:
    """The first key of the page that NextPartitionKey and NextRowKey, or the `$ct` of 2008, ask for.

    Raises InvalidInput for a malformed token, and for both forms at once.
    """
    partition_key, row_key = _option(options, "nextpartitionkey"), _option(options, "nextrowkey")
    history = options.get("$ct")
    if history:
        if partition_key or row_key:
            raise InvalidInput
        return Key(*history.partition("/")[::2])
    if not partition_key and not row_key:
        return None
    return Key(read_token(partition_key), read_token(row_key))


def read_table_start(options: Mapping[str, str]) -> str:
    """The lower-cased name with which the page of tables starts."""
    token = _option(options, "nexttablename")
    history = options.get("$ct")
    if history:
        if token:
            raise InvalidInput
        return history.lower()
    return read_table_token(token) if token else ""


def write_continuation(text: str, version: Version) -> str:
    """A key as a continuation header: raw for clients of 2008 where that is possible, else a token."""
    return write_token(text) if version.text is not None else write_plain_or_token(text)


def write_table_continuation(name: str, created: int, version: Version) -> str:
    """A table as a continuation header; its token carries the time of its creation (recorded)."""
    return write_table_token(name, created) if version.text is not None else name


def _option(options: Mapping[str, str], lower_name: str) -> str:
    """A continuation parameter; their names are matched in any letter case."""
    for name, value in options.items():
        if name.lower() == lower_name:
            return value
    return ""
