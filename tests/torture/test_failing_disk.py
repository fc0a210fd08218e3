"""A disk that fails at the k-th call, for every k: nothing is confirmed that is not on it, and reads go on.

A script of 200 writes runs on the simulated disk (`disk.py`). After a sync that failed, the disk has lost what was to
be synced, while programs still see it, as on Linux; so what counts in the end is what a power cut would leave.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import random
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import apsw
import pytest

from rowkey.errors import ServiceError
from rowkey.model.entity import Key
from rowkey.store.embedded import writer
from rowkey.store.embedded.folder import FolderError
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import OutcomeUnknown, StoreUnavailable
from rowkey.store.testing.samples import insert, int32, string
from tests import places
from tests.torture.disk import Disk, failure, mounted
from tests.torture.effort import IS_LONG, SEED
from tests.torture.socket_client import JSON, TABLE, SocketStore
from tests.torture.workload import ACCOUNT, Client, faults_of, read_stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from rowkey.store.interface import Store, Table
    from tests.conftest import ServerProcess

OPERATIONS = 200
STEP = 1 if IS_LONG else 29
"""Between the calls that fail, from one run of the script to the next."""

pytestmark = [
    # apsw reports errors of a disk while connections are closed, where SQLite itself does not mind.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class FailingCalls:
    """The calls of one kind that fail: from the k-th on, `count` of them."""

    def __init__(self, kind: str, first: int = 0, count: int = 1) -> None:
        self._kind = kind
        self._failing = range(first, first + count)
        self.calls = 0
        self.has_failed = False

    def __call__(self, call: str, _name: str) -> None:
        if call == self._kind:
            self.calls += 1
            if self.calls in self._failing:
                self.has_failed = True
                raise failure(call)


@pytest.fixture(autouse=True)
def short_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the log be folded often, so that failures also come in the midst of that; try a failed disk again at once."""
    monkeypatch.setattr(writer, "_LOG_PAGES_MAX", 60)
    monkeypatch.setattr(writer, "_RETRY_SECONDS", 0.0)


@pytest.mark.parametrize(("kind", "count"), [("sync", 1), ("sync", 5), ("write", 1), ("write", 7), ("truncate", 1)])
def test_no_success_is_answered_that_the_disk_does_not_have(tmp_path: Path, kind: str, count: int) -> None:
    healthy = FailingCalls(kind)
    asyncio.run(run_script(tmp_path / "healthy", healthy))
    failed = 0
    for first in range(1, healthy.calls + 1, STEP):
        calls = FailingCalls(kind, first, count)
        faults = asyncio.run(run_script(tmp_path / f"{first}", calls))
        assert not faults, f"{kind} {first}: {faults[:5]}"
        failed += calls.has_failed
    print(f"{kind}: {failed} scripts with {count} failing from call k on, of {healthy.calls} calls: no false success")
    assert failed


async def run_script(folder: Path, calls: FailingCalls) -> list[str]:
    """The script, a power cut, and what is wrong with what is left."""
    chance = random.Random(SEED)
    disk = Disk(calls)
    client = Client("client")
    (folder / "left").mkdir(parents=True)
    has_table = False
    with mounted(disk):
        done = 0
        while done < OPERATIONS:
            try:
                store = EmbeddedStore.open(folder / "data")
            except FolderError:
                assert calls.has_failed
                continue  # an operator starts it again
            table = await open_table(store)
            has_table = has_table or table is not None
            while table is not None and done < OPERATIONS and (done % 70 or not done):
                done += 1
                await write_and_read(store, table, client, chance)
            done += 1
            with suppress(apsw.Error):
                await store.close()
        assert client.count - client.refused > OPERATIONS // 2, "it did not recover"
        disk.what_is_synced(folder / "left")
    return await look_at(folder / "left", client)


async def open_table(store: EmbeddedStore) -> Table | None:
    with suppress(ServiceError):
        return await store.find_table(ACCOUNT, "Ledger") or await store.create_table(ACCOUNT, "Ledger")
    return None


async def write_and_read(store: Store, table: Table, client: Client, chance: random.Random) -> None:
    """A write, after which what was confirmed can be read, whether or not it succeeded."""
    await client.write(store, table, chance)
    row_key, state = chance.choice([*client.confirmed.items()] or [("none", None)])
    text = await store.get(table, Key(client.name, row_key))
    if row_key not in client.unsure:
        assert (text is not None) == (state is not None)


async def look_at(left: Path, client: Client) -> list[str]:
    store = EmbeddedStore.open(left)
    try:
        table = await store.find_table(ACCOUNT, "Ledger")
        return ["the table is gone"] if table is None else faults_of([client], await read_stored(store, table))
    finally:
        await store.close()


# ---------------------------------------------------------------- what the server says


async def test_writes_are_refused_until_the_disk_is_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(writer, "_RETRY_SECONDS", 0.2)
    calls = FailingCalls("sync", 10**6)
    with mounted(Disk(calls)):
        store = EmbeddedStore.open(tmp_path)
        table = await store.create_table(ACCOUNT, "things")
        await store.write(table, [insert("p", "before")])
        calls._failing = range(10**9)  # from now on, all
        with pytest.raises(OutcomeUnknown):
            await store.write(table, [insert("p", "lost")])
        with pytest.raises(StoreUnavailable):
            await store.write(table, [insert("p", "refused")])
        assert await store.get(table, Key("p", "before")) is not None
        assert await store.get(table, Key("p", "lost")) is None
        await asyncio.sleep(0.25)
        with pytest.raises(StoreUnavailable):  # tried again, in vain
            await store.write(table, [insert("p", "refused")])
        calls._failing = range(0)
        await asyncio.sleep(0.25)
        await store.write(table, [insert("p", "after")])
        await store.close()
    assert "writes are refused until it is sound again" in caplog.text
    assert "the disk is sound again" in caplog.text
    store = EmbeddedStore.open(tmp_path)
    assert [await store.get(table, Key("p", key)) is not None for key in ("before", "lost", "after")] == [
        True,
        False,
        True,
    ]
    await store.close()


