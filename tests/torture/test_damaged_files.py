"""Data files with damage: no answer is wrong, and what is intact can be salvaged.

A mutant is a folder in which bits were flipped, sectors zeroed, pages swapped or files cut. Opening it may be refused
with a message that names the file; else every answer must be the one that the original gives, or an error.
"""

from __future__ import annotations

import asyncio
import random
import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from rowkey.model.entity import Key
from rowkey.odata.parser import parse_filter
from rowkey.store.checked import split_page
from rowkey.store.embedded import database
from rowkey.store.embedded.folder import DATABASE_NAME, DataFolder, FolderError
from rowkey.store.embedded.mark import log_of
from rowkey.store.embedded.salvage import salvage
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import StoreDamaged, StoreUnavailable
from rowkey.store.testing.samples import delete, insert, int32, scan_pages, string
from tests.torture.effort import SEED, rounds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rowkey.store.interface import Store

MUTANTS = rounds(40, 500)
PAGE = 4096
KEYS = [Key(f"p{number % 3}", f"{number:04}") for number in range(260)]
"""Some are deleted again."""
FILTERS = ["N ge 0", "N eq 77", "Text eq 'nobody'"]


# ---------------------------------------------------------------- the originals


async def make_original(folder: Path, *, is_clean: bool) -> dict[str, object]:
    """A folder as a server leaves it, stopped or killed; returns all answers."""
    store = EmbeddedStore.open(folder / "running")
    table = await store.create_table("account", "Things")
    for number, key in enumerate(KEYS):
        text = string(f"{number} " * (5, 100, 3000)[(number % 11 == 0 and 2) or number % 2])
        await store.write(table, [insert(*key, N=int32(number), Text=text)])
    for key in KEYS[::7]:
        await store.write(table, [delete(*key)])
    await store.set_policies(table, "policies")
    if is_clean:
        await store.close()
        shutil.copytree(folder / "running", folder / "original")
    else:
        shutil.copytree(folder / "running", folder / "original")
        await store.close()
    shutil.rmtree(folder / "running")
    shutil.copytree(folder / "original", folder / "read")
    store = EmbeddedStore.open(folder / "read")
    answers = await read_answers(store)
    await store.close()
    return answers


async def read_answers(store: Store) -> dict[str, object]:
    """Everything that can be asked, and its answer; an error that says so is None."""
    answers: dict[str, object] = {}
    table = await store.find_table("account", "Things")
    answers["table"] = table
    if table is None:
        return answers
    answers["policies"] = await store.get_policies(table)
    for key in KEYS:
        try:
            answers[str(key)] = await store.get(table, key) or "none"
        except (StoreDamaged, StoreUnavailable):
            answers[str(key)] = None
    for text in ["", *FILTERS]:
        try:
            pages = await scan_pages(store, table, predicate=parse_filter(text) if text else None)
            answers[text] = [entity for page in pages for entity in split_page(page.text)]
        except (StoreDamaged, StoreUnavailable):
            answers[text] = None
    return answers


# ---------------------------------------------------------------- the damage


def flip_bits(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 1, 3, 20])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def zero_sectors(data: bytearray, chance: random.Random) -> None:
    size = chance.choice([512, 512, PAGE, 4 * PAGE])
    start = chance.randrange(len(data)) // size * size
    data[start : start + size] = bytes(len(data[start : start + size]))


