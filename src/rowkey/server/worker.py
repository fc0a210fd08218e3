"""One process of a server that has several: the first of them writes, the others leave writing to it.

    supervisor ---- a line to each ---- worker 1: serves clients, and owns the only writing connection
         |                                 ^  links: verbs that change something, and their answers
         '---------------------------- worker 2, 3, ...: serve clients, and read the database themselves

On its line a worker hears what to do, a byte at a time: `L` with the end of a link as a descriptor, `S` to stop. It
tells when it is ready, or why it cannot be, as lines of JSON. When the line ends the supervisor has ended, and so does
the worker, at once: nobody would replace it, and the data folder stays locked as long as it lives.
"""

import asyncio
import ctypes
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from rowkey.config import Settings
from rowkey.server.process import SIGNALS, AddressError, KeysError, new_event_loop, serve_store
from rowkey.server.tls import CertificateError
from rowkey.store.embedded.changes import Changes
from rowkey.store.embedded.desk import Desk
from rowkey.store.embedded.folder import DataFolder, FolderError
from rowkey.store.embedded.follower import FollowerStore
from rowkey.store.embedded.link import Link
from rowkey.store.embedded.store import EmbeddedStore

log = logging.getLogger(__name__)

LINK, STOP = b"L", b"S"
FAILURES: tuple[type[Exception], ...] = (AddressError, CertificateError, FolderError, KeysError)
"""What may keep a server from starting; the supervisor is told, and raises it."""
FAILURE_EXIT_CODE, ORPHAN_EXIT_CODE = 1, 3
FOLLOWERS_SECONDS_MAX = 10.0
"""How long the worker that writes waits at its end for the others, which may have something to write until theirs."""

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a worker is started with; number 0 writes."""

    number: int
    settings: Settings
    folder: DataFolder
    changes: Changes
    sockets: Sequence[socket.socket]
    line: socket.socket


def work(assignment: Assignment, supervisor: int) -> int:
    """Be a worker of the process `supervisor`, which has forked this one; returns the exit code."""
    for ignored in SIGNALS:  # a terminal or a service manager sends them to all processes; the line says when to stop
        signal.signal(ignored, signal.SIG_IGN)
    _end_with(supervisor)
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(_work(assignment))
    except FAILURES as error:
        cause = error.__cause__
        number = cause.errno if isinstance(cause, OSError) else None
        text = str(error if cause is None else f"{error}: {cause}")
        kind = next(kind.__name__ for kind in FAILURES if isinstance(error, kind))
        _tell(assignment.line, {"failed": kind, "arguments": error.args, "text": text, "errno": number})
        return FAILURE_EXIT_CODE
    return 0


def _end_with(supervisor: int) -> None:
    """Have the system kill this process with its parent, where it can; the end of the line says the same, later."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor:  # which ended before that
        os._exit(ORPHAN_EXIT_CODE)


def _tell(line: socket.socket, message: dict[str, object]) -> None:
    line.setblocking(True)
    line.sendall(orjson.dumps(message) + b"\n")


async def _work(assignment: Assignment) -> None:
    number, settings = assignment.number, assignment.settings
    if settings.metrics_port:
        settings = replace(settings, metrics_port=settings.metrics_port + number)

    def announce(port: int, made: Path | None) -> None:
        _tell(assignment.line, {"ready": [port, None if made is None else str(made)]})
        assignment.line.setblocking(False)

    worker = _Writer if number == 0 else _Follower
    await worker(assignment, settings, announce).serve()


class _Worker:
    """Listens to the line."""

    def __init__(
        self, assignment: Assignment, settings: Settings, announce: Callable[[int, Path | None], None]
    ) -> None:
        self._assignment = assignment
        self._settings = settings
        self._announce = announce
        self._stop_asked = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._connecting: set[asyncio.Task[None]] = set()
        assignment.line.setblocking(False)
        self._loop.add_reader(assignment.line, self._listen)

    async def serve(self) -> None:
        """Serve clients until told to stop."""
        raise NotImplementedError

    def _end_of_link(self) -> asyncio.Protocol:
        """What talks at this end of a new link."""
        raise NotImplementedError

    def _listen(self) -> None:
        try:
            command, descriptors, _, _ = socket.recv_fds(self._assignment.line, 1, 1)
        except BlockingIOError:
            return
        except OSError:
            command, descriptors = b"", []
        if command == LINK:
            task = self._loop.create_task(self._connect(socket.socket(fileno=descriptors[0])))
            self._connecting.add(task)
            task.add_done_callback(self._connecting.discard)
        elif command == STOP:
            self._stop_asked.set()
        else:
            os._exit(ORPHAN_EXIT_CODE)

    async def _connect(self, end: socket.socket) -> None:
        await self._loop.create_unix_connection(self._end_of_link, sock=end)


class _Writer(_Worker):
    """Worker 1."""

    async def serve(self) -> None:
        assignment = self._assignment
        self._store = EmbeddedStore.open(assignment.folder, changes=assignment.changes)
        self._desks: set[Desk] = set()
        self._alone = asyncio.Event()
        try:
            await serve_store(self._settings, self._store, self._stop_asked, self._announce, assignment.sockets)
            await self._wait_for_followers()
        finally:
            await self._store.close()

    def _end_of_link(self) -> asyncio.Protocol:
        self._alone.clear()
        desk = Desk(self._store, forget=self._forget)
        self._desks.add(desk)
        return desk

    def _forget(self, desk: Desk) -> None:
        self._desks.discard(desk)
        if not self._desks:
            self._alone.set()

    async def _wait_for_followers(self) -> None:
        if self._desks:
            try:
                await asyncio.wait_for(self._alone.wait(), FOLLOWERS_SECONDS_MAX)
            except TimeoutError:
                log.warning("other workers did not end in time; what they would still write is lost")


class _Follower(_Worker):
    """One of the others."""

    async def serve(self) -> None:
        assignment = self._assignment
        self._link = Link()
        self._linked = asyncio.Event()
        stopping = asyncio.ensure_future(self._stop_asked.wait())
        linked = asyncio.ensure_future(self._linked.wait())
        await asyncio.wait([stopping, linked], return_when=asyncio.FIRST_COMPLETED)
        if not linked.done():
            linked.cancel()
            return
        stopping.cancel()
        store = FollowerStore(assignment.folder.database, assignment.changes, self._link)
        try:
            await serve_store(self._settings, store, self._stop_asked, self._announce, assignment.sockets)
        finally:
            await store.close()

    def _end_of_link(self) -> asyncio.Protocol:
        self._linked.set()
        return self._link.end()
