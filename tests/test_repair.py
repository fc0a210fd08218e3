"""`rowkey check`, `rowkey salvage` and `rowkey backup`; how they fare with all kinds of damage: tests/torture."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from rowkey.cli import main
from rowkey.model.entity import Key
from rowkey.repair import FAILURE_EXIT_CODE
from rowkey.store.embedded.checksums import load_page_checksums
from rowkey.store.embedded.folder import DATABASE_NAME, LOCK_NAME, DataFolder
from rowkey.store.embedded.mark import MARK_NAME, log_of
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.testing.samples import delete, insert, int32, string
from tests.places import enlarge, leave_no_room, small_disk, without_privileges

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = 4096


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """One that hides nothing, so that what is private was made so; the commands change it."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def folder(tmp_path: Path, filled: Path) -> Path:
    """A data folder with a table of entities, some of them large, an index, and settings."""
    return shutil.copytree(filled, tmp_path / "data")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What tests have a copy of."""
    path = tmp_path_factory.mktemp("filled") / "data"

    async def fill() -> None:
        store = EmbeddedStore.open(path)
        table = await store.create_table("account", "Things")
        for number in range(100):
            text = string("x" * (9000 if number % 5 == 0 else 100))
            await store.write(table, [insert("p", f"{number:03}", N=int32(number), Text=text)])
        await store.write(table, [delete("p", "050")])
        await store.add_index(table, "N")
        await store.set_policies(table, "policies")
        await store.set_properties("account", {"Cors": "rules"})
        await store.close()

    asyncio.run(fill())
    return path


def read(folder: Path) -> tuple[list[str | None], str]:
    """The entities of the table, and its policies."""

    async def ask() -> tuple[list[str | None], str]:
        store = EmbeddedStore.open(folder)
        table = await store.find_table("account", "Things")
        assert table is not None
        texts = [await store.get(table, Key("p", f"{number:03}")) for number in range(100)]
        policies = await store.get_policies(table)
        assert await store.get_properties("account") == {"Cors": "rules"}
        assert [index.name for index in await store.list_indexes(table)] == ["N"]
        await store.close()
        return texts, policies

    return asyncio.run(ask())


def damage(folder: Path) -> None:
    """Flip a bit of the last entity's text."""
    data = bytearray((folder / DATABASE_NAME).read_bytes())
    data[data.rindex(b"x" * 90) + 10] ^= 1
    (folder / DATABASE_NAME).write_bytes(data)


def test_a_folder_that_is_sound(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder / DATABASE_NAME} is sound.\n"


def test_damage_is_found_and_nothing_is_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(folder)
    before = (folder / DATABASE_NAME).read_bytes()
    assert main(["check", str(folder)]) == 3
    assert "is not as it was written" in capsys.readouterr().out
    assert (folder / DATABASE_NAME).read_bytes() == before


