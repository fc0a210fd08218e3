"""The command as a process: what it prints, how it ends, and what it says when it cannot begin."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rowkey import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS_MAX = 20
KEY = "a2V5"


def rowkey(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "rowkey", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_MAX,
        cwd=cwd,
    )


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """A way to start servers that are gone after the test."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "rowkey", "serve", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def ready_line(process: subprocess.Popen[str]) -> str:
    """Wait for the line that says so."""
    assert process.stdout is not None
    for line in process.stdout:
        if " is ready on " in line:
            return line.rstrip()
    pytest.fail(f"the server did not start: {process.communicate()[1]}")


def port_of(line: str) -> int:
    """The port in a ready line."""
    return int(line.partition("http://")[2].partition(" ")[0].rpartition(":")[2])


def test_version() -> None:
    assert rowkey("--version").stdout == f"Rowkey {__version__}\n"


def test_nothing_asked_prints_help() -> None:
    result = rowkey()
    assert result.returncode == 0
    assert "serve" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--memory", "--data", "x"], "exclude each other"),
        (["--port", "65536"], "not a port"),
        (["--port", "many"], "invalid int value"),
        (["--account", "abc:no-base64"], "not base64"),
        (["--account", "abc"], "one or two keys"),
        (["--account", f"abc:{KEY}", "--account", f"abc:{KEY}"], "given twice"),
        (["--log-level", "loud"], "invalid choice"),
        (["--unheard-of"], "unrecognized arguments"),
    ],
)
def test_senseless_command_line_is_a_usage_error(arguments: list[str], complaint: str, tmp_path: Path) -> None:
    result = rowkey("serve", *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert complaint in result.stderr
    assert not list(tmp_path.iterdir())


class TestServe:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_says_when_it_is_ready_and_ends_on_a_signal(
        self, start: Callable[..., subprocess.Popen[str]], tmp_path: Path, number: int
    ) -> None:
        process = start("--data", str(tmp_path / "data"))
        line = ready_line(process)
        assert (
            line == f"Rowkey {__version__} is ready on http://127.0.0.1:{port_of(line)} (data in {tmp_path / 'data'})"
        )
        process.send_signal(number)
        _, errors = process.communicate(timeout=SECONDS_MAX)
        assert (process.returncode, errors) == (0, "")

    def test_starts_within_half_a_second(self, start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
        """The best of three, because the machine may be busy."""
        times = []
        for n in range(3):
            begin = time.monotonic()
            ready_line(start("--data", str(tmp_path / str(n))))
            times.append(time.monotonic() - begin)
        assert min(times) < 0.5 * float(os.environ.get("ROWKEY_SLOWNESS", "1"))

    def test_prints_a_connection_string_for_each_account(self, start: Callable[..., subprocess.Popen[str]]) -> None:
        process = start("--memory", "--account", f"abc:{KEY}", "--account", f"def:{KEY}:{KEY}")
        assert process.stdout is not None
        lines = [process.stdout.readline().rstrip() for _ in range(3)]
        port = port_of(lines[2])
        assert lines == [
            "Connection string: DefaultEndpointsProtocol=http;AccountName=abc;AccountKey=a2V5;"
            f"TableEndpoint=http://127.0.0.1:{port}/abc;",
            "Connection string: DefaultEndpointsProtocol=http;AccountName=def;AccountKey=a2V5;"
            f"TableEndpoint=http://127.0.0.1:{port}/def;",
            f"Rowkey {__version__} is ready on http://127.0.0.1:{port} (in memory: nothing is kept)",
        ]

    def test_answers_and_closes_idle_connections_at_the_end(self, start: Callable[..., subprocess.Popen[str]]) -> None:
        process = start("--memory")
        with socket.create_connection(("127.0.0.1", port_of(ready_line(process)))) as client:
            client.settimeout(SECONDS_MAX)
            client.sendall(b"GET /devstoreaccount1/Tables HTTP/1.1\r\nHost: here\r\n\r\n")
            assert client.recv(1 << 16).startswith(b"HTTP/1.1 403 ")
            process.terminate()
            assert client.recv(1) == b""
        process.wait(SECONDS_MAX)
        assert process.returncode == 0

    def test_port_that_is_taken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            result = rowkey("serve", "--memory", "--port", str(taken.getsockname()[1]))
        assert result.returncode == 1
        assert "the port is in use" in result.stderr
        assert "--port" in result.stderr
        assert len(result.stderr.splitlines()) == 1

    def test_address_of_another_machine(self) -> None:
        result = rowkey("serve", "--memory", "--host", "192.0.2.1", "--port", "0")
        assert result.returncode == 1
        assert "--host" in result.stderr
        assert len(result.stderr.splitlines()) == 1

    def test_data_that_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for path in (tmp_path / "file", tmp_path / "file" / "below"):
            result = rowkey("serve", "--port", "0", "--data", str(path))
            assert result.returncode == 1
            assert str(path) in result.stderr
            assert len(result.stderr.splitlines()) == 1

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_data_that_cannot_be_written(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        result = rowkey("serve", "--port", "0", "--data", str(tmp_path / "data"))
        assert result.returncode == 1
        assert "cannot be written" in result.stderr

    def test_data_of_another_process(self, start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
        owner = start("--data", str(tmp_path))
        ready_line(owner)
        result = rowkey("serve", "--port", "0", "--data", str(tmp_path))
        assert result.returncode == 1
        assert str(owner.pid) in result.stderr
        assert len(result.stderr.splitlines()) == 1
