"""Request bodies: the format that they state decides, and both lead to the same properties."""

from __future__ import annotations

import pytest

from rowkey.errors import AtomFormatNotSupported, InvalidInput, JsonFormatNotSupported, MediaTypeNotSupported
from rowkey.payload.request_body import read_properties
from rowkey.wire.request import Request

OF_BOTH = "2014-02-14"
IN_JSON = b'{"A":"1","B":"2","B@odata.type":"Edm.Int64","C":null}'
IN_ATOM = (
    b"<entry xmlns='http://www.w3.org/2005/Atom' xmlns:d='http://schemas.microsoft.com/ado/2007/08/dataservices'"
    b" xmlns:m='http://schemas.microsoft.com/ado/2007/08/dataservices/metadata'><content><m:properties>"
    b"<d:A>1</d:A><d:B m:type='Edm.Int64'>2</d:B><d:C m:null='true' /></m:properties></content></entry>"
)
PROPERTIES = {"A": "1", "B": "2", "B@odata.type": "Edm.Int64", "C": None}


def request(content_type: str | None, body: bytes) -> Request:
    return Request("POST", "/", {} if content_type is None else {"content-type": content_type}, body)


@pytest.mark.parametrize(
    ("content_type", "version", "body"),
    [
        ("application/json", OF_BOTH, IN_JSON),
        ("application/atom+xml", OF_BOTH, IN_ATOM),
        ("application/atom+xml;type=entry", OF_BOTH, IN_ATOM),
        (None, OF_BOTH, IN_JSON),
        (None, "2008-10-27", IN_ATOM),
        ("application/atom+xml", "2008-10-27", IN_ATOM),
    ],
)
def test_same_properties(content_type: str | None, version: str, body: bytes) -> None:
    assert read_properties(request(content_type, body), version) == PROPERTIES


@pytest.mark.parametrize(
    ("content_type", "version", "error"),
    [
        ("application/json", "2012-02-12", JsonFormatNotSupported),
        ("application/atom+xml", "2015-12-11", AtomFormatNotSupported),
        ("text/plain", OF_BOTH, MediaTypeNotSupported),
    ],
)
@pytest.mark.parametrize("body", [IN_JSON, IN_ATOM, b""])
def test_format_is_refused_before_the_body_is_read(
    content_type: str, version: str, error: type[Exception], body: bytes
) -> None:
    with pytest.raises(error):
        read_properties(request(content_type, body), version)


@pytest.mark.parametrize(
    ("content_type", "body"), [("application/json", IN_ATOM), ("application/atom+xml", IN_JSON), (None, IN_ATOM)]
)
def test_body_of_another_format_than_stated(content_type: str | None, body: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_properties(request(content_type, body), OF_BOTH)
