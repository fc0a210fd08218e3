"""The value code never leaves out what a comparison finds: an index may be wider than the evaluator, never stricter."""

from __future__ import annotations

import math
import random
import struct

import orjson
import pytest

from rowkey.model.datetimes import TICKS_MIN
from rowkey.model.edm import INT64_MAX, INT64_MIN, EdmType
from rowkey.odata.ast import Comparison, Constant
from rowkey.odata.evaluator import compile_filter
from rowkey.store.embedded.value_code import PREFIX_BYTES, Span, intersect, spans_of, write_value
from rowkey.store.testing.indexes import OPERATORS, VALUES
from rowkey.store.testing.samples import double, int64, member, moment, string

Values = dict[str, object]


def entity(constant: Constant) -> Values:
    """An entity's decoded wire text with this value in A."""
    values: Values = orjson.loads(f"{{{member('A', constant)}}}")
    return values


def code(constant: Constant) -> bytes:
    """The code of a value."""
    written = write_value(entity(constant), "A")
    assert written is not None
    return written


def is_within(written: bytes, spans: tuple[Span, ...]) -> bool:
    return any(low <= written <= high for low, high in spans)


def verify(comparison: Comparison, values: list[Constant]) -> None:
    spans = spans_of(comparison)
    assert spans is not None
    matches = compile_filter(comparison)
    for value in values:
        assert is_within(code(value), spans) or not matches(entity(value)), (comparison, value)


@pytest.mark.parametrize("operator", [operator for operator in OPERATORS if operator != "ne"])
def test_what_a_comparison_finds_is_within_its_spans(operator: str) -> None:
    for constant in [*VALUES, moment(-1), moment(TICKS_MIN)]:
        verify(Comparison("A", operator, constant), VALUES)


@pytest.mark.parametrize("operator", ["eq", "lt", "le", "gt", "ge"])
def test_random_numbers_and_texts_are_within_their_spans(operator: str) -> None:
    randomness = random.Random(7)
    values = [double(_random_double(randomness)) for _ in range(60)]
    values += [int64(randomness.randint(INT64_MIN, INT64_MAX)) for _ in range(60)]
    values += [string(_random_text(randomness)) for _ in range(120)]
    for constant in values:
        verify(Comparison("A", operator, constant), values)


def _random_double(randomness: random.Random) -> float:
    number: float = struct.unpack(">d", randomness.randbytes(8))[0]
    return number if math.isfinite(number) else 0.5


def _random_text(randomness: random.Random) -> str:
    letters = "aab\x00\x01\x1f\x7fé\ud7ff\ue000\uffff\U0001f600"
    length = randomness.choice([0, 1, 2, 3, PREFIX_BYTES - 1, PREFIX_BYTES, PREFIX_BYTES + 1])
    head = "x" * max(0, length - 4)
    return head + "".join(randomness.choice(letters) for _ in range(length - len(head)))


def test_spans_leave_out_most_of_the_others() -> None:
    """Else an index would be correct and of no use."""
    comparison = Comparison("A", "eq", string("a"))
    spans = spans_of(comparison) or ()
    assert [value for value in VALUES if is_within(code(value), spans)] == [string("a")]


def test_long_texts_are_told_apart() -> None:
    texts = [string("x" * 500 + end) for end in "abc"]
    assert len({code(text) for text in texts}) == 3
    assert all(len(code(text)) <= 64 for text in texts)


def test_equal_numbers_have_one_code() -> None:
    assert len({code(value) for value in (int64(39), double(39.0), Constant(EdmType.INT32, 39))}) == 1
    assert code(double(-0.0)) == code(double(0.0))


def test_a_missing_property_has_no_code() -> None:
    assert write_value({"B": 1}, "A") is None


def test_the_timestamp_is_a_date_without_an_annotation() -> None:
    moment = Constant(EdmType.DATETIME, 134168400001234567)
    values = {"Timestamp": "2026-03-01T12:00:00.1234567Z"}
    assert spans_of(Comparison("Timestamp", "eq", moment)) == (
        Span(write_value(values, "Timestamp") or b"", write_value(values, "Timestamp") or b""),
    )


def test_bounds_of_one_property_meet() -> None:
    low, high = Comparison("A", "ge", int64(5)), Comparison("A", "lt", int64(9))
    (span,) = intersect(spans_of(low) or (), spans_of(high) or ())
    assert span == (code(int64(5)), code(int64(9)))
    assert (
        intersect(spans_of(Comparison("A", "gt", int64(9))) or (), spans_of(Comparison("A", "lt", int64(5))) or ())
        == ()
    )


def test_what_differs_is_not_looked_for() -> None:
    assert spans_of(Comparison("A", "ne", int64(5))) is None
