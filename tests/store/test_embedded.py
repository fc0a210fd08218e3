"""The embedded store keeps the contract of `store/interface.py`, also over a restart."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest
from hypothesis import settings

from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange
from rowkey.odata.ast import Comparison, Or
from rowkey.store.checked import CheckedStore
from rowkey.store.embedded import reader, statements
from rowkey.store.embedded.candidates import Candidates
from rowkey.store.embedded.folder import FolderError
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import Store, Table
from rowkey.store.testing import DurabilityConformance, FixedClock, StoreConformance
from rowkey.store.testing.durability import OpenStore
from rowkey.store.testing.machine import ReopeningStoreMachine
from rowkey.store.testing.samples import ACCOUNT, fill, insert, int32, scan_page, write_one


class TestEmbeddedStore(StoreConformance):
    @pytest.fixture
    async def store(self, tmp_path: Path, clock: FixedClock) -> AsyncIterator[Store]:
        store = EmbeddedStore.open(tmp_path / "data", now=clock)
        yield CheckedStore(store)
        await store.close()


class TestReopenedStore(DurabilityConformance):
    @pytest.fixture
    def open_store(self, tmp_path: Path, clock: FixedClock) -> OpenStore:
        async def open_store() -> Store:
            return CheckedStore(EmbeddedStore.open(tmp_path / "data", now=clock))

        return open_store


class EmbeddedStoreMachine(ReopeningStoreMachine):
    async def open_store(self, folder: Path) -> Store:
        return CheckedStore(EmbeddedStore.open(folder / "data"))


TestEmbeddedStoreMachine = EmbeddedStoreMachine.TestCase
TestEmbeddedStoreMachine.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


async def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    """Two processes that write one database would each believe their own catalogue of tables."""
    store = EmbeddedStore.open(tmp_path)
    with pytest.raises(FolderError, match="in use"):
        EmbeddedStore.open(tmp_path)
    await store.close()
    await EmbeddedStore.open(tmp_path).close()


async def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(FolderError):
        EmbeddedStore.open(tmp_path / "data")


# ---------------------------------------------------------------- pages

ENTITIES = 5000
NOTHING = Comparison("A", "eq", int32(-1))


@pytest.fixture
async def filled(tmp_path: Path) -> AsyncIterator[tuple[Store, Table]]:
    """A store and a table with entities in partition `p` and a few in `q`."""
    store = EmbeddedStore.open(tmp_path / "data")
    table = await store.create_table(ACCOUNT, "things")
    await fill(store, table, "p", [f"{number:05}" for number in range(ENTITIES)], A=int32(1))
    await fill(store, table, "q", [f"{number:05}" for number in range(300)], A=int32(1))
    yield store, table
    await store.close()


async def test_a_page_says_how_many_entities_it_looked_at(filled: tuple[Store, Table]) -> None:
    store, table = filled
    assert (await scan_page(store, table, predicate=NOTHING)).looked_at == ENTITIES + 300
    ranges = [KeyRange(Key("p", "00100"), Key("p", "00300")), KeyRange(Key("q", ""), Key("q", "00100"))]
    assert (await scan_page(store, table, ranges, predicate=NOTHING)).looked_at == 300
    await write_one(store, table, insert("p", "03000a", A=int32(2)))
    page = await scan_page(store, table, limit=1, predicate=Comparison("A", "eq", int32(2)))
    assert (page.count, page.looked_at) == (1, 3002)


async def test_without_time_a_page_looks_at_few_entities(filled: tuple[Store, Table]) -> None:
    """Each of them may have 1 MiB, which takes SQLite a millisecond."""
    store, table = filled
    page = await scan_page(store, table, seconds_max=0.0, predicate=NOTHING)
    assert page.next_key is not None
    assert page.looked_at <= 128


async def test_chunks_are_as_large_as_they_are_quick(
    filled: tuple[Store, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, table = filled
    sizes: list[int] = []
    chunk_end = Candidates.chunk_end

    def record(candidates: Candidates, start: bytes, end: bytes, entities: int) -> bytes | None:
        sizes.append(entities)
        return chunk_end(candidates, start, end, entities)

    monkeypatch.setattr(Candidates, "chunk_end", record)
    for seconds, expected in ((1e9, [128, 512, 2048, 4096]), (0.0, [128, *[16] * 324])):
        monkeypatch.setattr(reader, "_CHUNK_SECONDS", seconds)
        assert (await scan_page(store, table, predicate=NOTHING)).looked_at == ENTITIES + 300
        assert sizes == expected
        sizes.clear()


async def test_long_pages_end_early_while_anybody_waits(
    filled: tuple[Store, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever it is: one who shares their address, or one who asks for the indexes."""
    monkeypatch.setattr(reader, "_TURN_SECONDS", 0.0)
    store, table = filled
    slow = Or(tuple(Comparison("A", "eq", int32(-number)) for number in range(1, 150)))
    assert (await scan_page(store, table, predicate=slow)).next_key is None
    for waiting in (scan_page(store, table, predicate=NOTHING), store.list_indexes(table)):
        scans = [asyncio.create_task(scan_page(store, table, predicate=slow)) for _ in range(2)]
        waiter = asyncio.ensure_future(waiting)
        pages = await asyncio.gather(*scans)
        assert any(page.next_key is not None for page in pages)
        await waiter


