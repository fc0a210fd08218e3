"""One measure: a script of ours as a process of its own, what is asked of a server around it, and the record of all."""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from asking import point_query
from servers import BENCH, Server, ServerError, ask
from signing import render_head
from workload import MeasureError, Result, Target, Workload
from workloads import FILL

# A server that has not answered by then is taken to hang; filling has some time for each entity besides.
MEASURE_SECONDS_MAX = 120.0
ENTITY_SECONDS_MAX = 0.001
# The end of what a failed script wrote, where the reason stands.
STDERR_SHOWN = 1000
MIB = 1 << 20


@dataclass(slots=True)
class Record:
    """All that was measured, by name of the measure and of where (a server, a size), one value for each round."""

    results: dict[tuple[str, str], list[Result]] = field(default_factory=dict)
    figures: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    def keep_result(self, name: str, where: str, result: Result) -> None:
        self.results.setdefault((name, where), []).append(result)
        say(name, where, f"{result.rate_per_second:10.1f} /s {result.cpu_us:10.1f} µs CPU")

    def keep_figure(self, name: str, where: str, value: float) -> None:
        self.figures.setdefault((name, where), []).append(value)
        say(name, where, f"{value:10.1f}")

    def rates(self, name: str, where: str) -> list[float]:
        return [result.rate_per_second for result in self.results.get((name, where), [])]

    def cpus(self, name: str, where: str) -> list[float]:
        return [result.cpu_us for result in self.results.get((name, where), [])]

    def write(self, path: Path) -> None:
        """Write it as JSON, for whoever wants to look closer."""
        results = [
            {"name": name, "where": where, "rounds": [dataclasses.asdict(result) for result in rounds]}
            for (name, where), rounds in self.results.items()
        ]
        figures = [{"name": name, "where": where, "rounds": rounds} for (name, where), rounds in self.figures.items()]
        path.write_text(json.dumps({"results": results, "figures": figures}, indent=1) + "\n")


def read_record(path: Path) -> Record:
    """Read what `Record.write` wrote."""
    written = json.loads(path.read_text())
    return Record(
        results={
            (entry["name"], entry["where"]): [Result(**result) for result in entry["rounds"]]
            for entry in written["results"]
        },
        figures={(entry["name"], entry["where"]): entry["rounds"] for entry in written["figures"]},
    )


def load(workload: Workload, target: Target, *, server_pid: int, seconds: float) -> Result:
    """Run the load generator; raises MeasureError with its reason."""
    fill_seconds = target.entities * ENTITY_SECONDS_MAX if workload is FILL else 0.0
    arguments = _load_arguments(workload, target, server_pid=server_pid, seconds=seconds)
    return run_measure(*arguments, seconds_max=MEASURE_SECONDS_MAX + fill_seconds)


@contextmanager
def loading(workload: Workload, target: Target, *, server_pid: int) -> Iterator[None]:
    """Keep a load up for the length of a block; raises MeasureError where it ended before the block did."""
    command = _command(*_load_arguments(workload, target, server_pid=server_pid, seconds=MEASURE_SECONDS_MAX))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield
            if process.poll() is not None:
                raise MeasureError(process.stderr.read().strip()[-STDERR_SHOWN:] if process.stderr else "")
        finally:
            process.kill()


def _load_arguments(workload: Workload, target: Target, *, server_pid: int, seconds: float) -> tuple[str, ...]:
    return (
        "load.py",
        workload.name,
        f"--port={target.port}",
        f"--server-pid={server_pid}",
        f"--table={target.table}",
        f"--entities={target.entities}",
        f"--first={target.first}",
        f"--seconds={seconds}",
    )


def run_measure(script: str, *arguments: str, seconds_max: float = MEASURE_SECONDS_MAX) -> Result:
    """Run one of our scripts to its end and read the Result that it prints."""
    try:
        done = subprocess.run(
            _command(script, *arguments), capture_output=True, text=True, timeout=seconds_max, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise MeasureError(f"no end after {seconds_max:.0f} s") from error
    if done.returncode:
        raise MeasureError(done.stderr.strip()[-STDERR_SHOWN:])
    return Result(**json.loads(done.stdout))


def _command(script: str, *arguments: str) -> list[str]:
    return [sys.executable, str(BENCH / script), *arguments]


def new_table(server: Server, table: str, *, entities: int) -> Target:
    """Create a table at a paused server, for so many entities; raises ServerError."""
    body = json.dumps({"TableName": table}).encode()
    head = render_head("POST", "Tables", port=server.port, content_type="application/json", body_bytes=len(body))
    with server.awake():
        _ask_for(server, "the creation of a table", head + body, status=204)
    return Target(port=server.port, table=table, entities=entities)


def fill_table(server: Server, target: Target, workload: Workload = FILL) -> Result:
    """Fill a table of a running server; raises ServerError."""
    try:
        return load(workload, target, server_pid=server.pid, seconds=FILL.seconds)
    except MeasureError as failure:
        raise ServerError(f"{server.kind.name} could not be filled: {failure}") from failure


def add_index(server: Server, target: Target, name: str) -> None:
    """Add an index on a property at a paused server, and wait until it is built; raises ServerError."""
    request = render_head("PUT", target.table, port=server.port, comp="indexes", query=f"property={name}")
    with server.awake():
        _ask_for(server, "the addition of an index", request, status=202)
        server.wait_until_quiet()


def _ask_for(server: Server, what: str, request: bytes, *, status: int) -> None:
    try:
        answered = ask(server.port, request)
    except OSError as failure:
        raise ServerError(f"{server.kind.name} is gone: {failure}") from failure
    if answered != status:
        raise ServerError(f"{server.kind.name} answered {answered} to {what}")


def list_tables(port: int) -> bytes:
    return render_head("GET", "Tables", port=port)


def last_entity(target: Target) -> bytes:
    return point_query(target, target.entities - 1)


def say(name: str, where: str, text: str) -> None:
    """Show progress, apart from the report."""
    print(f"{name:18} {where:>8} {text}", file=sys.stderr)
