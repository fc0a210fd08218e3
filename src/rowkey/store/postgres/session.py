"""One connection to the database, with its prepared statements."""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeAlias

import asyncpg
from asyncpg.connect_utils import SessionAttribute

from rowkey.store.postgres import statements
from rowkey.store.postgres.failures import IN_DOUBT, is_cancelled_in_doubt, is_lost

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Statement: TypeAlias = "asyncpg.prepared_stmt.PreparedStatement[asyncpg.Record]"

CONNECT_SECONDS_MAX = 5.0
"""For each host of the URL."""


async def connect(url: str) -> Connection:
    """A connection to the primary, unless the URL asks for something else; raises what asyncpg does, or OSError."""
    wanted = None if "target_session_attrs" in url else SessionAttribute.read_write
    return await asyncpg.connect(
        url,
        timeout=CONNECT_SECONDS_MAX,
        statement_cache_size=0,
        target_session_attrs=wanted,
        server_settings={"application_name": "rowkey"},
    )


class Session:
    """A connection that one job at a time uses.

    `may_have_written` says of the job, once it has failed, whether a write was sent and never answered.
    """

    def __init__(self, connection: Connection, *, is_sharded: bool) -> None:
        self._connection = connection
        self._is_sharded = is_sharded
        self._prepared: dict[str, Statement] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self.may_have_written = False
        self.has_timed_out = False
        self._is_in_doubt = False
        connection.add_log_listener(self._hear)

    @classmethod
    async def open(cls, url: str) -> "Session":
        """Connect, and set up what all statements need."""
        connection = await connect(url)
        try:
            await connection.execute(statements.SESSION)
            is_sharded = await connection.fetchval(statements.IS_SHARDED)
        except BaseException:
            connection.terminate()
            raise
        return cls(connection, is_sharded=is_sharded)

    @property
    def is_open(self) -> bool:
        """Whether the connection can still be used, as far as is known."""
        return not self._connection.is_closed()

    def begin(self, seconds_max: float) -> None:
        """A job begins, and has so many seconds; then the connection is dropped, which cancels nothing."""
        self.may_have_written = self._is_in_doubt = False
        self._timer = self._loop.call_later(seconds_max, self._time_out)

    def end(self) -> None:
        """The job is over."""
        if self._timer is not None:
            self._timer.cancel()

    async def read(self, sql: str, *arguments: object) -> Sequence[Any]:
        """The rows of a statement that changes nothing."""
        statement = self._prepared.get(sql) or await self._prepare(sql)
        return await statement.fetch(*arguments)

    async def write(self, sql: str, *arguments: object) -> Any:
        """The only value of a statement that changes something, None where it has no row."""
        statement = self._prepared.get(sql) or await self._prepare(sql)
        self.may_have_written = True
        try:
            rows = await statement.fetch(*arguments)
        except asyncpg.PostgresError as error:
            # The server has answered, and so the transaction is undone, unless it could not finish what it said.
            is_in_doubt = self._is_in_doubt or (self._is_sharded and is_cancelled_in_doubt(error))
            self.may_have_written = is_in_doubt or is_lost(error)
            raise
        if self._is_in_doubt:
            raise asyncpg.ConnectionDoesNotExistError("the commit was not confirmed by the standbys")
        self.may_have_written = False
        return rows[0][0] if rows else None

    async def execute(self, sql: str) -> None:
        """Run a statement without parameters: the brackets of a transaction."""
        await self._connection.execute(sql)

    def drop(self) -> None:
        """End the connection at once. What it was doing goes on in the server and is not cancelled."""
        self._connection.terminate()

    async def close(self) -> None:
        """End the connection, politely as long as that takes no time."""
        try:
            await self._connection.close(timeout=1)
        except (TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            self._connection.terminate()

    async def _prepare(self, sql: str) -> Statement:
        statement = self._prepared[sql] = await self._connection.prepare(sql)
        return statement

    def _hear(self, _connection: object, message: asyncpg.PostgresLogMessage) -> None:
        if message.sqlstate in IN_DOUBT:
            self._is_in_doubt = True

    def _time_out(self) -> None:
        self.has_timed_out = True
        self.drop()
