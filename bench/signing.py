"""Requests signed with SharedKey for the emulator's account, path style, as HTTP/1.1 bytes."""

import base64
import hashlib
import hmac
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Generic, TypeVar

ACCOUNT = "devstoreaccount1"
# The public key of the emulator account; it protects nothing.
ACCOUNT_KEY = base64.b64decode(
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
API_VERSION = "2019-02-02"
NO_METADATA = "application/json;odata=nometadata"
MINIMAL_METADATA = "application/json;odata=minimalmetadata"

T = TypeVar("T")

# A signed date is good for 15 minutes either way; a third of that leaves room for slow answers and clocks.
FRESH_SECONDS = 300.0


def sign(method: str, path: str, *, date: str, content_type: str = "") -> str:
    """Return the Authorization value; the query takes no part, so one signature serves every page of a query."""
    message = f"{method}\n\n{content_type}\n{date}\n/{ACCOUNT}{path}"
    digest = hmac.digest(ACCOUNT_KEY, message.encode(), hashlib.sha256)
    return f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"


def render_head(
    method: str,
    resource: str,
    *,
    port: int,
    query: str = "",
    comp: str = "",
    accept: str = NO_METADATA,
    accept_encoding: str = "",
    if_match: str = "",
    content_type: str = "",
    body_bytes: int = 0,
) -> bytes:
    """Return the signed head of one request, dated now, for a resource (`Tables`, `t()`) of the account.

    A body of `body_bytes` goes behind it; it is not signed, so one head serves any number of bodies of that size.
    Of the query `comp` alone is signed, and stands by itself.
    """
    path = f"/{ACCOUNT}/{resource}"
    signed = f"{path}?comp={comp}" if comp else path
    query = "&".join(filter(None, (comp and f"comp={comp}", query)))
    date = formatdate(usegmt=True)
    lines = [
        f"{method} {path}{'?' + query if query else ''} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"x-ms-date: {date}",
        f"x-ms-version: {API_VERSION}",
        "DataServiceVersion: 3.0",
        f"Accept: {accept}",
        f"Authorization: {sign(method, signed, date=date, content_type=content_type)}",
    ]
    if accept_encoding:
        lines.append(f"Accept-Encoding: {accept_encoding}")
    if if_match:
        lines.append(f"If-Match: {if_match}")
    if content_type:
        lines += [f"Content-Type: {content_type}", f"Content-Length: {body_bytes}", "Prefer: return-no-content"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


class Fresh(Generic[T]):
    """Something made of signed requests, made again when its date has aged."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._value = make()
        self._stale_at = time.monotonic() + FRESH_SECONDS

    def get(self) -> T:
        if time.monotonic() > self._stale_at:
            self._value = self._make()
            self._stale_at = time.monotonic() + FRESH_SECONDS
        return self._value
