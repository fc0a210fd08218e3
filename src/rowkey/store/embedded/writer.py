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
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import apsw

from rowkey.store.interface import OutcomeUnknown, StoreUnavailable

log = logging.getLogger(__name__)

_QUICK_SECONDS = 0.001
"""Commits that take less than this are made on the event loop's thread."""
_LOG_PAGES_MAX = 1000
"""Pages in the write-ahead log (SQLite's own default) with which it is folded into the database before the next group:
in the thread, so that reads go on; writes wait for some milliseconds."""
_GATHERED_MAX = 128
"""Jobs that are enough for a group, even if more keep arriving."""

Job = Callable[[], Any]
"""Applies one change through the writer's connection and returns its result, or raises with nothing changed."""
ThreadJob = Callable[[], bool]
"""Background work, run in the thread inside a transaction of its own; returns whether there is more to do."""


class Writer:
    """Owns the only writing connection. All methods belong to the event loop's thread."""

    def __init__(
        self, connection: apsw.Connection, *, on_commit: Callable[[], None], on_rollback: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._on_commit = on_commit
        self._on_rollback = on_rollback
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Pending] = deque()
        self._group: list[_Pending] = []
        self._background: deque[ThreadJob] = deque()
        self._is_busy = False
        self._is_scheduled = False
        self._commit_seconds = 0.0
        self._log_pages = 0
        connection.set_wal_hook(self._count_log_pages)
        self._idle: asyncio.Future[None] | None = None
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run_thread, name="rowkey-commit", daemon=True)
        self._thread.start()

    def submit(self, job: Job, *, on_commit: Callable[[Any], None] | None = None) -> "asyncio.Future[Any]":
        """Apply `job` in the next group; the future is done when the group is on disk.

        `on_commit` is then called with the job's result, whether or not anybody still waits for it.
        """
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append(_Pending(job, future, on_commit))
        self._schedule()
        return future

    def submit_background(self, job: ThreadJob) -> None:
        """Run `job` again and again while nothing else waits, until it says that it is done."""
        self._background.append(job)
        self._schedule()

    async def close(self) -> None:
        """Finish what was submitted (background work is left for next time) and end the thread."""
        self._background.clear()
        if self._is_busy or self._is_scheduled:
            self._idle = self._loop.create_future()
            await self._idle
        self._work.put(None)
        await self._loop.run_in_executor(None, self._thread.join)

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
        if self._log_pages >= _LOG_PAGES_MAX:
            self._is_busy = True
            self._work.put(self._fold_log)
            return
        if not self._waiting:
            if self._background:
                self._is_busy = True
                self._work.put(self._run_background)
            elif self._idle is not None and not self._idle.done():
                self._idle.set_result(None)
            return
        self._is_busy = True
        group = self._group = list(self._waiting)
        self._waiting.clear()
        changes = self._connection.total_changes()
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for pending in group:
                pending.apply()
            is_unchanged = self._connection.total_changes() == changes
            if is_unchanged:
                self._connection.execute("ROLLBACK")
        except apsw.Error as error:
            self._finish_group(error)
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
            self._on_commit()
            for pending in group:
                pending.notify()
        else:
            self._roll_back(error)
            # After a failed sync nobody knows what the disk holds.
            verdict = StoreUnavailable if isinstance(error, apsw.FullError | apsw.BusyError) else OutcomeUnknown
            for pending in group:
                pending.result, pending.error = None, verdict()
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
        except apsw.Error as failure:
            error = failure
        # A slow one counts at once and is forgotten slowly.
        seconds = time.perf_counter() - begun
        self._commit_seconds = max(seconds, 0.9 * self._commit_seconds + 0.1 * seconds)
        return error

    def _count_log_pages(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _roll_back(self, error: apsw.Error) -> None:
        log.error("writing failed, nothing of the group is kept: %s: %s", type(error).__name__, error)
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._on_rollback()

    # ------------------------------------------------------------ in the thread

    def _run_thread(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def _commit_in_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._finish_group, self._commit())

    def _fold_log(self) -> None:
        self._log_pages = 0
        try:
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error as error:  # nothing is lost: the log only grows on
            log.warning("folding the log into the database failed: %s", error)
        self._loop.call_soon_threadsafe(self._finish_group, None)

    def _run_background(self) -> None:
        try:
            with self._connection:
                if not self._background[0]():
                    self._background.popleft()
        except apsw.Error as error:
            log.warning("background work failed and is left for the next start: %s", error)
            self._background.popleft()
        except IndexError:
            pass  # closing
        self._loop.call_soon_threadsafe(self._finish_group, None)


class _Pending:
    """A submitted job, then its verdict."""

    __slots__ = ("_future", "_job", "_on_commit", "error", "result")

    def __init__(self, job: Job, future: "asyncio.Future[Any]", on_commit: Callable[[Any], None] | None) -> None:
        self._job = job
        self._future = future
        self._on_commit = on_commit
        self.result: Any = None
        self.error: Exception | None = None

    def apply(self) -> None:
        try:
            self.result = self._job()
        except apsw.Error:
            raise
        except Exception as error:  # its own verdict, so that a fault of one job is not its neighbours'
            self.error = error

    def notify(self) -> None:
        if self._on_commit is None or self.error is not None:
            return
        try:
            self._on_commit(self.result)
        except Exception:  # must not keep the others waiting
            log.exception("what should follow a commit failed")

    def deliver(self) -> None:
        if self._future.done():  # its client left
            return
        if self.error is None:
            self._future.set_result(self.result)
        else:
            self._future.set_exception(self.error)
