"""The command as a process: what it prints, how it ends, and what it says when it cannot begin."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rowkey import __version__
from rowkey.server.certificate import keep_certificate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.conftest import TokenIssuer

SECONDS_MAX = 20
KEY = "a2V5"
SERVE = (sys.executable, "-m", "rowkey", "serve", "--port", "0")


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

    def start(*arguments: str, command: Sequence[str] = SERVE, cwd: Path | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd
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
    return int(line.partition("://")[2].partition(" ")[0].rpartition(":")[2])


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
        (["--metrics-port", "65536"], "not a port: choose one from 0 to 65535"),
        (["--metrics-port", "65535", "--workers", "2"], "choose one from 0 to 65534"),
        (["--data", ""], "argument --data: it is empty"),
        (["--host", ""], "argument --host: it is empty"),
        (["--workers", "0"], "makes no sense"),
        (["--workers", "65"], "makes no sense"),
        (["--workers", "2", "--memory"], "exclude each other"),
        (["--memory", "--auto-index"], "no use for indexes"),
        (["--store", "postgresql://here/db", "--auto-index"], "no use for indexes"),
        (["--store", "postgresql://u:sec/ret@here/db"], "In a password write %2F"),
        (["--memory", "--port", "7000", "--metrics-port", "7000"], "--port 7000 is the metrics port, too"),
        (["--port", "7003", "--metrics-port", "7000", "--workers", "4"], "metrics port of one of 4 workers, too"),
        (["--host", f"{'a' * 64}.org", "--allow-development-key"], "not the name of a host"),
        (["--port", "many"], "invalid int value"),
        (["--account", "abc:no-base64"], "not base64"),
        (["--account", "abc"], "one or two keys"),
        (["--account", f"abc:{KEY}", "--account", f"abc:{KEY}"], "given twice"),
        (["--tls", "old"], "invalid choice"),
        (["--cert", "x"], "belong together"),
        (["--key", "x"], "belong together"),
        (["--cert", "x", "--key", "y", "--tls", "auto"], "exclude each other"),
        (["--oidc", "https://here", "--oidc-role", "reader"], "needs https"),
        (["--oauth", "basic"], "needs https"),
        (["--tls", "auto", "--oidc", "https://here"], "--oidc needs --oidc-role"),
        (["--tls", "auto", "--oidc", "here", "--oidc-role", "reader"], "not the URL of an issuer"),
        (["--tls", "auto", "--oidc", "http://here", "--oidc-role", "reader"], "must be an https URL"),
        (["--tls", "auto", "--oidc", "https://here", "--oidc-role", "king"], "not a role"),
        (["--tls", "auto", "--oidc", "https://here", "--oidc-role", "=reader"], "names nobody"),
        (["--tls", "auto", "--oidc", "https://here", "--oidc-role", "none", "--oidc-role", "reader"], "given twice"),
        (["--tls", "auto", "--oidc", "https://here", "--oauth", "basic"], "exclude each other"),
        (["--tls", "auto", "--oauth", "basic", "--host", "0.0.0.0"], "others could make themselves tokens"),
        (["--tls", "auto", "--oauth", "basic", "--oidc-keys", "x"], "checks no signatures"),
        (["--oauth", "advanced"], "invalid choice"),
        (["--oidc-role", "reader"], "needs --oidc"),
        (["--oidc-keys", "x"], "needs --oidc"),
        (["--log-level", "loud"], "invalid choice"),
        (["--unheard-of"], "unrecognized arguments"),
    ],
)
def test_senseless_command_line_is_a_usage_error(arguments: list[str], complaint: str, tmp_path: Path) -> None:
    result = rowkey("serve", *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert complaint in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [("index", "list", "--connection-string"), ("db", "status")])
def test_ctrl_c_ends_a_command_that_waits(arguments: tuple[str, ...]) -> None:
    """For a server that says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"//127.0.0.1:{listener.getsockname()[1]}/abc"
        text = (
            f"postgresql:{place}"
            if arguments[0] == "db"
            else f"AccountName=abc;AccountKey={KEY};TableEndpoint=http:{place}"
        )
        command = [sys.executable, "-m", "rowkey", *arguments, text]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        with listener.accept()[0] as connection:
            assert connection.recv(1)
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=SECONDS_MAX)[1] == "rowkey: interrupted\n"
    assert process.returncode == 130


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

    @pytest.mark.skipif(sys.platform == "win32", reason="needs a shell that can close a stream")
    def test_serves_without_standard_streams(self, start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
        """None of them must become a file of the server's, which prints to it."""
        command = f"exec {shlex.quote(sys.executable)} -m rowkey serve --port 0 --workers 2 --data data <&- 2>&-"
        process = start(command=["sh", "-c", command], cwd=tmp_path)
        ready_line(process)
        process.terminate()
        assert process.wait(SECONDS_MAX) == 0

    @pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe with a name")
    def test_ctrl_c_before_there_is_a_server(self, start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
        """It reads the file of accounts, from a pipe into which nobody writes."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        process = start("--memory", "--account-file", str(pipe))
        with pipe.open("wb"):  # which waits until it is being read
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=SECONDS_MAX)
        assert (process.returncode, errors) == (-signal.SIGINT, "")

    @pytest.mark.parametrize("option", ["--port", "--metrics-port"])
    def test_port_that_is_taken(self, option: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            result = rowkey("serve", "--memory", "--port", "0", option, str(taken.getsockname()[1]))
        assert result.returncode == 1
        assert "the port is in use" in result.stderr
        assert f"choose another {option}." in result.stderr
        assert len(result.stderr.splitlines()) == 1

    def test_address_of_another_machine(self) -> None:
        result = rowkey("serve", "--memory", "--host", "192.0.2.1", "--port", "0", "--account", f"abc:{KEY}")
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


class TestTls:
    def test_certificate_is_made_and_kept(self, start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
        certificate = tmp_path / "tls" / "cert.pem"
        for _ in range(2):
            process = start("--data", str(tmp_path), "--tls", "auto")
            assert process.stdout is not None
            lines = [process.stdout.readline().rstrip() for _ in range(4)]
            port = port_of(lines[3])
            assert lines[0].startswith(
                "Connection string: DefaultEndpointsProtocol=https;AccountName=devstoreaccount1;"
            )
            assert lines[0].endswith(f";TableEndpoint=https://127.0.0.1:{port}/devstoreaccount1;")
            assert lines[1] == f"Certificate, for clients to trust: {certificate}"
            assert f"REQUESTS_CA_BUNDLE={certificate}" in lines[2]
            assert lines[3].startswith(f"Rowkey {__version__} is ready on https://127.0.0.1:{port} (data in ")
            context = ssl.create_default_context(cafile=str(certificate))
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=SECONDS_MAX, context=context)
            connection.request("GET", "/devstoreaccount1/Tables")
            assert connection.getresponse().status == 403
            connection.close()
            process.terminate()
            assert process.wait(SECONDS_MAX) == 0

    def test_certificate_of_a_server_in_memory_is_gone_with_it(
        self, start: Callable[..., subprocess.Popen[str]]
    ) -> None:
        process = start("--memory", "--tls", "auto")
        assert process.stdout is not None
        certificate = Path([process.stdout.readline() for _ in range(2)][1].partition("trust: ")[2].strip())
        ready_line(process)
        assert certificate.exists()
        process.terminate()
        process.wait(SECONDS_MAX)
        assert not certificate.parent.exists()

    def test_certificate_of_ones_own(self, start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
        certificate, key = keep_certificate(tmp_path, "")
        process = start("--memory", "--cert", str(certificate), "--key", str(key))
        port = port_of(ready_line(process))
        context = ssl.create_default_context(cafile=str(certificate))
        with socket.create_connection(("127.0.0.1", port)) as client:
            with context.wrap_socket(client, server_hostname="localhost") as connection:
                assert connection.version() == "TLSv1.3"

    def test_certificate_that_cannot_be_used(self, tmp_path: Path) -> None:
        result = rowkey("serve", "--memory", "--port", "0", "--cert", str(tmp_path / "gone"), "--key", "gone")
        assert result.returncode == 1
        assert f"--cert {tmp_path / 'gone'} cannot be read" in result.stderr
        assert len(result.stderr.splitlines()) == 1

    @pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl command")
    def test_key_with_a_password_is_not_asked_for(self, tmp_path: Path) -> None:
        certificate, key = keep_certificate(tmp_path, "")
        locked = tmp_path / "locked"
        command = ["openssl", "pkey", "-in", str(key), "-aes256", "-passout", "pass:secret", "-out", str(locked)]
        subprocess.run(command, check=True, timeout=SECONDS_MAX)
        result = rowkey("serve", "--memory", "--port", "0", "--cert", str(certificate), "--key", str(locked))
        assert result.returncode == 1
        assert "protected with a password" in result.stderr
        assert len(result.stderr.splitlines()) == 1


class TestBearer:
    def test_keys_from_a_file(
        self, start: Callable[..., subprocess.Popen[str]], issuer: TokenIssuer, tmp_path: Path
    ) -> None:
        """Then nothing is fetched."""
        keys = tmp_path / "keys.json"
        keys.write_text(json.dumps(issuer.key_set()))
        process = start(
            *("--data", str(tmp_path), "--tls", "auto", "--oidc", issuer.url, "--oidc-keys", str(keys)),
            *("--oidc-role", "none", "--oidc-role", "abc=reader"),
        )
        ready_line(process)
        assert not issuer.asked

    @pytest.mark.parametrize("text", [None, "[]", '{"keys": []}'])
    def test_keys_that_cannot_be_used(self, tmp_path: Path, text: str | None) -> None:
        keys = tmp_path / "keys.json"
        if text is not None:
            keys.write_text(text)
        options = ["--memory", "--port", "0", "--tls", "auto", "--oidc", "https://here", "--oidc-role", "reader"]
        result = rowkey("serve", *options, "--oidc-keys", str(keys))
        assert result.returncode == 1
        assert f"--oidc-keys {keys} cannot be used" in result.stderr
        assert len(result.stderr.splitlines()) == 1

    def test_issuer_that_cannot_be_reached_does_not_keep_the_server_from_starting(
        self, start: Callable[..., subprocess.Popen[str]]
    ) -> None:
        process = start("--memory", "--tls", "auto", "--oidc", "http://127.0.0.1:1/x", "--oidc-role", "reader")
        ready_line(process)
        assert process.stderr is not None
        assert "cannot fetch the keys of http://127.0.0.1:1/x" in process.stderr.readline()
        process.terminate()
        assert process.wait(SECONDS_MAX) == 0

    def test_end_right_after_the_start(self, start: Callable[..., subprocess.Popen[str]], issuer: TokenIssuer) -> None:
        """The keys are still being fetched; a thread in the midst of OpenSSL has crashed the process."""
        for _ in range(4):
            process = start("--memory", "--tls", "auto", "--oidc", issuer.url, "--oidc-role", "reader")
            ready_line(process)
            process.terminate()
            assert process.communicate(timeout=SECONDS_MAX)[1].count("Traceback") == 0
            assert process.returncode == 0

    def test_oauth_basic_warns(self, start: Callable[..., subprocess.Popen[str]]) -> None:
        process = start("--memory", "--tls", "auto", "--oauth", "basic")
        ready_line(process)
        assert process.stderr is not None
        assert "signatures of bearer tokens are NOT checked" in process.stderr.readline()
