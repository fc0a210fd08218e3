"""List Indexes: GET /name?comp=indexes, an addition of Rowkey's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import orjson

from rowkey.errors import Layer
from rowkey.model.rights import Right
from rowkey.operations.operation import Operation, require_table
from rowkey.store.interface import Index, Store
from rowkey.wire.call import Call
from rowkey.wire.request import Response


@dataclass(slots=True)
class ListIndexes(Operation):
    """JSON whatever `Accept` says: `{"indexes": [{"property": ..., "state": ..., "entries": ...}]}`."""

    right = Right.INDEXES

    table: str

    @classmethod
    def decode(cls, call: Call) -> Self:
        return cls(call.resource.table)

    async def run(self, store: Store, account: str) -> Sequence[Index]:
        table = await require_table(store, account, self.table)
        return await store.list_indexes(table)

    def respond(self, call: Call, result: Sequence[Index]) -> Response:
        indexes = [
            {"property": index.name, "state": "ready" if index.is_ready else "building", "entries": index.entries}
            for index in result
        ]
        headers = [("Content-Type", "application/json")]
        return Response(200, headers, orjson.dumps({"indexes": indexes}), layer=Layer.FRONT_END)
