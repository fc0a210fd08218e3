"""Slow and silent clients, with time-outs short enough to wait for."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from rowkey.server.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from tests.server.conftest import Client, House

    HouseWith = Callable[[Limits], AbstractAsyncContextManager[House]]

PATIENT = Limits(sweep_seconds=0.05)
"""Looks at the clock often enough for tests; each shortens the one time that it is about."""
REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
BODY = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n"


async def trickle(client: Client, data: bytes, seconds: float) -> None:
    """Send a byte now and then, until the server has had enough."""
    for byte in data:
        if client.reader.at_eof() or client.writer.is_closing():
            return
        client.writer.write(bytes([byte]))
        await asyncio.sleep(seconds)


async def test_idle_connection_is_closed(house_with: HouseWith) -> None:
    async with house_with(replace(PATIENT, idle_seconds=0.3)) as house:
        silent, used = await house.connect(), await house.connect()
        await used.send(REQUEST)
        assert (await used.answer()).status == 200
        begin = time.monotonic()
        assert await silent.is_closed()
        assert await used.is_closed()
        assert 0.1 < time.monotonic() - begin < 2


async def test_connection_in_use_is_not_idle(house_with: HouseWith) -> None:
    async with house_with(replace(PATIENT, idle_seconds=0.3)) as house:
        client = await house.connect()
        for _ in range(10):
            await client.send(REQUEST)
            assert (await client.answer()).status == 200
            await asyncio.sleep(0.1)


async def test_request_that_takes_long_is_not_idle(house_with: HouseWith) -> None:
    short = replace(PATIENT, idle_seconds=0.1, head_seconds=0.1, body_seconds=0.1, reader_seconds=0.1)
    async with house_with(short) as house:
        client = await house.connect()
        await client.send(REQUEST.replace(b"/", b"/wait", 1))
        await asyncio.sleep(0.5)
        house.service.go.set()
        assert (await client.answer()).status == 200


async def test_head_that_trickles_is_refused(house_with: HouseWith) -> None:
    async with house_with(replace(PATIENT, head_seconds=0.3)) as house:
        client = await house.connect()
        sending = asyncio.create_task(trickle(client, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1000, 0.02))
        assert (await client.answer()).status == 408
        assert await client.is_closed()
        await sending


async def test_body_that_trickles_is_refused(house_with: HouseWith) -> None:
    """A byte now and then is progress, but not enough: slow loris."""
    async with house_with(replace(PATIENT, body_seconds=0.3)) as house:
        client = await house.connect()
        sending = asyncio.create_task(trickle(client, BODY + b"x" * 900, 0.002))
        assert (await client.answer()).status == 408
        await sending


async def test_body_that_keeps_coming_is_waited_for(house_with: HouseWith) -> None:
    async with house_with(replace(PATIENT, body_seconds=0.3, bytes_per_second_min=1)) as house:
        client = await house.connect()
        await client.send(BODY)
        await trickle(client, b"x" * 40, 0.02)
        await client.send(b"x" * 960)
        assert (await client.answer()).status == 200


async def test_client_that_does_not_read_is_cut_off(house_with: HouseWith) -> None:
    async with house_with(replace(PATIENT, reader_seconds=0.3)) as house:
        client, other = await house.connect(), await house.connect()
        cast("asyncio.Transport", client.writer.transport).pause_reading()
        client.writer.write(REQUEST.replace(b"/", b"/large", 1) * 3)
        await asyncio.sleep(1)
        assert len(house.listener._connections) == 1
        await other.send(REQUEST)
        assert (await other.answer()).status == 200


async def test_client_that_neither_reads_nor_ends_after_a_refusal_is_cut_off(house_with: HouseWith) -> None:
    async with house_with(replace(PATIENT, linger_seconds=0.2)) as house:
        client = await house.connect()
        await client.send(b"nonsense\r\n\r\n")
        assert (await client.answer()).status == 400
        await asyncio.sleep(0.6)
        assert not house.listener._connections
