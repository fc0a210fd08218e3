"""Everything is copied between a data folder and a database, and back, with the ETags that clients know."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.embedded.archive import FolderArchive
from rowkey.store.embedded.folder import FolderError
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.postgres.archive import DatabaseArchive
from rowkey.store.postgres.store import PostgresStore
from rowkey.store.testing.indexes import ready
from rowkey.store.testing.samples import (
    ACCOUNT,
    CONSTANTS,
    ODD_KEYS,
    delete,
    fill,
    insert,
    int32,
    member,
    replace,
    scan_pages,
    string,
    write_one,
)
from rowkey.store.transfer import ArchivedEntity, ArchivedTable, Contents, TransferError, copy
from tests.places import enlarge, small_disk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rowkey.store.interface import Store
    from tests.postgres import Postgres


async def fill_store(store: Store) -> None:
    """Tables of two accounts, one of them empty; keys and values of every kind; settings."""
    things = await store.create_table(ACCOUNT, "Things")
    for partition_key in ODD_KEYS[::4]:
        await fill(store, things, partition_key, ODD_KEYS, A=int32(1))
    properties = {f"P{number}": member(f"P{number}", constant) for number, constant in enumerate(CONSTANTS)}
    await store.write(things, [Write(Mode.SET, Key("values", ""), properties, Condition.ABSENT)])
    await store.set_policies(things, "<SignedIdentifiers />")
    await store.add_index(things, "A")
    await store.create_table("other", "empty")
    await store.set_properties(ACCOUNT, {"Cors": "rules"})
    await store.set_properties("other", {"Logging": "all"})


async def describe(store: Store) -> dict[str, Any]:
    """All that a store has, as clients see it."""
    described: dict[str, Any] = {}
    for account in (ACCOUNT, "other"):
        described[account] = dict(await store.get_properties(account))
        for table in await store.list_tables(account, "", 1000):
            pages = await scan_pages(store, table)
            described[f"{account}/{table.name}"] = (
                table.created,
                [page.text for page in pages],
                await store.get_policies(table),
                await ready(store, table),
            )
    return described


def unreported(_table: str, _entities: int) -> None:
    """Nobody wants to know."""


async def copy_between(source: Path | str, target: Path | str) -> dict[ArchivedTable, Contents]:
    """Copy from a folder or a database to another one."""
    old = await open_archive(source, is_new=False)
    new = await open_archive(target, is_new=True)
    try:
        return await copy(old, new, unreported)
    finally:
        await old.close()
        await new.close()


async def open_archive(place: Path | str, *, is_new: bool) -> FolderArchive | DatabaseArchive:
    """A database where the place is a URL."""
    if isinstance(place, str):
        return await DatabaseArchive.open(place)
    return FolderArchive.open(place, is_new=is_new)


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.new_database()


async def test_everything_comes_back_as_it_was(tmp_path: Path, url: str) -> None:
    store: Store = EmbeddedStore.open(tmp_path / "old")
    await fill_store(store)
    before = await describe(store)
    await store.close()

    copied = await copy_between(tmp_path / "old", url)
    assert sum(contents.entities for contents in copied.values()) == len(ODD_KEYS[::4]) * len(ODD_KEYS) + 1
    store = await PostgresStore.open(url)
    assert await describe(store) == before
    await store.close()

    assert await copy_between(url, tmp_path / "new") == copied
    store = EmbeddedStore.open(tmp_path / "new")
    assert await describe(store) == before
    await store.close()


async def test_a_copy_that_was_interrupted_goes_on(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = EmbeddedStore.open(tmp_path / "old")
    table = await store.create_table(ACCOUNT, "things")
    await fill(store, table, "p", [f"{number:04}" for number in range(3000)])
    await store.close()
    added: list[int] = []
    add = DatabaseArchive.add_entities

    async def add_some(archive: DatabaseArchive, table: ArchivedTable, entities: Sequence[ArchivedEntity]) -> None:
        if len(added) == 3:
            raise ConnectionResetError
        await add(archive, table, entities)
        added.append(len(entities))

    monkeypatch.setattr(DatabaseArchive, "add_entities", add_some)
    with pytest.raises(ConnectionResetError):
        await copy_between(tmp_path / "old", url)
    monkeypatch.undo()
    (contents,) = (await copy_between(tmp_path / "old", url)).values()
    assert (contents.entities, added) == (3000, [500, 500, 500])
    assert await copy_between(tmp_path / "old", url) == await copy_between(url, tmp_path / "new")


async def test_a_copy_that_had_no_room_goes_on_when_there_is_some(tmp_path: Path) -> None:
    """And needs no more than the data: the log is folded on the way."""
    store = EmbeddedStore.open(tmp_path / "old")
    table = await store.create_table(ACCOUNT, "things")
    for number in range(30):
        writes = [insert(f"{number:02}", f"{row:02}", Text=string("x" * 2500)) for row in range(100)]
        await store.write(table, writes)
    await store.close()
    with small_disk(tmp_path / "small", kib=6 * 1024) as disk:
        with pytest.raises(TransferError, match=r"new/rowkey.db cannot be written: its disk is full. Make room there"):
            await copy_between(tmp_path / "old", disk / "new")
        enlarge(disk, 16 * 1024)
        (contents,) = (await copy_between(tmp_path / "old", disk / "new")).values()
        assert contents.entities == 3000


async def test_the_folder_of_a_killed_server_can_be_served_after_it_was_copied(tmp_path: Path) -> None:
    """The log goes, and the mark of the log says so."""
    store = EmbeddedStore.open(tmp_path / "old")
    await write_one(store, await store.create_table(ACCOUNT, "things"), insert("p", "r"))
    shutil.copytree(tmp_path / "old", tmp_path / "killed")
    await store.close()
    await copy_between(tmp_path / "killed", tmp_path / "new")
    for name in ("killed", "new"):
        await EmbeddedStore.open(tmp_path / name).close()


async def test_what_was_changed_since_is_noticed(tmp_path: Path, url: str) -> None:
    store: Store = EmbeddedStore.open(tmp_path / "old")
    table = await store.create_table(ACCOUNT, "things")
    await fill(store, table, "p", ["1", "2", "3"])
    await store.close()
    await copy_between(tmp_path / "old", url)
    store = await PostgresStore.open(url)
    copied = await store.find_table(ACCOUNT, "things")
    assert copied is not None
    await store.write(copied, [replace("p", "2")])
    await store.close()
    with pytest.raises(TransferError, match="other texts"):
        await copy_between(tmp_path / "old", url)


async def test_a_table_of_the_same_name_is_left_alone(tmp_path: Path, url: str) -> None:
    for store in (EmbeddedStore.open(tmp_path / "old"), await PostgresStore.open(url)):
        await store.create_table(ACCOUNT, "things")
        await store.close()
    for source, target in ((tmp_path / "old", url), (url, tmp_path / "old")):
        with pytest.raises(TransferError, match="has a table account/things already"):
            await copy_between(source, target)


async def test_etags_go_on_growing_after_a_copy(tmp_path: Path, url: str) -> None:
    """Also where the old machine's clock was ahead: an entity that is deleted and inserted again is a later one."""
    ahead = 10_000_000 * 3600
    store: Store = EmbeddedStore.open(tmp_path / "old", now=lambda: 134_295_840_000_000_000 + ahead)
    table = await store.create_table(ACCOUNT, "things")
    old = await write_one(store, table, insert("p", "r"))
    await store.close()
    await copy_between(tmp_path / "old", url)
    await copy_between(url, tmp_path / "new")
    for place in (url, tmp_path / "new"):
        store = await PostgresStore.open(place) if isinstance(place, str) else EmbeddedStore.open(place)
        found = await store.find_table(ACCOUNT, "things")
        assert found is not None
        new = await write_one(store, found, replace("p", "r"))
        assert new.timestamp > old.timestamp
        await store.write(found, [delete("p", "r")])
        await store.close()


async def test_a_folder_in_use_is_not_copied(tmp_path: Path, url: str) -> None:
    store = EmbeddedStore.open(tmp_path / "old")
    with pytest.raises(FolderError, match="in use"):
        await copy_between(tmp_path / "old", url)
    await store.close()
    with pytest.raises(FolderError, match="is not a folder"):
        await asyncio.create_task(copy_between(tmp_path / "missing", url))
