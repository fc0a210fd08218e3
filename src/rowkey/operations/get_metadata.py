"""Get Metadata (OData 3.0, metadata document): GET /$metadata."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rowkey.model.rights import Right
from rowkey.operations.operation import Operation
from rowkey.payload.service_document import XML_CONTENT_TYPE, write_metadata
from rowkey.store.interface import Store, Table
from rowkey.wire.call import Call
from rowkey.wire.request import Response

_TABLES_MAX = 1000


@dataclass(slots=True)
class GetMetadata(Operation):
    """The types of the account's first 1000 tables. There is no form in JSON, so Accept does not matter."""

    right = Right.LIST_TABLES

    @classmethod
    def decode(cls, call: Call) -> Self:
        return cls()

    async def run(self, store: Store, account: str) -> Sequence[Table]:
        return await store.list_tables(account, "", _TABLES_MAX)

    def respond(self, call: Call, result: Sequence[Table]) -> Response:
        body = write_metadata(call.address.account, [table.name for table in result])
        return Response(200, [("Content-Type", XML_CONTENT_TYPE)], body)
