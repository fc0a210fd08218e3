"""Plans: the ranges of the usual filters, and that ranges and residual together say what the filter says."""

from collections.abc import Sequence
from itertools import product

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rowkey.model.edm import EdmType
from rowkey.model.entity import Key, compose_entity
from rowkey.model.key_range import FIRST_KEY, WHOLE_TABLE, KeyRange, key_order
from rowkey.odata.ast import And, BooleanProperty, Comparison, Constant, Filter, Fixed, Not, Or
from rowkey.odata.evaluator import compile_filter
from rowkey.odata.parser import parse_filter
from rowkey.odata.planner import RANGES_MAX, clip, plan_query
from rowkey.odata.printer import print_filter

End = tuple[str, str] | None
Range = tuple[tuple[str, str], End]

EXACT: list[tuple[str, list[Range]]] = [
    ("true", [(("", ""), None)]),
    ("false", []),
    ("PartitionKey eq 'p' and RowKey eq 'r'", [(("p", "r"), ("p", "r\0"))]),
    ("RowKey eq 'r' and 'p' eq PartitionKey", [(("p", "r"), ("p", "r\0"))]),
    ("PartitionKey eq 'p'", [(("p", ""), ("p\0", ""))]),
    ("PartitionKey eq ''", [(("", ""), ("\0", ""))]),
    ("PartitionKey ne 'p'", [(("", ""), ("p", "")), (("p\0", ""), None)]),
    ("PartitionKey ne ''", [(("\0", ""), None)]),
    ("PartitionKey lt ''", []),
    ("PartitionKey gt 'p'", [(("p\0", ""), None)]),
    ("PartitionKey ge 'p' and PartitionKey lt 'q'", [(("p", ""), ("q", ""))]),
    ("PartitionKey ge 'p' and PartitionKey le 'p'", [(("p", ""), ("p\0", ""))]),
    ("PartitionKey lt 'p' and PartitionKey gt 'q'", []),
    ("PartitionKey eq 'p' and PartitionKey eq 'q'", []),
    ("PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b'", [(("p", "a"), ("p", "b"))]),
    ("PartitionKey eq 'p' and RowKey gt 'a'", [(("p", "a\0"), ("p\0", ""))]),
    ("PartitionKey eq 'p' and RowKey le 'a'", [(("p", ""), ("p", "a\0"))]),
    ("PartitionKey eq 'p' and RowKey ne 'a'", [(("p", ""), ("p", "a")), (("p", "a\0"), ("p\0", ""))]),
    ("PartitionKey eq 'p' and not (RowKey eq 'a')", [(("p", ""), ("p", "a")), (("p", "a\0"), ("p\0", ""))]),
    ("PartitionKey eq 'q' or PartitionKey eq 'p'", [(("p", ""), ("p\0", "")), (("q", ""), ("q\0", ""))]),
    ("PartitionKey lt 'p' or PartitionKey ge 'o'", [(("", ""), None)]),
    ("not (PartitionKey lt 'p' or PartitionKey gt 'q')", [(("p", ""), ("q\0", ""))]),
    (
        "PartitionKey eq 'p' and (RowKey eq '2' or RowKey eq '1')",
        [(("p", "1"), ("p", "1\0")), (("p", "2"), ("p", "2\0"))],
    ),
    (
        "(PartitionKey eq 'q' and RowKey eq '1') or (PartitionKey eq 'p' and RowKey eq '2')",
        [(("p", "2"), ("p", "2\0")), (("q", "1"), ("q", "1\0"))],
    ),
    ("PartitionKey gt 'p' or (PartitionKey eq 'p' and RowKey ge 'r')", [(("p", "r"), None)]),  # "after this key"
    ("PartitionKey lt 'p' or (PartitionKey eq 'p' and RowKey lt 'r')", [(("", ""), ("p", "r"))]),
    (
        "PartitionKey eq '\uff21' or PartitionKey eq '\U0001f600'",  # by UTF-16 code units the emoji comes first
        [(("\U0001f600", ""), ("\U0001f600\0", "")), (("\uff21", ""), ("\uff21\0", ""))],
    ),
    ("PartitionKey eq 1", []),
    ("PartitionKey gt 1", [(("", ""), None)]),
    ("not (RowKey eq true)", [(("", ""), None)]),
    ("PartitionKey", []),
    ("not RowKey", [(("", ""), None)]),
]

