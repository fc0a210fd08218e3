"""One run of the comparison: what was asked for, what has been measured so far, and the servers that it has."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Record, load, loading, say
from servers import CACHE, Kind, Server
from workload import MeasureError, Target, Workload
from workloads import MEASURED


@dataclass(slots=True)
class Bench:
    """One run: what was asked for, and what has been measured so far."""

    kinds: list[Kind]
    entities: int
    rounds: int
    scale: float
    only: str
    record: Record = field(default_factory=Record)

    def wants(self, *names: str) -> bool:
        return any(fnmatchcase(name, self.only) for name in names)

    def workloads(self, *tables: str) -> list[Workload]:
        """Return the wanted ones of those that use such tables."""
        return [workload for workload in MEASURED if workload.table in tables and self.wants(workload.name)]

    def measure(
        self, server: Server, workload: Workload, target: Target, *, name: str = "", beside: Workload | None = None
    ) -> None:
        """Run a workload at a paused server, perhaps beside another, and keep the result under its name.

        A failed one is not tried again.
        """
        key = (name or workload.name, server.kind.name)
        if key in self.record.failures:
            return
        try:
            with server.awake(), loading(beside, target, server_pid=server.pid) if beside else nullcontext():
                result = load(workload, target, server_pid=server.pid, seconds=workload.seconds * self.scale)
        except MeasureError as failure:
            self.record.failures[key] = str(failure)
            # What earlier rounds gave is no speed of a server that gives wrong answers.
            self.record.results.pop(key, None)
            say(*key, f"failed: {failure}")
        else:
            self.record.keep_result(*key, result)


@contextmanager
def new_servers(kinds: list[Kind]) -> Iterator[list[Server]]:
    """Give servers on empty folders, not started yet, and stop them at the end of the block."""
    with TemporaryDirectory(dir=CACHE, prefix="data-") as folder:
        servers = [Server(kind, data=Path(folder) / kind.name) for kind in kinds]
        try:
            yield servers
        finally:
            for server in servers:
                server.stop()
