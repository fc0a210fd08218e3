"""The servers under load, each a process of its own: start, pause, stop; CPU time and memory of the process tree.

Linux only: figures are read from /proc. A server is the leader of a session, and all of the session is counted.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).parent
CACHE = BENCH / ".cache"

# The newest there is. It names Node 22 as the oldest it supports, and runs on 20; older ones are several times slower.
AZURITE_VERSION = "3.37.0"
AZURITE_PACKAGE = CACHE / "azurite/node_modules/azurite/package.json"
AZURITE_MAIN = CACHE / "azurite/node_modules/azurite/dist/src/table/main.js"

START_SECONDS_MAX = 120.0
STOP_SECONDS_MAX = 30.0
POLL_SECONDS = 0.002
# Longer than Azurite's interval between saves (5 s): a server that was idle for so long has nothing left to write.
QUIET_SECONDS = 6.0
QUIET_CPU_SHARE = 0.02

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class ServerError(Exception):
    """A server did not start, ended by itself, or could not be installed."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A server program: its name and how it is started on a port with a data folder."""

    name: str
    command: Callable[[int, Path], list[str]]


def rowkey(*options: str, name: str = "rowkey") -> Kind:
    """Rowkey, started with these options."""
    command = [sys.executable, "-m", "rowkey", "serve", *options]
    return Kind(name, lambda port, data: [*command, f"--port={port}", f"--data={data}"])


ROWKEY = rowkey()
AZURITE = Kind(
    "azurite",
    lambda port, data: [
        "node",
        str(AZURITE_MAIN),
        "--silent",
        "--disableTelemetry",
        "--skipApiVersionCheck",
        f"--tablePort={port}",
        f"--location={data}",
    ],
)
HTTP_FLOOR = Kind(
    "floor",
    lambda port, _data: [sys.executable, str(BENCH / "floors.py"), "http", f"--port={port}"],
)


def node_version() -> str:
    """The version of the Node.js on the PATH, as `20.11.1`."""
    return subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip().lstrip("v")


def azurite_version() -> str:
    """The version of the Azurite in the cache."""
    return str(json.loads(AZURITE_PACKAGE.read_text())["version"])


def install_azurite(version: str) -> None:
    """Install a version from npm into the cache, once."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise ServerError(f"{program} is not on the PATH: the comparison needs Node.js (or use --server rowkey)")
    if AZURITE_PACKAGE.exists() and azurite_version() == version:
        return
    print(f"installing azurite {version} from npm ...", file=sys.stderr)
    folder = CACHE / "azurite"
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", f"azurite@{version}"]
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
        raise ServerError("npm could not install azurite; its messages are above")


class Server:
    """One running server; paused except while it is measured, so that the others have the machine."""

    def __init__(self, kind: Kind, *, data: Path) -> None:
        self.kind = kind
        self.port = _free_port()
        self._data = data
        self._log = data.with_suffix(".log")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def start(self, ready_request: bytes) -> float:
        """Start on the data folder, leave it running, and return the seconds from its start to the first 200."""
        self._data.mkdir(parents=True, exist_ok=True)
        command = self.kind.command(self.port, self._data)
        # Python keeps what it has compiled, as wherever a server is installed: compiling is half of a start.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        with self._log.open("wb") as log:
            began = time.perf_counter()
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=environment)
        while not self._is_ready(ready_request):
            if self._process.poll() is not None or time.perf_counter() - began > START_SECONDS_MAX:
                log_text = self._log.read_text(errors="replace")[-2000:]
                raise ServerError(f"{self.kind.name} did not start: {' '.join(command)}\n{log_text}")
            time.sleep(POLL_SECONDS)
        return time.perf_counter() - began

    def _is_ready(self, request: bytes) -> bool:
        try:
            return ask(self.port, request) == 200
        except OSError:
            return False

    def pause(self) -> None:
        os.killpg(self.pid, signal.SIGSTOP)

    @contextmanager
    def awake(self) -> Iterator[None]:
        """Let the server run for the length of a block."""
        os.killpg(self.pid, signal.SIGCONT)
        try:
            yield
        finally:
            self.pause()

    def wait_until_quiet(self) -> None:
        """Wait until the server has used next to no CPU time for a while: what it does behind its answers is done."""
        processes = session_processes(self.pid)
        while True:
            before = cpu_seconds(processes)
            time.sleep(QUIET_SECONDS)
            if cpu_seconds(processes) - before < QUIET_SECONDS * QUIET_CPU_SHARE:
                return

    def rss_bytes(self) -> int:
        return sum(_resident_bytes(pid) for pid in session_processes(self.pid))

    def stop(self) -> None:
        """Ask the server to end as Ctrl-C does, and kill what is left of it."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGCONT)
        self._process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS_MAX)
        for pid in session_processes(self.pid):
            os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._process = None


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Stop the server at the end of the block."""
    try:
        yield server
    finally:
        server.stop()


def ask(port: int, request: bytes) -> int:
    """Send one request on a connection of its own and return the status of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS_MAX) as connection:
        connection.sendall(request)
        status_line = connection.makefile("rb").readline()
    return int(status_line.split()[1]) if status_line else 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


# --- /proc ------------------------------------------------------------------------------------------------------------


def session_processes(session: int) -> list[int]:
    """Return the ids of a session's processes: those of a server, its workers among them."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in pids if (stat := _read_stat(pid)) and int(stat[3]) == session]


def cpu_seconds(processes: list[int]) -> float:
    """Return user and system time of the processes, and of the children they have waited for, in steps of 10 ms."""
    stats = (_read_stat(pid) for pid in processes)
    return sum(sum(map(int, stat[11:15])) for stat in stats) / _TICKS_PER_SECOND


def _read_stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on (field 3 of proc(5) is index 0); none for no process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
