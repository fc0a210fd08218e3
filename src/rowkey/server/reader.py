"""From bytes to requests: llhttp does the parsing, this class collects what it finds and refuses what is not safe.

llhttp (through httptools, with none of its leniencies) already refuses bare LF, folded headers, blanks before a
colon, control characters, Content-Length that is doubled, signed or beside Transfer-Encoding, and malformed chunks. It
does not refuse, and we do: a Transfer-Encoding other than exactly `chunked`, or one in HTTP/1.0; a missing or repeated
Host; versions other than 1.0 and 1.1; CONNECT; everything that is too large. Whatever is refused ends the connection:
after it nobody can be sure where the next request begins.

The callbacks run once or more for every request and are written for speed: one dictionary of header names that were
seen before, no object that is not part of the `Request`, no look at a header that is seldom sent unless it was sent.
"""

import sys
from collections import deque
from collections.abc import Callable

import httptools

from rowkey.errors import HostInformationNotPresent, InvalidHttpVerb, RequestBodyTooLarge, RequestUrlFailedToParse
from rowkey.server.chunk_sizes import ChunkSizes
from rowkey.server.limits import Limits
from rowkey.server.refusals import ExpectationFailed, HeadTooLarge, MalformedRequest
from rowkey.wire.request import Request

FEED_BYTES_MAX = 16 * 1024
"""The most that `feed` is given at once: so few requests arrive at once, and sizes need only be checked in between."""

KEEP = ""
"""The line about persistence in the answer: none is needed where HTTP/1.1 goes on."""
KEEP_HTTP_1_0 = "Connection: keep-alive\r\n"
CLOSE = "Connection: close\r\n"

_NAMES: dict[bytes, str] = {}
"""Header names as sent, and in lower case: a handful in practice, so each is converted once."""
_NAMES_MAX = 1024
_NO_PARSER = httptools.HttpRequestParser(object())
"""Stands where the parser of a closed connection stood."""
_CHUNKS_SIGN = b"ransfer-"
"""Without it no head has a Transfer-Encoding, as clients write it."""
_METHODS = {verb.encode(): verb for verb in ("GET", "POST", "PUT", "PATCH", "MERGE", "DELETE", "HEAD", "OPTIONS")}


