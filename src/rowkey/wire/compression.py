"""Answers made smaller with gzip, for clients that say that they take it (RFC 9110, 8.4.1 and 12.5.3).

The service was never seen to do this. It is for slow links: text of entities shrinks to a quarter, at 8 us a KiB with
the quickest level, which below some 500 Mbit/s is less than what sending the rest would take. Higher levels take three
times as long for a twentieth less.
"""

import re
import zlib
from functools import lru_cache

from rowkey.wire.request import Request, Response

COMPRESSED_BYTES_MIN = 4096
"""Smaller answers stay as they are: making a compressor takes 50 us, and they travel in three packets at most."""
AT_ONCE_BYTES_MAX = 32 * 1024
"""Up to this size compressing (a quarter of a millisecond) is not worth a thread; zlib runs beside Python's own."""
_LEVEL = 1
_GZIP_BITS = 16 + zlib.MAX_WBITS

_CODING = re.compile(r"\s*([^\s;,]+)\s*(?:;\s*q\s*=\s*([0-9.]+)\s*)?", re.ASCII | re.IGNORECASE)


def negotiate(request: Request, response: Response) -> bool:
    """Whether an answer is to be compressed: a large one to a reading request, whose client takes gzip.

    Large ones say that this depends on the client (`Vary`), for caches on the way, whichever way it went. Answers to
    batches stay as they are: most are small, and clients take their parts apart by bytes.
    """
    if len(response.body) < COMPRESSED_BYTES_MIN or request.method not in ("GET", "HEAD") or response.status != 200:
        return False
    response.headers.append(("Vary", "Accept-Encoding"))
    return takes_gzip(request.headers.get("accept-encoding", ""))


@lru_cache(maxsize=256)
def takes_gzip(accepted: str) -> bool:
    """Whether a value of Accept-Encoding allows gzip, and does not like the plain answer better.

    Nothing said means that nobody should have to unpack.
    """
    weights: dict[str, float] = {}
    for item in accepted.split(","):
        match = _CODING.fullmatch(item)
        if match is None:
            continue
        try:
            weights[match[1].lower()] = float(match[2] or 1)
        except ValueError:
            continue
    weight = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    return weight > 0 and weight >= weights.get("identity", 0.0)


def compress(body: bytes) -> bytes:
    """A body in gzip."""
    return zlib.compress(body, _LEVEL, _GZIP_BITS)


def replace_body(response: Response, compressed: bytes) -> None:
    """Let the answer carry its body in gzip."""
    response.body = compressed
    response.headers.append(("Content-Encoding", "gzip"))
