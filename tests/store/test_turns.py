"""Clients take turns at the threads, whoever asks for how much."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rowkey.store.embedded import turns
from rowkey.store.embedded.turns import Turns
from rowkey.store.interface import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable


class Work:
    """Pieces of work that run until they are let go, in the order in which they began."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._ends: list[asyncio.Future[None]] = []

    def piece(self, name: str) -> Callable[[], asyncio.Future[None]]:
        """A piece of work of that name."""

        def begin() -> asyncio.Future[None]:
            self.begun.append(name)
            self._ends.append(asyncio.get_running_loop().create_future())
            return self._ends[-1]

        return begin

    async def end_one(self) -> None:
        """Let go of the one that has been running for longest."""
        self._ends.pop(0).set_result(None)
        for _ in range(5):
            await asyncio.sleep(0)


async def ask(turns: Turns, work: Work, *names: str) -> list[asyncio.Task[None]]:
    """Ask for pieces of work; the client is the first letter of each name."""
    tasks = [asyncio.create_task(turns.run(name[0], work.piece(name))) for name in names]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def test_a_client_with_much_waits_behind_his_own() -> None:
    turns, work = Turns(1), Work()
    tasks = await ask(turns, work, "a1", "a2", "a3", "a4", "b1", "c1", "b2")
    for _ in tasks:
        await work.end_one()
    await asyncio.gather(*tasks)
    assert work.begun == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]
    assert turns.waiting == 0


async def test_as_much_runs_at_once_as_may() -> None:
    turns, work = Turns(2), Work()
    tasks = await ask(turns, work, "a1", "a2", "a3")
    assert work.begun == ["a1", "a2"]
    for _ in tasks:
        await work.end_one()
    assert await asyncio.gather(*tasks) == [None] * 3


async def test_it_is_known_whether_anything_waits() -> None:
    """Also of the client whose work runs: many share an address."""
    turns, work = Turns(1), Work()
    tasks = await ask(turns, work, "a1")
    assert not turns.is_awaited()
    tasks += await ask(turns, work, "a2", "b1")
    for is_awaited in (True, True, False):
        assert turns.is_awaited() == is_awaited
        await work.end_one()
    await asyncio.gather(*tasks)


async def test_too_much_of_one_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WAITING_MAX", 2)
    queue, work = Turns(1), Work()
    tasks = await ask(queue, work, "a1", "a2", "a3", "a4", "b1")
    with pytest.raises(StoreUnavailable):
        await tasks.pop(3)
    for _ in tasks:
        await work.end_one()
    await asyncio.gather(*tasks)
    assert work.begun == ["a1", "a2", "b1", "a3"]


async def test_a_turn_of_somebody_who_left_goes_to_the_next() -> None:
    turns, work = Turns(1), Work()
    first, second, third = await ask(turns, work, "a1", "b1", "c1")
    second.cancel()
    await work.end_one()
    await first
    assert work.begun == ["a1", "c1"]
    await work.end_one()
    await third
    again = await ask(turns, work, "d1")
    assert work.begun[-1] == "d1"
    await work.end_one()
    await asyncio.gather(*again)


async def test_a_turn_lasts_until_the_work_has_ended_whoever_left() -> None:
    """A thread goes on with it; what began instead would wait there, and nobody would know."""
    turns, work = Turns(1), Work()
    first, second = await ask(turns, work, "a1", "b1")
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (work.begun, turns.is_awaited()) == (["a1"], True)
    await work.end_one()
    assert work.begun == ["a1", "b1"]
    await work.end_one()
    await second


async def test_work_that_fails_ends_its_turn() -> None:
    turns, work = Turns(1), Work()

    async def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await turns.run("a", fail)
    tasks = await ask(turns, work, "a1")
    await work.end_one()
    await asyncio.gather(*tasks)
