"""Pages: the entities of some ranges of one segment, as one moment has them.

Without a filter they come as rows. What a filter may accept comes joined by the database, with the number of entities
that it has looked at.
"""

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import orjson

from rowkey.model.entity import Key, split_entities
from rowkey.model.key_range import KeyRange
from rowkey.odata.evaluator import compile_filter
from rowkey.store.interface import Page, Scan
from rowkey.store.key_code import AFTER_ALL, code_of, text_of
from rowkey.store.postgres import statements
from rowkey.store.postgres.failures import SegmentGone
from rowkey.store.postgres.narrow import narrow

if TYPE_CHECKING:
    from rowkey.store.postgres.session import Session

_CHUNK_ENTITIES = 4000
"""Entities that are filtered between two looks at the clock."""
_CHUNK_BYTES = 4 * 1024 * 1024
_FIRST_CHUNK_ENTITIES = 100
"""The first chunk is for filters that accept every second entity, and for ranges with few entities."""
_NO_NEEDLES = b"", b""
_LARGE = b""
"""What stands for the text of a large entity."""


class CodedRange(NamedTuple):
    """The places of a segment from `start` on and before `end`, each a partition key and a row key in the key code."""

    start: tuple[bytes, bytes]
    end: tuple[bytes, bytes]


def code_range(key_range: KeyRange) -> CodedRange:
    """A range in the key code."""
    start, end = key_range
    return CodedRange(_code_key(start), (AFTER_ALL, b"") if end is None else _code_key(end))


def _code_key(key: Key) -> tuple[bytes, bytes]:
    return code_of(key.partition_key), code_of(key.row_key)


class _Gathered(NamedTuple):
    """Texts joined by commas, how many entities there were, and the place of the next one, None where there is none."""

    entities: int
    text: str
    following: tuple[bytes, bytes] | None


class PageScan:
    """The gathering of one page; it may be run again from the beginning."""

    def __init__(self, segment: int, ranges: Sequence[CodedRange], scan: Scan) -> None:
        """`ranges` are those of `scan` within the segment."""
        predicate = scan.predicate
        self._segment = segment
        self._ranges = ranges
        self._limit = scan.limit
        self._bytes_max = scan.bytes_max
        self._deadline = time.monotonic() + scan.seconds_max
        self._matches: Callable[[Any], bool] | None = None if predicate is None else compile_filter(predicate)
        self._needles = _NO_NEEDLES if predicate is None else narrow(predicate)

    async def run(self, session: "Session") -> Page:
        """The page; raises SegmentGone."""
        if self._matches is None:
            return await self._read_all(session)
        # Most filters look at few entities: one statement has them all, and so in one moment. Those that need more
        # begin anew in a transaction, which keeps to one moment.
        taken = _Taken(self._limit, self._bytes_max, self._matches)
        size = min(max(2 * self._limit, _FIRST_CHUNK_ENTITIES), _CHUNK_ENTITIES)
        following = await self._filter_chunk(session, taken, self._ranges, size)
        if following is None or taken.is_full() or time.monotonic() > self._deadline:
            return taken.page(following)
        await session.execute(statements.BEGIN_READING)
        try:
            return await self._filter_all(session, self._matches)
        finally:
            await session.execute(statements.COMMIT)  # which also ends a transaction that has failed

    async def _read_all(self, session: "Session") -> Page:
        """The page without a filter."""
        rows = await session.read(statements.PAGE, self._segment, *_bounds(self._ranges), self._limit)
        if not rows:
            raise SegmentGone
        texts: list[bytes | None] = [row[0] for row in rows]
        if texts[0] is None:
            return Page("", 0, None)
        if _LARGE in texts:
            gathered = await self._gather_fitting(session, self._ranges, self._limit, self._bytes_max)
            return Page(gathered.text, gathered.entities, _key_at(gathered.following))
        return _page_of(cast("list[bytes]", texts), self._limit, self._bytes_max)

    async def _filter_all(self, session: "Session", matches: Callable[[Any], bool]) -> Page:
        taken = _Taken(self._limit, self._bytes_max, matches)
        ranges: Sequence[CodedRange] = self._ranges
        while True:
            following = await self._filter_chunk(session, taken, ranges, _CHUNK_ENTITIES)
            if following is None or taken.is_full() or time.monotonic() > self._deadline:
                return taken.page(following)
            ranges = _rest_of(ranges, following)

    async def _filter_chunk(
        self, session: "Session", taken: "_Taken", ranges: Sequence[CodedRange], size: int
    ) -> tuple[bytes, bytes] | None:
        """Take what matches of some entities; returns where to go on, None at the end of the ranges."""
        gathered = await self._gather(session, ranges, size, _CHUNK_BYTES)
        return taken.take(gathered)

    async def _gather(self, session: "Session", ranges: Sequence[CodedRange], limit: int, bytes_max: int) -> _Gathered:
        rows = await session.read(statements.GATHER, self._segment, *_bounds(ranges), limit, *self._needles)
        if rows and (rows[0]["size"] > bytes_max or rows[0]["large"]):
            return await self._gather_fitting(session, ranges, limit, bytes_max)
        return _read_gathered(rows)

    async def _gather_fitting(
        self, session: "Session", ranges: Sequence[CodedRange], limit: int, bytes_max: int
    ) -> _Gathered:
        """The same where the texts may be large, and only some of them have room."""
        return _read_gathered(
            await session.read(
                statements.GATHER_FITTING, self._segment, *_bounds(ranges), limit, *self._needles, bytes_max
            )
        )


