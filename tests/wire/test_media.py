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
from rowkey.wire.media import Format, body_format, content_type, read_body_format, read_format

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
    ("application/atom+xml", "JSON", TODAY, Format.MINIMAL_METADATA),
    (None, "Application/JSON;OData=FullMetadata", TODAY, Format.FULL_METADATA),
    ("application/json", "atom", TODAY, AtomFormatNotSupported),
    ("application/json", "application/json;odata=verbose", TODAY, JsonVerboseFormatNotSupported),
    ("application/json", "xml", TODAY, MediaTypeNotSupported),
    ("application/json;odata=nometadata", "", TODAY, Format.NO_METADATA),
    ("application/json;odata=verbose, application/json", None, TODAY, Format.MINIMAL_METADATA),
    # The versions that have both, with Atom as the default.
    ("application/json;odata=fullmetadata", None, OF_BOTH, Format.FULL_METADATA),
    ("application/json", None, OF_BOTH, Format.MINIMAL_METADATA),
    (None, None, OF_BOTH, Format.ATOM),
    ("", None, OF_BOTH, Format.ATOM),
    ("*/*", None, OF_BOTH, Format.ATOM),
    ("application/atom+xml", None, OF_BOTH, Format.ATOM),
    ("application/atom+xml,application/xml", None, OF_BOTH, Format.ATOM),
    ("application/xml", None, OF_BOTH, Format.ATOM),
    ("application/atom+xml,application/json", None, OF_BOTH, Format.ATOM),
    ("application/json,application/atom+xml", None, OF_BOTH, Format.MINIMAL_METADATA),
    ("application/atom+xml;q=0.5,application/json", None, OF_BOTH, Format.MINIMAL_METADATA),
    ("text/html, */*", None, OF_BOTH, Format.ATOM),
    ("application/json", "atom", OF_BOTH, Format.ATOM),
    ("application/json", "Atom", OF_BOTH, Format.ATOM),
    (None, "application/json;odata=nometadata", OF_BOTH, Format.NO_METADATA),
    ("application/json;odata=verbose", None, OF_BOTH, JsonVerboseFormatNotSupported),
    ("text/html", None, OF_BOTH, MediaTypeNotSupported),
    # The versions that have Atom alone.
    (None, None, OF_ATOM, Format.UNTYPED_ATOM),
    ("*/*", None, OF_ATOM, Format.UNTYPED_ATOM),
    ("application/atom+xml,application/xml", None, OF_ATOM, Format.UNTYPED_ATOM),
    ("application/json,application/atom+xml", None, OF_ATOM, Format.UNTYPED_ATOM),
    ("application/json;odata=nometadata, */*;q=0.1", None, OF_ATOM, Format.UNTYPED_ATOM),
    ("application/json", None, OF_ATOM, JsonFormatNotSupported),
    ("application/json;odata=nometadata", None, OF_ATOM, JsonFormatNotSupported),
    ("text/html", None, OF_ATOM, MediaTypeNotSupported),
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


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2008-10-27", Format.INDENTED_ATOM),
        ("2009-09-19", Format.INDENTED_ATOM),
        ("2011-08-18", Format.INDENTED_ATOM),
        ("2012-02-12", Format.UNTYPED_ATOM),
        ("2013-08-14", Format.UNTYPED_ATOM),
        ("2013-08-15", Format.ATOM),
        ("2015-12-10", Format.ATOM),
        ("2015-12-11", AtomFormatNotSupported),
        ("2999-01-01", AtomFormatNotSupported),
    ],
)
@pytest.mark.parametrize("accept", [None, "application/atom+xml", "application/atom+xml,application/xml"])
def test_atom_ended_with_2015_12_11(accept: str | None, version: str, expected: Format | type[ServiceError]) -> None:
    test_format_of_a_body(accept, None, version, expected)


