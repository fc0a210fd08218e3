"""Which payload format a request asks for, and which one its body has."""

from __future__ import annotations

import pytest

from rowkey.errors import (
    AtomFormatNotSupported,
    JsonFormatNotSupported,
    JsonVerboseFormatNotSupported,
    MediaTypeNotSupported,
    ServiceError,
)
from rowkey.wire.media import Format, body_format, json_content_type, read_format, verify_body_type

TODAY = "2019-02-02"
OF_BOTH = "2014-02-14"
OF_ATOM = "2012-02-12"

# Accept, $format, version, and the format of a body or why there is none.
FORMATS = [
    ("application/json;odata=nometadata", None, TODAY, Format.NO_METADATA),
    ("application/json;odata=minimalmetadata", None, TODAY, Format.MINIMAL_METADATA),
    ("application/json;odata=fullmetadata", None, TODAY, Format.FULL_METADATA),
    ("application/json; odata=fullmetadata", None, TODAY, Format.FULL_METADATA),
    ("application/json ; odata = fullmetadata", None, TODAY, Format.FULL_METADATA),
    ("application/json;charset=utf-8;odata=fullmetadata", None, TODAY, Format.FULL_METADATA),
    ("application/json;odata=fullmetadata;streaming=true", None, TODAY, Format.FULL_METADATA),
    ("Application/JSON;ODATA=NoMetadata", None, TODAY, Format.NO_METADATA),
    ('application/json;odata="nometadata"', None, TODAY, Format.NO_METADATA),
    ("application/json", None, TODAY, Format.MINIMAL_METADATA),
    ("application/json;charset=utf-8", None, TODAY, Format.MINIMAL_METADATA),
    ("*/*", None, TODAY, Format.MINIMAL_METADATA),
    ("application/json;odata=verbose", None, TODAY, JsonVerboseFormatNotSupported),
    ("application/json;odata=much", None, TODAY, MediaTypeNotSupported),
    ("text/html", None, TODAY, MediaTypeNotSupported),
    ("image/*", None, TODAY, MediaTypeNotSupported),
    (None, None, TODAY, AtomFormatNotSupported),
    ("", None, TODAY, AtomFormatNotSupported),
    ("application/atom+xml", None, TODAY, AtomFormatNotSupported),
    ("application/atom+xml,application/xml", None, TODAY, AtomFormatNotSupported),
    # Lists and qualities.
    ("application/atom+xml,application/json", None, TODAY, Format.MINIMAL_METADATA),
    ("text/html, application/json;odata=nometadata", None, TODAY, Format.NO_METADATA),
    ("application/json;odata=nometadata;q=0.1, application/json;odata=fullmetadata", None, TODAY, Format.FULL_METADATA),
    ("application/json;odata=nometadata;q=0.9,*/*;q=0.1", None, TODAY, Format.NO_METADATA),
    ("application/json;odata=nometadata,application/json", None, TODAY, Format.NO_METADATA),
    ("application/json;q=0, */*", None, TODAY, Format.MINIMAL_METADATA),
    ("application/json;q=0", None, TODAY, MediaTypeNotSupported),
    # $format wins.
    ("application/json", "application/json;odata=nometadata", TODAY, Format.NO_METADATA),
    (None, "application/json;odata=minimalmetadata", TODAY, Format.MINIMAL_METADATA),
    ("application/atom+xml", "json", TODAY, Format.MINIMAL_METADATA),
    ("application/json", "atom", TODAY, AtomFormatNotSupported),
    ("application/json", "application/json;odata=verbose", TODAY, JsonVerboseFormatNotSupported),
    ("application/json", "xml", TODAY, MediaTypeNotSupported),
    ("application/json;odata=nometadata", "", TODAY, Format.NO_METADATA),
    # The versions that have both; Atom itself cannot be written yet.
    ("application/json;odata=fullmetadata", None, OF_BOTH, Format.FULL_METADATA),
    ("application/json", None, OF_BOTH, Format.MINIMAL_METADATA),
    ("application/json", None, OF_ATOM, JsonFormatNotSupported),
]  # fmt: skip


@pytest.mark.parametrize(("accept", "format_option", "version", "expected"), FORMATS)
def test_format_of_a_body(
    accept: str | None, format_option: str | None, version: str, expected: Format | type[ServiceError]
) -> None:
    wanted = read_format(accept, format_option, version)
    if isinstance(expected, Format):
        assert body_format(wanted) is expected
        return
    with pytest.raises(expected):
        body_format(wanted)


@pytest.mark.parametrize("version", ["2013-08-15", "2015-07-08"])
@pytest.mark.parametrize("accept", [None, "application/atom+xml", "application/atom+xml,application/json"])
def test_first_named_format_counts_where_both_are_legal(accept: str | None, version: str) -> None:
    assert read_format(accept, None, version) in (Format.ATOM, Format.NOTHING_NAMED)


@pytest.mark.parametrize(
    ("level", "name"),
    [
        (Format.NO_METADATA, "nometadata"),
        (Format.MINIMAL_METADATA, "minimalmetadata"),
        (Format.FULL_METADATA, "fullmetadata"),
    ],
)
def test_content_type_as_recorded(level: Format, name: str) -> None:
    assert json_content_type(level) == f"application/json;odata={name};streaming=true;charset=utf-8"
    assert level.is_json


@pytest.mark.parametrize("wanted", [Format.ANY, Format.ATOM, Format.NOTHING_NAMED, Format.VERBOSE_JSON, Format.UNKNOWN])
def test_errors_are_xml_unless_json_was_asked_for(wanted: Format) -> None:
    assert not wanted.is_json


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "application/json",
        "application/json;odata=nometadata",
        "application/json;odata=minimalmetadata",
        "application/json;odata=verbose",
        "application/json; charset=utf-8",
        "application/json;type=entry",
        "APPLICATION/JSON",
    ],
)
@pytest.mark.parametrize("version", ["2013-08-15", TODAY])
def test_bodies_that_are_read(content_type: str | None, version: str) -> None:
    """`;type=entry` is what the old JavaScript and PHP clients send."""
    verify_body_type(content_type, version)


@pytest.mark.parametrize(
    ("content_type", "version", "error"),
    [
        ("application/atom+xml", TODAY, AtomFormatNotSupported),
        ("application/atom+xml;type=entry", TODAY, AtomFormatNotSupported),
        ('application/atom+xml;charset="utf-8"', TODAY, AtomFormatNotSupported),
        ("text/plain", TODAY, MediaTypeNotSupported),
        ("application/x-www-form-urlencoded", TODAY, MediaTypeNotSupported),
        ("*/*", TODAY, MediaTypeNotSupported),
        ("json", TODAY, MediaTypeNotSupported),
        ("application/json", OF_ATOM, JsonFormatNotSupported),
    ],
)
def test_bodies_that_are_refused(content_type: str, version: str, error: type[ServiceError]) -> None:
    with pytest.raises(error):
        verify_body_type(content_type, version)
