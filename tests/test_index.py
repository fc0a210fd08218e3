"""The `rowkey index` commands, against a running server."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

import pytest

from rowkey.arguments import make_parser
from rowkey.client import CONNECTION_STRING_VARIABLE, Endpoint, parse_connection_string
from rowkey.config import DEVELOPMENT_ACCOUNT
from rowkey.index import run_command
from tests.conftest import ServerProcess, free_port

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Server

KEY = "a2V5"


def index(*arguments: str, connection_string: str | None = None) -> tuple[int, str, str]:
    """Run a command to its end: exit code, output, errors."""
    environment = {name: value for name, value in os.environ.items() if name != CONNECTION_STRING_VARIABLE}
    if connection_string is not None:
        environment[CONNECTION_STRING_VARIABLE] = connection_string
    command = [sys.executable, "-m", "rowkey", "index", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)
    return result.returncode, result.stdout, result.stderr


def failure(connection_string: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said where indexes cannot be listed."""
    assert run_command(make_parser().parse_args(["index", "list", "--connection-string", connection_string])) == 1
    return capsys.readouterr().err


def send(server: Server, method: str, path: str, body: dict[str, object]) -> None:
    target = f"/{server.account}{path}"
    headers = {"Accept": "application/json;odata=nometadata", "Content-Type": "application/json"}
    headers = server.sign(method, target, {"x-ms-version": "2019-02-02", **headers})
    urlopen(Request(server.endpoint + path, json.dumps(body).encode(), headers, method=method)).close()


