"""Add Index: PUT /name?comp=indexes&property=Name, an addition of Rowkey's own."""

from dataclasses import dataclass

from rowkey.errors import Layer
from rowkey.operations.index_change import IndexChange
from rowkey.operations.operation import require_table
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.request import Response


@dataclass(slots=True)
class AddIndex(IndexChange):
    """202 for a new index, which is built after the answer; 200 for one that is there."""

    async def run(self, store: Store, account: str) -> bool:
        table = await require_table(store, account, self.table)
        return await store.add_index(table, self.name)

    def respond(self, call: Call, result: bool) -> Response:
        return Response(202 if result else 200, layer=Layer.FRONT_END)
