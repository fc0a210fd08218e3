"""An issuer's keys over real HTTP: when they are fetched, and what happens when they cannot be."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from rowkey.auth.authority import TokenAuthority
from rowkey.auth.token import KeysNotReadable
from rowkey.config import EVERYBODY_ELSE, Bearer, Role
from rowkey.errors import BearerTokenRefused, ServerBusy
from rowkey.server import issuer as issuer_module
from rowkey.server.certificate import keep_certificate
from rowkey.server.driver import Driver
from rowkey.server.issuer import FetchedIssuer, fetch_documents

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from tests.conftest import TokenIssuer

ACCOUNT, VERSION = "contoso", "2020-12-06"


@pytest.fixture
async def keep() -> AsyncIterator[Callable[..., FetchedIssuer]]:
    """A way to fetched issuers that stop after the test."""
    sources: list[FetchedIssuer] = []

    def keep(url: str, **times: Any) -> FetchedIssuer:
        source = FetchedIssuer(url, **times)
        source.start()
        sources.append(source)
        return source

    yield keep
    for source in sources:
        await source.stop()


def authority(source: FetchedIssuer, url: str) -> TokenAuthority:
    """Who decides with these keys."""
    return TokenAuthority(Bearer(url, roles={EVERYBODY_ELSE: Role.READER}), source)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for it."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_keys_are_fetched_when_the_server_starts(
    issuer: TokenIssuer, keep: Callable[..., FetchedIssuer], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        source = keep(issuer.url)
        await authority(source, issuer.url).authenticate(issuer.token(), ACCOUNT, VERSION, True)
    assert source.issuer is not None
    assert source.issuer.authorization_uri == f"{issuer.url}/oauth2/authorize"
    assert issuer.asked == [f"/{issuer.tenant}/.well-known/openid-configuration", f"/{issuer.tenant}/keys"]
    assert f"fetched the keys of {issuer.url}: 1" in caplog.text


async def test_new_key_is_fetched_once_for_all_who_wait(
    issuer: TokenIssuer, keep: Callable[..., FetchedIssuer]
) -> None:
    source = keep(issuer.url, refresh_seconds_min=0.0)
    some = authority(source, issuer.url)
    await some.authenticate(issuer.token(), ACCOUNT, VERSION, True)
    issuer.keys["second"] = ec.generate_private_key(ec.SECP256R1())
    tokens = [issuer.token("second", "ES256", jti=str(n)) for n in range(10)]
    await asyncio.gather(*(some.authenticate(token, ACCOUNT, VERSION, True) for token in tokens))
    assert len(issuer.asked) == 4


async def test_made_up_keys_do_not_make_us_ask_again_and_again(
    issuer: TokenIssuer, keep: Callable[..., FetchedIssuer]
) -> None:
    source = keep(issuer.url)
    some = authority(source, issuer.url)
    await some.authenticate(issuer.token(), ACCOUNT, VERSION, True)
    issuer.keys["made up"] = issuer.keys["first"]
    for n in range(20):
        with pytest.raises(BearerTokenRefused):
            await some.authenticate(issuer.token("made up", jti=str(n)), ACCOUNT, VERSION, True)
    assert len(issuer.asked) == 2


async def test_keys_are_fetched_again_after_a_while(issuer: TokenIssuer, keep: Callable[..., FetchedIssuer]) -> None:
    """The same documents change nothing, so that verified tokens stay remembered; other keys replace the old ones."""
    source = keep(issuer.url, refresh_seconds=0.05)
    await until(lambda: len(issuer.asked) >= 6)
    first = source.issuer
    await until(lambda: len(issuer.asked) >= 10)
    assert source.issuer is first is not None
    issuer.keys["second"] = issuer.keys.pop("first")
    await until(lambda: source.issuer is not first)
    assert source.issuer is not None
    assert set(source.issuer.keys) == {"second"}


async def test_known_keys_outlive_an_issuer_that_fails(
    issuer: TokenIssuer, keep: Callable[..., FetchedIssuer], caplog: pytest.LogCaptureFixture
) -> None:
    source = keep(issuer.url, refresh_seconds=0.05, retry_seconds=(0.05,))
    await until(lambda: source.issuer is not None)
    issuer.is_broken = True
    await until(lambda: "the known ones stay in use" in caplog.text)
    await authority(source, issuer.url).authenticate(issuer.token(), ACCOUNT, VERSION, True)


async def test_issuer_that_is_not_there_yet(
    issuer: TokenIssuer, keep: Callable[..., FetchedIssuer], caplog: pytest.LogCaptureFixture
) -> None:
    """Bearers are told to come back, the log says why, and it is tried until it works."""
    issuer.is_broken = True
    source = keep(issuer.url, retry_seconds=(0.2, 0.01))
    some = authority(source, issuer.url)
    assert f"authorization_uri={issuer.url}/oauth2/authorize " in some.challenge().headers[0][1]
    with pytest.raises(ServerBusy):
        await some.authenticate(issuer.token(), ACCOUNT, VERSION, True)
    asked = len(issuer.asked)
    for _ in range(5):
        with pytest.raises(ServerBusy):
            await some.authenticate(issuer.token(), ACCOUNT, VERSION, True)
    assert len(issuer.asked) == asked
    assert f"cannot fetch the keys of {issuer.url}: HTTP Error 500" in caplog.text
    assert "503" in caplog.text
    issuer.is_broken = False
    await until(lambda: source.issuer is not None)
    await some.authenticate(issuer.token(), ACCOUNT, VERSION, True)


async def test_nobody_listens(keep: Callable[..., FetchedIssuer], caplog: pytest.LogCaptureFixture) -> None:
    keep("http://127.0.0.1:1/tenant")
    await until(lambda: "Connection refused" in caplog.text)


async def test_waiting_needs_no_task(issuer: TokenIssuer, keep: Callable[..., FetchedIssuer]) -> None:
    """Requests are driven without one; and one that is cancelled does not take the keys from the others."""
    some = authority(keep(issuer.url), issuer.url)
    outcomes: list[object] = []

    def drive(token: str) -> Driver[Any]:
        coroutine = some.authenticate(token, ACCOUNT, VERSION, True)
        return Driver(coroutine, coroutine.send(None), outcomes.append, asyncio.get_running_loop())

    drivers = [drive(issuer.token(jti=str(n))) for n in range(3)]
    drivers[0].cancel()
    await until(lambda: len(outcomes) == 3)
    assert isinstance(outcomes[0], asyncio.CancelledError)
    assert [getattr(outcome, "kind", None) for outcome in outcomes[1:]] == ["bearer", "bearer"]


async def test_stop_does_not_wait_for_an_issuer_that_is_silent(silent: int, keep: Callable[..., FetchedIssuer]) -> None:
    source = keep(f"http://127.0.0.1:{silent}/tenant")
    await asyncio.sleep(0.1)
    begin = time.monotonic()
    await source.stop()
    assert time.monotonic() - begin < 3


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


# ---------------------------------------------------------------- documents


class Elsewhere:
    """An HTTP server that answers whatever the test says."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body = b""
        self.seconds_per_byte = 0.0
        elsewhere = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(elsewhere.status)
                for name, value in elsewhere.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                step = 1 if elsewhere.seconds_per_byte else len(elsewhere.body) or 1
                try:
                    for start in range(0, len(elsewhere.body), step):
                        time.sleep(elsewhere.seconds_per_byte)
                        self.wfile.write(elsewhere.body[start : start + step])
                except OSError:  # the client has had enough
                    pass

            def log_message(self, *_arguments: object) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    """Such a server."""
    elsewhere = Elsewhere()
    thread = Thread(target=elsewhere.http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield elsewhere
    elsewhere.http.shutdown()
    elsewhere.http.server_close()
    thread.join()


def test_redirects_are_not_followed(issuer: TokenIssuer, elsewhere: Elsewhere) -> None:
    elsewhere.status = 302
    elsewhere.headers = {"Location": f"{issuer.url}/.well-known/openid-configuration"}
    with pytest.raises(OSError, match="302"):
        fetch_documents(elsewhere.url)
    assert not issuer.asked


def test_documents_are_bounded(elsewhere: Elsewhere) -> None:
    elsewhere.body = b"x" * (3 << 20)
    with pytest.raises(KeysNotReadable, match="more than 1048576 bytes"):
        fetch_documents(elsewhere.url)


def test_documents_must_come_in_time(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a whole: each byte for itself comes soon enough."""
    elsewhere.body = b"x" * 200
    elsewhere.seconds_per_byte = 0.02
    monkeypatch.setattr(issuer_module, "FETCH_SECONDS_MAX", 0.3)
    begin = time.monotonic()
    with pytest.raises(KeysNotReadable, match="took more than"):
        fetch_documents(elsewhere.url)
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize(
    ("keys_url", "complaint"),
    [
        ("file:///etc/passwd", "not an https URL"),
        ("http://192.0.2.1/keys", "not an https URL"),
        ("ftp://127.0.0.1/keys", "not an https URL"),
        ("", "not an https URL"),
    ],
)
def test_keys_are_not_fetched_from_anywhere(issuer: TokenIssuer, keys_url: str, complaint: str) -> None:
    issuer.changes = {"jwks_uri": keys_url}
    with pytest.raises(KeysNotReadable, match=complaint):
        fetch_documents(issuer.url)


def test_issuer_by_https_must_be_trusted(
    issuer: TokenIssuer, elsewhere: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the machine, or by SSL_CERT_FILE; and then its keys must not come by http."""
    certificate, key = keep_certificate(tmp_path, "")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    elsewhere.http.socket = context.wrap_socket(elsewhere.http.socket, server_side=True)
    url = elsewhere.url.replace("http:", "https:")
    elsewhere.body = json.dumps({"issuer": url, "jwks_uri": f"{issuer.url}/keys"}).encode()
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        fetch_documents(url)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with pytest.raises(KeysNotReadable, match="which is not https"):
        fetch_documents(url)
    elsewhere.body = json.dumps({"issuer": url, "jwks_uri": f"{url}/keys"}).encode()
    assert fetch_documents(url) == (elsewhere.body, elsewhere.body)
