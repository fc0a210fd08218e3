"""A server process: open the store, listen, wait for a signal, finish what was accepted, close the store.

What only some servers need (TLS of the server's own making, bearer tokens) is imported when it is asked for.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from rowkey.auth.bearer import BearerAuthority
from rowkey.config import HOST, Bearer, Settings, describe_lack, is_readable_by_others
from rowkey.explorer.page import show_explorer
from rowkey.observe.analytics import Analytics
from rowkey.observe.health import Health, no_trouble
from rowkey.server.allocator import hold_freed_memory
from rowkey.server.listener import Listener
from rowkey.server.monitor import Monitor, data_gauge, listener_gauges, writes_gauge
from rowkey.server.tls import CertificateError, open_context
from rowkey.service import Service
from rowkey.store.auto_index import AutoIndexStore
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import Store
from rowkey.store.memory.store import MemoryStore

log = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SECOND_SIGNAL_EXIT_CODE = 1


class AddressError(Exception):
    """The address cannot be listened on; the arguments are host and port, the cause is the OSError."""


class KeysError(Exception):
    """The file with an issuer's keys cannot be used; the text says why."""


class StoreError(Exception):
    """The database of --store cannot be used; the text says why."""


class WorkerError(Exception):
    """One of several processes ended before it was ready; the text says how."""


def run(settings: Settings, announce: Callable[[int, Path | None], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` is called with the port as soon as requests are answered.

    It is told of the certificate, too, if the server has made it. Raises FolderError, AddressError, CertificateError,
    KeysError, StoreError or WorkerError where the server cannot start. A second signal ends the process at once, which
    loses nothing that was acknowledged.
    """
    if settings.data is not None and settings.data.is_dir() and is_readable_by_others(settings.data):
        log.warning("others can read the data folder: chmod 700 %s", settings.data)
    if settings.workers > 1:
        from rowkey.server.supervisor import supervise

        supervise(settings, announce)
        return
    hold_freed_memory()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_serve(settings, announce))


def new_event_loop() -> asyncio.AbstractEventLoop:
    """The quickest event loop that there is."""
    try:
        import uvloop
    except ImportError:  # as on Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _serve(settings: Settings, announce: Callable[[int, Path | None], None]) -> None:
    stop_asked = _watch_signals()
    async with AsyncExitStack() as stack:
        store = await _open_store(settings, stop_asked)
        if store is None:
            return
        stack.push_async_callback(store.close)
        await serve_store(settings, store, stop_asked, announce)


async def serve_store(
    settings: Settings,
    store: Store,
    stop_asked: asyncio.Event,
    announce: Callable[[int, Path | None], None],
    sockets: Sequence[socket.socket] = (),
) -> None:
    """Answer requests from an open store until it is asked to stop, at `sockets` if there are any; see `run`."""
    embedded = store if isinstance(store, EmbeddedStore) else None
    health = Health(getattr(store, "ask_for_trouble", no_trouble))
    async with AsyncExitStack() as stack:
        if settings.auto_index:
            store = AutoIndexStore(store)
            stack.push_async_callback(store.stop)
        tls, made = _open_tls(settings, stack)
        bearer = None if settings.bearer is None else _open_authority(settings.bearer, stack)
        analytics = Analytics(store, settings.accounts, settings.data)
        stack.push_async_callback(analytics.close)
        monitor = Monitor(settings, health)
        service = Service(
            settings,
            store,
            bearer=bearer,
            analytics=analytics,
            pages=(health.answer, show_explorer) if settings.explorer else (health.answer,),
            observers=monitor.observers(),
        )
        listener = Listener(service)
        monitor.add(*listener_gauges(listener))
        if embedded is not None and settings.data is not None:
            monitor.add(writes_gauge(lambda: embedded.waiting), data_gauge(settings.data))
        stack.push_async_callback(monitor.stop)
        try:
            metrics_port = await monitor.start()
        except OSError as error:
            raise AddressError(HOST, settings.metrics_port) from error
        try:
            await listener.start(settings.host, settings.port, tls, sockets)
        except OSError as error:
            raise AddressError(settings.host, settings.port) from error
        if metrics_port is not None:
            log.info("metrics are at http://%s:%d/metrics", HOST, metrics_port)
        analytics.start()
        gc.collect()
        gc.freeze()  # what was made until now stays; collections need not look at it again
        announce(listener.port, made)
        await stop_asked.wait()
        health.is_draining = True
        if settings.drain_seconds:
            log.info("draining for %g seconds: /readyz answers 503, everything else goes on", settings.drain_seconds)
            listener.drain()
            await asyncio.sleep(settings.drain_seconds)
        await listener.stop()


async def _open_store(settings: Settings, stop_asked: asyncio.Event) -> Store | None:
    """The store, None where the server was told to stop while it was waiting for it."""
    if settings.store is None:
        return MemoryStore() if settings.data is None else EmbeddedStore.open(settings.data)
    try:
        from rowkey.store.postgres.schema import DatabaseError
        from rowkey.store.postgres.store import PostgresStore
    except ModuleNotFoundError as error:
        raise StoreError(f"--store {describe_lack(error.name)}") from None
    opening = asyncio.create_task(PostgresStore.open(settings.store))
    stopping = asyncio.create_task(stop_asked.wait())
    await asyncio.wait((opening, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not opening.done():
        opening.cancel()
        return None
    try:
        return opening.result()
    except DatabaseError as error:
        raise StoreError(str(error)) from error


def _open_tls(settings: Settings, stack: AsyncExitStack) -> tuple[ssl.SSLContext | None, Path | None]:
    """How to speak TLS, if at all, and the certificate if it is of our own making."""
    tls = settings.tls
    if tls is None:
        return None, None
    if tls.certificate is not None and tls.key is not None:
        return open_context(tls.certificate, tls.key), None
    from tempfile import TemporaryDirectory

    from rowkey.server.certificate import keep_certificate

    if settings.data is None:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="rowkey-")))
    else:
        folder = settings.data / "tls"
    try:
        certificate, key = keep_certificate(folder, settings.host)
    except OSError as error:
        raise CertificateError(f"The certificate of --tls auto cannot be kept in {folder}: {error}.") from None
    return open_context(certificate, key), certificate


def _open_authority(settings: Bearer, stack: AsyncExitStack) -> BearerAuthority:
    """Who decides about bearer tokens."""
    from rowkey.auth.authority import KnownIssuer, TokenAuthority
    from rowkey.auth.token import KeysNotReadable, read_issuer
    from rowkey.server.issuer import FetchedIssuer

    if settings.issuer is None:
        log.warning(
            "--oauth basic: signatures of bearer tokens are NOT checked, so anybody can make one. "
            "Only for work on this machine; use --oidc for all else"
        )
        return TokenAuthority(settings, None)
    if settings.keys is not None:
        try:
            return TokenAuthority(settings, KnownIssuer(read_issuer(settings.issuer, settings.keys.read_bytes())))
        except (OSError, KeysNotReadable) as error:
            raise KeysError(f"--oidc-keys {settings.keys} cannot be used: {error}.") from None
    source = FetchedIssuer(settings.issuer)
    source.start()
    stack.push_async_callback(source.stop)
    return TokenAuthority(settings, source)


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
