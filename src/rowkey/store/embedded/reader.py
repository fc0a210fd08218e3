"""Reading pages: one scan in one read transaction, on a connection of the thread that runs it."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import orjson

from rowkey.model.entity import Key, split_entities
from rowkey.model.shape import shape_text
from rowkey.odata.ast import Filter
from rowkey.odata.evaluator import compile_filter
from rowkey.store.embedded import statements
from rowkey.store.embedded.candidates import (
    CHUNK_ENTITIES_MAX,
    CHUNK_ENTITIES_MIN,
    Candidates,
    Codes,
    choose_candidates,
    indexed_candidates,
)
from rowkey.store.embedded.checksums import load_page_checksums
from rowkey.store.embedded.gatherer import Gatherer
from rowkey.store.embedded.key_code import read_key, write_key, write_range
from rowkey.store.interface import Page, Scan

_DECIDED_AT_ONCE, _DECIDED_BYTES = 128, 512 * 1024
"""Candidates that Python decides about between two statements: it keeps the interpreter from the event loop for about
half a millisecond."""
_TURN_SECONDS = 0.1
"""How long a page may take while others wait; a chunk is always looked at."""
_CHUNK_SECONDS, _FIRST_CHUNK_ENTITIES, _CHUNK_GROWTH = 0.02, 128, 4
"""How long a chunk is to take: of entities of 1 MiB a first one takes a tenth of a second, and of small ones the fourth
is as large as it may be."""
_SMALL_RANGES, _SMALL_ENTITIES, _SMALL_BYTES = 4, 128, 256 * 1024
_SMALL_ENTRIES = 32
"""Entities that an index names are all over the table, so fewer of them make a small page."""


POINT_CACHE_KIB = 32 * 1024
"""Pages that the connection for point reads and small scans keeps: the entities that are asked for again and again."""
SCAN_CACHE_KIB = 4 * 1024
"""What each scanning thread keeps; a scan reads every page once."""


def open_reader(database: Path, *, cache_kib: int) -> apsw.Connection:
    """A connection that reads; each thread has its own."""
    load_page_checksums()
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=64)
    connection.set_busy_timeout(5000)
    # Only the process that writes folds the log: it keeps the log's mark. One that reads may be the last to close.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.execute(statements.READER_PRAGMAS).fetchall()
    connection.pragma("cache_size", -cache_kib)
    return connection


def end_transaction(connection: apsw.Connection) -> None:
    """End a reading transaction, if there is one: a statement that failed may have ended it.

    What failed has been told already to those who asked; SQLite may say it again here, of a damaged page.
    """
    try:
        if connection.in_transaction:
            connection.execute("COMMIT")
    except apsw.Error:
        with suppress(apsw.Error):
            connection.execute("ROLLBACK")


class PageScan:
    """The gathering of one page."""

    def __init__(
        self,
        connection: apsw.Connection,
        prefix: bytes,
        scan: Scan,
        gatherer: Gatherer,
        is_awaited: Callable[[], bool],
    ) -> None:
        """`is_awaited` tells whether somebody waits for the page to end: it then does so after a turn."""
        self._connection = connection
        self._prefix = prefix
        self._wanted = scan
        self._gatherer = gatherer
        self._limit = scan.limit
        self._bytes_left = scan.bytes_max
        now = time.monotonic()
        self._deadline = now + scan.seconds_max
        self._turn_end = now + _TURN_SECONDS
        self._is_awaited = is_awaited
        self._texts: list[str] = []
        self._count = 0
        self._looked_at = 0
        self._measured: dict[tuple[bytes, bytes], tuple[int, int, bytes]] = {}
        """Count, size and last key of whole ranges."""

    def run(self) -> Page:
        """The page: go through the ranges in order until one of the bounds is met."""
        codes, predicate = self._codes(), self._wanted.predicate
        with self._one_moment():
            if predicate is None:
                return self._gather(codes, None)
            candidates = choose_candidates(self._connection, self._prefix, predicate, codes)
            return self._gather(codes, _FilteredScan(predicate, candidates))

    def run_if_small(self) -> Page | None:
        """The page, if it takes no longer to gather than to hand over to a thread and to hear of it again."""
        if len(self._wanted.ranges) > _SMALL_RANGES:
            return None
        codes, predicate = self._codes(), self._wanted.predicate
        with self._one_moment():
            if predicate is None:
                return self._gather(codes, None) if self._is_small(codes, predicate) else None
            candidates = self._few_candidates(codes, predicate)
            if candidates is None and self._is_small(codes, predicate):
                candidates = Candidates(self._connection, predicate)
            return None if candidates is None else self._gather(codes, _FilteredScan(predicate, candidates))

    def _codes(self) -> Codes:
        return [write_range(self._prefix, key_range) for key_range in self._wanted.ranges]

    @contextmanager
    def _one_moment(self) -> Iterator[None]:
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            end_transaction(self._connection)

    def _few_candidates(self, codes: Codes, predicate: Filter) -> Candidates | None:
        """The candidates that an index names, where they are few and small."""
        for candidates in indexed_candidates(self._connection, self._prefix, predicate):
            if candidates.count(codes, _SMALL_ENTRIES + 1) <= _SMALL_ENTRIES:
                sizes = (candidates.find(start, end, _SMALL_ENTRIES + 1)[1] for start, end in codes)
                return candidates if sum(sizes) <= _SMALL_BYTES else None
        return None

    def _is_small(self, codes: Codes, predicate: Filter | None) -> bool:
        looked_at = _SMALL_ENTITIES + 1 if predicate is not None else min(self._limit, _SMALL_ENTITIES + 1)
        entities = size = 0
        for start, end in codes:
            count, total, last = self._one(statements.MEASURE, (start, end, looked_at))
            if count < looked_at:
                self._measured[start, end] = count, total, last
            entities += count
            size += total or 0
        return entities <= _SMALL_ENTITIES and size <= _SMALL_BYTES

    def _gather(self, codes: Codes, filtered: "_FilteredScan | None") -> Page:
        for position, (start, end) in enumerate(codes):
            next_code = self._scan_all(start, end) if filtered is None else self._scan(start, end, filtered)
            if next_code is None and self._is_full():
                next_code = self._first_of(codes[position + 1 :])
                if next_code is None:
                    break
            if next_code is not None:
                return self._page(read_key(next_code))
        return self._page(None)

    def _page(self, next_key: Key | None) -> Page:
        return Page(",".join(self._texts), self._count, next_key, self._looked_at)

    def _is_full(self) -> bool:
        if self._count >= self._limit or self._bytes_left <= 0:
            return True
        now = time.monotonic()
        return now > self._deadline or (now > self._turn_end and self._is_awaited())

    def _first_of(self, codes: Codes) -> bytes | None:
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
            count, size, last = self._measured.pop((start, end), (wanted + 1, 0, b""))
            if count > wanted:
                count, size, last = self._one(statements.MEASURE, (start, end, wanted))
            if not count:
                return None
            if size <= self._bytes_left or count == 1:
                self._texts.append(
                    self._gatherer.gather(self._connection, self._prefix, start, last, self._wanted.shape)
                )
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
            began = time.monotonic()
            chunk_end = filtered.candidates.chunk_end(start, end, filtered.chunk_entities)
            next_code = self._scan_chunk(start, chunk_end or end, filtered)
            self._looked_at += filtered.candidates.spared(start, next_code or chunk_end or end)
            if next_code is not None:
                return self._first(next_code, end)
            if chunk_end is None:
                return None
            filtered.adapt(time.monotonic() - began)
            if self._is_full():
                return chunk_end
            start = chunk_end

    def _scan_chunk(self, start: bytes, end: bytes, filtered: "_FilteredScan") -> bytes | None:
        """Take what matches in a chunk; returns a code to go on from if the page filled up within it."""
        while True:
            wanted = self._limit - self._count
            ids, size = filtered.candidates.find(start, end, wanted)
            position = 0
            while position < len(ids):
                fitting = max(
                    1, min(_DECIDED_AT_ONCE, len(ids) * min(self._bytes_left, _DECIDED_BYTES) // max(size, 1))
                )
                some = ids[position : position + fitting]
                start = self._take(orjson.dumps(some).decode("ascii"), filtered)
                if self._is_full():
                    return start
                position += len(some)
            if len(ids) < wanted:
                return None

    def _take(self, ids: str, filtered: "_FilteredScan") -> bytes:
        """Keep those of these entities that the filter accepts; returns the code that follows the last one's."""
        gathered = self._one(statements.GATHER_CANDIDATES, (ids,))
        entities = orjson.loads(gathered)
        for entity, text in zip(entities, split_entities(gathered[1:-1]), strict=True):
            if filtered.matches(entity):
                self._texts.append(shape_text(text, self._wanted.shape))
                self._count += 1
                self._bytes_left -= len(text)
        return write_key(self._prefix, Key(entities[-1]["PartitionKey"], entities[-1]["RowKey"])) + b"\0"


class _FilteredScan:
    """A residual filter, made ready: where to look, and what decides."""

    def __init__(self, predicate: Filter, candidates: Candidates) -> None:
        self.candidates = candidates
        self.matches: Callable[[Any], bool] = compile_filter(predicate)
        self.chunk_entities = _FIRST_CHUNK_ENTITIES

    def adapt(self, seconds: float) -> None:
        """Let the next chunk be larger or smaller, as the last one took so long."""
        growth = min(_CHUNK_GROWTH, _CHUNK_SECONDS / max(seconds, 1e-6))
        self.chunk_entities = max(CHUNK_ENTITIES_MIN, min(int(self.chunk_entities * growth), CHUNK_ENTITIES_MAX))
