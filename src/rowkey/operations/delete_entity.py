"""Delete Entity: DELETE /Table(PartitionKey='p',RowKey='r') with If-Match."""

from dataclasses import dataclass
from typing import Self

from rowkey.model.names import verify_key_value
from rowkey.model.rights import Right
from rowkey.model.writes import Mode, Write
from rowkey.operations.entity_write import EntityWrite
from rowkey.wire.call import Call
from rowkey.wire.preconditions import require_condition
from rowkey.wire.request import Response


@dataclass(slots=True)
class DeleteEntity(EntityWrite):
    """Removes an entity that exists; Prefer has no effect (recorded, 50 of 50)."""

    right = Right.DELETE

    @classmethod
    def decode(cls, call: Call) -> Self:
        condition = require_condition(call.request)
        key = call.resource.key
        verify_key_value("PartitionKey", key.partition_key)
        verify_key_value("RowKey", key.row_key)
        return cls(call.resource.table, Write(Mode.DELETE, key, {}, condition))

    def respond(self, call: Call, result: None) -> Response:
        return Response(204)
