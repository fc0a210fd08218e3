"""The same listener by TLS: real handshakes, on both event loops.

What differs from plain TCP is that no side can be ended alone, that a connection begins only after a handshake, and
that the event loop keeps buffers of its own.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import socket
import ssl
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from rowkey.model.limits import BODY_BYTES_MAX
from rowkey.server.certificate import keep_certificate
from rowkey.server.limits import Limits
from rowkey.server.tls import CertificateError, open_context
from rowkey.wire.request import Response

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.server.conftest import House

GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
WAIT = b"GET /wait HTTP/1.1\r\nHost: here\r\n\r\n"
LARGE = b"GET /large HTTP/1.1\r\nHost: here\r\n\r\n"


def post(body: bytes) -> bytes:
    """A request with a body."""
    return b"POST /t HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def echo(response: Response) -> dict[str, Any]:
    """What the stand-in service saw."""
    seen: dict[str, Any] = json.loads(response.body)
    return seen


async def connections_of(house: House, count: int) -> None:
    """Wait until the listener has so many."""
    for _ in range(200):
        if len(house.listener._connections) == count:
            return
        await asyncio.sleep(0.01)
    assert len(house.listener._connections) == count


class TestHandshake:
    async def test_request_is_secure(self, secure_house: House, house: House) -> None:
        for client, is_secure in ((await secure_house.connect(), True), (await house.connect(), False)):
            await client.send(GET)
            seen = echo(await client.answer())
            assert seen["is_secure"] is is_secure
            assert seen["peer"].startswith("127.0.0.1:")

    @pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
    async def test_modern_versions(self, secure_house: House, version: ssl.TLSVersion) -> None:
        assert secure_house.trust is not None
        secure_house.trust.minimum_version = secure_house.trust.maximum_version = version
        secure_house.trust.set_alpn_protocols(["h2", "http/1.1"])
        client = await secure_house.connect()
        connection = client.writer.get_extra_info("ssl_object")
        assert connection.version() == {"TLSv1_2": "TLSv1.2", "TLSv1_3": "TLSv1.3"}[version.name]
        assert connection.selected_alpn_protocol() == "http/1.1"
        assert "GCM" in connection.cipher()[0] or "CHACHA20" in connection.cipher()[0]
        await client.send(GET)
        assert (await client.answer()).status == 200

    @pytest.mark.parametrize("version", ["TLSv1", "TLSv1_1"])
    async def test_old_versions_are_refused(self, secure_house: House, version: str) -> None:
        """The client is made to accept everything, so that it is the server who refuses."""
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        with pytest.warns(DeprecationWarning, match=version):
            old.minimum_version = old.maximum_version = getattr(ssl.TLSVersion, version)
        with pytest.raises(ssl.SSLWantReadError):  # it speaks, and waits for an answer
            old.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO()).do_handshake()
        secure_house.trust = old
        with pytest.raises(OSError):
            await secure_house.connect()
        await connections_of(secure_house, 0)

    async def test_client_that_does_not_trust_the_certificate_leaves_nothing_behind(self, secure_house: House) -> None:
        secure_house.trust = ssl.create_default_context()
        for _ in range(5):
            with pytest.raises(ssl.SSLCertVerificationError):
                await secure_house.connect()
        await connections_of(secure_house, 0)

    @pytest.mark.parametrize(
        ("sent", "lines"), [(GET, 1), (b"\x16\x03\x01\xff\xff" + b"\xff" * 64, 0), (b"\0" * 512, 0)]
    )
    async def test_what_is_no_tls_is_dropped(
        self,
        secure_house: House,
        sent: bytes,
        lines: int,
        caplog: pytest.LogCaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The log says so of http, once a minute: whoever sends it learns nothing from the end of the connection."""
        monkeypatch.setattr("rowkey.server.tls._End._complained", -math.inf)
        secure_house.trust = None
        for _ in range(2):
            client = await secure_house.connect()
            await client.send(sent)
            assert not (await client.rest()).startswith(b"HTTP")
        await connections_of(secure_house, 0)
        assert ["speaks http" in record.message for record in caplog.records] == [True] * lines

    async def test_silence_is_not_waited_for(
        self,
        tmp_path: Path,
        house_with: Callable[..., AbstractAsyncContextManager[House]],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("rowkey.server.listener.HANDSHAKE_SECONDS_MAX", 0.2)
        async with house_with(folder=tmp_path) as house:
            house.trust = None
            client = await house.connect()
            begin = time.monotonic()
            assert await client.is_closed()
            assert 0.1 < time.monotonic() - begin < 2

    async def test_silence_does_not_hold_up_the_end(self, secure_house: House) -> None:
        secure_house.trust = None
        await secure_house.connect()
        begin = time.monotonic()
        await secure_house.listener.stop()
        assert time.monotonic() - begin < 1


class TestRequests:
    async def test_pipelined_requests_are_answered_in_order(self, secure_house: House) -> None:
        client = await secure_house.connect()
        await client.send(b"".join(b"GET /%d HTTP/1.1\r\nHost: here\r\n\r\n" % n for n in range(100)))
        assert [echo(await client.answer())["target"] for _ in range(100)] == [f"/{n}" for n in range(100)]

    async def test_bodies_of_all_sizes(self, secure_house: House) -> None:
        """Among them some about the 16 KiB of a record, and the largest that is accepted."""
        client = await secure_house.connect()
        for size in (0, 1, 16383, 16384, 16385, 262143, 262145, BODY_BYTES_MAX):
            body = bytes(65 + n % 26 for n in range(64)) * (size // 64 + 1)
            await client.send(post(body[:size]))
            assert echo(await client.answer())["body"].encode() == body[:size]

    async def test_request_in_single_bytes(self, secure_house: House) -> None:
        client = await secure_house.connect()
        for byte in post(b"ab"):
            await client.send(bytes([byte]))
        assert echo(await client.answer())["body"] == "ab"

    async def test_client_that_does_not_read_is_not_read_from(self, secure_house: House) -> None:
        """And is answered completely when it reads again."""
        client = await secure_house.connect()
        transport = cast(asyncio.Transport, client.writer.transport)
        transport.pause_reading()
        await client.send(LARGE * 3)
        await asyncio.sleep(0.3)
        assert len(secure_house.service.ended) < 3
        transport.resume_reading()
        for _ in range(3):
            assert (await client.answer()).body == b"x" * (8 << 20)

    async def test_waiting_requests_stop_the_reading(self, secure_house: House) -> None:
        client = await secure_house.connect()
        await client.send(WAIT * 3000)
        await asyncio.sleep(0.2)
        (connection,) = secure_house.listener._connections
        assert connection._is_paused
        secure_house.service.go.set()
        for _ in range(3000):
            assert (await client.answer()).status == 200
        assert not connection._is_paused

    async def test_refused_body_does_not_cost_the_answer(self, secure_house: House) -> None:
        """The client sends on, more than any buffer holds, and only then reads."""
        client = await secure_house.connect()
        client.writer.write(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 33554432\r\n\r\n")
        for _ in range(32):
            client.writer.write(bytes(1 << 20))
            await asyncio.wait_for(client.writer.drain(), 10)
        assert (await client.answer()).status == 413


class TestEnd:
    async def test_close_is_announced(self, secure_house: House) -> None:
        """The client can tell the end from a cable that was cut: reading ends without an error."""
        client = await secure_house.connect()
        await client.send(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert (await client.answer()).header("Connection") == "close"
        assert await client.is_closed()
        await connections_of(secure_house, 0)

    async def test_large_last_answer_arrives_whole_however_slowly_it_is_read(self, secure_house: House) -> None:
        """Longer than the event loop would wait by itself if it were not told otherwise."""
        client = await secure_house.connect()
        transport = cast(asyncio.Transport, client.writer.transport)
        transport.pause_reading()
        await client.send(LARGE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        await asyncio.sleep(1)
        transport.resume_reading()
        assert (await client.answer()).body == b"x" * (8 << 20)
        assert await client.is_closed()

    async def test_client_that_has_asked_and_ends_is_answered(
        self, secure_house: House, caplog: pytest.LogCaptureFixture
    ) -> None:
        """As far as that is possible: what needs no waiting."""
        assert secure_house.trust is not None
        port, trust = secure_house.listener.port, secure_house.trust

        def ask() -> None:
            with trust.wrap_socket(
                socket.create_connection(("127.0.0.1", port)), server_hostname="127.0.0.1"
            ) as client:
                client.settimeout(10)
                client.sendall(GET)
                with pytest.raises(ssl.SSLError) as answered:
                    client.unwrap()  # the answer comes before the other farewell
                assert answered.value.reason == "APPLICATION_DATA_AFTER_CLOSE_NOTIFY"

        await asyncio.to_thread(ask)
        await connections_of(secure_house, 0)
        assert not caplog.records

    async def test_client_that_leaves_in_the_midst(self, secure_house: House, caplog: pytest.LogCaptureFixture) -> None:
        client = await secure_house.connect()
        await client.send(WAIT)
        await asyncio.sleep(0.05)
        client.writer.transport.abort()
        await asyncio.sleep(0.05)
        secure_house.service.go.set()
        await connections_of(secure_house, 0)
        assert secure_house.service.ended == ["/wait"]
        assert not [record for record in caplog.records if record.levelno > logging.DEBUG]

    async def test_stop_answers_what_was_accepted(self, secure_house: House) -> None:
        busy, idle = await secure_house.connect(), await secure_house.connect()
        await busy.send(WAIT)
        await idle.send(GET)
        await idle.answer()
        stopping = asyncio.create_task(secure_house.listener.stop())
        assert await idle.is_closed()
        assert not stopping.done()
        secure_house.service.go.set()
        assert (await busy.answer()).header("Connection") == "close"
        assert await busy.is_closed()
        await stopping

    async def test_idle_client_does_not_hold_up_the_end(
        self, secure_house: House, caplog: pytest.LogCaptureFixture
    ) -> None:
        """One that is asleep in a pool does not even read our farewell."""
        assert secure_house.trust is not None
        port, trust = secure_house.listener.port, secure_house.trust

        def connect() -> ssl.SSLSocket:
            client = trust.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="127.0.0.1")
            client.sendall(GET)
            assert client.recv(1 << 16).startswith(b"HTTP/1.1 200")
            return client

        with await asyncio.to_thread(connect) as asleep:
            begin = time.monotonic()
            await secure_house.listener.stop()
            assert time.monotonic() - begin < 3
            assert asleep.recv(1) == b""
        assert not [record for record in caplog.records if record.levelno > logging.DEBUG]

    async def test_time_outs_end_connections(
        self, tmp_path: Path, house_with: Callable[..., AbstractAsyncContextManager[House]]
    ) -> None:
        limits = replace(Limits(), idle_seconds=0.2, head_seconds=0.2, linger_seconds=0.2, sweep_seconds=0.05)
        async with house_with(limits, folder=tmp_path) as house:
            idle, slow = await house.connect(), await house.connect()
            await slow.send(GET[:-5])
            assert await idle.is_closed()
            assert (await slow.answer()).status == 408
            assert await slow.is_closed()
            await connections_of(house, 0)


class TestFiles:
    """What is given with `--cert` and `--key`."""

    @pytest.fixture
    def files(self, tmp_path: Path) -> tuple[Path, Path]:
        """A certificate and its key."""
        return keep_certificate(tmp_path / "one", "")

    def test_file_that_is_missing(self, files: tuple[Path, Path], tmp_path: Path) -> None:
        with pytest.raises(CertificateError, match=r"--cert .*gone cannot be read: No such file"):
            open_context(tmp_path / "gone", files[1])
        with pytest.raises(CertificateError, match=r"--key .*gone cannot be read"):
            open_context(files[0], tmp_path / "gone")

    def test_key_of_another_certificate(self, files: tuple[Path, Path], tmp_path: Path) -> None:
        with pytest.raises(CertificateError, match="is not the key of"):
            open_context(files[0], keep_certificate(tmp_path / "two", "")[1])

    @pytest.mark.parametrize("text", ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    def test_file_that_is_something_else(self, files: tuple[Path, Path], text: str) -> None:
        files[0].write_text(text)
        with pytest.raises(CertificateError, match="must be PEM files"):
            open_context(*files)

    def test_files_that_are_exchanged(self, files: tuple[Path, Path]) -> None:
        with pytest.raises(CertificateError, match="must be PEM files"):
            open_context(files[1], files[0])
