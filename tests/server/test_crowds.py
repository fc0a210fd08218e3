"""Many clients, and clients that want more than their share."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from rowkey.errors import ServerBusy
from rowkey.server.held import Held
from rowkey.server.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from tests.server.conftest import Client, House

    HouseWith = Callable[[Limits], AbstractAsyncContextManager[House]]

LIMITS = Limits(sweep_seconds=0.05)
REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
MIB = 1 << 20
BODY = f"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: {MIB}\r\n\r\n".encode()


class TestConnections:
    async def test_one_too_many_is_told_so(self, house_with: HouseWith) -> None:
        async with house_with(replace(LIMITS, connections_max=2, linger_seconds=0.2)) as house:
            first, second = await house.connect(), await house.connect()
            for client in (first, second):
                await client.send(REQUEST)
                assert (await client.answer()).status == 200
            third = await house.connect()
            await third.send(REQUEST)
            assert (await third.answer()).status == 503
            assert await third.is_closed()
            assert house.listener.refused == 1
            await first.send(REQUEST)
            assert (await first.answer()).status == 200

    async def test_there_is_room_again_when_one_ends(self, house_with: HouseWith) -> None:
        async with house_with(replace(LIMITS, connections_max=1)) as house:
            first = await house.connect()
            await first.send(REQUEST)
            await first.answer()
            await first.close()
            await asyncio.sleep(0.05)
            second = await house.connect()
            await second.send(REQUEST)
            assert (await second.answer()).status == 200
            assert (house.listener.connections, house.listener.accepted, house.listener.refused) == (1, 2, 0)

    async def test_those_turned_away_do_not_stay(self, house_with: HouseWith) -> None:
        async with house_with(replace(LIMITS, connections_max=0, linger_seconds=0.1)) as house:
            client = await house.connect()
            assert (await client.answer()).status == 503
            begin = time.monotonic()
            await client.is_closed()
            while time.monotonic() - begin < 5 and not client.writer.transport.is_closing():
                try:
                    await client.send(b"x")
                except ConnectionError:
                    break
                await asyncio.sleep(0.02)
            assert time.monotonic() - begin < 2


class TestMemory:
    async def test_large_bodies_of_slow_clients_are_cut_off_first(self, house_with: HouseWith) -> None:
        async with house_with(replace(LIMITS, held_bytes_max=4 * MIB)) as house:
            slow = [await house.connect() for _ in range(8)]
            for client in slow:
                await client.send(BODY + b"x" * (MIB - 1))
                await asyncio.sleep(0.02)
            quick = await house.connect()
            await quick.send(BODY + b"x" * MIB)
            assert (await quick.answer()).status == 200
            assert house.listener.cut >= 4
            assert house.listener._held.bytes <= 4 * MIB

    async def test_large_bodies_count_until_they_are_answered(self, house_with: HouseWith) -> None:
        """Nobody is cut off whose request is being worked on; there is just no room for another."""
        async with house_with(replace(LIMITS, held_bytes_max=2 * MIB)) as house:
            working = [await house.connect() for _ in range(2)]
            for client in working:
                await client.send(BODY.replace(b" / ", b" /wait ") + b"x" * MIB)
            await asyncio.sleep(0.1)
            another = await house.connect()
            await another.send(BODY + b"x" * MIB)
            assert (await another.answer()).status == 503
            house.service.go.set()
            for client in working:
                assert (await client.answer()).status == 200
            assert house.listener._held.bytes == 0

    async def test_answers_that_nobody_reads_are_bounded(self, house_with: HouseWith) -> None:
        async with house_with(replace(LIMITS, held_bytes_max=20 * MIB)) as house:
            for _ in range(6):
                client = await house.connect()
                cast("asyncio.Transport", client.writer.transport).pause_reading()
                await client.send(REQUEST.replace(b"/", b"/large", 1))
                await asyncio.sleep(0.05)
            assert house.listener.cut >= 4
            reader = await house.connect()
            await reader.send(REQUEST.replace(b"/", b"/large", 1))
            assert len((await reader.answer()).body) == 8 * MIB

    async def test_nothing_is_counted_for_clients_that_left(self, house_with: HouseWith) -> None:
        async with house_with(LIMITS) as house:
            for path in (b"/", b"/large"):
                client = await house.connect()
                await client.send(BODY.replace(b" / ", b" " + path + b" ") + b"x" * (MIB - 1))
                await asyncio.sleep(0.05)
                assert house.listener._held.bytes > MIB / 2
                client.writer.transport.abort()
                await asyncio.sleep(0.05)
                assert house.listener._held.bytes == 0


class Holder:
    """A connection that knows whose turn it is."""

    def __init__(self, *, waits_for_client: bool) -> None:
        self.waits_for_client = waits_for_client
        self.is_aborted = False

    def abort(self) -> None:
        self.is_aborted = True


def test_the_longest_waiting_is_cut_first() -> None:
    held = Held(100)
    first, working, second, third = (Holder(waits_for_client=n != 1) for n in range(4))
    for holder in (first, working, second, third):
        held.hold(holder, 30)
    assert [holder.is_aborted for holder in (first, working, second, third)] == [True, False, False, False]
    held.hold(third, 40)
    assert second.is_aborted
    assert not working.is_aborted
    with pytest.raises(ServerBusy):
        held.hold(third, 1)
    assert held.bytes == 30


class TestTurns:
    async def test_a_flood_of_one_client_does_not_keep_others_waiting(self, house_with: HouseWith) -> None:
        """A piece of what a client has sent is a turn; whoever sends more waits for the others in between."""
        async with house_with(LIMITS) as house:
            flood, other = await house.connect(), await house.connect()
            flood.writer.write(REQUEST * 10_000)
            draining = asyncio.create_task(_drain(flood, 10_000))
            await asyncio.sleep(0.05)
            times = []
            while not draining.done():
                begin = time.perf_counter()
                await other.send(REQUEST)
                assert (await other.answer()).status == 200
                times.append(time.perf_counter() - begin)
            await draining
            assert len(times) >= 5
            assert sorted(times)[len(times) // 2] < 0.1

    async def test_a_client_that_sends_its_end_at_once_gets_its_answer(self, house_with: HouseWith) -> None:
        """As `printf ... | nc -N` does: the request and the end arrive in the same turn of the event loop."""
        async with house_with(LIMITS) as house:
            for _ in range(50):
                client = await house.connect()
                client.writer.write(REQUEST)
                client.writer.write_eof()
                assert (await client.answer()).status == 200

    async def test_what_waits_for_its_turn_is_answered_after_the_end_of_sending(self, house_with: HouseWith) -> None:
        async with house_with(LIMITS) as house:
            client = await house.connect()
            client.writer.write(REQUEST * 5_000)
            client.writer.write_eof()
            await _drain(client, 5_000)
            assert await client.is_closed()


async def _drain(client: Client, count: int) -> None:
    for _ in range(count):
        assert (await client.answer()).status == 200


async def test_a_request_that_takes_long_is_named_once(house_with: HouseWith, caplog: pytest.LogCaptureFixture) -> None:
    async with house_with(replace(LIMITS, slow_seconds=0.2)) as house:
        client = await house.connect()
        with caplog.at_level(logging.WARNING):
            await client.send(REQUEST.replace(b"/", b"/wait?sig=secret", 1))
            await asyncio.sleep(0.8)
        house.service.go.set()
        assert (await client.answer()).status == 200
    assert [record.getMessage() for record in caplog.records] == ["a request takes longer than 0.2 seconds: GET /wait"]
