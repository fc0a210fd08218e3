"""What permissions and times in policies and signatures look like."""

from itertools import permutations

import pytest

from rowkey.model.access_policy import is_permission, parse_access_time
from rowkey.model.datetimes import parse_datetime

LETTERS = "raud"
ORDERED = {
    "".join(letter for letter, is_in in zip(LETTERS, bits, strict=True) if is_in)
    for bits in ((a, b, c, d) for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1))
} - {""}
ALL = {"".join(letters) for length in range(5) for letters in permutations(LETTERS, length)}


@pytest.mark.parametrize("text", sorted(ALL))
def test_permission_is_letters_in_order(text: str) -> None:
    assert is_permission(text) == (text in ORDERED)


@pytest.mark.parametrize("text", ["rr", "x", "R", "raudx", "r ", " r", "r\n", "w", "rl", "\u0433"])
def test_other_text_is_no_permission(text: str) -> None:
    assert not is_permission(text)


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("2011-10-11", "2011-10-11T00:00:00Z"),
        ("2039-01-01T00:00Z", "2039-01-01T00:00:00Z"),
        ("2026-08-03T10:15:30Z", "2026-08-03T10:15:30Z"),
        ("2026-08-03T10:15:30.1Z", "2026-08-03T10:15:30.1Z"),
        ("2026-08-03T10:15:30.1234567Z", "2026-08-03T10:15:30.1234567Z"),
        ("2026-08-03T10:15:30+02:00", "2026-08-03T08:15:30Z"),
        ("2026-08-03T10:15-08:00", "2026-08-03T18:15:00Z"),
        ("1601-01-01", "1601-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"),
    ],
)
def test_times_in_every_form(text: str, same_as: str) -> None:
    assert parse_access_time(text) == parse_datetime(same_as)


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "2026", "2026-08", "2026-8-3", "2026-08-32", "2026-02-30", "20260803", "2026-08-03Z"),
        *("2026-08-03T10Z", "2026-08-03T10:15", "2026-08-03T10:15:30", "2026-08-03 10:15:30Z", "2026-08-03T25:00Z"),
        *("2026-08-03T10:15:30.Z", "2026-08-03T10:15:30.12345678Z", "2026-08-03T10:15:30z", "2026-08-03T10:15:30+0200"),
        *(" 2026-08-03", "2026-08-03\n", "1600-12-31", "0001-01-01T00:00:00Z", "2026-08-03T10:15:30+99:00"),
        "\uff12\uff10\uff12\uff16-08-03",
    ],
)
def test_other_text_is_no_time(text: str) -> None:
    with pytest.raises(ValueError):
        parse_access_time(text)
