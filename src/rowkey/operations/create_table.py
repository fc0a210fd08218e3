"""Create Table: POST /Tables."""

from dataclasses import dataclass
from typing import Self

from rowkey.model.names import verify_table_name
from rowkey.model.rights import Right
from rowkey.operations.operation import Operation
from rowkey.payload.answer_body import write_table
from rowkey.payload.properties import read_table_name
from rowkey.payload.request_body import read_properties
from rowkey.payload.views import TableView
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.media import Format, body_format, content_type
from rowkey.wire.prefer import RETURN_NO_CONTENT, read_preference
from rowkey.wire.request import Response


@dataclass(slots=True)
class CreateTable(Operation):
    """`format` is how the table is returned, None where the client prefers that it is not."""

    right = Right.CREATE_TABLE

    name: str
    preference: str | None
    format: Format | None

    @classmethod
    def decode(cls, call: Call) -> Self:
        preference = read_preference(call.request, call.version)
        wanted = None if preference == RETURN_NO_CONTENT else body_format(call.format)
        name = read_table_name(read_properties(call.request, call.version.date))
        verify_table_name(name)
        return cls(name, preference, wanted)

    async def run(self, store: Store, account: str) -> None:
        await store.create_table(account, self.name)

    def respond(self, call: Call, result: None) -> Response:
        base = call.address.base
        url = f"{base}/Tables('{self.name}')"
        headers = [("Preference-Applied", self.preference)] if self.preference else []
        headers.append(("Location", url))
        if self.format is None:
            return Response(204, [*headers, ("DataServiceId", url)])
        body = write_table(self.name, TableView(self.format, base, call.address.account, call.now))
        return Response(201, [("Content-Type", content_type(self.format)), *headers], body)
