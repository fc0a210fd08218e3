"""What the operations of the front end share: they need a version, and answer XML documents.

They are those that address a part of a resource: `comp=acl` of a table, `comp=properties` and `comp=stats` of the
service. Successes and errors of theirs have the front end's headers (recorded): the operations say so of successes, and
the spine of errors.
"""

from rowkey.errors import Layer, MissingRequiredHeader
from rowkey.wire.call import Call
from rowkey.wire.request import Response

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def require_version(call: Call, since: str) -> None:
    """Raise MissingRequiredHeader unless the call names a version that has the operation."""
    if call.version.text is None or call.version.date < since:
        raise MissingRequiredHeader


def answer_document(text: str) -> Response:
    """An XML document as answer; all of them begin with a byte order mark (recorded: 258 of 258)."""
    body = _BYTE_ORDER_MARK + text.encode("utf-8")
    return Response(200, [("Content-Type", "application/xml")], body, layer=Layer.FRONT_END)
