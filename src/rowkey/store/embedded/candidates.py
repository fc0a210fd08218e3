"""Where a filtered scan looks: at all entities of its ranges of keys, or at those alone that an index names.

Either way SQLite leaves out what certainly does not match (`narrow.py`), and what is left is a candidate, about which
the evaluator decides. Candidates come in the order of their keys, so what is found, its order and the continuation
tokens are the same with an index and without.

An entity that an index names costs about four times what one of a scan does, since it has to be looked up. So an index
is used where it has few entries for the filter, in comparison with the entities of the ranges.
"""

from collections.abc import Sequence
from typing import Any

import apsw
import orjson

from rowkey.odata.ast import Filter
from rowkey.store.embedded import statements
from rowkey.store.embedded.key_code import TABLE_BYTES
from rowkey.store.embedded.narrow import narrow
from rowkey.store.embedded.probes import Probes, is_of_points, probes_of

CHUNK_ENTITIES_MIN, CHUNK_ENTITIES_MAX = 16, 4096
"""Entities that are looked at between two looks at the clock."""
_ENTRIES_MAX = 10_000
"""Entries that are sorted by their keys for one page; with more the table is scanned."""
_LOOK_UP_COST = 4
"""What an entity costs that an index names, in entities of a scan."""

Codes = Sequence[tuple[bytes, bytes]]
"""Ranges of coded keys, ascending and disjoint."""


class Candidates:
    """The entities of a table that a filter may accept."""

    def __init__(self, connection: apsw.Connection, predicate: Filter) -> None:
        self._connection = connection
        condition, self._parameters = narrow(predicate)
        self._find = statements.find_in_table(condition)

    def find(self, start: bytes, end: bytes, wanted: int) -> tuple[list[int], int]:
        """The first `wanted` from `start` on, as ids in the order of their keys, and the size of their bodies."""
        ids, size = _one(self._connection, self._find, (start, end, *self._parameters, wanted))
        return orjson.loads(ids), size or 0

    def chunk_end(self, start: bytes, end: bytes, entities: int) -> bytes | None:
        """Where to look at the clock, after so many entities; None where that is not needed before `end`."""
        code: bytes | None = _one(self._connection, statements.KEY_AT, (start, end, entities))
        return code

    def spared(self, start: bytes, end: bytes) -> int:
        """How many of these entities, which have been looked at, an index might have spared."""
        count: int = _one(self._connection, statements.COUNT_WITHIN, (start, end))
        return count


class IndexedCandidates(Candidates):
    """Those that probes name."""

    def __init__(self, connection: apsw.Connection, predicate: Filter, probes: Probes) -> None:
        self._connection = connection
        condition, self._parameters = narrow(predicate)
        self._probes = probes
        self._are_points = is_of_points(probes)
        self.is_stream = self._are_points and len(probes) == 1
        """Whether any number of entries can be read in the order of their keys."""
        self._find = statements.find_in_indexes(condition, is_of_points=self._are_points)
        self._found: dict[tuple[bytes, bytes], tuple[list[int], int]] = {}
        """All there are within ranges that have been asked for."""
        self._text = orjson.dumps([[number, low.hex(), high.hex()] for number, (low, high) in probes]).decode("ascii")

    def find(self, start: bytes, end: bytes, wanted: int) -> tuple[list[int], int]:
        known = self._found.get((start, end))
        if known is not None and len(known[0]) <= wanted:
            return known
        text, size = _one(self._connection, self._find, (self._text, start, end, *self._parameters, wanted))
        ids = orjson.loads(text)
        if len(ids) < wanted:
            self._found[start, end] = ids, size or 0
        return ids, size or 0

    def chunk_end(self, start: bytes, end: bytes, entities: int) -> bytes | None:
        if not self.is_stream:
            return None  # few entries, or they would not have been chosen
        ((index, (value, _)),) = self._probes
        code: bytes | None = _one(self._connection, statements.ENTRY_AT, (index, value, start, end, entities))
        return code

    def spared(self, start: bytes, end: bytes) -> int:
        return 0

    def count(self, codes: Codes, entries_max: int) -> int:
        """How many entries there are to look at for these ranges, as far as `entries_max`."""
        if not self._are_points:
            count: int = _one(self._connection, statements.COUNT_SPANS, (self._text, entries_max))
            return count
        entries = 0
        for start, end in codes:
            entries += _one(self._connection, statements.COUNT_POINTS, (self._text, start, end, entries_max - entries))
            if entries >= entries_max:
                break
        return entries


def indexed_candidates(connection: apsw.Connection, prefix: bytes, predicate: Filter) -> list[IndexedCandidates]:
    """The ways by which the table's indexes help with a filter; asked for within the transaction that uses them.

    An index is there for all who see that it is complete, in one moment with its entries: whatever becomes of it in the
    next, nobody has to be told.
    """
    identity = int.from_bytes(prefix[:TABLE_BYTES], "big")
    indexes = dict(connection.execute(statements.READY_INDEXES, (identity,)))
    return [IndexedCandidates(connection, predicate, probes) for probes in probes_of(predicate, indexes)]


def choose_candidates(connection: apsw.Connection, prefix: bytes, predicate: Filter, codes: Codes) -> Candidates:
    """The way that looks to be the shortest."""
    ways = indexed_candidates(connection, prefix, predicate)
    for entries_max in (_ENTRIES_MAX // 10, _ENTRIES_MAX):
        for way in ways:
            entries = way.count(codes, entries_max + 1)
            if entries <= entries_max:
                return (
                    way if _has_more(connection, codes, entries * _LOOK_UP_COST) else Candidates(connection, predicate)
                )
    for way in ways:
        if way.is_stream and _is_sparse(connection, way, codes):
            return way
    return Candidates(connection, predicate)


def _has_more(connection: apsw.Connection, codes: Codes, entities: int) -> bool:
    """Whether the ranges hold more entities than that."""
    left = entities + 1
    for start, end in codes:
        left -= _one(connection, statements.COUNT_ENTITIES, (start, end, left))
        if left <= 0:
            return True
    return False


def _is_sparse(connection: apsw.Connection, way: IndexedCandidates, codes: Codes) -> bool:
    """Whether entries are far between, where there are many: judged by the first chunk of them."""
    for start, end in codes:
        chunk_end = way.chunk_end(start, end, CHUNK_ENTITIES_MAX)
        if chunk_end is not None:
            return _has_more(connection, [(start, chunk_end)], CHUNK_ENTITIES_MAX * _LOOK_UP_COST)
    return True


def _one(connection: apsw.Connection, sql: str, bindings: Sequence[Any]) -> Any:
    return connection.execute(sql, bindings).get
