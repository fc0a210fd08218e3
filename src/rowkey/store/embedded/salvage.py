"""What is intact in a damaged data folder, brought into a new one.

Entities are looked for on every page of the file and its log (`pages.py`), whatever the trees above them look like, and
taken where their own checksum says that they are as they were written. Free pages are left out: they hold what was
deleted. Tables, access policies and service properties are read with SQLite where it can, and else found as rows of
their shape on pages whose checksum is right; where SQLite would not find all pages, it reads a file that is made of
them. The index of keys, as far as it can be read, says which entities are lost.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw

from rowkey.model.datetimes import now_ticks
from rowkey.store.embedded import statements
from rowkey.store.embedded.check import fault_of_entity, name_key
from rowkey.store.embedded.checksums import entity_checksum, load_page_checksums
from rowkey.store.embedded.damage import explain, is_damage, is_full
from rowkey.store.embedded.database import fold_and_close, of_unknown_format, open_database, open_to_read
from rowkey.store.embedded.folder import DATABASE_NAME, DataFolder, FolderError
from rowkey.store.embedded.key_code import TABLE_BYTES, table_prefix
from rowkey.store.embedded.pages import Pages, Value

_LOST_NAMED_MAX = 1000
"""Of lost entities, so many are named."""

TableRow = tuple[int, str, str, str, int, int]
EntityRow = tuple[bytes, int, int, str]


@dataclass
class Outcome:
    """What became of a salvage."""

    tables: int = 0
    entities: int = 0
    losses: list[str] = field(default_factory=list)
    """A sentence each."""


def salvage(old: DataFolder, new: DataFolder) -> Outcome:
    """Bring what is intact in `old` into `new`, which must be empty, as it is after a failure; raises FolderError."""
    if any(file.exists() for file in new.files):
        raise FolderError(f"{new.path} has a database already. Name a folder that is new.")
    load_page_checksums()
    outcome = Outcome()
    try:
        connection = open_database(new)
        try:
            with TemporaryDirectory(dir=new.path) as place, connection:
                _Salvage(old.database, connection, outcome, Path(place) / DATABASE_NAME).run()
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            fold_and_close(new, connection)
    except BaseException as error:
        for file in new.files:
            file.unlink(missing_ok=True)
        if is_full(error):
            raise FolderError(
                f"{new.path} was not filled: its disk is full. Make room there, or name a folder on another disk."
            ) from error
        if isinstance(error, apsw.Error):
            raise FolderError(f"{new.database} cannot be written: {explain(error)}.") from error
        raise
    return outcome


class _Salvage:
    def __init__(self, database: Path, target: apsw.Connection, outcome: Outcome, own: Path) -> None:
        self._target = target
        self._outcome = outcome
        self._pages = Pages(database)
        source = _Source(database) if self._pages.are_known_to_sqlite else None
        if source is None or source.is_barred:
            self._pages.write(own)
            source = _Source(own)
        self._database = database
        self._source = source
        self._latest = 0
        self._deleted: set[int] = set()

    def run(self) -> None:
        try:
            self._verify_format()
            self._look_at_log()
            identities = self._bring_tables()
            self._bring_settings(identities)
            self._bring_entities(identities)
            self._name_lost(identities)
            reserved = self._source.read(statements.GET_RESERVED) or [(0,)]
            self._target.execute(statements.SET_RESERVED, (max(self._latest, now_ticks(), *reserved[0]),))
        finally:
            self._source.close()
            self._pages.close()

    def _verify_format(self) -> None:
        """Raise where it can be read that a later version has written this, perhaps more than is understood here."""
        for application, form in self._source.read(statements.READ_FORMAT) or ():
            if application == statements.APPLICATION_ID and form > statements.FORMAT:
                raise of_unknown_format(self._database, form)

    def _look_at_log(self) -> None:
        lost = self._pages.lost_frames
        if lost and self._pages.is_in_doubt:
            self._lose(
                f"{lost} pages of the log. What stands behind them is here, and in doubt: entities and settings may be "
                "older, or missing, what was deleted may have come back, and of a transaction there may be a part"
            )
        elif lost:
            self._lose(f"{lost} pages of the log, and with them the last writes: entities may be older, or missing")

    def _bring_tables(self) -> set[int]:
        """The identities of the tables that are there, and were not deleted."""
        rows = self._source.read(statements.LIST_ALL_TABLES)
        if rows is None:
            self._lose("the list of tables, of which only what was found on intact pages is here")
            rows = sorted(self._found_tables(), key=lambda row: row[5])
        tables = {row[0]: row for row in rows}
        # A name is free for the next table when the last one is deleted, although a page may be older.
        named = {(row[1], row[3]): row[0] for row in sorted(tables.values()) if not row[5]}
        self._deleted = tables.keys() - named.values()
        for identity in named.values():
            self._target.execute(statements.RESTORE_TABLE, tables[identity])
        self._outcome.tables = len(named)
        return set(named.values())

    def _found_tables(self) -> Iterator[TableRow]:
        """Rows of the shape of tables; the identity is the row's number, which SQLite keeps outside of the row."""
        for number in range(1, self._pages.count + 1):
            if self._pages.is_trusted(number):
                for identity, row in self._pages.numbered_rows(number):
                    match row:
                        case (None, str(account), str(name), str(lower), int(created), 0 | 1 as is_deleted) if (
                            name.lower() == lower
                        ):
                            yield identity, account, name, lower, created, int(is_deleted)
                        case _:
                            pass

    def _bring_settings(self, identities: set[int]) -> None:
        for what, read, write in (
            ("access policies", statements.LIST_POLICIES, statements.PUT_POLICIES),
            ("service properties", statements.LIST_PROPERTIES, statements.PUT_PROPERTIES),
        ):
            rows = self._source.read(read)
            if rows is None:
                self._lose(f"{what}, all of them")
                continue
            for row in rows:
                if write is statements.PUT_PROPERTIES or row[0] in identities:
                    self._target.execute(write, row)
        indexes = self._source.read(statements.LIST_ALL_INDEXES)
        if indexes is None:
            self._lose("the list of indexes, all of it")
        for table, name in sorted({(table, name) for _, table, name, _ in indexes or ()}):
            if table in identities:
                # From the first key on: the server builds it anew, in the background.
                self._target.execute(statements.ADD_INDEX, (table, name, table_prefix(table)))

    def _bring_entities(self, identities: set[int]) -> None:
        free = self._pages.free()
        if free is None:
            self._lose("the list of free pages: entities that were deleted may have come back")
        unknown: set[int] = set()
        for entity in self._found_entities(free or set()):
            identity = int.from_bytes(entity[0][:TABLE_BYTES], "big")
            if identity in self._deleted:
                continue
            if identity not in identities:
                unknown.add(identity)
            self._latest = max(self._latest, entity[1])
            self._target.execute(statements.RESTORE_ENTITY, entity)
        for identity in sorted(unknown):
            self._add_unnamed(identity)
        self._outcome.entities = self._target.execute("SELECT count(*) FROM entity").get

    def _found_entities(self, free: set[int]) -> Iterator[EntityRow]:
        for pages in self._pages.views():
            for number in range(1, pages.count + 1):
                if number not in free:
                    yield from filter(None, map(self._entity_of, pages.table_rows(number)))

    def _entity_of(self, row: tuple[Value, ...]) -> EntityRow | None:
        """What is stored of an entity, if the row is one and is as it was written."""
        match row:
            case (None, bytes(code), int(timestamp), int(checksum), bytes(body)):
                try:
                    text: str = self._target.execute("SELECT json(?)", (body,)).get
                    is_intact = entity_checksum(code, text) == checksum
                except (apsw.Error, ValueError):
                    return None
                if is_intact and fault_of_entity(code, timestamp, text) is None:
                    return code, timestamp, checksum, text
                return None
            case _:
                return None

    def _add_unnamed(self, identity: int) -> None:
        """A table whose entities are here and whose name is not."""
        accounts = [account for (account,) in self._target.execute("SELECT DISTINCT account FROM table_of_account")]
        account, name = (accounts or ["devstoreaccount1"])[0], f"Salvaged{identity}"
        self._target.execute(statements.RESTORE_TABLE, (identity, account, name, name.lower(), now_ticks(), 0))
        self._outcome.tables += 1
        self._lose(f"the name of table {identity}, which is now {name} of {account}")

    def _name_lost(self, identities: set[int]) -> None:
        """Name the entities whose keys the old index has and the new one has not."""
        keys, is_complete = self._source.keys()
        lost = [
            code
            for code in sorted(keys)
            if int.from_bytes(code[:TABLE_BYTES], "big") in identities
            and self._target.execute(statements.GET_TIMESTAMP, (code,)).get is None
        ]
        for code in lost[:_LOST_NAMED_MAX]:
            self._lose(f"the entity {name_key(code)}")
        if len(lost) > _LOST_NAMED_MAX:
            self._lose(f"{len(lost) - _LOST_NAMED_MAX} more entities")
        if not is_complete:
            self._lose("a part of the index of keys: more entities may be missing than are named")

    def _lose(self, what: str) -> None:
        self._outcome.losses.append(what)


class _Source:
    """The damaged database, read with SQLite as far as that goes."""

    def __init__(self, database: Path) -> None:
        self._connection: apsw.Connection | None = None
        self.is_barred = False
        """Whether it is not for damage that it cannot be read, but as there is no room for the index of its log."""
        try:
            self._connection = open_to_read(database)
        except apsw.Error as error:
            self.is_barred = not is_damage(error)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def read(self, sql: str) -> list[tuple[Any, ...]] | None:
        """All rows of a statement, None where some cannot be read."""
        if self._connection is None:
            return None
        try:
            return self._connection.execute(sql).fetchall()
        except apsw.Error:
            return None

    def keys(self) -> tuple[set[bytes], bool]:
        """The keys that the index has, from both ends, and whether that is all."""
        keys: set[bytes] = set()
        if self._connection is None:
            return keys, False
        for sql in (statements.LIST_KEYS, f"{statements.LIST_KEYS} DESC"):
            try:
                keys.update(code for (code,) in self._connection.execute(sql) if isinstance(code, bytes))
            except apsw.Error:
                continue
            return keys, True
        return keys, False
