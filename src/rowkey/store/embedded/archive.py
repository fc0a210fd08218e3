"""A data folder laid open for copying (`store/transfer.py`): its database, read and written as it is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import apsw

from rowkey.model.datetimes import now_ticks
from rowkey.model.entity import Key
from rowkey.store.embedded import statements
from rowkey.store.embedded.checksums import entity_checksum
from rowkey.store.embedded.database import open_database
from rowkey.store.embedded.folder import DataFolder, verify_begun
from rowkey.store.embedded.key_code import after_table, read_key, table_prefix, write_key
from rowkey.store.transfer import ArchivedEntity, ArchivedTable, TransferError


class FolderArchive:
    """An `Archive` that owns its folder, so that no server runs on it."""

    def __init__(self, folder: DataFolder, connection: apsw.Connection) -> None:
        self._folder = folder
        self._connection = connection

    @classmethod
    def open(cls, path: Path, *, is_new: bool) -> Self:
        """Open a folder, which is made where it `is_new`; raises FolderError."""
        if not is_new:
            verify_begun(path)
        folder = DataFolder(path)
        try:
            return cls(folder, open_database(folder))
        except BaseException:
            folder.release()
            raise

    async def close(self) -> None:
        self._connection.close()
        self._folder.release()

    # ------------------------------------------------------------ reading

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

    async def read_properties(self) -> Sequence[tuple[str, str, str]]:
        sections: list[Any] = self._connection.execute(statements.LIST_PROPERTIES).fetchall()
        return sections

    async def read_entities(self, table: ArchivedTable, after: Key | None, limit: int) -> Sequence[ArchivedEntity]:
        prefix = self._prefix(table)
        start = prefix if after is None else write_key(prefix, after) + b"\0"
        rows = self._connection.execute(statements.ARCHIVED_ENTITIES, (start, after_table(prefix), limit))
        entities = []
        for code, timestamp, checksum, text in rows:
            if entity_checksum(code, text) != checksum:
                raise TransferError(
                    f"An entity of {table.account}/{table.name} is damaged. `rowkey check` says what is, and `rowkey "
                    "salvage` brings what is not into a new folder."
                )
            entities.append(ArchivedEntity(read_key(code), timestamp, text))
        return entities

    async def last_key(self, table: ArchivedTable) -> Key | None:
        prefix = self._prefix(table)
        code: bytes | None = self._connection.execute(statements.LAST_KEY, (prefix, after_table(prefix))).get
        return None if code is None else read_key(code)

    def _prefix(self, table: ArchivedTable) -> bytes:
        place = table.account, table.name.lower()
        return table_prefix(self._connection.execute(statements.FIND_TABLE, place).get)

    # ------------------------------------------------------------ writing

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

    async def put_properties(self, sections: Sequence[tuple[str, str, str]]) -> None:
        with self._connection:
            self._connection.executemany(statements.PUT_PROPERTIES, sections)

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
