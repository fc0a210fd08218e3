"""What a front end remembers of tables and service properties: hints, as others may have changed them.

A remembered table saves each request a look into the database. Another front end may have deleted it meanwhile; that
does no harm, since every statement asks whether the segment that it names is live. A table that is not remembered is
always looked up, so one that was created a moment ago is found.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rowkey.store.interface import NO_SECTIONS, Table

_TABLES_MAX = 100_000


class KnownTable(NamedTuple):
    """A table and where its entities are: `segments` ascend by partition keys, `bounds` begin all but the first."""

    table: Table
    segments: tuple[int, ...]
    bounds: tuple[bytes, ...]

    def segment_of(self, partition_key: bytes) -> int:
        """The segment with this partition; the key is in the key code."""
        return self.segments[bisect_right(self.bounds, partition_key)]

    def position_of(self, partition_key: bytes) -> int:
        """The position of that segment."""
        return bisect_right(self.bounds, partition_key)


class Catalogue:
    """Tables by account and lower-cased name and by identity; service properties by account."""

    def __init__(self) -> None:
        self._by_name: dict[tuple[str, str], KnownTable] = {}
        self._by_identity: dict[int, KnownTable] = {}
        self._properties: dict[str, Mapping[str, str]] = {}

    def find(self, account: str, lower_name: str) -> KnownTable | None:
        """The table of that name, if it is remembered."""
        return self._by_name.get((account, lower_name))

    def get(self, identity: int) -> KnownTable | None:
        """The table with this identity, if it is remembered."""
        return self._by_identity.get(identity)

    def put(self, known: KnownTable) -> None:
        """Remember a table."""
        if len(self._by_identity) >= _TABLES_MAX:
            self.forget_tables()
        place = known.table.account, known.table.name.lower()
        if (older := self._by_name.get(place)) is not None:
            self._by_identity.pop(older.table.identity, None)
        self._by_name[place] = self._by_identity[known.table.identity] = known

    def forget(self, identity: int) -> None:
        """Forget a table that is gone, or elsewhere."""
        known = self._by_identity.pop(identity, None)
        if known is not None:
            del self._by_name[known.table.account, known.table.name.lower()]

    def forget_tables(self) -> None:
        """Forget all tables."""
        self._by_name.clear()
        self._by_identity.clear()

    def properties(self, account: str) -> Mapping[str, str]:
        """The sections of an account's service properties: the same object until one of them changes."""
        return self._properties.get(account, NO_SECTIONS)

    def put_properties(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Remember the service properties of all accounts, given as account, section and text."""
        read: dict[str, dict[str, str]] = {}
        for account, section, text in rows:
            read.setdefault(account, {})[section] = text
        for account in self._properties.keys() - read.keys():
            del self._properties[account]
        for account, sections in read.items():
            if self._properties.get(account) != sections:
                self._properties[account] = MappingProxyType(sections)
