"""The catalogue as a process sees it that does not write: what was asked for, until something changes.

Nothing is loaded in advance, so a change costs what is asked for again afterwards (5 us each), however many tables
there are.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import apsw

from rowkey.store.embedded import statements
from rowkey.store.embedded.damage import unreadable
from rowkey.store.embedded.key_code import table_prefix
from rowkey.store.interface import NO_SECTIONS, Table


class CatalogueView:
    """Answers as `Catalogue` does, out of the database; raises StoreUnavailable or StoreDamaged."""

    def __init__(self, connection: apsw.Connection, database: Path) -> None:
        self._connection = connection
        self._database = database
        self._tables: dict[tuple[str, str], Table] = {}
        self._prefixes: dict[int, bytes] = {}
        self._policies: dict[int, str] = {}
        self._properties: dict[str, Mapping[str, str]] = {}
        self._earlier_properties: dict[str, Mapping[str, str]] = {}

    def forget(self) -> None:
        """Something has changed."""
        self._tables.clear()
        self._prefixes.clear()
        self._policies.clear()
        self._properties.clear()

    def find(self, account: str, name: str) -> Table | None:
        """The table of that name in any letter case."""
        lower_name = name.lower()
        table = self._tables.get((account, lower_name))
        if table is None and lower_name.isascii():  # as all names of tables are
            for row in self._read(statements.GET_TABLE, (account, lower_name)):
                table = self._tables[account, lower_name] = Table(*row)
        return table

    def list(self, account: str, start: str, limit: int) -> "list[Table]":
        """Up to `limit` tables from the lower-cased name `start` on."""
        return [Table(*row) for row in self._read(statements.LIST_TABLES_FROM, (account, _ascii_bound(start), limit))]

    def has(self, identity: int) -> bool:
        """Whether the table with this identity is there."""
        return self.prefix(identity) is not None

    def prefix(self, identity: int) -> bytes | None:
        """What the codes of the table's keys begin with, None where the table is gone."""
        prefix = self._prefixes.get(identity)
        if prefix is None and self._read(statements.FIND_IDENTITY, (identity,)):
            prefix = self._prefixes[identity] = table_prefix(identity)
        return prefix

    def policies(self, identity: int) -> str:
        """The text of a table's access policies, empty where none was set."""
        text = self._policies.get(identity)
        if text is None:
            text = "".join(text for (text,) in self._read(statements.GET_POLICIES, (identity,)))
            self._policies[identity] = text
        return text

    def properties(self, account: str) -> Mapping[str, str]:
        """The sections of an account's service properties: the same object until one of them changes."""
        sections = self._properties.get(account)
        if sections is None:
            rows = dict(self._read(statements.GET_PROPERTIES, (account,)))
            sections = self._earlier_properties.get(account, NO_SECTIONS)
            if sections != rows:
                sections = MappingProxyType(rows)
            self._properties[account] = self._earlier_properties[account] = sections
        return sections

    def _read(self, sql: str, bindings: Sequence[Any]) -> Sequence[Any]:
        try:
            return self._connection.execute(sql, bindings).fetchall()
        except apsw.Error as error:
            raise unreadable(self._database, error) from error


def _ascii_bound(start: str) -> str:
    """A bound that leaves out the same names of tables, all of which are ASCII letters and digits, and can be bound."""
    if start.isascii():
        return start
    first = next(position for position, character in enumerate(start) if not character.isascii())
    return start[:first] + "\x7f"
