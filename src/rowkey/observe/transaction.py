"""One finished request, as analytics records it."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import NamedTuple

from rowkey.observe.operation_names import OperationName
from rowkey.wire.request import Request, Response, reason_phrase


class Outcome(Enum):
    """How a request ended; the values are the reference's status messages, without what says who asked."""

    SUCCESS = "Success"
    THROTTLING_ERROR = "ThrottlingError"
    CLIENT_TIMEOUT_ERROR = "ClientTimeoutError"
    SERVER_TIMEOUT_ERROR = "ServerTimeoutError"
    CLIENT_OTHER_ERROR = "ClientOtherError"
    SERVER_OTHER_ERROR = "ServerOtherError"
    AUTHORIZATION_ERROR = "AuthorizationError"
    NETWORK_ERROR = "NetworkError"

    __hash__ = object.__hash__  # members are singletons; Enum's own is a call in Python for each look-up


_BY_STATUS = {
    401: Outcome.AUTHORIZATION_ERROR,
    403: Outcome.AUTHORIZATION_ERROR,
    500: Outcome.SERVER_OTHER_ERROR,
    503: Outcome.THROTTLING_ERROR,
}


def read_outcome(status: int) -> Outcome:
    """The outcome that a status tells; a 500 may also be one of the time-outs.

    304 counts as the client's error, as all that is 3xx or 4xx. So does 501: what was asked for is not there, and
    nothing of the server has failed.
    """
    if status < 300:
        return Outcome.SUCCESS
    return _BY_STATUS.get(status, Outcome.CLIENT_OTHER_ERROR)


PREFIXES = {"authenticated": "", "bearer": "", "sas": "SAS", "anonymous": "Anonymous"}
"""What the counters of each kind of grant begin with; there are none for bearer tokens alone."""


class Part(NamedTuple):
    """What the log has a line for: a request, or an operation of a batch.

    `object_key` is `/account/table/partition key/row key`, as far as the operation names these; `etag` is empty where
    there is none.
    """

    operation: str
    object_key: str
    etag: str


class Transaction(NamedTuple):
    """One finished request. `started` is in ticks, and so is `duration`.

    `grant_kind` says how it was authenticated: "authenticated", "sas", "bearer" or, also where that failed,
    "anonymous". `parts` are made when they are asked for: first the request itself, then the operations of a batch.
    `account` is empty where the address names none, `table` where it names none or the table is not known yet, and
    `code` for a success. `looked_at` and `returned` are entities of a query's page, as far as its store counts them.
    """

    account: str
    is_secondary: bool
    operation: OperationName
    grant_kind: str
    outcome: Outcome
    request: Request
    response: Response
    request_id: str
    started: int
    duration: int
    request_head_bytes: int
    response_head_bytes: int
    response_body_bytes: int
    parts: Callable[[], Iterable[Part]]
    table: str = ""
    code: str = ""
    looked_at: int = 0
    returned: int = 0


def counter_name(grant_kind: str, outcome: Outcome) -> str:
    """The column of a metrics table that counts requests of this kind that ended so: `SASClientOtherError`."""
    return PREFIXES[grant_kind] + outcome.value


_LINE_BYTES = len(": \r\n")
_REQUEST_LINE_BYTES = len("  HTTP/1.1\r\n\r\n")
_STATUS_LINE_BYTES = len("HTTP/1.1 200 \r\nContent-Length: \r\n\r\n")


def request_head_bytes(request: Request) -> int:
    """Size of a request before its body, but for blanks that say nothing."""
    headers = request.headers
    size = len("".join(headers)) + len("".join(headers.values())) + _LINE_BYTES * len(headers)
    return _REQUEST_LINE_BYTES + len(request.method) + len(request.target) + size


def response_head_bytes(response: Response) -> int:
    """Size of an answer before its body, as `server/writer.py` writes it; what it says of the connection apart."""
    headers = response.headers
    phrase = reason_phrase(response.status) if response.phrase is None else response.phrase
    size = _STATUS_LINE_BYTES + len(phrase) + len(str(len(response.body))) + _LINE_BYTES * len(headers)
    for name, value in headers:
        size += len(name) + len(value)
    return size
