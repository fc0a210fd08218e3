"""Indexes that come by themselves: a store around another that watches what is filtered on again and again.

A scan that looked at many entities and found few of them is held against the properties that its filter compares. When
a property has been the matter ten times within an hour, and few entities have the value that was asked for, the table
is given an index on it, and the log says so. What an operator drops afterwards does not come again.
"""

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from rowkey.errors import ServiceError
from rowkey.model.edm import EdmType
from rowkey.model.key_range import WHOLE_TABLE
from rowkey.odata.ast import And, Comparison, Filter, Or
from rowkey.store.interface import Page, Scan, Store, Table

log = logging.getLogger(__name__)

LOOKED_AT_MIN = 10_000
"""Entities that a page looks at before it counts."""
TIMES_MIN, SECONDS_MAX = 10, 3600.0
"""So many such pages within so long are enough."""
INDEXES_MAX = 4
"""Indexes of a table with which none comes by itself any more; each makes writes slower."""
RARE = 100
"""One of so many entities may have what is asked for, or an index would be of little use."""
_REMEMBERED_MAX = 1000
_SAMPLE_SECONDS_MAX = 1.0


class AutoIndexStore:
    """The store `inner`, whose tables are given indexes; `now` tells seconds."""

    def __init__(self, inner: Store, now: Callable[[], float] = time.monotonic) -> None:
        self._inner = inner
        self._now = now
        self._times: OrderedDict[tuple[int, str], deque[float]] = OrderedDict()
        self._settled: set[tuple[int, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        # All verbs but two are the other store's own.
        self.create_table = inner.create_table
        self.delete_table = inner.delete_table
        self.find_table = inner.find_table
        self.list_tables = inner.list_tables
        self.get = inner.get
        self.write = inner.write
        self.get_policies = inner.get_policies
        self.set_policies = inner.set_policies
        self.add_index = inner.add_index
        self.drop_index = inner.drop_index
        self.list_indexes = inner.list_indexes
        self.get_properties = inner.get_properties
        self.set_properties = inner.set_properties

    async def scan(self, table: Table, scan: Scan) -> Page:
        page = await self._inner.scan(table, scan)
        predicate = scan.predicate
        if predicate is not None and page.looked_at >= max(LOOKED_AT_MIN, RARE * page.count):
            for comparison in comparisons_to_index(predicate):
                self._hold_against(table, comparison)
        return page

    async def stop(self) -> None:
        """Leave what is being considered."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        await self.stop()
        await self._inner.close()

    def _hold_against(self, table: Table, comparison: Comparison) -> None:
        place = table.identity, comparison.name
        if place in self._settled:
            return
        times = self._times.setdefault(place, deque(maxlen=TIMES_MIN))
        self._times.move_to_end(place)
        if len(self._times) > _REMEMBERED_MAX:
            self._times.popitem(last=False)
        times.append(self._now())
        if len(times) < TIMES_MIN or times[-1] - times[0] > SECONDS_MAX:
            return
        del self._times[place]
        self._settled.add(place)
        task = asyncio.get_running_loop().create_task(self._consider(table, comparison))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _consider(self, table: Table, comparison: Comparison) -> None:
        """Add an index on the property, unless it would be of little use."""
        what = f"{comparison.name} of {table.name} ({table.account})"
        why = f"{TIMES_MIN} pages of filters on it each looked at more than {LOOKED_AT_MIN:,} entities"
        try:
            sample = await self._inner.scan(
                table, Scan([WHOLE_TABLE], limit=RARE, seconds_max=_SAMPLE_SECONDS_MAX, predicate=comparison)
            )
            if sample.looked_at < RARE * sample.count:
                log.info("no index is added on %s: %s, but many have what is asked for", what, why)
            elif len(await self._inner.list_indexes(table)) >= INDEXES_MAX:
                log.warning("no index is added on %s: %s, but the table has %s indexes", what, why, INDEXES_MAX)
            elif await self._inner.add_index(table, comparison.name):
                log.warning(
                    "an index is added on %s: %s. To have it no longer: rowkey index drop %s %s",
                    *(what, why, table.name, comparison.name),
                )
        except ServiceError as error:  # the table is gone, or the disk is full
            log.warning("no index is added on %s: %s", what, error)


def comparisons_to_index(predicate: Filter) -> list[Comparison]:
    """The comparisons that an index could answer: of an `and` those for equality, or else any; of an `or` all.

    Booleans have too few values for an index to be of use.
    """
    match predicate:
        case Comparison(name, operator, constant):
            is_of_use = operator != "ne" and constant.edm_type is not EdmType.BOOLEAN and name != "PartitionKey"
            return [predicate] if is_of_use else []
        case And(operands):
            found = [comparison for operand in operands for comparison in comparisons_to_index(operand)]
            return [comparison for comparison in found if comparison.operator == "eq"] or found
        case Or(operands):
            branches = [comparisons_to_index(operand) for operand in operands]
            return [comparison for branch in branches for comparison in branch] if all(branches) else []
        case _:
            return []
