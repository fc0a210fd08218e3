"""Delete Table: DELETE /Tables('name')."""

from dataclasses import dataclass
from typing import Self

from rowkey.model.rights import Right
from rowkey.operations.operation import Operation
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.preconditions import refuse_conditions
from rowkey.wire.request import Response


@dataclass(slots=True)
class DeleteTable(Operation):
    """A missing table is ResourceNotFound here, not TableNotFound (recorded)."""

    right = Right.DELETE_TABLE

    name: str

    @classmethod
    def decode(cls, call: Call) -> Self:
        refuse_conditions(call.request)
        return cls(call.resource.table)

    async def run(self, store: Store, account: str) -> None:
        await store.delete_table(account, self.name)

    def respond(self, call: Call, result: None) -> Response:
        return Response(204)
