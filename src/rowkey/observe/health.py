"""Whether the process lives, and whether more requests should be sent to it.

    /healthz    200 as long as the process answers at all
    /readyz     200, or 503 with the reason: the server is about to stop, or its store does not take writes

Both are outside of the accounts and need no credentials, and are answered only where a target names no account: in
host style every path belongs to the account, and in path style an account may be called `healthz`. A probe that
addresses the server by its IP address meets neither.
"""

from collections.abc import Awaitable, Callable

from rowkey.wire.request import Request, Response

LIVE, READY = "/healthz", "/readyz"


async def no_trouble() -> str | None:
    """What a store says that takes writes always."""
    return None


class Health:
    """The state of a server; `trouble` returns why its store does not take writes, None if it does."""

    def __init__(self, trouble: Callable[[], Awaitable[str | None]] = no_trouble) -> None:
        self.is_draining = False
        """The server has been told to stop."""
        self._trouble = trouble

    async def answer(self, request: Request) -> Response | None:
        """The answer to a probe, None for any other request."""
        path = request.target.partition("?")[0]
        if path not in (LIVE, READY) or request.method not in ("GET", "HEAD"):
            return None
        reason = await self.reason() if path == READY else None
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")]
        return Response(200 if reason is None else 503, headers, f"{reason or 'ok'}\n".encode())

    async def reason(self) -> str | None:
        """Why no more requests should be sent; None if they should."""
        return "the server is about to stop" if self.is_draining else await self._trouble()
