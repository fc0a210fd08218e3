"""A real server, in a process of its own, for every test that talks to one.

`pytest --target URL` sends the clients' tests to a server that is already running instead:
another emulator, or an account of the service itself (then with `--target-key`).
"""

from __future__ import annotations

import base64
import hmac
import json
import logging
import re
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from email.utils import formatdate
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import HealthCheck, settings
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from tests.compatibility import PAGE, CompatibilityPage
from tests.leaks import LeakWatch, leaks
from tests.postgres import Postgres

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

# The account and the key that every emulator of the service has; published by Microsoft, and secret to nobody.
DEVELOPMENT_ACCOUNT = "devstoreaccount1"
DEVELOPMENT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 15


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server is, and who may use it."""

    endpoint: str
    account: str
    key: str

    @property
    def connection_string(self) -> str:
        """What an SDK is given."""
        scheme = urlsplit(self.endpoint).scheme
        return (
            f"DefaultEndpointsProtocol={scheme};AccountName={self.account};AccountKey={self.key};"
            f"TableEndpoint={self.endpoint};"
        )

    def sign(self, method: str, target: str, headers: Mapping[str, str]) -> dict[str, str]:
        """`headers` with those that Shared Key needs for a request: a date, and the signature of it all."""
        lower = {name.lower(): value for name, value in headers.items()}
        date = lower.get("x-ms-date") or formatdate(usegmt=True)
        content = lower.get("content-md5", ""), lower.get("content-type", "")
        path, _, query = target.partition("?")
        component = re.search(r"\bcomp=\w+", query)
        resource = f"{path}?{component[0]}" if component else path
        text = "\n".join((method, *content, date, f"/{self.account}{resource}"))
        digest = hmac.digest(base64.b64decode(self.key), text.encode(), "sha256")
        signature = base64.b64encode(digest).decode()
        return {"x-ms-date": date, **headers, "Authorization": f"SharedKey {self.account}:{signature}"}


class ServerProcess:
    """`python -m rowkey serve` on a folder, to be started, stopped, killed and started again on the same port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = options
        self._log = folder / "log"
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        scheme = "https" if "--tls" in options else "http"
        self.server = Server(
            f"{scheme}://127.0.0.1:{self._port}/{DEVELOPMENT_ACCOUNT}", DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY
        )

    def start(self) -> None:
        """Start the server, and return when it accepts connections."""
        command = [
            *(sys.executable, "-m", "rowkey", "serve", "--host", "127.0.0.1", "--port", str(self._port)),
            *("--data", str(self._folder / "data"), "--account", f"{DEVELOPMENT_ACCOUNT}:{DEVELOPMENT_KEY}"),
            *self._options,
        ]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._is_listening():
            if self._process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the server did not start (exit code {self._process.poll()}):\n{self.read_log()}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Ask the server to end; it must do so in time and without an error, and never have logged a traceback.

        Nor, however it ended, a key or a signature.
        """
        assert not leaks(self.read_log(), (DEVELOPMENT_KEY,))
        if self._process is None:
            return
        process, self._process = self._process, None
        process.terminate()
        try:
            exit_code = process.wait(STOP_SECONDS_MAX)
        finally:
            process.kill()
            process.wait()
        assert exit_code == 0, self.read_log()
        assert "Traceback (most recent call last)" not in self.read_log(), self.read_log()

    def kill(self) -> None:
        """End the server as a crash would, in the midst of whatever it does."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None
        while self._is_listening():  # its workers end a moment later
            time.sleep(0.005)

    def read_log(self) -> str:
        """What the server has printed so far."""
        return self._log.read_text(errors="replace")

    def _is_listening(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
        except OSError:
            return False
        return True


PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


class TokenIssuer:
    """An OpenID Connect issuer on this machine: it signs tokens, and publishes its metadata and keys over HTTP."""

    tenant = "11111111-2222-3333-4444-555555555555"

    def __init__(self) -> None:
        self.keys: dict[str, PrivateKey] = {"first": first_key()}
        self.changes: dict[str, Any] = {}
        """What the metadata say otherwise than they should."""
        self.is_broken = False
        self.asked: list[str] = []
        """The paths that were asked for."""
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                body = json.dumps(issuer.documents().get(self.path, {})).encode()
                self.send_response(500 if issuer.is_broken else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: object) -> None:
                """Say nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port: int = self._http.server_port
        self.url = f"http://127.0.0.1:{self.port}/{self.tenant}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        """End the HTTP server."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def documents(self) -> dict[str, Any]:
        """What is published, by path."""
        metadata = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/oauth2/authorize",
            "jwks_uri": f"{self.url}/keys",
        }
        return {
            f"/{self.tenant}/.well-known/openid-configuration": metadata | self.changes,
            f"/{self.tenant}/keys": self.key_set(),
        }

    def key_set(self) -> dict[str, Any]:
        """The public keys, as Entra ID shows them: without an algorithm."""
        return {"keys": [{**public_members(key), "use": "sig", "kid": kid} for kid, key in self.keys.items()]}

    def claims(self, **changes: Any) -> dict[str, Any]:
        """What a token of an application says that Entra ID issues for storage; None takes a claim away."""
        now = int(time.time())
        claims = {
            "aud": "https://storage.azure.com",
            "iss": self.url,
            "iat": now - 300,
            "nbf": now - 300,
            "exp": now + 3600,
            "oid": "aaaaaaaa-0000-0000-0000-000000000001",
            "sub": "aaaaaaaa-0000-0000-0000-000000000001",
            "tid": self.tenant,
            "ver": "1.0",
        }
        return {name: value for name, value in {**claims, **changes}.items() if value is not None}

    def token(self, kid: str = "first", algorithm: str = "RS256", **changes: Any) -> str:
        """A signed token."""
        return jwt.encode(self.claims(**changes), self.keys[kid], algorithm, headers={"kid": kid})


