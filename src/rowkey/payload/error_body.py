"""Errors as bytes. The service has five forms, by layer, version and what the client can read (all recorded, but for
the indented one, which is in the documents of 2008).
"""

from rowkey.errors import Layer, ServiceError
from rowkey.model.datetimes import format_datetime_padded
from rowkey.model.entity import json_string
from rowkey.wire.media import Format, json_content_type
from rowkey.wire.version import JSON_ONLY_SINCE, Version

_NAMESPACE = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"


def write_error(
    error: ServiceError, *, wanted: Format, version: Version, request_id: str, now: int, prefix: str = ""
) -> tuple[str, bytes]:
    """Content-Type and body of an error; `prefix` is the operation's index in a batch, with its colon."""
    text = prefix + error.text
    if version.text is not None or wanted.is_json:
        # Requests of 2008, without a version, get the bare message.
        text = f"{text}\nRequestId:{request_id}\nTime:{format_datetime_padded(now)}"
    is_front_end = error.layer in (Layer.FRONT_END, Layer.BARE_FRONT_END)
    if error.layer is Layer.HEADER:
        return "application/xml", b"\xef\xbb\xbf" + _indented(error.code, text, "\r\n")
    if wanted.is_json:
        body = f'{{"odata.error":{{"code":"{error.code}","message":{{"lang":"en-US","value":{json_string(text)}}}}}}}'
        return "application/json" if is_front_end else json_content_type(wanted), body.encode("utf-8")
    if is_front_end:
        return "application/xml", (
            f'<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m="{_NAMESPACE}"><m:code>{error.code}</m:code>'
            f'<m:message xml:lang="en-US">{_escape(text)}</m:message></m:error>'
        ).encode()
    if version.date < JSON_ONLY_SINCE:
        return "application/xml", _indented(error.code, text, "\n")
    return "application/xml;charset=utf-8", (
        f'<?xml version="1.0" encoding="utf-8"?><error xmlns="{_NAMESPACE}"><code>{error.code}</code>'
        f'<message xml:lang="en-US">{_escape(text)}</message></error>'
    ).encode()


def _indented(code: str, text: str, newline: str) -> bytes:
    lines = (
        '<?xml version="1.0" encoding="utf-8" standalone="yes"?>',
        f'<error xmlns="{_NAMESPACE}">',
        f"  <code>{code}</code>",
        f'  <message xml:lang="en-US">{_escape(text)}</message>',
        "</error>",
    )
    return newline.join(lines).encode("utf-8")


def _escape(text: str) -> str:
    """Text as XML content; characters that XML cannot hold become U+FFFD."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if text.isprintable():
        return text
    return "".join(c if c >= " " or c in "\t\n\r" else "\ufffd" for c in text)
