"""Drop Index: DELETE /name?comp=indexes&property=Name, an addition of Rowkey's own."""

from dataclasses import dataclass

from rowkey.errors import Layer
from rowkey.operations.index_change import IndexChange
from rowkey.operations.operation import require_table
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.request import Response


@dataclass(slots=True)
class DropIndex(IndexChange):
    """204, however large the index is; 404 ResourceNotFound where there is none."""

    async def run(self, store: Store, account: str) -> None:
        await store.drop_index(await require_table(store, account, self.table), self.name)

    def respond(self, call: Call, result: None) -> Response:
        return Response(204, layer=Layer.FRONT_END)