def _bounds(ranges: Sequence[CodedRange]) -> tuple[list[bytes], ...]:
    """The ranges as four arrays."""
    return (
        [item.start[0] for item in ranges],
        [item.start[1] for item in ranges],
        [item.end[0] for item in ranges],
        [item.end[1] for item in ranges],
    )


def _read_gathered(rows: Sequence[Any]) -> _Gathered:
    if not rows:
        raise SegmentGone
    count, _, _, texts, partition_key, row_key = rows[0]
    following = None if partition_key is None else (partition_key, row_key)
    return _Gathered(count, "" if texts is None else texts.decode("ascii"), following)


def _page_of(texts: list[bytes], limit: int, bytes_max: int) -> Page:
    """As many of the texts as have room, and one at least; the next key is that of the text after them."""
    sizes = list(accumulate(map(len, texts[:limit])))
    count = min(len(sizes), 1 + bisect_left(sizes, bytes_max))
    next_key = None
    if count < len(texts):
        following = orjson.loads(texts[count])
        next_key = Key(following["PartitionKey"], following["RowKey"])
    return Page(b",".join(texts[:count]).decode("ascii"), count, next_key)


class _Taken:
    """What a filtered page has so far."""

    def __init__(self, limit: int, bytes_max: int, matches: Callable[[Any], bool]) -> None:
        self._limit = limit
        self._bytes_left = bytes_max
        self._matches = matches
        self._texts: list[str] = []
        self._looked_at = 0

    def is_full(self) -> bool:
        return len(self._texts) >= self._limit or self._bytes_left <= 0

    def page(self, following: tuple[bytes, bytes] | None) -> Page:
        return Page(",".join(self._texts), len(self._texts), _key_at(following), self._looked_at)

    def take(self, gathered: _Gathered) -> tuple[bytes, bytes] | None:
        """Keep the entities that match; returns the place of the first that was not looked at."""
        self._looked_at += gathered.entities
        for text in split_entities(gathered.text):
            entity = orjson.loads(text)
            if self.is_full():
                return code_of(entity["PartitionKey"]), code_of(entity["RowKey"])
            if self._matches(entity):
                self._texts.append(text)
                self._bytes_left -= len(text)
        return gathered.following


def _key_at(place: tuple[bytes, bytes] | None) -> Key | None:
    return None if place is None else Key(text_of(place[0]), text_of(place[1]))


def _rest_of(ranges: Sequence[CodedRange], place: tuple[bytes, bytes]) -> list[CodedRange]:
    return [CodedRange(max(start, place), end) for start, end in ranges if place < end]


def within_segment(
    ranges: Sequence[CodedRange], bounds: Sequence[bytes], position: int
) -> tuple[list[CodedRange], tuple[bytes, bytes] | None]:
    """What of the ranges is in the segment at this position, and where they go on after it, None where they do not."""
    end = (bounds[position], b"") if position < len(bounds) else (AFTER_ALL, b"")
    inside = [CodedRange(item.start, min(item.end, end)) for item in ranges if item.start < end]
    beyond = next((max(item.start, end) for item in ranges if item.end > end), None)
    return inside, beyond
