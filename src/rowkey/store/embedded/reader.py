"""Reading pages: one scan in one read transaction, on a connection of the thread that runs it."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import orjson

from rowkey.model.entity import Key, split_entities
from rowkey.model.key_range import KeyRange
from rowkey.odata.ast import Filter
from rowkey.odata.evaluator import compile_filter
from rowkey.store.embedded import statements
from rowkey.store.embedded.key_code import read_key, write_key, write_range
from rowkey.store.embedded.narrow import narrow
from rowkey.store.interface import Page

_CHUNK_ENTITIES = 4096
"""Entities that are filtered between two looks at the clock; a few milliseconds."""
_SMALL_RANGES, _SMALL_ENTITIES, _SMALL_BYTES = 4, 128, 256 * 1024


POINT_CACHE_KIB = 32 * 1024
"""Pages that the connection for point reads and small scans keeps: the entities that are asked for again and again."""
SCAN_CACHE_KIB = 4 * 1024
"""What each scanning thread keeps; a scan reads every page once."""


def open_reader(database: Path, *, cache_kib: int) -> apsw.Connection:
    """A connection that reads; each thread has its own."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=64)
    connection.set_busy_timeout(5000)
    connection.execute(statements.READER_PRAGMAS).fetchall()
    connection.pragma("cache_size", -cache_kib)
    return connection


class PageScan:
    """The gathering of one page."""

    def __init__(
        self, connection: apsw.Connection, prefix: bytes, *, limit: int, bytes_max: int, seconds_max: float
    ) -> None:
        self._connection = connection
        self._prefix = prefix
        self._limit = limit
        self._bytes_left = bytes_max
        self._deadline = time.monotonic() + seconds_max
        self._texts: list[str] = []
        self._count = 0
        self._measured: dict[bytes, tuple[int, int, bytes]] = {}
        """Count, size and last key of whole ranges, by their start."""

    def run(self, ranges: Sequence[KeyRange], predicate: Filter | None) -> Page:
        """The page of these ranges: scan them in order until one of the bounds is met."""
        codes = [write_range(self._prefix, key_range) for key_range in ranges]
        with self._one_moment():
            return self._gather(codes, predicate)

    def run_if_small(self, ranges: Sequence[KeyRange], predicate: Filter | None) -> Page | None:
        """The page, if it takes no longer to gather than to hand over to a thread and to hear of it again."""
        if len(ranges) > _SMALL_RANGES:
            return None
        codes = [write_range(self._prefix, key_range) for key_range in ranges]
        with self._one_moment():
            return self._gather(codes, predicate) if self._is_small(codes, predicate) else None

    @contextmanager
    def _one_moment(self) -> Iterator[None]:
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def _is_small(self, codes: Sequence[tuple[bytes, bytes]], predicate: Filter | None) -> bool:
        looked_at = _SMALL_ENTITIES + 1 if predicate is not None else min(self._limit, _SMALL_ENTITIES + 1)
        entities = size = 0
        for start, end in codes:
            count, total, last = self._one(statements.MEASURE, (start, end, looked_at))
            if 0 < count < looked_at:
                self._measured[start] = count, total, last
            entities += count
            size += total or 0
        return entities <= _SMALL_ENTITIES and size <= _SMALL_BYTES

    def _gather(self, codes: Sequence[tuple[bytes, bytes]], predicate: Filter | None) -> Page:
        filtered = None if predicate is None else _FilteredScan(predicate)
        for position, (start, end) in enumerate(codes):
            next_code = self._scan_all(start, end) if filtered is None else self._scan(start, end, filtered)
            if next_code is None and self._is_full():
                next_code = self._first_of(codes[position + 1 :])
                if next_code is None:
                    break
            if next_code is not None:
                return Page(",".join(self._texts), self._count, read_key(next_code))
        return Page(",".join(self._texts), self._count, None)

    def _is_full(self) -> bool:
        return self._count >= self._limit or self._bytes_left <= 0 or time.monotonic() > self._deadline

    def _first_of(self, codes: Sequence[tuple[bytes, bytes]]) -> bytes | None:
        """The first key there is in any of these ranges."""
        return next((code for pair in codes if (code := self._first(*pair)) is not None), None)

    def _first(self, start: bytes, end: bytes) -> bytes | None:
        code: bytes | None = self._one(statements.FIRST_KEY, (start, end))
        return code

    def _one(self, sql: str, bindings: Sequence[Any]) -> Any:
        return self._connection.execute(sql, bindings).get

    # ------------------------------------------------------------ without a residual filter

    def _scan_all(self, start: bytes, end: bytes) -> bytes | None:
        """Take entities of a range; returns where to go on if the page is full before the range ends."""
        wanted = self._limit - self._count
        while wanted:
            count, size, last = self._measured.pop(start, (wanted + 1, 0, b""))
            if count > wanted:
                count, size, last = self._one(statements.MEASURE, (start, end, wanted))
            if not count:
                return None
            if size <= self._bytes_left or count == 1:
                self._texts.append(self._one(statements.GATHER, (start, last))[1:-1])
                self._count += count
                self._bytes_left -= size
                after = last + b"\0"
                # The page may have been cut to meet its size, so what follows may be there in any case.
                return self._first(after, end) if self._is_full() or count == wanted else None
            wanted = max(1, min(wanted - 1, count * self._bytes_left // size))
        return None

    # ------------------------------------------------------------ with a residual filter

    def _scan(self, start: bytes, end: bytes, filtered: "_FilteredScan") -> bytes | None:
        """Take the entities of a range that the filter accepts, chunk by chunk."""
        while True:
            chunk_end: bytes | None = self._one(statements.KEY_AT, (start, end, _CHUNK_ENTITIES))
            next_code = self._scan_chunk(start, chunk_end or end, filtered)
            if next_code is not None:
                return self._first(next_code, end)
            if chunk_end is None:
                return None
            if self._is_full():
                return chunk_end
            start = chunk_end

    def _scan_chunk(self, start: bytes, end: bytes, filtered: "_FilteredScan") -> bytes | None:
        """Take what matches in a chunk; returns a code to go on from if the page filled up within it."""
        while True:
            wanted = self._limit - self._count
            ids, size = self._one(filtered.measure_sql, (start, end, *filtered.parameters, wanted))
            candidates = orjson.loads(ids)
            if not candidates:
                return None
            fitting = len(candidates)
            if size > self._bytes_left:
                fitting = max(1, fitting * self._bytes_left // size)
            gathered = self._one(statements.GATHER_CANDIDATES, (orjson.dumps(candidates[:fitting]).decode("ascii"),))
            last = self._take(gathered, filtered)
            self._bytes_left -= size * fitting // len(candidates)
            after = write_key(self._prefix, last) + b"\0"
            if self._is_full():
                return after
            if fitting == len(candidates) < wanted:
                return None
            start = after

    def _take(self, gathered: str, filtered: "_FilteredScan") -> Key:
        """Keep the entities of a JSON array that the filter accepts; returns the key of the last one looked at."""
        entities = orjson.loads(gathered)
        for entity, text in zip(entities, split_entities(gathered[1:-1]), strict=True):
            if filtered.matches(entity):
                self._texts.append(text)
                self._count += 1
        return Key(entities[-1]["PartitionKey"], entities[-1]["RowKey"])


class _FilteredScan:
    """A residual filter, made ready: what SQLite leaves out, and what decides about the rest."""

    def __init__(self, predicate: Filter) -> None:
        condition, self.parameters = narrow(predicate)
        self.measure_sql = statements.measure_candidates(condition)
        self.matches: Callable[[Any], bool] = compile_filter(predicate)
