"""Chromium without a window, and a tab of it that a test leads by the DevTools protocol."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import subprocess
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

SECONDS_MAX = 60

BROWSERS = ("chromium", "google-chrome-stable", "google-chrome", "chromium-browser")
BROWSER = next((path for path in map(shutil.which, BROWSERS) if path), None)
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
ELSEWHERE = "tables.example"
"""A name of this machine that a tab takes for another's."""
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="the test needs Chromium: run `apt-get install chromium`, or `make chromium` as root"
)


class PageError(Exception):
    """What a script in the page threw, or why it could not run: the page may just be loading."""


class Tab:
    """A tab; `problems` is what its console and its content security policy complained of."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.problems: list[str] = []
        self._socket = socket
        self._numbers = itertools.count(1)

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command of the DevTools protocol; its result."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            message = json.loads(await asyncio.wait_for(self._socket.receive_str(), SECONDS_MAX))
            if message.get("id") == number:
                if "error" in message:
                    raise PageError(message["error"])
                result: dict[str, Any] = message["result"]
                return result
            if message.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.problems.append(json.dumps(message["params"]))

    async def run(self, script: str) -> Any:
        """What an expression in the page comes to, awaited; raises PageError."""
        answer = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise PageError(answer["exceptionDetails"])
        return answer["result"].get("value")

    async def wait(self, condition: str) -> None:
        """Return when an expression in the page is true; fails, with what the page shows, when it never is."""
        failure = None
        for _ in range(SECONDS_MAX * 50):
            try:
                if await self.run(f"Boolean({condition})"):
                    return
            except PageError as error:
                failure = error
            await asyncio.sleep(0.02)
        shown = await self.run("document.body.innerText")
        pytest.fail(f"never true: {condition}\n{shown}\n{failure}\n{self.problems}")


@contextmanager
def open_browser(folder: Path, *arguments: str) -> Iterator[None]:
    """A browser whose profile and log are in `folder`."""
    assert BROWSER is not None
    with (folder / "browser.log").open("wb") as log:
        command = [BROWSER, *OPTIONS, f"--user-data-dir={folder / 'profile'}", *arguments]
        browser = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield
    finally:
        browser.terminate()
        try:
            browser.wait(5)
        except subprocess.TimeoutExpired:  # it may take its time, of which it has no more use
            browser.kill()
            browser.wait()


@asynccontextmanager
async def open_tab(folder: Path) -> AsyncIterator[Tab]:
    """The tab of a browser of its own; its downloads go to `folder`, too."""
    elsewhere = f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"
    with open_browser(folder, "--remote-debugging-port=0", elsewhere, "about:blank"):
        async with aiohttp.ClientSession() as session:
            async with session.ws_connect(await _find_tab(session, folder), max_msg_size=0) as socket:
                tab = Tab(socket)
                for domain in ("Page", "Runtime", "Log"):
                    await tab.call(f"{domain}.enable")
                await tab.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
                yield tab


async def _find_tab(session: aiohttp.ClientSession, folder: Path) -> str:
    """The address of the tab, once the browser has written where it listens."""
    for _ in range(SECONDS_MAX * 50):
        if port := _read_port(folder / "profile" / "DevToolsActivePort"):
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                for target in await answer.json():
                    if target["type"] == "page":
                        return str(target["webSocketDebuggerUrl"])
        await asyncio.sleep(0.02)
    pytest.fail(f"the browser did not begin:\n{(folder / 'browser.log').read_text(errors='replace')}")


def _read_port(file: Path) -> str:
    return file.read_text().partition("\n")[0] if file.exists() else ""
