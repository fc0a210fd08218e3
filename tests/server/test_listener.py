"""Stopping: what was accepted is answered, everything else is closed, and soon."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from rowkey.server.listener import Listener

if TYPE_CHECKING:
    from tests.server.conftest import House

REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
WAITING = b"GET /wait HTTP/1.1\r\nHost: here\r\n\r\n"


async def test_stop_answers_what_was_accepted_and_closes_the_rest(house: House) -> None:
    busy, piped, idle, halfway = [await house.connect() for _ in range(4)]
    await busy.send(WAITING)
    await piped.send(WAITING + REQUEST + REQUEST[:-5])
    await idle.send(REQUEST)
    assert (await idle.answer()).status == 200
    await halfway.send(REQUEST[:-5])
    await asyncio.sleep(0.05)
    stopping = asyncio.create_task(house.listener.stop())
    assert await idle.is_closed()
    assert await halfway.is_closed()
    with pytest.raises(OSError):
        await house.connect()
    assert not stopping.done()
    house.service.go.set()
    assert (await busy.answer()).header("Connection") == "close"
    assert await busy.is_closed()
    assert (await piped.answer()).header("Connection") is None
    assert (await piped.answer()).header("Connection") == "close"
    assert await piped.is_closed()
    await stopping


async def test_draining_lets_each_client_go_with_its_next_answer(house: House) -> None:
    busy, idle = await house.connect(), await house.connect()
    await busy.send(WAITING)
    await asyncio.sleep(0.05)
    house.listener.drain()
    await idle.send(REQUEST + REQUEST)
    assert (await idle.answer()).header("Connection") == "close"
    assert await idle.is_closed()
    late = await house.connect()
    await late.send(REQUEST)
    assert (await late.answer()).header("Connection") == "close"
    house.service.go.set()
    assert (await busy.answer()).header("Connection") is None  # its head was read before
    await busy.send(b"GET / HTTP/1.0\r\nHost: here\r\nConnection: keep-alive\r\n\r\n")
    assert (await busy.answer()).header("Connection") == "close"


async def test_stop_does_not_wait_for_ever(house: House) -> None:
    """The request is cancelled, and the connection closed without an answer."""
    client = await house.connect()
    await client.send(WAITING)
    await asyncio.sleep(0.05)
    begin = time.monotonic()
    await house.listener.stop(seconds_max=0.2)
    assert 0.1 < time.monotonic() - begin < 2
    assert house.service.ended == []
    assert await client.is_closed()


async def test_stop_waits_for_requests_whose_client_left(house: House) -> None:
    """Their writes are going on; the store must not be closed under them."""
    client = await house.connect()
    await client.send(WAITING)
    await asyncio.sleep(0.05)
    client.writer.transport.abort()
    await asyncio.sleep(0.05)
    stopping = asyncio.create_task(house.listener.stop())
    await asyncio.sleep(0.05)
    assert not stopping.done()
    house.service.go.set()
    await stopping
    assert house.service.ended == ["/wait"]


async def test_port_that_is_taken_is_an_error(house: House) -> None:
    with pytest.raises(OSError):
        await Listener(house.service).start("127.0.0.1", house.listener.port)


async def test_many_connections_at_once(house: House) -> None:
    async def ask() -> None:
        client = await house.connect()
        for target in (b"/", b"/sleep"):
            await client.send(REQUEST.replace(b"/", target, 1))
            assert (await client.answer()).status == 200
        await client.close()

    await asyncio.gather(*(ask() for _ in range(200)))
