"""The embedded store: SQLite in a data folder, durable when a verb returns.

    store.py        the verbs                      folder.py      the data folder and its owner
    catalogue.py    tables, settings, in memory    key_code.py    keys as bytes in the order of results
    writer.py       group commit                   narrow.py      filters as SQL that is never too strict
    reader.py       pages                          statements.py  all SQL, and the schema

Point reads run on the event loop's thread (6 us; a hop to a thread and back is 86), pages in a few threads, commits in
one. Format on disk: `docs/storage-format.md`.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import apsw

from rowkey.errors import EntityAlreadyExists, ResourceNotFound, ServiceError, TableAlreadyExists, TableNotFound
from rowkey.model.datetimes import now_ticks
from rowkey.model.entity import Entity, Key
from rowkey.model.key_range import KeyRange
from rowkey.model.writes import Condition, Mode, Write, apply_write
from rowkey.odata.ast import Filter
from rowkey.store.embedded import statements
from rowkey.store.embedded.catalogue import Catalogue
from rowkey.store.embedded.folder import DataFolder, FolderError
from rowkey.store.embedded.key_code import after_table, table_prefix, write_key
from rowkey.store.embedded.reader import POINT_CACHE_KIB, SCAN_CACHE_KIB, PageScan, open_reader
from rowkey.store.embedded.writer import Writer
from rowkey.store.interface import Page, Table

log = logging.getLogger(__name__)

_SCAN_THREADS = 2
_REMOVED_AT_ONCE = 500
"""Entities of a deleted table that are removed in one step; writes wait for a step at most."""


class EmbeddedStore:
    """A `Store` in a data folder; see the module."""

    def __init__(self, folder: DataFolder, connection: apsw.Connection, now: Callable[[], int]) -> None:
        self._folder = folder
        self._now = now
        self._last_now = 0
        self._connection = connection
        self._catalogue = Catalogue(Table(a, n, i, c) for a, n, i, c in connection.execute(statements.LIST_TABLES))
        for identity, text in connection.execute(statements.LIST_POLICIES):
            self._catalogue.put_policies(identity, text)
        for account, section, text in connection.execute(statements.LIST_PROPERTIES):
            self._catalogue.put_properties(account, {section: text})
        # Tables as the open transaction has them; the catalogue shows what is committed.
        self._writable = self._catalogue.identities()
        self._reader = open_reader(folder.database, cache_kib=POINT_CACHE_KIB)
        self._is_reading = False
        self._loop = asyncio.get_running_loop()
        self._writer = Writer(connection, on_commit=self._end_reading, on_rollback=self._forget_uncommitted)
        self._scanners = ThreadPoolExecutor(_SCAN_THREADS, thread_name_prefix="rowkey-scan")
        self._scanner = threading.local()
        for (identity,) in connection.execute(statements.LIST_DELETED_TABLES):
            self._writer.submit_background(self._removal(identity))

    @classmethod
    def open(cls, path: Path, *, now: Callable[[], int] = now_ticks) -> Self:
        """Open a data folder, made if need be, inside the running event loop; raises FolderError."""
        folder = DataFolder(path)
        try:
            return cls(folder, _open_database(folder), now)
        except (apsw.Error, FolderError) as error:
            folder.release()
            if isinstance(error, FolderError):
                raise
            raise FolderError(f"{folder.database} cannot be opened: {type(error).__name__}: {error}") from error

    async def close(self) -> None:
        """Finish what was accepted, fold the log into the database and let the folder go."""
        await self._writer.close()
        self._scanners.shutdown(wait=True)
        self._end_reading()
        self._reader.close()
        self._connection.close()
        self._folder.release()

    # ------------------------------------------------------------ tables

    async def create_table(self, account: str, name: str) -> Table:
        created = self._tick()

        def add() -> Table:
            if self._connection.execute(statements.FIND_TABLE, (account, name.lower())).get is not None:
                raise TableAlreadyExists
            row = (account, name, name.lower(), created)
            table = Table(account, name, self._connection.execute(statements.ADD_TABLE, row).get, created)
            self._writable.add(table.identity)
            return table

        table: Table = await self._writer.submit(add, on_commit=self._catalogue.add)
        return table

    async def delete_table(self, account: str, name: str) -> None:
        def mark() -> int:
            identity: int | None = self._connection.execute(statements.FIND_TABLE, (account, name.lower())).get
            if identity is None:
                raise ResourceNotFound
            self._connection.execute(statements.MARK_TABLE_DELETED, (identity,))
            self._connection.execute(statements.REMOVE_POLICIES, (identity,))
            self._writable.discard(identity)
            return identity

        await self._writer.submit(mark, on_commit=self._bury)

    async def find_table(self, account: str, name: str) -> Table | None:
        return self._catalogue.find(account, name)

    async def list_tables(self, account: str, start: str, limit: int) -> Sequence[Table]:
        return self._catalogue.list(account, start, limit)

    # ------------------------------------------------------------ entities

    async def get(self, table: Table, key: Key) -> str | None:
        prefix = self._catalogue.prefix(table.identity)
        if prefix is None:
            raise TableNotFound
        if not self._is_reading:
            # All reads of a turn of the event loop share one transaction.
            self._is_reading = True
            self._reader.execute("BEGIN")
            self._loop.call_soon(self._end_reading)
        text: str | None = self._reader.execute(statements.GET_TEXT, (write_key(prefix, key),)).get
        return text

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        self._verify_live(table)
        results: Sequence[Entity | None] = await self._writer.submit(lambda: self._apply(table, writes))
        return results

    async def scan(
        self,
        table: Table,
        ranges: Sequence[KeyRange],
        *,
        limit: int,
        bytes_max: int,
        seconds_max: float,
        predicate: Filter | None,
    ) -> Page:
        self._verify_live(table)
        prefix = table_prefix(table.identity)

        def page_scan(connection: apsw.Connection) -> PageScan:
            return PageScan(connection, prefix, limit=limit, bytes_max=bytes_max, seconds_max=seconds_max)

        def run() -> Page:
            connection = getattr(self._scanner, "connection", None)
            if connection is None:
                connection = open_reader(self._folder.database, cache_kib=SCAN_CACHE_KIB)
                self._scanner.connection = connection
            return page_scan(connection).run(ranges, predicate)

        self._end_reading()
        small = page_scan(self._reader).run_if_small(ranges, predicate)
        if small is not None:
            return small
        page = await self._loop.run_in_executor(self._scanners, run)
        self._verify_live(table)  # deleted meanwhile: its entities may have been going while they were read
        return page

    # ------------------------------------------------------------ settings

    async def get_policies(self, table: Table) -> str:
        self._verify_live(table)
        return self._catalogue.policies(table.identity)

    async def set_policies(self, table: Table, text: str) -> None:
        self._verify_live(table)

        def put() -> None:
            if table.identity not in self._writable:
                raise TableNotFound
            self._connection.execute(statements.PUT_POLICIES, (table.identity, text))

        await self._writer.submit(put, on_commit=lambda _: self._catalogue.put_policies(table.identity, text))

    async def get_properties(self, account: str) -> Mapping[str, str]:
        return self._catalogue.properties(account)

    async def set_properties(self, account: str, sections: Mapping[str, str]) -> None:
        rows = [(account, section, text) for section, text in sections.items()]
        changed = dict(sections)

        def put() -> None:
            self._connection.executemany(statements.PUT_PROPERTIES, rows)

        await self._writer.submit(put, on_commit=lambda _: self._catalogue.put_properties(account, changed))

    # ------------------------------------------------------------ applying

    def _apply(self, table: Table, writes: Sequence[Write]) -> list[Entity | None]:
        """Apply the writes of one transaction, all or nothing; runs inside the writer's."""
        if table.identity not in self._writable:
            raise TableNotFound
        now = self._tick()
        prefix = table_prefix(table.identity)
        execute = self._connection.execute
        entities: list[Entity | None] = []
        if len(writes) > 1:  # a single one changes nothing when it fails
            execute("SAVEPOINT entity_group")
        try:
            for write in writes:
                entities.append(self._apply_one(prefix, write, now))  # noqa: PERF401 - counted when one fails
        except Exception as error:
            if isinstance(error, ServiceError):
                error.index = len(entities)
            if len(writes) > 1:
                execute("ROLLBACK TO entity_group; RELEASE entity_group")
            raise
        if len(writes) > 1:
            execute("RELEASE entity_group")
        return entities

    def _apply_one(self, prefix: bytes, write: Write, now: int) -> Entity | None:
        """Apply one write; raises before it has changed anything."""
        execute = self._connection.execute
        code = write_key(prefix, write.key)
        if write.condition is Condition.ABSENT:
            # An insert needs no look at what is there: the key is unique, and nothing added means that it was taken.
            entity = apply_write(None, write, now)
            if entity is not None:
                execute(statements.ADD_ENTITY, (code, *entity))
                if self._connection.changes() == 0:
                    raise EntityAlreadyExists
            return entity
        entity = apply_write(self._current(code, write), write, now)
        if entity is None:
            execute(statements.REMOVE_ENTITY, (code,))
        else:
            execute(statements.PUT_ENTITY, (code, *entity))
        return entity

    def _current(self, code: bytes, write: Write) -> Entity | None:
        """The stored entity; its text only where the write needs it."""
        if write.mode is Mode.MERGE:
            row = self._connection.execute(statements.GET_ENTITY, (code,)).get
            return None if row is None else Entity(*row)
        timestamp = self._connection.execute(statements.GET_TIMESTAMP, (code,)).get
        return None if timestamp is None else Entity(timestamp, "")

    def _end_reading(self) -> None:
        """Let later reads see what is committed by now; due at the end of a turn, and before a write is answered."""
        if self._is_reading:
            self._is_reading = False
            self._reader.execute("COMMIT")

    def _tick(self) -> int:
        """A time after every one handed out before, so that no ETag is used twice."""
        self._last_now = max(self._now(), self._last_now + 1)
        return self._last_now

    def _verify_live(self, table: Table) -> None:
        if not self._catalogue.has(table.identity):
            raise TableNotFound

    def _forget_uncommitted(self) -> None:
        self._writable = self._catalogue.identities()

    def _bury(self, identity: int) -> None:
        """A table's deletion is on disk: nobody sees it any more, and its entities may go."""
        self._catalogue.remove(identity)
        self._writer.submit_background(self._removal(identity))

    def _removal(self, identity: int) -> Callable[[], bool]:
        """Background work: remove the entities of a deleted table, step by step."""
        prefix = table_prefix(identity)

        def step() -> bool:
            bounds = (prefix, after_table(prefix), _REMOVED_AT_ONCE)
            before = self._connection.total_changes()
            self._connection.execute(statements.REMOVE_ENTITIES, bounds)
            if self._connection.total_changes() > before:
                return True
            self._connection.execute(statements.FORGET_TABLE, (identity,))
            return False

        return step


