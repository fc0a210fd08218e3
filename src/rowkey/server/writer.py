"""From answers to bytes."""

from rowkey.wire.request import Response, reason_phrase

BODILESS = frozenset((204, 304))
"""Statuses of answers that have no body."""


def format_head(response: Response, persistence: str) -> bytes:
    """Everything of an answer before its body; `persistence` is a line about the connection, or empty.

    204 says `Content-Length: 0`, as the service was recorded to do although RFC 9110 forbids it; 304 says nothing.
    """
    status = response.status
    phrase = response.phrase
    text = _STATUS_LINES.get(status) or _status_line(status) if phrase is None else f"HTTP/1.1 {status} {phrase}\r\n"
    for name, value in response.headers:
        text += f"{name}: {value}\r\n"
    if status not in BODILESS:
        text += f"Content-Length: {len(response.body)}\r\n{persistence}\r\n"
    elif status == 204:
        text += f"Content-Length: 0\r\n{persistence}\r\n"
    else:
        text += f"{persistence}\r\n"
    # One line each for the status, the headers, the length, the connection, and an empty one.
    if text.count("\n") != len(response.headers) + 3 + (persistence != "") - (status == 304):
        return format_head(_without_line_ends(response), persistence)
    return text.encode("latin-1", "replace")


def _without_line_ends(response: Response) -> Response:
    """The same answer on one line per header: a value must never become a header, or an answer, of its own."""
    headers = [(_one_line(name), _one_line(value)) for name, value in response.headers]
    phrase = response.phrase and _one_line(response.phrase)
    return Response(response.status, headers, response.body, phrase)


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def _status_line(status: int) -> str:
    return _STATUS_LINES.setdefault(status, f"HTTP/1.1 {status} {reason_phrase(status)}\r\n")


_STATUS_LINES: dict[int, str] = {}
