"""Asking a service, and reading what it answers."""

from __future__ import annotations

import base64
import hmac
import re
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from rowkey.wire.request import Request, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.service import Service

KEYS = {"account": (b"first", b"second"), "other": (b"third",)}
GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
COMMON = {"host": "here", "x-ms-version": "2019-02-02", "accept": "application/json"}
FAILED = (
    "Server failed to authenticate the request. "
    "Make sure the value of Authorization header is formed correctly including the signature."
)
ENTITY = "/account/Orders(PartitionKey='p',RowKey='r')"


def request_to(
    method: str,
    target: str,
    headers: Mapping[str, str | None] | None = None,
    body: bytes = b"",
    *,
    account: str = "account",
    key: bytes = b"first",
) -> Request:
    """A signed request; a header that is None is not sent."""
    kind = {"content-type": "application/json"} if body else {}
    sent = {name: value for name, value in {**COMMON, **kind, **(headers or {})}.items() if value is not None}
    date = formatdate(usegmt=True)
    path, _, query = target.partition("?")
    comp = re.search(r"(?:^|&)comp=([^&]*)", query)
    resource = f"/{account}{path}" + (f"?comp={comp[1]}" if comp else "")
    signature = base64.b64encode(hmac.digest(key, f"{date}\n{resource}".encode(), "sha256")).decode()
    return Request(
        method, target, {"x-ms-date": date, "authorization": f"SharedKeyLite {account}:{signature}", **sent}, body
    )


async def ask(service: Service, method: str, target: str, *arguments: Any, **options: Any) -> Response:
    return await service.handle(request_to(method, target, *arguments, **options))


def code_of(response: Response) -> str:
    """The code of a JSON or XML error."""
    match = re.search(rb'"code":"(\w+)"|<(?:m:)?code>(\w+)<', response.body)
    assert match is not None, response.body
    return (match[1] or match[2]).decode()


def names_of(response: Response) -> list[str]:
    return [name for name, _ in response.headers]