def _open_database(folder: DataFolder) -> apsw.Connection:
    """The writing connection of a folder's database, which is made or checked; raises FolderError."""
    connection = apsw.Connection(str(folder.database), statementcachesize=64)
    try:
        is_new = connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
        form = statements.FORMAT if is_new else _read_format(folder, connection)
        connection.execute(statements.WRITER_PRAGMAS).fetchall()  # a statement that returns a row waits to be read
        if is_new:
            connection.execute(f"BEGIN IMMEDIATE; {statements.SCHEMA}; COMMIT")
            folder.sync()
        elif form < statements.FORMAT:
            steps = "".join(statements.UPGRADES[older] for older in range(form, statements.FORMAT))
            connection.execute(f"BEGIN IMMEDIATE; {steps}; COMMIT")
            log.info("%s had format %s and now has format %s", folder.database, form, statements.FORMAT)
    except BaseException:
        connection.close()
        raise
    return connection


def _read_format(folder: DataFolder, connection: apsw.Connection) -> int:
    """The format of a database that is there; raises FolderError unless this version can serve it."""
    if connection.pragma("application_id") != statements.APPLICATION_ID:
        raise FolderError(f"{folder.database} is not a Rowkey database. Name another folder with --data.")
    form: int = connection.pragma("user_version")
    if form != statements.FORMAT and form not in statements.UPGRADES:
        raise FolderError(
            f"{folder.database} has format {form}, and this version of Rowkey reads format {statements.FORMAT}. "
            "Serve it with the version that wrote it, or name another folder with --data."
        )
    return form
