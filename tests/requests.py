"""Requests as clients make them, for a service in this process: signed by the owner, by a signature, in a batch."""

from __future__ import annotations

import base64
import hmac
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from rowkey.config import DEVELOPMENT_ACCOUNT
from tests.auth.conftest import query_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.wire.request import Request

ACCOUNT = DEVELOPMENT_ACCOUNT.name
HOST = "127.0.0.1:10002"
BATCH_TYPE = "multipart/mixed; boundary=batch"


def sign(request: Request, scheme: str) -> Request:
    """The request with Shared Key or Shared Key Lite."""
    date = format_datetime(datetime.now(UTC), usegmt=True)
    path, _, query = request.target.partition("?")
    comp = parse_qs(query).get("comp")
    lines = [date, f"/{ACCOUNT}{path}" + (f"?comp={comp[0]}" if comp else "")]
    if scheme == "SharedKey":
        lines = [request.method, "", request.headers.get("content-type", ""), *lines]
    digest = hmac.digest(DEVELOPMENT_ACCOUNT.keys[0], "\n".join(lines).encode(), "sha256")
    credentials = f"{scheme} {ACCOUNT}:{base64.b64encode(digest).decode()}"
    return replace(request, headers={**request.headers, "x-ms-date": date, "authorization": credentials})


def add_sas(request: Request, options: Mapping[str, str]) -> Request:
    """The request with a shared access signature."""
    return replace(request, target=f"{request.target}{'&' if '?' in request.target else '?'}{query_of(options)}")


def write_batch(requests: Sequence[Request]) -> bytes:
    """The body of a batch of BATCH_TYPE, whose parts are these requests: queries, or the operations of a change set."""
    parts = []
    for request in requests:
        lines = [f"{request.method} http://{request.headers['host']}{request.target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in request.headers.items() if name != "host"]
        head = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + "\r\n".join(lines)
        parts.append(f"{head}\r\n\r\n".encode() + request.body)
    if requests[0].method != "GET":
        change_set = b"".join(b"--changeset\r\n%b\r\n" % part for part in parts) + b"--changeset--\r\n"
        parts = [b"Content-Type: multipart/mixed; boundary=changeset\r\n\r\n" + change_set]
    return b"".join(b"--batch\r\n%b\r\n" % part for part in parts) + b"--batch--\r\n"
