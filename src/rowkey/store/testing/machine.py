"""A state machine that plays random verbs on a store and on the memory store, and compares what they answer.

    class MyStoreMachine(StoreMachine):
        async def open_store(self, folder):
            return CheckedStore(await MyStore.connect(schema=folder.name))


    TestMyStore = MyStoreMachine.TestCase

Subclass `ReopeningStoreMachine` instead for a store that keeps things: it also closes the store and opens it again.
Results are compared without their timestamps, which are each store's own; that these grow is checked beside.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, multiple, rule

from rowkey.errors import ServiceError
from rowkey.model.entity import Entity, Key, Members, members_of
from rowkey.model.key_range import WHOLE_TABLE, KeyRange, key_order
from rowkey.model.writes import Condition, Mode, Write
from rowkey.odata.ast import And, BooleanProperty, Comparison, Constant, Filter, Fixed, Not, Or
from rowkey.store.checked import split_page, verify_wire_text
from rowkey.store.interface import Index, Store, Table
from rowkey.store.memory.store import MemoryStore
from rowkey.store.testing.indexes import ready
from rowkey.store.testing.samples import CONSTANTS, member, scan_pages

T = TypeVar("T")
Seen = tuple[Key, tuple[tuple[str, str], ...]]
"""What is compared of an entity: its key, and its members in order."""


class Refusal(NamedTuple):
    """What is compared of an error."""

    error: type[ServiceError]
    position: int | None


class Change(NamedTuple):
    """One write as it is drawn; a condition `matching` means the ETag that the entity had when it was last written."""

    row_key: str
    mode: Mode
    properties: dict[str, Constant]
    condition: Condition | str


class Side:
    """A store with what it said of tables and timestamps; tables are numbered alike on both sides."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.tables: list[Table] = []
        self.timestamps: dict[tuple[int, Key], int] = {}

    async def write(self, number: int, partition_key: str, changes: Sequence[Change]) -> list[Seen | None]:
        """Apply the changes with this side's own ETags, and remember the new ones."""
        writes = [self._write(number, Key(partition_key, change.row_key), change) for change in changes]
        results = await self.store.write(self.tables[number], writes)
        for write, entity in zip(writes, results, strict=True):
            if entity is not None:
                assert entity.timestamp > self.timestamps.get((number, write.key), 0)
                self.timestamps[number, write.key] = entity.timestamp
        return [_seen(entity) for entity in results]

    def _write(self, number: int, key: Key, change: Change) -> Write:
        condition = change.condition
        if isinstance(condition, str):
            condition_ticks = self.timestamps.get((number, key), 1) - (condition == "older")
            return Write(change.mode, key, _members(change.properties), condition_ticks)
        return Write(change.mode, key, _members(change.properties), condition)

    async def get(self, number: int, key: Key) -> Seen | None:
        text = await self.store.get(self.tables[number], key)
        return None if text is None else _seen_text(text)

    async def scan(
        self, number: int, ranges: Sequence[KeyRange], limit: int, bytes_max: int, predicate: Filter | None
    ) -> list[Seen]:
        """All entities of all pages."""
        pages = await scan_pages(
            self.store, self.tables[number], ranges, limit=limit, bytes_max=bytes_max, predicate=predicate
        )
        return [_seen_text(text) for page in pages for text in split_page(page.text)]


def _members(properties: dict[str, Constant]) -> Members:
    return {name: member(name, constant) for name, constant in properties.items()}


def _seen(entity: Entity | None) -> Seen | None:
    return None if entity is None else _seen_text(entity.text)


def _seen_text(text: str) -> Seen:
    return verify_wire_text(text)[0], tuple(members_of(text).items())


# ---------------------------------------------------------------- what is drawn