class RequestReader:
    """The requests of one connection; `feed` appends to `complete` those that its bytes complete.

    With each request goes what its answer says about persistence: KEEP, KEEP_HTTP_1_0 or CLOSE.
    """

    __slots__ = (
        "_body_bytes",
        "_chunk_sizes",
        "_chunks",
        "_fed",
        "_free_bytes",
        "_head_end",
        "_headers",
        "_headers_max",
        "_hold",
        "_is_line_by_line",
        "_is_secure",
        "_keep",
        "_limits",
        "_needs_check",
        "_parser",
        "_peer",
        "_persistence",
        "_repeated",
        "_request",
        "_target",
        "_upgrading",
        "complete",
        "is_continue_due",
        "is_finished",
    )

    def __init__(
        self, limits: Limits, *, peer: str = "", is_secure: bool = False, hold: Callable[[int], None] | None = None
    ) -> None:
        """`hold` is told of bytes of large bodies as they arrive; it may raise the ServiceError that refuses them."""
        self._limits = limits
        self._hold = hold
        self._free_bytes = min(limits.small_body_bytes, limits.body_bytes_max)
        self._peer = peer
        self._is_secure = is_secure
        self._headers_max = limits.headers_max
        self._parser = httptools.HttpRequestParser(self)
        self._target = b""
        self._headers: dict[str, str] = {}
        self._repeated = 0
        self._needs_check = False
        self._request: Request | None = None
        self._upgrading: Request | None = None
        self._persistence = self._keep = KEEP
        self._chunks: list[bytes] = []
        self._chunk_sizes: ChunkSizes | None = None
        self._is_line_by_line = False
        self._body_bytes = 0
        self._fed = 0
        self._head_end = b""
        self.complete: deque[tuple[Request, str]] = deque()
        self.is_continue_due = False
        """The client waits for `100 Continue` before it sends the body of the request that is being read."""
        self.is_finished = False
        """The last request that this connection may send has been read."""

    @property
    def is_in_head(self) -> bool:
        """A head has begun and not ended."""
        return bool(self._target)

    @property
    def is_in_body(self) -> bool:
        """A head has been read, its body not completely."""
        return self._request is not None

    @property
    def request(self) -> Request:
        """What a refusal answers: the request whose body is being read, or where there is none an empty one, which says
        at least who sent it.
        """
        return self._request or Request("", "", {}, b"", self._is_secure, self._peer)

    @property
    def body_bytes(self) -> int:
        """How much of the body has come."""
        return self._body_bytes

    def make_next_the_last(self) -> None:
        """Whatever request is begun from now on, its answer ends the connection."""
        self._keep = CLOSE

    def close(self) -> None:
        """Forget everything; parser and reader refer to each other."""
        self._parser = _NO_PARSER
        self.is_finished = True
        self.complete.clear()

    def feed(self, data: bytes) -> None:
        """Read what has arrived, at most FEED_BYTES_MAX; raises the ServiceError that ends the connection.

        llhttp takes all of it at once, but for heads that may announce chunks: line by line, it is known where these
        begin.
        """
        if self._chunk_sizes is None and _CHUNKS_SIGN not in (self._head_end + data if self._head_end else data):
            self._feed(data)
            return
        while data and not self.is_finished:
            length = self._length_of_next(data)
            self._is_line_by_line = length <= len(data)
            self._feed(data[:length])
            data = data[length:]
        self._is_line_by_line = False

    def _length_of_next(self, data: bytes) -> int:
        """How much of this is a line of a head, or belongs to the body: more than there is where it does not end here,
        or nobody knows where.
        """
        sizes, request = self._chunk_sizes, self._request
        if sizes is not None and not sizes.is_over:
            return sizes.pass_over(data)
        if sizes is None and request is not None:
            return int(request.headers.get("content-length", sys.maxsize)) - self._body_bytes
        return data.find(b"\n") + 1 or len(data)

    def _feed(self, data: bytes) -> None:
        while not self.is_finished:
            upgraded = -1
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                upgraded = upgrade.args[0]
            except httptools.HttpParserError as error:
                if not self.is_finished:  # otherwise: data after `Connection: close`
                    raise _refusal(error, self._parser.get_method()) from None
            if self._target or self._request is not None:
                self._count_unfinished(data)
            if upgraded < 0:
                return
            # Not while the exception is being handled: it would become the context of the next one.
            self._go_on_without_upgrade()
            data = data[upgraded:]

    def _count_unfinished(self, data: bytes) -> None:
        """Bound what is held of a message that has not ended: its head, or what a chunked body has between its data."""
        self._fed += len(data)
        self._needs_check = True
        if self._fed > self._limits.head_bytes_max + FEED_BYTES_MAX or len(self._headers) > self._headers_max:
            raise HeadTooLarge
        if self._target:
            head = self._head_end + data
            self._head_end = _CHUNKS_SIGN if _CHUNKS_SIGN in head else head[-len(_CHUNKS_SIGN) :]

    def _go_on_without_upgrade(self) -> None:
        """Read a request with an `Upgrade` header as if it had none, which a server may (RFC 9110, 7.8).

        Java's HTTP client offers h2c with every first request. llhttp believes that what follows such a head is another
        protocol; a fresh parser gets a head with the same framing, and is then fed with the rest.
        """
        parser = self._parser = httptools.HttpRequestParser(self)
        request = self._upgrading
        assert request is not None  # llhttp stops for CONNECT too, but that has been refused
        parser.feed_data(_same_framing(request.headers, self._persistence))

    # What llhttp finds, in this order. An exception stops it.

    def on_url(self, part: bytes) -> None:
        """Called with the target, or each part of it that arrives."""
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called with each header, and with each trailer field of a chunked body, which is then forgotten."""
        key = _NAMES.get(name) or _lower(name)
        headers = self._headers
        if key in headers:
            self._repeat(key, value)
            return
        if value[-1:] <= b" ":  # llhttp leaves blanks at the end
            value = value.rstrip(b" \t")
        headers[key] = value.decode("latin-1")

    def _repeat(self, key: str, value: bytes) -> None:
        if key == "host":
            raise MalformedRequest("The request has more than one Host header.")
        self._repeated += 1
        self._needs_check = True
        if self._repeated > self._limits.headers_max:
            raise HeadTooLarge
        self._headers[key] += ", " + value.rstrip(b" \t").decode("latin-1")

    def on_headers_complete(self) -> None:
        """Called at the empty line after the headers."""
        if self._upgrading is not None:
            self._target, self._request, self._upgrading = b"", self._upgrading, None
            return
        parser = self._parser
        target = self._target
        headers = self._headers
        self._target = b""
        self._headers = {}
        if self._needs_check or len(headers) > self._headers_max:
            self._check_size(target, headers)
        method = parser.get_method()
        if "connection" in headers or "host" not in headers or not parser.should_keep_alive():
            self._persistence = _persistence(parser, headers) if self._keep is KEEP else CLOSE
        else:
            self._persistence = self._keep
        verb = _METHODS.get(method) or _unusual(method)
        request = Request(verb, target.decode("ascii"), headers, b"", self._is_secure, self._peer)
        if "content-length" in headers and int(headers["content-length"]) > self._limits.body_bytes_max:
            self._request = request
            raise RequestBodyTooLarge
        if "transfer-encoding" in headers:
            _check_transfer_encoding(parser, headers)
            if self._is_line_by_line:
                self._chunk_sizes = ChunkSizes(self._limits.body_bytes_max)
        self.is_continue_due = "expect" in headers and _is_continue_expected(parser, headers)
        if "upgrade" in headers and parser.should_upgrade():
            self._upgrading = request
        else:
            self._request = request

    def _check_size(self, target: bytes, headers: dict[str, str]) -> None:
        """Refuse a large head; one that came in one piece is below FEED_BYTES_MAX and needs no measuring."""
        if len(target) > self._limits.target_bytes_max:
            raise RequestUrlFailedToParse("The url in the request is too long.")
        size = len(target) + sum(len(name) + len(value) + len(": \r\n") for name, value in headers.items())
        if size > self._limits.head_bytes_max or len(headers) + self._repeated > self._headers_max:
            raise HeadTooLarge
        self._fed = self._repeated = 0
        self._head_end = b""
        self._needs_check = False

    def on_body(self, part: bytes) -> None:
        """Called with each part of the body that arrives."""
        self._body_bytes += len(part)
        if self._body_bytes > self._free_bytes:
            self._count_large_body(len(part))
        self._chunks.append(part)
        self._fed = 0

    def _count_large_body(self, size: int) -> None:
        if self._body_bytes > self._limits.body_bytes_max:
            raise RequestBodyTooLarge
        if self._hold is not None:
            self._hold(size)

    def on_message_complete(self) -> None:
        """Called at the end of a request."""
        request = self._request
        if request is None:
            return  # llhttp's end of a request with `Upgrade`; ours is still to come
        self._request = self._chunk_sizes = None
        if self._body_bytes:
            chunks = self._chunks
            request.body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
            self._chunks = []
            self._body_bytes = 0
        if self._needs_check or self._headers:  # it came in pieces, or with trailer fields: the next is measured anew
            self._headers = {}
            self._fed = self._repeated = 0
            self._needs_check = False
        if self._persistence is CLOSE:
            self.is_finished = True
        self.complete.append((request, self._persistence))


def _lower(name: bytes) -> str:
    key = name.decode("latin-1").lower()
    if len(_NAMES) < _NAMES_MAX:
        _NAMES[name] = key
    return key


def _unusual(method: bytes) -> str:
    """A verb that llhttp knows and the service does not: the service says so."""
    if method == b"CONNECT":
        raise InvalidHttpVerb
    return method.decode("latin-1")


def _persistence(parser: httptools.HttpRequestParser, headers: dict[str, str]) -> str:
    """What to say about the connection; refuses versions that are not spoken, and HTTP/1.1 without Host."""
    version = parser.get_http_version()
    if version == "1.1":
        if "host" not in headers:
            raise HostInformationNotPresent
        return KEEP if parser.should_keep_alive() else CLOSE
    if version != "1.0":
        raise _not_spoken(version)
    return KEEP_HTTP_1_0 if parser.should_keep_alive() else CLOSE


def _not_spoken(version: str) -> MalformedRequest:
    return MalformedRequest(f"HTTP/{version} is not spoken here, only HTTP/1.1 and HTTP/1.0.")


def _check_transfer_encoding(parser: httptools.HttpRequestParser, headers: dict[str, str]) -> None:
    """Only `chunked` is understood, and not in HTTP/1.0, whose proxies do not know it (RFC 9112, 6.1)."""
    if headers["transfer-encoding"].lower() != "chunked" or parser.get_http_version() != "1.1":
        raise MalformedRequest("The only Transfer-Encoding is chunked, and that in HTTP/1.1 only.")


def _is_continue_expected(parser: httptools.HttpRequestParser, headers: dict[str, str]) -> bool:
    """Whether `100 Continue` is due; an HTTP/1.0 client would not understand it (RFC 9110, 10.1.1)."""
    if headers["expect"].lower() != "100-continue":
        raise ExpectationFailed
    return parser.get_http_version() == "1.1"


def _same_framing(headers: dict[str, str], persistence: str) -> bytes:
    """A head whose body, and whose connection, ends where that of these headers does."""
    lines = [f"{name}: {headers[name]}\r\n" for name in ("content-length", "transfer-encoding") if name in headers]
    connection = CLOSE if persistence is CLOSE else ""
    return f"POST / HTTP/1.1\r\n{''.join(lines)}{connection}\r\n".encode("latin-1")


def _refusal(error: httptools.HttpParserError, method: bytes) -> Exception:
    """The answer to what llhttp, or one of the callbacks above, refused."""
    if isinstance(error, httptools.HttpParserCallbackError) and isinstance(error.__context__, Exception):
        return error.__context__
    if isinstance(error, httptools.HttpParserInvalidMethodError):
        return InvalidHttpVerb()
    if isinstance(error, httptools.HttpParserInvalidURLError):
        return RequestUrlFailedToParse()
    if method == b"PRI":  # with which HTTP/2 begins, and nothing else (RFC 9113, 3.4)
        return _not_spoken("2")
    return MalformedRequest(f"The request is not well-formed HTTP: {error}.")
