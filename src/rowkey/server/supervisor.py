"""A server of several processes: the one that was started owns the data folder and sees to it that the others run.

It serves nobody itself, and neither opens the database nor has threads or an event loop, so that it can be forked at
any time. A worker that ends is replaced: at once if it has lived for a while, else after a pause that grows. The lock
of the data folder is shared with the workers, so that no other server begins before the last of them has ended, even if
the supervisor is killed.
"""

import gc
import logging
import os
import select
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import orjson

from rowkey.config import Settings
from rowkey.server import sockets
from rowkey.server.allocator import hold_freed_memory
from rowkey.server.process import SECOND_SIGNAL_EXIT_CODE, SIGNALS, AddressError, WorkerError
from rowkey.server.worker import FAILURE_EXIT_CODE, FAILURES, LINK, STOP, Assignment, work
from rowkey.store.embedded.changes import Changes
from rowkey.store.embedded.folder import DataFolder

log = logging.getLogger(__name__)

STOP_SECONDS_MAX = 20.0
"""For all workers to end; each has its own limits, which come to less."""
STABLE_SECONDS = 10.0
"""A worker that has lived for so long did not fail at its start."""
PAUSES_SECONDS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Before a worker is replaced, by how many have ended soon after their start; the last one again and again."""
LOOP_LENGTH = 4
"""As many in a row are called a loop."""

Announce = Callable[[int, Path | None], None]


def supervise(settings: Settings, announce: Announce) -> None:
    """Serve with `settings.workers` processes until SIGINT or SIGTERM; as `rowkey.server.process.run`."""
    assert settings.data is not None
    hold_freed_memory()
    folder = DataFolder(settings.data)
    try:
        try:
            bound = sockets.bind(settings.host, settings.port)
        except OSError as error:
            raise AddressError(settings.host, settings.port) from error
        gc.collect()
        gc.freeze()  # what is there is shared with the workers, as long as no collection touches it
        supervisor = _Supervisor(settings, folder, bound, announce)
        try:
            supervisor.run()
        finally:
            supervisor.kill()
    finally:
        folder.release()


class _Place:
    """One worker after the other, under one number."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: int | None = None
        self.line: socket.socket | None = None
        self.received = b""
        self.failure: dict[str, Any] | None = None
        self.is_ready = False
        self.begun = 0.0
        self.failures = -1
        self.due: float | None = 0.0
        """When the next worker is to begin, None while there is one."""
        self.sockets: list[socket.socket] = []

    def __str__(self) -> str:
        role = ", which writes" if self.number == 0 else ""
        return f"worker {self.number + 1} (process {self.process}{role})"

    def send(self, command: bytes, descriptor: int | None = None) -> None:
        """Tell the worker something, unless it has just ended."""
        if self.line is not None:
            try:
                socket.send_fds(self.line, [command], [] if descriptor is None else [descriptor])
            except OSError:
                pass

    def close(self) -> None:
        """Close what the worker listens on, as far as it is here."""
        for bound in self.sockets:
            bound.close()
        self.sockets.clear()


