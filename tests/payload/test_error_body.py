"""Errors as bytes: the six forms, each as it was recorded or documented."""

from __future__ import annotations

import json

import pytest

from rowkey.errors import (
    AuthenticationFailed,
    InvalidETag,
    InvalidHeaderValue,
    InvalidQueryParameterValue,
    InvalidUri,
    Layer,
    OutOfRangeInput,
    ResourceNotFound,
    ServiceError,
    TableAlreadyExists,
    UpdateConditionNotSatisfied,
)
from rowkey.model.datetimes import parse_datetime
from rowkey.payload.error_body import write_error
from rowkey.wire.media import Format
from rowkey.wire.version import NEWEST, OLDEST, Version

NOW = parse_datetime("2026-08-03T10:15:32Z")
REQUEST_ID = "7c3b01c2-0002-006a-1999-63305d000000"
TODAY = Version("2019-02-02", "2019-02-02")
OF_ATOM = Version("2014-02-14", "2014-02-14")
OF_2011 = Version("2011-08-18", "2011-08-18")
OF_2008 = Version(None, OLDEST)
NAMESPACE = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
LINES = f"\nRequestId:{REQUEST_ID}\nTime:2026-08-03T10:15:32.0000000Z"
JSON_LEVELS = [Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA]
FORMATS_THAT_ARE_NOT_JSON = [
    Format.ANY,
    Format.NOTHING_NAMED,
    Format.ATOM,
    Format.INDENTED_ATOM,
    Format.LATE_ATOM,
    Format.UNKNOWN,
    Format.VERBOSE_JSON,
]


def write(error: ServiceError, wanted: Format, version: Version = TODAY, prefix: str = "") -> tuple[str, str]:
    """Content-Type and text of an error."""
    content_type, body = write_error(
        error, wanted=wanted, version=version, request_id=REQUEST_ID, now=NOW, prefix=prefix
    )
    return content_type, body.decode()


@pytest.mark.parametrize("level", JSON_LEVELS)
def test_json(level: Format) -> None:
    assert write(ResourceNotFound(), level) == (
        f"application/json;odata={level.value};streaming=true;charset=utf-8",
        '{"odata.error":{"code":"ResourceNotFound","message":{"lang":"en-US","value":"The specified resource does not '
        rf'exist.\nRequestId:{REQUEST_ID}\nTime:2026-08-03T10:15:32.0000000Z"}}}}}}',
    )


@pytest.mark.parametrize("level", JSON_LEVELS)
@pytest.mark.parametrize("error", [AuthenticationFailed(), ResourceNotFound(layer=Layer.FRONT_END), InvalidUri()])
def test_json_of_the_front_end_names_no_level(level: Format, error: ServiceError) -> None:
    content_type, body = write(error, level)
    assert content_type == "application/json"
    value = rf"{error.text}\nRequestId:{REQUEST_ID}\nTime:2026-08-03T10:15:32.0000000Z"
    expected = f'{{"odata.error":{{"code":"{error.code}","message":{{"lang":"en-US","value":"{value}"}}}}}}'
    assert body == expected


@pytest.mark.parametrize("version", [TODAY, OF_ATOM])
@pytest.mark.parametrize("wanted", FORMATS_THAT_ARE_NOT_JSON)
def test_xml_of_the_engine_in_one_line(wanted: Format, version: Version) -> None:
    """Recorded 2019-07-07: what has no usable Accept; and 2014-02-14: Atom."""
    assert write(ResourceNotFound(), wanted, version) == (
        "application/xml;charset=utf-8",
        f'<?xml version="1.0" encoding="utf-8"?><error xmlns="{NAMESPACE}"><code>ResourceNotFound</code>'
        f'<message xml:lang="en-US">The specified resource does not exist.{LINES}</message></error>',
    )


@pytest.mark.parametrize("wanted", FORMATS_THAT_ARE_NOT_JSON)
def test_xml_of_the_first_versions_is_indented(wanted: Format) -> None:
    """Recorded 2011-08-18: CRLF around the elements, and no byte order mark."""
    assert write(TableAlreadyExists(), wanted, OF_2011) == (
        "application/xml",
        '<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n'
        f'<error xmlns="{NAMESPACE}">\r\n'
        "  <code>TableAlreadyExists</code>\r\n"
        f'  <message xml:lang="en-US">The table specified already exists.{LINES}</message>\r\n'
        "</error>",
    )


