"""The files of the log: `DIR/logs/ACCOUNT/table/YYYY/MM/DD/hhmm/NNNNNN.log`.

The names are those of the blobs in an account's `$logs` container, with the account before them. A request is in the
folder of the hour in which it ended. Each process that serves the folder writes files of its own, numbered upward, and
begins the next when one has grown large: a last line that a crash cut off stays the last line of its file.

Lines are gathered in memory and appended by a thread of the log's own, all that waits at once. They are not synced: a
crash of the machine may take the last seconds, as the service too logs with best effort. Where the disk does not keep
up, lines are dropped and counted, so that memory stays bounded and no request waits.
"""

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rowkey.model.datetimes import format_datetime
from rowkey.observe.metrics_tables import TICKS_PER_HOUR

log = logging.getLogger(__name__)

FOLDER_NAME = "logs"
PENDING_BYTES_MAX = 16 * 1_048_576
FILE_BYTES_MAX = 150 * 1_000_000
"""The service closes a log at 150 MB."""


class RequestLog:
    """The log below a data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER_NAME
        self._pending: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        self._pending_bytes = 0
        self._dropped = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rowkey-log")
        self._files: dict[str, tuple[int, Path]] = {}

    def add(self, account: str, ended: int, lines: str) -> None:
        """Log lines of a request of `account` that ended at `ended` (ticks); they wait for `flush`."""
        size = len(lines)
        if self._pending_bytes + size > PENDING_BYTES_MAX:
            self._dropped += 1
            return
        self._pending_bytes += size
        self._pending[account, ended // TICKS_PER_HOUR].append(lines)

    async def flush(self) -> None:
        """Append what waits; what cannot be written is dropped, and the server's own log says so."""
        if self._dropped:
            log.warning("requests missing from the request log, as the disk does not keep up: %d", self._dropped)
            self._dropped = 0
        if self._pending:
            pending, self._pending = self._pending, defaultdict(list)
            size = self._pending_bytes
            await asyncio.get_running_loop().run_in_executor(self._thread, self._append_all, pending)
            self._pending_bytes -= size

    async def remove_before(self, account: str, moment: int) -> None:
        """Remove the account's files of hours that were over at `moment` (ticks)."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._remove_before, account, moment)

    async def close(self) -> None:
        """Write what waits, and end the thread."""
        await self.flush()
        self._thread.shutdown()

    # ------------------------------------------------------------ in the thread

    def _append_all(self, pending: Mapping[tuple[str, int], list[str]]) -> None:
        for (account, hour), waiting in pending.items():
            try:
                self._append(account, hour, "".join(waiting).encode("utf-8", "replace"))
            except OSError as error:
                log.warning("requests missing from the request log: %d (%s)", len(waiting), error)

    def _append(self, account: str, hour: int, text: bytes) -> None:
        current_hour, path = self._files.get(account, (-1, None))
        if path is None or current_hour != hour or _size(path) + len(text) > FILE_BYTES_MAX:
            path = _new_file(self._folder / account / _hour_path(hour))
            self._files[account] = hour, path
        with path.open("ab", buffering=0) as file:
            begin = file.tell()
            left = memoryview(text)
            try:
                while left:
                    left = left[file.write(left) :]
            except OSError:
                file.truncate(begin)  # no half lines
                raise

    def _remove_before(self, account: str, moment: int) -> None:
        top = self._folder / account
        newest = _hour_path(moment // TICKS_PER_HOUR)
        for folder in sorted(top.glob(_HOUR_PATTERN)):
            if folder.relative_to(top).as_posix() < newest:
                for file in folder.glob("*.log"):
                    file.unlink(missing_ok=True)
                _remove_empty(folder, top)


_HOUR_PATTERN = "table/[0-9][0-9][0-9][0-9]/[0-9][0-9]/[0-9][0-9]/[0-9][0-9]00"


def _hour_path(hour: int) -> str:
    """Where the logs of an hour are, below the account's folder: `table/2011/07/31/1800`."""
    text = format_datetime(hour * TICKS_PER_HOUR)
    return f"table/{text[:4]}/{text[5:7]}/{text[8:10]}/{text[11:13]}00"


def _new_file(folder: Path) -> Path:
    """A file that was not there, under the number after the last one of the folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    number = max((int(path.stem) for path in folder.glob("[0-9]*.log")), default=-1) + 1
    while True:
        path = folder / f"{number:06}.log"
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            return path
        except FileExistsError:  # another process was quicker
            number += 1


def _size(path: Path) -> int:
    """Size of a file; one that somebody has removed is as good as full."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return FILE_BYTES_MAX


def _remove_empty(folder: Path, top: Path) -> None:
    """Remove a folder, and those above it up to `top`, as far as nothing is left in them."""
    try:
        while folder != top:
            folder.rmdir()
            folder = folder.parent
    except OSError:
        pass  # something is left
