"""Errors as bytes. The service has six forms, by layer, version and what the client can read.

All were recorded but for one: what the protocol of 2008 answers is in its documents, and only with a byte order mark
and CRLF at the ends of lines has it the length that is stated there, 258 bytes.
"""

from rowkey.errors import Layer, ServiceError
from rowkey.model.datetimes import format_datetime_padded
from rowkey.model.entity import json_string
from rowkey.payload.xml_output import escape_text
from rowkey.wire.media import Format, content_type
from rowkey.wire.version import COMPACT_ATOM_SINCE, Version

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""At the beginning of indented XML, though not where the version had a name (recorded of 2011-08-18), nor in a part."""

_NAMESPACE = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"


def write_error(
    error: ServiceError, *, wanted: Format, version: Version, request_id: str, now: int, prefix: str = ""
) -> tuple[str, bytes]:
    """Content-Type and body of an error; `prefix` is the operation's index in a batch, with its colon."""
    text = prefix + error.text
    if version.text is not None or wanted.is_json or error.layer is Layer.HEADER:
        # Requests of 2008, without a version, get the bare message; one that cannot be read is none of them (recorded).
        text = f"{text}\nRequestId:{request_id}\nTime:{format_datetime_padded(now)}"
    is_front_end = error.layer in (Layer.FRONT_END, Layer.BARE_FRONT_END)
    if error.layer is Layer.HEADER:
        return "application/xml", BYTE_ORDER_MARK + _indented(error.code, text)
    if wanted.is_json:
        body = f'{{"odata.error":{{"code":"{error.code}","message":{{"lang":"en-US","value":{json_string(text)}}}}}}}'
        return "application/json" if is_front_end else content_type(wanted), body.encode("utf-8")
    if is_front_end:
        return "application/xml", (
            f'<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m="{_NAMESPACE}"><m:code>{error.code}</m:code>'
            f'<m:message xml:lang="en-US">{escape_text(text)}</m:message></m:error>'
        ).encode()
    if version.date < COMPACT_ATOM_SINCE:
        return "application/xml", (b"" if version.text else BYTE_ORDER_MARK) + _indented(error.code, text)
    return "application/xml;charset=utf-8", (
        f'<?xml version="1.0" encoding="utf-8"?><error xmlns="{_NAMESPACE}"><code>{error.code}</code>'
        f'<message xml:lang="en-US">{escape_text(text)}</message></error>'
    ).encode()


def _indented(code: str, text: str) -> bytes:
    lines = (
        '<?xml version="1.0" encoding="utf-8" standalone="yes"?>',
        f'<error xmlns="{_NAMESPACE}">',
        f"  <code>{code}</code>",
        f'  <message xml:lang="en-US">{escape_text(text)}</message>',
        "</error>",
    )
    return "\r\n".join(lines).encode("utf-8")
