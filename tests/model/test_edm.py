"""Spelling of numbers and GUIDs, which all payload formats share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.model.edm import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    EdmType,
    format_double,
    parse_double,
    parse_guid,
    parse_integer,
    utf16_length,
)

# What .NET's round-trip format ("R") writes, with the point that the service adds; 200.23 and 1.23456789012346E+24
# were recorded, the rest are that format's published results.
DOUBLES = [
    (0.0, "0.0"),
    (-0.0, "-0.0"),
    (1.0, "1.0"),
    (-1.0, "-1.0"),
    (5.0, "5.0"),
    (10.0, "10.0"),
    (200.23, "200.23"),
    (-1.5, "-1.5"),
    (0.1, "0.1"),
    (0.1 + 0.2, "0.30000000000000004"),
    (1 / 3, "0.33333333333333331"),
    (2 / 3, "0.66666666666666663"),
    (3.141592653589793, "3.1415926535897931"),
    (2.718281828459045, "2.7182818284590451"),
    (0.0001, "0.0001"),
    (0.00012345, "0.00012345"),
    (0.00001, "1E-05"),
    (0.000012345, "1.2345E-05"),
    (-1.5e-7, "-1.5E-07"),
    (1e14, "100000000000000.0"),
    (123456789012345.0, "123456789012345.0"),
    (123456789012345.6, "123456789012345.59"),
    (999999999999999.0, "999999999999999.0"),
    (1e15, "1E+15"),
    (1.5e15, "1.5E+15"),
    (1234567890123456.0, "1234567890123456.0"),
    (9007199254740992.0, "9007199254740992.0"),
    (12345678901234568.0, "12345678901234568.0"),
    (1e16, "1E+16"),
    (1e17, "1E+17"),
    (123456789012345680.0, "1.2345678901234568E+17"),
    (1.23456789012346e24, "1.23456789012346E+24"),
    (1e100, "1E+100"),
    (9.2233720368547758e18, "9.2233720368547758E+18"),
    (2.2250738585072014e-308, "2.2250738585072014E-308"),
    (5e-324, "5E-324"),
    (1.7976931348623157e308, "1.7976931348623157E+308"),
    (-1.7976931348623157e308, "-1.7976931348623157E+308"),
]


def test_the_types_carry_their_names_on_the_wire() -> None:
    assert [str(edm_type) for edm_type in EdmType] == [
        *("Edm.String", "Edm.Binary", "Edm.Boolean", "Edm.DateTime"),
        *("Edm.Double", "Edm.Guid", "Edm.Int32", "Edm.Int64"),
    ]


@pytest.mark.parametrize(("value", "text"), DOUBLES)
def test_doubles_are_spelled_as_dotnet_does(value: float, text: str) -> None:
    assert format_double(value) == text
    assert parse_double(text) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_double_reads_back_and_is_no_integer(value: float) -> None:
    text = format_double(value)
    assert parse_double(text).hex() == value.hex()
    assert "." in text or "E" in text


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5.0), ("+5", 5.0), ("5.", 5.0), (".5", 0.5), ("1e3", 1000.0), ("-1E-3", -0.001), ("1e-400", 0.0)],
)
def test_doubles_are_read_in_other_spellings_too(text: str, value: float) -> None:
    assert parse_double(text) == value


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1 ", ".", "e5", "1e", "1,5", "1_000", "0x10", "NaN", "INF", "Infinity", "nan", "1e400", "-1e400", "٣"],
)
def test_what_is_no_finite_double_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_double(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("-0", 0), ("+7", 7), ("007", 7), ("2147483647", INT32_MAX), ("-2147483648", INT32_MIN)],
)
def test_integers_are_read(text: str, value: int) -> None:
    assert parse_integer(text, INT32_MIN, INT32_MAX) == value


@pytest.mark.parametrize(
    "text",
    ["", "-", "+-1", "1.0", "1e3", " 1", "1 ", "1_0", "0x1", "٣", "2147483648", "-2147483649", "9" * 40, "0" * 5000],
)
def test_what_is_no_int32_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_integer(text, INT32_MIN, INT32_MAX)


def test_int64_reaches_its_limits_exactly() -> None:
    assert parse_integer("9223372036854775807", INT64_MIN, INT64_MAX) == 2**63 - 1
    assert parse_integer("-9223372036854775808", INT64_MIN, INT64_MAX) == -(2**63)
    with pytest.raises(ValueError, match="out of range"):
        parse_integer("9223372036854775808", INT64_MIN, INT64_MAX)


def test_guids_are_lower_case() -> None:
    assert parse_guid("C9DA6455-213d-42C9-9a79-3E9149A57833") == "c9da6455-213d-42c9-9a79-3e9149a57833"


@pytest.mark.parametrize(
    "text",
    [
        *("", "c9da6455213d42c99a793e9149a57833", "{c9da6455-213d-42c9-9a79-3e9149a57833}"),
        *("c9da6455-213d-42c9-9a79-3e9149a5783", "g9da6455-213d-42c9-9a79-3e9149a57833"),
        *("c9da6455-213d-42c9-9a79-3e9149a57833\n", " c9da6455-213d-42c9-9a79-3e9149a57833"),
    ],
)
def test_what_is_no_guid_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a GUID"):
        parse_guid(text)


@pytest.mark.parametrize(("text", "length"), [("", 0), ("abc", 3), ("é", 1), ("\uffff", 1), ("a\U0001f600", 3)])
def test_lengths_are_counted_in_utf16_units(text: str, length: int) -> None:
    assert utf16_length(text) == length
