"""Get Table ACL: GET /name?comp=acl."""

from dataclasses import dataclass
from typing import Self

from rowkey.model.rights import Right
from rowkey.operations.front_end import answer_document, require_version
from rowkey.operations.operation import Operation, require_table
from rowkey.payload.access_policies import write_policies
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.request import Response
from rowkey.wire.version import ACCESS_POLICIES_SINCE


@dataclass(slots=True)
class GetTableACL(Operation):
    """XML whatever `Accept` says: some clients ask for JSON or Atom, and read XML."""

    right = Right.ACCESS_POLICIES

    table: str

    @classmethod
    def decode(cls, call: Call) -> Self:
        require_version(call, ACCESS_POLICIES_SINCE)
        return cls(call.resource.table)

    async def run(self, store: Store, account: str) -> str:
        table = await require_table(store, account, self.table)
        return await store.get_policies(table)

    def respond(self, call: Call, result: str) -> Response:
        return answer_document(result or write_policies(()))
