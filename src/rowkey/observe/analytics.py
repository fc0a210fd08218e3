"""Storage analytics: what becomes of a finished request where the service properties ask for it.

    record      in memory, with the request: a tally for the metrics, lines for the log
    each second     lines are appended to files (`request_log.py`)
    each minute     tallies are added to the entities of the metrics tables (`metrics_writer.py`)
    each day        and at the start: what has become too old is removed (`retention.py`)

A tally counts the requests that ended in one minute, had the same operation and ended alike. When it is flushed it is
added to the entities of the minute and of the hour, for all operations together and for each by itself, as far as the
properties ask for them. All this goes to the store and not through the service: it is no request and is not recorded.

Every hour has its entity, "even if no requests were made"; a minute has one only if there were requests.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path

from rowkey.errors import ServiceError
from rowkey.model.datetimes import now_ticks
from rowkey.model.key_range import FIRST_KEY
from rowkey.observe.log_line import format_lines, is_logged
from rowkey.observe.metrics import Counters
from rowkey.observe.metrics_tables import (
    HOUR_TABLES,
    MINUTE_TABLES,
    TICKS_PER_HOUR,
    TICKS_PER_MINUTE,
    hour_metrics_of,
    logging_of,
    minute_metrics_of,
    partition_key_of,
)
from rowkey.observe.metrics_writer import ALL, MetricsWriter, Period
from rowkey.observe.request_log import RequestLog
from rowkey.observe.retention import remove_entities_before
from rowkey.observe.transaction import Outcome, Transaction, counter_name
from rowkey.store.interface import NO_SECTIONS, Store

log = logging.getLogger(__name__)

_TEND_SECONDS = 1.0
_DAY_SECONDS = 24 * 60 * 60.0
_TICKS_PER_DAY = 24 * TICKS_PER_HOUR


class Analytics:
    """Records the requests to `accounts`.

    The metrics are kept in `store`, the log in `folder`; without a folder there is none. `now` is the clock, in ticks.
    """

    def __init__(
        self, store: Store, accounts: Collection[str], folder: Path | None, *, now: Callable[[], int] = now_ticks
    ) -> None:
        self._store = store
        self._now = now
        self._accounts = {name: _Account(name) for name in accounts}
        self._writer = MetricsWriter(store)
        self._log = None if folder is None else RequestLog(folder)
        self._flushing = asyncio.Lock()
        self._closing = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def is_on(self, account: str, properties: Mapping[str, str]) -> bool:
        """Whether an account with these service properties wants its requests recorded; asked for each of them."""
        state = self._accounts[account]
        if state.properties is not properties:
            self._count(state)
            state.set_properties(properties)
            if state.is_logged and self._log is None:
                log.warning("the service properties of %s ask for a log, but there is no data folder for it", account)
        return state.is_on

    def record(self, transaction: Transaction) -> None:
        """Record a request to an account for which `is_on`."""
        state = self._accounts[transaction.account]
        ended = transaction.started + transaction.duration
        if state.is_counted:
            alike = (
                transaction.is_secondary,
                ended // TICKS_PER_MINUTE,
                transaction.operation.name,
                transaction.grant_kind,
                transaction.outcome,
            )
            tally = state.tallies.get(alike)
            if tally is None:
                tally = state.tallies[alike] = [0, 0, 0, 0]
            tally[0] += 1
            tally[1] += transaction.request_head_bytes + len(transaction.request.body)
            tally[2] += transaction.response_head_bytes + transaction.response_body_bytes
            tally[3] += transaction.duration
        if state.is_logged and self._log is not None and is_logged(state.logging, transaction):
            self._log.add(transaction.account, ended, format_lines(transaction))

    async def flush(self) -> None:
        """Store the metrics and write the log of all that was recorded; what cannot be stored now waits."""
        async with self._flushing:
            for state in self._accounts.values():
                self.is_on(state.name, await self._store.get_properties(state.name))
                self._count(state)
                self._begin_hour(state)
            await self._writer.flush()
        if self._log is not None:
            await self._log.flush()

    async def retain(self) -> None:
        """Remove what is older than the service properties want it to be kept."""
        for state in self._accounts.values():
            self.is_on(state.name, await self._store.get_properties(state.name))
            now = self._now()
            for names, days in (
                (HOUR_TABLES, state.hour.retention_days),
                (MINUTE_TABLES, state.minute.retention_days),
            ):
                if days is not None:
                    for name in names:
                        await self._remove_before(state.name, name, now - days * _TICKS_PER_DAY)
            days = state.logging.retention_days
            if days is not None and self._log is not None:
                await self._log.remove_before(state.name, now - days * _TICKS_PER_DAY)

    # ------------------------------------------------------------ in the background

    def start(self) -> None:
        """Flush and remove in the background from now on, until `close`."""
        self._tasks = [asyncio.create_task(self._keep_flushing()), asyncio.create_task(self._keep_retaining())]

    async def close(self) -> None:
        """Store and write what was recorded, and end; the store must still be open."""
        self._closing.set()
        await asyncio.gather(*self._tasks)
        await _attempt(self.flush)
        if self._log is not None:
            await self._log.close()

    async def _keep_flushing(self) -> None:
        flushed = self._now() // TICKS_PER_MINUTE
        while not await self._is_closing_within(_TEND_SECONDS):
            minute = self._now() // TICKS_PER_MINUTE
            if minute != flushed:
                flushed = minute
                await _attempt(self.flush)
            elif self._log is not None:
                await _attempt(self._log.flush)

    async def _keep_retaining(self) -> None:
        await _attempt(self.retain)
        while not await self._is_closing_within(_DAY_SECONDS):
            await _attempt(self.retain)

    async def _is_closing_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._closing.wait(), seconds)
        except TimeoutError:
            return False
        return True

    # ------------------------------------------------------------ steps

    def _count(self, state: "_Account") -> None:
        """Hand an account's tallies on to the entities that its properties ask for."""
        tallies, state.tallies = state.tallies, {}
        for (is_secondary, minute, operation, grant_kind, outcome), (count, ingress, egress, ticks) in tallies.items():
            counters = Counters()
            counters.counts[counter_name(grant_kind, outcome)] = count
            counters.ingress, counters.egress = ingress, egress
            counters.ticks = ticks if outcome is Outcome.SUCCESS else 0
            begin = minute * TICKS_PER_MINUTE
            for properties, names, length in (
                (state.hour, HOUR_TABLES, TICKS_PER_HOUR),
                (state.minute, MINUTE_TABLES, TICKS_PER_MINUTE),
            ):
                if properties.is_enabled:
                    period = Period(state.name, names[is_secondary], partition_key_of(begin - begin % length))
                    self._writer.add(period, ALL, counters)
                    if properties.include_apis:
                        self._writer.add(period, f"user;{operation}", counters)

    def _begin_hour(self, state: "_Account") -> None:
        """See to it that the hour has its entity."""
        hour = self._now() // TICKS_PER_HOUR
        if state.hour.is_enabled and state.hour_begun != hour:
            state.hour_begun = hour
            period = Period(state.name, HOUR_TABLES[0], partition_key_of(hour * TICKS_PER_HOUR))
            self._writer.add(period, ALL, Counters())

    async def _remove_before(self, account: str, name: str, moment: int) -> None:
        table = await self._store.find_table(account, name)
        if table is None:
            return
        start = FIRST_KEY
        while not self._closing.is_set():
            following = await remove_entities_before(self._store, table, moment, start=start)
            if following is None:
                return
            start = following


class _Account:
    """An account: what its service properties ask for, and what was counted since the last flush."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.hour_begun = -1
        self.tallies: dict[tuple[bool, int, str, str, Outcome], list[int]] = {}
        """Requests, bytes in, bytes out and ticks; by secondary or not, minute, operation, kind of grant, outcome."""
        self.set_properties(NO_SECTIONS)

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Go by these service properties from now on."""
        self.properties = properties
        self.logging = logging_of(properties)
        self.hour = hour_metrics_of(properties)
        self.minute = minute_metrics_of(properties)
        self.is_counted = self.hour.is_enabled or self.minute.is_enabled
        self.is_logged = self.logging.read or self.logging.write or self.logging.delete
        self.is_on = self.is_counted or self.is_logged


async def _attempt(step: Callable[[], Awaitable[None]]) -> None:
    """Do something that the server must survive."""
    try:
        await step()
    except ServiceError as error:
        log.warning("analytics will try again: %s", error)
    except Exception:
        log.exception("analytics failed")
