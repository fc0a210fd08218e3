"""If-Match and If-None-Match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidETag, InvalidInput, Layer, MissingRequiredHeader
from rowkey.model.datetimes import TICKS_MAX, format_datetime, parse_datetime
from rowkey.model.entity import Key, compose_entity
from rowkey.model.writes import Condition
from rowkey.wire.preconditions import parse_etag, read_condition, refuse_conditions, require_condition
from rowkey.wire.request import Request

TIME = parse_datetime("2026-08-03T10:15:31.1234567Z")
ETAGS: list[tuple[str, Condition | int]] = [
    ("*", Condition.EXISTS),
    ("W/\"datetime'2026-08-03T10%3A15%3A31.1234567Z'\"", TIME),
    ("w/\"datetime'2026-08-03T10%3A15%3A31.1234567Z'\"", TIME),
    ("W/\"datetime'2026-08-03T10%3a15%3a31.1234567Z'\"", TIME),
    ("W/\"datetime'2026-08-03T10:15:31.1234567Z'\"", TIME),
    ("W/\"datetime'2026-08-03T10%3A15%3A31Z'\"", parse_datetime("2026-08-03T10:15:31Z")),
    ("W/\"datetime''2026-08-03T10%3A15%3A31.1234567Z''\"", Condition.UNMEETABLE),
    ('W/"0x5B168C7B6E589D2"', Condition.UNMEETABLE),
    ('W/""', Condition.UNMEETABLE),
    ("W/\"datetime'nonsense'\"", Condition.UNMEETABLE),
    ("W/\"datetime'1600-12-31T23%3A59%3A59.9999999Z'\"", 0),
    ("W/\"datetime'0001-01-01T00%3A00%3A00Z'\"", 0),
    ('W/"datetime\'2026-08-03T10%3A15%3A31.1234567Z"', Condition.UNMEETABLE),
]
MALFORMED = [
    "", "nonsense", "W/", 'W/"', 'W/"a', '"a"', '"0x5B168C7B6E589D2"', "datetime'2026-08-03T10%3A15%3A31Z'",
    'W/"a", W/"b"', "*, *", "**", 'W/"a"b', ' W/"a"', "W/'a'", 'W/"a"\n', "\"datetime'2026-08-03T10%3A15%3A31Z'\"",
]  # fmt: skip


def request(method: str = "PUT", **conditions: str) -> Request:
    return Request(method, "/", {name.replace("_", "-"): value for name, value in conditions.items()})


@pytest.mark.parametrize(("etag", "condition"), ETAGS)
def test_etag(etag: str, condition: Condition | int) -> None:
    assert parse_etag(etag) == condition
    assert read_condition(request(if_match=etag)) == condition
    assert require_condition(request(if_match=etag)) == condition


@pytest.mark.parametrize("etag", MALFORMED)
def test_malformed_etag(etag: str) -> None:
    """Unquoted: recorded, with its text. Strong and several: as the text says."""
    with pytest.raises(InvalidETag) as caught:
        parse_etag(etag)
    assert caught.value.text == (
        f"The etag value '{etag}' specified in one of the request headers is not valid. "
        "Please make sure only one etag value is specified and is valid."
    )
    assert caught.value.layer is Layer.LIBRARY


@given(st.integers(0, TICKS_MAX))
def test_etag_of_an_entity_is_its_timestamp(ticks: int) -> None:
    etag = compose_entity(Key("p", "r"), ticks, {}).etag
    assert parse_etag(etag) == ticks
    assert etag == "W/\"datetime'{}'\"".format(format_datetime(ticks).replace(":", "%3A"))


def test_no_condition() -> None:
    assert read_condition(request()) is Condition.ANY
    with pytest.raises(MissingRequiredHeader):
        require_condition(request())


@pytest.mark.parametrize("method", ["PUT", "MERGE", "PATCH", "DELETE"])
@pytest.mark.parametrize("etag", ["*", 'W/"a"', "nonsense"])
def test_if_none_match_is_refused(method: str, etag: str) -> None:
    with pytest.raises(InvalidInput, match=f"^If-None-Match HTTP header cannot be specified for {method} operations.$"):
        read_condition(request(method, if_none_match=etag))


def test_both_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^Both If-Match and If-None-Match HTTP headers cannot be specified at the"):
        read_condition(request(if_match="*", if_none_match="*"))


@pytest.mark.parametrize("header", ["if_match", "if_none_match"])
def test_tables_have_no_etag(header: str) -> None:
    refuse_conditions(request())
    with pytest.raises(InvalidInput, match="if the target type does not have etag properties defined"):
        refuse_conditions(request(**{header: "*"}))
