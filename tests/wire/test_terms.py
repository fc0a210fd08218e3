"""Version and format together."""

from __future__ import annotations

import pytest

from rowkey.errors import InvalidHeaderValue
from rowkey.wire.media import Format
from rowkey.wire.terms import Terms, fallback_terms, read_part_terms, read_terms
from rowkey.wire.version import NEWEST, OLDEST, Version


@pytest.mark.parametrize(
    ("version", "accept", "format_option", "terms"),
    [
        ("2019-02-02", "application/json", None, Terms(Version("2019-02-02", "2019-02-02"), Format.MINIMAL_METADATA)),
        ("2019-02-02", None, None, Terms(Version("2019-02-02", "2019-02-02"), Format.NOTHING_NAMED)),
        (None, "application/json", None, Terms(Version(None, NEWEST), Format.MINIMAL_METADATA)),
        (None, None, None, Terms(Version(None, OLDEST), Format.INDENTED_ATOM)),
        (None, "application/atom+xml", None, Terms(Version(None, OLDEST), Format.INDENTED_ATOM)),
    ],
)
def test_terms(version: str | None, accept: str | None, format_option: str | None, terms: Terms) -> None:
    assert read_terms(version, accept, format_option) == terms


@pytest.mark.parametrize(
    ("version", "data_service_version", "wanted"),
    [
        ("2014-02-14", None, Format.NO_METADATA),
        ("2014-02-14", "3.0;NetFx", Format.NO_METADATA),
        ("2014-02-14", "2.0;NetFx", Format.ATOM),
        ("2014-02-14", "1.0", Format.ATOM),
        ("2012-02-12", None, Format.UNTYPED_ATOM),
        ("2012-02-12", "2.0", Format.UNTYPED_ATOM),
        ("2019-02-02", "1.0", Format.NO_METADATA),
    ],
)
def test_format_option_came_with_odata_3(version: str, data_service_version: str | None, wanted: Format) -> None:
    """Where it does not count, Accept does, and the default is Atom; today there is nothing else to fall back to."""
    terms = read_terms(version, None, "application/json;odata=nometadata", data_service_version)
    assert terms.format is wanted


@pytest.mark.parametrize(
    ("version", "stated", "maximum", "wanted"),
    [
        ("2014-02-14", "1.0;NetFx", "3.0;NetFx", Format.NO_METADATA),
        ("2014-02-14", "3.0", "2.0;NetFx", Format.ATOM),
        ("2009-09-19", "1.0;NetFx", "2.0;NetFx", Format.INDENTED_ATOM),
    ],
)
def test_the_maximum_of_odata_counts_before_the_version(
    version: str, stated: str, maximum: str, wanted: Format
) -> None:
    terms = read_terms(version, None, "application/json;odata=nometadata", stated, maximum)
    assert terms.format is wanted


@pytest.mark.parametrize("data_service_version", [None, "1.0"])
def test_versions_older_than_the_oldest(data_service_version: str | None) -> None:
    assert read_terms("1999-12-31", None, None, data_service_version).format is Format.INDENTED_ATOM


@pytest.mark.parametrize(
    ("version", "accept", "format_option", "wanted"),
    [
        ("2019-02-02", None, None, Format.MINIMAL_METADATA),
        ("2019-02-02", "*/*", None, Format.MINIMAL_METADATA),
        ("2019-02-02", "text/html", None, Format.UNKNOWN),
        ("2019-02-02", "application/json;odata=nometadata", None, Format.NO_METADATA),
        ("2019-02-02", None, "application/json;odata=nometadata", Format.NO_METADATA),
        ("2019-02-02", "application/atom+xml", None, Format.LATE_ATOM),
        ("2014-02-14", None, None, Format.ATOM),
        ("2014-02-14", "application/json", None, Format.MINIMAL_METADATA),
        ("2012-02-12", None, None, Format.UNTYPED_ATOM),
        ("2012-02-12", "application/json", None, Format.EARLY_JSON),
        ("2012-02-12", "text/html", None, Format.UNKNOWN),
    ],
)
def test_terms_of_a_part(version: str, accept: str | None, format_option: str | None, wanted: Format) -> None:
    outer = Version(version, version)
    assert read_part_terms(outer, accept, format_option) == Terms(outer, wanted)


def test_bad_version() -> None:
    with pytest.raises(InvalidHeaderValue):
        read_terms("12.0.0b1", "application/json", None)


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [(None, Format.NOTHING_NAMED), ("application/json;odata=nometadata", Format.NO_METADATA), ("x", Format.UNKNOWN)],
)
def test_terms_of_an_answer_to_what_could_not_be_read(accept: str | None, wanted: Format) -> None:
    assert fallback_terms(accept) == Terms(Version("", NEWEST), wanted)
