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

from rowkey.cli import main
from rowkey.model.entity import Key
from rowkey.odata.parser import parse_filter
from rowkey.store.checked import split_page
from rowkey.store.embedded import database
from rowkey.store.embedded.folder import DATABASE_NAME, DataFolder, FolderError
from rowkey.store.embedded.mark import log_of
from rowkey.store.embedded.salvage import salvage
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import StoreDamaged, StoreUnavailable, Table
from rowkey.store.testing.samples import delete, insert, int32, scan_pages, string
from tests.conftest import DEVELOPMENT_ACCOUNT
from tests.torture.effort import SEED, rounds
from tests.torture.socket_client import TABLE, SocketStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rowkey.store.interface import Store
    from tests.conftest import ServerProcess

MUTANTS = rounds(40, 500)
PAGE = 4096
LOG_HEADER, FRAME = 32, 24 + PAGE
KEYS = [Key(f"p{number % 3}", f"{number:04}") for number in range(260)]
"""Some are deleted again."""
FILTERS = ["N ge 0", "N eq 77", "Text eq 'nobody'"]


# ---------------------------------------------------------------- the originals


async def make_original(folder: Path, *, is_clean: bool) -> dict[str, object]:
    """A folder as a server leaves it, stopped or killed; returns all answers, and everything that was ever stored."""
    stored: dict[str, str] = {}
    store = EmbeddedStore.open(folder / "running")
    table = await store.create_table("account", "Things")
    for number, key in enumerate(KEYS):
        text = string(f"{number} " * (5, 100, 3000)[(number % 11 == 0 and 2) or number % 2])
        (entity,) = await store.write(table, [insert(*key, N=int32(number), Text=text)])
        assert entity is not None
        stored[str(key)] = entity.text
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
    return {**answers, "stored": stored}


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
    losses, stored = recovered["losses"], wanted["stored"]
    assert isinstance(stored, dict)
    missing = 0
    for question, answer in answers_of_keys(recovered).items():
        assert answer in ("none", stored[question])
        if answer == "none" and wanted[question] != "none":
            missing += 1
        elif not losses:
            assert answer == wanted[question]
    assert not missing or losses
    return sum(answer != "none" for answer in answers_of_keys(recovered).values())


def zero_frames(log: bytearray, first: int, count: int) -> None:
    """Some frames of a log; -1 is its header."""
    start, end = (max(0, LOG_HEADER + FRAME * number) for number in (first, first + count))
    log[start:end] = bytes(end - start)


@pytest.mark.parametrize(
    ("damage", "lost_max"),
    [
        (lambda log: flip(log, 20), 0),
        (lambda log: flip(log, 200, 201, 300, 400), 8),
        (lambda log: zero_frames(log, -1, 1), 0),
        (lambda log: zero_frames(log, -1, 3), 0),
        (lambda log: zero_frames(log, 300, 10), 10),
    ],
    ids=["one byte", "four bytes", "header", "header and frames", "frames"],
)
def test_what_stands_behind_damage_in_the_log_of_a_killed_server_is_salvaged(
    own_server_with: Callable[..., ServerProcess],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[bytearray], object],
    lost_max: int,
) -> None:
    """Each entity is one that was stored: SQLite's log ends at the first frame that is wrong, and we go on."""
    process = own_server_with()
    stored = asyncio.run(insert_and_kill(process))
    killed, new = tmp_path / "killed", tmp_path / "new"
    shutil.copytree(tmp_path / "data", killed)
    process.start()
    log = bytearray(log_of(killed / DATABASE_NAME).read_bytes())
    damage(log)
    log_of(killed / DATABASE_NAME).write_bytes(log)
    assert main(["check", str(killed)]) == 3
    assert main(["salvage", str(killed), str(new)]) == 3
    assert "what was deleted may have come back" in capsys.readouterr().out
    assert log_of(killed / DATABASE_NAME).read_bytes() == log
    assert main(["check", str(new)]) == 0
    texts = asyncio.run(read_all(new))
    assert texts <= stored
    assert len(stored) - len(texts) <= lost_max


async def insert_and_kill(process: ServerProcess) -> set[str]:
    """The texts of the entities that a server confirmed before it was killed."""
    client = SocketStore(process.server)
    await client.create_table()
    for number in range(300):
        await client.write(Table("", TABLE, 0, 0), [insert("p", f"{number:04}", Text=string("x" * 500))])
    texts = {text for page in await client.pages() for text in split_page(page)}
    process.kill()
    await client.close()
    assert len(texts) == 300
    return texts


async def read_all(folder: Path) -> set[str]:
    """The texts of all entities of a folder's only table."""
    store = EmbeddedStore.open(folder)
    try:
        (table,) = await store.list_tables(DEVELOPMENT_ACCOUNT, "", 10)
        assert table.name == TABLE
        return {text for page in await scan_pages(store, table) for text in split_page(page.text)}
    finally:
        await store.close()


def flip(log: bytearray, *frames: int) -> None:
    """One bit within the page of each of these frames."""
    for frame in frames:
        log[LOG_HEADER + FRAME * frame + 1000] ^= 1


async def test_a_table_whose_deletion_is_in_doubt_does_not_have_its_name_taken(tmp_path: Path) -> None:
    """Of two tables with one name the older was deleted, although the page that said so may be lost."""
    store = EmbeddedStore.open(tmp_path / "running")
    for number in range(3):
        table = await store.create_table("account", "Things")
        await store.write(table, [insert("p", f"{number}", N=int32(number))])
        if number < 2:
            await store.delete_table("account", "Things")
    shutil.copytree(tmp_path / "running", tmp_path / "original")
    await store.close()
    frames = (log_of(tmp_path / "original" / DATABASE_NAME).stat().st_size - LOG_HEADER) // FRAME
    for first in range(frames):
        mutant, new = tmp_path / f"{first}", tmp_path / "new"
        shutil.copytree(tmp_path / "original", mutant)
        log = bytearray(log_of(mutant / DATABASE_NAME).read_bytes())
        zero_frames(log, first, 3)
        log_of(mutant / DATABASE_NAME).write_bytes(log)
        await salvage_and_read(mutant, new)


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