# ---------------------------------------------------------------- a disk that is full


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    with places.small_disk(tmp_path / "small", kib=2048) as disk:
        yield disk


async def test_who_asks_for_trouble_has_the_disk_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A load balancer that hears of it sends no more writes, so it cannot be left to these."""
    monkeypatch.setattr(writer, "_RETRY_SECONDS", 0.1)
    calls = FailingCalls("sync", 10**6)
    with mounted(Disk(calls)):
        store = EmbeddedStore.open(tmp_path)
        table = await store.create_table(ACCOUNT, "things")
        assert await store.ask_for_trouble() is None
        calls._failing = range(10**9)
        with pytest.raises(OutcomeUnknown):
            await store.write(table, [insert("p", "lost")])
        assert await store.ask_for_trouble() is not None
        calls._failing = range(0)
        await asyncio.sleep(0.15)
        assert await store.ask_for_trouble() is not None
        await asyncio.sleep(0.2)
        assert await store.ask_for_trouble() is None
        await store.write(table, [insert("p", "after")])
        await store.close()


async def test_a_full_disk_refuses_writes_and_recovers(small_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1_200_000))
    store = EmbeddedStore.open(small_disk / "data")
    table = await store.create_table(ACCOUNT, "things")
    stored: set[str] = set()
    verdicts: Counter[str] = Counter()
    for number in range(300):
        verdicts[await try_insert(store, table, f"{number:04}", stored)] += 1
    assert set(verdicts) == {"stored", "StoreUnavailable"}
    assert min(verdicts.values()) > 10
    assert "FullError" in caplog.text
    assert await store.ask_for_trouble() == "the disk is full, so the store takes no writes"
    for row_key in stored:
        assert await store.get(table, Key("p", row_key)) is not None
    caplog.clear()
    ballast.unlink()  # room again, which a load balancer must hear before it sends writes
    assert await store.ask_for_trouble() is None
    assert "there is room on the disk again" in caplog.text
    assert await try_insert(store, table, "again", stored) == "stored"
    await store.close()
    store = EmbeddedStore.open(small_disk / "data")
    for number in range(300):
        row_key = f"{number:04}"
        assert (await store.get(table, Key("p", row_key)) is not None) == (row_key in stored)
    await store.close()
    assert os.statvfs(small_disk).f_bavail


async def test_a_write_that_succeeds_ends_the_trouble(small_disk: Path) -> None:
    """Also where little is free, as long as no write misses more."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1_200_000))
    store = EmbeddedStore.open(small_disk / "data")
    table = await store.create_table(ACCOUNT, "things")
    for number in range(300):
        await try_insert(store, table, f"{number:04}", set())
    assert await store.ask_for_trouble() is not None
    ballast.write_bytes(bytes(800_000))
    assert await store.ask_for_trouble() is not None
    assert await try_insert(store, table, "again", set()) == "stored"
    assert await store.ask_for_trouble() is None
    await store.close()


@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["one process", "workers"])
def test_a_server_on_a_full_disk_is_not_ready(
    own_server_with: Callable[..., ServerProcess], small_disk: Path, options: Sequence[str]
) -> None:
    """Until there is room, without a write that would find out; also after a restart."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1_200_000))
    process = own_server_with("--data", str(small_disk / "data"), *options)
    asyncio.run(fill_up(process))
    assert ask_ready(process) == {(503, b"the disk is full, so the store takes no writes\n")}
    process.stop()
    process.start()
    asyncio.run(fill_up(process))
    assert {status for status, _ in ask_ready(process)} == {503}
    time.sleep(1.1)
    assert {status for status, _ in ask_ready(process)} == {503}
    ballast.unlink()
    assert ask_ready(process) == {(200, b"ok\n")}
    assert "there is room on the disk again" in process.read_log()


async def fill_up(process: ServerProcess) -> None:
    """Insert until the disk is full."""
    client = SocketStore(process.server)
    await client.send("POST", "/Tables", JSON, json.dumps({"TableName": TABLE}).encode())
    refused = 0
    while refused < 3:
        body = {"PartitionKey": f"{time.monotonic_ns()}", "RowKey": "r", "Text": "x" * 30_000}
        answer = await client.send("POST", f"/{TABLE}", JSON, json.dumps(body).encode())
        assert answer is not None
        assert answer[0] in (204, 503)
        refused += answer[0] == 503
    await client.close()


def ask_ready(process: ServerProcess) -> set[tuple[int, bytes]]:
    """Status and text of /readyz, asked by so many connections that all workers are."""
    place = urlsplit(process.server.endpoint)
    answers = set()
    for _ in range(10):
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        answers.add((answer.status, answer.read()))
        connection.close()
    return answers


async def try_insert(store: Store, table: Table, row_key: str, stored: set[str]) -> str:
    try:
        await store.write(table, [insert("p", row_key, A=int32(1), B=string("x" * 3000))])
    except ServiceError as error:
        return type(error).__name__
    stored.add(row_key)
    return "stored"
