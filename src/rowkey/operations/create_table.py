"""Create Table: POST /Tables."""

from dataclasses import dataclass
from typing import Self

from rowkey.model.names import verify_table_name
from rowkey.model.rights import Right
from rowkey.operations.operation import Operation
from rowkey.payload.json_table import TableView, read_table_name, write_table
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.media import Format, body_format, json_content_type, verify_body_type
from rowkey.wire.prefer import RETURN_NO_CONTENT, read_preference
from rowkey.wire.request import Response


@dataclass(slots=True)
class CreateTable(Operation):
    """`level` is how the table is returned, None where the client prefers that it is not."""

    right = Right.CREATE_TABLE

    name: str
    preference: str | None
    level: Format | None

    @classmethod
    def decode(cls, call: Call) -> Self:
        preference = read_preference(call.request)
        level = None if preference == RETURN_NO_CONTENT else body_format(call.format)
        verify_body_type(call.request.headers.get("content-type"), call.version.date)
        name = read_table_name(call.request.body)
        verify_table_name(name)
        return cls(name, preference, level)

    async def run(self, store: Store, account: str) -> None:
        await store.create_table(account, self.name)

    def respond(self, call: Call, result: None) -> Response:
        base = call.address.base
        url = f"{base}/Tables('{self.name}')"
        headers = [("Preference-Applied", self.preference)] if self.preference else []
        headers.append(("Location", url))
        if self.level is None:
            return Response(204, [*headers, ("DataServiceId", url)])
        body = write_table(self.name, TableView(self.level, base, call.address.account))
        return Response(201, [("Content-Type", json_content_type(self.level)), *headers], body)
