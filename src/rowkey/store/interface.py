"""What a store promises.

A store keeps tables by account, entities by table and key, and settings as texts that it does not read: the stored
access policies of a table, and the service properties of an account. All verbs are coroutines; one that can answer at
once does so without suspending. Arguments are never modified. The errors named below are all that a verb may raise,
besides `StoreUnavailable` (nothing happened, or it is a read), `StoreDamaged` (what it needs cannot be read; nothing
happened) and `OutcomeUnknown` (a write that may have happened).

* **Atomicity.** `write` is all or nothing. Readers see none or all of it.
* **Isolation.** A verb sees every write whose answer was returned before the verb was called. One `get` or one page of
  a `scan` sees one moment. This holds between processes that share a store as well, with two exceptions, each for the
  sake of a request that need not wait: `find_table` and `get_properties` may answer from memory, and what another
  process has changed is heard of a moment later.
* **Durability.** When a verb that changes something returns, the change is on disk as far as the store has one.
* **Order.** Entities come by PartitionKey, then RowKey, by UTF-16 code units (`model/key_range.py`); tables by
  lower-cased name.
* **Time.** Timestamps of an entity grow strictly; `model.writes.apply_write` says what a write does. No ETag comes
  twice: an entity that is deleted and inserted again has a later timestamp than it ever had.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Protocol

from rowkey.errors import InternalError, OperationTimedOut, ServerBusy
from rowkey.model.entity import Entity, Key
from rowkey.model.key_range import KeyRange
from rowkey.model.limits import PAGE_BYTES_MAX, PAGE_ITEMS_MAX, PAGE_SECONDS_MAX
from rowkey.model.shape import WHOLE, Shape
from rowkey.model.writes import Write
from rowkey.odata.ast import Filter


class Table(NamedTuple):
    """A table as the store knows it; `identity` is the store's own and never reused, `created` in ticks."""

    account: str
    name: str
    identity: int
    created: int


class Scan(NamedTuple):
    """What one page of a table is to hold, and when it is to end.

    Entities within `ranges` (ascending, disjoint) that satisfy `predicate`, in a shape. `client` says whose scan it is.
    """

    ranges: Sequence[KeyRange]
    limit: int = PAGE_ITEMS_MAX
    bytes_max: int = PAGE_BYTES_MAX
    seconds_max: float = PAGE_SECONDS_MAX
    predicate: Filter | None = None
    shape: Shape = WHOLE
    client: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a scan's result: the wire texts of `count` entities in the wanted shape, joined by commas.

    `next_key` is where the scan goes on, None when it is complete. It is the key of an entity that was there, or at
    least a position between two entities, and need not match the predicate.

    `looked_at` says how many entities the predicate was asked of that an index might have spared, in round figures; a
    store that does not count leaves it at zero.
    """

    text: str
    count: int
    next_key: Key | None
    looked_at: int = field(default=0, compare=False)


class Index(NamedTuple):
    """An index of a table on the property `name`.

    Queries use it when it `is_ready`, and find the same with it and without; `entries` is how many entities of the
    table that it has got to so far have the property.
    """

    name: str
    is_ready: bool
    entries: int


NO_SECTIONS: Mapping[str, str] = MappingProxyType({})
"""The service properties of an account that has never set any."""


class StoreUnavailable(ServerBusy):
    """The store cannot answer now, and nothing was changed."""


class StoreDamaged(InternalError):
    """What the store keeps is not as it was written, and so it is no answer; nothing was changed."""


class OutcomeUnknown(OperationTimedOut):
    """A write that may or may not have happened."""


class Store(Protocol):
    """The verbs of a store."""

    async def create_table(self, account: str, name: str) -> Table:
        """Add a table; raises TableAlreadyExists where the account has one of that name in any letter case."""

    async def delete_table(self, account: str, name: str) -> None:
        """Remove a table and its entities, in the same time however many there are; raises ResourceNotFound."""

    async def find_table(self, account: str, name: str) -> Table | None:
        """The account's table of that name, in any letter case.

        It may have been deleted by another process that shares the store; then a verb that is given it raises
        TableNotFound, and from then on this one knows. A table that was created is found at once.
        """

    async def list_tables(self, account: str, start: str, limit: int) -> Sequence[Table]:
        """Up to `limit` tables whose lower-cased name is `start` or after it, in order."""

    async def get(self, table: Table, key: Key) -> str | None:
        """The wire text of one entity, None where there is none; raises TableNotFound where the table is gone."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        """Apply writes to different entities of one partition, all or nothing, in order.

        Returns the entity after each write, None after a deletion. Raises TableNotFound where the table is gone, or
        what `apply_write` raises, with `index` set to the position of the first write that failed.
        """

    async def scan(self, table: Table, scan: Scan) -> Page:
        """One page of the entities that `scan` asks for; raises TableNotFound where the table is gone.

        The page ends with `limit` entities, or at about `bytes_max` of their wire text, or after `seconds_max` seconds,
        whichever comes first; the limits may leave it empty. Where scans have to wait, clients take turns, and while
        somebody waits, a page may end sooner.
        """

    async def get_policies(self, table: Table) -> str:
        """The text last set for the table, empty if none was; raises TableNotFound where the table is gone."""

    async def set_policies(self, table: Table, text: str) -> None:
        """Keep a text for the table until another is set or the table is deleted; raises TableNotFound."""

    async def add_index(self, table: Table, name: str) -> bool:
        """Have an index on a property, until it is dropped or the table is deleted; returns whether it is a new one.

        It need not be ready when the verb returns. A store that has no use for indexes just remembers it. Raises
        TableNotFound where the table is gone.
        """

    async def drop_index(self, table: Table, name: str) -> None:
        """Have an index no longer; raises ResourceNotFound where there is none, TableNotFound."""

    async def list_indexes(self, table: Table) -> Sequence[Index]:
        """The table's indexes in the order of their names' code points; raises TableNotFound.

        Counting their entries may take a while.
        """

    async def get_properties(self, account: str) -> Mapping[str, str]:
        """The sections of the account's service properties by name; empty where none was ever set.

        It is asked for with every request: it never suspends, and returns the same object, which cannot be modified,
        until something is set. What another process that shares the store has set is seen within some seconds; the
        service takes up to thirty.
        """

    async def set_properties(self, account: str, sections: Mapping[str, str]) -> None:
        """Keep these sections, all or none of them, and leave the account's others as they are."""

    async def close(self) -> None:
        """Finish what was accepted and let go of everything; no verb may be called afterwards."""
