"""A request as it arrived, and an answer as it leaves: plain values, no sockets."""

from dataclasses import dataclass, field

from rowkey.errors import Layer


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
    layer: Layer = Layer.ENGINE
    """Which part of the service answers, and so which headers all of its answers have."""

    def header(self, name: str) -> str | None:
        """The value of the header with exactly this spelling, None where there is none."""
        return next((value for key, value in self.headers if key == name), None)


def reason_phrase(status: int) -> str:
    """The standard reason phrase of a status that this server answers (RFC 9110; 431: RFC 6585)."""
    return _PHRASES[status]


_PHRASES = {
    200: "OK",
    201: "Created",
    202: "Accepted",
    204: "No Content",
    302: "Found",
    304: "Not Modified",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    409: "Conflict",
    411: "Length Required",
    412: "Precondition Failed",
    413: "Request Entity Too Large",
    415: "Unsupported Media Type",
    417: "Expectation Failed",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
}
