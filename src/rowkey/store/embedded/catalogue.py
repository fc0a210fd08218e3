"""The tables of all accounts with their access policies, and the service properties, held in memory as committed."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rowkey.store.embedded.key_code import table_prefix
from rowkey.store.interface import NO_SECTIONS, Table


class Catalogue:
    """Tables by account, in the order of their lower-cased names."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self.version = 0
        """Another number after each change."""
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        self._tables: dict[tuple[str, str], Table] = {}
        self._by_identity: dict[int, Table] = {}
        self._prefixes: dict[int, bytes] = {}
        self._policies: dict[int, str] = {}
        self._properties: dict[str, Mapping[str, str]] = {}
        for table in tables:
            self.add(table)

    def add(self, table: Table) -> None:
        """Show a table."""
        self.version += 1
        lower_name = table.name.lower()
        insort(self._names[table.account], lower_name)
        self._tables[table.account, lower_name] = table
        self._by_identity[table.identity] = table
        self._prefixes[table.identity] = table_prefix(table.identity)

    def remove(self, identity: int) -> None:
        """Show a table no longer."""
        self.version += 1
        table = self._by_identity.pop(identity)
        del self._prefixes[identity]
        self._policies.pop(identity, None)
        lower_name = table.name.lower()
        names = self._names[table.account]
        del names[bisect_left(names, lower_name)]
        del self._tables[table.account, lower_name]

    def find(self, account: str, name: str) -> Table | None:
        """The table of that name in any letter case."""
        return self._tables.get((account, name)) or self._tables.get((account, name.lower()))

    def list(self, account: str, start: str, limit: int) -> "list[Table]":
        """Up to `limit` tables from the lower-cased name `start` on."""
        names = self._names[account]
        first = bisect_left(names, start)
        return [self._tables[account, name] for name in names[first : first + limit]]

    def has(self, identity: int) -> bool:
        """Whether the table with this identity is there."""
        return identity in self._by_identity

    def table(self, identity: int) -> Table | None:
        """The table with this identity."""
        return self._by_identity.get(identity)

    def prefix(self, identity: int) -> bytes | None:
        """What the codes of the table's keys begin with, None where the table is gone."""
        return self._prefixes.get(identity)

    def policies(self, identity: int) -> str:
        """The text of a table's access policies, empty where none was set."""
        return self._policies.get(identity, "")

    def put_policies(self, identity: int, text: str) -> None:
        """Show these access policies of a table."""
        self.version += 1
        self._policies[identity] = text

    def properties(self, account: str) -> Mapping[str, str]:
        """The sections of an account's service properties: the same object until one of them changes."""
        return self._properties.get(account, NO_SECTIONS)

    def put_properties(self, account: str, sections: Mapping[str, str]) -> None:
        """Show these sections, and the account's others as before."""
        self.version += 1
        self._properties[account] = MappingProxyType({**self.properties(account), **sections})

    def identities(self) -> set[int]:
        """The identities of all tables."""
        return set(self._by_identity)
