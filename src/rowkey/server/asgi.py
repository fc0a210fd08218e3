"""The service as an ASGI application, for tests and for mounting it in a server that exists already.

The server must pass `raw_path`, which ASGI leaves optional: the target is signed as it was sent.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from rowkey.errors import RequestBodyTooLarge, RequestUrlFailedToParse, ServiceError
from rowkey.server.handler import Handler
from rowkey.server.limits import Limits
from rowkey.wire.request import Request, Response

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Application:
    """An ASGI 3 application; whoever made the service closes its store."""

    def __init__(self, service: Handler, limits: Limits | None = None) -> None:
        self._service = service
        self._limits = limits or Limits()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "http":
            await _send(await self._answer(scope, receive), send, is_head=scope["method"] == "HEAD")
        else:
            raise ValueError(f"Only HTTP is served, not {scope['type']}.")

    async def _answer(self, scope: Message, receive: Receive) -> Response:
        try:
            request = await self._read(scope, receive)
        except ServiceError as refusal:
            return self._service.refuse(refusal)
        return await self._service.handle(request)

    async def _read(self, scope: Message, receive: Receive) -> Request:
        path, query = scope.get("raw_path"), scope.get("query_string")
        if path is None:
            raise RequestUrlFailedToParse("The server that Rowkey is mounted in does not pass the raw path.")
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key, text = name.decode("latin-1").lower(), value.decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        body = b""
        is_complete = False
        while not is_complete:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._limits.body_bytes_max:
                raise RequestBodyTooLarge
            is_complete = not message.get("more_body", False)
        target = path.decode("latin-1") + (f"?{query.decode('latin-1')}" if query else "")
        host, port = scope.get("client") or ("", 0)
        return Request(scope["method"], target, headers, body, scope.get("scheme") == "https", f"{host}:{port}")


async def _live(receive: Receive, send: Send) -> None:
    for event in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{event}.complete"})


async def _send(response: Response, send: Send, *, is_head: bool) -> None:
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.headers]
    headers.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if is_head else response.body})
