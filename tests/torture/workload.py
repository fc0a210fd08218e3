"""Clients of a store that know what must be there: what was confirmed, and what may have happened.

Each client has a partition of its own and does one thing at a time, so the state of each of its entities is known but
for the one write that was under way when the end came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from rowkey.errors import ServiceError
from rowkey.model.entity import members_of
from rowkey.model.key_range import key_order
from rowkey.model.writes import Mode, Write
from rowkey.store.checked import split_page, verify_wire_text
from rowkey.store.interface import StoreUnavailable
from rowkey.store.testing.samples import delete, insert, int32, merge, replace, scan_pages, string

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping, Sequence

    from rowkey.model.entity import Entity
    from rowkey.store.interface import Store, Table

ACCOUNT = "account"
GROUP = [f"group-{number}" for number in range(5)]
"""Row keys of the entities that are only ever written together, with the same value."""
PADDING = "x" * 1500
"""So that some entities need several pages."""

State = dict[str, str] | None
"""The members of an entity, None where there is none."""


class Writing(Protocol):
    """What a client needs of a store; the texts of the entities that are returned may be empty."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Sequence[Entity | None]:
        """As of a `Store`."""


@dataclass
class Client:
    """One client and its ledger."""

    name: str
    confirmed: dict[str, State] = field(default_factory=dict)
    """By row key, as the last confirmed write left it; its timestamp stands in `latest`."""
    unsure: dict[str, list[State]] = field(default_factory=dict)
    """By row key, what writes would make of an entity that were under way, or whose outcome nobody knows."""
    latest: dict[str, int] = field(default_factory=dict)
    """The greatest timestamp that was ever confirmed for a row key."""
    count: int = 0
    refused: int = 0

    async def write(self, store: Writing, table: Table, chance: random.Random) -> bool:
        """Do something; returns whether it was confirmed."""
        self.count += 1
        writes = self._choose(chance)
        states = {write.key.row_key: _after(self.confirmed.get(write.key.row_key), write) for write in writes}
        for row_key, state in states.items():
            self.unsure.setdefault(row_key, []).append(state)
        try:
            entities = await store.write(table, writes)
        except ServiceError as error:
            if isinstance(error, StoreUnavailable):  # it promises that nothing happened
                self._forget(states)
            self.refused += 1
            return False
        for (row_key, state), entity in zip(states.items(), entities, strict=True):
            self.confirmed[row_key] = state
            del self.unsure[row_key]
            if entity is not None:
                assert entity.timestamp > self.latest.get(row_key, 0), "an ETag came twice, or went back"
                self.latest[row_key] = entity.timestamp
                assert not entity.text or members_of(entity.text) == state
        return True

    def _forget(self, row_keys: Iterable[str]) -> None:
        for row_key in row_keys:
            self.unsure[row_key].pop()
            if not self.unsure[row_key]:
                del self.unsure[row_key]

    def _choose(self, chance: random.Random) -> list[Write]:
        sure = {row_key: state for row_key, state in self.confirmed.items() if row_key not in {*GROUP, *self.unsure}}
        there = [row_key for row_key, state in sure.items() if state is not None]
        gone = [row_key for row_key, state in sure.items() if state is None]
        fate = chance.random()
        number = int32(self.count)
        if fate < 0.3:
            return [replace(self.name, row_key, Value=number) for row_key in GROUP]
        if fate < 0.45 and there:
            return [merge(self.name, chance.choice(there), Merged=number)]
        if fate < 0.6 and there:
            return [delete(self.name, chance.choice(there))]
        if fate < 0.7 and gone:
            return [insert(self.name, chance.choice(gone), Again=number)]
        padding = string(PADDING * chance.choice([0, 0, 1, 4]))
        return [insert(self.name, f"{self.count:06}", Value=number, Padding=padding)]

    def verify(self, stored: Mapping[str, tuple[int, State]]) -> list[str]:
        """What is wrong with the entities of this client's partition, as found, by row key."""
        faults: list[str] = []
        group = [stored.get(row_key, (0, None))[1] for row_key in GROUP]
        if any(state != group[0] for state in group):
            faults.append(f"{self.name}: a transaction is torn: {group}")
        for row_key in {*self.confirmed, *stored}:
            timestamp, state = stored.get(row_key, (0, None))
            if state in self.unsure.get(row_key, ()):
                continue
            if state != self.confirmed.get(row_key):
                faults.append(f"{self.name} {row_key}: {state} instead of {self.confirmed.get(row_key)}")
            elif state is not None and timestamp != self.latest[row_key]:
                faults.append(f"{self.name} {row_key}: another ETag than was confirmed")
        return faults

    async def verify_etags(self, store: Store, table: Table) -> None:
        """Write everything once more: no ETag may be one that was there before."""
        for row_key, before in self.latest.items():
            entities = await store.write(table, [replace(self.name, row_key, Value=int32(0))])
            assert entities[0] is not None
            assert entities[0].timestamp > before, "an ETag came back"


def _after(state: State, write: Write) -> State:
    if write.mode is Mode.DELETE:
        return None
    if write.mode is Mode.MERGE and state is not None:
        return dict(sorted({**state, **write.members}.items()))
    return dict(write.members)


Stored = dict[str, dict[str, tuple[int, State]]]
"""By partition key and row key: timestamp and members."""


async def read_stored(store: Store, table: Table) -> Stored:
    """All entities of a table."""
    return stored_of([page.text for page in await scan_pages(store, table)])


def stored_of(pages: Iterable[str]) -> Stored:
    """The entities of pages, which must be in order."""
    stored: Stored = {}
    last = None
    for text in (text for page in pages for text in split_page(page)):
        key, timestamp = verify_wire_text(text)
        assert last is None or key_order(last) < key_order(key), "an entity appears twice, or out of order"
        last = key
        stored.setdefault(key.partition_key, {})[key.row_key] = timestamp, members_of(text)
    return stored


def faults_of(clients: Sequence[Client], stored: Stored) -> list[str]:
    """Everything that is not as the ledgers of the clients say."""
    faults = [fault for client in clients for fault in client.verify(stored.get(client.name, {}))]
    strangers = stored.keys() - {client.name for client in clients}
    return [*faults, *(f"a partition that nobody wrote: {name}" for name in strangers)]
