"""Version and format together."""

from __future__ import annotations

import pytest

from rowkey.errors import InvalidHeaderValue
from rowkey.wire.media import Format
from rowkey.wire.terms import Terms, fallback_terms, read_terms
from rowkey.wire.version import NEWEST, OLDEST, Version


@pytest.mark.parametrize(
    ("version", "accept", "format_option", "terms"),
    [
        ("2019-02-02", "application/json", None, Terms(Version("2019-02-02", "2019-02-02"), Format.MINIMAL_METADATA)),
        ("2019-02-02", None, None, Terms(Version("2019-02-02", "2019-02-02"), Format.NOTHING_NAMED)),
        (None, "application/json", None, Terms(Version(None, NEWEST), Format.MINIMAL_METADATA)),
        (None, None, None, Terms(Version(None, OLDEST), Format.NOTHING_NAMED)),
        (None, "application/atom+xml", None, Terms(Version(None, OLDEST), Format.ATOM)),
    ],
)
def test_terms(version: str | None, accept: str | None, format_option: str | None, terms: Terms) -> None:
    assert read_terms(version, accept, format_option) == terms


def test_bad_version() -> None:
    with pytest.raises(InvalidHeaderValue):
        read_terms("12.0.0b1", "application/json", None)


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [(None, Format.NOTHING_NAMED), ("application/json;odata=nometadata", Format.NO_METADATA), ("x", Format.UNKNOWN)],
)
def test_terms_of_an_answer_to_what_could_not_be_read(accept: str | None, wanted: Format) -> None:
    assert fallback_terms(accept) == Terms(Version(None, NEWEST), wanted)
