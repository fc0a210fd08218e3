"""What goes wrong inside, and what it may cost."""

from __future__ import annotations

import json
import logging
import time
import tracemalloc
from typing import NoReturn

import pytest

from rowkey.config import Account, Settings
from rowkey.errors import AuthenticationFailed, InvalidHttpVerb, RequestBodyTooLarge
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore
from tests.service.asking import ENTITY, GUID, ask, code_of


async def test_nothing_large_is_kept_of_a_batch(service: Service) -> None:
    """The target of a part may be as long as the batch; kept in a cache it would be memory for good."""
    kind = {"content-type": "multipart/mixed; boundary=b"}
    tracemalloc.start()
    try:
        for number in range(20):
            target = f"/account/Orders()?x={number}" + "x" * 500_000
            body = f"--b\r\nContent-Type: application/http\r\n\r\nGET {target} HTTP/1.1\r\n\r\n\r\n--b--\r\n"
            assert (await ask(service, "POST", "/account/$batch", kind, body.encode())).status in (202, 400)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000


async def test_time_of_a_long_selection_in_a_batch_is_linear(service: Service) -> None:
    """Nothing bounds the target of a part; at 4 MiB this takes more than a minute, and nobody else is served."""
    target = f"{ENTITY}?$select={'a,' * 200_000}a"
    body = f"--b\r\nContent-Type: application/http\r\n\r\nGET {target} HTTP/1.1\r\n\r\n\r\n--b--\r\n"
    begun = time.process_time()
    await ask(service, "POST", "/account/$batch", {"content-type": "multipart/mixed; boundary=b"}, body.encode())
    assert time.process_time() - begun < 0.3


class BrokenStore(MemoryStore):
    """A store that fails in a way that it has not promised."""

    async def find_table(self, account: str, name: str) -> NoReturn:
        raise ZeroDivisionError("a secret about the inside")


class TestTrouble:
    async def test_unknown_exception_is_one_500_without_details(self, caplog: pytest.LogCaptureFixture) -> None:
        service = Service(Settings(data=None, accounts={"account": Account("account", (b"first",))}), BrokenStore())
        with caplog.at_level(logging.ERROR):
            response = await ask(service, "GET", ENTITY)
        assert (response.status, code_of(response)) == (500, "InternalError")
        message = json.loads(response.body)["odata.error"]["message"]["value"]
        assert message.startswith("The server encountered an internal error. Please retry the request.\nRequestId:")
        assert b"secret" not in response.body
        assert b"ZeroDivision" not in response.body
        (record,) = caplog.records
        assert (response.header("x-ms-request-id") or "?") in record.getMessage()
        assert "a secret about the inside" in caplog.text

    @pytest.mark.parametrize("error", [InvalidHttpVerb(), RequestBodyTooLarge(), AuthenticationFailed()])
    async def test_bytes_that_never_became_a_request(
        self, service: Service, error: InvalidHttpVerb | RequestBodyTooLarge | AuthenticationFailed
    ) -> None:
        response = service.refuse(error)
        assert (response.status, code_of(response)) == (error.status, error.code)
        assert GUID.fullmatch(response.header("x-ms-request-id") or "")
        assert response.header("Date")
