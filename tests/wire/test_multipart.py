"""The container of a batch, in the handwriting of every client.

The bodies below are what a dozen clients send, from 2012 to today; all must be read alike.
"""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidInput
from rowkey.wire.multipart import Part, join_multipart, read_boundary, read_inner_request, split_multipart
from rowkey.wire.request import Request

BODY = b'{"PartitionKey":"p","RowKey":"r"}'
URL = "http://127.0.0.1:10002/devstoreaccount1/Orders"


class TestBoundary:
    @pytest.mark.parametrize(
        "content_type",
        [
            "multipart/mixed; boundary=batch_1",
            "multipart/mixed;boundary=batch_1",
            'multipart/mixed; boundary="batch_1"',
            'multipart/mixed; charset="utf-8"; boundary=batch_1',
            'multipart/mixed;charset="utf-8";boundary="batch_1"',
            "multipart/mixed; boundary=batch_1; charset=utf-8",
            "multipart/mixed; BOUNDARY = batch_1 ;x=y",
            "multipart/mixed;\tboundary=batch_1",
        ],
    )
    def test_boundary(self, content_type: str) -> None:
        assert read_boundary(content_type) == "batch_1"

    def test_quoted_boundary_may_hold_anything(self) -> None:
        assert read_boundary('multipart/mixed; boundary="a b;c=d"') == "a b;c=d"

    @pytest.mark.parametrize(
        "content_type",
        [
            "",
            "multipart/mixed",
            "multipart/mixed; boundary",
            "multipart/mixed; boundary=",
            'multipart/mixed; boundary=""',
            "multipart/mixed; xboundary=a",
            "multipart/mixed; boundary=;",
            "boundary=a",
        ],
    )
    def test_no_boundary(self, content_type: str) -> None:
        with pytest.raises(InvalidInput):
            read_boundary(content_type)


PARTS = [Part({"content-type": "application/http"}, b"one"), Part({"content-type": "application/http"}, b"two")]
PLAIN = (
    "--b\r\nContent-Type: application/http\r\n\r\none\r\n--b\r\nContent-Type: application/http\r\n\r\ntwo\r\n--b--\r\n"
)
BODIES = {
    "CRLF": PLAIN,
    "LF": PLAIN.replace("\r\n", "\n"),
    "CRLF outside, LF inside": PLAIN.replace("http\r\n\r\n", "http\n\n"),
    "LF outside, CRLF inside": PLAIN.replace("\r\n--b", "\n--b"),
    "LF before a blank line with CRLF": PLAIN.replace("http\r\n\r\n", "http\n\r\n"),
    "CRLF before a blank line with LF": PLAIN.replace("http\r\n\r\n", "http\r\n\n"),
    "end without a line end": PLAIN.removesuffix("\r\n"),
    "no end": PLAIN.removesuffix("--b--\r\n"),
    "no end and no line end": PLAIN.removesuffix("\r\n--b--\r\n"),
    "end without dashes": PLAIN.removesuffix("--\r\n") + "\r\n",
    "end without dashes and line end": PLAIN.removesuffix("--\r\n"),
    "en dash": PLAIN.removesuffix("--\r\n") + "–\r\n",
    "em dash": PLAIN.removesuffix("--\r\n") + "—",
    "dash and en dash": PLAIN.removesuffix("--\r\n") + "-–\r\n",
    "preamble": "This is a multi-part message.\r\n\r\n" + PLAIN,
    "blank lines first": "\r\n\r\n\n" + PLAIN,
    "epilogue": PLAIN + "good-bye\r\n--b\r\n\r\nthree\r\n--b--\r\n",
    "blanks after delimiters": PLAIN.replace("--b\r\n", "--b \t\r\n").replace("--b--", "--b-- "),
    "header names in other case": PLAIN.replace("Content-Type", "content-TYPE"),
    "blanks around header values": PLAIN.replace(": application/http", ":   application/http  "),
    "empty parts between": PLAIN.replace("--b\r\n", "--b\r\n\r\n--b\r\n"),
}


