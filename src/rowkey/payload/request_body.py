"""Request bodies: in the format that they state, to one form for all operations."""

from rowkey.payload.atom_input import read_entry
from rowkey.payload.json_input import read_object
from rowkey.payload.properties import Properties
from rowkey.wire.media import Format, read_body_format
from rowkey.wire.request import Request


def read_properties(request: Request, version_date: str) -> Properties:
    """The properties of the object or entry in a request's body.

    Raises 415 for a format that the version does not have, InvalidInput for a body that is not of its format, and
    DuplicatePropertiesSpecified.
    """
    if read_body_format(request.headers.get("content-type"), version_date) is Format.ATOM:
        return read_entry(request.body)
    return read_object(request.body)
