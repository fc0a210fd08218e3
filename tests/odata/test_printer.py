"""Every tree that the parser can make goes through text and back."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowkey.model.datetimes import TICKS_MAX, TICKS_MIN
from rowkey.model.edm import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, EdmType
from rowkey.odata.ast import And, BooleanProperty, Comparison, Constant, Filter, Fixed, Not, Or
from rowkey.odata.parser import parse_filter
from rowkey.odata.printer import print_constant, print_filter

PRINTED = [
    (Constant(EdmType.STRING, "O'Neil"), "'O''Neil'"),
    (Constant(EdmType.BINARY, b"\x0a\xff"), "X'0aff'"),
    (Constant(EdmType.BOOLEAN, True), "true"),
    (Constant(EdmType.BOOLEAN, False), "false"),
    (Constant(EdmType.DATETIME, 5), "datetime'1601-01-01T00:00:00.0000005Z'"),
    (Constant(EdmType.DATETIME, TICKS_MIN), "datetime'0001-01-01T00:00:00Z'"),
    (Constant(EdmType.DATETIME, -1), "datetime'1600-12-31T23:59:59.9999999Z'"),
    (Constant(EdmType.DOUBLE, 3.0), "3.0"),
    (Constant(EdmType.DOUBLE, 1e22), "1e+22"),
    (Constant(EdmType.DOUBLE, math.inf), "INF"),
    (Constant(EdmType.DOUBLE, -math.inf), "-INF"),
    (Constant(EdmType.DOUBLE, math.nan), "NaN"),
    (Constant(EdmType.GUID, "c9da6455-213d-42c9-9a79-3e9149a57833"), "guid'c9da6455-213d-42c9-9a79-3e9149a57833'"),
    (Constant(EdmType.INT32, -5), "-5"),
    (Constant(EdmType.INT64, 5), "5L"),
]

CONSTANTS = st.one_of(
    st.builds(Constant, st.just(EdmType.STRING), st.text(max_size=20)),
    st.builds(Constant, st.just(EdmType.BINARY), st.binary(max_size=20)),
    st.builds(Constant, st.just(EdmType.BOOLEAN), st.booleans()),
    st.builds(Constant, st.just(EdmType.DATETIME), st.integers(TICKS_MIN, TICKS_MAX)),
    st.builds(Constant, st.just(EdmType.DOUBLE), st.floats(allow_nan=False)),
    st.builds(Constant, st.just(EdmType.GUID), st.uuids().map(str)),
    st.builds(Constant, st.just(EdmType.INT32), st.integers(INT32_MIN, INT32_MAX)),
    st.builds(Constant, st.just(EdmType.INT64), st.integers(INT64_MIN, INT64_MAX)),
)
NAMES = st.sampled_from(["PartitionKey", "RowKey", "Name", "eq", "and", "datetime", "X", "_1", "é", "\u554a\u9f44"])
LEAVES = st.one_of(
    st.builds(Comparison, NAMES, st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]), CONSTANTS),
    st.builds(BooleanProperty, NAMES),
    st.builds(Fixed, st.booleans()),
)


def of_one_kind(kind: type[And] | type[Or], operands: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    other = operands.filter(lambda operand: not isinstance(operand, kind))
    return st.lists(other, min_size=2, max_size=4).map(lambda found: kind(tuple(found)))


TREES: st.SearchStrategy[Filter] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        of_one_kind(And, inner),
        of_one_kind(Or, inner),
        inner.filter(lambda operand: not isinstance(operand, Not)).map(Not),
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(("constant", "text"), PRINTED)
def test_a_constant_has_one_spelling(constant: Constant, text: str) -> None:
    assert print_constant(constant) == text


@given(TREES)
@settings(max_examples=300, deadline=None)
def test_a_tree_survives_print_and_parse(tree: Filter) -> None:
    assert parse_filter(print_filter(tree)) == tree


@given(TREES)
@settings(max_examples=100, deadline=None)
def test_parentheses_around_everything_change_nothing(tree: Filter) -> None:
    assert parse_filter(f"((({print_filter(tree)})))") == tree
