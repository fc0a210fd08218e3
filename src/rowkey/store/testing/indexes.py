"""What a store promises of indexes: they come, are complete one day, and go; what a query finds is the same throughout.

A store may have no use for them. So these tests ask for what every store has to show: the list, the number of entries,
and pages that are the same, entity by entity and token by token, before there is an index and afterwards.
"""

import asyncio
import random
from collections.abc import Sequence
from time import monotonic

import orjson
import pytest

from rowkey.errors import ResourceNotFound, TableNotFound
from rowkey.model.datetimes import TICKS_MIN, parse_datetime
from rowkey.model.edm import EdmType
from rowkey.model.entity import Key
from rowkey.model.key_range import FIRST_KEY, WHOLE_TABLE, KeyRange
from rowkey.odata.ast import And, BooleanProperty, Comparison, Constant, Filter, Not, Or
from rowkey.odata.evaluator import compile_filter
from rowkey.store.checked import split_page
from rowkey.store.interface import Index, Page, Store, Table
from rowkey.store.testing.samples import (
    ACCOUNT,
    CONSTANTS,
    boolean,
    delete,
    double,
    fill,
    insert,
    int32,
    int64,
    merge,
    moment,
    replace,
    scan_keys,
    scan_pages,
    string,
)

OPERATORS = ["eq", "ne", "lt", "le", "gt", "ge"]
READY_SECONDS_MAX = 60.0
PREFIX = "https://example.org/a/path/that/many/have/in/common/"
LONG = [string(PREFIX + end) for end in ("", "a", "b", "b" * 60, "b" * 60 + "c", "\uff21", "\U0001f600")]
BIG = [Constant(EdmType.BINARY, bytes(60) + end) for end in (b"", b"\x00", b"\xff")]
NEIGHBOURS = [*map(int64, [2**62, 2**62 + 1, -(2**62) - 1]), double(float(2**62)), string("a\x00z"), string("a\x01b")]
VALUES = [*CONSTANTS, *LONG, *BIG, *NEIGHBOURS]