class TestSplit:
    @pytest.mark.parametrize("name", BODIES)
    def test_every_handwriting(self, name: str) -> None:
        assert split_multipart(BODIES[name].encode(), "b", 9) == PARTS

    @pytest.mark.parametrize(
        "body",
        [
            "",
            "--b--",
            "--b--\r\n",
            "--b\r\n--b--\r\n",
            "--b\r\n\r\n--b--",
            "\r\n \r\n",
            "text\r\n--b--",
        ],
    )
    def test_no_parts(self, body: str) -> None:
        assert split_multipart(body.encode(), "b", 9) == []

    @pytest.mark.parametrize(
        "body",
        [
            "text",
            "--a\r\n\r\nx\r\n--a--",
            "--bb\r\n\r\nx",
            "--B\r\n\r\nx\r\n--B--",
            "--a\r\nA: 1\r\n\r\nGET / HTTP/1.1\r\n\r\n--b--",
            "-- b\r\nA: 1\r\n\r\nGET / HTTP/1.1\r\n\r\n--b\r\nA: 1\r\n\r\nGET / HTTP/1.1\r\n\r\n--b--",
        ],
    )
    def test_another_boundary_than_was_named(self, body: str) -> None:
        """It must not look like nothing: what the client meant to write would be lost."""
        with pytest.raises(InvalidInput):
            split_multipart(body.encode(), "b", 9)

    def test_no_more_parts_than_wanted_are_looked_for(self) -> None:
        part = "--b\r\nA: 1\r\n\r\nx\r\n"
        assert split_multipart(f"{part * 3}--b\r\nnonsense".encode(), "b", 3) == [Part({"a": "1"}, b"x")] * 3

    @pytest.mark.parametrize("line", ["--b", "--b-", "--b\r\n", "x--b"])
    def test_a_million_delimiters_are_refused_soon(self, line: str) -> None:
        body = f"--b\r\n{line}\r\n" * (4_000_000 // (len(line) + 7))
        begun = time.process_time()
        with pytest.raises(InvalidInput):
            split_multipart(body.encode(), "b", 101)
        assert time.process_time() - begun < 0.1

    @pytest.mark.parametrize("content", [b"--bx", b"x--b", b"--b--x", b" --b", b"--", b"--c", b"\x00\xff", b"--b b"])
    def test_what_only_looks_like_a_delimiter_is_content(self, content: bytes) -> None:
        body = b"--b\r\nA: 1\r\n\r\n%b\r\n--b--\r\n" % content
        assert split_multipart(body, "b", 9) == [Part({"a": "1"}, content)]

    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_only_the_line_end_before_a_delimiter_is_its_own(self, newline: str) -> None:
        body = newline.join(["--b", "A: 1", "", "one", "", "", "--b--", ""]).encode()
        (part,) = split_multipart(body, "b", 9)
        assert part == Part({"a": "1"}, f"one{newline}{newline}".encode())

    def test_part_without_content(self) -> None:
        assert split_multipart(b"--b\r\nA: 1\r\n\r\n--b--", "b", 9) == [Part({"a": "1"}, b"")]
        assert split_multipart(b"--b\r\nA: 1\r\n--b--", "b", 9) == [Part({"a": "1"}, b"")]

    @pytest.mark.parametrize("first", ["\n", "\r\n"])
    @pytest.mark.parametrize("second", ["\n", "\r\n", " \r\n"])
    def test_headers_end_with_the_first_blank_line(self, first: str, second: str) -> None:
        content = "x\r\n\r\ny\n\nz\n\r\n-"
        body = f"--b\r\nA: 1{first}{second}{content}\r\n--b--"
        assert split_multipart(body.encode(), "b", 9) == [Part({"a": "1"}, content.encode())]

    def test_header_that_is_repeated(self) -> None:
        (part,) = split_multipart(b"--b\r\nA: 1\r\na:2\r\nB: 3\r\nA: 4\r\n\r\nx\r\n--b--", "b", 9)
        assert part.headers == {"a": "1, 2, 4", "b": "3"}

    def test_line_that_is_no_header(self) -> None:
        with pytest.raises(InvalidInput):
            split_multipart(b"--b\r\nnonsense\r\n\r\nx\r\n--b--", "b", 9)

    def test_boundary_that_is_no_ascii(self) -> None:
        """Headers are decoded as Latin-1, so that is how a boundary goes back to the bytes that the client sent."""
        body = "--граница\r\nA: 1\r\n\r\nx\r\n--граница--".encode()
        assert split_multipart(body, "граница".encode().decode("latin-1"), 9) == [Part({"a": "1"}, b"x")]

    @given(st.lists(st.binary(max_size=40).filter(lambda content: b"--" not in content), max_size=5), st.booleans())
    def test_what_was_joined_is_split_again(self, contents: list[bytes], has_end: bool) -> None:
        joined = join_multipart([b"A: 1\r\n\r\n%b\r\n" % content for content in contents], "b")
        body = joined if has_end else joined.removesuffix(b"--b--\r\n")
        assert split_multipart(body, "b", 9) == [Part({"a": "1"}, content) for content in contents]

    @given(st.binary(max_size=200).map(lambda noise: noise.replace(b"x", b"--b").replace(b"y", b"\r\n")))
    def test_noise_is_split_or_refused(self, noise: bytes) -> None:
        try:
            parts = split_multipart(noise, "b", 9)
        except InvalidInput:
            return
        assert all(isinstance(part.content, bytes) for part in parts)


HEADERS = {"content-type": "application/json", "content-length": "33", "accept": "application/json"}
REQUEST = (
    f"POST {URL} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 33\r\nAccept: application/json\r\n\r\n"
    f"{BODY.decode()}"
)


class TestInnerRequest:
    @pytest.mark.parametrize(
        "content",
        [
            REQUEST,
            REQUEST + "\r\n",
            REQUEST + "\r\n\r\n",
            REQUEST.replace("\r\n", "\n"),
            REQUEST.replace("\r\n\r\n", "\n\n"),
            REQUEST.replace("\r\n\r\n", "\r\n \r\n"),
            "\r\n" + REQUEST,
            "\n\n" + REQUEST,
            REQUEST.replace("\r\n\r\n", "\r\n\r\n\r\n"),
            REQUEST.replace("Content-Type", "content-type").replace(": ", ":"),
        ],
    )
    def test_every_handwriting(self, content: str) -> None:
        assert read_inner_request(content.encode()) == Request("POST", URL, HEADERS, BODY)

    @pytest.mark.parametrize(
        ("content", "length", "body"),
        [
            ("{}\r\njunk", 2, "{}"),
            ("{}\njunk", 2, "{}"),
            ("{}\n", 3, "{}\n"),
            ("{}\r\n", 4, "{}\r\n"),
            ("{}\r\n", 2, "{}"),
            ("{}\r\n", 5, "{}"),
            ("{\n}\r\n", 3, "{\n}"),
            ("\r\n{\r\n}", 5, "{\r\n}"),
            ("\r\n{}\r\njunk", 2, "{}"),
            ("{}junk", 2, "{}junk"),
            ("", 0, ""),
        ],
    )
    def test_length_where_a_line_ends(self, content: str, length: int, body: str) -> None:
        text = f"PUT /Orders HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{content}"
        assert read_inner_request(text.encode()).body == body.encode()

    @pytest.mark.parametrize("length", ["0", "1", "32", "34", "35", "9999", "-1", "9" * 5000, "33, 33", "nonsense"])
    def test_length_is_not_relied_on(self, length: str) -> None:
        request = read_inner_request(REQUEST.replace("Length: 33", f"Length: {length}").encode())
        assert (request.body, request.headers["content-length"]) == (BODY, length)

    @pytest.mark.parametrize(
        ("line", "method", "url"),
        [
            (f"DELETE {URL} HTTP/1.1", "DELETE", URL),
            ("POST /Orders HTTP/1.1", "POST", "/Orders"),
            ("PUT /Orders(PartitionKey='a', RowKey='b') HTTP/1.1", "PUT", "/Orders(PartitionKey='a', RowKey='b')"),
            ("GET  /Orders  HTTP/1.1", "GET", "/Orders"),
            ("MERGE http://:a.example:80/Orders HTTP/1.1", "MERGE", "http://:a.example:80/Orders"),
            ("PATCH /caf%C3%A9 HTTP/1.1", "PATCH", "/caf%C3%A9"),
            ("PATCH /café HTTP/1.1", "PATCH", "/café"),
            ("GET /Orders HTTP/1.0", "GET", "/Orders"),
        ],
    )
    @pytest.mark.parametrize("newline", ["\r\n", "\n"])
    def test_request_line(self, line: str, method: str, url: str, newline: str) -> None:
        content = f"{line}{newline}If-Match: *{newline}{newline}".encode()
        assert read_inner_request(content) == Request(method, url, {"if-match": "*"}, b"")

    @pytest.mark.parametrize("end", ["", "\r\n", "\r\n\r\n", "\n"])
    def test_no_headers(self, end: str) -> None:
        assert read_inner_request(f"GET /Orders HTTP/1.1{end}".encode()) == Request("GET", "/Orders", {}, b"")

    @pytest.mark.parametrize("content_id", ["1", "0", "abc"])
    def test_content_id_among_the_headers(self, content_id: str) -> None:
        """Older clients write it there, and there it is echoed."""
        content = f"GET /Orders HTTP/1.1\r\nContent-ID: {content_id}\r\n\r\n".encode()
        assert read_inner_request(content).headers == {"content-id": content_id}

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\r\n\r\n",
            b"nonsense",
            b"GET /Orders",
            b"GET HTTP/1.1",
            b"GET  HTTP/1.1",
            b"/Orders HTTP/1.1",
            b"GET /Orders FTP/1.1",
            b"GET /Orders http/1.1\r\n\r\n",
            b"GET /\xff HTTP/1.1\r\n\r\n",
            b"GET /Orders HTTP/1.1\r\nnonsense\r\n\r\n",
            b"\x00\x01\x02",
        ],
    )
    def test_what_is_no_request(self, content: bytes) -> None:
        with pytest.raises(InvalidInput):
            read_inner_request(content)

    @given(st.binary(max_size=200))
    def test_noise_is_read_or_refused(self, noise: bytes) -> None:
        for content in (noise, b"GET / HTTP/1.1\r\n" + noise):
            try:
                request = read_inner_request(content)
            except InvalidInput:
                continue
            assert request.target


