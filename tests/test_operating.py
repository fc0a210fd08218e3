"""A server as its operator sees it: secrets, files, logs, health, figures, and how it ends."""

from __future__ import annotations

import base64
import http.client
import json
import os
import signal
import socket
import ssl
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Server, free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS_MAX = 20
KEY = base64.b64encode(b"a key that nobody should see").decode()
SECOND_KEY = base64.b64encode(b"another such key").decode()


class Running:
    """A server process, its port, and what it has said."""

    def __init__(self, folder: Path, *options: str, environment: dict[str, str] | None = None) -> None:
        self.port = free_port()
        self._log = folder / "log"
        self._out = folder / "out"
        command = [sys.executable, "-m", "rowkey", "serve", "--port", str(self.port), *options]
        with self._log.open("wb") as log, self._out.open("wb") as out:
            self.process = subprocess.Popen(
                command, stdout=out, stderr=log, env={**os.environ, **(environment or {})}, cwd=folder
            )
        deadline = time.monotonic() + SECONDS_MAX
        while " is ready on " not in self.out() and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)

    def out(self) -> str:
        """Standard output so far."""
        return self._out.read_text()

    def log(self) -> str:
        """Standard error so far."""
        return self._log.read_text()

    def lines(self) -> list[dict[str, Any]]:
        """The log, where it is JSON."""
        return [json.loads(line) for line in self.log().splitlines()]

    def ask(self, method: str, target: str, headers: dict[str, str] | None = None, port: int = 0) -> tuple[int, bytes]:
        """Status and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=SECONDS_MAX)
        connection.request(method, target, headers=headers or {})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, body

    def ask_signed(self, method: str, target: str, account: str, key: str) -> tuple[int, bytes]:
        """The same with an account's key."""
        headers = {"x-ms-version": "2019-02-02", "Accept": "application/json"}
        return self.ask(method, target, Server("", account, key).sign(method, target, headers))

    def stop(self) -> int:
        """Ask it to end; its exit code."""
        self.process.terminate()
        return self.process.wait(SECONDS_MAX)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """A way to start servers that are gone after the test."""
    running: list[Running] = []

    def start(*options: str, **arguments: Any) -> Running:
        folder = tmp_path / str(len(running))
        folder.mkdir()
        running.append(Running(folder, *options, **arguments))
        return running[-1]

    yield start
    for server in running:
        server.process.kill()
        server.process.wait()


