"""Get Table Service Properties: GET /?restype=service&comp=properties."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from rowkey.model.rights import Right
from rowkey.operations.front_end import answer_document, require_version
from rowkey.operations.operation import Operation
from rowkey.payload.service_properties import write_properties
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.request import Response
from rowkey.wire.version import SERVICE_PROPERTIES_SINCE


@dataclass(slots=True)
class GetTableServiceProperties(Operation):
    """The whole document, with the defaults for what was never set."""

    right = Right.READ_SERVICE

    @classmethod
    def decode(cls, call: Call) -> Self:
        require_version(call, SERVICE_PROPERTIES_SINCE)
        return cls()

    async def run(self, store: Store, account: str) -> Mapping[str, str]:
        return await store.get_properties(account)

    def respond(self, call: Call, result: Mapping[str, str]) -> Response:
        return answer_document(write_properties(result, call.version.date))
