"""Removing metrics that have become too old, a little at a time."""

from itertools import groupby

import orjson

from rowkey.errors import ResourceNotFound
from rowkey.model.entity import Key, split_entities
from rowkey.model.key_range import FIRST_KEY, KeyRange
from rowkey.model.writes import Condition, Mode, Write
from rowkey.observe.metrics_tables import TICKS_PER_HOUR, partition_key_of
from rowkey.store.interface import Scan, Store, Table

_REMOVED_AT_ONCE = 100
"""Entities that are looked at and removed in one step; requests of clients come in between."""


async def remove_entities_before(store: Store, table: Table, moment: int, *, start: Key = FIRST_KEY) -> Key | None:
    """Remove some of the entities of hours that were over at `moment` (ticks), from `start` on.

    Returns where to go on, None when there are no more. Entities that another process removes are no matter.
    """
    end = Key(partition_key_of(moment - moment % TICKS_PER_HOUR), "")
    page = await store.scan(table, Scan([KeyRange(start, end)], limit=_REMOVED_AT_ONCE))
    values = (orjson.loads(text) for text in split_entities(page.text))
    keys = [Key(entity["PartitionKey"], entity["RowKey"]) for entity in values]
    for _, partition in groupby(keys, key=lambda key: key.partition_key):
        try:
            await store.write(table, [Write(Mode.DELETE, key, {}, Condition.EXISTS) for key in partition])
        except ResourceNotFound:
            continue
    return page.next_key