class TestSecrets:
    def test_keys_from_a_file(self, start: Callable[..., Running], tmp_path: Path) -> None:
        file = tmp_path / "accounts"
        file.touch(mode=0o600)
        file.write_text(f"# ours\n\nabc:{KEY}\n  def:{KEY}:{SECOND_KEY}  \n")
        server = start("--memory", "--account-file", str(file))
        for account, key in (("abc", KEY), ("def", KEY), ("def", SECOND_KEY)):
            assert server.ask_signed("GET", f"/{account}/Tables", account, key)[0] == 200
        assert server.ask_signed("GET", "/abc/Tables", "abc", SECOND_KEY)[0] == 403
        command_line = Path(f"/proc/{server.process.pid}/cmdline")
        seen = server.out() + server.log() + (command_line.read_text() if command_line.exists() else "")
        assert KEY not in seen
        assert SECOND_KEY not in seen
        assert "AccountName=abc;AccountKey=KEY;" in server.out()
        assert "chmod" not in server.log()

    def test_keys_from_the_environment(self, start: Callable[..., Running]) -> None:
        """In the form of AZURITE_ACCOUNTS, beside those of the command line."""
        server = start(
            "--memory", "--account", f"xyz:{KEY}", environment={"ROWKEY_ACCOUNTS": f"abc:{SECOND_KEY};def:{KEY}:{KEY};"}
        )
        for account, key in (("abc", SECOND_KEY), ("def", KEY), ("xyz", KEY)):
            assert server.ask_signed("GET", f"/{account}/Tables", account, key)[0] == 200
        assert SECOND_KEY not in server.out() + server.log()

    def test_file_that_others_can_read_is_warned_of(self, start: Callable[..., Running], tmp_path: Path) -> None:
        file = tmp_path / "accounts"
        file.write_text(f"abc:{KEY}")
        file.chmod(0o640)
        assert f"chmod 600 {file}" in start("--memory", "--account-file", str(file)).log()

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            (None, "cannot be read"),
            (b"\xff", "not a text file"),
            (b"\n# nobody\n", "names no account"),
            (KEY.encode(), "line 1, does not begin with the name"),
            (f"abc:{KEY}\nABC:{KEY}".encode(), "line 2, does not begin with the name"),
            (b"abc:###", "not base64"),
            (f"abc:{KEY}\nabc:{KEY}".encode(), "given twice"),
        ],
    )
    def test_bad_file_is_a_usage_error_that_repeats_no_key(
        self, start: Callable[..., Running], tmp_path: Path, text: bytes | None, complaint: str
    ) -> None:
        file = tmp_path / "accounts"
        if text is not None:
            file.write_bytes(text)
        server = start("--memory", "--account-file", str(file))
        assert server.process.wait(SECONDS_MAX) == 2
        assert complaint in server.log()
        assert KEY not in server.log()

    def test_bad_environment_is_a_usage_error(self, start: Callable[..., Running]) -> None:
        server = start("--memory", environment={"ROWKEY_ACCOUNTS": KEY})
        assert server.process.wait(SECONDS_MAX) == 2
        assert "ROWKEY_ACCOUNTS does not begin with the name" in server.log()
        assert KEY not in server.log()

    @pytest.mark.parametrize(
        ("options", "is_refused"),
        [
            ((), True),
            (("--account", f"abc:{KEY}:{DEVELOPMENT_KEY}"), True),
            (("--account", f"abc:{KEY}"), False),
            (("--allow-development-key",), False),
        ],
    )
    def test_the_key_that_everybody_knows_stays_on_this_machine(
        self, start: Callable[..., Running], options: tuple[str, ...], is_refused: bool
    ) -> None:
        server = start("--memory", "--host", "0.0.0.0", *options)
        if is_refused:
            assert server.process.wait(SECONDS_MAX) == 2
            for way_out in ("--account NAME:KEY", "--account-file FILE", "ROWKEY_ACCOUNTS", "--allow-development-key"):
                assert way_out in server.log()
        else:
            assert server.stop() == 0

    def test_a_signature_of_a_url_is_not_logged_wherever_a_client_puts_it(self, start: Callable[..., Running]) -> None:
        """What the server signed is, so that the client's author can compare."""
        server = start("--memory")
        target = f"/{DEVELOPMENT_ACCOUNT}/Tables"
        signed = Server("", DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY).sign("GET", target, {})
        for headers in (
            {"Content-Type": "text/plain; sig=c2VjcmV0", "x-ms-date": signed["x-ms-date"]},
            {"Content-Type": "https%3A%2F%2Fhost%2F%3Fsv%3D1%26%73ig%3Dc2VjcmV0", "x-ms-date": signed["x-ms-date"]},
            {"x-ms-date": "yesterday?sig=c2VjcmV0"},
        ):
            assert server.ask("GET", target, {**signed, **headers})[0] == 403
        path = f"{target}('%3Fsig=c2VjcmV0&x=1')"
        assert server.ask("GET", path, signed)[0] == 403
        credentials, _, signature = signed["Authorization"].rpartition(":")
        assert server.ask("GET", target, {**signed, "Authorization": f"{credentials}:c2VjcmV0:{signature}"})[0] == 403
        server.stop()
        assert "c2VjcmV0" not in server.log()
        assert (
            f"the server signed 'GET\\n\\ntext/plain; sig=XXXXX\\n{signed['x-ms-date']}\\n"
            in server.lines()[0]["message"]
        )
        assert f"{path.partition('c2Vj')[0]}XXXXX&x=1')" in server.log()


