"""A few connections and a queue before them.

A job waits in the queue of this process for a connection, rather than for one of its own to be opened, or for a lock of
a pool: a handful of connections keeps a database as busy as hundreds would, and each answers sooner.

A job that failed although nothing can have happened is tried again for a while; a failover takes some seconds. Others
come before it then: what they want may be on a node that is there. What waits longer is refused.
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from rowkey.errors import ServiceError
from rowkey.store.interface import OutcomeUnknown, StoreUnavailable
from rowkey.store.postgres.failures import (
    ERRORS,
    SegmentGone,
    is_lost,
    is_transient,
    needs_reconnect,
)
from rowkey.store.postgres.session import Session

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 8.0
"""How long a job is kept waiting for the database, from when it was submitted."""
_BACK_OFF_SECONDS = 0.02
_BACK_OFF_SECONDS_MAX = 0.5
_SWEEP_SECONDS = 0.5

Job = Callable[[Session], Awaitable[Any]]
"""Does one thing over a connection; run again from its beginning where that is safe."""


class Lane:
    """Runs jobs over `size` connections; a statement that takes longer than `seconds_max` loses its connection."""

    def __init__(self, name: str, url: str, size: int, *, seconds_max: float) -> None:
        self._name = name
        self._url = url
        self._seconds_max = seconds_max
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Pending | None] = deque()
        self._failed: deque[_Pending] = deque()
        self._idle: list[asyncio.Future[_Pending | None]] = []
        self._postponed = 0
        self._is_sweeping = False
        self.is_in_trouble = False
        """No connection could be made lately."""
        self._workers = [asyncio.create_task(self._work(), name=f"rowkey-{name}-{n}") for n in range(size)]

    def submit(self, job: Job) -> "asyncio.Future[Any]":
        """Run a job when a connection is free; its result comes in the future, whether or not anybody waits for it."""
        pending = _Pending(job, self._loop.create_future(), self._loop.time() + PATIENCE_SECONDS)
        self._enqueue(pending, self._waiting)
        return pending.future

    async def close(self) -> None:
        """Finish what was submitted and close the connections."""
        for _ in self._workers:
            self._enqueue(None, self._waiting)
        await asyncio.gather(*self._workers)

    def _enqueue(self, pending: "_Pending | None", queue: "deque[Any]") -> None:
        while self._idle:
            waiter = self._idle.pop()  # the one that worked last, whose connection is warm
            if not waiter.done():
                waiter.set_result(pending)
                return
        queue.append(pending)
        if not self._is_sweeping:
            self._is_sweeping = True
            self._loop.call_later(_SWEEP_SECONDS, self._sweep)

    def _sweep(self) -> None:
        """Refuse what has waited for too long: the connections are all busy, or there is no database."""
        now = self._loop.time()
        queues: tuple[deque[Any], ...] = (self._waiting, self._failed)
        for queue in queues:
            for _ in range(len(queue)):
                pending = queue.popleft()
                if pending is not None and pending.deadline < now:
                    pending.fail(StoreUnavailable())
                else:
                    queue.append(pending)
        self._is_sweeping = bool(self._waiting or self._failed)
        if self._is_sweeping:
            self._loop.call_later(_SWEEP_SECONDS, self._sweep)

    # ------------------------------------------------------------ a worker

    async def _work(self) -> None:
        session: Session | None = None
        while (pending := await self._next()) is not None:
            session = await self._serve(pending, session)
        if session is not None:
            await session.close()

    async def _next(self) -> "_Pending | None":
        """The job whose turn it is, None when there will be no more."""
        while True:
            if self._waiting:
                pending = self._waiting.popleft()
            elif self._failed:
                pending = self._failed.popleft()
            else:
                waiter: asyncio.Future[_Pending | None] = self._loop.create_future()
                self._idle.append(waiter)
                pending = await waiter
            if pending is not None or not (self._postponed or self._failed):
                return pending
            self._loop.call_later(_BACK_OFF_SECONDS, self._enqueue, None, self._waiting)

    async def _serve(self, pending: "_Pending", session: Session | None) -> Session | None:
        """Do a job, or put it off; returns the connection that is then at hand."""
        if self._loop.time() > pending.deadline:
            pending.fail(StoreUnavailable())
            return session
        if session is None or not session.is_open:
            session = await self._connect(pending.deadline)
        if session is None:
            pending.fail(StoreUnavailable())
            return None
        session.begin(self._seconds_max)
        try:
            pending.succeed(await pending.job(session))
        except (ServiceError, SegmentGone) as verdict:
            pending.fail(verdict)
        except Exception as error:  # whatever it is, somebody waits for an answer
            answer = self._judge(error, session)
            if answer is None:
                self._postpone(pending)
            else:
                pending.fail(answer)
        finally:
            session.end()
        return session

    async def _connect(self, deadline: float) -> Session | None:
        """A new connection, None where there is none in time."""
        pause = _BACK_OFF_SECONDS
        while True:
            try:
                session = await Session.open(self._url)
            except ERRORS as error:
                self._note_trouble(error)
            else:
                self._note_recovery()
                return session
            if self._loop.time() + pause > deadline:
                return None
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, _BACK_OFF_SECONDS_MAX)

    def _postpone(self, pending: "_Pending") -> None:
        """Try a job again in a while, if its time is not up by then."""
        if self._loop.time() + pending.pause > pending.deadline:
            pending.fail(StoreUnavailable())
            return
        self._postponed += 1
        self._loop.call_later(pending.pause * random.uniform(0.5, 1.0), self._resume, pending)
        pending.pause = min(2 * pending.pause, _BACK_OFF_SECONDS_MAX)

    def _resume(self, pending: "_Pending") -> None:
        self._postponed -= 1
        self._enqueue(pending, self._failed)

    def _judge(self, error: Exception, session: Session) -> ServiceError | None:
        """The answer to an error, None where the job may be tried again; the connection is dropped if it must be."""
        if needs_reconnect(error) or session.may_have_written:
            session.drop()
        if session.may_have_written:
            log.warning("%s: a write may have happened: %s", self._name, _describe(error))
            return OutcomeUnknown()
        if session.has_timed_out:
            log.warning("%s: no answer within %s seconds", self._name, self._seconds_max)
            return StoreUnavailable()
        if is_lost(error) or is_transient(error):
            return None
        log.error("%s: the database refused a statement", self._name, exc_info=error)
        return StoreUnavailable()

    def _note_trouble(self, error: BaseException) -> None:
        if not self.is_in_trouble:
            self.is_in_trouble = True
            log.warning("%s: the database cannot be reached: %s", self._name, _describe(error))

    def _note_recovery(self) -> None:
        if self.is_in_trouble:
            self.is_in_trouble = False
            log.warning("%s: the database is reached again", self._name)


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


class _Pending:
    """A job that was submitted, then its verdict."""

    __slots__ = ("deadline", "future", "job", "pause")

    def __init__(self, job: Job, future: "asyncio.Future[Any]", deadline: float) -> None:
        self.job = job
        self.future = future
        self.deadline = deadline
        self.pause = _BACK_OFF_SECONDS

    def succeed(self, result: Any) -> None:
        if not self.future.done():  # its client may have left
            self.future.set_result(result)

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)
