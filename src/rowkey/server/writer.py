"""From answers to bytes."""

from rowkey.wire.request import Response, reason_phrase

BODILESS = frozenset((204, 304))
"""Statuses of answers that have no body."""


def format_head(response: Response, persistence: str) -> bytes:
    """Everything of an answer before its body; `persistence` is a line about the connection, or empty.

    A line end in a value becomes a blank: a value must never become a header, or an answer, of its own. 204 says
    `Content-Length: 0`, as the service was recorded to do although RFC 9110 forbids it; 304 says nothing.
    """
    status = response.status
    text = _STATUS_LINES.get(status) or _status_line(status)
    if response.phrase is not None:
        text = f"HTTP/1.1 {status} {_one_line(response.phrase)}\r\n"
    lines = [f"{name}: {value}\r\n" for name, value in response.headers]
    if status not in BODILESS:
        lines.append(f"Content-Length: {len(response.body)}\r\n")
    elif status == 204:
        lines.append("Content-Length: 0\r\n")
    head = f"{text}{''.join(lines)}{persistence}\r\n"
    if head.count("\n") != len(lines) + 2 + bool(persistence):  # a value with a line end in it
        lines = [f"{_one_line(line)}\r\n" for line in lines]
        head = f"{text}{''.join(lines)}{persistence}\r\n"
    return head.encode("latin-1", "replace")


def _one_line(text: str) -> str:
    return text.rstrip("\r\n").translate(_CONTROLS)


_CONTROLS = dict.fromkeys((*range(0x20), 0x7F), " ")
"""RFC 9112, 4: a reason phrase has none of these; the service's quote what the client wrote, such as a `$filter`."""


def _status_line(status: int) -> str:
    return _STATUS_LINES.setdefault(status, f"HTTP/1.1 {status} {reason_phrase(status)}\r\n")


_STATUS_LINES: dict[int, str] = {}