# ---------------------------------------------------------------- formats

FORMAT_1 = """
PRAGMA journal_mode = WAL;
PRAGMA application_id = 1380664665;
PRAGMA user_version = 1;
CREATE TABLE table_of_account (
    identity   INTEGER PRIMARY KEY AUTOINCREMENT,
    account    TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    lower_name TEXT    NOT NULL,
    created    INTEGER NOT NULL,
    is_deleted INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX table_by_name ON table_of_account (account, lower_name) WHERE NOT is_deleted;
CREATE TABLE entity (
    id        INTEGER PRIMARY KEY,
    key       BLOB    NOT NULL UNIQUE,
    timestamp INTEGER NOT NULL,
    body      BLOB    NOT NULL
);
INSERT INTO table_of_account (account, name, lower_name, created)
VALUES ('account', 'Things', 'things', 134168400000000000);
INSERT INTO entity (key, timestamp, body) VALUES (
    x'00000001700072', 134168400001234567,
    jsonb('{"odata.etag":"W/\\"datetime''2026-03-01T12%3A00%3A00.1234567Z''\\"","PartitionKey":"p","RowKey":"r",'
        || '"Timestamp":"2026-03-01T12:00:00.1234567Z","Total":12.5}')
);
"""
"""A folder as the first format left it: the schema word by word, a table, an entity."""


def make_database(folder: Path, sql: str) -> None:
    connection = apsw.Connection(str(folder / "rowkey.db"))
    connection.execute(sql).fetchall()
    connection.close()


def schema(folder: Path) -> list[str]:
    """What the database says of itself, without comments and white space."""
    connection = apsw.Connection(str(folder / "rowkey.db"), flags=apsw.SQLITE_OPEN_READONLY)
    texts = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").fetchall()
    connection.close()
    lines = [line.partition("--")[0] for (text,) in texts for line in str(text).splitlines()]
    return [" ".join(line.split()) for line in lines]


def version(folder: Path) -> int:
    connection = apsw.Connection(str(folder / "rowkey.db"), flags=apsw.SQLITE_OPEN_READONLY)
    number: int = connection.pragma("user_version")
    connection.close()
    return number


async def test_a_folder_of_the_first_format_is_upgraded_in_place(tmp_path: Path) -> None:
    make_database(tmp_path, FORMAT_1)
    store = EmbeddedStore.open(tmp_path)
    table = await store.find_table("account", "things")
    assert table is not None
    assert "12.5" in str(await store.get(table, Key("p", "r")))
    assert await store.get_policies(table) == ""
    await store.set_policies(table, "policies")
    await store.set_properties("account", {"Cors": "rules"})
    await store.close()

    assert version(tmp_path) == statements.FORMAT
    store = EmbeddedStore.open(tmp_path)
    assert await store.get_policies(table) == "policies"
    assert await store.get_properties("account") == {"Cors": "rules"}
    await store.close()


async def test_an_upgraded_database_is_as_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    make_database(tmp_path / "old", FORMAT_1)
    for name in ("old", "new"):
        await EmbeddedStore.open(tmp_path / name).close()
    assert schema(tmp_path / "old") == schema(tmp_path / "new")


async def test_an_upgrade_that_fails_leaves_the_old_format(tmp_path: Path) -> None:
    """Here another has made a table of that name; whatever the reason, the older version can still serve the folder."""
    make_database(tmp_path, f"{FORMAT_1}; CREATE TABLE service_properties (of_another INTEGER)")
    with pytest.raises(FolderError, match="service_properties"):
        EmbeddedStore.open(tmp_path)
    assert version(tmp_path) == 1
    assert not any("access_policies" in line for line in schema(tmp_path))


@pytest.mark.parametrize("form", [0, statements.FORMAT + 1])
async def test_an_unknown_format_is_refused_and_left_alone(tmp_path: Path, form: int) -> None:
    make_database(tmp_path, f"{FORMAT_1}; PRAGMA user_version = {form}")
    with pytest.raises(FolderError, match=f"has format {form}"):
        EmbeddedStore.open(tmp_path)
    assert version(tmp_path) == form
