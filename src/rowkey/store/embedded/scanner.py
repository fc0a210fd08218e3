"""Where pages are gathered: small ones at once, the others in a few threads."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from rowkey.store.embedded.damage import unreadable
from rowkey.store.embedded.gatherer import Gatherer
from rowkey.store.embedded.reader import SCAN_CACHE_KIB, PageScan, open_reader
from rowkey.store.embedded.turns import Turns
from rowkey.store.interface import Page, Scan

T = TypeVar("T")

_THREADS = 2


class Scanner:
    """Gathers pages of a database. It belongs to the event loop's thread; its own threads have a connection each."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="rowkey-scan")
        self._turns = Turns(_THREADS)
        self._local = threading.local()
        self._gatherer = Gatherer()

    async def page(self, near: apsw.Connection, prefix: bytes, scan: Scan) -> Page:
        """A page of a table; `near` is a connection of the loop's thread, outside of a transaction."""

        def page_scan(connection: apsw.Connection) -> PageScan:
            return PageScan(connection, prefix, scan, self._gatherer, self._turns.is_awaited)

        try:
            small = page_scan(near).run_if_small()
            if small is not None:
                return small
            return await self.run(lambda connection: page_scan(connection).run(), scan.client)
        except apsw.Error as error:
            raise unreadable(self._database, error) from error

    async def run(self, work: Callable[[apsw.Connection], T], client: str = "") -> T:
        """What `work` returns, done with a connection in one of the threads when it is the client's turn there."""
        return await self._turns.run(client, partial(self._loop.run_in_executor, self._threads, self._work, work))

    def _work(self, work: Callable[[apsw.Connection], T]) -> T:
        return work(self._connection())

    def close(self) -> None:
        """Finish what is being gathered."""
        self._threads.shutdown(wait=True)

    def _connection(self) -> apsw.Connection:
        """The connection of the thread that asks."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = open_reader(self._database, cache_kib=SCAN_CACHE_KIB)
        return connection
