"""Literals: every Edm type, its limits, and what no property can be compared with."""

import math

import pytest

from rowkey.errors import InvalidQuery
from rowkey.model.datetimes import TICKS_MAX, TICKS_MIN
from rowkey.model.edm import EdmType
from rowkey.odata.ast import Constant
from rowkey.odata.lexer import lex

GUID = "c9da6455-213d-42c9-9a79-3e9149a57833"

LITERALS = [
    ("''", EdmType.STRING, ""),
    ("'O''Neil'", EdmType.STRING, "O'Neil"),
    ("''''", EdmType.STRING, "'"),
    ("'a and (b or /?:@&=+,$ \t\r\n\0'", EdmType.STRING, "a and (b or /?:@&=+,$ \t\r\n\0"),
    ("'啊齄 é \U0001f600'", EdmType.STRING, "啊齄 é \U0001f600"),
    ("true", EdmType.BOOLEAN, True),
    ("True", EdmType.BOOLEAN, True),
    ("faLsE", EdmType.BOOLEAN, False),
    ("false", EdmType.BOOLEAN, False),
    ("0", EdmType.INT32, 0),
    ("-0042", EdmType.INT32, -42),
    ("2147483647", EdmType.INT32, 2**31 - 1),
    ("-2147483648", EdmType.INT32, -(2**31)),
    ("2147483648", EdmType.INT64, 2**31),
    ("-9223372036854775808", EdmType.INT64, -(2**63)),
    ("9223372036854775807L", EdmType.INT64, 2**63 - 1),
    ("42l", EdmType.INT64, 42),
    ("1.5", EdmType.DOUBLE, 1.5),
    ("-2E10", EdmType.DOUBLE, -2e10),
    ("2e+3", EdmType.DOUBLE, 2000.0),
    ("2.5e-3", EdmType.DOUBLE, 0.0025),
    ("3D", EdmType.DOUBLE, 3.0),
    ("3.5d", EdmType.DOUBLE, 3.5),
    ("1.7976931348623157E+308", EdmType.DOUBLE, 1.7976931348623157e308),
    ("INF", EdmType.DOUBLE, math.inf),
    ("-INF", EdmType.DOUBLE, -math.inf),
    ("datetime'1601-01-01T00:00:00Z'", EdmType.DATETIME, 0),
    ("datetime'1601-01-01'", EdmType.DATETIME, 0),
    ("datetime'1601-01-01T00:00:00.0000001Z'", EdmType.DATETIME, 1),
    ("datetime'1601-01-01T02:00:00+02:00'", EdmType.DATETIME, 0),
    ("datetime'1600-12-31T23:59:59.9999999Z'", EdmType.DATETIME, -1),
    ("datetime'0001-01-01T00:00:00.0000000Z'", EdmType.DATETIME, TICKS_MIN),
    ("datetime'9999-12-31T23:59:59.9999999Z'", EdmType.DATETIME, TICKS_MAX),
    (f"guid'{GUID}'", EdmType.GUID, GUID),
    (f"guid'{GUID.upper()}'", EdmType.GUID, GUID),
    ("X'0aFF'", EdmType.BINARY, b"\x0a\xff"),
    ("binary'0aFF'", EdmType.BINARY, b"\x0a\xff"),
    ("X''", EdmType.BINARY, b""),
]

MISFITS = [
    "null",
    *("1.5m", "1.5M", "1.5f", "3F", "1.5L", "1e3l"),
    *("9223372036854775808", "9223372036854775808L", "-9223372036854775809", "9" * 60_000, "1e999"),
    *("datetime''", "datetime'2008'", "datetime'2008-13-01'", "datetime'2008-07-10T24:00:00Z'"),
    *("datetime'0000-12-31'", "datetime'0001-01-01T00:00:00+00:01'", "datetime'9999-12-31T23:59:59-00:01'"),
    *("guid''", "guid'c9da6455'", f"guid'{{{GUID}}}'"),
    *("X'0'", "X'0g'", "binary'AQID'"),
    *("time'PT1H'", "datetimeoffset'2008-07-10T00:00:00Z'"),
]

FAULTS = [
    ("'some", "There is an unterminated string literal at position 5 in ''some'."),
    ("'", "There is an unterminated string literal at position 1 in '''."),
    ("'some''", "There is an unterminated string literal at position 7 in ''some'''."),
    ("'\U0001f600", "There is an unterminated string literal at position 3 in ''\U0001f600'."),
    ("binary'1234", "There is an unterminated literal at position 11 in 'binary'1234'."),
    ("datetime'", "There is an unterminated literal at position 9 in 'datetime''."),
    ("4.a", "A digit was expected at position 2 in '4.a'."),
    ("4Ea", "A digit was expected at position 2 in '4Ea'."),
    ("4.5e+", "A digit was expected at position 5 in '4.5e+'."),
    ("^", "Syntax error: character '^' is not valid at position 0 in '^'."),
    (" é #", "Syntax error: character '#' is not valid at position 3 in ' é #'."),
    (".5", "Syntax error: character '.' is not valid at position 0 in '.5'."),
]


@pytest.mark.parametrize(("text", "edm_type", "value"), LITERALS)
def test_a_literal_is_a_constant_of_its_type(text: str, edm_type: EdmType, value: object) -> None:
    literal, end = lex(text)
    constant = literal.value
    assert isinstance(constant, Constant)
    assert (constant.edm_type, constant.value) == (edm_type, value)
    assert type(constant.value) is type(value)
    assert (literal.kind, literal.start, literal.end, end.kind) == ("literal", 0, len(text), "end")


def test_nan_is_a_double() -> None:
    constant = next(lex("NaN")).value
    assert isinstance(constant, Constant)
    assert constant.edm_type is EdmType.DOUBLE
    assert math.isnan(float(constant.value))


@pytest.mark.parametrize("text", MISFITS)
def test_a_value_that_no_property_has_is_no_constant(text: str) -> None:
    misfit, end = lex(text)
    assert (misfit.kind, misfit.value, misfit.start, misfit.end) == ("misfit", text, 0, len(text))
    assert end.kind == "end"


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_a_fault_is_reported_where_it_is(text: str, message: str) -> None:
    """Wording and positions: the OData library's own tests; positions count UTF-16 code units."""
    with pytest.raises(InvalidQuery) as refusal:
        list(lex(text))
    assert refusal.value.text == message


@pytest.mark.parametrize(
    "name",
    ["a", "_", "Name2", "timestamp", "é", "\u554a", "\U00010400", "हिन्दी", "NaNs", "nulls", "a" * 256, "é" * 256],
)
def test_a_name_is_an_identifier_of_any_alphabet(name: str) -> None:
    assert [token.value for token in lex(f"({name})")] == ["(", name, ")", ""]


@pytest.mark.parametrize("text", ["\xa0", "a\u2028b", "\ue000", "\U0001f600", "a\x85"])
def test_what_no_identifier_contains_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuery):
        list(lex(text))


def test_tokens_need_no_blanks_where_they_cannot_be_confused() -> None:
    tokens = [token.kind for token in lex("(a)and(b)eq'x'or not(c)")]
    assert tokens == [
        *("open", "word", "close", "word", "open", "word", "close", "word", "literal"),
        *("word", "word", "open", "word", "close", "end"),
    ]


def test_blanks_of_every_kind_part_tokens() -> None:
    assert [token.value for token in lex(" a\teq\r\nb ")] == ["a", "eq", "b", ""]