ACCOUNTS = st.sampled_from(["one", "two"])
TABLE_NAMES = st.sampled_from(["alpha", "Alpha", "beta", "gamma2", "GAMMA10"])
PARTITION_KEYS = st.sampled_from(["", "a", "a b", "\U0001f600"])
ROW_KEYS = st.sampled_from(["", "'", "a", "a ", "aa", "aé", "b", "\ud7ff", "\uff21", "\U0001f600", "\U0001f600a"])
BOUNDS_ONLY = st.sampled_from(["\x00", "a\x00", "a\x1f", "\x7f", "\U0001f600\x00"])
BOUNDS = st.builds(Key, PARTITION_KEYS, ROW_KEYS | BOUNDS_ONLY)
NAMES = st.sampled_from(["A", "B", "a", "é"])
VALUES = st.sampled_from(CONSTANTS)
TEXTS = st.sampled_from(["", "<Cors />", "<Id>'\U0001f600'</Id>"])

CHANGES = st.lists(
    st.builds(
        Change,
        row_key=ROW_KEYS,
        mode=st.sampled_from(Mode),
        properties=st.dictionaries(NAMES, VALUES, max_size=3),
        condition=st.sampled_from([Condition.ANY, *Condition, "matching", "matching", "older"]),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda change: change.row_key,
)

COMPARISONS = st.builds(
    Comparison, NAMES | st.just("RowKey"), st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]), VALUES
)
FILTERS: st.SearchStrategy[Filter] = st.recursive(
    COMPARISONS | st.builds(BooleanProperty, NAMES) | st.builds(Fixed, st.booleans()),
    lambda operand: (
        st.builds(Not, operand)
        | st.builds(And, st.lists(operand, min_size=2, max_size=3).map(tuple))
        | st.builds(Or, st.lists(operand, min_size=2, max_size=3).map(tuple))
    ),
    max_leaves=6,
)


@st.composite
def key_ranges(draw: st.DrawFn) -> list[KeyRange]:
    """Ascending, disjoint ranges, the last of them perhaps open."""
    bounds = sorted(draw(st.lists(BOUNDS, max_size=6, unique=True)), key=key_order)
    ranges = [KeyRange(start, end) for start, end in zip(bounds[::2], bounds[1::2], strict=False)]
    return [*ranges, KeyRange(bounds[-1], None)] if len(bounds) % 2 else ranges


# ---------------------------------------------------------------- the machine


