"""The container of a batch: MIME multipart bodies (RFC 2046) as Table clients write them.

Clients differ in everything that the grammar leaves open and in some that it does not: CRLF and bare LF, also mixed;
blank lines more or fewer; a final delimiter that is missing or lacks its dashes; lengths that are wrong. So a body is
split at lines that are delimiters, and nothing else is relied on.
"""

import re
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


def split_multipart(body: bytes, boundary: str) -> list[Part]:
    """The parts of a body; what stands before the first delimiter is passed over, and what follows the last dashes.

    A delimiter that ends with dashes, be they typographic, ends the body; so does a delimiter that nothing follows.
    """
    mark = re.escape(boundary.encode("utf-8"))
    delimiter = re.compile(rb"^--" + mark + rb"(--|-?\xe2\x80[\x93\x94]-?)?[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
    parts = []
    start: int | None = None
    for match in delimiter.finditer(body):
        if start is not None:
            parts.append(body[start : match.start()])
        if match[1]:
            start = None
            break
        start = match.end()
    if start is not None:
        parts.append(body[start:])
    return [_read_part(part) for part in parts if part.strip()]


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
    if not url.strip() or not protocol.startswith("HTTP/"):
        raise InvalidInput
    headers, body = _read_headers(rest)
    return Request(method, url.strip(), headers, body.strip(b"\r\n"))


def _read_part(part: bytes) -> Part:
    # The line end before the next delimiter is the delimiter's.
    return Part(*_read_headers(part.removesuffix(b"\n").removesuffix(b"\r")))


def _read_headers(block: bytes) -> tuple[dict[str, str], bytes]:
    """Header lines up to the first blank one, and what follows it."""
    headers: dict[str, str] = {}
    position = 0
    while position < len(block):
        end = block.find(b"\n", position)
        end = len(block) if end < 0 else end
        line = block[position:end].strip()
        position = end + 1
        if not line:
            break
        name, colon, value = line.partition(b":")
        if not colon:
            raise InvalidInput
        headers[name.strip().lower().decode("latin-1")] = value.strip().decode("latin-1")
    return headers, block[position:]