def test_salvage_brings_everything_that_is_intact(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted, policies = read(folder)
    damage(folder)
    new = folder.with_name("new")
    assert main(["salvage", str(folder), str(new)]) == 3
    assert f"{new} has 1 tables with 98 entities." in capsys.readouterr().out
    assert main(["check", str(new)]) == 0
    texts, new_policies = read(new)
    assert new_policies == policies
    assert {text for text in texts if text} < {text for text in wanted if text}


def test_salvage_of_a_sound_folder_is_a_copy(folder: Path) -> None:
    wanted = read(folder)
    assert main(["salvage", str(folder), str(folder.with_name("new"))]) == 0
    assert read(folder.with_name("new")) == wanted


def test_a_backup_is_a_folder_that_is_sound(folder: Path) -> None:
    wanted = read(folder)
    restored = folder.with_name("restored")
    restored.mkdir()
    assert main(["backup", str(folder), str(restored / DATABASE_NAME)]) == 0
    assert main(["check", str(restored)]) == 0
    assert read(restored) == wanted


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_copies_are_private(folder: Path) -> None:
    """They have all that the folder has."""
    backup, new = folder.with_name("backup.db"), folder.with_name("new")
    assert main(["backup", str(folder), str(backup)]) == 0
    assert main(["salvage", str(folder), str(new)]) == 0
    made = [backup, new, *new.iterdir()]
    assert not [path for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077]


@pytest.mark.parametrize("command", [["check"], ["salvage", "new"], ["backup", "file"]], ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere", "nowhere is not a folder"),
        ("file", "file is not a folder"),
        ("bare", "no rowkey.db in bare"),
        ("begun", "rowkey.db in begun is empty"),
    ],
)
def test_where_no_server_has_kept_data_there_is_nothing_to_do(
    command: list[str],
    place: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And nothing is left behind there."""
    monkeypatch.chdir(tmp_path)
    for name in ("bare", "begun"):
        (tmp_path / name).mkdir()
    for name in ("file", f"begun/{DATABASE_NAME}"):
        (tmp_path / name).touch()
    before = sorted(tmp_path.rglob("*"))
    action, *more = command
    assert main([action, place, *more]) == 1
    output, errors = capsys.readouterr()
    assert output == ""
    assert message in errors
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("command", [["check"], ["backup", "file"]], ids=lambda words: words[0])
def test_the_database_of_another_program_is_not_called_damaged(
    command: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    connection = sqlite3.connect(tmp_path / "other" / DATABASE_NAME)
    connection.execute("CREATE TABLE things (name)")
    connection.close()
    action, *more = command
    assert main([action, "other", *more]) == 1
    assert "is not a Rowkey database" in capsys.readouterr().err
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_a_database_that_was_cut_to_nothing_is_damage(
    folder: Path, capsys: pytest.CaptureFixture[str], is_there: bool
) -> None:
    """The mark of the log tells that there was one."""
    (folder / DATABASE_NAME).unlink()
    if is_there:
        (folder / DATABASE_NAME).touch()
    assert main(["check", str(folder)]) == 3
    assert f"is missing or empty, although {MARK_NAME} of it is here" in capsys.readouterr().out
    assert main(["salvage", str(folder), str(folder.with_name("new"))]) == 3
    assert "lost: the list of tables" in capsys.readouterr().out


@pytest.mark.parametrize("is_there", [True, False])
def test_a_log_without_its_database_is_salvaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_there: bool
) -> None:
    """All that a young server has is in the log; SQLite would remove it beside a database that is empty."""

    async def fill() -> None:
        store = EmbeddedStore.open(tmp_path / "running")
        table = await store.create_table("account", "Things")
        await store.write(table, [insert("p", f"{number:03}", N=int32(number)) for number in range(100)])
        await store.add_index(table, "N")
        await store.set_policies(table, "policies")
        await store.set_properties("account", {"Cors": "rules"})
        shutil.copytree(tmp_path / "running", tmp_path / "killed")
        await store.close()

    asyncio.run(fill())
    killed, new = tmp_path / "killed", tmp_path / "new"
    (killed / DATABASE_NAME).unlink()
    if is_there:
        (killed / DATABASE_NAME).touch()
    log = log_of(killed / DATABASE_NAME).read_bytes()
    assert main(["check", str(killed)]) == 3
    assert f"rowkey salvage {killed}" in capsys.readouterr().out
    assert main(["salvage", str(killed), str(new)]) == 0
    assert capsys.readouterr().out == f"{new} has 1 tables with 100 entities.\n"
    assert log_of(killed / DATABASE_NAME).read_bytes() == log
    assert read(new) == read(tmp_path / "running")


def test_a_file_that_is_no_database_is_damaged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / DATABASE_NAME).write_bytes(b"x" * PAGE)
    assert main(["check", str(folder)]) == 3
    assert "NotADBError" in capsys.readouterr().out


def test_a_folder_is_not_salvaged_into_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["salvage", str(folder), str(folder / ".." / folder.name)]) == 1
    assert "cannot be salvaged into itself" in capsys.readouterr().err


def test_salvage_does_not_write_over_a_database(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["salvage", str(folder), str(folder.with_name("new"))]) == 0
    assert main(["salvage", str(folder), str(folder.with_name("new"))]) == 1
    assert "has a database already" in capsys.readouterr().err


async def test_a_folder_in_use_is_not_looked_at(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = EmbeddedStore.open(folder)
    assert main(["check", str(folder)]) == 1
    assert "in use" in capsys.readouterr().err
    await store.close()


@pytest.mark.parametrize("command", [["check"], ["salvage", "new"], ["backup", "file"]], ids=lambda words: words[0])
def test_a_newer_format_is_left_to_newer_versions(
    folder: Path, command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have what this version would not even miss."""
    monkeypatch.chdir(folder.parent)
    load_page_checksums()
    connection = apsw.Connection(str(folder / DATABASE_NAME))
    connection.execute("CREATE TABLE news (id); PRAGMA user_version = 99")
    connection.close()
    action, *more = command
    assert main([action, str(folder), *more]) == FAILURE_EXIT_CODE
    assert "has format 99, and this version of Rowkey reads" in capsys.readouterr().err
    assert not (folder.parent / "file").exists()
    assert not list(folder.parent.glob(f"new/{DATABASE_NAME}*"))


# ---------------------------------------------------------------- disks that are full


def test_a_copy_that_has_no_room_leaves_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing to be taken for a copy, and nothing in the way of the next try."""
    wanted = read(folder)
    with small_disk(tmp_path / "small", kib=200) as disk:
        assert main(["backup", str(folder), str(disk / "backup.db")]) == FAILURE_EXIT_CODE
        assert f"backup.db was not made: the disk of {disk} is full" in capsys.readouterr().err
        assert not list(disk.iterdir())
        assert main(["salvage", str(folder), str(disk / "new")]) == FAILURE_EXIT_CODE
        assert "new was not filled: its disk is full" in capsys.readouterr().err
        assert [path.name for path in (disk / "new").iterdir()] == [LOCK_NAME]
        enlarge(disk, 4096)
        assert main(["salvage", str(folder), str(disk / "new")]) == 0
        assert main(["backup", str(folder), str(disk / "backup.db")]) == 0
        assert sorted(path.name for path in disk.iterdir()) == ["backup.db", "new"]
        assert read(disk / "new") == wanted


def test_a_folder_on_a_full_disk_is_looked_at_and_copied(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = read(folder)
    with small_disk(tmp_path / "small", kib=1024) as disk:
        shutil.copytree(folder, disk / "data")
        leave_no_room(disk)
        assert main(["check", str(disk / "data")]) == 0
        assert main(["backup", str(disk / "data"), str(tmp_path / "backup.db")]) == 0
        assert main(["salvage", str(disk / "data"), str(tmp_path / "new")]) == 0
        assert "lost" not in capsys.readouterr().out
        assert read(tmp_path / "new") == wanted


# ---------------------------------------------------------------- rights and names


@pytest.fixture
def open_folder(folder: Path) -> Iterator[Path]:
    """The folder, moved to where everybody may go."""
    with tempfile.TemporaryDirectory() as place:
        shutil.move(folder, place)
        with without_privileges(Path(place)):
            yield Path(place) / folder.name


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
@pytest.mark.parametrize("command", [["check"], ["salvage", "new"], ["backup", "file"]], ids=lambda words: words[0])
@pytest.mark.parametrize("barred", [".", DATABASE_NAME])
def test_the_folder_of_somebody_else_is_for_them(
    open_folder: Path, barred: str, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (open_folder / barred).chmod(0)
    action, *more = command
    assert main([action, str(open_folder), *more]) == FAILURE_EXIT_CODE
    message = f"{DATABASE_NAME} cannot be read: Permission denied. Run it as the user who runs the server.\n"
    assert capsys.readouterr().err.endswith(message)
    (open_folder / barred).chmod(0o700)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_a_folder_that_can_only_be_read_is_backed_up(open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As long as no server can begin to write it meanwhile."""
    file = open_folder.with_name("backup.db")
    owner = DataFolder(open_folder)
    open_folder.chmod(0o500)
    assert main(["backup", str(open_folder), str(file)]) == FAILURE_EXIT_CODE
    assert "is in use" in capsys.readouterr().err
    owner.release()
    assert main(["backup", str(open_folder), str(file)]) == 0
    open_folder.chmod(0o700)
    file.replace(open_folder / DATABASE_NAME)
    assert main(["check", str(open_folder)]) == 0


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are bytes on Linux")
def test_names_that_are_not_utf8_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    odd = os.fsdecode(b"b\xff")
    for arguments in (["backup", "data", odd], ["salvage", "data", odd]):
        assert main(arguments) == FAILURE_EXIT_CODE
    folder.rename(odd)
    for arguments in (["backup", odd, "file"], ["salvage", odd, "new"], ["check", odd]):
        assert main(arguments) == FAILURE_EXIT_CODE
    assert capsys.readouterr().err.count("is not UTF-8") == 5
