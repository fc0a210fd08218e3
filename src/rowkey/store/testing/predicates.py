"""What a store promises of predicates: it finds what the evaluator in `odata/` finds, wherever it evaluates them."""

import math
from collections.abc import Sequence

import orjson
import pytest

from rowkey.model.datetimes import TICKS_MAX, TICKS_MIN
from rowkey.model.edm import EdmType
from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.odata.ast import And, BooleanProperty, Comparison, Constant, Filter, Fixed, Not, Or
from rowkey.odata.evaluator import compile_filter
from rowkey.store.checked import split_page
from rowkey.store.interface import Store, Table
from rowkey.store.testing.samples import (
    ACCOUNT,
    CONSTANTS,
    boolean,
    double,
    insert,
    int32,
    int64,
    member,
    moment,
    scan_keys,
    scan_page,
    string,
    write_one,
)

OPERATORS = ["eq", "ne", "lt", "le", "gt", "ge"]


class PredicateConformance:
    """Needs a fixture `store`: an empty store."""

    pytestmark = pytest.mark.asyncio

    @pytest.mark.parametrize("operator", OPERATORS)
    async def test_comparisons_of_every_type_are_decided_as_the_evaluator_does(
        self, store: Store, operator: str
    ) -> None:
        table = await _table_of(store, CONSTANTS)
        for constant in CONSTANTS:
            comparison = Comparison("A", operator, constant)
            await _verify_decision(store, table, comparison)
            await _verify_decision(store, table, Not(comparison))

    async def test_combinations_are_decided_as_the_evaluator_does(self, store: Store) -> None:
        table = await _table_of(store, CONSTANTS)
        text, number, huge = string("a"), int32(1), int64(2**53 + 1)
        missing = Comparison("Missing", "ne", text)
        for first in OPERATORS:
            for second in OPERATORS:
                one, two = Comparison("A", first, text), Comparison("A", second, number)
                three = Comparison("A", second, huge)
                await _verify_decision(store, table, And((one, two, Not(three))))
                await _verify_decision(store, table, Or((And((one, missing)), Not(Or((two, three))))))
                await _verify_decision(store, table, Not(And((Or((one, Not(missing))), two))))

    async def test_a_missing_property_satisfies_no_comparison(self, store: Store) -> None:
        table = await _table_of(store, [string("a"), int32(1)])
        for operator in OPERATORS:
            assert await _found(store, table, Comparison("Missing", operator, string("a"))) == []
            assert await _found(store, table, Comparison("Missing", operator, int32(0))) == []
            assert await _found(store, table, Not(Comparison("Missing", operator, int32(0)))) == [0, 1]

    async def test_names_count_in_their_letter_case(self, store: Store) -> None:
        table = await _table_of(store, [string("a")])
        assert await _found(store, table, Comparison("A", "eq", string("a"))) == [0]
        assert await _found(store, table, Comparison("a", "eq", string("a"))) == []

    async def test_names_of_every_kind_can_be_asked_for(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        names = ["_", "key", "body", "value", "é", "\u554a", "\U00010400", "timestamp", "length", "x" * 255]
        properties = {name: member(name, string(name)) for name in names}
        await store.write(table, [Write(Mode.SET, Key("p", "r"), properties, Condition.ABSENT), insert("p", "s")])
        for name in names:
            assert await scan_keys(store, table, predicate=Comparison(name, "eq", string(name))) == [Key("p", "r")]
            assert await scan_keys(store, table, predicate=Comparison(name, "ne", string(name))) == []

    async def test_text_is_compared_by_utf16_units(self, store: Store) -> None:
        table = await _table_of(store, [string("\uff21"), string("\U0001f600"), string("\ud7ff"), string("é")])
        assert await _found(store, table, Comparison("A", "lt", string("\uff21"))) == [1, 2, 3]
        assert await _found(store, table, Comparison("A", "gt", string("\U0001f600"))) == [0]
        assert await _found(store, table, Comparison("A", "eq", string("e\u0301"))) == []

    async def test_int64_values_are_exact_beyond_the_reach_of_doubles(self, store: Store) -> None:
        table = await _table_of(store, [int64(2**53), int64(2**53 + 1), int64(2**63 - 2), int64(2**63 - 1)])
        assert await _found(store, table, Comparison("A", "eq", int64(2**53 + 1))) == [1]
        assert await _found(store, table, Comparison("A", "gt", int64(2**53))) == [1, 2, 3]
        assert await _found(store, table, Comparison("A", "lt", int64(2**63 - 1))) == [0, 1, 2]
        assert await _found(store, table, Comparison("A", "ge", int64(2**63 - 1))) == [3]

    async def test_numbers_are_compared_by_value_whatever_their_type(self, store: Store) -> None:
        table = await _table_of(store, [int32(39), int64(39), double(39.0), double(39.5)])
        assert await _found(store, table, Comparison("A", "eq", int32(39))) == [0, 1, 2]
        assert await _found(store, table, Comparison("A", "eq", int64(39))) == [0, 1, 2]
        assert await _found(store, table, Comparison("A", "eq", double(39.0))) == [0, 1, 2]
        assert await _found(store, table, Comparison("A", "gt", int32(39))) == [3]

    async def test_nan_differs_from_everything_and_has_no_order(self, store: Store) -> None:
        table = await _table_of(store, [double(math.nan), double(1.0), double(math.inf)])
        assert await _found(store, table, Comparison("A", "eq", double(math.nan))) == []
        assert await _found(store, table, Comparison("A", "ne", double(1.0))) == [0, 2]
        assert await _found(store, table, Comparison("A", "gt", double(0.0))) == [1, 2]
        assert await _found(store, table, Comparison("A", "le", double(math.inf))) == [1, 2]

    async def test_dates_are_compared_by_ticks(self, store: Store) -> None:
        ticks = 134_000_000_000_000_000
        table = await _table_of(
            store, [moment(ticks), moment(ticks + 1), moment(ticks + 10), moment(ticks + 10_000_000)]
        )
        assert await _found(store, table, Comparison("A", "eq", moment(ticks + 10))) == [2]
        assert await _found(store, table, Comparison("A", "lt", moment(ticks + 10))) == [0, 1]
        assert await _found(store, table, Comparison("A", "gt", moment(ticks + 1))) == [2, 3]

    async def test_dates_that_are_never_stored_come_before_all_others(self, store: Store) -> None:
        table = await _table_of(store, [moment(0), moment(TICKS_MAX), int32(1), string("a")])
        for operator in OPERATORS:
            for early in (moment(-1), moment(TICKS_MIN)):
                await _verify_decision(store, table, Comparison("A", operator, early))
                await _verify_decision(store, table, Comparison("Timestamp", operator, early))

    async def test_guids_and_binary_values_are_compared(self, store: Store) -> None:
        guid = Constant(EdmType.GUID, "c9da6455-213d-42c9-9a79-3e9149a57833")
        raw = Constant(EdmType.BINARY, b"\x00\xff")
        table = await _table_of(store, [guid, raw, string("c9da6455-213d-42c9-9a79-3e9149a57833"), string("AP8=")])
        assert await _found(store, table, Comparison("A", "eq", guid)) == [0]
        assert await _found(store, table, Comparison("A", "eq", raw)) == [1]
        assert await _found(store, table, Comparison("A", "eq", string("AP8="))) == [3]

    async def test_a_boolean_property_may_stand_alone(self, store: Store) -> None:
        table = await _table_of(store, [boolean(True), boolean(False), string("true"), int32(1)])
        assert await _found(store, table, BooleanProperty("A")) == [0]
        await _verify_decision(store, table, Not(BooleanProperty("A")))
        await _verify_decision(store, table, BooleanProperty("Missing"))

    async def test_true_and_false_may_stand_alone(self, store: Store) -> None:
        table = await _table_of(store, [int32(1), int32(2)])
        assert await _found(store, table, Fixed(True)) == [0, 1]
        assert await _found(store, table, Fixed(False)) == []
        assert await _found(store, table, Or((Fixed(False), Comparison("A", "eq", int32(2))))) == [1]

    async def test_keys_and_timestamps_can_be_asked_for(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        first = await write_one(store, table, insert("p", "it's"))
        second = await write_one(store, table, insert("p", "\U0001f600"))
        later = Comparison("Timestamp", "gt", moment(first.timestamp))
        at_once = Comparison("Timestamp", "eq", moment(second.timestamp))
        assert await scan_keys(store, table, predicate=later) == [Key("p", "\U0001f600")]
        assert await scan_keys(store, table, predicate=at_once) == [Key("p", "\U0001f600")]
        other = Comparison("RowKey", "ne", string("\U0001f600"))
        assert await scan_keys(store, table, predicate=other) == [Key("p", "it's")]
        assert await scan_keys(store, table, predicate=Comparison("PartitionKey", "ne", string("p"))) == []

    async def test_a_long_filter_is_decided(self, store: Store) -> None:
        """Clients join hundreds of comparisons by `or`; the documented limit of 15 is not enforced."""
        table = await _table_of(store, [int32(number) for number in range(20)])
        names = Or(tuple(Comparison("A", "eq", int32(number)) for number in range(3, 1000, 4)))
        assert await _found(store, table, names) == [3, 7, 11, 15, 19]


async def _table_of(store: Store, constants: Sequence[Constant]) -> Table:
    """A table with one entity for each value, in the property A."""
    table = await store.create_table(ACCOUNT, "things")
    await store.write(table, [insert("p", f"{number:03}", A=constant) for number, constant in enumerate(constants)])
    return table


async def _found(store: Store, table: Table, predicate: Filter) -> list[int]:
    """The numbers of the values whose entities a scan finds."""
    return [int(key.row_key) for key in await scan_keys(store, table, predicate=predicate)]


async def _verify_decision(store: Store, table: Table, predicate: Filter) -> None:
    matches = compile_filter(predicate)
    entities = [orjson.loads(text) for text in split_page((await scan_page(store, table)).text)]
    expected = [int(entity["RowKey"]) for entity in entities if matches(entity)]
    assert await _found(store, table, predicate) == expected, predicate
