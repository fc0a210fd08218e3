"""Drop Index: DELETE /name?comp=indexes&property=Name, an addition of Rowkey's own."""

from dataclasses import dataclass

from rowkey.errors import Layer, ResourceNotFound
from rowkey.operations.front_end import require_addressed_table
from rowkey.operations.index_change import IndexChange
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.request import Response


@dataclass(slots=True)
class DropIndex(IndexChange):
    """204, however large the index is; 404 ResourceNotFound where there is none."""

    async def run(self, store: Store, account: str) -> None:
        table = await require_addressed_table(store, account, self.table)
        try:
            await store.drop_index(table, self.name)
        except ResourceNotFound as error:
            error.layer = Layer.FRONT_END
            raise

    def respond(self, call: Call, result: None) -> Response:
        return Response(204, layer=Layer.FRONT_END)
