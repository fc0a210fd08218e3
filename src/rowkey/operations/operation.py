"""What every operation is: decode -> run -> respond, each in a file of its own.

An operation is a value. `decode` reads a call into one or raises what the service answers; `run` asks the store;
`respond` turns the result into an answer. The headers that all answers of a layer share are the service's to add.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from rowkey.errors import TableNotFound
from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange, key_order
from rowkey.model.names import verify_table_name
from rowkey.model.rights import Right
from rowkey.observe.metrics_tables import find_renamed_table
from rowkey.store.interface import Store, Table
from rowkey.wire.call import Call
from rowkey.wire.request import Response


class Operation(ABC):
    """One REST operation with what its request said."""

    __slots__ = ()

    right: ClassVar[Right]
    """What a client must be allowed to do."""

    @classmethod
    @abstractmethod
    def decode(cls, call: Call) -> Self:
        """The operation that a call asks for; raises ServiceError."""

    def confine(self, bounds: KeyRange) -> bool:
        """Keep to entities within `bounds`; False where the operation asks for others, and so must not be run."""
        return False

    @abstractmethod
    async def run(self, store: Store, account: str) -> Any:
        """Do it; raises ServiceError."""

    @abstractmethod
    def respond(self, call: Call, result: Any) -> Response:
        """The answer for what `run` returned."""


def is_within(bounds: KeyRange, key: Key) -> bool:
    """Whether the key is within the bounds."""
    place = key_order(key)
    return place >= key_order(bounds.start) and (bounds.end is None or place < key_order(bounds.end))


async def require_table(store: Store, account: str, name: str) -> Table:
    """The table of that name; raises TableNotFound, or for a name that no table can have what creating it would.

    Tables of metrics have names that begin with `$`, and one of them an old name too.
    """
    table = await store.find_table(account, name)
    if table is None and name.startswith("$"):
        table = await find_renamed_table(store, account, name)
    if table is None:
        if not name.lower().startswith("$metrics"):
            verify_table_name(name)
        raise TableNotFound
    return table
