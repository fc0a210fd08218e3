"""A data folder that is not as a server needs it: on a full disk, without the rights to it, with a name of no use."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rowkey.model.entity import Key
from rowkey.store.embedded.folder import LOCK_NAME, FolderError
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import StoreUnavailable
from rowkey.store.testing.samples import insert
from tests.places import leave_no_room, small_disk, without_privileges

if TYPE_CHECKING:
    from collections.abc import Iterator


async def fill(folder: Path, killed: Path) -> None:
    """Keep an entity in one folder, and leave in another what a killed server would."""
    store = EmbeddedStore.open(folder)
    table = await store.create_table("account", "Things")
    await store.write(table, [insert("p", "r")])
    shutil.copytree(folder, killed)
    await store.close()


async def test_a_killed_server_starts_on_a_disk_that_is_full_by_now(tmp_path: Path) -> None:
    """All that it needs is there, so it reads; writes are for when there is room, and so is its process id."""
    with small_disk(tmp_path / "small", kib=2048) as disk:
        await fill(tmp_path / "stopped", disk / "killed")
        os.truncate(disk / "killed" / LOCK_NAME, 0)
        ballast = leave_no_room(disk)
        store = EmbeddedStore.open(disk / "killed")
        table = await store.find_table("account", "Things")
        assert table is not None
        assert await store.get(table, Key("p", "r")) is not None
        with pytest.raises(StoreUnavailable):
            await store.write(table, [insert("p", "refused")])
        assert await store.ask_for_trouble() == "the disk is full, so the store takes no writes"
        ballast.unlink()
        await store.write(table, [insert("p", "taken")])
        await store.close()


async def test_where_a_full_disk_has_no_room_to_start_it_is_said(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", kib=2048) as disk:
        await fill(disk / "stopped", tmp_path / "killed")
        ballast = leave_no_room(disk)
        for name, missing in (("stopped", "no room for rowkey.db-shm"), ("new", "FullError")):
            with pytest.raises(FolderError, match=rf"{name}/rowkey.db cannot be opened: .*{missing}.* disk is full"):
                EmbeddedStore.open(disk / name)
        ballast.unlink()
        for name in ("stopped", "new"):
            await EmbeddedStore.open(disk / name).close()


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in one that everybody may enter."""
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_what_a_server_may_not_write_is_named(place: Path) -> None:
    """Before it begins to serve, and refuses every write."""
    asyncio.run(fill(place / "stopped", place / "killed"))
    files = (LOCK_NAME, "rowkey.db", "rowkey.mark", "rowkey.db-wal", "rowkey.db-shm")
    with without_privileges(place):
        for file, mode in ((place / "killed" / file, mode) for file in files for mode in (0o400, 0)):
            file.chmod(mode)
            with pytest.raises(FolderError, match=rf"^{file} cannot be written: Permission denied\. Give this user"):
                asyncio.run(fill(place / "killed", place / "other"))
            file.chmod(0o600)
        (place / "killed").chmod(0o500)
        with pytest.raises(FolderError, match=r"killed cannot be written: Permission denied\. Give this user"):
            asyncio.run(fill(place / "killed", place / "other"))
        (place / "killed").chmod(0o700)
        place.chmod(0o500)
        with pytest.raises(FolderError, match=r"new cannot be written: Permission denied\. Give this user"):
            asyncio.run(fill(place / "new", place / "other"))
        place.chmod(0o700)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are bytes on Linux")
def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match=r"b\\xff' is not UTF-8"):
        EmbeddedStore.open(tmp_path / os.fsdecode(b"b\xff"))
    assert not list(tmp_path.iterdir())
