"""What filters mean: tables of cases, and each type compared with a plain model of it."""

from base64 import b64encode
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.model.datetimes import TICKS_MAX, TICKS_MIN, format_datetime
from rowkey.model.edm import INT64_MAX, INT64_MIN, EdmType
from rowkey.model.entity import Key, compose_entity, json_string, ordinal
from rowkey.odata.ast import Comparison, Constant
from rowkey.odata.evaluator import compile_filter, matches
from rowkey.odata.parser import parse_filter
from tests.drawn import OPERATORS

GUID = "c9da6455-213d-42c9-9a79-3e9149a57833"

MEMBERS = {
    "Text": '"Text":"m"',
    "Empty": '"Empty":""',
    "Yes": '"Yes":true',
    "No": '"No":false',
    "Int": '"Int":39',
    "Big": '"Big@odata.type":"Edm.Int64","Big":"9007199254740993"',
    "Real": '"Real":39.0',
    "Nan": '"Nan@odata.type":"Edm.Double","Nan":"NaN"',
    "Most": '"Most@odata.type":"Edm.Double","Most":"Infinity"',
    "Least": '"Least@odata.type":"Edm.Double","Least":"-Infinity"',
    "When": '"When@odata.type":"Edm.DateTime","When":"2008-07-10T00:00:00.5Z"',
    "Id": f'"Id@odata.type":"Edm.Guid","Id":"{GUID}"',
    "Raw": '"Raw@odata.type":"Edm.Binary","Raw":"AP8="',
}
ENTITY: dict[str, Any] = orjson.loads(compose_entity(Key("p", "r"), 10_000_000, MEMBERS).text)


def meaning(text: str) -> bool:
    return compile_filter(parse_filter(text))(ENTITY)


def compared(name: str, constant: str) -> str:
    """The operators for which the comparison is true."""
    return " ".join(name_ for name_ in OPERATORS if meaning(f"{name} {name_} {constant}"))


EQUAL, LESS, GREATER, UNLIKE, NONE = "eq le ge", "ne lt le", "ne gt ge", "ne", ""

WITHIN_A_TYPE = [
    ("PartitionKey", "'p'", EQUAL),
    ("RowKey", "'q'", GREATER),
    ("RowKey", "'rr'", LESS),
    ("Text", "'m'", EQUAL),
    ("Text", "'M'", GREATER),
    ("Text", "'ma'", LESS),
    ("Text", "''", GREATER),
    ("Empty", "''", EQUAL),
    ("Yes", "true", EQUAL),
    ("Yes", "false", GREATER),
    ("No", "true", LESS),
    ("When", "datetime'2008-07-10T00:00:00.5Z'", EQUAL),
    ("When", "datetime'2008-07-10T02:00:00.500+02:00'", EQUAL),
    ("When", "datetime'2008-07-10T00:00:00Z'", GREATER),
    ("When", "datetime'2008-07-10T00:00:00.51Z'", LESS),
    ("When", "datetime'1600-12-31T23:59:59.9999999Z'", GREATER),
    ("When", "datetime'0001-01-01T00:00:00Z'", GREATER),
    ("Timestamp", "datetime'0001-01-01T00:00:00Z'", GREATER),
    ("Timestamp", "datetime'1601-01-01T00:00:01Z'", EQUAL),
    ("Timestamp", "datetime'2008-07-10'", LESS),
    ("Id", f"guid'{GUID.upper()}'", EQUAL),
    ("Id", "guid'00000000-0000-0000-0000-000000000000'", GREATER),
    ("Raw", "X'00ff'", EQUAL),
    ("Raw", "X'007f'", GREATER),
    ("Raw", "X'00'", GREATER),
    ("Raw", "X'00ff00'", LESS),
]

NUMBERS = [
    ("Int", "39", EQUAL),
    ("Int", "39L", EQUAL),
    ("Int", "39.0", EQUAL),
    ("Int", "38.999", GREATER),
    ("Int", "NaN", UNLIKE),
    ("Int", "-INF", GREATER),
    ("Real", "39", EQUAL),
    ("Real", "40L", LESS),
    ("Big", "9007199254740993L", EQUAL),
    ("Big", "9007199254740993", EQUAL),
    ("Big", "9007199254740992.0", GREATER),
    ("Big", "9007199254740994.0", LESS),
    ("Big", "12", GREATER),
    ("Nan", "NaN", UNLIKE),
    ("Nan", "1", UNLIKE),
    ("Most", "INF", EQUAL),
    ("Most", "9223372036854775807L", GREATER),
    ("Least", "-INF", EQUAL),
    ("Least", "0", LESS),
]

