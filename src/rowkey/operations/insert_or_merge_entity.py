"""Insert Or Merge Entity: MERGE or PATCH /Table(PartitionKey='p',RowKey='r') without If-Match."""

from dataclasses import dataclass
from typing import Self

from rowkey.model.rights import Right
from rowkey.model.writes import Mode
from rowkey.operations.entity_write import EntityChange, decode_change
from rowkey.wire.call import Call
from rowkey.wire.preconditions import read_condition


@dataclass(slots=True)
class InsertOrMergeEntity(EntityChange):
    """Stores an entity, or adds to the one that is there."""

    right = Right.UPSERT

    @classmethod
    def decode(cls, call: Call) -> Self:
        return cls(*decode_change(call, Mode.MERGE, read_condition))
