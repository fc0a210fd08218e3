"""Requests do not depend on how their bytes are cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import ServiceError
from rowkey.server.limits import Limits
from rowkey.server.reader import FEED_BYTES_MAX, RequestReader

STREAM = (
    b"GET /a HTTP/1.1\r\nHost: here\r\nX: y\r\nX: z\r\n\r\n"
    b"POST /b HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\nhello"
    b"PUT /c HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\nffffffff: u\r\n\r\n"
    b"MERGE /d HTTP/1.1\r\nHost: here\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi"
    b"DELETE /e HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\nrest"
)


def read(*parts: bytes) -> list[tuple[object, str]]:
    """What a reader makes of a stream that arrives in these parts."""
    reader = RequestReader(Limits(), peer="1.2.3.4:5")
    for part in parts:
        reader.feed(part)
    return list(reader.complete)


WHOLE = read(STREAM)


def test_stream_is_read() -> None:
    assert [request.target for request, _ in WHOLE] == ["/a", "/b", "/c", "/d", "/e"]  # type: ignore[attr-defined]


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_cuts_make_no_difference(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    assert read(*(STREAM[start:end] for start, end in pairwise(edges))) == WHOLE


TOO_LARGE = (
    b"POST /b HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\nhello"
    b"PUT /c HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nffffffffffffffff\r\nd"
)


@given(st.lists(st.integers(0, len(TOO_LARGE)), max_size=20))
def test_cuts_do_not_hide_the_size_of_a_chunk(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(TOO_LARGE)]
    assert refusal_of(*(TOO_LARGE[start:end] for start, end in pairwise(edges))) == 413


def test_what_follows_a_body_whose_chunks_are_not_followed_is_read() -> None:
    """A name in capitals is no sign of chunks, so nobody knows where in a packet that body ends."""
    chunked = b"PUT /c HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
    first, second = read(
        chunked.replace(b"Transfer-Encoding", b"TRANSFER-ENCODING"),
        b"3\r\nabc\r\n0\r\n\r\n" + chunked + b"9\r\na",
        b"ffffffff\r\n0\r\n\r\n",
    )
    assert (first[0].body, second[0].body) == (b"abc", b"affffffff")  # type: ignore[attr-defined]


@given(st.lists(st.tuples(st.integers(0, len(STREAM) - 1), st.binary(max_size=3)), min_size=1, max_size=5), st.data())
def test_damage_is_read_or_refused(damages: list[tuple[int, bytes]], data: st.DataObject) -> None:
    stream = bytearray(STREAM)
    for position, replacement in damages:
        stream[position : position + data.draw(st.integers(0, 3))] = replacement
    assert refusal_of(bytes(stream)) in (None, 400, 413, 417, 431)


@given(st.lists(st.binary(min_size=1, max_size=FEED_BYTES_MAX), max_size=4))
def test_noise_is_refused(parts: list[bytes]) -> None:
    assert refusal_of(*parts) in (None, 400)


def refusal_of(*parts: bytes) -> int | None:
    """The status with which a stream is refused; any other exception fails the test."""
    try:
        read(*parts)
    except ServiceError as refusal:
        return refusal.status
    return None
