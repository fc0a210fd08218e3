"""Get Entity (the reference's Query Entities with both keys): GET /Table(PartitionKey='p',RowKey='r')."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rowkey.errors import ResourceNotFound
from rowkey.model.entity import Key, etag_of
from rowkey.model.key_range import KeyRange
from rowkey.model.rights import Right
from rowkey.odata.options import read_select
from rowkey.operations.operation import Operation, is_within, require_table
from rowkey.payload.answer_body import write_entry
from rowkey.payload.views import EntityView
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.media import Format, body_format, content_type
from rowkey.wire.request import Response


@dataclass(slots=True)
class GetEntity(Operation):
    """`select` None means all properties."""

    right = Right.QUERY

    table: str
    key: Key
    format: Format
    select: Sequence[str] | None

    @classmethod
    def decode(cls, call: Call) -> Self:
        wanted = body_format(call.format)
        select = read_select(call.options.get("$select"), call.version.date)
        return cls(call.resource.table, call.resource.key, wanted, select)

    def confine(self, bounds: KeyRange) -> bool:
        return is_within(bounds, self.key)

    async def run(self, store: Store, account: str) -> str:
        table = await require_table(store, account, self.table)
        text = await store.get(table, self.key)
        if text is None:
            raise ResourceNotFound
        return text

    def respond(self, call: Call, result: str) -> Response:
        address = call.address
        view = EntityView(
            self.format, address.base, address.account, self.table, call.now, self.select, call.options.get("$select")
        )
        headers = [("ETag", etag_of(result)), ("Content-Type", content_type(self.format))]
        return Response(200, headers, write_entry(result, view))
