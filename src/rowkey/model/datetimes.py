"""Edm.DateTime: ticks of 100 ns since 1601-01-01T00:00:00Z, the earliest instant that the service stores.

The same number is an entity's Timestamp and, spelled differently, its ETag.
"""

import re
import time
from datetime import datetime, timedelta
from functools import lru_cache

TICKS_PER_SECOND = 10_000_000
TICKS_MIN = -504_911_232_000_000_000
"""0001-01-01T00:00:00Z, the first instant of the calendar, which a filter may name; what is stored begins with 0."""
TICKS_MAX = 2_650_467_743_999_999_999
"""9999-12-31T23:59:59.9999999Z."""

_EPOCH = datetime(1601, 1, 1)  # noqa: DTZ001 - every datetime here is UTC; without a zone they are subtracted faster
_UNIX_EPOCH_TICKS = 116_444_736_000_000_000

_ISO_8601 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(?:[Zz]|([+-])(\d\d):?(\d\d))?", re.ASCII
)


def now_ticks() -> int:
    """The wall clock in ticks."""
    return time.time_ns() // 100 + _UNIX_EPOCH_TICKS


class DateOutOfRange(ValueError):
    """A date and time that the calendar has and the service does not: before 1601."""


def parse_datetime(text: str, *, ticks_min: int = 0) -> int:
    """Ticks of an ISO 8601 date or date and time, UTC where no offset is given.

    The fraction is rounded to seven digits. Raises ValueError for text of another form and dates that the calendar
    does not have, DateOutOfRange for instants before `ticks_min`, by default those that cannot be stored, or after
    TICKS_MAX.
    """
    if _is_usual(text):
        ticks = _ticks_of(datetime.fromisoformat(text[:19]))
        if len(text) > 20:
            ticks += _ticks_of_fraction(text[20:-1])
    else:
        ticks = _parse_any_form(text)
    if not ticks_min <= ticks <= TICKS_MAX:
        raise DateOutOfRange
    return ticks


def _is_usual(text: str) -> bool:
    """Whether it has the marks of `2026-08-03T10:15:30Z`, or of one with a fraction, in their places.

    All of them: what stands for a colon could be a sign, and make what follows an offset.
    """
    return (
        text[4:11:3] == "--T"
        and text[13:17:3] == "::"
        and (text[19:] == "Z" or _FRACTION.fullmatch(text, 19) is not None)
    )


_FRACTION = re.compile(r"\.\d+Z", re.ASCII)


def _ticks_of(moment: datetime) -> int:
    elapsed = moment - _EPOCH
    return (elapsed.days * 86_400 + elapsed.seconds) * TICKS_PER_SECOND


def _ticks_of_fraction(digits: str) -> int:
    """Halves of a tick are rounded to even, as in the service's library: `XmlConvert.ToDateTime` of .NET."""
    if len(digits) <= 7:
        return int(digits.ljust(7, "0"))
    ticks, rest = int(digits[:7]), digits[7:].rstrip("0")
    return ticks + (rest > "5" or (rest == "5" and ticks % 2 == 1))


def _parse_any_form(text: str) -> int:
    match = _ISO_8601.fullmatch(text)
    if match is None:
        raise ValueError("not an ISO 8601 date and time")
    year, month, day, hour, minute, second, fraction, sign, offset_hours, offset_minutes = match.groups()
    ticks = _ticks_of(
        datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))  # noqa: DTZ001
    )
    if fraction:
        ticks += _ticks_of_fraction(fraction)
    if sign:
        if int(offset_hours) > 14 or int(offset_minutes) > 59:
            raise ValueError("no such offset")
        offset = (int(offset_hours) * 60 + int(offset_minutes)) * 60 * TICKS_PER_SECOND
        ticks += -offset if sign == "+" else offset
    return ticks


def format_datetime(ticks: int) -> str:
    """`YYYY-MM-DDThh:mm:ss[.f]Z`: up to seven digits of fraction, trailing zeros cut (recorded: 1,723 of 1,723)."""
    seconds, fraction = divmod(ticks, TICKS_PER_SECOND)
    if fraction:
        return f"{_format_seconds(seconds)}.{fraction:07d}".rstrip("0") + "Z"
    return _format_seconds(seconds) + "Z"


def respell_datetime(text: str) -> str:
    """`format_datetime(parse_datetime(text))`, and quicker where that changes nothing."""
    if _CANONICAL.fullmatch(text) and text >= "1601":
        datetime.fromisoformat(text[:19])  # raises ValueError for what the calendar does not have
        return text
    return format_datetime(parse_datetime(text))


_CANONICAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{0,6}[1-9])?Z", re.ASCII)


def format_datetime_padded(ticks: int) -> str:
    """As `format_datetime`, always with seven digits of fraction: error texts, access policies (recorded)."""
    seconds, fraction = divmod(ticks, TICKS_PER_SECOND)
    return f"{_format_seconds(seconds)}.{fraction:07d}Z"


def unix_of_ticks(ticks: int) -> int:
    """The Unix time of an instant, in whole seconds."""
    return (ticks - _UNIX_EPOCH_TICKS) // TICKS_PER_SECOND


@lru_cache(maxsize=1024)
def _format_seconds(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()
