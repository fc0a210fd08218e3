"""The embedded store in a process that leaves the writing to another: reads here, everything else over a link.

    follower.py         the verbs                  changes.py     whether anything was written since
    catalogue_view.py   tables, settings           frames.py      verbs as bytes
    link.py, desk.py    the two ends of a link

Reading is as in `store.py`: point reads on the event loop's thread, pages in a few threads, with connections of this
process's own. A verb must see every write that was answered before it was called, also those that another process has
answered; so each one looks at `Changes` first, and gives up the read transaction that it shares with others of its turn
if anything was committed since that began.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw

from rowkey.errors import TableNotFound
from rowkey.model.entity import Entity, Key
from rowkey.model.key_range import KeyRange
from rowkey.model.writes import Write
from rowkey.odata.ast import Filter
from rowkey.store.embedded import statements
from rowkey.store.embedded.catalogue_view import CatalogueView
from rowkey.store.embedded.changes import CATALOGUE, COMMITS, Changes
from rowkey.store.embedded.checksums import load_page_checksums
from rowkey.store.embedded.damage import unreadable
from rowkey.store.embedded.frames import pack_writes, unpack_entities
from rowkey.store.embedded.indexes import list_indexes
from rowkey.store.embedded.key_code import write_key
from rowkey.store.embedded.link import Link
from rowkey.store.embedded.reader import POINT_CACHE_KIB, end_transaction, open_reader
from rowkey.store.embedded.scanner import Scanner
from rowkey.store.interface import Index, Page, Table


class FollowerStore:
    """A `Store` over a database that the process at the other end of `link` writes; see the module."""

    def __init__(self, database: Path, changes: Changes, link: Link) -> None:
        self._link = link
        self._database = database
        self._loop = asyncio.get_running_loop()
        load_page_checksums()
        self._reader = open_reader(database, cache_kib=POINT_CACHE_KIB)
        self._is_reading = False
        self._scanner = Scanner(database)
        self._catalogue = CatalogueView(self._reader, database)
        self._counters = changes.counters
        self._commits = self._version = -1

    async def close(self) -> None:
        """Wait for what was handed over, and let the database go before the link, so that its writer is the last."""
        self._scanner.close()
        self._end_reading()
        self._reader.close()
        await self._link.close()

    # ------------------------------------------------------------ tables

    async def create_table(self, account: str, name: str) -> Table:
        table: Table = await self._link.call("create_table", (account, name), lambda row: Table(*row))
        return table

    async def delete_table(self, account: str, name: str) -> None:
        await self._link.call("delete_table", (account, name))

    async def find_table(self, account: str, name: str) -> Table | None:
        self._catch_up()
        return self._catalogue.find(account, name)

    async def list_tables(self, account: str, start: str, limit: int) -> Sequence[Table]:
        self._catch_up()
        return self._catalogue.list(account, start, limit)

    # ------------------------------------------------------------ entities

    async def get(self, table: Table, key: Key) -> str | None:
        while True:
            prefix = self._live_prefix(table)
            try:
                if not self._is_reading:
                    # All reads of a turn share one transaction, as long as nothing is committed.
                    self._is_reading = True
                    self._loop.call_soon(self._end_reading)
                    self._reader.execute("BEGIN")
                text: str | None = self._reader.execute(statements.GET_TEXT, (write_key(prefix, key),)).get
            except apsw.Error as error:
                raise unreadable(self._database, error) from error
            # Not there may mean that the table was deleted in this moment; its entities go when that is published.
            if text is not None or self._counters[COMMITS] == self._commits:
                return text

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        entities: Sequence[Entity | None] = await self._link.call(
            "write", (tuple(table), pack_writes(writes)), lambda packed: unpack_entities(writes, packed)
        )
        return entities

    async def scan(
        self,
        table: Table,
        ranges: Sequence[KeyRange],
        *,
        limit: int,
        bytes_max: int,
        seconds_max: float,
        predicate: Filter | None,
        client: str = "",
    ) -> Page:
        prefix = self._live_prefix(table)
        self._end_reading()
        page = await self._scanner.page(
            self._reader,
            prefix,
            ranges,
            limit=limit,
            bytes_max=bytes_max,
            seconds_max=seconds_max,
            predicate=predicate,
            client=client,
        )
        self._live_prefix(table)  # deleted meanwhile: its entities may have been going while they were read
        return page

    # ------------------------------------------------------------ settings

    async def get_policies(self, table: Table) -> str:
        self._live_prefix(table)
        return self._catalogue.policies(table.identity)

    async def set_policies(self, table: Table, text: str) -> None:
        await self._link.call("set_policies", (tuple(table), text))

    async def get_properties(self, account: str) -> Mapping[str, str]:
        self._catch_up()
        return self._catalogue.properties(account)

    async def set_properties(self, account: str, sections: Mapping[str, str]) -> None:
        await self._link.call("set_properties", (account, dict(sections)))

    # ------------------------------------------------------------ indexes

    async def add_index(self, table: Table, name: str) -> bool:
        is_new: bool = await self._link.call("add_index", (tuple(table), name))
        return is_new

    async def drop_index(self, table: Table, name: str) -> None:
        await self._link.call("drop_index", (tuple(table), name))

    async def list_indexes(self, table: Table) -> Sequence[Index]:
        self._live_prefix(table)
        indexes = await self._scanner.run(lambda connection: list_indexes(connection, table.identity))
        self._live_prefix(table)
        return indexes

    # ------------------------------------------------------------ steps

    def _live_prefix(self, table: Table) -> bytes:
        """What the codes of the table's keys begin with; raises TableNotFound where it is gone by now."""
        self._catch_up()
        prefix = self._catalogue.prefix(table.identity)
        if prefix is None:
            raise TableNotFound
        return prefix

    def _catch_up(self) -> None:
        """See to it that what is read next shows everything that was answered by now."""
        commits = self._counters[COMMITS]
        if commits == self._commits:
            return
        self._end_reading()
        version = self._counters[CATALOGUE]
        if version != self._version:
            self._catalogue.forget()
        self._commits, self._version = commits, version

    def _end_reading(self) -> None:
        """Let later reads see what is committed by now; due at the end of a turn, so that the log can be folded."""
        if self._is_reading:
            self._is_reading = False
            end_transaction(self._reader)
