"""The embedded store in a process that leaves the writing to another: reads here, everything else over a link.

    follower.py         the verbs                  changes.py     whether anything was written since
    catalogue_view.py   tables, settings           frames.py      verbs as bytes
    link.py, desk.py    the two ends of a link

Reading is as in the process that writes (`reading.py`), with connections of this process's own. A verb must see every
write that was answered before it was called, also those that another process has answered; so each one looks at
`Changes` first, and gives up the read transaction that it shares with others of its turn if anything was committed
since that began.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rowkey.errors import ServiceError, TableNotFound
from rowkey.model.entity import Entity, Key
from rowkey.model.writes import Write
from rowkey.store.embedded.catalogue_view import CatalogueView
from rowkey.store.embedded.changes import CATALOGUE, COMMITS, Changes
from rowkey.store.embedded.checksums import load_page_checksums
from rowkey.store.embedded.frames import pack_writes, unpack_entities
from rowkey.store.embedded.link import Link
from rowkey.store.embedded.reading import Reading
from rowkey.store.interface import Table


class FollowerStore(Reading):
    """A `Store` over a database that the process at the other end of `link` writes; see the module."""

    def __init__(self, database: Path, changes: Changes, link: Link) -> None:
        load_page_checksums()
        super().__init__(database)
        self._link = link
        self._catalogue: CatalogueView = CatalogueView(self._reader, database)
        self._counters = changes.counters
        self._commits = self._version = -1

    async def ask_for_trouble(self) -> str | None:
        """Why no writes are taken, None while they are: what the process that writes says."""
        try:
            reason: str | None = await self._link.call("ask_for_trouble", ())
        except ServiceError:
            return "the process that writes has ended, and there is no other yet"
        return reason

    async def close(self) -> None:
        """Wait for what was handed over, and let the database go before the link, so that its writer is the last."""
        self._close_reading()
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
            text = self._read_text(prefix, key)
            # Not there may mean that the table was deleted in this moment; its entities go when that is published.
            if text is not None or self._counters[COMMITS] == self._commits:
                return text

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        entities: Sequence[Entity | None] = await self._link.call(
            "write", (tuple(table), pack_writes(writes)), lambda packed: unpack_entities(writes, packed)
        )
        return entities

    # ------------------------------------------------------------ settings

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
