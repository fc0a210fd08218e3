"""Get Table Service Stats: GET /?restype=service&comp=stats."""

from dataclasses import dataclass
from typing import Self

from rowkey.errors import InvalidQueryParameterValue
from rowkey.model.rights import Right
from rowkey.operations.front_end import answer_document, require_version
from rowkey.operations.operation import Operation
from rowkey.payload.service_stats import write_stats
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.request import Response
from rowkey.wire.version import CORS_SINCE


@dataclass(slots=True)
class GetTableServiceStats(Operation):
    """How far the secondary is behind: not at all, since it is the same data.

    The primary has no stats (recorded). Clients that cannot form the address of a secondary from an IP address ask the
    primary all the same, in path style, and are answered.
    """

    right = Right.READ_SERVICE

    @classmethod
    def decode(cls, call: Call) -> Self:
        require_version(call, CORS_SINCE)
        if not call.address.is_secondary and not call.address.is_path_style:
            raise InvalidQueryParameterValue
        return cls()

    async def run(self, store: Store, account: str) -> None:
        """There is nothing to ask."""

    def respond(self, call: Call, result: None) -> Response:
        return answer_document(write_stats(call.now))
