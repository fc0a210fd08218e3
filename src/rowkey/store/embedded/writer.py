"""Group commit: everything that waits goes to disk with one fsync.

A group is gathered as long as each turn of the event loop brings new jobs; then it is applied to one transaction, on
the loop's thread, and committed, which syncs. Where the disk is slow the commit runs in a thread of its own, and jobs
that arrive meanwhile make up the next group; where it is quick, waking a thread and being woken by it would take longer
than the sync itself. A job's verdict is delivered only when its group is on disk, also a refusal: it may rest on a
neighbour's write. Each verdict is its own: a client that left in mid-commit is passed over.

Why not apply in the thread as well: two threads that both run Python exchange the interpreter's lock at every SQL
statement, and beside a busy event loop each exchange was measured to take up to a switch interval
(`docs/adr/0002-group-commit.md`).
"""

import asyncio
import logging
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import apsw

from rowkey.store.embedded.damage import explain, is_damage
from rowkey.store.embedded.jobs import Job, Pending, Verdict, fail
from rowkey.store.embedded.mark import LogMark
from rowkey.store.interface import OutcomeUnknown, StoreDamaged, StoreUnavailable

log = logging.getLogger(__name__)

_QUICK_SECONDS = 0.001
"""Commits that take less than this are made on the event loop's thread."""
_LOG_PAGES_MAX = 1000
"""Pages in the write-ahead log (SQLite's own default) with which it is folded into the database before the next group:
in the thread, so that reads go on; writes wait for some milliseconds."""
_GATHERED_MAX = 128
"""Jobs that are enough for a group, even if more keep arriving."""
_BACKGROUND_SECONDS = 0.05
"""Between two steps of background work while writes keep coming."""
_RETRY_SECONDS = 1.0
"""After a failure of the disk, how long writes are refused before the disk is tried again."""
_ROOM_BYTES = 1024 * 1024
"""On a disk that was full, how much has to be free: the largest entity."""
_QUIET_SECONDS = 1.0
"""Between two lines of the log about failures."""
_READERS_MILLISECONDS = 6000
"""How long a log that is to be emptied waits for readers; a page takes 5 s at most."""

ThreadJob = Callable[[], bool]
"""Background work, run in the thread inside a transaction of its own; returns whether there is more to do."""