class TestTls:
    @pytest.mark.parametrize(
        ("ciphers", "is_spoken"),
        [("ECDHE+AESGCM", True), ("ECDHE+CHACHA20", True), ("ECDHE+AES:!AESGCM:!AESCCM", False), ("AES:!ECDHE", False)],
    )
    def test_ciphers_of_tls_1_2_are_modern(
        self, start: Callable[..., Running], tmp_path: Path, ciphers: str, is_spoken: bool
    ) -> None:
        server = start("--data", str(tmp_path / "data"), "--tls", "auto")
        client = ssl.create_default_context(cafile=str(tmp_path / "data" / "tls" / "cert.pem"))
        client.maximum_version = ssl.TLSVersion.TLSv1_2
        client.set_ciphers(ciphers)
        with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS_MAX) as plain:
            if is_spoken:
                with client.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
                    assert connection.version() == "TLSv1.2"
            else:
                with pytest.raises(ssl.SSLError, match=r"EOF|HANDSHAKE_FAILURE"):
                    client.wrap_socket(plain, server_hostname="127.0.0.1")


class TestFiles:
    @pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
    def test_data_are_private(self, start: Callable[..., Running], tmp_path: Path) -> None:
        """Whatever umask the server was started with."""
        umask = os.umask(0)
        try:
            data = tmp_path / "deep" / "data"
            server = start("--data", str(data), "--tls", "auto")
        finally:
            os.umask(umask)
        time.sleep(0.2)
        made = [data.parent, data, *data.rglob("*")]
        assert {path.name for path in made} >= {"deep", "data", "rowkey.db", "rowkey.lock", "tls", "key.pem"}
        open_to_others = [path for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077]
        assert not open_to_others
        assert server.stop() == 0

    @pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
    def test_folder_that_others_can_read_is_warned_of(self, start: Callable[..., Running], tmp_path: Path) -> None:
        data = tmp_path / "data"
        data.mkdir()
        data.chmod(0o755)
        assert f"chmod 700 {data}" in start("--data", str(data)).log()


class TestHealth:
    def test_probes_need_no_credentials(self, start: Callable[..., Running]) -> None:
        server = start("--memory")
        assert server.ask("GET", "/healthz") == (200, b"ok\n")
        assert server.ask("GET", "/readyz") == (200, b"ok\n")
        assert server.ask("HEAD", "/readyz") == (200, b"")
        assert server.ask("POST", "/readyz")[0] == 404
        assert server.ask("GET", "/healthz", {"Host": ""})[0] == 200

    def test_the_explorer_may_be_left_out(self, start: Callable[..., Running]) -> None:
        assert start("--memory").ask("GET", "/explorer")[0] == 200
        assert start("--memory", "--no-explorer").ask("GET", "/explorer")[0] == 404

    def test_an_account_of_that_name_comes_first(self, start: Callable[..., Running]) -> None:
        server = start("--memory", "--account", f"healthz:{KEY}")
        assert server.ask("GET", "/healthz")[0] == 403
        assert server.ask_signed("GET", "/healthz/Tables", "healthz", KEY)[0] == 200
        assert server.ask("GET", "/readyz")[0] == 200
        assert server.ask("GET", "/readyz", {"Host": "healthz.table.example.com"})[0] == 403  # a table of the account

    def test_a_server_that_drains_says_so_and_goes_on(self, start: Callable[..., Running]) -> None:
        server = start("--memory", "--drain-seconds", "1.5")
        begin = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        while server.ask("GET", "/readyz")[0] == 200:
            time.sleep(0.02)
        assert server.ask("GET", "/readyz") == (503, b"the server is about to stop\n")
        assert server.ask("GET", "/healthz")[0] == 200
        assert (
            server.ask_signed("GET", f"/{DEVELOPMENT_ACCOUNT}/Tables", DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY)[0] == 200
        )
        assert server.process.wait(SECONDS_MAX) == 0
        assert time.monotonic() - begin > 1.4

    def test_a_second_signal_ends_the_draining(self, start: Callable[..., Running]) -> None:
        server = start("--memory", "--drain-seconds", "60")
        server.process.terminate()
        while server.ask("GET", "/readyz")[0] == 200:
            time.sleep(0.02)
        server.process.terminate()
        assert server.process.wait(SECONDS_MAX) == 1