WITH_RESIDUAL: list[tuple[str, list[Range], str]] = [
    ("A eq 1", [(("", ""), None)], "A eq 1"),
    ("RowKey eq 'r'", [(("", "r"), None)], "RowKey eq 'r'"),
    ("RowKey ge 'r' and RowKey lt 's'", [(("", "r"), None)], "RowKey ge 'r' and RowKey lt 's'"),
    ("PartitionKey eq 'p' and A eq 1", [(("p", ""), ("p\0", ""))], "A eq 1"),
    ("PartitionKey eq 'p' and A eq 1 and RowKey gt 'r' and B", [(("p", "r\0"), ("p\0", ""))], "A eq 1 and B"),
    ("PartitionKey eq 'p' and (A eq 1 or RowKey gt 'r')", [(("p", ""), ("p\0", ""))], "A eq 1 or RowKey gt 'r'"),
    ("PartitionKey eq 'p' or A eq 1", [(("", ""), None)], "PartitionKey eq 'p' or A eq 1"),
    ("not (PartitionKey eq 'p' and A eq 1)", [(("", ""), None)], "not (PartitionKey eq 'p' and A eq 1)"),
    (
        "not (PartitionKey ne 'p' or A eq 1)",
        [(("p", ""), ("p\0", ""))],
        "not (PartitionKey ne 'p' or A eq 1)",
    ),
    # Of several partitions the first and the last are read no further than they need be.
    (
        "PartitionKey ge 'p' and PartitionKey le 'q' and RowKey ge 'a' and RowKey lt 'b'",
        [(("p", "a"), ("q", "b"))],
        "RowKey ge 'a' and RowKey lt 'b'",
    ),
    ("PartitionKey ge 'p' and PartitionKey lt 'q' and RowKey lt 'b'", [(("p", ""), ("q", ""))], "RowKey lt 'b'"),
    (
        "(PartitionKey eq 'p' and A eq 1) or (PartitionKey eq 'q' and B)",
        [(("p", ""), ("p\0", "")), (("q", ""), ("q\0", ""))],
        "PartitionKey eq 'p' and A eq 1 or PartitionKey eq 'q' and B",
    ),
    ("Timestamp gt datetime'2008-07-10'", [(("", ""), None)], "Timestamp gt datetime'2008-07-10T00:00:00Z'"),
]


@pytest.mark.parametrize(("text", "ranges"), EXACT)
def test_a_filter_on_keys_is_nothing_but_ranges(text: str, ranges: list[Range]) -> None:
    plan = plan_query(parse_filter(text))
    assert list(plan.ranges) == ranges
    assert plan.residual is None


@pytest.mark.parametrize(("text", "ranges", "residual"), WITH_RESIDUAL)
def test_what_the_ranges_leave_open_is_the_residual(text: str, ranges: list[Range], residual: str) -> None:
    plan = plan_query(parse_filter(text))
    assert list(plan.ranges) == ranges
    assert plan.residual is not None
    assert print_filter(plan.residual) == residual


def test_no_filter_is_the_whole_table() -> None:
    assert plan_query(None) == ((WHOLE_TABLE,), None)


def test_a_contradiction_reads_nothing_whatever_else_is_asked() -> None:
    assert plan_query(parse_filter("PartitionKey eq 'p' and PartitionKey eq 'q' and A eq 1")) == ((), None)


def test_a_long_list_of_keys_is_read_key_by_key() -> None:
    keys = [f"{number:04}" for number in range(RANGES_MAX)]
    text = " or ".join(f"RowKey eq '{key}'" for key in reversed(keys))
    plan = plan_query(parse_filter(f"PartitionKey eq 'p' and ({text})"))
    assert list(plan.ranges) == [(("p", key), ("p", key + "\0")) for key in keys]
    assert plan.residual is None


def test_a_longer_list_of_keys_is_read_in_stretches() -> None:
    count = 3 * RANGES_MAX + 1
    text = " or ".join(f"RowKey eq '{number:04}'" for number in range(count))
    tree = parse_filter(f"PartitionKey eq 'p' and ({text})")
    plan = plan_query(tree)
    assert RANGES_MAX / 4 < len(plan.ranges) <= RANGES_MAX
    assert plan.ranges[0].start == ("p", "0000")
    assert plan.ranges[-1].end == ("p", f"{count - 1:04}\0")
    assert plan.residual == tree


