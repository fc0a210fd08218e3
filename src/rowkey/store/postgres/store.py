"""The PostgreSQL store: any number of processes serve the same accounts over one database.

    store.py        the verbs                      lane.py        few connections, a queue, another attempt
    catalogue.py    what is remembered of tables   session.py     one connection
    notices.py      what others change             failures.py    what an error means
    writer.py       entity group transactions      turns.py       writes of one entity, one after another
    singles.py      single writes, together        composing.py   what is sent of a write, and what is answered
    reader.py       points                         narrow.py      what must stand in an entity for a filter
    pages.py        pages                          removal.py     what is left of deleted tables
    schema.py       init, upgrade, status          definitions.py the schema
    archive.py      for copying                    statements.py  all other SQL

Nothing that is remembered here decides anything: every statement that touches entities verifies where they are that
their table is live. What the database keeps: `docs/storage-format-postgres.md`. What is promised when something fails,
and why: `docs/adr/0011-the-database-decides.md`.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

from rowkey.errors import ResourceNotFound, TableAlreadyExists, TableNotFound
from rowkey.model.entity import Entity, Key, json_string
from rowkey.model.shape import shape_texts
from rowkey.model.writes import Write
from rowkey.store.interface import Index, Page, Scan, Table
from rowkey.store.key_code import code_of, text_of
from rowkey.store.postgres import statements
from rowkey.store.postgres.catalogue import Catalogue, KnownTable
from rowkey.store.postgres.failures import SegmentGone
from rowkey.store.postgres.lane import Lane
from rowkey.store.postgres.notices import Notices, read_properties
from rowkey.store.postgres.pages import PageScan, code_range, within_segment
from rowkey.store.postgres.reader import PointReads
from rowkey.store.postgres.removal import Removal
from rowkey.store.postgres.schema import wait_for_schema
from rowkey.store.postgres.session import Session
from rowkey.store.postgres.singles import Single, SingleWrites
from rowkey.store.postgres.turns import Turn, Turns
from rowkey.store.postgres.writer import EntityGroup

_POINT_CONNECTIONS = 3
_PAGE_CONNECTIONS = 2
_WRITE_CONNECTIONS = 8
_READ_SECONDS_MAX = 15.0
_WRITE_SECONDS_MAX = 30.0
"""The service's own bound for an operation."""
_PROBE_SECONDS_MAX = 1.0