def test_xml_of_2008_has_the_bare_message() -> None:
    """To the byte: the reference of 2008 states the length of this answer."""
    content_type, body = write(TableAlreadyExists(), Format.ATOM, OF_2008)
    assert content_type == "application/xml"
    assert body == (
        '\ufeff<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n'
        f'<error xmlns="{NAMESPACE}">\r\n'
        "  <code>TableAlreadyExists</code>\r\n"
        '  <message xml:lang="en-US">The table specified already exists.</message>\r\n'
        "</error>"
    )
    assert len(body.encode()) == 258


@pytest.mark.parametrize("version", [TODAY, OF_ATOM])
@pytest.mark.parametrize("wanted", FORMATS_THAT_ARE_NOT_JSON)
def test_xml_of_the_front_end_has_a_prefix(wanted: Format, version: Version) -> None:
    assert write(InvalidQueryParameterValue(), wanted, version) == (
        "application/xml",
        f'<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m="{NAMESPACE}">'
        "<m:code>InvalidQueryParameterValue</m:code>"
        '<m:message xml:lang="en-US">Value for one of the query parameters specified in the request URI is invalid.'
        f"{LINES}</m:message></m:error>",
    )


@pytest.mark.parametrize("wanted", list(Format))
def test_bad_header_has_a_form_of_its_own(wanted: Format) -> None:
    """Recorded: a byte order mark, CRLF around the elements, LF within the message."""
    assert write(InvalidHeaderValue(), wanted) == (
        "application/xml",
        '\ufeff<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n'
        f'<error xmlns="{NAMESPACE}">\r\n'
        "  <code>InvalidHeaderValue</code>\r\n"
        '  <message xml:lang="en-US">The value for one of the HTTP headers is not in the correct format.'
        f"{LINES}</message>\r\n"
        "</error>",
    )


def test_bad_version_has_the_lines_too() -> None:
    """Recorded with "12.0.0b1": what the request cannot be is one of 2008."""
    _, body = write(InvalidHeaderValue(), Format.ANY, Version(None, NEWEST))
    assert f"RequestId:{REQUEST_ID}" in body


def test_json_without_a_version_has_the_lines_too() -> None:
    """A request without a version that asks for JSON cannot mean the protocol of 2008."""
    _, body = write(ResourceNotFound(), Format.MINIMAL_METADATA, Version(None, NEWEST))
    assert f"RequestId:{REQUEST_ID}" in body


@pytest.mark.parametrize("wanted", [Format.MINIMAL_METADATA, Format.ANY])
def test_index_of_an_operation_precedes_the_message(wanted: Format) -> None:
    _, body = write(UpdateConditionNotSatisfied(), wanted, prefix="12:")
    assert "12:The update condition specified in the request was not satisfied." in body


def test_text_is_escaped_in_json() -> None:
    """As values are: pure ASCII."""
    _, body = write(InvalidETag('"é😀\\'), Format.MINIMAL_METADATA)
    assert body.isascii()
    assert r"'\"\u00e9\ud83d\ude00\\'" in body
    assert json.loads(body)["odata.error"]["message"]["value"].startswith("The etag value '\"é😀\\'")


@pytest.mark.parametrize("version", [TODAY, OF_ATOM])
@pytest.mark.parametrize("layer", [Layer.ENGINE, Layer.FRONT_END])
def test_text_is_escaped_in_xml(layer: Layer, version: Version) -> None:
    error = OutOfRangeInput("<a> & \x00\x1b]]> é", layer=layer)
    _, body = write(error, Format.ANY, version)
    assert "&lt;a&gt; &amp; \ufffd\ufffd]]&gt; é" in body


def test_time_has_seven_digits() -> None:
    _, body = write_error(
        ResourceNotFound(), wanted=Format.ANY, version=TODAY, request_id=REQUEST_ID, now=NOW + 2_500_000
    )
    assert b"Time:2026-08-03T10:15:32.2500000Z" in body
