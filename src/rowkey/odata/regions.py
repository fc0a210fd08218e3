"""Sets of keys: unions of rectangles in the plane of PartitionKey and RowKey.

A bound is a byte string whose order is that of keys: `k` and the UTF-16 code units of a text, or the single byte `z`,
past every text. An interval is half open; the bound that follows `x` at once is `x` and one zero code unit.

A region is a list of bands of partition keys, ascending and disjoint, each with its intervals of row keys, ascending,
disjoint and not touching. Union and intersection are merges of two such lists.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import Final, NamedTuple

Interval = tuple[bytes, bytes]
Intervals = tuple[Interval, ...]


class Band(NamedTuple):
    """The partition keys from `start` on and before `end`, each with the same row keys."""

    start: bytes
    end: bytes
    rows: Intervals


Region = tuple[Band, ...]

FIRST: Final = b"k"
PAST_ALL: Final = b"z"
ALL: Final[Intervals] = ((FIRST, PAST_ALL),)
NOTHING: Final[Region] = ()
EVERYTHING: Final[Region] = (Band(FIRST, PAST_ALL, ALL),)


def bound(text: str) -> bytes:
    """Where the text itself stands."""
    return b"k" + text.encode("utf-16-be", "surrogatepass")


def bound_after(text: str) -> bytes:
    """Just after the text, before any other."""
    return bound(text) + b"\0\0"


def text_of(position: bytes) -> str:
    """The text that stands at a bound; not for PAST_ALL."""
    return position[1:].decode("utf-16-be", "surrogatepass")


def text_before(position: bytes) -> str | None:
    """The last text before a bound, where there is one."""
    return text_of(position[:-2]) if position.endswith(b"\0\0") else None


def partitions(intervals: Intervals) -> Region:
    """All entities of these partitions."""
    return tuple(Band(start, end, ALL) for start, end in intervals)


def rows(intervals: Intervals) -> Region:
    """The entities with these row keys, of whatever partition."""
    return (Band(FIRST, PAST_ALL, intervals),) if intervals else NOTHING


def union(left: Region, right: Region) -> Region:
    """The keys in either."""
    return _combine(left, right, _either)


def intersection(left: Region, right: Region) -> Region:
    """The keys in both."""
    if len(right) == 1 and right[0].start == FIRST and right[0].end == PAST_ALL:
        # The usual query: a condition on row keys, whatever the partition.
        return tuple(Band(band.start, band.end, kept) for band in left if (kept := _both(band.rows, right[0].rows)))
    return _combine(left, right, _both)


def _combine(left: Region, right: Region, join: Callable[[Intervals, Intervals], Intervals]) -> Region:
    """Walk over all bounds of both; between two neighbouring ones each region has one set of rows."""
    bounds = sorted({position for band in (*left, *right) for position in band[:2]})
    result: list[Band] = []
    i = j = 0
    for start, end in pairwise(bounds):
        while i < len(left) and left[i].end <= start:
            i += 1
        while j < len(right) and right[j].end <= start:
            j += 1
        joined = join(
            left[i].rows if i < len(left) and left[i].start <= start else (),
            right[j].rows if j < len(right) and right[j].start <= start else (),
        )
        if not joined:
            continue
        if result and result[-1].end == start and result[-1].rows == joined:
            start = result.pop().start
        result.append(Band(start, end, joined))
    return tuple(result)


def _both(left: Intervals, right: Intervals) -> Intervals:
    if left == ALL:
        return right
    if right == ALL:
        return left
    result: list[Interval] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            result.append((start, end))
        if left[i][1] == end:
            i += 1
        else:
            j += 1
    return tuple(result)


def _either(left: Intervals, right: Intervals) -> Intervals:
    if not left or right == ALL:
        return right
    if not right or left == ALL:
        return left
    result: list[Interval] = []
    for start, end in sorted(left + right):
        if result and start <= result[-1][1]:
            previous_start, previous_end = result.pop()
            result.append((previous_start, max(previous_end, end)))
        else:
            result.append((start, end))
    return tuple(result)


def size(region: Region) -> int:
    """Number of rectangles."""
    return sum(len(band.rows) for band in region)


def widen(region: Region, size_max: int) -> Region:
    """A region that contains this one and has no more than `size_max` rectangles: neighbours become one."""
    if len(region) > size_max:
        region = tuple(_hull(region[part]) for part in _parts(len(region), size_max))
    if size(region) <= size_max:
        return region
    rows_max = size_max // len(region)
    return tuple(
        band._replace(rows=tuple(_stretch(band.rows[part]) for part in _parts(len(band.rows), rows_max)))
        for band in region
    )


def _hull(bands: Sequence[Band]) -> Band:
    return Band(bands[0].start, bands[-1].end, reduce(_either, (band.rows for band in bands)))


def _stretch(intervals: Intervals) -> Interval:
    return intervals[0][0], intervals[-1][1]


def _parts(count: int, parts_max: int) -> Iterator[slice]:
    """A sequence of so many items, cut into at most so many parts of nearly one length."""
    length = -(-count // parts_max)
    return (slice(first, first + length) for first in range(0, count, length))
