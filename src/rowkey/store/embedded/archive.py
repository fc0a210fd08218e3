"""A data folder laid open for copying (`store/transfer.py`): its database, read and written as it is."""

from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import apsw

from rowkey.model.datetimes import now_ticks
from rowkey.model.entity import Key
from rowkey.store.embedded import statements
from rowkey.store.embedded.checksums import entity_checksum
from rowkey.store.embedded.damage import explain, is_damage, is_full
from rowkey.store.embedded.database import WHAT_TO_DO, fold_and_close, open_database
from rowkey.store.embedded.folder import DataFolder, verify_begun
from rowkey.store.embedded.key_code import after_table, read_key, table_prefix, write_key
from rowkey.store.transfer import ArchivedEntity, ArchivedTable, TransferError

_LOG_PAGES_MAX = 1000
"""Pages in the log with which it is folded into the database, so that a copy needs no room for both."""

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Verb = Callable[Concatenate["FolderArchive", _P], Coroutine[Any, Any, _T]]


def _telling(verb: _Verb[_P, _T]) -> _Verb[_P, _T]:
    """A verb that raises TransferError where the database fails it."""

    @wraps(verb)
    async def telling(archive: "FolderArchive", /, *arguments: _P.args, **named: _P.kwargs) -> _T:
        try:
            return await verb(archive, *arguments, **named)
        except apsw.Error as error:
            raise TransferError(_explain(archive.database, error)) from error

    return telling


def _explain(database: Path, error: apsw.Error) -> str:
    if is_damage(error):
        return f"{database} is damaged: {explain(error)}. {WHAT_TO_DO}"
    if is_full(error):
        again = "Make room there, and start the same command again: it goes on where it was."
        return f"{database} cannot be written: its disk is full. {again}"
    return f"{database} cannot be read or written: {explain(error)}."


class FolderArchive:
    """An `Archive` that owns its folder, so that no server runs on it.

    Its verbs raise TransferError where the database does not do what it should.
    """

    def __init__(self, folder: DataFolder, connection: apsw.Connection) -> None:
        self._folder = folder
        self.database = folder.database
        self._connection = connection

    @classmethod
    def open(cls, path: Path, *, is_new: bool) -> Self:
        """Open a folder, which is made where it `is_new`; raises FolderError."""
        if not is_new:
            verify_begun(path)
        folder = DataFolder(path)
        try:
            connection = open_database(folder)
            connection.wal_autocheckpoint(_LOG_PAGES_MAX)
            return cls(folder, connection)
        except BaseException:
            folder.release()
            raise

    async def close(self) -> None:
        fold_and_close(self._folder, self._connection)
        self._folder.release()

    # ------------------------------------------------------------ reading

    @_telling
    async def read_tables(self) -> Sequence[ArchivedTable]:
        policies = dict(self._connection.execute(statements.LIST_POLICIES))
        indexes: dict[int, list[str]] = {}
        for _, identity, name, _ in self._connection.execute(statements.LIST_ALL_INDEXES):
            indexes.setdefault(identity, []).append(name)
        rows: list[Any] = self._connection.execute(statements.LIST_TABLES).fetchall()
        return [
            ArchivedTable(account, name, created, policies.get(identity, ""), tuple(sorted(indexes.get(identity, ()))))
            for account, name, identity, created in sorted(rows, key=lambda row: (row[0], row[1].lower()))
        ]

    @_telling
    async def read_properties(self) -> Sequence[tuple[str, str, str]]:
        sections: list[Any] = self._connection.execute(statements.LIST_PROPERTIES).fetchall()
        return sections

    @_telling
    async def read_entities(self, table: ArchivedTable, after: Key | None, limit: int) -> Sequence[ArchivedEntity]:
        prefix = self._prefix(table)
        start = prefix if after is None else write_key(prefix, after) + b"\0"
        rows = self._connection.execute(statements.ARCHIVED_ENTITIES, (start, after_table(prefix), limit))
        entities = []
        for code, timestamp, checksum, text in rows:
            if entity_checksum(code, text) != checksum:
                raise TransferError(
                    f"{self.database} is damaged: an entity of {table.account}/{table.name} is not as it was written. "
                    f"{WHAT_TO_DO}"
                )
            entities.append(ArchivedEntity(read_key(code), timestamp, text))
        return entities

    @_telling
    async def last_key(self, table: ArchivedTable) -> Key | None:
        prefix = self._prefix(table)
        code: bytes | None = self._connection.execute(statements.LAST_KEY, (prefix, after_table(prefix))).get
        return None if code is None else read_key(code)

    def _prefix(self, table: ArchivedTable) -> bytes:
        place = table.account, table.name.lower()
        return table_prefix(self._connection.execute(statements.FIND_TABLE, place).get)

    # ------------------------------------------------------------ writing

    @_telling
    async def add_table(self, table: ArchivedTable) -> None:
        account, name, created, policies, indexes = table
        row = self._connection.execute(statements.GET_TABLE, (account, name.lower())).get
        if row is not None:
            if row[1] != name or row[3] != created:
                raise TransferError(f"The target has a table {account}/{name} already. Delete it first, or leave it.")
            self._build_indexes_anew(row[2])
            return
        with self._connection:
            identity = self._connection.execute(statements.ADD_TABLE, (account, name, name.lower(), created)).get
            if policies:
                self._connection.execute(statements.PUT_POLICIES, (identity, policies))
            for index in indexes:  # built when a server opens the folder
                self._connection.execute(statements.ADD_INDEX, (identity, index, table_prefix(identity)))

    def _build_indexes_anew(self, identity: int) -> None:
        """Entities are about to be added beside them."""
        with self._connection:
            for index, table_identity, _, _ in self._connection.execute(statements.LIST_ALL_INDEXES).fetchall():
                if table_identity == identity:
                    self._connection.execute(statements.SET_BUILT, (table_prefix(identity), index))

    @_telling
    async def put_properties(self, sections: Sequence[tuple[str, str, str]]) -> None:
        with self._connection:
            self._connection.executemany(statements.PUT_PROPERTIES, sections)

    @_telling
    async def add_entities(self, table: ArchivedTable, entities: Sequence[ArchivedEntity]) -> None:
        prefix = self._prefix(table)
        latest = max(now_ticks(), *(entity.timestamp for entity in entities))
        with self._connection:
            for key, timestamp, text in entities:
                code = write_key(prefix, key)
                row = code, timestamp, entity_checksum(code, text), text
                self._connection.execute(statements.ADD_ENTITY, row)
            if latest > self._connection.execute(statements.GET_RESERVED).get:
                self._connection.execute(statements.SET_RESERVED, (latest,))
