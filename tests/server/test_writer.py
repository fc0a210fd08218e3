"""Heads of answers, byte by byte."""

from __future__ import annotations

import pytest

from rowkey.server.reader import CLOSE, KEEP
from rowkey.server.writer import format_head
from rowkey.wire.request import Response

HEADS = [
    (
        Response(200, [("A", "b"), ("C", "d")], b"xyz"),
        KEEP,
        b"HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\nContent-Length: 3\r\n\r\n",
    ),
    (Response(404, [], b""), CLOSE, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    (Response(204, [("A", "b")]), KEEP, b"HTTP/1.1 204 No Content\r\nA: b\r\nContent-Length: 0\r\n\r\n"),
    (Response(304, [("A", "b")]), KEEP, b"HTTP/1.1 304 Not Modified\r\nA: b\r\n\r\n"),
    (Response(304), CLOSE, b"HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n"),
    (Response(400, phrase="Own words."), KEEP, b"HTTP/1.1 400 Own words.\r\nContent-Length: 0\r\n\r\n"),
    (Response(400, phrase="Zwölf – x"), KEEP, b"HTTP/1.1 400 Zw\xf6lf ? x\r\nContent-Length: 0\r\n\r\n"),
    (Response(400, phrase="at 'a\0\x1f\x7f\t'"), KEEP, b"HTTP/1.1 400 at 'a    '\r\nContent-Length: 0\r\n\r\n"),
    (Response(400, phrase="a\r\nB: c"), KEEP, b"HTTP/1.1 400 a  B: c\r\nContent-Length: 0\r\n\r\n"),
    (Response(200, [("A", "b\r\nC: d")]), KEEP, b"HTTP/1.1 200 OK\r\nA: b  C: d\r\nContent-Length: 0\r\n\r\n"),
    (Response(200, [("A", "b\nC: d")]), KEEP, b"HTTP/1.1 200 OK\r\nA: b C: d\r\nContent-Length: 0\r\n\r\n"),
]


@pytest.mark.parametrize(("response", "persistence", "head"), HEADS)
def test_head(response: Response, persistence: str, head: bytes) -> None:
    assert format_head(response, persistence) == head
