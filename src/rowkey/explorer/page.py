"""The explorer: a page that shows tables and entities in a browser, and changes them.

    /explorer           the page
    /explorer/NAME      its scripts and its style
    /                   leads a browser there

The page is a client like any other: its scripts ask the REST API of the server that they came from, and sign each
request in the browser. So there is nothing here but files, which tell nobody anything and need no credentials. Like
`/healthz` they are answered only where a target names no account.
"""

from functools import lru_cache
from pathlib import Path

from rowkey.wire.request import Request, Response

EXPLORER = "/explorer"

_FILES = Path(__file__).parent / "files"
_PATHS = {
    EXPLORER: ("index.html", "text/html; charset=utf-8"),
    f"{EXPLORER}/style.css": ("style.css", "text/css; charset=utf-8"),
    **{f"{EXPLORER}/{name}": (name, "text/javascript; charset=utf-8") for name in ("app.js", "client.js", "entity.js")},
}
_HEADERS = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-cache"),
]
"""Nothing runs in the page but its own scripts, and they speak to this server alone: a key is typed there."""


async def show_explorer(request: Request) -> Response | None:
    """The answer to a request for the page, None for any other request."""
    if request.method not in ("GET", "HEAD"):
        return None
    path = request.target.partition("?")[0]
    if path == "/" and "text/html" in request.headers.get("accept", ""):
        return Response(302, [("Location", EXPLORER)])
    if path not in _PATHS:
        return None
    name, content_type = _PATHS[path]
    return Response(200, [*_HEADERS, ("Content-Type", content_type)], _read(name))


@lru_cache
def _read(name: str) -> bytes:
    return (_FILES / name).read_bytes()
