"""What a server needs of whoever answers its requests."""

from collections.abc import Coroutine
from typing import Any, Protocol

from rowkey.errors import ServiceError
from rowkey.wire.request import Request, Response


class Handler(Protocol):
    """What answers requests: `rowkey.service.Service`."""

    def handle(self, request: Request) -> Coroutine[Any, Any, Response]:
        """Answer a request; raises nothing but CancelledError."""

    def refuse(self, refusal: ServiceError, request: Request | None = None) -> Response:
        """The answer to something that did not become a request, or to a request whose body is refused."""