ACROSS_TYPES = [
    *((name, "''", LESS) for name in ("Int", "Big", "Real", "Nan", "When", "Timestamp", "Yes", "Id", "Raw")),
    *(("Text", constant, GREATER) for constant in ("1", "1L", "1.5", "NaN", "true", f"guid'{GUID}'", "X'00'")),
    *(("PartitionKey", constant, GREATER) for constant in ("1", "true", "datetime'2008-07-10'")),
    ("Int", "'39'", LESS),
    ("Text", "datetime'2008-07-10'", GREATER),
    ("Text", "datetime'0001-01-01'", GREATER),
    ("Int", "datetime'0001-01-01'", UNLIKE),
    ("Id", f"'{GUID}'", LESS),
    ("Raw", "'AP8='", LESS),
    ("Timestamp", "'1601-01-01T00:00:01Z'", LESS),
    ("Timestamp", "1", UNLIKE),
    ("Timestamp", "true", UNLIKE),
    ("Timestamp", "X'00'", UNLIKE),
    ("Int", "true", UNLIKE),
    ("Yes", "1", UNLIKE),
    ("Yes", "X'01'", UNLIKE),
    ("Int", "datetime'2008-07-10'", UNLIKE),
    ("When", "1", UNLIKE),
    ("When", f"guid'{GUID}'", UNLIKE),
    ("Big", f"guid'{GUID}'", UNLIKE),
    ("Id", "X'00'", UNLIKE),
    ("Raw", "true", UNLIKE),
]

MISSING = [
    *(("Missing", constant, NONE) for constant in ("''", "1", "1L", "1.5", "NaN", "true", "X'00'", f"guid'{GUID}'")),
    ("Missing", "datetime'2008-07-10'", NONE),
    ("Missing", "datetime'0001-01-01'", NONE),
    ("text", "'m'", NONE),
    ("timestamp", "datetime'1601-01-01T00:00:01Z'", NONE),
]


@pytest.mark.parametrize(("name", "constant", "operators"), [*WITHIN_A_TYPE, *NUMBERS, *ACROSS_TYPES, *MISSING])
def test_a_comparison_holds_for_these_operators(name: str, constant: str, operators: str) -> None:
    assert compared(name, constant) == operators


LOGIC = [
    ("true", True),
    ("false", False),
    ("Yes", True),
    ("No", False),
    ("Int", False),
    ("Text", False),
    ("Missing", False),
    ("not Missing", True),
    ("not (Missing eq 1)", True),
    ("not (Missing ne 1)", True),
    ("not No", True),
    ("Yes and No", False),
    ("Yes and Int eq 39", True),
    ("Yes and Yes and Int eq 39", True),
    ("Yes and Yes and No", False),
    ("No or Yes", True),
    ("No or No", False),
    ("No or Missing or Int eq 39", True),
    ("No or Missing or Int eq 40", False),
    ("Int eq 39 or No and No", True),
    ("(Int eq 39 or No) and No", False),
    ("Text eq 'a' or Text eq 'm'", True),
    ("Text eq 'a' or Text eq 'b' or Text eq 'c'", False),
    ("Text eq 'a' or Empty eq '' or No", True),
    ("Text eq 'a' or Yes", True),
    ("Int eq '39' or Id eq '" + GUID + "' or Missing eq ''", False),
    ("Timestamp eq '1601-01-01T00:00:01Z' or Timestamp eq 'a'", False),
]


@pytest.mark.parametrize(("text", "expected"), LOGIC)
def test_conditions_combine_as_plain_boolean_logic(text: str, expected: bool) -> None:
    assert meaning(text) is expected


def test_a_table_is_asked_for_its_name() -> None:
    tree = parse_filter("TableName ge 'zzza' and TableName lt 'zzzb'")
    assert matches(tree, {"TableName": "zzzanimals"})
    assert not matches(tree, {"TableName": "zzzb"})


def verify(member: str, edm_type: EdmType, constant: Any, one: Any, two: Any) -> None:
    """The evaluator decides between property and constant as Python does between `one` and `two`."""
    values = orjson.loads("{" + member + "}")
    for name, compare in OPERATORS.items():
        tree = Comparison("A", name, Constant(edm_type, constant))
        assert compile_filter(tree)(values) is compare(one, two)


TEXTS = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("a\ud7ff\ue000\uff21\U0001f600")), max_size=4)


@given(TEXTS, TEXTS)
def test_strings_are_ordered_by_utf16_units(one: str, two: str) -> None:
    verify(f'"A":{json_string(one)}', EdmType.STRING, two, ordinal(one), ordinal(two))


@given(st.integers(0, TICKS_MAX), st.integers(-10, 10), st.sampled_from([1, 10, 10_000_000, 10**12, 10**17]))
def test_dates_are_ordered_by_ticks(one: int, steps: int, step: int) -> None:
    two = min(max(one + steps * step, TICKS_MIN), TICKS_MAX)
    member = f'"A@odata.type":"Edm.DateTime","A":"{format_datetime(one)}"'
    verify(member, EdmType.DATETIME, two, one, two)


@given(st.integers(INT64_MIN, INT64_MAX), st.floats())
def test_integers_and_doubles_are_compared_exactly(one: int, two: float) -> None:
    verify(f'"A@odata.type":"Edm.Int64","A":"{one}"', EdmType.DOUBLE, two, one, two)
    verify(f'"A@odata.type":"Edm.Int64","A":"{one}"', EdmType.DOUBLE, float(one), one, float(one))


@given(st.binary(max_size=4), st.binary(max_size=4))
def test_binary_values_are_ordered_by_bytes(one: bytes, two: bytes) -> None:
    verify(f'"A@odata.type":"Edm.Binary","A":"{b64encode(one).decode()}"', EdmType.BINARY, two, one, two)
