"""All together: whole requests, through the whole service."""

from __future__ import annotations

import hmac
from base64 import b64encode
from email.utils import formatdate

import orjson

from rowkey.config import DEVELOPMENT_ACCOUNT, Settings
from rowkey.errors import ServiceError
from rowkey.server.reader import CLOSE, RequestReader
from rowkey.server.writer import format_head
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore
from rowkey.wire.request import Request, Response
from tests.fuzz.readers.given import ACCOUNT, LIMITS, NEWEST


class _Served:
    """A service in memory that has a table and an entity; a new one now and then, so that it does not grow."""

    def __init__(self) -> None:
        self.asked = 0
        self.service = Service(Settings(data=None), MemoryStore())
        for target, body in (
            (f"/{ACCOUNT}/Tables", b'{"TableName":"Tab"}'),
            (f"/{ACCOUNT}/Tab", b'{"PartitionKey":"p","RowKey":"r","A":1}'),
        ):
            headers = {
                "host": "h",
                "content-type": "application/json",
                "accept": "application/json",
                "x-ms-version": NEWEST,
            }
            assert self.ask(Request("POST", target, headers, body)).status == 201

    def ask(self, request: Request) -> Response:
        """Answer a request that is signed anew, so that it is not refused for that."""
        self.asked += 1
        headers = request.headers
        if request.target.startswith("/") and "sig=" not in request.target:
            date = headers["x-ms-date"] = formatdate(usegmt=True)
            content = headers.get("content-md5", ""), headers.get("content-type", "")
            path = request.target.partition("?")[0]
            text = "\n".join((request.method, *content, date, f"/{ACCOUNT}{path}"))
            digest = hmac.digest(DEVELOPMENT_ACCOUNT.keys[0], text.encode("utf-8"), "sha256")
            headers["authorization"] = f"SharedKey {ACCOUNT}:{b64encode(digest).decode()}"
        coroutine = self.service.handle(request)
        while True:
            try:
                awaited = coroutine.send(None)
            except StopIteration as done:
                response: Response = done.value
                return response
            assert awaited is None, "the store in memory lets others through, and waits for nothing"


_served: list[_Served] = []


def ask_service(data: bytes) -> None:
    """A whole request, signed, through the whole service: never a fault, and never a header of the client's making."""
    reader = RequestReader(LIMITS)
    try:
        reader.feed(data)
    except ServiceError:
        pass
    if not _served or _served[0].asked > 2000:
        _served[:] = [_Served()]
    while reader.complete:
        request, _ = reader.complete.popleft()
        response = _served[0].ask(request)
        assert response.status < 500 or response.status == 501, (response.status, response.body)
        head = format_head(response, CLOSE).decode("latin-1")
        assert head.count("\r\n") == head.count("\n") == head.count("\r")
        names = [line.partition(":")[0] for line in head.split("\r\n")[1:-2]]
        assert set(names) <= {name for name, _ in response.headers} | {"Content-Length", "Connection"}
        kind = response.header("Content-Type") or ""
        if response.body and "json" in kind:
            orjson.loads(response.body)