class _Supervisor:
    def __init__(self, settings: Settings, folder: DataFolder, bound: list[socket.socket], announce: Announce) -> None:
        self._settings = settings
        self._folder = folder
        self._bound = bound
        """They keep the addresses while a worker's own sockets are closed; where connections are spread, nothing is
        accepted at them."""
        self._announce = announce
        self._changes = Changes.shared()
        self._places = [_Place(number) for number in range(settings.workers)]
        self._writer = self._places[0]
        self._selector = selectors.DefaultSelector()
        self._woken, self._waker = socket.socketpair()
        self._is_announced = False
        self._signals = 0
        self._stop_deadline: float | None = None

    def run(self) -> None:
        """Begin the workers, replace those that end, until a signal; then wait for their end."""
        self._watch_signals()
        while True:
            if self._signals and self._stop_deadline is None:
                self._stop()
            self._begin_due()
            for key, _ in self._selector.select(self._seconds_to_wait()):
                if key.data is not None:
                    self._listen(key.data)
                else:
                    self._woken.recv(4096)
            self._reap()
            if self._stop_deadline is not None:
                if all(place.process is None for place in self._places):
                    return
                if time.monotonic() > self._stop_deadline:
                    log.error("not all workers ended in time, and are killed")
                    return

    def kill(self) -> None:
        """End what is left of the workers."""
        for place in self._places:
            if place.process is not None:
                os.kill(place.process, signal.SIGKILL)
        for place in self._places:
            if place.process is not None:
                os.waitpid(place.process, 0)

    # ------------------------------------------------------------ signals

    def _watch_signals(self) -> None:
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        for number in SIGNALS:
            signal.signal(number, self._take_signal)

    def _take_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1
        if self._signals > 1:
            for place in self._places:
                if place.process is not None:
                    os.kill(place.process, signal.SIGKILL)
            os._exit(SECOND_SIGNAL_EXIT_CODE)

    def _stop(self) -> None:
        self._stop_deadline = time.monotonic() + self._settings.drain_seconds + STOP_SECONDS_MAX
        for place in self._places:
            place.due = None
            place.send(STOP)
            place.close()
        for bound in self._bound:
            bound.close()

    # ------------------------------------------------------------ workers

    def _begin_due(self) -> None:
        for place in self._places:
            if place.due is not None and place.due <= time.monotonic():
                try:
                    self._begin(place)
                except OSError as error:  # no more processes, files or memory for now
                    if not self._is_announced:
                        raise WorkerError(f"Worker {place.number + 1} cannot be started: {error}.") from error
                    log.error("worker %d cannot be started: %s", place.number + 1, error)
                    self._wait_before_next(place)

    def _begin(self, place: _Place) -> None:
        if not place.sockets:
            place.sockets = sockets.bind_again(self._bound)
        ours, theirs = socket.socketpair()
        supervisor = os.getpid()
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            self._become_worker(place, theirs, ours, supervisor)
        theirs.close()
        ours.setblocking(False)
        self._selector.register(ours, selectors.EVENT_READ, place)
        place.process, place.line, place.due = process, ours, None
        place.received, place.failure, place.is_ready, place.begun = b"", None, False, time.monotonic()
        log.info("%s begins", place)
        if place is not self._writer and self._writer.is_ready:
            self._link(place)

    def _become_worker(self, place: _Place, line: socket.socket, ours: socket.socket, supervisor: int) -> None:
        """In the new process: let go of what is the supervisor's, so that others notice when it ends; never returns."""
        code = FAILURE_EXIT_CODE
        try:
            signal.set_wakeup_fd(-1)
            self._selector.close()
            self._waker.close()
            self._woken.close()
            ours.close()
            for other in self._places:
                if other.line is not None:
                    other.line.close()
                if other is not place:
                    other.close()
            for bound in self._bound:
                bound.close()
            assignment = Assignment(place.number, self._settings, self._folder, self._changes, place.sockets, line)
            code = work(assignment, supervisor)
        except BaseException:
            log.exception("worker %d failed", place.number + 1)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _link(self, place: _Place) -> None:
        """Give a worker a new way to the one that writes."""
        end, other_end = socket.socketpair()
        with end, other_end:
            self._writer.send(LINK, end.fileno())
            place.send(LINK, other_end.fileno())

    def _listen(self, place: _Place) -> None:
        """Hear what a worker says."""
        line = place.line
        if line is None:
            return
        try:
            data = line.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(line)
            line.close()
            place.line = None
            return
        *messages, place.received = (place.received + data).split(b"\n")
        for message in map(orjson.loads, messages):
            if "ready" in message:
                self._note_ready(place, *message["ready"])
            else:
                place.failure = message

    def _note_ready(self, place: _Place, port: int, made: str | None) -> None:
        place.is_ready = True
        if place is self._writer:
            for other in self._places[1:]:
                self._link(other)
        if self._is_announced:
            log.info("%s is ready", place)
        elif all(each.is_ready for each in self._places):
            self._is_announced = True
            self._announce(port, None if made is None else Path(made))

    def _reap(self) -> None:
        for place in self._places:
            if place.process is not None:
                process, status = os.waitpid(place.process, os.WNOHANG)
                if process:
                    self._note_end(place, os.waitstatus_to_exitcode(status))

    def _note_end(self, place: _Place, code: int) -> None:
        while place.line is not None and select.select([place.line], [], [], 0)[0]:
            self._listen(place)
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        if place.failure is not None:
            how += f": {place.failure['text']}"
        what = f"{place} {how}"
        place.process, place.is_ready = None, False
        if self._stop_deadline is not None:
            if code:
                log.error("%s", what)
            return
        if not self._is_announced:
            raise _startup_error(place.failure) or WorkerError(f"{what[:1].upper()}{what[1:]} before it was ready.")
        if time.monotonic() - place.begun > STABLE_SECONDS:
            place.failures = -1
        pause = self._wait_before_next(place)
        if place.failures < LOOP_LENGTH:
            log.error("%s; it is replaced", what)
        else:
            log.error(
                "%s. This is the %dth in a row that did not last; the next one begins in %g s. "
                "The lines before say why they ended",
                *(what, place.failures + 1, pause),
            )

    def _wait_before_next(self, place: _Place) -> float:
        """Have a worker begin after a pause, whose length is returned."""
        place.failures += 1
        pause = PAUSES_SECONDS[min(place.failures, len(PAUSES_SECONDS) - 1)]
        place.due = time.monotonic() + pause
        if pause:
            place.close()  # so that connections go to the others meanwhile
        return pause

    def _seconds_to_wait(self) -> float | None:
        moments = [place.due for place in self._places if place.due is not None]
        if self._stop_deadline is not None:
            moments.append(self._stop_deadline)
        return max(0.0, min(moments) - time.monotonic()) if moments else None


def _startup_error(failure: dict[str, Any] | None) -> Exception | None:
    """What a worker could not start for, as the server would have raised it."""
    if failure is None:
        return None
    for kind in FAILURES:
        if kind.__name__ == failure["failed"]:
            error = kind(*failure["arguments"])
            if failure["errno"] is not None:
                error.__cause__ = OSError(failure["errno"], os.strerror(failure["errno"]))
            return error
    return None
