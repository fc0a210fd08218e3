"""The files of the request log: names, modes, batches, and what happens when the disk does not follow."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from rowkey.observe import request_log
from rowkey.observe.request_log import RequestLog
from tests.observe.samples import DAY, HOUR, NOON

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HOUR_FOLDER = "logs/sally/table/2026/03/01/1200"


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[RequestLog]:
    log = RequestLog(tmp_path)
    yield log
    await log.close()


def files_of(folder: Path) -> dict[str, str]:
    """The files below a folder and what is in them."""
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()
    }


async def test_lines_go_to_the_hour_in_which_the_request_ended(log: RequestLog, tmp_path: Path) -> None:
    """With the names that the blobs of `$logs` have, in a folder for each account."""
    log.add("sally", NOON + HOUR - 1, "before\n")
    log.add("sally", NOON + HOUR, "after\n")
    log.add("bob", NOON, "other\n")
    await log.flush()
    assert files_of(tmp_path) == {
        "logs/sally/table/2026/03/01/1200/000000.log": "before\n",
        "logs/sally/table/2026/03/01/1300/000000.log": "after\n",
        "logs/bob/table/2026/03/01/1200/000000.log": "other\n",
    }


async def test_nothing_is_made_before_there_is_a_line(log: RequestLog, tmp_path: Path) -> None:
    await log.flush()
    assert files_of(tmp_path) == {}


async def test_lines_are_appended(log: RequestLog, tmp_path: Path) -> None:
    for number in range(3):
        log.add("sally", NOON, f"{number}\n")
        await log.flush()
    assert files_of(tmp_path) == {f"{HOUR_FOLDER}/000000.log": "0\n1\n2\n"}


async def test_each_process_begins_a_file(log: RequestLog, tmp_path: Path) -> None:
    """The last line of a file may be one that a crash cut off."""
    log.add("sally", NOON, "first\n")
    await log.flush()
    second = RequestLog(tmp_path)
    second.add("sally", NOON, "second\n")
    await second.close()
    log.add("sally", NOON, "third\n")
    await log.flush()
    assert files_of(tmp_path / HOUR_FOLDER) == {
        "000000.log": "first\nthird\n",
        "000001.log": "second\n",
    }


async def test_a_large_file_is_followed_by_another(
    log: RequestLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "FILE_BYTES_MAX", 10)
    for _ in range(3):
        log.add("sally", NOON, "12345\n")
        await log.flush()
    assert len(files_of(tmp_path)) == 3


async def test_a_file_that_somebody_removed_is_followed_by_another(log: RequestLog, tmp_path: Path) -> None:
    log.add("sally", NOON, "first\n")
    await log.flush()
    (tmp_path / HOUR_FOLDER / "000000.log").unlink()
    log.add("sally", NOON, "second\n")
    await log.flush()
    assert list(files_of(tmp_path).values()) == ["second\n"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
async def test_only_the_owner_may_read(log: RequestLog, tmp_path: Path) -> None:
    log.add("sally", NOON, "line\n")
    await log.flush()
    assert stat.S_IMODE((tmp_path / HOUR_FOLDER / "000000.log").stat().st_mode) == 0o600


async def test_memory_is_bounded(
    log: RequestLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Lines that find no room are dropped and counted; there is room again once the others are written."""
    monkeypatch.setattr(request_log, "PENDING_BYTES_MAX", 10)
    for _ in range(3):
        log.add("sally", NOON, "12345\n")
    await log.flush()
    log.add("sally", NOON, "again\n")
    await log.flush()
    await log.flush()
    assert list(files_of(tmp_path).values()) == ["12345\nagain\n"]
    assert [record.message for record in caplog.records] == [
        "requests missing from the request log, as the disk does not keep up: 2"
    ]


async def test_a_disk_that_cannot_be_written_is_reported(
    log: RequestLog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "logs").write_text("in the way")
    log.add("sally", NOON, "a\n")
    log.add("sally", NOON, "b\n")
    await log.flush()
    assert "requests missing from the request log: 2 (" in caplog.text
    (tmp_path / "logs").unlink()
    log.add("sally", NOON, "c\n")
    await log.flush()
    assert list(files_of(tmp_path).values()) == ["c\n"]


async def test_a_failed_write_leaves_no_half_line(
    log: RequestLog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Here a full disk, as far as a limit on the size of files can play one."""
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    log.add("sally", NOON, "first\n")
    await log.flush()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        log.add("sally", NOON, "a line that is longer than the rest of the disk\n")
        await log.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(files_of(tmp_path).values()) == ["first\n"]
    assert "requests missing from the request log: 1 (" in caplog.text


async def test_old_hours_are_removed(log: RequestLog, tmp_path: Path) -> None:
    for ended in (NOON - 40 * DAY, NOON - HOUR, NOON, NOON + HOUR):
        log.add("sally", ended, "line\n")
    log.add("bob", NOON - 40 * DAY, "line\n")
    await log.flush()
    stranger = tmp_path / "logs/sally/table/2026/01/notes.txt"
    stranger.write_text("not ours")
    await log.remove_before("sally", NOON + HOUR // 2)
    assert list(files_of(tmp_path)) == [
        "logs/bob/table/2026/01/20/1200/000000.log",
        "logs/sally/table/2026/01/notes.txt",
        "logs/sally/table/2026/03/01/1200/000000.log",
        "logs/sally/table/2026/03/01/1300/000000.log",
    ]
    assert not (tmp_path / "logs/sally/table/2026/01/20").exists()
