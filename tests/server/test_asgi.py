"""The ASGI application, called as a server would call it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.model.limits import BODY_BYTES_MAX
from rowkey.server.asgi import Application, Message

if TYPE_CHECKING:
    from tests.server.conftest import House

SCOPE: Message = {
    "type": "http",
    "method": "MERGE",
    "scheme": "http",
    "path": "/a'b",
    "raw_path": b"/a%27b",
    "query_string": b"$filter=x%20eq%201",
    "headers": [(b"host", b"here"), (b"prefer", b"a"), (b"prefer", b"b")],
    "client": ("1.2.3.4", 5),
}


async def call(house: House, scope: Message, *bodies: bytes) -> list[Message]:
    """What the application sends."""
    messages = [
        {"type": "http.request", "body": body, "more_body": n + 1 < len(bodies)} for n, body in enumerate(bodies)
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    await Application(house.service)(scope, receive, send)
    return sent


async def test_request_reaches_the_service_as_it_was_sent(house: House) -> None:
    start, body = await call(house, SCOPE, b"ab", b"c")
    seen: dict[str, Any] = json.loads(body["body"])
    assert seen == {
        "method": "MERGE",
        "target": "/a%27b?$filter=x%20eq%201",
        "headers": {"host": "here", "prefer": "a, b"},
        "body": "abc",
        "peer": "1.2.3.4:5",
        "is_secure": False,
    }
    assert start["status"] == 200
    assert (b"content-length", str(len(body["body"])).encode()) in start["headers"]


async def test_too_large_a_body_is_refused(house: House) -> None:
    start, _ = await call(house, SCOPE, b"x" * BODY_BYTES_MAX, b"x")
    assert start["status"] == 413


async def test_server_without_raw_path_is_refused(house: House) -> None:
    start, _ = await call(house, {**SCOPE, "raw_path": None}, b"")
    assert start["status"] == 400


async def test_lifespan_is_answered(house: House) -> None:
    sent = await call(house, {"type": "lifespan"}, b"", b"")
    assert [message["type"] for message in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def test_anything_else_is_an_error(house: House) -> None:
    with pytest.raises(ValueError, match="websocket"):
        await call(house, {"type": "websocket"})