# ---------------------------------------------------------------- plan and filter say the same

TEXTS = ["", "a", "a\0", "ab", "b", "c", "\ud7ff", "\U0001f600", "\uff21"]
OPERATORS = st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"])
CONSTANTS = st.one_of(
    st.builds(Constant, st.just(EdmType.STRING), st.sampled_from(TEXTS)),
    st.sampled_from([Constant(EdmType.INT32, 1), Constant(EdmType.BOOLEAN, True), Constant(EdmType.DATETIME, 0)]),
)
LEAVES = st.one_of(
    st.builds(Comparison, st.sampled_from(["PartitionKey", "RowKey"]), OPERATORS, CONSTANTS),
    st.builds(Comparison, st.sampled_from(["PartitionKey", "RowKey", "A", "Missing"]), OPERATORS, CONSTANTS),
    st.builds(BooleanProperty, st.sampled_from(["PartitionKey", "RowKey", "B"])),
    st.builds(Fixed, st.booleans()),
)
TREES: st.SearchStrategy[Filter] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map(lambda found: And(tuple(found))),
        st.lists(inner, min_size=2, max_size=4).map(lambda found: Or(tuple(found))),
        inner.map(Not),
    ),
    max_leaves=16,
)
ENTITIES = [
    (key, orjson.loads(compose_entity(key, 0, members).text))
    for key in map(Key._make, product(TEXTS, TEXTS))
    for members in ({}, {"A": '"A":"b"', "B": '"B":true'}, {"A": '"A":1'})
]


def contains(ranges: Sequence[KeyRange], key: Key) -> bool:
    order = key_order(key)
    return any(key_order(r.start) <= order and (r.end is None or order < key_order(r.end)) for r in ranges)


def verify_plan(tree: Filter) -> None:
    plan = plan_query(tree)
    verify_ascending(plan.ranges)
    matches = compile_filter(tree)
    residual = compile_filter(plan.residual or Fixed(True))
    for key, values in ENTITIES:
        assert (contains(plan.ranges, key) and residual(values)) == matches(values)


def verify_ascending(ranges: Sequence[KeyRange]) -> None:
    """Disjoint and in order, none empty, none that could be one with the next."""
    for position, (start, end) in enumerate(ranges):
        assert (end is None) <= (position == len(ranges) - 1)
        assert end is None or key_order(start) < key_order(end)
        if position:
            previous = ranges[position - 1].end
            assert previous is not None
            assert key_order(previous) < key_order(start)


@given(TREES)
@settings(max_examples=500, deadline=None)
@example(parse_filter("RowKey eq 'a' and (PartitionKey eq 'a' or PartitionKey gt 'a')"))
@example(parse_filter("(PartitionKey eq 'a' or RowKey eq 'b') and (PartitionKey eq 'b' or RowKey eq 'a')"))
def test_ranges_and_residual_say_what_the_filter_says(tree: Filter) -> None:
    verify_plan(tree)


@given(TREES)
@settings(max_examples=300, deadline=None)
def test_widened_ranges_and_residual_say_what_the_filter_says(tree: Filter) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rowkey.odata.planner.RANGES_MAX", 2)
        verify_plan(tree)
        assert len(plan_query(tree).ranges) <= 2


@given(TREES, st.sampled_from(TEXTS), st.sampled_from(TEXTS))
@settings(deadline=None)
def test_a_query_goes_on_where_it_stopped(tree: Filter, partition_key: str, row_key: str) -> None:
    ranges, start = plan_query(tree).ranges, Key(partition_key, row_key)
    left = clip(ranges, start)
    verify_ascending(left)
    for key, _ in ENTITIES:
        assert contains(left, key) == (contains(ranges, key) and key_order(key) >= key_order(start))


def test_clipping_at_the_first_key_keeps_all() -> None:
    ranges = plan_query(parse_filter("PartitionKey ne 'p'")).ranges
    assert clip(ranges, FIRST_KEY) == ranges