class PostgresStore:
    """A `Store` in a PostgreSQL database that others use at the same time; see the module."""

    def __init__(self, url: str, *, is_sharded: bool) -> None:
        self._is_sharded = is_sharded
        self._loop = asyncio.get_running_loop()
        self._catalogue = Catalogue()
        self._turns = Turns()
        self._points = Lane("points", url, _POINT_CONNECTIONS, seconds_max=_READ_SECONDS_MAX)
        self._pages = Lane("pages", url, _PAGE_CONNECTIONS, seconds_max=_READ_SECONDS_MAX)
        self._writes = Lane("writes", url, _WRITE_CONNECTIONS, seconds_max=_WRITE_SECONDS_MAX)
        self._point_reads = PointReads(self._points)
        self._single_writes = SingleWrites(self._writes)
        self._notices = Notices(url, self._catalogue)
        self._removal = Removal(self._pages)
        self._probe: asyncio.Future[Any] | None = None

    @classmethod
    async def open(cls, url: str) -> Self:
        """Wait for the database and open it; raises DatabaseError where waiting is no use."""
        status = await wait_for_schema(url)
        store = cls(url, is_sharded=status.is_sharded)
        await store._read_properties()
        return store

    async def ask_for_trouble(self) -> str | None:
        """Why writes are not taken now, None if they are; it is tried whether the database answers, for a second."""
        if self._probe is None or self._probe.done():
            self._probe = self._writes.submit(_knock)
            self._probe.add_done_callback(asyncio.Future.exception)  # the lane tells of it
        await asyncio.wait((self._probe,), timeout=_PROBE_SECONDS_MAX)
        return "the database cannot be reached" if self._writes.is_in_trouble else None

    async def close(self) -> None:
        """Finish what was accepted and close the connections."""
        await self._turns.rest()
        await self._removal.close()
        await self._notices.close()
        await asyncio.gather(self._points.close(), self._pages.close(), self._writes.close())

    # ------------------------------------------------------------ tables

    async def create_table(self, account: str, name: str) -> Table:
        row = account, name, name.lower()
        added = await self._writes.submit(lambda session: session.write(statements.CREATE_TABLE, *row))
        if added is None:
            raise TableAlreadyExists
        identity, created = added
        table = Table(account, name, identity, created)
        self._catalogue.put(KnownTable(table, (identity,), ()))
        return table

    async def delete_table(self, account: str, name: str) -> None:
        place = account, _storable(name.lower())
        identity = await self._writes.submit(lambda session: session.write(statements.DELETE_TABLE, *place))
        if identity is None:
            raise ResourceNotFound
        self._catalogue.forget(identity)
        self._removal.begin_soon()

    async def find_table(self, account: str, name: str) -> Table | None:
        known = self._catalogue.find(account, name.lower()) or await self._look_up(account, name.lower())
        return None if known is None else known.table

    async def list_tables(self, account: str, start: str, limit: int) -> Sequence[Table]:
        row = account, _storable(start), limit
        rows = await self._points.submit(lambda session: session.read(statements.LIST_TABLES, *row))
        return [Table(*row) for row in rows]

    async def _look_up(self, account: str, lower_name: str) -> KnownTable | None:
        """The table as the database has it, which is remembered."""
        place = account, _storable(lower_name)
        rows = await self._points.submit(lambda session: session.read(statements.FIND_TABLE, *place))
        if not rows:
            return None
        *table, segments, bounds = rows[0]
        known = KnownTable(Table(*table), tuple(segments), tuple(bounds))
        self._catalogue.put(known)
        return known

    async def _locate(self, table: Table) -> KnownTable:
        """Where the table's entities are; raises TableNotFound where it is gone."""
        known = self._catalogue.get(table.identity) or await self._look_up(table.account, table.name.lower())
        if known is None or known.table.identity != table.identity:
            raise TableNotFound
        return known

    async def _locate_again(self, known: KnownTable) -> None:
        """A segment of the table is gone: raise TableNotFound if the table is, return if it is elsewhere now."""
        self._catalogue.forget(known.table.identity)
        if (await self._locate(known.table)).segments == known.segments:
            raise TableNotFound

    # ------------------------------------------------------------ entities

    async def get(self, table: Table, key: Key) -> str | None:
        partition_key, row_key = code_of(key.partition_key), code_of(key.row_key)
        while True:
            known = self._catalogue.get(table.identity) or await self._locate(table)
            try:
                return await self._point_reads.get(known.segment_of(partition_key), partition_key, row_key)
            except SegmentGone:
                await self._locate_again(known)

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        if not writes:
            await self._locate(table)
            return []
        partition_key = code_of(writes[0].key.partition_key)
        while True:
            known = self._catalogue.get(table.identity) or await self._locate(table)
            try:
                return await self._write_in_turn(known.segment_of(partition_key), partition_key, writes)
            except SegmentGone:
                await self._locate_again(known)

    def _write_in_turn(
        self, segment: int, partition_key: bytes, writes: Sequence[Write]
    ) -> "asyncio.Future[list[Entity | None]]":
        """Apply writes when those before them of the same entities are done; a caller that leaves stops nothing."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        single = Single.of(segment, partition_key, writes[0]) if len(writes) == 1 else None
        keys: list[tuple[int, bytes, bytes]]
        apply: Callable[[], asyncio.Future[Any]]
        if single is None:
            group = EntityGroup(segment, partition_key, writes, is_sharded=self._is_sharded)
            keys, apply = group.keys, partial(self._writes.submit, group.run)
        else:
            keys, apply = [single.place], partial(self._single_writes.add, single)

        def begin(turn: Turn) -> None:
            apply().add_done_callback(partial(finish, turn))

        def finish(turn: Turn, result: "asyncio.Future[Any]") -> None:
            self._turns.end(turn)
            error = result.exception()
            if answer.done():
                return
            if error is None:
                answer.set_result(result.result())
            else:
                answer.set_exception(error)

        self._turns.take(keys, begin)
        return answer

    async def scan(self, table: Table, scan: Scan) -> Page:
        coded = [code_range(key_range) for key_range in scan.ranges]
        while True:
            known = self._catalogue.get(table.identity) or await self._locate(table)
            position = known.position_of(coded[0].start[0]) if coded else 0
            inside, beyond = within_segment(coded, known.bounds, position)
            page_scan = PageScan(known.segments[position], inside, scan)
            try:
                whole: Page = await self._pages.submit(page_scan.run)
            except SegmentGone:
                await self._locate_again(known)
                continue
            page = replace(whole, text=shape_texts(whole.text, scan.shape))
            if page.next_key is None and beyond is not None:
                return replace(page, next_key=Key(*map(text_of, beyond)))
            return page

    # ------------------------------------------------------------ settings

    async def get_policies(self, table: Table) -> str:
        rows = await self._points.submit(lambda session: session.read(statements.GET_POLICIES, *_place(table)))
        if not rows:
            self._catalogue.forget(table.identity)
            raise TableNotFound
        text: str = rows[0][0]
        return text

    async def set_policies(self, table: Table, text: str) -> None:
        row = *_place(table), text
        if await self._writes.submit(lambda session: session.write(statements.SET_POLICIES, *row)) is None:
            self._catalogue.forget(table.identity)
            raise TableNotFound

    async def add_index(self, table: Table, name: str) -> bool:
        row = *_place(table), name
        if await self._writes.submit(lambda session: session.write(statements.ADD_INDEX, *row)) is not None:
            return True
        await self._indexes(table)
        return False

    async def drop_index(self, table: Table, name: str) -> None:
        row = *_place(table), name
        if await self._writes.submit(lambda session: session.write(statements.DROP_INDEX, *row)) is None:
            await self._indexes(table)
            raise ResourceNotFound

    async def list_indexes(self, table: Table) -> Sequence[Index]:
        names, segments = await self._indexes(table)
        return [Index(name, True, await self._count_entities_with(segments, name)) for name in sorted(names)]

    async def _indexes(self, table: Table) -> tuple[list[str], list[int]]:
        """The names of the table's indexes, and its segments; raises TableNotFound."""
        rows = await self._points.submit(lambda session: session.read(statements.LIST_INDEXES, *_place(table)))
        if not rows:
            self._catalogue.forget(table.identity)
            raise TableNotFound
        names, segments = rows[0]
        return names, segments

    async def _count_entities_with(self, segments: Sequence[int], name: str) -> int:
        """How many entities of these segments have a property; raw quotes stand only around strings."""
        mark = f",{json_string(name)}:".encode("ascii")

        async def count(session: Session) -> int:
            counts = [await session.read(statements.COUNT_ENTITIES_WITH, segment, mark) for segment in segments]
            return sum(rows[0][0] for rows in counts)

        entities: int = await self._pages.submit(count)
        return entities

    async def get_properties(self, account: str) -> Mapping[str, str]:
        return self._catalogue.properties(account)

    async def set_properties(self, account: str, sections: Mapping[str, str]) -> None:
        row = account, list(sections.keys()), list(sections.values())

        async def put(session: Session) -> Sequence[Any]:
            await session.write(statements.SET_PROPERTIES, *row)
            return await session.read(statements.LIST_PROPERTIES)

        async with self._notices.refreshing:
            rows = await self._writes.submit(put)
            self._catalogue.put_properties(read_properties(rows))

    async def _read_properties(self) -> None:
        rows = await self._points.submit(lambda session: session.read(statements.LIST_PROPERTIES))
        self._catalogue.put_properties(read_properties(rows))


async def _knock(session: Session) -> None:
    await session.read(statements.NOTHING)


def _place(table: Table) -> tuple[str, str, int]:
    """What names a table in the catalogue, and no other that has its name later."""
    return table.account, table.name.lower(), table.identity


def _storable(name: str) -> str:
    """A name as the database can compare it: no stored name has what is replaced, and the order stays."""
    return re.sub("[\ud800-\udfff]", "\ufffd", name.replace("\0", "\x01"))
