"""How an answer shows entities and tables: in which format, which properties, under whose address."""

from collections.abc import Sequence
from dataclasses import dataclass

from rowkey.model.entity import WireMember, json_string, ordinal, unescape
from rowkey.wire.media import Format
from rowkey.wire.target import quote_key


@dataclass(slots=True)
class EntityView:
    """How the entities of one answer are shown.

    `base` is the account's URL, `table` the name as the client addressed it, `select` the names asked for (None: all),
    `select_text` the option as sent, decoded (None: not sent), and `now` the time of the answer in ticks.
    """

    format: Format
    base: str
    account: str
    table: str
    now: int
    select: Sequence[str] | None = None
    select_text: str | None = None


@dataclass(slots=True)
class TableView:
    """How the tables of one answer are shown; the fields are those of EntityView."""

    format: Format
    base: str
    account: str
    now: int
    select_text: str | None = None


_SYSTEM_ORDER = ("PartitionKey", "RowKey", "Timestamp")


def select_members(members: Sequence[WireMember], names: Sequence[str]) -> list[WireMember]:
    """The selected properties only: system ones first, the others by ordinal name, missing ones null (recorded)."""
    present = {unescape(member.name): member for member in members}
    ordered = [name for name in _SYSTEM_ORDER if name in names]
    ordered += sorted((name for name in names if name not in _SYSTEM_ORDER), key=ordinal)
    return [present.get(name) or _missing(json_string(name)) for name in ordered]


def _missing(name_text: str) -> WireMember:
    return WireMember(name_text[1:-1], None, "null", f"{name_text}:null")


def entity_link(table: str, partition_key: str, row_key: str) -> str:
    """An entity's address relative to its account's, as the service writes it."""
    return f"{table}(PartitionKey='{quote_key(partition_key)}',RowKey='{quote_key(row_key)}')"
