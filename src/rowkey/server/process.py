"""A server process: open the store, listen, wait for a signal, finish what was accepted, close the store.

What only some servers need (TLS of the server's own making, bearer tokens) is imported when it is asked for.
"""

import asyncio
import gc
import logging
import os
import signal
import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from rowkey.auth.bearer import BearerAuthority
from rowkey.config import Bearer, Settings
from rowkey.observe.analytics import Analytics
from rowkey.server.allocator import hold_freed_memory
from rowkey.server.listener import Listener
from rowkey.server.tls import CertificateError, open_context
from rowkey.service import Service
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import Store
from rowkey.store.memory.store import MemoryStore

log = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SECOND_SIGNAL_EXIT_CODE = 1


class AddressError(Exception):
    """The address cannot be listened on; the cause is the OSError."""


class KeysError(Exception):
    """The file with an issuer's keys cannot be used; the text says why."""


def run(settings: Settings, announce: Callable[[int, Path | None], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` is called with the port as soon as requests are answered.

    It is told of the certificate, too, if the server has made it. Raises FolderError, AddressError, CertificateError or
    KeysError where the server cannot start. A second signal ends the process at once, which loses nothing that was
    acknowledged.
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


async def _serve(settings: Settings, announce: Callable[[int, Path | None], None]) -> None:
    stop_asked = _watch_signals()
    async with AsyncExitStack() as stack:
        store = _open_store(settings)
        stack.push_async_callback(store.close)
        tls, made = _open_tls(settings, stack)
        bearer = None if settings.bearer is None else _open_authority(settings.bearer, stack)
        analytics = Analytics(store, settings.accounts, settings.data)
        stack.push_async_callback(analytics.close)
        listener = Listener(Service(settings, store, bearer=bearer, analytics=analytics))
        try:
            await listener.start(settings.host, settings.port, tls)
        except OSError as error:
            raise AddressError from error
        analytics.start()
        gc.collect()
        gc.freeze()  # what was made until now stays; collections need not look at it again
        announce(listener.port, made)
        await stop_asked.wait()
        await listener.stop()


def _open_store(settings: Settings) -> Store:
    return MemoryStore() if settings.data is None else EmbeddedStore.open(settings.data)


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
