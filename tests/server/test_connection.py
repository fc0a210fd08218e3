"""Requests and answers over a real socket: order, framing, persistence, backpressure."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from rowkey.model.limits import BODY_BYTES_MAX
from rowkey.wire.request import Response

if TYPE_CHECKING:
    from tests.server.conftest import House

HOST = b"Host: here\r\n"


def get(target: str, *headers: str) -> bytes:
    """A GET request."""
    lines = "".join(f"{line}\r\n" for line in headers)
    return f"GET {target} HTTP/1.1\r\nHost: here\r\n{lines}\r\n".encode("latin-1")


def post(body: bytes, *headers: str, method: str = "POST") -> bytes:
    """A request with a body."""
    lines = "".join(f"{line}\r\n" for line in headers)
    return f"{method} /t HTTP/1.1\r\nHost: here\r\nContent-Length: {len(body)}\r\n{lines}\r\n".encode() + body


def echo(response: Response) -> dict[str, Any]:
    """What the stand-in service saw."""
    assert response.status == 200
    seen: dict[str, Any] = json.loads(response.body)
    return seen


class TestRequest:
    async def test_reaches_the_service_as_it_was_sent(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/a%27b(PartitionKey='%25',RowKey='')?$filter=x%20eq%20'+'", "X-Ms-Version: 2019-02-02"))
        seen = echo(await client.answer())
        assert seen["method"] == "GET"
        assert seen["target"] == "/a%27b(PartitionKey='%25',RowKey='')?$filter=x%20eq%20'+'"
        assert seen["headers"] == {"host": "here", "x-ms-version": "2019-02-02"}
        host, port = client.writer.get_extra_info("sockname")
        assert seen["peer"] == f"{host}:{port}"

    @pytest.mark.parametrize("method", ["MERGE", "PATCH", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
    async def test_may_have_any_method(self, house: House, method: str) -> None:
        client = await house.connect()
        await client.send(post(b"{}", method=method))
        assert echo(await client.answer(to=method))["method"] == method

    async def test_may_have_an_absolute_target(self, house: House) -> None:
        client = await house.connect()
        await client.send(b"POST http://account.table.local:10002/Tables HTTP/1.1\r\n" + HOST + b"\r\n")
        assert echo(await client.answer())["target"] == "http://account.table.local:10002/Tables"

    async def test_has_repeated_headers_joined_blanks_removed_and_empty_ones_kept(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/", "Prefer:  a \t", "Content-Type:", "prefer: b ", "X: caf\xe9"))
        assert echo(await client.answer())["headers"] == {
            "host": "here",
            "prefer": "a, b",
            "content-type": "",
            "x": "caf\xe9",
        }

    async def test_may_arrive_byte_by_byte(self, house: House) -> None:
        client = await house.connect()
        for byte in post(b'{"a": 1}', "Content-Type: application/json") + get("/next"):
            client.writer.write(bytes([byte]))
            await asyncio.sleep(0)
        assert echo(await client.answer())["body"] == '{"a": 1}'
        assert echo(await client.answer())["target"] == "/next"

    async def test_of_4_mib_is_taken(self, house: House) -> None:
        client = await house.connect()
        await client.send(post(b"x" * BODY_BYTES_MAX), get("/next")[:20], get("/next")[20:])
        assert len(echo(await client.answer())["body"]) == BODY_BYTES_MAX
        assert echo(await client.answer())["target"] == "/next"


class TestChunkedBody:
    HEAD = b"POST /t HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def test_is_joined(self, house: House) -> None:
        client = await house.connect()
        await client.send(self.HEAD, b"3\r\nabc\r\n", b"2;extension=1\r\nde\r\n0\r\n\r\n" + get("/next"))
        assert echo(await client.answer())["body"] == "abcde"
        assert echo(await client.answer())["target"] == "/next"

    async def test_may_have_chunks_of_a_byte(self, house: House) -> None:
        client = await house.connect()
        await client.send(self.HEAD + b"1\r\na\r\n" * 50_000 + b"0\r\n\r\n")
        assert echo(await client.answer())["body"] == "a" * 50_000

    async def test_has_trailers_that_are_not_headers(self, house: House) -> None:
        client = await house.connect()
        await client.send(self.HEAD + b"0\r\nAuthorization: SharedKey forged\r\n\r\n" + get("/next"))
        assert "authorization" not in echo(await client.answer())["headers"]
        assert echo(await client.answer())["headers"] == {"host": "here"}


class TestExpect:
    """Old .NET clients send it with every body, and wait."""

    async def test_100_continue_is_answered_before_the_body(self, house: House) -> None:
        client = await house.connect()
        request = post(b"abc", "Expect: 100-continue")
        await client.send(request[:-3])
        assert (await client.answer()).status == 100
        await client.send(b"abc")
        assert echo(await client.answer())["body"] == "abc"

    async def test_100_continue_waits_for_the_answers_before(self, house: House) -> None:
        client = await house.connect()
        request = post(b"abc", "Expect: 100-continue")
        await client.send(get("/wait") + request[:-3])
        await asyncio.sleep(0.05)
        house.service.go.set()
        assert echo(await client.answer())["target"] == "/wait"
        assert (await client.answer()).status == 100
        await client.send(b"abc")
        assert echo(await client.answer())["body"] == "abc"

    async def test_100_continue_is_left_out_when_the_body_is_there(self, house: House) -> None:
        client = await house.connect()
        await client.send(post(b"abc", "Expect: 100-continue"))
        assert echo(await client.answer())["body"] == "abc"
        await client.send(post(b"abc")[:-1], b"c")
        assert echo(await client.answer())["body"] == "abc"

    async def test_too_large_a_body_is_refused_at_once(self, house: House) -> None:
        client = await house.connect()
        await client.send(
            f"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: {BODY_BYTES_MAX + 1}\r\n"
            "Expect: 100-continue\r\n\r\n".encode()
        )
        assert (await client.answer()).status == 413
        assert await client.is_closed()

    async def test_of_something_else_fails(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/", "Expect: the-unexpected"))
        assert (await client.answer()).status == 417
        assert await client.is_closed()


class TestAnswer:
    async def test_to_head_has_the_length_and_no_body(self, house: House) -> None:
        client = await house.connect()
        await client.send(b"HEAD /abc HTTP/1.1\r\nHost: here\r\n\r\n", get("/next"))
        response = await client.answer(to="HEAD")
        assert int(response.header("Content-Length") or 0) > 50
        assert echo(await client.answer())["target"] == "/next"

    async def test_204_has_no_body_and_length_0(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/status/204"), get("/next"))
        response = await client.answer()
        assert (response.status, response.phrase, response.header("Content-Length")) == (204, "No Content", "0")
        assert echo(await client.answer())["target"] == "/next"

    async def test_304_has_neither(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/status/304"), get("/next"))
        assert (await client.answer()).header("Content-Length") is None
        assert echo(await client.answer())["target"] == "/next"

    async def test_to_a_request_that_breaks_the_service_is_500(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/raise"), get("/next"))
        assert (await client.answer()).status == 500
        assert echo(await client.answer())["target"] == "/next"


class TestPersistence:
    async def test_http_1_1_goes_on(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/", "Connection: keep-alive"))
        assert (await client.answer()).header("Connection") is None
        await client.send(get("/next"))
        assert echo(await client.answer())["target"] == "/next"

    async def test_http_1_1_ends_on_demand_and_ignores_what_follows(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/", "Connection: Close") + get("/next"))
        assert (await client.answer()).header("Connection") == "close"
        assert await client.is_closed()
        assert house.service.begun == ["/"]

    async def test_http_1_0_ends(self, house: House) -> None:
        client = await house.connect()
        await client.send(b"GET / HTTP/1.0\r\n\r\n")
        assert (await client.answer()).header("Connection") == "close"
        assert await client.is_closed()

    async def test_http_1_0_goes_on_on_demand(self, house: House) -> None:
        client = await house.connect()
        await client.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        assert (await client.answer()).header("Connection") == "keep-alive"
        await client.send(b"GET /next HTTP/1.0\r\n\r\n")
        assert echo(await client.answer())["target"] == "/next"

    async def test_half_closed_connection_gets_its_answers(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/wait") + get("/next"))
        client.writer.write_eof()
        await asyncio.sleep(0.05)
        house.service.go.set()
        assert echo(await client.answer())["target"] == "/wait"
        assert echo(await client.answer())["target"] == "/next"
        assert await client.is_closed()


class TestUpgrade:
    """Java's HTTP client offers h2c with its first request; the offer is ignored (RFC 9110, 7.8)."""

    HEADERS = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAAB")

    async def test_is_ignored(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/a", *self.HEADERS) + get("/b", *self.HEADERS) + get("/c"))
        assert [echo(await client.answer())["target"] for _ in range(3)] == ["/a", "/b", "/c"]

    async def test_is_ignored_with_a_body(self, house: House) -> None:
        client = await house.connect()
        await client.send(post(b"abc", *self.HEADERS), get("/next"))
        assert echo(await client.answer())["body"] == "abc"
        assert echo(await client.answer())["target"] == "/next"

    async def test_is_ignored_with_a_body_in_pieces(self, house: House) -> None:
        client = await house.connect()
        request = b"POST /t HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n"
        request += "".join(f"{line}\r\n" for line in self.HEADERS).encode() + b"\r\n"
        await client.send(request, b"3\r\nabc\r\n", b"0\r\n\r\n", get("/next"))
        assert echo(await client.answer())["body"] == "abc"
        assert echo(await client.answer())["target"] == "/next"

    async def test_a_refusal_after_it_is_the_refusal_of_what_is_wrong(self, house: House) -> None:
        """The end of one parser was taken for what the next one found, and answered 500. Found by fuzzing."""
        client = await house.connect()
        await client.send(get("/a", *self.HEADERS) + b"GET /b HTTP/1.1\r\nHost : here\r\n\r\n")
        assert echo(await client.answer())["target"] == "/a"
        assert (await client.answer()).status == 400
        client = await house.connect()
        await client.send(get("/a", *self.HEADERS) + b"GET /b HTTP/1.1\r\nNo-Host: here\r\n\r\n")
        assert echo(await client.answer())["target"] == "/a"
        assert (await client.answer()).header("x-ms-error-code") == "HostInformationNotPresent"

    async def test_many_in_one_piece_are_ignored(self, house: House) -> None:
        client = await house.connect()
        request = b"GET /a HTTP/1.1\r\nHost:h\r\nUpgrade:a\r\nConnection:upgrade\r\n\r\n"
        await client.send(request * 250)
        assert [echo(await client.answer())["target"] for _ in range(250)] == ["/a"] * 250

    async def test_is_ignored_while_the_connection_is_to_close(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/a", "Connection: upgrade, close", "Upgrade: websocket"))
        assert (await client.answer()).header("Connection") == "close"
        assert await client.is_closed()


class TestPipelining:
    async def test_answers_come_in_order(self, house: House) -> None:
        client = await house.connect()
        targets = [f"/{'wait' if n == 3 else 'sleep' if n % 2 else 'n'}/{n}" for n in range(100)]
        await client.send(b"".join(map(get, targets)))
        await asyncio.sleep(0.05)
        assert house.service.begun == targets[:4]
        house.service.go.set()
        assert [echo(await client.answer())["target"] for _ in targets] == targets

    async def test_a_flood_is_not_read_while_a_request_is_handled(self, house: House) -> None:
        """100,000 requests wait in the sockets, not as objects."""
        client = await house.connect()
        client.writer.write(get("/wait") + get("/n") * 100_000)
        await asyncio.sleep(0.2)
        assert house.service.begun == ["/wait"]
        (connection,) = house.listener._connections
        assert len(connection._reader.complete) < 1000
        house.service.go.set()
        for _ in range(100_001):
            await client.answer()

    async def test_a_client_that_does_not_read_is_not_served_on(self, house: House) -> None:
        client = await house.connect()
        transport = cast("asyncio.Transport", client.writer.transport)
        transport.pause_reading()
        client.writer.write(get("/large") * 20)
        await asyncio.sleep(0.3)
        assert len(house.service.ended) <= 2
        transport.resume_reading()
        for _ in range(20):
            assert len((await client.answer()).body) == 8 << 20
        assert len(house.service.ended) == 20


class TestLargeAnswer:
    async def test_leaves_in_pieces_and_others_are_answered_in_between(self, house: House) -> None:
        client, other = await house.connect(), await house.connect()
        client.writer.write(get("/large"))
        other.writer.write(get("/next"))
        assert echo(await other.answer())["target"] == "/next"
        (left,) = (connection._large.left for connection in house.listener._connections if connection._large)
        assert left > 4 << 20
        assert len((await client.answer()).body) == 8 << 20

    async def test_comes_whole_before_the_refusal_of_what_follows(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/large") + b"nonsense\r\n\r\n")
        assert len((await client.answer()).body) == 8 << 20
        assert (await client.answer()).status == 400
        assert await client.is_closed()

    async def test_comes_whole_before_the_answers_that_follow(self, house: House) -> None:
        client = await house.connect()
        await client.send(get("/large") + get("/next") + get("/large", "Connection: close"))
        assert len((await client.answer()).body) == 8 << 20
        assert echo(await client.answer())["target"] == "/next"
        assert len((await client.answer()).body) == 8 << 20
        assert await client.is_closed()

    async def test_comes_whole_to_a_client_that_sends_no_more(self, house: House) -> None:
        client = await house.connect()
        client.writer.write(get("/large"))
        client.writer.write_eof()
        assert len((await client.answer()).body) == 8 << 20
        assert await client.is_closed()

    async def test_comes_whole_while_the_server_stops(self, house: House) -> None:
        client = await house.connect()
        client.writer.write(get("/large"))
        await client.reader.readuntil(b"\r\n\r\n")
        stopping = asyncio.create_task(house.listener.stop())
        assert len(await client.rest()) == 8 << 20
        await stopping


class TestClientThatLeaves:
    async def test_in_the_middle_of_a_request_harms_nobody(self, house: House) -> None:
        other = await house.connect()
        for part in (get("/")[:10], post(b"abcdef")[:-3], b""):
            client = await house.connect()
            await client.send(part)
            client.writer.transport.abort()
        await other.send(get("/next"))
        assert echo(await other.answer())["target"] == "/next"

    async def test_while_its_request_is_handled_does_not_stop_it(self, house: House) -> None:
        """A client that left in mid-commit once hung all others in a prototype."""
        leaving, other = await house.connect(), await house.connect()
        await leaving.send(get("/wait/leaving"))
        await other.send(get("/wait/other"))
        await asyncio.sleep(0.05)
        leaving.writer.transport.abort()
        await asyncio.sleep(0.05)
        house.service.go.set()
        assert echo(await other.answer())["target"] == "/wait/other"
        assert sorted(house.service.ended) == ["/wait/leaving", "/wait/other"]

    async def test_before_reading_harms_nobody(self, house: House) -> None:
        leaving, other = await house.connect(), await house.connect()
        await leaving.send(get("/large") * 3)
        await asyncio.sleep(0.1)
        leaving.writer.transport.abort()
        await other.send(get("/next"))
        assert echo(await other.answer())["target"] == "/next"
