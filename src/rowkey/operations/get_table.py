"""Get Table (the reference's Query Tables with a name): GET /Tables('name')."""

from dataclasses import dataclass
from typing import Self

from rowkey.errors import ResourceNotFound
from rowkey.model.rights import Right
from rowkey.odata.options import read_select
from rowkey.operations.operation import Operation
from rowkey.payload.answer_body import write_table
from rowkey.payload.views import TableView
from rowkey.store.interface import Store, Table
from rowkey.wire.call import Call
from rowkey.wire.media import Format, body_format, content_type
from rowkey.wire.request import Response


@dataclass(slots=True)
class GetTable(Operation):
    """Answered with one object, not with a list."""

    right = Right.LIST_TABLES

    name: str
    format: Format

    @classmethod
    def decode(cls, call: Call) -> Self:
        wanted = body_format(call.format)
        read_select(call.options.get("$select"), call.version.date)
        return cls(call.resource.table, wanted)

    async def run(self, store: Store, account: str) -> Table:
        # Listed rather than found: a store that others use too may find a table that was deleted a moment ago.
        name = self.name.lower()
        tables = await store.list_tables(account, name, 1)
        if not tables or tables[0].name.lower() != name:
            raise ResourceNotFound
        return tables[0]

    def respond(self, call: Call, result: Table) -> Response:
        view = TableView(self.format, call.address.base, call.address.account, call.now, call.options.get("$select"))
        return Response(200, [("Content-Type", content_type(self.format))], write_table(result.name, view))
