"""Set Table Service Properties: PUT /?restype=service&comp=properties."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from rowkey.errors import Layer
from rowkey.model.rights import Right
from rowkey.observe.metrics_tables import ensure_metrics_tables
from rowkey.operations.front_end import require_version
from rowkey.operations.operation import Operation
from rowkey.payload.service_properties import read_properties
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.request import Response
from rowkey.wire.version import SERVICE_PROPERTIES_SINCE


@dataclass(slots=True)
class SetTableServiceProperties(Operation):
    """Sections that the body does not have keep their values; any Content-Type and Accept will do (recorded)."""

    right = Right.WRITE_SERVICE

    sections: Mapping[str, str]

    @classmethod
    def decode(cls, call: Call) -> Self:
        require_version(call, SERVICE_PROPERTIES_SINCE)
        return cls(read_properties(call.request.body, call.version.date))

    async def run(self, store: Store, account: str) -> None:
        await ensure_metrics_tables(store, account, self.sections)
        await store.set_properties(account, self.sections)

    def respond(self, call: Call, result: None) -> Response:
        return Response(202, layer=Layer.FRONT_END)
