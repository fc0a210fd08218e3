"""Whether more requests should be sent to a server, as a probe hears it."""

from __future__ import annotations

import pytest

from rowkey.observe.health import Health
from rowkey.wire.request import Request


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("target", ["/healthz", "/readyz", "/readyz?verbose"])
async def test_all_is_well(method: str, target: str) -> None:
    response = await Health().answer(Request(method, target, {}))
    assert response is not None
    assert (response.status, response.body) == (200, b"ok\n")


async def test_a_server_that_drains_lives_and_is_not_ready() -> None:
    health = Health()
    health.is_draining = True
    live, ready = [await health.answer(Request("GET", target, {})) for target in ("/healthz", "/readyz")]
    assert live is not None
    assert ready is not None
    assert live.status == 200
    assert (ready.status, ready.body) == (503, b"the server is about to stop\n")


async def test_a_server_whose_store_takes_no_writes_is_not_ready() -> None:
    troubles = ["the disk is full"]

    async def trouble() -> str | None:
        return troubles[0] if troubles else None

    health = Health(trouble)
    ready = await health.answer(Request("GET", "/readyz", {}))
    assert ready is not None
    assert (ready.status, ready.body) == (503, b"the disk is full\n")
    troubles.clear()
    assert await health.reason() is None


@pytest.mark.parametrize(
    ("method", "target"), [("POST", "/healthz"), ("GET", "/healthz/"), ("GET", "/Healthz"), ("GET", "/"), ("GET", "*")]
)
async def test_anything_else_is_not_a_probe(method: str, target: str) -> None:
    assert await Health().answer(Request(method, target, {})) is None
