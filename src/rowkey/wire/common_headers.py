"""The headers that all answers of a layer have, and the parts of a batch's answer."""

import time
from email.utils import formatdate
from functools import lru_cache

from rowkey import __version__
from rowkey.errors import Layer
from rowkey.wire.request import Request
from rowkey.wire.version import CLIENT_REQUEST_ID_SINCE, JSON_SINCE, VERSION_HEADER_SINCE, Version

_SERVER = ("Server", f"Rowkey/{__version__}")
_CLIENT_REQUEST_ID_LENGTH_MAX = 1024


def common_headers(request: Request, version: Version, request_id: str, layer: Layer) -> list[tuple[str, str]]:
    """The headers of every answer of a layer, in the recorded order."""
    headers = [("x-ms-request-id", request_id), *_answer_headers(version.text, layer), _format_date(int(time.time()))]
    client_request_id = request.headers.get("x-ms-client-request-id")
    if client_request_id is not None and version.date >= CLIENT_REQUEST_ID_SINCE and _may_echo(client_request_id):
        headers.insert(1, ("x-ms-client-request-id", client_request_id))
    return headers


@lru_cache(maxsize=512)
def layer_headers(version: str, layer: Layer) -> tuple[tuple[str, str], ...]:
    """What a layer says of whole answers and of parts; nosniff came with JSON (recorded of 2011-08-18: without)."""
    headers = []
    if version >= JSON_SINCE and layer in (Layer.ENGINE, Layer.LIBRARY):
        headers.append(("X-Content-Type-Options", "nosniff"))
    if layer is Layer.ENGINE:
        headers.append(("Cache-Control", "no-cache"))
    return tuple(headers)


@lru_cache(maxsize=512)
def _answer_headers(version: str | None, layer: Layer) -> tuple[tuple[str, str], ...]:
    headers = [_SERVER]
    if version and version >= VERSION_HEADER_SINCE and layer not in (Layer.BARE_FRONT_END, Layer.HEADER):
        headers.append(("x-ms-version", version))
    return *headers, *layer_headers(version or "", layer)


def _may_echo(client_request_id: str) -> bool:
    return (
        len(client_request_id) <= _CLIENT_REQUEST_ID_LENGTH_MAX
        and client_request_id.isascii()
        and client_request_id.isprintable()
    )


@lru_cache(maxsize=2)
def _format_date(second: int) -> tuple[str, str]:
    return "Date", formatdate(second, usegmt=True)