class IndexConformance:
    """Needs a fixture `store`: an empty store."""

    pytestmark = pytest.mark.asyncio

    # ------------------------------------------------------------ the list

    async def test_a_new_table_has_no_indexes(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        assert list(await store.list_indexes(table)) == []

    async def test_indexes_are_listed_by_name_with_their_entries(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await store.write(table, [insert("p", "1", A=int32(1), B=int32(1)), insert("p", "2", A=string("x"))])
        assert await store.add_index(table, "B")
        assert await store.add_index(table, "A")
        assert await store.add_index(table, "a")
        assert await ready(store, table) == [Index("A", True, 2), Index("B", True, 1), Index("a", True, 0)]

    async def test_an_index_that_is_there_is_added_no_second_time(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        added = await asyncio.gather(*(store.add_index(table, "A") for _ in range(5)))
        assert sorted(added) == [False, False, False, False, True]
        assert [index.name for index in await store.list_indexes(table)] == ["A"]

    async def test_a_dropped_index_is_gone_and_may_come_again(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["1", "2"], A=int32(1))
        for _ in range(3):
            assert await store.add_index(table, "A")
            assert await ready(store, table) == [Index("A", True, 2)]
            await store.drop_index(table, "A")
            assert list(await store.list_indexes(table)) == []
            with pytest.raises(ResourceNotFound):
                await store.drop_index(table, "A")

    async def test_tables_have_their_own_indexes(self, store: Store) -> None:
        one, two = await store.create_table(ACCOUNT, "one"), await store.create_table(ACCOUNT, "two")
        await fill(store, one, "p", ["1", "2"], A=int32(1))
        await fill(store, two, "p", ["1"], A=int32(1))
        await store.add_index(one, "A")
        await store.add_index(two, "A")
        assert await ready(store, one) == [Index("A", True, 2)]
        assert await ready(store, two) == [Index("A", True, 1)]
        assert await scan_keys(store, two, predicate=Comparison("A", "eq", int32(1))) == [Key("p", "1")]
        with pytest.raises(ResourceNotFound):
            await store.drop_index(two, "B")

    async def test_indexes_go_with_their_table(self, store: Store) -> None:
        old = await store.create_table(ACCOUNT, "things")
        await fill(store, old, "p", ["1"], A=int32(1))
        await store.add_index(old, "A")
        await store.delete_table(ACCOUNT, "things")
        new = await store.create_table(ACCOUNT, "things")
        assert list(await store.list_indexes(new)) == []
        with pytest.raises(TableNotFound):
            await store.list_indexes(old)
        with pytest.raises(TableNotFound):
            await store.add_index(old, "A")
        with pytest.raises(TableNotFound):
            await store.drop_index(old, "A")
        await store.add_index(new, "A")
        assert await ready(store, new) == [Index("A", True, 0)]

    # ------------------------------------------------------------ writes

    async def test_entries_follow_every_kind_of_write(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["1", "2", "3", "4"], A=int32(1))
        await store.add_index(table, "A")
        await ready(store, table)
        await store.write(
            table,
            [
                merge("p", "1", A=int32(2)),
                replace("p", "2", B=int32(2)),
                delete("p", "3"),
                merge("p", "4", B=int32(2)),
                insert("p", "5", A=int32(2)),
                merge("p", "6", A=int32(1)),
                insert("p", "7", B=int32(1)),
            ],
        )
        assert await ready(store, table) == [Index("A", True, 4)]
        assert await _row_keys(store, table, Comparison("A", "eq", int32(1))) == ["4", "6"]
        assert await _row_keys(store, table, Comparison("A", "eq", int32(2))) == ["1", "5"]
        await store.write(table, [delete("p", key) for key in ("1", "4", "5", "6")])
        assert await ready(store, table) == [Index("A", True, 0)]

    async def test_a_refused_transaction_leaves_no_entries(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["3"], A=int32(1))
        await store.add_index(table, "A")
        await ready(store, table)
        with pytest.raises(ResourceNotFound):
            await store.write(
                table, [insert("p", "1", A=int32(1)), merge("p", "3", A=int32(2)), delete("p", "missing")]
            )
        assert await _row_keys(store, table, Comparison("A", "eq", int32(1))) == ["3"]
        assert await ready(store, table) == [Index("A", True, 1)]

    async def test_what_is_written_while_an_index_is_built_is_in_it(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        row_keys = [f"{number:05}" for number in range(0, 6000, 2)]
        await fill(store, table, "p", row_keys, A=int32(1))
        await store.add_index(table, "A")
        randomness = random.Random(4)
        while not (await store.list_indexes(table))[0].is_ready:
            some = {f"{randomness.randrange(6000):05}" for _ in range(30)}
            await store.write(table, [replace("p", key, A=int32(randomness.randrange(3))) for key in sorted(some)])
            gone = {f"{randomness.randrange(6000):05}" for _ in range(5)}
            await store.write(table, [replace("p", key, B=int32(1)) for key in sorted(gone)])
        entities = [orjson.loads(text) for page in await scan_pages(store, table) for text in split_page(page.text)]
        assert (await store.list_indexes(table))[0].entries == sum("A" in entity for entity in entities)
        for value in range(3):
            expected = [entity["RowKey"] for entity in entities if entity.get("A") == value]
            assert await _row_keys(store, table, Comparison("A", "eq", int32(value))) == expected

    # ------------------------------------------------------------ queries

    @pytest.mark.parametrize("operator", OPERATORS)
    async def test_comparisons_find_the_same_with_an_index(self, store: Store, operator: str) -> None:
        """Of values of every type with constants of every type, at their limits, and of a missing property."""
        table = await store.create_table(ACCOUNT, "things")
        writes = [insert("p", f"{number:03}", A=constant) for number, constant in enumerate(VALUES)]
        await store.write(table, writes[:100])
        await store.write(table, [*writes[100:], insert("p", "x", B=int32(1)), insert("p", "y")])
        await store.add_index(table, "A")
        await ready(store, table)
        entities = [orjson.loads(text) for page in await scan_pages(store, table) for text in split_page(page.text)]
        for constant in VALUES:
            comparison = Comparison("A", operator, constant)
            for predicate in (comparison, Not(comparison), And((comparison, Comparison("RowKey", "ge", string("1"))))):
                matches = compile_filter(predicate)
                expected = [entity["RowKey"] for entity in entities if matches(entity)]
                assert await _row_keys(store, table, predicate) == expected, predicate

    async def test_system_properties_can_have_an_index(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for name in ("RowKey", "Timestamp"):
            await store.add_index(table, name)
        for partition_key in ("a", "b", "c"):
            await fill(store, table, partition_key, ["1", "2", "\U0001f600"])
        assert await ready(store, table) == [Index("RowKey", True, 9), Index("Timestamp", True, 9)]
        page = (await scan_pages(store, table))[0]
        times = sorted({orjson.loads(text)["Timestamp"] for text in split_page(page.text)})
        assert await scan_keys(store, table, predicate=Comparison("RowKey", "eq", string("2"))) == [
            Key(partition_key, "2") for partition_key in ("a", "b", "c")
        ]
        assert len(times) > 1
        for operator, count in (("ge", 9), ("gt", 9), ("ne", 9), ("eq", 0), ("le", 0), ("lt", 0)):
            early = Comparison("Timestamp", operator, moment(TICKS_MIN))
            assert len(await scan_keys(store, table, predicate=early)) == count
        await store.write(table, [merge("b", "2", A=int32(1))])
        newest = Comparison("Timestamp", "gt", moment(parse_datetime(times[-1])))
        assert await scan_keys(store, table, predicate=newest) == [Key("b", "2")]

    async def test_pages_are_the_same_with_an_index(self, store: Store) -> None:
        """Random entities, filters, ranges and limits: entities, order and continuation tokens."""
        randomness = random.Random(20)
        table = await store.create_table(ACCOUNT, "things")
        for partition_key in ("a", "b", "c"):
            await _fill_at_random(store, table, partition_key, 300, randomness)
        questions = [
            (_draw_filter(randomness, 2), _draw_ranges(randomness), randomness.choice([5, 50, 1000]))
            for _ in range(100)
        ]
        before = [await _pages(store, table, *question) for question in questions]
        for name in NAMES:
            await store.add_index(table, name)
        await ready(store, table)
        after = [await _pages(store, table, *question) for question in questions]
        for question, expected, found in zip(questions, before, after, strict=True):
            assert found == expected, question
        for name in NAMES[::2]:
            await store.drop_index(table, name)
        assert [await _pages(store, table, *question) for question in questions[:30]] == before[:30]

    async def test_a_common_value_is_found_page_by_page(self, store: Store) -> None:
        """More entries than any store would sort at once, of two values, one of them rare."""
        table = await store.create_table(ACCOUNT, "things")
        for partition_key in range(12):
            await _fill_with_rare_values(store, table, f"{partition_key:02}")
        await store.add_index(table, "Kind")
        await ready(store, table)
        rare = [Key(f"{number:02}", f"{row_key:04}") for number in range(12) for row_key in range(0, 1000, 250)]
        assert await scan_keys(store, table, predicate=Comparison("Kind", "eq", string("rare"))) == rare
        common = Comparison("Kind", "eq", string("common"))
        assert len(await scan_keys(store, table, predicate=common)) == 12_000 - len(rare)
        either = Or((common, Comparison("Kind", "eq", string("rare"))))
        assert len(await scan_keys(store, table, predicate=either)) == 12_000
        both = And((common, Comparison("Number", "eq", int32(7))))
        assert len(await scan_keys(store, table, predicate=both)) == 12
        within = [KeyRange(Key("03", ""), Key("04", ""))]
        assert len(await scan_keys(store, table, within, predicate=common)) == 996


NAMES = ["A", "B", "Name", "Flag", "RowKey"]
SOME_VALUES = [
    *map(int32, range(4)),
    *map(int64, [2**53, 2**53 + 1]),
    *map(double, [0.5, 1.0, float("nan"), float("inf")]),
    *map(string, ["", "a", "b", "\U0001f600", "\uff21", PREFIX + "a", PREFIX + "b"]),
    *map(boolean, [True, False]),
    moment(1),
    Constant(EdmType.GUID, "c9da6455-213d-42c9-9a79-3e9149a57833"),
    Constant(EdmType.BINARY, b"\x01"),
]


async def ready(store: Store, table: Table) -> list[Index]:
    """The table's indexes, once all of them are ready."""
    deadline = monotonic() + READY_SECONDS_MAX
    while not all(index.is_ready for index in await store.list_indexes(table)):
        assert monotonic() < deadline, "an index never became ready"
        await asyncio.sleep(0.005)
    return list(await store.list_indexes(table))


async def _row_keys(store: Store, table: Table, predicate: Filter) -> list[str]:
    return [key.row_key for key in await scan_keys(store, table, predicate=predicate)]


async def _pages(
    store: Store, table: Table, predicate: Filter, ranges: Sequence[KeyRange], limit: int
) -> list[tuple[str, Key | None]]:
    pages: list[Page] = await scan_pages(store, table, ranges, limit=limit, predicate=predicate)
    return [(page.text, page.next_key) for page in pages]


async def _fill_at_random(
    store: Store, table: Table, partition_key: str, count: int, randomness: random.Random
) -> None:
    writes = []
    for number in range(count):
        properties = {name: randomness.choice(SOME_VALUES) for name in ("A", "B") if randomness.random() < 0.8} | {
            "Name": string(f"name {randomness.randrange(40)}"),
            "Flag": boolean(randomness.random() < 0.02),
        }
        writes.append(insert(partition_key, f"{number:04}", **properties))
    for start in range(0, count, 100):
        await store.write(table, writes[start : start + 100])


async def _fill_with_rare_values(store: Store, table: Table, partition_key: str) -> None:
    kinds = ["common", "rare"]
    for start in range(0, 1000, 100):
        await store.write(
            table,
            [
                insert(partition_key, f"{n:04}", Kind=string(kinds[n % 250 == 0]), Number=int32(n))
                for n in range(start, start + 100)
            ],
        )


def _draw_filter(randomness: random.Random, depth: int) -> Filter:
    kind = randomness.randrange(6 if depth else 3)
    if kind < 2:
        name = randomness.choice(["A", "B", "Name", "Flag", "Missing"])
        value = string(f"name {randomness.randrange(40)}") if name == "Name" else randomness.choice(SOME_VALUES)
        return Comparison(name, randomness.choice(OPERATORS), value)
    if kind == 2:
        return (
            BooleanProperty("Flag")
            if randomness.random() < 0.5
            else Comparison("RowKey", randomness.choice(OPERATORS), string(f"{randomness.randrange(300):04}"))
        )
    operands = tuple(_draw_filter(randomness, depth - 1) for _ in range(randomness.choice([2, 2, 3])))
    return (And, And, Or)[kind - 3](operands) if randomness.random() < 0.9 else Not(operands[0])


def _draw_ranges(randomness: random.Random) -> Sequence[KeyRange]:
    return randomness.choice(
        [
            [WHOLE_TABLE],
            [WHOLE_TABLE],
            [KeyRange(Key("b", ""), Key("c", ""))],
            [KeyRange(Key("a", "0100"), Key("c", "0200"))],
            [KeyRange(FIRST_KEY, Key("a", "0200")), KeyRange(Key("b", "0100"), Key("b", "0200"))],
        ]
    )