@cache
def first_key() -> rsa.RSAPrivateKey:
    """The same for all issuers; making one takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_members(key: PrivateKey) -> dict[str, Any]:
    """The public half of a key, as a JSON Web Key."""
    public = key.public_key()
    if isinstance(public, rsa.RSAPublicKey):
        return RSAAlgorithm.to_jwk(public, as_dict=True)
    return ECAlgorithm.to_jwk(public, as_dict=True)


@pytest.fixture
def issuer() -> Iterator[TokenIssuer]:
    """An issuer of the test's own."""
    issuer = TokenIssuer()
    yield issuer
    issuer.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the clients' tests be pointed at any server, and the page of what is compatible be written."""
    parser.addoption("--target", metavar="URL", help="test this running server, e.g. http://127.0.0.1:10002/account")
    parser.addoption("--target-key", metavar="KEY", default=DEVELOPMENT_KEY, help="account key of the --target")
    parser.addoption("--store", choices=("postgresql",), help="have each server of our own keep its data there")
    parser.addoption("--workers", metavar="N", help="have so many processes in each server of our own")
    parser.addoption("--write-compatibility", action="store_true", help=f"write docs/{PAGE.name}, from its own tests")


def pytest_configure(config: pytest.Config) -> None:
    """Let every run hold the page of what is compatible to what its tests have shown.

    A busy machine fails no test: Hypothesis measures no time, which on a fresh one goes into its table of characters.
    """
    config.pluginmanager.register(CompatibilityPage(config), "compatibility")
    settings.register_profile("rowkey", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("rowkey")


@pytest.fixture(scope="session", autouse=True)
def leak_watch() -> Iterator[None]:
    """Nothing that the tests make the server log has a key or a signature."""
    watch = LeakWatch(DEVELOPMENT_KEY)
    logging.getLogger().addHandler(watch)
    yield
    logging.getLogger().removeHandler(watch)
    assert not watch.found


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that all tests share; each test keeps to keys or tables of its own."""
    target: str | None = request.config.getoption("--target")
    if target is not None:
        yield Server(target.rstrip("/"), account_of(target), request.config.getoption("--target-key"))
        return
    process = ServerProcess(tmp_path_factory.mktemp("server"), *run_options(request))
    process.start()
    yield process.server
    process.stop()


@pytest.fixture
def own_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ServerProcess]:
    """A server of the test's own, running, which it may stop and kill."""
    if request.config.getoption("--target") is not None:
        pytest.skip("stops and kills its server, so never a --target")
    process = ServerProcess(tmp_path, *run_options(request))
    process.start()
    yield process
    process.stop()


@pytest.fixture
def own_server_with(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """A way to a server of the test's own with options of `serve`."""
    if request.config.getoption("--target") is not None:
        pytest.skip("needs a server with options of its own, so never a --target")
    processes: list[ServerProcess] = []

    def start(*options: str) -> ServerProcess:
        process = ServerProcess(tmp_path, *run_options(request), *options)
        process.start()
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.stop()


def run_options(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """What the options of the test run ask each server for; a test's own options come later and count more."""
    workers: str | None = request.config.getoption("--workers")
    options: tuple[str, ...] = () if workers is None else ("--workers", workers)
    if request.config.getoption("--store") == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        options += ("--store", postgres.new_database())
    return options


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL of the tests' own, running."""
    with Postgres.running() as server:
        yield server


def account_of(target: str) -> str:
    """The account in a URL: its path (`http://127.0.0.1:10002/account`) or the first label of its host."""
    url = urlsplit(target)
    return url.path.strip("/") or (url.hostname or "").split(".")[0]


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
