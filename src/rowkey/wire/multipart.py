"""The container of a batch: MIME multipart bodies (RFC 2046) as Table clients write them.

Clients differ in everything that the grammar leaves open and in some that it does not: CRLF and bare LF, also mixed;
blank lines more or fewer; a final delimiter that is missing or lacks its dashes; lengths that are wrong. So a body is
split at lines that are delimiters, and what a length says counts only where a line ends there.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rowkey.errors import InvalidInput
from rowkey.wire.request import Request

_BOUNDARY = re.compile(r';\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;,"]{1,200}))', re.IGNORECASE)


class Part(NamedTuple):
    """One part: its MIME headers with lower-case names, and its content."""

    headers: dict[str, str]
    content: bytes


def read_boundary(content_type: str) -> str:
    """The boundary that a multipart Content-Type names; raises InvalidInput where there is none."""
    match = _BOUNDARY.search(content_type)
    if match is None:
        raise InvalidInput
    return match[1] or match[2]


def split_multipart(body: bytes, boundary: str, parts_max: int) -> list[Part]:
    """The first `parts_max` parts of a body.

    What stands before the first delimiter is passed over, and what follows the last dashes. A delimiter that ends with
    dashes, be they typographic, ends the body; so does a delimiter that nothing follows. Raises InvalidInput for text
    without any delimiter, and for a request before the first: they have another boundary than was named.
    """
    delimiter = b"--" + boundary.encode("latin-1", "replace")  # as headers are decoded
    parts: list[bytes] = []
    start: int | None = None
    first = len(body)
    position = body.find(delimiter)
    looks = 0
    while position >= 0 and len(parts) < parts_max:
        looks += 1
        if looks > _LOOKS_MAX:
            raise InvalidInput
        after = position + len(delimiter)
        line_end = body.find(b"\n", after, after + _LINE_BYTES_MAX)
        line_end = min(len(body), after + _LINE_BYTES_MAX) if line_end < 0 else line_end
        rest = body[after:line_end].strip()
        if (position == 0 or body[position - 1] == _LF) and (not rest or rest in _DASHES):
            first = min(first, position)
            if start is not None and body[start:position].strip():
                parts.append(body[start:position])
            if rest:
                start = None
                break
            start = line_end + 1
        position = body.find(delimiter, after)
    if start is not None and len(parts) < parts_max and body[start:].strip():
        parts.append(body[start:])
    if (first == len(body) and body.strip()) or body.find(b" HTTP/1.", 0, first) >= 0:
        raise InvalidInput
    return [_read_part(part) for part in parts]


_URL_LENGTH_MAX = 48 * 1024
"""As long as the target of a request may be."""
_LOOKS_MAX = 10_000
"""Ours: how often the boundary may stand in a body, with nothing but blanks between or within a line. Looking at each
takes a microsecond, in which nobody else is served."""
_LF = ord("\n")
_LINE_BYTES_MAX = 256
"""How far the end of a delimiter's line is looked for; only blanks may stand before it."""
_DASHES = frozenset(text.encode("utf-8") for text in ("--", "\u2013", "\u2014", "-\u2013", "\u2013-", "-\u2014"))


def join_multipart(parts: Sequence[bytes], boundary: str) -> bytes:
    """The body that holds these parts (headers, a blank line, content, a line end), as the service writes it."""
    delimiter = f"--{boundary}".encode("ascii")
    return b"".join(b"%b\r\n%b" % (delimiter, part) for part in parts) + delimiter + b"--\r\n"


def read_inner_request(content: bytes) -> Request:
    """The HTTP request that a part of type application/http holds; raises InvalidInput where it cannot be read.

    The URL may contain blanks: it is what stands between the first and the last blank of the line.
    """
    line, _, rest = content.lstrip(b"\r\n \t").partition(b"\n")
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise InvalidInput from None
    method, _, remainder = text.partition(" ")
    url, _, protocol = remainder.rpartition(" ")
    if not url.strip() or len(url) > _URL_LENGTH_MAX or not protocol.startswith("HTTP/"):
        raise InvalidInput
    headers, body = _read_headers(rest)
    return Request(method, url.strip(), headers, _read_body(body, headers.get("content-length")))


def _read_body(content: bytes, length: str | None) -> bytes:
    """All but the line ends around it; where `length` says something else, and a line ends there, what it says."""
    body = content.strip(b"\r\n")
    if length is None or length == str(len(body)) or not _LENGTH.fullmatch(length):
        return body
    content = content.lstrip(b"\r\n")
    end = int(length)
    fits = end == len(content) or content[end : end + 1] in (b"\r", b"\n")
    return content[:end] if fits else body


_LENGTH = re.compile(r"\d{1,9}", re.ASCII)


def _read_part(part: bytes) -> Part:
    # The line end before the next delimiter is the delimiter's.
    return Part(*_read_headers(part.removesuffix(b"\n").removesuffix(b"\r")))


_BLANK_LINE = re.compile(rb"[ \t]*\r?\n")
_LATER_BLANK_LINE = re.compile(rb"\n[ \t]*\r?\n")


def _read_headers(block: bytes) -> tuple[dict[str, str], bytes]:
    """Header lines up to the first blank one, and what follows it."""
    blank = _BLANK_LINE.match(block) or _LATER_BLANK_LINE.search(block)
    head, rest = (block, b"") if blank is None else (block[: blank.start()], block[blank.end() :])
    if len(head) > _HEAD_BYTES_MAX:
        raise InvalidInput
    return _parse_headers(head), rest


_HEAD_BYTES_MAX = 8 * 1024
"""The headers of a part, which are kept for the parts that follow; a few hundred bytes in practice."""


@lru_cache(maxsize=128)
def _parse_headers(block: bytes) -> dict[str, str]:
    """Header lines as a dict, which is shared and must not be changed: the parts of a batch mostly have the same.

    Values of a repeated header are joined by ", ", as those of a whole request are.
    """
    headers: dict[str, list[str]] = {}
    for line in block.decode("latin-1").split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.strip().lower(), []).append(value.strip())
        elif line.strip():
            raise InvalidInput
    return {name: ", ".join(values) for name, values in headers.items()}
