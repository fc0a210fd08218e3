"""Regions are sets: their operations agree with those of Python's sets on a small plane of keys."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.odata.regions import (
    ALL,
    EVERYTHING,
    FIRST,
    NOTHING,
    PAST_ALL,
    Intervals,
    Region,
    bound,
    bound_after,
    intersection,
    partitions,
    rows,
    size,
    text_before,
    text_of,
    union,
    widen,
)

TEXTS = ["", "a", "a\0", "ab", "b", "\u0100", "\ud7ff", "\U0001f600", "\uff21"]
PLANE = list(product(TEXTS, TEXTS))


def intervals_of(bounds: set[bytes]) -> Intervals:
    ordered = sorted(bounds)
    return tuple(zip(ordered[::2], ordered[1::2], strict=False))


BOUNDS = st.sampled_from([*map(bound, TEXTS), *map(bound_after, TEXTS), PAST_ALL])
INTERVALS = st.sets(BOUNDS, max_size=6).map(intervals_of)
REGIONS: st.SearchStrategy[Region] = st.recursive(
    st.one_of(INTERVALS.map(partitions), INTERVALS.map(rows), st.sampled_from([NOTHING, EVERYTHING])),
    lambda inner: st.one_of(st.builds(union, inner, inner), st.builds(intersection, inner, inner)),
    max_leaves=8,
)


def members(region: Region) -> set[tuple[str, str]]:
    return {
        (partition_key, row_key)
        for partition_key, row_key in PLANE
        for band in region
        if band.start <= bound(partition_key) < band.end
        and any(start <= bound(row_key) < end for start, end in band.rows)
    }


def verify_form(region: Region) -> None:
    """Ascending, disjoint, nothing empty; neighbouring row intervals do not touch."""
    bands = [position for band in region for position in band[:2]]
    assert bands == sorted(bands)
    for band in region:
        assert band.start < band.end
        row_bounds = [position for interval in band.rows for position in interval]
        assert row_bounds
        assert row_bounds == sorted(set(row_bounds))


@given(REGIONS, REGIONS)
def test_union_and_intersection_are_those_of_sets(left: Region, right: Region) -> None:
    for region, expected in [
        (union(left, right), members(left) | members(right)),
        (intersection(left, right), members(left) & members(right)),
    ]:
        assert members(region) == expected
        verify_form(region)


@given(REGIONS, st.integers(1, 5))
def test_a_widened_region_is_smaller_in_size_and_loses_nothing(region: Region, size_max: int) -> None:
    wide = widen(region, size_max)
    assert members(region) <= members(wide)
    assert size(wide) <= max(size_max, 0)
    verify_form(wide)
    if size(region) <= size_max:
        assert wide == region


def test_the_ends_of_the_plane() -> None:
    assert members(EVERYTHING) == set(PLANE)
    assert members(NOTHING) == set()
    assert rows(()) == partitions(()) == NOTHING
    assert rows(ALL) == partitions(ALL) == EVERYTHING


@pytest.mark.parametrize("text", TEXTS)
def test_a_bound_is_the_place_of_a_text(text: str) -> None:
    assert text_of(bound(text)) == text
    assert text_before(bound_after(text)) == text
    assert FIRST <= bound(text) < bound_after(text) < PAST_ALL


@pytest.mark.parametrize("text", ["", "a", "\u0100", "\U0001f600"])
def test_no_text_is_the_last_before_an_ordinary_one(text: str) -> None:
    assert text_before(bound(text)) is None
    assert text_before(PAST_ALL) is None
