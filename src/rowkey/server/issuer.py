"""The keys of an OpenID Connect issuer, fetched and kept fresh.

    ISSUER/.well-known/openid-configuration -> jwks_uri -> the keys

They are fetched when the server starts, once an hour, and when a token names a key that is not known, which is how a
new key shows itself; but whoever makes up names of keys causes one look a minute. As long as nothing could be fetched
it is tried again and again. What was fetched last stays in use until there is something newer.

Fetching happens in a thread of its own, for which the end of the process waits only a moment.
"""

import asyncio
import logging
import ssl
import threading
import time
import urllib.request
from collections.abc import Awaitable
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from rowkey.auth.token import Issuer, KeysNotReadable, read_issuer, read_metadata
from rowkey.config import is_loopback

log = logging.getLogger(__name__)

REFRESH_SECONDS = 3600.0
"""Entra ID changes its keys every few weeks, and shows new ones for days before it uses them."""
REFRESH_SECONDS_MIN = 60.0
"""Between two looks that tokens with unknown keys cause."""
RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Between two attempts after a failure; the last one again and again."""
FETCH_SECONDS_MAX = 10.0
"""For each of the two documents. While nothing is known, requests with tokens wait for it."""
STOP_SECONDS_MAX = 1.0
"""For what is being fetched when the server stops. A thread that works within OpenSSL while the process ends crashes it
(seen while it loaded certificates); after this time it can only be waiting for the network, which does no harm."""
DOCUMENT_BYTES_MAX = 1 << 20
"""The keys of Entra ID have about 20 KiB."""

Documents = tuple[bytes, bytes]


class FetchedIssuer:
    """An issuer by its URL; `start` and `stop` belong around its use, in the event loop that uses it."""

    def __init__(
        self,
        url: str,
        *,
        refresh_seconds: float = REFRESH_SECONDS,
        refresh_seconds_min: float = REFRESH_SECONDS_MIN,
        retry_seconds: tuple[float, ...] = RETRY_SECONDS,
    ) -> None:
        self.issuer: Issuer | None = None
        self._url = url
        self._refresh_seconds = refresh_seconds
        self._refresh_seconds_min = refresh_seconds_min
        self._retry_seconds = retry_seconds
        self._documents: Documents | None = None
        self._failures = 0
        self._begun = -1e9
        self._fetching: asyncio.Future[None] | None = None
        self._keeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to fetch. Nothing waits for it but requests that have a token."""
        self._keeping = asyncio.get_running_loop().create_task(self._keep_fresh())

    async def stop(self) -> None:
        """Fetch nothing more."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        if self._fetching is not None:
            await asyncio.wait([self._fetching], timeout=STOP_SECONDS_MAX)

    async def refresh(self) -> None:
        """Fetch, or wait for what is being fetched; unless that was a moment ago."""
        seconds_min = self._retry_seconds[0] if self.issuer is None else self._refresh_seconds_min
        if self._fetching is not None or time.monotonic() - self._begun >= seconds_min:
            await self._fetch()

    async def _keep_fresh(self) -> None:
        while True:
            await self._fetch()
            index = min(self._failures, len(self._retry_seconds)) - 1
            await asyncio.sleep(self._retry_seconds[index] if self._failures else self._refresh_seconds)

    def _fetch(self) -> Awaitable[None]:
        """The end of a fetch, of the one that is going on or of a new one; to cancel it does not disturb the others."""
        if self._fetching is None:
            loop = asyncio.get_running_loop()
            self._fetching = loop.create_future()
            self._begun = time.monotonic()
            threading.Thread(target=self._work, args=(loop,), name="rowkey-issuer", daemon=True).start()
        return asyncio.shield(self._fetching)

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        """In the thread: fetch and read."""
        outcome: tuple[Documents, Issuer] | str
        try:
            documents = fetch_documents(self._url)
            outcome = documents, read_issuer(self._url, documents[1], documents[0])
        except (OSError, HTTPException, ValueError, KeysNotReadable) as error:
            outcome = str(error) or repr(error)
        try:
            loop.call_soon_threadsafe(self._take, outcome)
        except RuntimeError:
            pass  # the loop is closed: the server has ended meanwhile

    def _take(self, outcome: tuple[Documents, Issuer] | str) -> None:
        fetching, self._fetching = self._fetching, None
        if isinstance(outcome, str):
            self._failures += 1
            meanwhile = "bearer tokens are answered with 503" if self.issuer is None else "the known ones stay in use"
            log.warning("cannot fetch the keys of %s: %s; meanwhile %s", self._url, outcome, meanwhile)
        else:
            self._failures = 0
            if outcome[0] != self._documents:
                self._documents, self.issuer = outcome
                log.info("fetched the keys of %s: %d", self._url, len(self.issuer.keys))
        if fetching is not None and not fetching.done():
            fetching.set_result(None)


def fetch_documents(url: str) -> Documents:
    """An issuer's metadata and its keys; raises OSError, HTTPException, ValueError or KeysNotReadable."""
    metadata = _get(f"{url.rstrip('/')}/.well-known/openid-configuration")
    keys_url = read_metadata(url, metadata)["jwks_uri"]
    if urlsplit(keys_url).scheme == "http" and urlsplit(url).scheme != "http":
        raise KeysNotReadable(f"its keys are at {keys_url}, which is not https")
    return metadata, _get(keys_url)


def _get(url: str) -> bytes:
    """A document, by https, or by http from this machine."""
    parts = urlsplit(url)
    is_local = is_loopback(parts.hostname or "")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
        raise KeysNotReadable(f"{url} is not an https URL")
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({} if is_local else None),
        urllib.request.HTTPSHandler(context=ssl.create_default_context()),
        _NoRedirect,
    )
    deadline = time.monotonic() + FETCH_SECONDS_MAX
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    document = b""
    with opener.open(request, timeout=FETCH_SECONDS_MAX) as response:
        while chunk := response.read1(DOCUMENT_BYTES_MAX):
            document += chunk
            if len(document) > DOCUMENT_BYTES_MAX:
                raise KeysNotReadable(f"{url} has more than {DOCUMENT_BYTES_MAX} bytes")
            if time.monotonic() > deadline:
                raise KeysNotReadable(f"{url} took more than {FETCH_SECONDS_MAX:.0f} seconds")
    return document


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Neither document has a reason to be elsewhere, and elsewhere may be plain http."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None
