"""What waits for the writer: a job, then its verdict."""

import logging
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import apsw

from rowkey.errors import ServiceError

log = logging.getLogger(__name__)

Job = Callable[[], Any]
"""Applies one change through the writer's connection and returns its result, or raises with nothing changed."""


class Verdict(Protocol):
    """Who waits for what became of a job; futures are."""

    def done(self) -> bool:
        """Whether nobody waits any more."""

    def set_result(self, result: Any, /) -> None:
        """The job's result, which is on disk."""

    def set_exception(self, exception: Exception, /) -> None:
        """Why the job did not happen, or may not have."""


class Pending:
    """A submitted job, then its verdict."""

    __slots__ = ("_job", "_on_commit", "_verdict", "error", "result")

    def __init__(self, job: Job, verdict: Verdict, on_commit: Callable[[Any], None] | None) -> None:
        self._job = job
        self._verdict = verdict
        self._on_commit = on_commit
        self.result: Any = None
        self.error: Exception | None = None

    def apply(self) -> None:
        """Do the job; raises apsw.Error, which is the whole group's matter."""
        self.result = self.error = None  # it may be the second time
        try:
            self.result = self._job()
        except apsw.Error:
            raise
        except Exception as error:  # its own verdict, so that a fault of one job is not its neighbours'
            self.error = error

    def notify(self) -> None:
        """The job is on disk."""
        if self._on_commit is None or self.error is not None:
            return
        try:
            self._on_commit(self.result)
        except Exception:  # must not keep the others waiting
            log.exception("what should follow a commit failed")

    def deliver(self) -> None:
        """Tell whoever waits, if anybody still does."""
        if self._verdict.done():  # its client left
            return
        if self.error is None:
            self._verdict.set_result(self.result)
        else:
            self._verdict.set_exception(self.error)


def fail(group: Iterable[Pending], verdict: type[ServiceError]) -> None:
    """All of these jobs have this verdict."""
    for pending in group:
        pending.result, pending.error = None, verdict()
