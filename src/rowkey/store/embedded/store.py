"""The embedded store: SQLite in a data folder, durable when a verb returns.

    store.py        the verbs                      folder.py      the data folder and its owner
    catalogue.py    tables, settings, in memory    key_code.py    keys as bytes in the order of results
    writer.py       group commit                   narrow.py      filters as SQL that is never too strict
    reading.py      the verbs that read            statements.py  all SQL, and the schema
    reader.py       pages                          jobs.py        what waits for the writer
    scanner.py      where pages are gathered       value_code.py  values of properties as bytes in their order
    candidates.py   indexes, as queries use them   probes.py      filters as parts of indexes worth reading
    indexes.py      indexes, as they are kept

Point reads run on the event loop's thread (6 us; a hop to a thread and back is 86), pages in a few threads, commits in
one. Format on disk: `docs/storage-format.md`. Further processes that read the same folder and leave the writing to this
one: `follower.py`.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import apsw

from rowkey.errors import EntityAlreadyExists, ResourceNotFound, ServiceError, TableAlreadyExists, TableNotFound
from rowkey.model.datetimes import now_ticks
from rowkey.model.entity import Entity, Key
from rowkey.model.writes import Condition, Mode, Write, apply_write
from rowkey.store.embedded import statements
from rowkey.store.embedded.catalogue import Catalogue
from rowkey.store.embedded.changes import CATALOGUE, Changes
from rowkey.store.embedded.checksums import entity_checksum
from rowkey.store.embedded.clock import Clock
from rowkey.store.embedded.database import open_database, unopened
from rowkey.store.embedded.folder import DataFolder, FolderError
from rowkey.store.embedded.indexes import Build, Indexes, PropertyIndex, removal
from rowkey.store.embedded.jobs import Verdict
from rowkey.store.embedded.key_code import after_table, table_prefix, write_key
from rowkey.store.embedded.mark import LogMark
from rowkey.store.embedded.reading import Reading
from rowkey.store.embedded.writer import Writer
from rowkey.store.interface import Table

log = logging.getLogger(__name__)

_REMOVED_AT_ONCE = 500
"""Entities of a deleted table that are removed in one step; writes wait for a step at most."""


class EmbeddedStore(Reading):
    """A `Store` in a data folder; see the module."""

    def __init__(
        self, folder: DataFolder, connection: apsw.Connection, now: Callable[[], int], changes: Changes | None = None
    ) -> None:
        super().__init__(folder.database)
        self._folder = folder
        self._connection = connection
        self._clock = Clock(connection, now)
        tables = connection.execute(statements.LIST_TABLES)
        self._catalogue: Catalogue = Catalogue(Table(a, n, i, c) for a, n, i, c in tables)
        for identity, text in connection.execute(statements.LIST_POLICIES):
            self._catalogue.put_policies(identity, text)
        for account, section, text in connection.execute(statements.LIST_PROPERTIES):
            self._catalogue.put_properties(account, {section: text})
        # Tables as the open transaction has them; the catalogue shows what is committed.
        self._writable = self._catalogue.identities()
        self._mark = LogMark(folder.database)
        self._writer = Writer(connection, self._mark, on_commit=self._committed, on_rollback=self._forget_uncommitted)
        self._changes = changes
        if changes is not None:
            # One that wrote before may have ended between a commit and its notice.
            self._first_version = changes.counters[CATALOGUE] + 1
            changes.publish(self._first_version)
        self._indexes = Indexes(connection)
        for (identity,) in connection.execute(statements.LIST_DELETED_TABLES):
            self._writer.submit_background(self._removal(identity))
        for (identity,) in connection.execute(statements.LIST_DROPPED_INDEXES):
            self._writer.submit_background(removal(connection, identity))
        for index in self._indexes.unfinished():
            self._build(index)

    @classmethod
    def open(
        cls, place: Path | DataFolder, *, now: Callable[[], int] = now_ticks, changes: Changes | None = None
    ) -> Self:
        """Open a data folder, made if need be, inside the running event loop; raises FolderError.

        Other processes that read it hear of changes through `changes`.
        """
        folder = place if isinstance(place, DataFolder) else DataFolder(place)
        try:
            return cls(folder, open_database(folder), now, changes)
        except (apsw.Error, FolderError, OSError) as error:
            folder.release()
            if isinstance(error, FolderError):
                raise
            if isinstance(error, apsw.Error):
                raise unopened(folder.database, error) from error
            raise FolderError(f"{error.filename or folder.path} cannot be opened: {error.strerror}.") from error

    @property
    def waiting(self) -> int:
        """How many writes wait for the next group."""
        return self._writer.waiting

    async def ask_for_trouble(self) -> str | None:
        """Why no writes are taken, None while they are; a disk that has failed is tried again."""
        return self._writer.ask_for_trouble()

    async def close(self) -> None:
        """Finish what was accepted, fold the log into the database and let the folder go."""
        await self._writer.close()
        self._close_reading()
        self._writer.fold_all(self._clock.stop)
        self._connection.close()
        self._mark.close()
        self._folder.release()

    # ------------------------------------------------------------ tables

    async def create_table(self, account: str, name: str) -> Table:
        def add() -> Table:
            created = self._clock.tick()
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
            self._connection.execute(statements.DROP_INDEXES, (identity,))
            self._writable.discard(identity)
            return identity

        await self._writer.submit(mark, on_commit=self._bury)

    async def find_table(self, account: str, name: str) -> Table | None:
        return self._catalogue.find(account, name)

    async def list_tables(self, account: str, start: str, limit: int) -> Sequence[Table]:
        return self._catalogue.list(account, start, limit)

    # ------------------------------------------------------------ entities

    async def get(self, table: Table, key: Key) -> str | None:
        return self._read_text(self._live_prefix(table), key)

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        self._live_prefix(table)
        results: Sequence[Entity | None] = await self._writer.submit(lambda: self._apply(table, writes))
        return results

    def submit_write(self, table: Table, writes: Sequence[Write], verdict: Verdict) -> None:
        """`write` for another process: what would be returned or raised goes to `verdict`."""
        self._writer.submit_to(verdict, lambda: self._apply(table, writes))

    # ------------------------------------------------------------ settings

    async def set_policies(self, table: Table, text: str) -> None:
        self._live_prefix(table)

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

    # ------------------------------------------------------------ indexes

    async def add_index(self, table: Table, name: str) -> bool:
        self._live_prefix(table)

        def add() -> PropertyIndex | None:
            if table.identity not in self._writable:
                raise TableNotFound
            return self._indexes.add(table.identity, name)

        index = await self._writer.submit(add, on_commit=self._begin_index)
        return index is not None

    async def drop_index(self, table: Table, name: str) -> None:
        self._live_prefix(table)

        def drop() -> PropertyIndex:
            if table.identity not in self._writable:
                raise TableNotFound
            index = self._indexes.drop(table.identity, name)
            if index is None:
                raise ResourceNotFound
            return index

        await self._writer.submit(drop, on_commit=self._bury_index)

    def _begin_index(self, index: PropertyIndex | None) -> None:
        """A new index is on disk, with nothing in it yet."""
        if index is not None:
            self._indexes.put(index)
            self._build(index)

    def _build(self, index: PropertyIndex) -> None:
        log.info("building the index on %s", self._describe(index))
        build = Build(self._connection, index, self._show_index)
        self._writer.submit_background(build.step, on_commit=build.committed)

    def _show_index(self, index: PropertyIndex) -> None:
        """A step of building is on disk."""
        if not self._indexes.has(index):  # dropped meanwhile
            return
        self._indexes.put(index)
        if index.built is None:
            log.info("the index on %s is complete", self._describe(index))

    def _bury_index(self, index: PropertyIndex) -> None:
        """The end of an index is on disk: its entries may go."""
        log.info("the index on %s is dropped", self._describe(index))
        self._indexes.forget(index)
        self._writer.submit_background(removal(self._connection, index.identity))

    def _describe(self, index: PropertyIndex) -> str:
        table = self._catalogue.table(index.table)
        return f"{index.name} of {table.name} ({table.account})" if table is not None else index.name

    # ------------------------------------------------------------ applying

    def _apply(self, table: Table, writes: Sequence[Write]) -> list[Entity | None]:
        """Apply the writes of one transaction, all or nothing; runs inside the writer's."""
        if table.identity not in self._writable:
            raise TableNotFound
        now = self._clock.tick()
        prefix = table_prefix(table.identity)
        indexes = self._indexes.of(table.identity)
        execute = self._connection.execute
        entities: list[Entity | None] = []
        if len(writes) > 1:  # a single one changes nothing when it fails
            execute("SAVEPOINT entity_group")
        try:
            for write in writes:
                entities.append(self._apply_one(prefix, write, now, indexes))  # noqa: PERF401 - counted when one fails
        except apsw.Error:  # the whole group is rolled back, and there may be no savepoint any more
            raise
        except Exception as error:
            if isinstance(error, ServiceError):
                error.index = len(entities)
            if len(writes) > 1:
                execute("ROLLBACK TO entity_group; RELEASE entity_group")
            raise
        if len(writes) > 1:
            execute("RELEASE entity_group")
        return entities

    def _apply_one(self, prefix: bytes, write: Write, now: int, indexes: Sequence[PropertyIndex]) -> Entity | None:
        """Apply one write; raises before it has changed anything."""
        execute = self._connection.execute
        code = write_key(prefix, write.key)
        if write.condition is Condition.ABSENT:
            # An insert needs no look at what is there: the key is unique, and nothing added means that it was taken.
            entity = apply_write(None, write, now)
            if entity is not None:
                execute(
                    statements.ADD_ENTITY, (code, entity.timestamp, entity_checksum(code, entity.text), entity.text)
                )
                if self._connection.changes() == 0:
                    raise EntityAlreadyExists
                if indexes:
                    self._indexes.replace_entries(indexes, code, None, entity)
            return entity
        current = self._current(code, needs_text=write.mode is Mode.MERGE or bool(indexes))
        entity = apply_write(current, write, now)
        if entity is None:
            execute(statements.REMOVE_ENTITY, (code,))
        else:
            execute(statements.PUT_ENTITY, (code, entity.timestamp, entity_checksum(code, entity.text), entity.text))
        if indexes:
            self._indexes.replace_entries(indexes, code, current, entity)
        return entity

    def _current(self, code: bytes, *, needs_text: bool) -> Entity | None:
        """The stored entity, with its text only where that is needed."""
        if needs_text:
            row = self._connection.execute(statements.GET_ENTITY, (code,)).get
            return None if row is None else Entity(*row)
        timestamp = self._connection.execute(statements.GET_TIMESTAMP, (code,)).get
        return None if timestamp is None else Entity(timestamp, "")

    def _committed(self) -> None:
        """A group is on disk, and the catalogue shows it; nobody is answered yet."""
        self._end_reading()
        if self._changes is not None:
            self._changes.publish(self._first_version + self._catalogue.version)

    def _live_prefix(self, table: Table) -> bytes:
        prefix = self._catalogue.prefix(table.identity)
        if prefix is None:
            raise TableNotFound
        return prefix

    def _forget_uncommitted(self) -> None:
        self._writable = self._catalogue.identities()
        self._clock.forget_uncommitted()

    def _bury(self, identity: int) -> None:
        """A table's deletion is on disk: nobody sees it any more, and its entities may go."""
        for index in self._indexes.of(identity):
            self._bury_index(index)
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
