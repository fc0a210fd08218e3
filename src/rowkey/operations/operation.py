"""What every operation is: decode -> run -> respond, each in a file of its own.

An operation is a value. `decode` reads a call into one or raises what the service answers; `run` asks the store;
`respond` turns the result into an answer. The headers that all answers of a layer share are the service's to add.
"""

from typing import Any, Protocol, Self

from rowkey.errors import TableNotFound
from rowkey.model.names import verify_table_name
from rowkey.store.interface import Store, Table
from rowkey.wire.call import Call
from rowkey.wire.request import Response


class Operation(Protocol):
    """One REST operation with what its request said."""

    @classmethod
    def decode(cls, call: Call) -> Self:
        """The operation that a call asks for; raises ServiceError."""

    async def run(self, store: Store, account: str) -> Any:
        """Do it; raises ServiceError."""

    def respond(self, call: Call, result: Any) -> Response:
        """The answer for what `run` returned."""


async def require_table(store: Store, account: str, name: str) -> Table:
    """The table of that name; raises TableNotFound, or for a name that no table can have what creating it would."""
    table = await store.find_table(account, name)
    if table is None:
        verify_table_name(name)
        raise TableNotFound
    return table
