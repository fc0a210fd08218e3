"""Edm.DateTime: text to ticks and back."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.model.datetimes import (
    TICKS_MAX,
    TICKS_MIN,
    TICKS_PER_SECOND,
    DateOutOfRange,
    format_datetime,
    format_datetime_padded,
    now_ticks,
    parse_datetime,
    respell_datetime,
    unix_of_ticks,
)

UNIX_EPOCH = 116_444_736_000_000_000

# Both ways: text as the service writes it, and ticks.
SPELLINGS = [
    ("1601-01-01T00:00:00Z", 0),
    ("1601-01-01T00:00:00.0000001Z", 1),
    ("1601-01-01T00:00:01Z", TICKS_PER_SECOND),
    ("1970-01-01T00:00:00Z", UNIX_EPOCH),
    ("1970-01-01T00:00:00.1Z", UNIX_EPOCH + 1_000_000),
    ("1970-01-01T00:00:00.283Z", UNIX_EPOCH + 2_830_000),
    ("1970-01-01T00:00:00.000001Z", UNIX_EPOCH + 10),
    ("2000-02-29T23:59:59.9999999Z", UNIX_EPOCH + 951_868_799 * TICKS_PER_SECOND + 9_999_999),
    ("2008-07-10T00:00:00Z", UNIX_EPOCH + 1_215_648_000 * TICKS_PER_SECOND),
    ("9999-12-31T23:59:59.9999999Z", TICKS_MAX),
]

# Read only: other spellings of the same instants.
OTHER_SPELLINGS = [
    ("2008-07-10T00:00:00", "2008-07-10T00:00:00Z"),
    ("2008-07-10", "2008-07-10T00:00:00Z"),
    ("2008-07-10Z", "2008-07-10T00:00:00Z"),
    ("2008-07-10T12:34", "2008-07-10T12:34:00Z"),
    ("2008-07-10T12:34Z", "2008-07-10T12:34:00Z"),
    ("2008-07-10t12:34:56z", "2008-07-10T12:34:56Z"),
    ("2008-07-10 12:34:56Z", "2008-07-10T12:34:56Z"),
    ("2008-07-10T12:34:56.000000Z", "2008-07-10T12:34:56Z"),
    ("2008-07-10T12:34:56.283000Z", "2008-07-10T12:34:56.283Z"),
    ("2008-07-10T12:34:56.123456789Z", "2008-07-10T12:34:56.1234568Z"),
    ("2008-07-10T12:34:56.123456749999Z", "2008-07-10T12:34:56.1234567Z"),
    ("2008-07-10T12:34:56.12345675Z", "2008-07-10T12:34:56.1234568Z"),
    ("2008-07-10T12:34:56.12345665000Z", "2008-07-10T12:34:56.1234566Z"),
    ("2008-07-10T12:34:56.123456650001", "2008-07-10T12:34:56.1234567Z"),
    ("2007-12-31T23:59:59.999999999Z", "2008-01-01T00:00:00Z"),
    ("2008-07-10T12:34:56.00000005+00:00", "2008-07-10T12:34:56Z"),
    ("2008-07-10T12:34:56+02:00", "2008-07-10T10:34:56Z"),
    ("2008-07-10T12:34:56-0230", "2008-07-10T15:04:56Z"),
    ("2008-07-10T00:00:00+14:00", "2008-07-09T10:00:00Z"),
    ("2008-01-01T00:00:00+01:00", "2007-12-31T23:00:00Z"),
    ("1600-12-31T23:30:00-01:00", "1601-01-01T00:30:00Z"),
    ("9999-12-31T23:59:59.9999999+00:00", "9999-12-31T23:59:59.9999999Z"),
]

REFUSED = [
    *("", "now", "2008", "2008-07", "2008-7-1", "08-07-10", "2008-07-10T", "2008-07-10T12", "2008-07-10T1:2:3Z"),
    *("2008-07-10T12:34:56.Z", "2008-07-10T12:34:56,5Z", "2008-07-10T12:34:56+02", "2008-07-10T12:34:56 Z"),
    *(" 2008-07-10", "2008-07-10\n", "20080710", "+2008-07-10", "-2008-07-10", "12008-07-10", "٢٠٠٨-07-10"),
    *("0000-01-01", "2008-02-30", "2007-02-29", "2008-13-01", "2008-00-01", "2008-01-00"),
    *("2008-07-10T24:00:00Z", "2008-07-10T12:60:00Z", "2008-12-31T23:59:60Z"),
    *("2008-07-10T12+34:56Z", "2008-07-10T12-34:56.5Z", "2008-07-10T12:34+56Z", "2008-07-10T123456+0Z"),
    *("2008-07-10T12:34:56+15:00", "2008-07-10T12:34:56+01:60"),
]

OUT_OF_RANGE = [
    *("0001-01-01T00:00:00Z", "1600-12-31T23:59:59.9999999Z", "1601-01-01T00:00:00+00:01"),
    *("9999-12-31T23:59:59-00:01", "9999-12-31T23:59:59.99999999Z"),
]


@pytest.mark.parametrize(("text", "ticks"), SPELLINGS)
def test_instants_are_read_and_written(text: str, ticks: int) -> None:
    assert parse_datetime(text) == ticks
    assert format_datetime(ticks) == text


@pytest.mark.parametrize(("text", "canonical"), OTHER_SPELLINGS)
def test_other_spellings_are_read(text: str, canonical: str) -> None:
    assert format_datetime(parse_datetime(text)) == canonical


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_instant_is_refused(text: str) -> None:
    for read in (parse_datetime, respell_datetime):
        with pytest.raises(ValueError):
            read(text)


@pytest.mark.parametrize("text", OUT_OF_RANGE)
def test_instants_that_the_service_cannot_store_are_out_of_range(text: str) -> None:
    for read in (parse_datetime, respell_datetime):
        with pytest.raises(DateOutOfRange):
            read(text)


@given(
    st.from_regex(r"\A[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,9})?Z\Z")
    | st.sampled_from([*(text for text, _ in (*SPELLINGS, *OTHER_SPELLINGS)), *REFUSED, *OUT_OF_RANGE])
)
def test_respelling_is_reading_and_writing(text: str) -> None:
    try:
        ticks = parse_datetime(text)
    except ValueError as error:
        with pytest.raises(type(error)):
            respell_datetime(text)
    else:
        assert respell_datetime(text) == format_datetime(ticks)


@given(st.integers(TICKS_MIN, TICKS_MAX))
def test_every_instant_reads_back(ticks: int) -> None:
    assert parse_datetime(format_datetime(ticks), ticks_min=TICKS_MIN) == ticks
    assert parse_datetime(format_datetime_padded(ticks), ticks_min=TICKS_MIN) == ticks


@given(st.integers(0, TICKS_MAX), st.integers(0, TICKS_MAX))
def test_padded_texts_sort_as_their_instants_do(one: int, two: int) -> None:
    assert (format_datetime_padded(one) < format_datetime_padded(two)) == (one < two)


def test_padded_texts_always_have_seven_digits_of_fraction() -> None:
    assert format_datetime_padded(UNIX_EPOCH) == "1970-01-01T00:00:00.0000000Z"
    assert format_datetime_padded(UNIX_EPOCH + 1_000_000) == "1970-01-01T00:00:00.1000000Z"


def test_the_wall_clock_is_in_ticks() -> None:
    assert abs(unix_of_ticks(now_ticks()) - time.time()) < 10
