"""From a filter to the keys worth reading.

The tree is turned into the region of keys (`regions.py`) outside of which it is certainly false: comparisons of
PartitionKey and RowKey are intervals, everything else could be anywhere, `or` is union, `and` intersection. `not` is
pushed down to the leaves: a comparison of a key always has its exact opposite, as every entity has both keys.

Beside each region stands whether it is exact, that is whether the filter is also true everywhere in it. The region
becomes ranges of keys in the order of results. What the ranges alone do not decide is left as the residual filter.
Regions are kept small by joining neighbours, which only ever makes them wider.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from rowkey.model.edm import EdmType
from rowkey.model.entity import Key
from rowkey.model.key_range import WHOLE_TABLE, KeyRange, key_order, successor
from rowkey.odata.ast import And, BooleanProperty, Comparison, Filter, Fixed, Not, Or
from rowkey.odata.evaluator import across_types
from rowkey.odata.regions import (
    ALL,
    EVERYTHING,
    FIRST,
    NOTHING,
    PAST_ALL,
    Band,
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

RANGES_MAX = 256
"""Ours: a plan has no more ranges than this; a longer list of keys is read in stretches, with a residual filter."""


class QueryPlan(NamedTuple):
    """Where to look, and what to ask of each entity there; without a residual all of them satisfy the filter."""

    ranges: tuple[KeyRange, ...]
    """Ascending and disjoint."""
    residual: Filter | None


def plan_query(tree: Filter | None) -> QueryPlan:
    """The plan of a query: an entity satisfies the filter exactly if it is in a range and satisfies the residual."""
    if tree is None:
        return QueryPlan((WHOLE_TABLE,), None)
    conjuncts = tree.operands if isinstance(tree, And) else (tree,)
    estimates = [_estimate(conjunct, negated=False) for conjunct in conjuncts]
    whole = _fold(intersection, estimates)
    ranges, decided = _ranges(whole.region)
    if not ranges:
        return QueryPlan((), None)
    widened = whole.widened
    open_questions = tuple(
        conjunct
        for conjunct, estimate in zip(conjuncts, estimates, strict=True)
        if widened or not estimate.exact or not (decided or _is_of_partitions(estimate.region))
    )
    match open_questions:
        case ():
            return QueryPlan(ranges, None)
        case (only,):
            return QueryPlan(ranges, only)
        case _:
            return QueryPlan(ranges, tree if len(open_questions) == len(conjuncts) else And(open_questions))


def clip(ranges: Sequence[KeyRange], start: Key) -> tuple[KeyRange, ...]:
    """What is left of the ranges from `start` on: where a query continues."""
    order = key_order(start)
    left = (scanned for scanned in ranges if scanned.end is None or key_order(scanned.end) > order)
    return tuple(KeyRange(start, r.end) if key_order(r.start) < order else r for r in left)


def within(ranges: Sequence[KeyRange], bounds: KeyRange) -> tuple[KeyRange, ...]:
    """What is left of the ranges within `bounds`."""
    left = clip(ranges, bounds.start)
    if bounds.end is None:
        return left
    order = key_order(bounds.end)
    return tuple(
        KeyRange(r.start, bounds.end if r.end is None or key_order(r.end) > order else r.end)
        for r in left
        if key_order(r.start) < order
    )


# ---------------------------------------------------------------- the tree to a region


class _Estimate(NamedTuple):
    """A region outside of which a filter is false; exact if it is true all over it."""

    region: Region
    exact: bool
    widened: bool = False
    """The region was made wider than its parts said, to keep it small."""


_ANYWHERE: Final = _Estimate(EVERYTHING, exact=False)


def _estimate(tree: Filter, *, negated: bool) -> _Estimate:
    """The estimate of the filter, or of its negation."""
    match tree:
        case Comparison(name, operator, _) if name in _KEYS:
            return _Estimate(_KEYS[name](_intervals(tree, _OPPOSITE[operator] if negated else operator)), exact=True)
        case BooleanProperty(name) if name in _KEYS:  # A key is a String, so this is never true.
            return _Estimate(EVERYTHING if negated else NOTHING, exact=True)
        case Fixed(value):
            return _Estimate(NOTHING if value is negated else EVERYTHING, exact=True)
        case Not(operand):
            return _estimate(operand, negated=not negated)
        case And(operands) | Or(operands):
            combine = union if isinstance(tree, Or) is not negated else intersection
            return _fold(combine, [_estimate(operand, negated=negated) for operand in operands])
        case _:
            return _ANYWHERE


_KEYS: Final[dict[str, Callable[[Intervals], Region]]] = {"PartitionKey": partitions, "RowKey": rows}
_OPPOSITE: Final = {"eq": "ne", "ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


def _intervals(tree: Comparison, operator: str) -> Intervals:
    """The keys for which a comparison holds."""
    if tree.constant.edm_type is not EdmType.STRING:
        holds = across_types(tree.operator, property_is_string=True, constant_is_string=False)
        return ALL if holds is (operator == tree.operator) else ()
    at, after = bound(str(tree.constant.value)), bound_after(str(tree.constant.value))
    below, above = ((FIRST, at),) if at != FIRST else (), ((after, PAST_ALL),)
    match operator:
        case "eq":
            return ((at, after),)
        case "ne":
            return below + above
        case "lt":
            return below
        case "le":
            return ((FIRST, after),)
        case "gt":
            return above
        case _:
            return ((at, PAST_ALL),)


def _fold(combine: Callable[[Region, Region], Region], estimates: Sequence[_Estimate]) -> _Estimate:
    """All of them combined, as in a tournament: the cost of a chain of n stays n log n."""
    exact, widened = all(e.exact for e in estimates), any(e.widened for e in estimates)
    neutral = EVERYTHING if combine is intersection else NOTHING
    regions = [e.region for e in estimates if e.region != neutral] or [neutral]
    while len(regions) > 1:
        pairs = [combine(left, right) for left, right in zip(regions[::2], regions[1::2], strict=False)]
        regions = pairs + regions[2 * len(pairs) :]
        for i, region in enumerate(regions):
            if size(region) > RANGES_MAX:
                regions[i] = widen(region, RANGES_MAX)
                widened = True
    return _Estimate(regions[0], exact and not widened, widened)


# ---------------------------------------------------------------- a region to ranges


def _ranges(region: Region) -> tuple[tuple[KeyRange, ...], bool]:
    """The ranges that cover a region, and whether they cover nothing else."""
    ranges: list[KeyRange] = []
    for band in region:
        for scanned in _ranges_of_band(band):
            if ranges and ranges[-1].end == scanned.start:
                scanned = KeyRange(ranges.pop().start, scanned.end)
            ranges.append(scanned)
    return tuple(ranges), all(_is_partition(band) or band.rows == ALL for band in region)


def _ranges_of_band(band: Band) -> list[KeyRange]:
    """One partition has a range for each interval of its row keys; of several partitions only the outer ends count."""
    first = text_of(band.start)
    if _is_partition(band):
        return [KeyRange(Key(first, text_of(start)), _end(first, end)) for start, end in band.rows]
    start = Key(first, text_of(band.rows[0][0]))
    last = text_before(band.end)
    if last is not None:
        return [KeyRange(start, _end(last, band.rows[-1][1]))]
    return [KeyRange(start, None if band.end == PAST_ALL else Key(text_of(band.end), ""))]


def _end(partition_key: str, row_end: bytes) -> Key:
    """The end of a range within a partition, or at its end."""
    return Key(successor(partition_key), "") if row_end == PAST_ALL else Key(partition_key, text_of(row_end))


def _is_partition(band: Band) -> bool:
    return band.end == band.start + b"\0\0"


def _is_of_partitions(region: Region) -> bool:
    return all(band.rows == ALL for band in region)
