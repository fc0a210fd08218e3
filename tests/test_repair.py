"""`rowkey check`, `rowkey salvage` and `rowkey backup`; how they fare with all kinds of damage: tests/torture."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rowkey.cli import main
from rowkey.model.entity import Key
from rowkey.store.embedded.folder import DATABASE_NAME
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.testing.samples import delete, insert, int32, string

if TYPE_CHECKING:
    from pathlib import Path

PAGE = 4096


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with a table of entities, some of them large, an index, and settings."""

    async def fill() -> None:
        store = EmbeddedStore.open(tmp_path / "data")
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
    return tmp_path / "data"


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


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["check", "nowhere"], "nowhere is not a folder"),
        (["salvage", "nowhere", "new"], "nowhere is not a folder"),
        (["backup", "nowhere", "file"], "does not exist"),
    ],
)
def test_what_cannot_be_done_is_said(
    command: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(command) == 1
    assert message in capsys.readouterr().err


def test_salvage_does_not_write_over_a_database(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["salvage", str(folder), str(folder.with_name("new"))]) == 0
    assert main(["salvage", str(folder), str(folder.with_name("new"))]) == 1
    assert "has a database already" in capsys.readouterr().err


async def test_a_folder_in_use_is_not_looked_at(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = EmbeddedStore.open(folder)
    assert main(["check", str(folder)]) == 1
    assert "in use" in capsys.readouterr().err
    await store.close()
