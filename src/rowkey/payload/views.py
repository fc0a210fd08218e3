"""How an answer shows entities and tables: in which format, which properties, under whose address."""

from collections.abc import Sequence
from dataclasses import dataclass

from rowkey.model.shape import WHOLE, Shape
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


def shape_of(wanted: Format, select: Sequence[str] | None) -> Shape:
    """What of its entities a page is made of; the formats that say more than is stored need all of it."""
    shape = _SHAPES.get(wanted, WHOLE)
    return shape if select is None or wanted not in _SHAPES else shape._replace(names=tuple(select))


_SHAPES = {Format.MINIMAL_METADATA: WHOLE, Format.NO_METADATA: Shape(has_control=False)}


def entity_link(table: str, partition_key: str, row_key: str) -> str:
    """An entity's address relative to its account's, as the service writes it."""
    return f"{table}(PartitionKey='{quote_key(partition_key)}',RowKey='{quote_key(row_key)}')"