class TestMetrics:
    def test_are_on_a_port_of_their_own(self, start: Callable[..., Running], tmp_path: Path) -> None:
        port = free_port()
        server = start("--data", str(tmp_path / "data"), "--metrics-port", str(port), "--host", "127.0.0.2")
        account = f"/{DEVELOPMENT_ACCOUNT}"
        connection = http.client.HTTPConnection("127.0.0.2", server.port, timeout=SECONDS_MAX)
        connection.request("GET", f"{account}/Tables")
        assert connection.getresponse().read()
        connection.request("GET", "/metrics")
        assert connection.getresponse().status == 404
        status, body = server.ask("GET", "/metrics", port=port)
        figures = body.decode()
        assert status == 200
        assert 'rowkey_requests_total{operation="Unknown",status="403"} 1' in figures
        assert "rowkey_connections 1\n" in figures
        assert "rowkey_connections_total 1\n" in figures
        assert float(figures.partition("\nrowkey_data_bytes ")[2].split()[0]) > 4096
        assert float(figures.partition("\nprocess_resident_memory_bytes ")[2].split()[0]) > 1e6
        assert server.ask("GET", "/readyz", port=port)[0] == 200
        assert server.ask("GET", "/", port=port)[0] == 404
        assert server.ask("POST", "/metrics", port=port)[0] == 404
        assert f"metrics are at http://127.0.0.1:{port}/metrics" in server.log()
        connection.close()
        assert server.stop() == 0

    def test_port_that_is_taken(self, start: Callable[..., Running]) -> None:
        other = start("--memory")
        server = start("--memory", "--metrics-port", str(other.port))
        assert server.process.wait(SECONDS_MAX) == 1
        assert f"127.0.0.1 port {other.port}: the port is in use" in server.log()

    @pytest.mark.parametrize(
        "option", ["--metrics-port=-1", "--drain-seconds=-1", "--drain-seconds=inf", "--log-slow=-1"]
    )
    def test_senseless_option(self, start: Callable[..., Running], option: str) -> None:
        assert start("--memory", option).process.wait(SECONDS_MAX) == 2


class TestRequestLog:
    def test_has_a_line_for_each_request(self, start: Callable[..., Running]) -> None:
        server = start("--memory", "--log-requests")
        target = f"/{DEVELOPMENT_ACCOUNT}/Tables"
        server.ask_signed("GET", target, DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY)
        server.ask_signed("GET", "/nobody/Tables", DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY)
        server.ask("GET", f"/{DEVELOPMENT_ACCOUNT}/Orders(PartitionKey='p',RowKey='r')?sv=2019-02-02&sig=c2VjcmV0")
        server.ask("GET", "/healthz")
        server.stop()
        lines = [line for line in server.lines() if line["logger"] == "rowkey.requests"]
        assert [(line["operation"], line["account"], line["status"], line["code"]) for line in lines] == [
            ("QueryTables", DEVELOPMENT_ACCOUNT, 200, ""),
            ("Unknown", "", 404, "ResourceNotFound"),
            ("Unknown", DEVELOPMENT_ACCOUNT, 403, "AuthenticationFailed"),
        ]
        assert lines[0]["authenticated_by"] == "authenticated"
        assert lines[0]["peer"].startswith("127.0.0.1:")
        assert lines[0]["bytes_out"] > 100
        assert "c2VjcmV0" not in server.log()

    def test_is_off_unless_asked_for(self, start: Callable[..., Running]) -> None:
        server = start("--memory")
        server.ask_signed("GET", f"/{DEVELOPMENT_ACCOUNT}/Tables", DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY)
        server.stop()
        assert server.log() == ""

    def test_slow_requests_alone(self, start: Callable[..., Running]) -> None:
        server = start("--memory", "--log-slow", "0", "--log-format", "text")
        server.ask_signed("GET", f"/{DEVELOPMENT_ACCOUNT}/Tables", DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY)
        server.stop()
        assert " WARNING rowkey.requests: slow: GET QueryTables devstoreaccount1 200 - " in server.log()
