"""What other front ends change is heard of here: service properties, and tables that were deleted.

One connection listens. Each time that it hears of a change, and every few seconds whether or not it does, the service
properties of all accounts are read anew; so a connection that is dead without anybody having noticed, or a pooler that
keeps notifications to itself, delays the news and does not stop them.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress

import asyncpg

from rowkey.store.postgres import statements
from rowkey.store.postgres.catalogue import Catalogue
from rowkey.store.postgres.failures import ERRORS
from rowkey.store.postgres.session import Connection, connect

log = logging.getLogger(__name__)

REFRESH_SECONDS = 5.0
_ANSWER_SECONDS_MAX = 5.0
_RECONNECT_SECONDS = 0.5


class Notices:
    """Keeps a catalogue up to date in the background; `refreshing` is held while it reads properties."""

    def __init__(self, url: str, catalogue: Catalogue) -> None:
        self.refreshing = asyncio.Lock()
        self._url = url
        self._catalogue = catalogue
        self._is_changed = asyncio.Event()
        self._task = asyncio.create_task(self._listen(), name="rowkey-notices")

    async def close(self) -> None:
        """Listen no longer."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _listen(self) -> None:
        while True:
            try:
                connection = await connect(self._url)
                try:
                    await connection.add_listener(statements.CHANNEL, self._hear)  # type: ignore[arg-type]
                    self._catalogue.forget_tables()
                    await self._keep_refreshing(connection)
                finally:
                    connection.terminate()
            except ERRORS as error:
                log.debug("listening for changes was interrupted: %s", error)
                await asyncio.sleep(_RECONNECT_SECONDS)

    async def _keep_refreshing(self, connection: Connection) -> None:
        while True:
            self._is_changed.clear()
            async with self.refreshing:
                rows = await connection.fetch(statements.LIST_PROPERTIES, timeout=_ANSWER_SECONDS_MAX)
                self._catalogue.put_properties(read_properties(rows))
            timer = asyncio.get_running_loop().call_later(REFRESH_SECONDS, self._is_changed.set)
            await self._is_changed.wait()
            timer.cancel()

    def _hear(self, _connection: object, _process: int, _channel: str, payload: str) -> None:
        what, _, identity = payload.partition(" ")
        if what == "table":
            self._catalogue.forget(int(identity))
        else:
            self._is_changed.set()


def read_properties(rows: Iterable[asyncpg.Record]) -> list[tuple[str, str, str]]:
    """The service properties of all accounts as account, section and text."""
    return [(row["account"], row["section"], row["text"]) for row in rows]
