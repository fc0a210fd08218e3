"""Bytes that are not a request, or not one that may be answered: 4xx, the connection closed, nobody else harmed.

Each line of the tables is a way in which two HTTP readers were once found to disagree, or a mistake of a client.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rowkey.config import Settings
from rowkey.model.limits import BODY_BYTES_MAX
from rowkey.server.limits import Limits
from rowkey.server.listener import Listener
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore

if TYPE_CHECKING:
    from rowkey.observe.transaction import Transaction
    from tests.server.conftest import House

START = b"GET / HTTP/1.1\r\n"
HOST = b"Host: here\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"

MALFORMED = {
    # Request lines
    "TLS to a port without TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "HTTP/2 with prior knowledge": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no HTTP at all": b"hello?\r\n\r\n",
    "NUL bytes": b"\0\0\0\0\r\n\r\n",
    "unknown verb": b"FROBNICATE / HTTP/1.1\r\n" + HOST + b"\r\n",
    "verb that begins like another": b"MERGER / HTTP/1.1\r\n" + HOST + b"\r\n",
    "verb in lower case": b"get / HTTP/1.1\r\n" + HOST + b"\r\n",
    "CONNECT": b"CONNECT here:80 HTTP/1.1\r\n" + HOST + b"\r\nxyz",
    "tab after the verb": b"GET\t/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "no target": b"GET HTTP/1.1\r\n" + HOST + b"\r\n",
    "target without a slash": b"GET t HTTP/1.1\r\n" + HOST + b"\r\n",
    "blank in the target": b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n",
    "tab in the target": b"GET /a\tb HTTP/1.1\r\n" + HOST + b"\r\n",
    "control character in the target": b"GET /\x01 HTTP/1.1\r\n" + HOST + b"\r\n",
    "NUL in the target": b"GET /a\0b HTTP/1.1\r\n" + HOST + b"\r\n",
    "raw UTF-8 in the target": "GET /é HTTP/1.1\r\n".encode() + HOST + b"\r\n",
    "bad scheme": b"GET ht!tp://h/p HTTP/1.1\r\n" + HOST + b"\r\n",
    "HTTP/0.9": b"GET /\r\n\r\n",
    "HTTP/0.9, named": b"GET / HTTP/0.9\r\n" + HOST + b"\r\n",
    "HTTP/1.2": b"GET / HTTP/1.2\r\n" + HOST + b"\r\n",
    "HTTP/2.0": b"GET / HTTP/2.0\r\n" + HOST + b"\r\n",
    "HTTP/2.0 with keep-alive": b"GET / HTTP/2.0\r\nConnection: keep-alive\r\n" + HOST + b"\r\n",
    "HTTP/1.10": b"GET / HTTP/1.10\r\n" + HOST + b"\r\n",
    "version in lower case": b"GET / http/1.1\r\n" + HOST + b"\r\n",
    "blank after the version": b"GET / HTTP/1.1 \r\n" + HOST + b"\r\n",
    "another protocol": b"GET / ICE/1.0\r\n" + HOST + b"\r\n",
    # Lines
    "bare LF after the request line": b"GET / HTTP/1.1\nHost: here\r\n\r\n",
    "bare LF after a header": START + b"Host: here\nX: y\r\n\r\n",
    "bare LF as the empty line": START + HOST + b"\n",
    "bare CR in a header": START + HOST + b"X: a\rb\r\n\r\n",
    "folded header": START + HOST + b"X: a\r\n b\r\n\r\n",
    "header folded with a tab": START + HOST + b"X: a\r\n\tb\r\n\r\n",
    "blank before the first header": START + b" Host: here\r\n\r\n",
    # Headers
    "blank before the colon": START + HOST + b"Content-Length : 5\r\n\r\nhello",
    "no colon": START + HOST + b"abc\r\n\r\n",
    "no name": START + HOST + b": a\r\n\r\n",
    "blank in a name": START + HOST + b"a b: c\r\n\r\n",
    "Latin-1 in a name": START + HOST + b"a\xff: c\r\n\r\n",
    "NUL in a name": START + HOST + b"a\0b: c\r\n\r\n",
    "NUL in a value": START + HOST + b"X: a\0b\r\n\r\n",
    "control character in a value": START + HOST + b"X: a\x01b\r\n\r\n",
    "DEL in a value": START + HOST + b"X: a\x7fb\r\n\r\n",
    "no Host": START + b"\r\n",
    "two Hosts": START + HOST + HOST + b"\r\n",
    "two different Hosts": START + HOST + b"hOST: there\r\n\r\n",
    # Length
    "two lengths": START + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "the same length twice": START + HOST + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
    "list of lengths": START + HOST + b"Content-Length: 1, 1\r\n\r\na",
    "length with a plus": START + HOST + b"Content-Length: +1\r\n\r\na",
    "negative length": START + HOST + b"Content-Length: -1\r\n\r\na",
    "empty length": START + HOST + b"Content-Length:\r\n\r\n",
    "hexadecimal length": START + HOST + b"Content-Length: 0x1\r\n\r\na",
    "length with a blank": START + HOST + b"Content-Length: 1 1\r\n\r\na",
    "length beyond 64 bits": START + HOST + b"Content-Length: 99999999999999999999999\r\n\r\n",
    # Transfer-Encoding
    "length and chunked": START + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked and length": START + HOST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "gzip, chunked": START + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked, gzip": START + HOST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "gzip": START + HOST + b"Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
    "identity": START + HOST + b"Transfer-Encoding: identity\r\n\r\n",
    "xchunked": START + HOST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "quoted chunked": START + HOST + b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n',
    "chunked twice": START + HOST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "empty coding": START + HOST + b"Transfer-Encoding:\r\n\r\n0\r\n\r\n",
    "vertical tab before chunked": START + HOST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "chunked in HTTP/1.0": b"POST / HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    # Chunks
    "bare LF after a size": CHUNKED + b"1\na\r\n0\r\n\r\n",
    "bare CR after a size": CHUNKED + b"1\ra\r\n0\r\n\r\n",
    "no line end after a chunk": CHUNKED + b"1\r\na0\r\n\r\n",
    "chunk longer than its size": CHUNKED + b"1\r\naa\r\n0\r\n\r\n",
    "size that is no number": CHUNKED + b"g\r\n",
    "size with a prefix": CHUNKED + b"0x1\r\na\r\n0\r\n\r\n",
    "negative size": CHUNKED + b"-1\r\n",
    "blank before a size": CHUNKED + b" 1\r\na\r\n0\r\n\r\n",
    "blank after a size": CHUNKED + b"1 \r\na\r\n0\r\n\r\n",
    "size beyond 64 bits": CHUNKED + b"fffffffffffffffff\r\n",
    "no size": CHUNKED + b"\r\n",
    "bare LF in an extension": CHUNKED + b"1;\nx\r\na\r\n0\r\n\r\n",
    "NUL in an extension": CHUNKED + b"1;a\0b\r\na\r\n0\r\n\r\n",
    "trailer without a colon": CHUNKED + b"0\r\nfoo\r\n\r\n",
    "folded trailer": CHUNKED + b"0\r\na: b\r\n c\r\n\r\n",
}

CODES = {
    "unknown verb": "InvalidHttpVerb",
    "CONNECT": "InvalidHttpVerb",
    "target without a slash": "RequestUrlFailedToParse",
    "raw UTF-8 in the target": "RequestUrlFailedToParse",
    "no Host": "HostInformationNotPresent",
    "two Hosts": "InvalidInput",
    "folded header": "InvalidInput",
}

OVERSIZE = {
    "long target": (b"GET /" + b"a" * 50_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 400, "RequestUrlFailedToParse"),
    "long header": (START + HOST + b"X: " + b"a" * 70_000 + b"\r\n\r\n", 431, "RequestHeadersTooLarge"),
    "header without an end": (START + HOST + b"X: " + b"a" * 200_000, 431, "RequestHeadersTooLarge"),
    "target without an end": (b"GET /" + b"a" * 200_000, 431, "RequestHeadersTooLarge"),
    "many headers": (START + HOST + b"".join(b"x%d: y\r\n" % n for n in range(200)) + b"\r\n", 431, None),
    "one header many times": (START + HOST + b"x: y\r\n" * 201 + b"\r\n", 431, None),
    "many headers without an end": (START + HOST + b"x: y\r\n" * 50_000, 431, None),
    "length": (START + HOST + b"Content-Length: %d\r\n\r\n" % (BODY_BYTES_MAX + 1), 413, "RequestBodyTooLarge"),
    "chunked body": (CHUNKED + (b"10000\r\n" + b"x" * 65_536 + b"\r\n") * 65, 413, "RequestBodyTooLarge"),
    "chunk of sixteen digits": (CHUNKED + b"FFFFFFFFFFFFFFFF\r\nabc", 413, "RequestBodyTooLarge"),
    "large chunk": (CHUNKED + b"%x;x\r\nabc" % (BODY_BYTES_MAX + 1), 413, "RequestBodyTooLarge"),
    "chunks too many": (CHUNKED + b"3\r\nabc\r\n%X\r\n" % (BODY_BYTES_MAX - 2), 413, "RequestBodyTooLarge"),
    "chunk extensions": (CHUNKED + b"1;" + b"x" * 1_000_000, 431, "RequestHeadersTooLarge"),
    "long trailer": (CHUNKED + b"0\r\nx: " + b"y" * 1_000_000, 431, "RequestHeadersTooLarge"),
    "different trailers": (CHUNKED + b"0\r\n" + b"".join(b"x%d: y\r\n" % n for n in range(9000)), 431, None),
    "trailers": (CHUNKED + b"0\r\n" + b"x: y\r\n" * 100_000, 431, None),
}


@pytest.mark.parametrize("case", MALFORMED)
async def test_malformed_request_is_refused_and_closes_the_connection(house: House, case: str) -> None:
    client, other = await house.connect(), await house.connect()
    await other.send(START)
    await client.send(MALFORMED[case])
    response = await client.answer()
    assert response.status == 400
    assert response.body
    assert response.header("Connection") == "close"
    assert response.header("x-ms-error-code") == CODES.get(case, response.header("x-ms-error-code"))
    assert await client.is_closed()
    assert house.service.begun == []
    await other.send(HOST + b"\r\n")
    assert (await other.answer()).status == 200


async def test_http_2_is_called_by_its_name(house: House) -> None:
    client = await house.connect()
    await client.send(MALFORMED["HTTP/2 with prior knowledge"])
    assert (await client.answer()).body == b"HTTP/2 is not spoken here, only HTTP/1.1 and HTTP/1.0."


@pytest.mark.parametrize(
    ("limits", "sent"),
    [
        (Limits(), b"hello?\r\n\r\n"),
        (Limits(body_bytes_max=1), START + HOST + b"Content-Length: 2\r\n\r\n"),
        (Limits(connections_max=0), b""),
    ],
)
async def test_who_was_refused_is_recorded(limits: Limits, sent: bytes) -> None:
    """Whether anything of a request was read or not."""
    seen: list[Transaction] = []
    listener = Listener(Service(Settings(data=None, accounts={}), MemoryStore(), observers=[seen.append]), limits)
    await listener.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    peer = f"127.0.0.1:{writer.get_extra_info('sockname')[1]}"
    writer.write(sent)
    await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await listener.stop()
    assert [refused.request.peer for refused in seen] == [peer]


@pytest.mark.parametrize("case", OVERSIZE)
async def test_oversize_request_is_refused_and_closes_the_connection(house: House, case: str) -> None:
    data, status, code = OVERSIZE[case]
    client, other = await house.connect(), await house.connect()
    client.writer.write(data)
    response = await client.answer()
    assert (response.status, response.header("Connection")) == (status, "close")
    assert response.header("x-ms-error-code") == (code or response.header("x-ms-error-code"))
    assert await client.is_closed()
    await other.send(START + HOST + b"\r\n")
    assert (await other.answer()).status == 200


async def test_large_head_within_the_limits_is_taken(house: House) -> None:
    client = await house.connect()
    target = b"/" + b"a" * 49_000
    await client.send(b"GET " + target + b" HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 10_000 + b"\r\n\r\n")
    assert (await client.answer()).status == 200
    assert house.service.begun == [target.decode()]


async def test_flood_of_small_requests_is_no_large_head(house: House) -> None:
    client = await house.connect()
    request = START + HOST + b"\r\n"
    data = request * 20_000
    reading = asyncio.create_task(client.reader.readexactly(1))
    for start in range(0, len(data), 100_003):
        client.writer.write(data[start : start + 100_003])
    await reading
    await client.reader.readuntil(b"\r\n\r\n")
    while len(house.service.begun) < 20_000:
        assert await client.reader.read(1 << 20)


async def test_requests_before_a_malformed_one_are_answered(house: House) -> None:
    client = await house.connect()
    await client.send(START + HOST + b"\r\nGET /wait HTTP/1.1\r\n" + HOST + b"\r\nnonsense\r\n\r\n")
    assert (await client.answer()).status == 200
    await asyncio.sleep(0.05)
    house.service.go.set()
    assert (await client.answer()).status == 200
    assert (await client.answer()).status == 400
    assert await client.is_closed()
    assert house.service.begun == ["/", "/wait"]


async def test_client_that_goes_on_sending_sees_why_it_was_refused(house: House) -> None:
    """Closing at once would reset the connection and throw the answer away."""
    client = await house.connect()
    await client.send(b"PUT / HTTP/1.1\r\nHost: here\r\nContent-Length: 100000000\r\n\r\n")
    for _ in range(100):
        client.writer.write(b"x" * 100_000)
        await asyncio.sleep(0)
    assert (await client.answer()).status == 413
