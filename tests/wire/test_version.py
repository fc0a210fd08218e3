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
    choose_version,
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
    ("header", "options", "version"),
    [
        ("2019-02-02", {}, "2019-02-02"),
        ("2019-02-02", {"sv": "nonsense"}, "2019-02-02"),
        ("2019-02-02", {"sv": "2012-02-12"}, "2012-02-12"),
        ("2019-02-02", {"sv": "2012-02-12", "api-version": "2019-07-07"}, "2012-02-12"),
        ("2019-02-02", {"sv": "2015-04-05"}, "2019-02-02"),
        ("2019-02-02", {"sv": "2015-04-05", "api-version": "2019-07-07"}, "2019-07-07"),
        (None, {"sv": "2015-04-05", "api-version": "2019-07-07"}, "2019-07-07"),
        (None, {"sv": "2015-04-05"}, "2015-04-05"),
        ("2013-08-15", {"sv": "2015-04-05"}, "2015-04-05"),
        ("2014-02-14", {"sv": "2015-04-05"}, "2014-02-14"),
    ],
)
def test_version_of_a_request_with_a_signature(header: str | None, options: dict[str, str], version: str) -> None:
    assert choose_version(header, options) == version


# DataServiceVersion, MaxDataServiceVersion, protocol, and the OData version that they ask for; None: refused.
ODATA_VERSIONS = [
    (None, None, "1999-12-31", 1),
    (None, None, "2008-10-27", 1),
    (None, None, "2011-08-18", 2),
    (None, None, "2013-08-15", 3),
    (None, None, "2019-02-02", 3),
    ("1.0;NetFx", None, "2008-10-27", 1),
    ("2.0;NetFx", None, "2011-08-18", 2),
    ("3.0;", None, "2013-08-15", 3),
    ("3.0", None, "2019-02-02", 3),
    (" 2.0 ; anything", None, "2019-02-02", 2),
    ("2.0", None, "2009-09-19", None),
    ("3.0;NetFx", None, "2012-02-12", None),
    ("4.0", None, "2019-02-02", None),
    ("3.1", None, "2019-02-02", None),
    ("1.5", None, "2019-02-02", None),
    ("0.5", None, "2019-02-02", None),
    ("9.9", None, "2019-02-02", None),
    ("10.0", None, "2019-02-02", None),
    ("", None, "2019-02-02", None),
    ("3", None, "2019-02-02", None),
    ("3.0 NetFx", None, "2019-02-02", None),
    ("٣.٠", None, "2019-02-02", None),
    ("x", None, "2019-02-02", None),
    # The maximum wins, and means no more than the protocol has.
    (None, "2.0", "2019-02-02", 2),
    (None, "1.0;NetFx", "2011-08-18", 1),
    ("1.0;NetFx", "2.0;NetFx", "2009-09-19", 1),  # captured
    ("1.0;NetFx", "2.0;NetFx", "2011-08-18", 2),
    ("1.0;NetFx", "3.0;NetFx", "2012-02-12", 2),
    ("3.0", "1.0", "2019-02-02", 1),
    (None, "4.0", "2019-02-02", 3),
    (None, "9.9", "2008-10-27", 1),
    (None, "10.0", "2019-02-02", 3),
    ("3.0;NetFx", "3.0;NetFx", "2012-02-12", None),
    ("x", "3.0", "2019-02-02", None),
    ("3.0", "x", "2019-02-02", None),
    (None, "4", "2019-02-02", None),
    (None, "0.9", "2019-02-02", None),
]


@pytest.mark.parametrize(("stated", "maximum", "version", "expected"), ODATA_VERSIONS)
def test_odata_version(stated: str | None, maximum: str | None, version: str, expected: int | None) -> None:
    if expected is not None:
        assert read_data_service_version(stated, maximum, version) == expected
        return
    with pytest.raises(InvalidHeaderValue):
        read_data_service_version(stated, maximum, version)
