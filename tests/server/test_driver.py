"""A coroutine that has begun goes on as a Task would let it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.server.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Coroutine


def drive(coroutine: Coroutine[Any, Any, Any]) -> tuple[Driver[Any], asyncio.Future[Any]]:
    """Begin a coroutine by hand, and let a driver go on."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Any] = loop.create_future()
    return Driver(coroutine, coroutine.send(None), result.set_result, loop), result


async def test_result_comes_after_futures_threads_tasks_and_bare_yields() -> None:
    async def work() -> list[object]:
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        loop.call_later(0.01, future.set_result, 1)
        done = loop.create_future()
        done.set_result(2)
        await asyncio.sleep(0)
        return [
            await future,
            await done,
            await loop.run_in_executor(None, lambda: 3),
            await asyncio.gather(asyncio.sleep(0.01, 4), asyncio.sleep(0, 5)),
        ]

    _, result = drive(work())
    assert await result == [1, 2, 3, [4, 5]]


async def test_exceptions_go_in_and_out() -> None:
    async def work() -> None:
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_exception, KeyError("a"))
        with pytest.raises(KeyError):
            await future
        raise IndexError("b")

    _, result = drive(work())
    assert isinstance(await result, IndexError)


async def test_cancellation_reaches_what_is_awaited() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    driver, result = drive(work())
    driver.cancel()
    assert isinstance(await result, asyncio.CancelledError)
    assert ended == [True]


async def test_cancellation_of_a_bare_yield() -> None:
    driver, result = drive(asyncio.sleep(0))
    driver.cancel()
    assert isinstance(await result, asyncio.CancelledError)


async def test_cancellation_when_the_future_is_just_done() -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def work() -> None:
        await future

    driver, result = drive(work())
    future.set_result(None)
    driver.cancel()
    assert isinstance(await result, asyncio.CancelledError)
