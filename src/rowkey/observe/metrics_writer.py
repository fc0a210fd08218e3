"""From what was counted to the entities of the metrics tables, whatever the store says to it.

No request is lost or counted twice by a write that fails. The entities of one period are written together, on the
condition that they are still what they were when read, so that several processes may add to them. What the store did
not take waits for the next flush. Where it cannot say whether it did (OutcomeUnknown), the next flush looks: counters
only ever grow, so one that is smaller than it would be proves that the write did not happen.
"""

import logging
from collections import defaultdict
from typing import NamedTuple

import orjson

from rowkey.errors import EntityAlreadyExists, ResourceNotFound, ServiceError, UpdateConditionNotSatisfied
from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.observe.metrics import Counters
from rowkey.observe.metrics_tables import require_metrics_table
from rowkey.store.interface import OutcomeUnknown, Store, Table

log = logging.getLogger(__name__)

ALL = "user;All"
"""The row key of all requests together. The service also has `system;All`, for the requests that analytics makes; here
it makes none."""

_ATTEMPTS_MAX = 5


class Period(NamedTuple):
    """The entities of one hour or minute, which are one partition of a table."""

    account: str
    table: str
    partition_key: str


class _Doubt(NamedTuple):
    """A write that may have happened: what it added, by row key, and what `user;All` is if it did."""

    added: dict[str, Counters]
    intended: Counters


class MetricsWriter:
    """What was counted and is not stored yet, and the way there."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: defaultdict[Period, dict[str, Counters]] = defaultdict(dict)
        self._doubts: dict[Period, _Doubt] = {}

    def add(self, period: Period, row_key: str, counters: Counters) -> None:
        """Count these requests in one entity, with the next flush."""
        self._pending[period].setdefault(row_key, Counters()).add(counters)

    async def flush(self) -> None:
        """Store what can be stored; the rest waits, and the log says so. One flush at a time."""
        for period in {**self._doubts, **self._pending}:
            try:
                await self._flush_period(period)
            except ServiceError as error:
                log.warning(
                    "metrics of %s, %s wait for the next flush: %s", period.account, period.partition_key, error
                )

    async def _flush_period(self, period: Period) -> None:
        table = await require_metrics_table(self._store, period.account, period.table)
        if period in self._doubts:
            await self._resolve(period, table)
        for _ in range(_ATTEMPTS_MAX):
            added = self._pending.pop(period, None)
            if added is None:
                return
            try:
                await self._write(period, table, added)
            except OutcomeUnknown:
                raise
            except BaseException as error:
                self._add_all(period, added)
                if not isinstance(error, _CHANGED_MEANWHILE):
                    raise

    async def _write(self, period: Period, table: Table, added: dict[str, Counters]) -> None:
        sums, writes = await self._plan(table, period.partition_key, added)
        if not writes:
            return
        try:
            await self._store.write(table, writes)
        except OutcomeUnknown:
            self._doubts[period] = _Doubt(added, sums[ALL])
            raise

    async def _plan(
        self, table: Table, partition_key: str, added: dict[str, Counters]
    ) -> tuple[dict[str, Counters], list[Write]]:
        """What the entities will show, by row key, and the writes that make them."""
        sums: dict[str, Counters] = {}
        writes: list[Write] = []
        for row_key, more in added.items():
            key = Key(partition_key, row_key)
            text = await self._store.get(table, key)
            total = sums[row_key] = Counters()
            condition: Condition | int = Condition.ABSENT
            if text is not None:
                total.add(Counters.of_entity(text))
                condition = parse_datetime(orjson.loads(text)["Timestamp"])
            total.add(more)
            if text is None or more.total:
                writes.append(Write(Mode.SET, key, total.members(), condition))
        return sums, writes

    async def _resolve(self, period: Period, table: Table) -> None:
        """Find out whether a doubtful write happened; if it did not, what it was to add is pending again."""
        doubt = self._doubts[period]
        text = await self._store.get(table, Key(period.partition_key, ALL))
        happened = text is not None and doubt.intended.is_part_of(Counters.of_entity(text))
        del self._doubts[period]
        if not happened:
            self._add_all(period, doubt.added)

    def _add_all(self, period: Period, added: dict[str, Counters]) -> None:
        for row_key, counters in added.items():
            self.add(period, row_key, counters)


_CHANGED_MEANWHILE = (EntityAlreadyExists, ResourceNotFound, UpdateConditionNotSatisfied)
"""What a condition says to a writer that another process has overtaken."""