class TestJoin:
    def test_as_recorded(self) -> None:
        assert join_multipart([b"A: 1\r\n\r\none\r\n", b"two\r\n"], "batchresponse_1") == (
            b"--batchresponse_1\r\nA: 1\r\n\r\none\r\n--batchresponse_1\r\ntwo\r\n--batchresponse_1--\r\n"
        )

    def test_nothing(self) -> None:
        assert join_multipart([], "b") == b"--b--\r\n"


class TestTime:
    """Nobody may hold the server with a body of a few megabytes: time is linear, whatever is in it."""

    @pytest.mark.parametrize(
        "unit",
        [
            "--b\n",
            "--b\n\nx\n",
            "--b\r\n\r\n\r\n",
            "-",
            "\n",
            "\r",
            " ",
            "--b\n ",
            "--bx\n",
            "--b\nA:\n",
            "\n--b x",
            "--b-",
        ],
        ids=repr,
    )
    def test_split(self, unit: str) -> None:
        assert seconds_to_split(unit, 1_000_000) < 1

    @pytest.mark.parametrize("unit", ["\n", "\r", " ", "\t\n", "A:\n", "A", ":", " \r", "\r\n\t"], ids=repr)
    def test_inner_request(self, unit: str) -> None:
        content = b"GET / HTTP/1.1\r\nA: 1" + unit.encode() * (600_000 // len(unit))
        begun = time.process_time()
        try:
            read_inner_request(content)
        except InvalidInput:
            pass
        assert time.process_time() - begun < 0.5


def test_nothing_large_is_kept() -> None:
    """Whoever sends a few hundred batches with long, different headers must not take gigabytes of memory for good."""
    tracemalloc.start()
    try:
        for number in range(20):
            with pytest.raises(InvalidInput):
                read_inner_request(b"GET / HTTP/1.1\r\nX: %d" % number + b"x" * 500_000)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000


def seconds_to_split(unit: str, size: int) -> float:
    body = b"--b\n" + unit.encode() * (size // len(unit))
    begun = time.process_time()
    try:
        split_multipart(body, "b", 9)
    except InvalidInput:
        pass
    return time.process_time() - begun