class Writer:
    """Owns the only writing connection. All methods belong to the event loop's thread."""

    def __init__(
        self,
        connection: apsw.Connection,
        mark: LogMark,
        *,
        on_commit: Callable[[], None],
        on_rollback: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._folder = Path(connection.filename).parent
        self._mark = mark
        self._on_commit = on_commit
        self._on_rollback = on_rollback
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Pending] = deque()
        self._group: list[Pending] = []
        self._background: deque[tuple[ThreadJob, Callable[[], None] | None]] = deque()
        self._background_due = 0.0
        self._is_busy = False
        self._is_scheduled = False
        self._commit_seconds = 0.0
        self._log_pages = 0
        self._fold_at = _LOG_PAGES_MAX
        self._is_full = False
        self._is_suspect = False
        self._try_again_at = 0.0
        self._quiet_until = 0.0
        connection.set_wal_hook(self._count_log_pages)
        self._idle: asyncio.Future[None] | None = None
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run_thread, name="rowkey-commit", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many jobs wait for the next group."""
        return len(self._waiting)

    def ask_for_trouble(self) -> str | None:
        """Why no writes are taken, None while they are.

        A disk that has failed is tried again, if that is due, and one that was full is asked for room: whoever hears of
        it may send no writes that would.
        """
        if self._is_suspect:
            if not self._is_busy and time.monotonic() >= self._try_again_at:
                self._refuse_or_try_again()
            return "the disk has failed, so the store takes no writes"
        if self._is_full and shutil.disk_usage(self._folder).free >= _ROOM_BYTES:
            self._find_room()
        return "the disk is full, so the store takes no writes" if self._is_full else None

    def submit(self, job: Job, *, on_commit: Callable[[Any], None] | None = None) -> "asyncio.Future[Any]":
        """Apply `job` in the next group; the future is done when the group is on disk.

        `on_commit` is then called with the job's result, whether or not anybody still waits for it.
        """
        future: asyncio.Future[Any] = self._loop.create_future()
        self.submit_to(future, job, on_commit=on_commit)
        return future

    def submit_to(self, verdict: Verdict, job: Job, *, on_commit: Callable[[Any], None] | None = None) -> None:
        """`submit`, with a verdict of the caller's own."""
        self._waiting.append(Pending(job, verdict, on_commit))
        self._schedule()

    def submit_background(self, job: ThreadJob, *, on_commit: Callable[[], None] | None = None) -> None:
        """Run `job` again and again while nothing else waits, and now and then beside, until it says that it is done.

        `on_commit` is called whenever a step is on disk, before any other change is applied.
        """
        self._background.append((job, on_commit))
        self._schedule()

    async def close(self) -> None:
        """Finish what was submitted (background work is left for next time) and end the thread."""
        self._background.clear()
        if self._is_busy or self._is_scheduled:
            self._idle = self._loop.create_future()
            await self._idle
        self._work.put(None)
        await self._loop.run_in_executor(None, self._thread.join)

    def fold_all(self, last: Callable[[], None]) -> None:
        """After `close`, and when nobody reads any more: one last change, and the log into the database."""
        try:
            if not self._is_suspect:
                last()
            if self._fold(apsw.SQLITE_CHECKPOINT_PASSIVE):
                self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)  # and nothing is left of it
        except apsw.Error as error:  # the log stays: what was confirmed is in it, and the mark says so
            log.warning("folding the log into the database failed: %s", explain(error))

    def _schedule(self) -> None:
        if not self._is_busy and not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._gather, 0)

    def _gather(self, counted: int) -> None:
        """Begin a group when a turn of the loop has brought nothing new: what arrives together is synced together."""
        if counted < len(self._waiting) < _GATHERED_MAX:
            self._loop.call_soon(self._gather, len(self._waiting))
        else:
            self._begin_group()

    def _begin_group(self) -> None:
        """Apply all that waits, and commit it here or in the thread; first fold the log, if it has grown long."""
        self._is_scheduled = False
        if self._is_suspect and self._waiting:
            self._refuse_or_try_again()
            return
        if self._log_pages >= self._fold_at:
            self._is_busy = True
            self._work.put(self._fold_log)
            return
        is_due = not self._waiting or time.monotonic() >= self._background_due
        if self._background and is_due and not self._is_suspect:
            self._is_busy = True
            self._work.put(self._run_background)
            return
        if not self._waiting:
            if self._idle is not None and not self._idle.done():
                self._idle.set_result(None)
            return
        self._is_busy = True
        group = self._group = list(self._waiting)
        self._waiting.clear()
        changes = self._connection.total_changes()
        applied: Pending | None = None
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for applied in group:
                applied.apply()
            is_unchanged = self._connection.total_changes() == changes
            if is_unchanged:
                self._connection.execute("ROLLBACK")
        except apsw.Error as error:
            self._abandon_group(error, applied)
            return
        if is_unchanged:
            self._finish_group(None)
        elif self._commit_seconds < _QUICK_SECONDS:
            self._finish_group(self._commit())
        else:
            self._work.put(self._commit_in_thread)

    def _finish_group(self, error: apsw.Error | None) -> None:
        """The group is on disk, or it is not: answer its jobs, and gather the next one."""
        group, self._group = self._group, []
        if error is None:
            for pending in group:
                pending.notify()
            self._on_commit()
        else:
            self._roll_back()
            if isinstance(error, apsw.FullError | apsw.BusyError):
                # The frame that would make the log's last frames a commit was not written.
                self._complain("writing failed, and nothing of it is kept: %s", explain(error))
                self._look_for_room(error)
                fail(group, StoreUnavailable)
            else:
                self._suspect(error)
                fail(group, OutcomeUnknown)
        self._deliver(group)

    def _abandon_group(self, error: apsw.Error, applied: "Pending | None") -> None:
        """A statement failed before the commit: nothing has happened.

        Where it met damage, that is the matter of the job that was being applied, and the others are tried again
        without it; else nobody can write now.
        """
        group, self._group = self._group, []
        self._roll_back()
        self._complain("a write failed, and nothing of it is kept: %s", explain(error))
        if applied is not None and is_damage(error):
            self._waiting.extendleft(pending for pending in reversed(group) if pending is not applied)
            group = [applied]
            fail(group, StoreDamaged)
        else:
            self._look_for_room(error)
            fail(group, StoreUnavailable)
        self._deliver(group)

    def _refuse_or_try_again(self) -> None:
        """What waits while the end of the log is in doubt; see `_suspect`."""
        self._is_busy = True
        if time.monotonic() >= self._try_again_at:
            self._work.put(self._settle_log)
            return
        group = list(self._waiting)
        self._waiting.clear()
        fail(group, StoreUnavailable)
        self._deliver(group)

    def _deliver(self, group: "list[Pending]") -> None:
        self._is_busy = False
        for pending in group:
            pending.deliver()
        self._schedule()

    def _commit(self) -> apsw.Error | None:
        """Sync the open transaction; returns why that failed, if it did."""
        error: apsw.Error | None = None
        begun = time.perf_counter()
        try:
            self._connection.execute("COMMIT")
            if self._is_full:
                self._find_room()
        except apsw.Error as failure:
            error = failure
        # A slow one counts at once and is forgotten slowly.
        seconds = time.perf_counter() - begun
        self._commit_seconds = max(seconds, 0.9 * self._commit_seconds + 0.1 * seconds)
        return error

    def _count_log_pages(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        """After each commit, whichever thread made it."""
        if pages < self._log_pages:  # begun anew
            self._fold_at = _LOG_PAGES_MAX
        self._log_pages = pages
        self._mark.put(pages)
        return apsw.SQLITE_OK

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except apsw.Error as error:
            log.error("rolling back failed: %s", explain(error))
        self._on_rollback()

    def _suspect(self, error: apsw.Error) -> None:
        """A commit failed, and nobody knows what the disk holds of it: the end of the log is in doubt.

        What is written there next would stand or fall with it. Linux reports a failed write of the page cache once and
        then takes the pages for clean, so a later sync that succeeds proves nothing. Therefore nothing is appended any
        more until `_settle_log` has made an end of this log; meanwhile reads go on, and writes are refused.
        """
        self._is_suspect = True
        self._try_again_at = time.monotonic() + _RETRY_SECONDS
        self._complain("the disk failed, and writes are refused until it is sound again: %s", explain(error))

    def _look_for_room(self, error: apsw.Error) -> None:
        """A write failed, maybe because the disk is full; others are tried as ever."""
        if isinstance(error, apsw.FullError):
            self._is_full = True
            self._try_again_at = time.monotonic() + _RETRY_SECONDS

    def _find_room(self) -> None:
        """There is some; it counts when no write has missed it for a while: a small one may find the last of it."""
        if time.monotonic() >= self._try_again_at:
            self._is_full = False
            log.warning("there is room on the disk again, and writes are taken")

    def _complain(self, message: str, why: str) -> None:
        """Say so in the log, but not for each group of a disk that is full."""
        if time.monotonic() >= self._quiet_until:
            self._quiet_until = time.monotonic() + _QUIET_SECONDS
            log.error(message, why)

    # ------------------------------------------------------------ in the thread

    def _run_thread(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def _commit_in_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._finish_group, self._commit())

    def _fold_log(self) -> None:
        self._fold_at = self._log_pages + _LOG_PAGES_MAX  # unless all of it is folded
        try:
            self._fold(apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error as error:  # nothing is lost: the log only grows on
            log.warning("folding the log into the database failed: %s", explain(error))
        self._loop.call_soon_threadsafe(self._finish_group, None)

    def _fold(self, mode: int) -> bool:
        """Move what the log has into the database, as far as readers allow; returns whether that was all."""
        pages, folded = self._connection.wal_checkpoint(mode=mode)
        if folded < pages:
            return False
        self._mark.clear()
        self._log_pages, self._fold_at = 0, _LOG_PAGES_MAX
        return True

    def _settle_log(self) -> None:
        """Make an end of a log that is in doubt.

        All that was confirmed, and nothing else, is folded into the database and synced there; then the log is emptied,
        and the next commit begins another, with other salts, of which nothing that was there before can be a part.
        """
        try:
            self._connection.set_busy_timeout(_READERS_MILLISECONDS)
            self._fold(apsw.SQLITE_CHECKPOINT_FULL)  # and the mark needs nothing of the log
            self._fold(apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.Error as error:
            self._complain("the disk fails still, and writes are refused: %s", explain(error))
            self._try_again_at = time.monotonic() + _RETRY_SECONDS
        else:
            self._is_suspect = False
            log.warning("the disk is sound again, and writes are taken")
        finally:
            self._connection.set_busy_timeout(0)
        self._loop.call_soon_threadsafe(self._finish_group, None)

    def _run_background(self) -> None:
        """A step of what waits longest; after it the others have their turns."""
        committed: Callable[[], None] | None = None
        try:
            job, on_commit = self._background.popleft()
            with self._connection:
                has_more = job()
            committed = on_commit
            if has_more:
                self._background.append((job, on_commit))
        except apsw.Error as error:
            log.warning("background work failed and is left for the next start: %s", explain(error))
            if isinstance(error, apsw.IOError):
                self._suspect(error)
        except IndexError:
            pass  # closing
        except Exception:  # must not keep writes waiting
            log.exception("background work failed and is left for the next start")
        self._loop.call_soon_threadsafe(self._finish_background, committed)

    def _finish_background(self, committed: Callable[[], None] | None) -> None:
        if committed is not None:
            committed()
        self._background_due = time.monotonic() + _BACKGROUND_SECONDS
        self._finish_group(None)
