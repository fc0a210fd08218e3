"""Get Service Document (OData 3.0, service document): GET /."""

from dataclasses import dataclass
from typing import Self

from rowkey.model.rights import Right
from rowkey.operations.operation import Operation
from rowkey.payload.service_document import XML_CONTENT_TYPE, write_service_document
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.media import Format, body_format, content_type
from rowkey.wire.request import Response


@dataclass(slots=True)
class GetServiceDocument(Operation):
    """The same for every account; there is one collection, that of tables."""

    right = Right.LIST_TABLES

    format: Format

    @classmethod
    def decode(cls, call: Call) -> Self:
        return cls(body_format(call.format))

    async def run(self, store: Store, account: str) -> None:
        """Nothing is asked of the store."""

    def respond(self, call: Call, result: None) -> Response:
        kind = content_type(self.format) if self.format.is_json else XML_CONTENT_TYPE
        return Response(200, [("Content-Type", kind)], write_service_document(self.format, call.address.base))
