"""The half of a store over a database that reads, whichever process writes.

Point reads run on the event loop's thread, all of one turn in one transaction; pages in a few threads (`scanner.py`).
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import apsw

from rowkey.model.entity import Key
from rowkey.store.embedded import statements
from rowkey.store.embedded.catalogue import Catalogue
from rowkey.store.embedded.catalogue_view import CatalogueView
from rowkey.store.embedded.damage import unreadable
from rowkey.store.embedded.indexes import list_indexes
from rowkey.store.embedded.key_code import write_key
from rowkey.store.embedded.reader import POINT_CACHE_KIB, end_transaction, open_reader
from rowkey.store.embedded.scanner import Scanner
from rowkey.store.interface import Index, Page, Scan, Table


class Reading(ABC):
    """The verbs of a `Store` that read a table; who inherits says which tables there are."""

    _catalogue: Catalogue | CatalogueView

    def __init__(self, database: Path) -> None:
        self._database = database
        self._loop = asyncio.get_running_loop()
        self._reader = open_reader(database, cache_kib=POINT_CACHE_KIB)
        self._is_reading = False
        self._scanner = Scanner(database)

    async def scan(self, table: Table, scan: Scan) -> Page:
        prefix = self._live_prefix(table)
        self._end_reading()
        page = await self._scanner.page(self._reader, prefix, scan)
        self._live_prefix(table)  # deleted meanwhile: its entities may have been going while they were read
        return page

    async def get_policies(self, table: Table) -> str:
        self._live_prefix(table)
        return self._catalogue.policies(table.identity)

    async def list_indexes(self, table: Table) -> Sequence[Index]:
        self._live_prefix(table)
        indexes = await self._scanner.run(lambda connection: list_indexes(connection, table.identity))
        self._live_prefix(table)
        return indexes

    @abstractmethod
    def _live_prefix(self, table: Table) -> bytes:
        """What the codes of the table's keys begin with; raises TableNotFound where it is gone by now."""

    def _read_text(self, prefix: bytes, key: Key) -> str | None:
        """The wire text of an entity, as of the transaction that the reads of this turn share."""
        try:
            if not self._is_reading:
                self._is_reading = True
                self._loop.call_soon(self._end_reading)
                self._reader.execute("BEGIN")
            text: str | None = self._reader.execute(statements.GET_TEXT, (write_key(prefix, key),)).get
        except apsw.Error as error:
            raise unreadable(self._database, error) from error
        return text

    def _end_reading(self) -> None:
        """Let later reads see what is committed by now; due at the end of a turn, and before a write is answered."""
        if self._is_reading:
            self._is_reading = False
            end_transaction(self._reader)

    def _close_reading(self) -> None:
        """Finish what is being read, and let the database go."""
        self._scanner.close()
        self._end_reading()
        self._reader.close()
