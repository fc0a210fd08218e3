"""A PostgreSQL database laid open for copying (`store/transfer.py`)."""

from collections.abc import Awaitable, Sequence
from typing import Any, Self, TypeVar

from rowkey.config import describe_store
from rowkey.model.entity import Key
from rowkey.model.key_range import FIRST_KEY, KeyRange, successor
from rowkey.store.interface import Table
from rowkey.store.key_code import code_of, text_of
from rowkey.store.postgres import statements
from rowkey.store.postgres.catalogue import KnownTable
from rowkey.store.postgres.failures import ERRORS, is_lost
from rowkey.store.postgres.notices import read_properties
from rowkey.store.postgres.pages import CodedRange, code_range, within_segment
from rowkey.store.postgres.schema import explain, wait_for_schema
from rowkey.store.postgres.session import Session
from rowkey.store.transfer import ArchivedEntity, ArchivedTable, TransferError

_T = TypeVar("_T")


class DatabaseArchive:
    """An `Archive` over one connection; the servers on the database must have been stopped.

    Its verbs raise TransferError where the database does not do what it should.
    """

    def __init__(self, session: Session, url: str) -> None:
        self._session = session
        self._url = url
        self._known: dict[tuple[str, str], KnownTable] = {}

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect, as soon as that is possible; raises DatabaseError."""
        await wait_for_schema(url)
        return cls(await _answer(Session.open(url), url), url)

    async def close(self) -> None:
        await self._session.close()

    def _ask(self, job: Awaitable[_T]) -> Awaitable[_T]:
        return _answer(job, self._url)

    # ------------------------------------------------------------ reading

    async def read_tables(self) -> Sequence[ArchivedTable]:
        rows = await self._ask(self._session.read(statements.ARCHIVED_TABLES))
        return [
            ArchivedTable(account, name, created, policies, tuple(sorted(indexes)))
            for account, name, created, policies, indexes in rows
        ]

    async def read_properties(self) -> Sequence[tuple[str, str, str]]:
        return read_properties(await self._ask(self._session.read(statements.LIST_PROPERTIES)))

    async def read_entities(self, table: ArchivedTable, after: Key | None, limit: int) -> Sequence[ArchivedEntity]:
        start = FIRST_KEY if after is None else Key(after.partition_key, successor(after.row_key))
        known = await self._find(table)
        rest: tuple[bytes, bytes] | None = code_range(KeyRange(start, None)).start
        found: list[ArchivedEntity] = []
        while rest is not None and len(found) < limit:
            position = known.position_of(rest[0])
            whole = CodedRange(rest, code_range(KeyRange(start, None)).end)
            (inside,), rest = within_segment([whole], known.bounds, position)
            segment = known.segments[position]
            bounds = *inside.start, *inside.end, limit - len(found)
            for partition_key, row_key, timestamp, body in await self._ask(
                self._session.read(statements.ARCHIVED_ENTITIES, segment, *bounds)
            ):
                key = Key(text_of(partition_key), text_of(row_key))
                found.append(ArchivedEntity(key, timestamp, body.decode("ascii")))
        return found

    async def last_key(self, table: ArchivedTable) -> Key | None:
        for segment in reversed((await self._find(table)).segments):
            for partition_key, row_key in await self._ask(self._session.read(statements.LAST_KEY, segment)):
                return Key(text_of(partition_key), text_of(row_key))
        return None

    async def _find(self, table: ArchivedTable) -> KnownTable:
        place = table.account, table.name.lower()
        known = self._known.get(place)
        if known is None:
            rows: Sequence[Any] = await self._ask(self._session.read(statements.FIND_TABLE, *place))
            *found, segments, bounds = rows[0]
            known = self._known[place] = KnownTable(Table(*found), tuple(segments), tuple(bounds))
        return known

    # ------------------------------------------------------------ writing

    async def add_table(self, table: ArchivedTable) -> None:
        account, name, created, policies, indexes = table
        rows = await self._ask(self._session.read(statements.FIND_TABLE, account, name.lower()))
        if rows:
            if rows[0]["name"] != name or rows[0]["created"] != created:
                raise TransferError(f"The target has a table {account}/{name} already. Delete it first, or leave it.")
            return
        await self._ask(self._session.execute(statements.BEGIN))
        await self._ask(self._session.write(statements.CREATE_TABLE, account, name, name.lower()))
        await self._ask(
            self._session.write(statements.DESCRIBE_TABLE, account, name.lower(), created, policies, list(indexes))
        )
        await self._ask(self._session.execute(statements.COMMIT))

    async def put_properties(self, sections: Sequence[tuple[str, str, str]]) -> None:
        for account, section, text in sections:
            await self._ask(self._session.write(statements.SET_PROPERTIES, account, [section], [text]))

    async def add_entities(self, table: ArchivedTable, entities: Sequence[ArchivedEntity]) -> None:
        known = await self._find(table)
        rows = [(code_of(key.partition_key), code_of(key.row_key), ts, text) for key, ts, text in entities]
        await self._ask(
            self._session.write(
                statements.ADD_ENTITIES,
                [known.segment_of(row[0]) for row in rows],
                [row[0] for row in rows],
                [row[1] for row in rows],
                [row[2] for row in rows],
                [row[3].encode("ascii") for row in rows],
            )
        )


async def _answer(job: Awaitable[_T], url: str) -> _T:
    """What the database at `url` answers; raises TransferError where it fails."""
    try:
        return await job
    except ERRORS as error:
        again = "start the same command again: it goes on where it was."
        if is_lost(error):
            raise TransferError(f"{describe_store(url)}: the connection was lost. {again.capitalize()}") from error
        raise TransferError(f"{describe_store(url)}: {explain(error)}. When that is mended {again}") from error
