"""A server process: open the store, listen, wait for a signal, finish what was accepted, close the store."""

import asyncio
import gc
import os
import signal
from collections.abc import Callable

from rowkey.config import Settings
from rowkey.server.allocator import hold_freed_memory
from rowkey.server.listener import Listener
from rowkey.service import Service
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import Store
from rowkey.store.memory.store import MemoryStore

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SECOND_SIGNAL_EXIT_CODE = 1


class AddressError(Exception):
    """The address cannot be listened on; the cause is the OSError."""


def run(settings: Settings, announce: Callable[[int], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` is called with the port as soon as requests are answered.

    Raises FolderError or AddressError where the server cannot start. A second signal ends the process at once,
    which loses nothing that was acknowledged.
    """
    hold_freed_memory()
    with asyncio.Runner(loop_factory=_new_event_loop) as runner:
        runner.run(_serve(settings, announce))


def _new_event_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # as on Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _serve(settings: Settings, announce: Callable[[int], None]) -> None:
    stop_asked = _watch_signals()
    store = _open_store(settings)
    try:
        listener = Listener(Service(settings, store))
        try:
            await listener.start(settings.host, settings.port)
        except OSError as error:
            raise AddressError from error
        gc.collect()
        gc.freeze()  # what was made until now stays; collections need not look at it again
        announce(listener.port)
        await stop_asked.wait()
        await listener.stop()
    finally:
        await store.close()


def _open_store(settings: Settings) -> Store:
    return MemoryStore() if settings.data is None else EmbeddedStore.open(settings.data)


def _watch_signals() -> asyncio.Event:
    """An event that the first signal sets; the second ends the process."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if asked.is_set():
            os._exit(SECOND_SIGNAL_EXIT_CODE)
        asked.set()

    for number in SIGNALS:
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda _number, _frame: loop.call_soon_threadsafe(stop))
    return asked
