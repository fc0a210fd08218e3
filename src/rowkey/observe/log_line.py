"""A request as lines of the log, version 1.0.

Reference: "Storage Analytics log format". Fields are separated by semicolons; one that may contain a quotation mark, a
semicolon or a line end is HTML encoded and quoted; an empty field is empty between its semicolons. A batch has a line
of its own and one for each of its operations, told apart by the operation number (Windows Azure Storage team blog,
2011-08-02: Storage Logging, whose examples show the form of the fields).

A signature never gets into the log: `sig` of a shared access signature is written as the service writes it, `XXXXX`.
"""

import re
from datetime import datetime
from functools import lru_cache
from urllib.parse import unquote

from rowkey.model.datetimes import format_datetime_padded
from rowkey.model.service_properties import Logging
from rowkey.observe.operation_names import LogKind
from rowkey.observe.transaction import Outcome, Transaction
from rowkey.wire.request import Request
from rowkey.wire.target import without_signature

VERSION = "1.0"
FIELD_LENGTH_MAX = 1024
"""The reference's bound for the referrer and the client's request id; ours for the user agent too."""

_TICKS_PER_MILLISECOND = 10_000


def is_logged(logging: Logging, transaction: Transaction) -> bool:
    """Whether the log has a line for a request.

    Anonymous ones are there only if they succeeded or the server failed, "so that the logging system is not spammed
    with invalid anonymous requests"; what is not authenticated counts as anonymous.
    """
    kind = transaction.operation.kind
    is_wanted = logging.read if kind is LogKind.READ else logging.write if kind is LogKind.WRITE else logging.delete
    return is_wanted and (transaction.grant_kind != "anonymous" or transaction.outcome not in _NOT_OF_STRANGERS)


_NOT_OF_STRANGERS = frozenset({Outcome.CLIENT_OTHER_ERROR, Outcome.AUTHORIZATION_ERROR})


def format_lines(transaction: Transaction) -> str:
    """The lines of a request, each with its line end."""
    request, response = transaction.request, transaction.response
    header = request.headers.get
    milliseconds = str(transaction.duration // _TICKS_PER_MILLISECOND)
    md5 = _quoted(header("content-md5"))
    fields = [
        VERSION,
        format_datetime_padded(transaction.started),
        "",
        _PREFIXES[transaction.grant_kind] + transaction.outcome.value,
        str(response.status),
        milliseconds,  # from end to end, and
        milliseconds,  # in the server: what the network takes is not seen here
        transaction.grant_kind,
        transaction.account if transaction.grant_kind in _KNOWN_BY_NAME else "",
        transaction.account,
        "table",
        _quoted(_url(request)),
        "",
        transaction.request_id,
        "",
        request.peer,
        _plain(header("x-ms-version")),
        str(transaction.request_head_bytes),
        str(len(request.body)),
        str(transaction.response_head_bytes),
        str(transaction.response_body_bytes),
        _plain(header("content-length")) or "0",
        md5,
        md5 if transaction.outcome is Outcome.SUCCESS else "",  # the server found the same, or it is an error
        "",
        "",
        _quoted(_conditions(request)),
        _quoted(_bounded(header("user-agent"))),
        _quoted(_bounded(without_signature(header("referer", "")))),
        _quoted(_bounded(header("x-ms-client-request-id"))),
    ]
    lines = []
    for number, part in enumerate(transaction.parts()):
        fields[_OPERATION], fields[_OBJECT_KEY], fields[_NUMBER] = part.operation, _quoted(part.object_key), str(number)
        fields[_ETAG], fields[_LAST_MODIFIED] = _quoted(part.etag), _last_modified(part.etag)
        lines.append(";".join(fields) + "\n")
    return "".join(lines)


_OPERATION, _OBJECT_KEY, _NUMBER, _ETAG, _LAST_MODIFIED = 2, 12, 14, 24, 25
"""Where the fields stand that the parts of a request do not share."""

_KNOWN_BY_NAME = frozenset({"authenticated", "bearer"})
_PREFIXES = {"authenticated": "", "bearer": "OAuth", "sas": "SAS", "anonymous": "Anonymous"}
"""The service was seen to log requests with bearer tokens as `OAuth...`, though no metrics table counts them so."""


def _url(request: Request) -> str:
    target = without_signature(request.target)
    if not target.startswith("/"):
        return target
    return f"{'https' if request.is_secure else 'http'}://{request.headers.get('host', '')}{target}"


def _last_modified(etag: str) -> str:
    """The time in an entity's ETag, as the service shows it: `Thursday, 28-Jul-11 18:02:41 GMT`."""
    return _format_modified(etag[_ETAG_TIME]) if etag else ""


_ETAG_TIME = slice(len("W/\"datetime'"), len("W/\"datetime'2011-07-28T18%3A02%3A41"))


@lru_cache(maxsize=1024)
def _format_modified(text: str) -> str:
    moment = datetime.fromisoformat(unquote(text))
    month = _MONTHS[moment.month - 1]
    return f"{_WEEKDAYS[moment.weekday()]}, {moment:%d}-{month}-{moment:%y %H:%M:%S} GMT"


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _conditions(request: Request) -> str:
    headers = request.headers
    return ";".join(f"{name}={headers[name.lower()]}" for name in _CONDITIONS if name.lower() in headers)


_CONDITIONS = ("If-Modified-Since", "If-Unmodified-Since", "If-Match", "If-None-Match")


def _bounded(text: str | None) -> str | None:
    return text and text[:FIELD_LENGTH_MAX]


def _quoted(text: str | None) -> str:
    """A field that is always quoted; nothing at all where it is empty."""
    if not text:
        return ""
    if _UNUSUAL.search(text):
        text = text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
        text = _CONTROL.sub(lambda match: f"&#{ord(match[0])};", text)
    return f'"{text}"'


def _plain(text: str | None) -> str:
    """A client's field that needs no quotation marks where it is as it should be."""
    if not text:
        return ""
    return _quoted(text) if ";" in text or _UNUSUAL.search(text) else text


_UNUSUAL = re.compile(r'["&<>\x00-\x1f\x7f]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
