"""The order of results, and the bounds of ranges in it."""

from hypothesis import given
from hypothesis import strategies as st

from rowkey.model.entity import Key, ordinal
from rowkey.model.key_range import FIRST_KEY, WHOLE_TABLE, key_order, successor

TEXTS = st.text(st.characters(exclude_categories=()), max_size=5)
KEYS = st.builds(Key, TEXTS, TEXTS)


@given(TEXTS, TEXTS)
def test_nothing_lies_between_a_text_and_its_successor(text: str, other: str) -> None:
    assert ordinal(text) < ordinal(successor(text))
    assert (ordinal(other) > ordinal(text)) == (ordinal(other) >= ordinal(successor(text)))


@given(KEYS, KEYS)
def test_the_row_key_counts_where_the_partition_keys_are_equal(one: Key, two: Key) -> None:
    expected = (ordinal(one[0]), ordinal(one[1])) < (ordinal(two[0]), ordinal(two[1]))
    assert (key_order(one) < key_order(two)) == expected


def test_keys_are_ordered_by_utf16_units_not_code_points() -> None:
    keys = [Key("", "\uff21"), Key("", "\U0001f600"), Key("", "\ud7ff"), Key("", "a"), Key("", "")]
    assert sorted(keys, key=key_order) == keys[::-1]


@given(KEYS)
def test_the_whole_table_begins_with_the_first_key(key: Key) -> None:
    assert key_order(FIRST_KEY) <= key_order(key)
    assert WHOLE_TABLE == (FIRST_KEY, None)
