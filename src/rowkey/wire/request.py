"""A request as it arrived, and an answer as it leaves: plain values, no sockets."""

from dataclasses import dataclass, field
from http import HTTPStatus


@dataclass(slots=True)
class Request:
    """One HTTP request.

    `target` is the request target exactly as sent, still percent-encoded: it is part of what clients sign.
    `headers` has lower-case names; values of a repeated header are joined by ", ".
    """

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""
    is_secure: bool = False
    peer: str = ""

    def header(self, name: str) -> str | None:
        """The value of a header (lower-case name), None where it was not sent."""
        return self.headers.get(name)


@dataclass(slots=True)
class Response:
    """One HTTP answer; `headers` in the order in which they are written."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    phrase: str | None = None
    """The reason phrase where it is not the standard one."""

    def header(self, name: str) -> str | None:
        """The value of the header with exactly this spelling, None where there is none."""
        return next((value for key, value in self.headers if key == name), None)


def reason_phrase(status: int) -> str:
    """The standard reason phrase of a status."""
    return _PHRASES[status]


_PHRASES = {status.value: status.phrase for status in HTTPStatus}
