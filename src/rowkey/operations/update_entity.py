"""Update Entity: PUT /Table(PartitionKey='p',RowKey='r') with If-Match."""

from dataclasses import dataclass
from typing import Self

from rowkey.model.rights import Right
from rowkey.model.writes import Mode
from rowkey.operations.entity_write import EntityChange, decode_change
from rowkey.wire.call import Call
from rowkey.wire.preconditions import require_condition


@dataclass(slots=True)
class UpdateEntity(EntityChange):
    """Replaces an entity that exists."""

    right = Right.CHANGE

    @classmethod
    def decode(cls, call: Call) -> Self:
        return cls(*decode_change(call, Mode.SET, require_condition))
