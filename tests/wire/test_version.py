"""The protocol version that a request names."""

from __future__ import annotations

import pytest

from rowkey.errors import InvalidHeaderValue
from rowkey.wire.version import (
    CLIENT_REQUEST_ID_SINCE,
    ERROR_CODE_HEADER_SINCE,
    JSON_ONLY_SINCE,
    JSON_SINCE,
    NEWEST,
    OLDEST,
    TRANSACTIONS_SINCE,
    UPSERT_SINCE,
    Version,
    read_data_service_version,
    read_version,
)


@pytest.mark.parametrize("text", ["2009-04-14", "2011-08-18", "2019-02-02", "2026-06-06", "2018-06-15", "2999-12-31"])
@pytest.mark.parametrize("accept", [None, "*/*", "application/json"])
def test_any_date_is_accepted_and_kept_as_sent(text: str, accept: str | None) -> None:
    assert read_version(text, accept) == Version(text, text)


@pytest.mark.parametrize(
    "text",
    ["12.0.0b1", "", " ", "2019-02-02 ", "2019-2-2", "20190202", "2019-13-01", "2019-02-30", "2019-02-02T00:00:00Z",
     "٢٠١٩-٠٢-٠٢", "2019–02–02", "0000-00-00", "latest", "2019-02-02,2019-02-02"],
)  # fmt: skip
def test_text_that_is_no_date_is_refused(text: str) -> None:
    """Recorded: "12.0.0b1"."""
    with pytest.raises(InvalidHeaderValue):
        read_version(text, "application/json")


@pytest.mark.parametrize("accept", [None, "", "*/*", "application/atom+xml,application/xml"])
def test_request_without_a_version_speaks_the_protocol_of_2008(accept: str | None) -> None:
    assert read_version(None, accept) == Version(None, OLDEST)


@pytest.mark.parametrize("accept", ["application/json", "Application/JSON;odata=nometadata", "*/*, application/json"])
def test_request_without_a_version_that_asks_for_json_gets_the_newest(accept: str) -> None:
    assert read_version(None, accept) == Version(None, NEWEST)


def test_versions_compare_as_text() -> None:
    steps = [
        OLDEST,
        TRANSACTIONS_SINCE,
        UPSERT_SINCE,
        JSON_SINCE,
        JSON_ONLY_SINCE,
        ERROR_CODE_HEADER_SINCE,
        CLIENT_REQUEST_ID_SINCE,
        NEWEST,
    ]
    assert sorted(steps) == steps


@pytest.mark.parametrize(
    ("text", "version", "major"),
    [
        (None, "2008-10-27", 1),
        (None, "2011-08-18", 2),
        (None, "2013-08-15", 3),
        (None, "2019-02-02", 3),
        ("1.0;NetFx", "2008-10-27", 1),
        ("2.0;NetFx", "2011-08-18", 2),
        ("3.0;", "2013-08-15", 3),
        ("3.0", "2019-02-02", 3),
        (" 2.0 ; anything", "2019-02-02", 2),
        ("4.0", "2019-02-02", 4),
    ],
)
def test_odata_version(text: str | None, version: str, major: int) -> None:
    assert read_data_service_version(text, version) == major


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.0", "2009-09-19"),
        ("3.0;NetFx", "2012-02-12"),
        ("4.0", "2012-02-12"),
        ("", "2019-02-02"),
        ("3", "2019-02-02"),
        ("3.0 NetFx", "2019-02-02"),
        ("x", "2019-02-02"),
    ],
)
def test_odata_version_is_refused(text: str, version: str) -> None:
    with pytest.raises(InvalidHeaderValue):
        read_data_service_version(text, version)