class TestCommands:
    def test_an_index_is_added_listed_and_dropped(self, own_server: ServerProcess) -> None:
        server = own_server.server
        for name in ("Orders", "Others"):
            send(server, "POST", "/Tables", {"TableName": name})
        for number in range(3):
            send(server, "POST", "/Orders", {"PartitionKey": "p", "RowKey": str(number), "Email": "a@b"})
        text = server.connection_string
        assert index("list", connection_string=text) == (0, "There are no indexes.\n", "")
        code, output, _ = index("add", "Orders", "Email", connection_string=text)
        assert (code, output) == (0, "The index of Orders on Email is being built: rowkey index list Orders\n")
        deadline = time.monotonic() + 20
        while "ready" not in (output := index("list", "--connection-string", text)[1]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert [line.split() for line in output.splitlines()] == [
            ["TABLE", "PROPERTY", "STATE", "ENTRIES"],
            ["Orders", "Email", "ready", "3"],
        ]
        assert "is there already" in index("add", "Orders", "Email", connection_string=text)[1]
        assert index("list", "Others", connection_string=text)[1] == "There are no indexes.\n"
        assert index("drop", "Orders", "Email", connection_string=text)[:2] == (
            0,
            "The index of Orders on Email is dropped.\n",
        )
        log = re.sub(r"\s+", " ", own_server.read_log())
        for said in ("building the index on Email of Orders", "is complete", "is dropped"):
            assert said in log

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["drop", "Orders", "Email"], "refused to drop the index of Orders on Email: ResourceNotFound: "),
            (["add", "Missing", "Email"], "refused to add the index of Missing on Email: TableNotFound: "),
            (["list", "Missing"], "refused to list the indexes of Missing: TableNotFound: "),
            (["add", "Orders", "a b"], "PropertyNameInvalid"),
            (["add", "Orders", "PartitionKey"], "needs no index"),
        ],
    )
    def test_what_is_refused(self, server: Server, arguments: list[str], complaint: str) -> None:
        try:
            send(server, "POST", "/Tables", {"TableName": "Orders"})
        except OSError:  # it is there already
            pass
        code, output, errors = index(*arguments, connection_string=server.connection_string)
        assert (code, output) == (1, "")
        assert complaint in errors

    def test_a_wrong_key(self, server: Server) -> None:
        text = server.connection_string.replace(server.key, KEY)
        code, _, errors = index("list", connection_string=text)
        assert code == 1
        assert "AuthenticationFailed" in errors
        assert KEY not in errors
        assert "Compare AccountKey and the two clocks" in errors

    def test_an_account_that_the_server_does_not_have(self, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
        text = server.connection_string.replace(server.account, "other")
        assert failure(text, capsys).endswith("The server has no account other.\n")

    def test_http_and_https_are_told_apart(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And a certificate that the server has made itself can be trusted, as the message says."""
        process = ServerProcess(tmp_path, "--tls", "auto")
        process.start()
        secure, plain = process.server.connection_string, process.server.connection_string.replace("https:", "http:")
        assert failure(plain, capsys).endswith("write https:// into the TableEndpoint.\n")
        assert failure(secure, capsys).endswith("Trust its certificate: SSL_CERT_FILE=DIR/tls/cert.pem\n")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "data" / "tls" / "cert.pem"))
        assert run_command(make_parser().parse_args(["index", "list", "--connection-string", secure])) == 0
        process.stop()

    def test_https_where_the_server_speaks_http(self, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
        text = server.connection_string.replace("http:", "https:")
        assert failure(text, capsys).endswith("The server speaks http: write http:// into the TableEndpoint.\n")

    @pytest.mark.parametrize("body", [b"Hello!", b"\xff", b"[]", b"{}", b'{"value": [{}]}'])
    def test_another_server(self, body: bytes, capsys: pytest.CaptureFixture[str]) -> None:
        def answer() -> None:
            with listener.accept()[0] as connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=answer)
            thread.start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/abc"
            text = f"AccountName=abc;AccountKey={KEY};TableEndpoint={url}"
            assert f"What answers at {url} is no Rowkey" in failure(text, capsys)
            thread.join()

    def test_no_server(self) -> None:
        url = f"http://127.0.0.1:{free_port()}/a"
        code, _, errors = index("list", connection_string=f"AccountName=a;AccountKey={KEY};TableEndpoint={url}")
        assert code == 1
        assert f"No answer from {url}" in errors
        assert "--connection-string" in errors

    @pytest.mark.parametrize(
        "arguments",
        [
            *([], ["add"], ["add", "Orders"], ["add", "", "Email"], ["move", "a", "b"], ["list", "a", "b"]),
            *(["list", "--connection-string", ""], ["list", "--connection-string", "AccountName=a"]),
        ],
    )
    def test_senseless_command_lines(self, arguments: list[str]) -> None:
        assert index(*arguments)[0] == 2

    def test_a_senseless_connection_string_of_the_environment(self) -> None:
        code, _, errors = index("list", connection_string="AccountName=a")
        assert (code, errors.count("\n")) == (2, 1)
        assert "neither AccountName and AccountKey" in errors


class TestConnectionString:
    @pytest.mark.parametrize(
        ("text", "url"),
        [
            (f"AccountName=abc;AccountKey={KEY}", "https://abc.table.core.windows.net"),
            (
                f"DefaultEndpointsProtocol=http;AccountName=abc;AccountKey={KEY};EndpointSuffix=x.y;",
                "http://abc.table.x.y",
            ),
            (f"accountname=abc;accountkey={KEY};tableendpoint=http://here:1/abc/;", "http://here:1/abc"),
        ],
    )
    def test_endpoint(self, text: str, url: str) -> None:
        assert parse_connection_string(text) == Endpoint(url, "abc", b"key")

    def test_development_account(self) -> None:
        endpoint = parse_connection_string("UseDevelopmentStorage=true")
        url = "http://127.0.0.1:10002/devstoreaccount1"
        assert endpoint == Endpoint(url, "devstoreaccount1", DEVELOPMENT_ACCOUNT.keys[0])

    def test_signature(self) -> None:
        endpoint = parse_connection_string("TableEndpoint=http://here:1/abc/;SharedAccessSignature=?sv=1&sig=a%2Fb%3D")
        assert endpoint == Endpoint("http://here:1/abc", "", signature="sv=1&sig=a%2Fb%3D")

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("x", "neither AccountName and AccountKey nor"),
            ("AccountName=abc", "neither AccountName and AccountKey nor"),
            ("TableEndpoint=http://here:1/abc;SharedAccessSignature=a b", "not what a client can ask with"),
            ("AccountName=abc;AccountKey=!", "not base64"),
            (f"AccountName=d\u00e9v;AccountKey={KEY}", "not that of an account"),
        ],
    )
    def test_what_is_none(self, text: str, complaint: str) -> None:
        with pytest.raises(ValueError, match=complaint):
            parse_connection_string(text)

    @pytest.mark.parametrize(
        "url",
        [
            *("here", "http://", "http:///abc", "http://[::1/abc", "http://here:port/abc", "http://here:0/abc"),
            *("http://..here/abc", "http://here/d\u00e9v", "http://here/a b", "http://here/?a", "http://here/#a"),
        ],
    )
    def test_what_is_no_url(self, url: str) -> None:
        with pytest.raises(ValueError, match="not the URL of a server"):
            parse_connection_string(f"AccountName=abc;AccountKey={KEY};TableEndpoint={url}")