@pytest.mark.parametrize(
    ("level", "name"),
    [
        (Format.NO_METADATA, "nometadata"),
        (Format.MINIMAL_METADATA, "minimalmetadata"),
        (Format.FULL_METADATA, "fullmetadata"),
    ],
)
def test_content_type_as_recorded(level: Format, name: str) -> None:
    assert content_type(level) == f"application/json;odata={name};streaming=true;charset=utf-8"
    assert content_type(level, is_feed=True) == content_type(level)
    assert level.is_json


@pytest.mark.parametrize(
    ("wanted", "entry", "feed"),
    [
        (Format.INDENTED_ATOM, "application/atom+xml;charset=utf-8", "application/atom+xml;charset=utf-8"),
        (Format.UNTYPED_ATOM, "application/atom+xml;charset=utf-8", "application/atom+xml;charset=utf-8"),
        (Format.ATOM, "application/atom+xml;type=entry;charset=utf-8", "application/atom+xml;type=feed;charset=utf-8"),
    ],
)
def test_content_type_of_atom_as_captured(wanted: Format, entry: str, feed: str) -> None:
    """Versions 2009-09-19 and 2011-08-18 both ways, 2015-04-05 an entry; the others as the reference has them."""
    assert (content_type(wanted), content_type(wanted, is_feed=True)) == (entry, feed)


@pytest.mark.parametrize("wanted", set(Format) - {Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA})
def test_errors_are_xml_unless_json_was_asked_for(wanted: Format) -> None:
    assert not wanted.is_json


JSON_TYPES = [
    "application/json",
    "application/json;odata=nometadata",
    "application/json;odata=minimalmetadata",
    "application/json;odata=verbose",
    "application/json;odata=anything",
    "application/json; charset=utf-8",
    'application/json;odata=nometadata;charset="UTF-8"',
    "application/json;charset=us-ascii",
    "application/json;type=entry",
    "APPLICATION/JSON",
]
ATOM_TYPES = [
    "application/atom+xml",
    "application/atom+xml;type=entry",
    'application/atom+xml;charset="utf-8"',
    "Application/Atom+XML; charset=UTF-8",
    "application/xml",
    "text/xml",
]


@pytest.mark.parametrize("stated", [None, "", *JSON_TYPES])
@pytest.mark.parametrize("version", ["2013-08-15", OF_BOTH, TODAY])
def test_bodies_in_json(stated: str | None, version: str) -> None:
    """`;type=entry` is what the old JavaScript and PHP clients send."""
    assert read_body_format(stated, version).is_json


@pytest.mark.parametrize("stated", ATOM_TYPES)
@pytest.mark.parametrize("version", ["2008-10-27", OF_ATOM, OF_BOTH, "2015-12-10"])
def test_bodies_in_atom(stated: str, version: str) -> None:
    assert read_body_format(stated, version) is Format.ATOM


@pytest.mark.parametrize("stated", [None, ""])
def test_bodies_of_no_type_were_atom_before_there_was_json(stated: str | None) -> None:
    assert read_body_format(stated, OF_ATOM) is Format.ATOM


@pytest.mark.parametrize(
    ("stated", "version", "error"),
    [
        *((stated, TODAY, AtomFormatNotSupported) for stated in ATOM_TYPES),
        *((stated, OF_ATOM, JsonFormatNotSupported) for stated in JSON_TYPES),
        *(
            (stated, version, MediaTypeNotSupported)
            for stated in (
                "text/plain",
                "application/x-www-form-urlencoded",
                "*/*",
                "json",
                ";",
                "application/*",
                "application/json;charset=utf-16",
                "application/json;odata=nometadata; charset=iso-8859-1",
                'application/atom+xml;type=entry;charset="utf-16"',
            )
            for version in (OF_ATOM, OF_BOTH, TODAY)
        ),
    ],
)
def test_bodies_that_are_refused(stated: str, version: str, error: type[ServiceError]) -> None:
    with pytest.raises(error):
        read_body_format(stated, version)
