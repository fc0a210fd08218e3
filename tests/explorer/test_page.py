"""The explorer's files, as they are served."""

from __future__ import annotations

import pytest

from rowkey.config import Account, Settings
from rowkey.explorer.page import show_explorer
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore
from rowkey.wire.request import Request


@pytest.mark.parametrize(
    ("target", "content_type", "text"),
    [
        ("/explorer", "text/html; charset=utf-8", b"<title>Rowkey explorer</title>"),
        ("/explorer?x", "text/html; charset=utf-8", b"<title>Rowkey explorer</title>"),
        ("/explorer/style.css", "text/css; charset=utf-8", b"color-scheme"),
        ("/explorer/app.js", "text/javascript; charset=utf-8", b"import"),
        ("/explorer/client.js", "text/javascript; charset=utf-8", b"export"),
        ("/explorer/entity.js", "text/javascript; charset=utf-8", b"export"),
    ],
)
async def test_files_are_served_for_this_server_alone(target: str, content_type: str, text: bytes) -> None:
    answer = await show_explorer(Request("GET", target, {}))
    assert answer is not None
    assert (answer.status, answer.header("Content-Type")) == (200, content_type)
    assert text in answer.body
    policy = answer.header("Content-Security-Policy") or ""
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.header("X-Content-Type-Options") == "nosniff"


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("POST", "/explorer"),
        ("GET", "/explorer/"),
        ("GET", "/explorer/page.py"),
        ("GET", "/explorer/../page.py"),
        ("GET", "/explorer/index.html"),
        ("GET", "/Explorer"),
        ("GET", "/"),
        ("GET", "*"),
    ],
)
async def test_all_else_is_none_of_its_business(method: str, target: str) -> None:
    assert await show_explorer(Request(method, target, {"accept": "application/json"})) is None


async def test_a_browser_at_the_root_is_led_there() -> None:
    answer = await show_explorer(Request("GET", "/", {"accept": "text/html,application/xml;q=0.9,*/*;q=0.8"}))
    assert answer is not None
    assert (answer.status, answer.header("Location")) == (302, "/explorer")


async def test_an_account_of_this_name_has_its_path() -> None:
    account = Account("explorer", (b"key",))
    service = Service(Settings(accounts={account.name: account}), MemoryStore(), pages=[show_explorer])
    answer = await service.handle(Request("GET", "/explorer", {"host": "127.0.0.1"}))
    assert answer.status == 403