class StoreMachine(RuleBasedStateMachine):
    """Subclass it with `open_store`; its attribute `TestCase` is the test."""

    tables = Bundle("tables")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = TemporaryDirectory(prefix="rowkey-")
        self.model = Side(MemoryStore())
        self.tested = Side(self.runner.run(self._open()))

    async def open_store(self, folder: Path) -> Store:
        """The store kept in this folder, or under its name, which no other run of the machine has."""
        raise NotImplementedError

    async def _open(self) -> Store:
        return await self.open_store(Path(self.folder.name))

    @rule(target=tables, account=ACCOUNTS, name=TABLE_NAMES)
    def create_table(self, account: str, name: str) -> int | MultipleResults[int]:
        async def create(side: Side) -> tuple[str, str]:
            table = await side.store.create_table(account, name)
            side.tables.append(table)
            return table.account, table.name

        created = self.compare(create)
        return multiple() if isinstance(created, Refusal) else len(self.model.tables) - 1

    @rule(account=ACCOUNTS, name=TABLE_NAMES)
    def delete_table(self, account: str, name: str) -> None:
        self.compare(lambda side: side.store.delete_table(account, name))

    @rule(account=ACCOUNTS, name=TABLE_NAMES)
    def find_table(self, account: str, name: str) -> None:
        async def find(side: Side) -> int | None:
            table = await side.store.find_table(account, name)
            return None if table is None else side.tables.index(table)

        self.compare(find)

    @rule(account=ACCOUNTS, start=st.just("") | TABLE_NAMES.map(str.lower), limit=st.integers(1, 4))
    def list_tables(self, account: str, start: str, limit: int) -> None:
        async def list_some(side: Side) -> list[int]:
            return [side.tables.index(table) for table in await side.store.list_tables(account, start, limit)]

        self.compare(list_some)

    @rule(number=tables, partition_key=PARTITION_KEYS, changes=CHANGES)
    def write(self, number: int, partition_key: str, changes: list[Change]) -> None:
        self.compare(lambda side: side.write(number, partition_key, changes))

    @rule(number=tables, key=st.builds(Key, PARTITION_KEYS, ROW_KEYS))
    def get(self, number: int, key: Key) -> None:
        self.compare(lambda side: side.get(number, key))

    @rule(
        number=tables,
        ranges=key_ranges() | st.just([WHOLE_TABLE]),
        limit=st.integers(1, 5) | st.just(1000),
        bytes_max=st.sampled_from([1, 300, 1_000_000]),
        predicate=st.none() | FILTERS,
    )
    def scan(self, number: int, ranges: list[KeyRange], limit: int, bytes_max: int, predicate: Filter | None) -> None:
        self.compare(lambda side: side.scan(number, ranges, limit, bytes_max, predicate))

    @rule(number=tables)
    def get_policies(self, number: int) -> None:
        self.compare(lambda side: side.store.get_policies(side.tables[number]))

    @rule(number=tables, text=TEXTS)
    def set_policies(self, number: int, text: str) -> None:
        self.compare(lambda side: side.store.set_policies(side.tables[number], text))

    @rule(number=tables, name=NAMES | st.just("RowKey"))
    def add_index(self, number: int, name: str) -> None:
        self.compare(lambda side: side.store.add_index(side.tables[number], name))

    @rule(number=tables, name=NAMES)
    def drop_index(self, number: int, name: str) -> None:
        self.compare(lambda side: side.store.drop_index(side.tables[number], name))

    @rule(number=tables)
    def list_indexes(self, number: int) -> None:
        """Those that are complete have the same entries; one that is not will be, and find the same meanwhile."""

        async def names(side: Side) -> list[str]:
            return [index.name for index in await ready(side.store, side.tables[number])]

        async def entries(side: Side) -> list[Index]:
            return list(await side.store.list_indexes(side.tables[number]))

        self.compare(names)
        self.compare(entries)

    @rule(account=ACCOUNTS)
    def get_properties(self, account: str) -> None:
        self.compare(lambda side: side.store.get_properties(account))

    @rule(account=ACCOUNTS, sections=st.dictionaries(st.sampled_from(["Logging", "HourMetrics", "Cors"]), TEXTS))
    def set_properties(self, account: str, sections: dict[str, str]) -> None:
        self.compare(lambda side: side.store.set_properties(account, sections))

    def compare(self, verb: Callable[[Side], Awaitable[T]]) -> T | Refusal:
        """Run a verb on both sides; what they answer is the same."""
        expected = self.runner.run(_outcome(verb(self.model)))
        answered = self.runner.run(_outcome(verb(self.tested)))
        assert answered == expected
        return answered

    def compare_everything(self) -> None:
        """All entities and settings are the same, and the deleted tables are gone from both."""
        for number in range(len(self.model.tables)):
            self.scan(number, [WHOLE_TABLE], 1000, 1_000_000, None)
            self.get_policies(number)
        for account in ("one", "two"):
            self.get_properties(account)

    def teardown(self) -> None:
        try:
            self.compare_everything()
        finally:
            self.runner.run(self.tested.store.close())
            self.runner.close()
            self.folder.cleanup()


class ReopeningStoreMachine(StoreMachine):
    """Also closes the store now and then, and opens it again: everything that it acknowledged must be there."""

    @rule()
    def reopen(self) -> None:
        self.runner.run(self.tested.store.close())
        self.tested.store = self.runner.run(self._open())
        self.compare_everything()


async def _outcome(answer: Awaitable[T]) -> T | Refusal:
    try:
        return await answer
    except ServiceError as error:
        return Refusal(type(error), error.index)