def scribble(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    end = min(len(data), start + chance.choice([4, 100, 5000]))
    data[start:end] = chance.randbytes(end - start)


def cut(data: bytearray, chance: random.Random) -> None:
    size = chance.randrange(len(data))
    del data[size // PAGE * PAGE if chance.random() < 0.5 else size :]


def swap_pages(data: bytearray, chance: random.Random) -> None:
    one, other = (chance.randrange(len(data) // PAGE) * PAGE for _ in range(2))
    data[one : one + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[one : one + PAGE]


DAMAGES: list[Callable[[bytearray, random.Random], None]] = [flip_bits, zero_sectors, scribble, cut, swap_pages]


@pytest.mark.parametrize("is_clean", [True, False], ids=["stopped", "killed"])
def test_no_answer_from_a_damaged_file_is_wrong(tmp_path: Path, is_clean: bool) -> None:
    wanted = asyncio.run(make_original(tmp_path, is_clean=is_clean))
    fates: Counter[str] = Counter()
    for number in range(MUTANTS):
        chance = random.Random(SEED * 100_000 + number)
        damage = chance.choice(DAMAGES)
        name = DATABASE_NAME if is_clean or chance.random() < 0.3 else DATABASE_NAME + "-wal"
        mutant = make_mutant(tmp_path, name, damage, chance)
        fate, wrong = asyncio.run(look_at(mutant, wanted))
        assert not wrong, f"mutant {number} of seed {SEED}, {damage.__name__} of {name}: {wrong[:3]}"
        fates[fate] += 1
        if number % 5 == 0:
            recovered = asyncio.run(salvage_and_read(mutant, tmp_path / "new"))
            fates["salvaged entities"] += verify_salvaged(recovered, wanted)
            fates["entities to salvage"] += sum(answer != "none" for answer in answers_of_keys(wanted).values())
        shutil.rmtree(mutant)
    print(f"{MUTANTS} mutants of a {'stopped' if is_clean else 'killed'} server's folder: {dict(fates)}")
    assert fates["refused"]


def test_checksums_of_pages_suffice_where_pages_are_in_their_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with files that are too large to be checked at open; zeros and swaps are what checksums do not see."""
    monkeypatch.setattr(database, "CHECKED_AT_OPEN_BYTES_MAX", 0)
    wanted = asyncio.run(make_original(tmp_path, is_clean=True))
    fates: Counter[str] = Counter()
    for number in range(MUTANTS):
        chance = random.Random(SEED * 100_000 + number)
        mutant = make_mutant(tmp_path, DATABASE_NAME, chance.choice([flip_bits, scribble, cut]), chance)
        fate, wrong = asyncio.run(look_at(mutant, wanted))
        assert not wrong, f"mutant {number} of seed {SEED}: {wrong[:3]}"
        fates[fate] += 1
        shutil.rmtree(mutant)
    print(f"{MUTANTS} mutants without the check at open: {dict(fates)}")
    assert fates["answered in part"]


def make_mutant(
    place: Path, name: str, damage: Callable[[bytearray, random.Random], None], chance: random.Random
) -> Path:
    mutant = place / "mutant"
    shutil.copytree(place / "original", mutant)
    data = bytearray((mutant / name).read_bytes())
    damage(data, chance)
    (mutant / name).write_bytes(data)
    return mutant


async def look_at(mutant: Path, wanted: dict[str, object]) -> tuple[str, list[str]]:
    """What becomes of a mutant, and the answers that are wrong. It is looked at in a copy, and stays as it is."""
    place = mutant.with_name("opened")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(mutant, place)
    try:
        store = EmbeddedStore.open(place)
    except FolderError as error:
        return "refused", [] if DATABASE_NAME in str(error) else [f"a message that does not name the file: {error}"]
    try:
        answers = await read_answers(store)
    finally:
        await store.close()
    wrong = [
        f"{question}: {answer!r:.80} instead of {wanted[question]!r:.80}"
        for question, answer in answers.items()
        if answer not in (None, wanted[question]) or (answer is None and question == "table")
    ]
    return "answered in part" if None in answers.values() else "answered in full", wrong


# ---------------------------------------------------------------- salvage


async def salvage_and_read(mutant: Path, new: Path) -> dict[str, object]:
    """What a server answers after a salvage, and whether anything was said to be lost."""
    shutil.rmtree(new, ignore_errors=True)
    folders = DataFolder(mutant), DataFolder(new)
    try:
        outcome = salvage(*folders)
    finally:
        for folder in folders:
            folder.release()
    store = EmbeddedStore.open(new)
    names = [table.name for table in await store.list_tables("account", "", 1000)]
    answers: dict[str, object] = {}
    table = await store.find_table("account", names[0]) if names else None
    for key in KEYS:
        answers[str(key)] = "none" if table is None else await store.get(table, key) or "none"
    await store.close()
    assert outcome.losses or answers_of_keys(answers) != {}
    answers["losses"] = outcome.losses
    return answers


def answers_of_keys(answers: dict[str, object]) -> dict[str, object]:
    return {str(key): answers[str(key)] for key in KEYS}


def verify_salvaged(recovered: dict[str, object], wanted: dict[str, object]) -> int:
    """Nothing is invented or altered, and what is missing was said to be; how many entities are there."""
    losses = recovered["losses"]
    missing = 0
    for question, answer in answers_of_keys(recovered).items():
        if answer == "none" and wanted[question] != "none":
            missing += 1
        elif not losses:
            assert answer == wanted[question]
    assert not missing or losses
    return sum(answer != "none" for answer in answers_of_keys(recovered).values())


async def test_a_log_that_is_gone_is_noticed(tmp_path: Path) -> None:
    await make_original(tmp_path, is_clean=False)
    log_of(tmp_path / "original" / DATABASE_NAME).unlink()
    with pytest.raises(FolderError, match="confirmed writes"):
        EmbeddedStore.open(tmp_path / "original")


async def test_a_database_that_is_gone_is_noticed(tmp_path: Path) -> None:
    """SQLite would begin a new one, and a client would find an empty account."""
    await make_original(tmp_path, is_clean=True)
    (tmp_path / "original" / DATABASE_NAME).unlink()
    with pytest.raises(FolderError, match="is missing or empty"):
        EmbeddedStore.open(tmp_path / "original")
