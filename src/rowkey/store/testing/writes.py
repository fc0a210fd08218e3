"""What a store promises of single entities and transactions: modes, conditions, order, atomicity, time."""

import pytest

from rowkey.errors import (
    ConditionNotMet,
    EntityAlreadyExists,
    EntityTooLarge,
    ResourceNotFound,
    ServiceError,
    TooManyProperties,
    UpdateConditionNotSatisfied,
)
from rowkey.model.datetimes import TICKS_MIN
from rowkey.model.entity import Entity, Key, compose_entity, members_of
from rowkey.model.limits import PROPERTIES_MAX
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.interface import Page, Store
from rowkey.store.testing.samples import (
    ACCOUNT,
    CONSTANTS,
    ODD_KEYS,
    FixedClock,
    delete,
    fill,
    insert,
    int32,
    int64,
    member,
    members,
    merge,
    replace,
    scan_keys,
    scan_page,
    string,
    write_one,
)

KEY = Key("p", "r")

REFUSALS: list[tuple[Mode, Condition | int, bool, type[ServiceError]]] = [
    (Mode.SET, Condition.ABSENT, True, EntityAlreadyExists),
    (Mode.SET, Condition.EXISTS, False, ResourceNotFound),
    (Mode.SET, Condition.UNMEETABLE, True, ConditionNotMet),
    (Mode.SET, Condition.UNMEETABLE, False, ResourceNotFound),
    (Mode.SET, 1, True, UpdateConditionNotSatisfied),
    (Mode.SET, 1, False, ResourceNotFound),
    (Mode.MERGE, Condition.EXISTS, False, ResourceNotFound),
    (Mode.MERGE, Condition.UNMEETABLE, True, ConditionNotMet),
    (Mode.MERGE, 1, True, UpdateConditionNotSatisfied),
    (Mode.MERGE, 1, False, ResourceNotFound),
    (Mode.DELETE, Condition.EXISTS, False, ResourceNotFound),
    (Mode.DELETE, Condition.UNMEETABLE, True, ConditionNotMet),
    (Mode.DELETE, Condition.UNMEETABLE, False, ResourceNotFound),
    (Mode.DELETE, 1, True, UpdateConditionNotSatisfied),
    (Mode.DELETE, 1, False, ResourceNotFound),
]
"""Mode, condition, whether the entity is there, and what the write raises."""


class WriteConformance:
    """Needs the fixtures `store`, an empty store, and `clock`, its clock if it takes one."""

    pytestmark = pytest.mark.asyncio

    async def test_what_is_written_is_what_is_read(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        entity = await write_one(store, table, insert("p", "r", Name=string("abc"), Qty=int32(3), Big=int64(2**62)))
        assert list(members_of(entity.text)) == ["Name", "Qty", "Big"]
        assert await store.get(table, KEY) == entity.text
        assert await scan_page(store, table) == Page(entity.text, 1, None)

    async def test_an_entity_may_have_no_properties(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        entity = await write_one(store, table, insert("p", "r"))
        assert await store.get(table, KEY) == entity.text == compose_entity(KEY, entity.timestamp, {}).text

    async def test_an_entity_that_was_never_written_is_none(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await write_one(store, table, insert("p", "r"))
        assert await store.get(table, Key("p", "")) is None
        assert await store.get(table, Key("", "r")) is None
        assert await store.get(table, Key("P", "r")) is None
        assert await store.get(table, Key("r", "p")) is None

    async def test_values_of_every_type_come_back_byte_for_byte(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        properties = {f"P{number}": member(f"P{number}", constant) for number, constant in enumerate(CONSTANTS)}
        entity = await write_one(store, table, Write(Mode.SET, KEY, properties, Condition.ABSENT))
        assert entity.text == compose_entity(KEY, entity.timestamp, properties).text
        assert await store.get(table, KEY) == entity.text
        assert (await scan_page(store, table)).text == entity.text

    async def test_names_of_every_kind_come_back_byte_for_byte(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        names = ["_", "a", "A", "é", "\u554a\u9f44", "key", "value", "rowid", "id", "timestamp", "x" * 255, "\u0391_1"]
        properties = {name: member(name, string(name)) for name in names}
        entity = await write_one(store, table, Write(Mode.SET, KEY, properties, Condition.ABSENT))
        assert list(members_of(entity.text)) == names
        assert await store.get(table, KEY) == entity.text
        assert (await scan_page(store, table)).text == entity.text

    async def test_every_pair_of_odd_keys_is_an_entity_of_its_own(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for partition_key in ODD_KEYS:
            await fill(store, table, partition_key, ODD_KEYS)
        text = await store.get(table, Key("a", "a\U0001f600b"))
        assert text is not None
        assert r'"PartitionKey":"a","RowKey":"a\ud83d\ude00b"' in text
        await store.write(table, [delete("a ", "a")])
        assert await store.get(table, Key("a ", "a")) is None
        assert len(await scan_keys(store, table)) == len(ODD_KEYS) ** 2 - 1

    @pytest.mark.parametrize(("mode", "condition", "present", "error"), REFUSALS)
    async def test_a_write_whose_condition_does_not_hold_changes_nothing(
        self, store: Store, mode: Mode, condition: Condition | int, present: bool, error: type[ServiceError]
    ) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["r"] * present, A=int32(1))
        before = await scan_page(store, table)
        with pytest.raises(error) as refusal:
            await store.write(table, [Write(mode, KEY, members(A=int32(2)), condition)])
        assert refusal.value.index == 0
        assert await scan_page(store, table) == before

    @pytest.mark.parametrize("mode", Mode)
    async def test_a_write_with_the_etag_of_now_succeeds_and_with_an_older_one_is_refused(
        self, store: Store, mode: Mode
    ) -> None:
        table = await store.create_table(ACCOUNT, "things")
        old = await write_one(store, table, insert("p", "r", A=int32(1)))
        new = await write_one(store, table, replace("p", "r", A=int32(2)))
        with pytest.raises(UpdateConditionNotSatisfied):
            await store.write(table, [Write(mode, KEY, {}, old.timestamp)])
        with pytest.raises(UpdateConditionNotSatisfied):
            await store.write(table, [Write(mode, KEY, {}, new.timestamp + 1)])
        assert await store.get(table, KEY) == new.text
        await store.write(table, [Write(mode, KEY, {}, new.timestamp)])
        assert await store.get(table, KEY) != new.text

    @pytest.mark.parametrize("mode", Mode)
    @pytest.mark.parametrize("timestamp", [0, -1, -2, -3, -4, TICKS_MIN])
    async def test_no_entity_has_a_timestamp_so_early(self, store: Store, mode: Mode, timestamp: int) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for writes in ([Write(mode, KEY, {}, timestamp)], [insert("p", "q"), Write(mode, KEY, {}, timestamp)]):
            with pytest.raises(ResourceNotFound):
                await store.write(table, writes)
        kept = await write_one(store, table, insert("p", "r", A=int32(1)))
        for writes in ([Write(mode, KEY, {}, timestamp)], [insert("p", "q"), Write(mode, KEY, {}, timestamp)]):
            with pytest.raises(UpdateConditionNotSatisfied):
                await store.write(table, writes)
        assert await scan_keys(store, table) == [KEY]
        assert await store.get(table, KEY) == kept.text

    @pytest.mark.parametrize("condition", [Condition.ANY, Condition.EXISTS])
    async def test_a_set_leaves_nothing_of_the_properties_before(self, store: Store, condition: Condition) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await write_one(store, table, insert("p", "r", A=int32(1), B=int32(1)))
        entity = await write_one(store, table, Write(Mode.SET, KEY, members(C=int32(2), B=int64(2)), condition))
        assert members_of(entity.text) == members(C=int32(2), B=int64(2))
        assert await store.get(table, KEY) == entity.text

    @pytest.mark.parametrize("condition", [Condition.ANY, Condition.EXISTS])
    async def test_a_merge_keeps_what_it_does_not_name(self, store: Store, condition: Condition) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await write_one(store, table, insert("p", "r", A=int32(1), B=int32(1)))
        entity = await write_one(store, table, Write(Mode.MERGE, KEY, members(B=int64(2), C=int32(2)), condition))
        assert members_of(entity.text) == members(A=int32(1), B=int64(2), C=int32(2))
        assert await store.get(table, KEY) == entity.text

    async def test_a_merge_without_properties_only_touches_the_entity(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        before = await write_one(store, table, insert("p", "r", A=int32(1)))
        after = await write_one(store, table, merge("p", "r"))
        assert members_of(after.text) == members_of(before.text)
        assert after.timestamp > before.timestamp

    async def test_sets_keep_the_order_given_and_merges_sort_by_utf16_units(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        names = ["b", "a", "_", "B", "\uff21", "é", "a1", "\U00010400", "A"]
        properties = {name: member(name, int32(1)) for name in names}
        written = await write_one(store, table, Write(Mode.SET, KEY, properties, Condition.ABSENT))
        assert list(members_of(written.text)) == names
        merged = await write_one(store, table, merge("p", "r", a0=int32(1)))
        assert list(members_of(merged.text)) == ["A", "B", "_", "a", "a0", "a1", "b", "é", "\U00010400", "\uff21"]
        assert await store.get(table, KEY) == merged.text

    async def test_a_deleted_entity_is_gone_and_may_be_inserted_again(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["r", "s"])
        assert list(await store.write(table, [delete("p", "r")])) == [None]
        assert await store.get(table, KEY) is None
        assert await scan_keys(store, table) == [Key("p", "s")]
        await write_one(store, table, insert("p", "r"))
        assert await scan_keys(store, table) == [KEY, Key("p", "s")]

    async def test_a_transaction_returns_each_result_in_its_place(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["a", "b", "c"], A=int32(1))
        results = await store.write(
            table,
            [insert("p", "z"), delete("p", "a"), merge("p", "c", B=int32(2)), replace("p", "b"), insert("p", "d")],
        )
        assert [entity and entity.text for entity in results] == [
            await store.get(table, Key("p", row_key)) for row_key in ("z", "a", "c", "b", "d")
        ]
        assert results[1] is None

    @pytest.mark.parametrize("index", [0, 1, 49, 99])
    async def test_one_failed_write_undoes_the_transaction_and_is_named(self, store: Store, index: int) -> None:
        table = await store.create_table(ACCOUNT, "things")
        row_keys = [f"{number:02}" for number in range(100)]
        await fill(store, table, "p", row_keys[:50:2], A=int32(1))
        before = await scan_page(store, table)
        writes = [merge("p", row_key, B=int32(2)) for row_key in row_keys]
        writes[index].condition = 1 if index % 2 == 0 else Condition.EXISTS
        with pytest.raises((UpdateConditionNotSatisfied, ResourceNotFound)) as refusal:
            await store.write(table, writes)
        assert refusal.value.index == index
        assert await scan_page(store, table) == before

    async def test_the_first_of_several_failures_is_the_one_named(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["a", "b"])
        with pytest.raises(EntityAlreadyExists) as refusal:
            await store.write(table, [delete("p", "a"), insert("p", "b"), delete("p", "c")])
        assert refusal.value.index == 1
        assert await scan_keys(store, table) == [Key("p", "a"), Key("p", "b")]

    async def test_timestamps_grow_while_the_clock_stands_or_goes_back(self, store: Store, clock: FixedClock) -> None:
        table = await store.create_table(ACCOUNT, "things")
        timestamps = [(await write_one(store, table, insert("p", "r"))).timestamp]
        timestamps.append((await write_one(store, table, replace("p", "r"))).timestamp)
        clock.ticks -= 36_000_000_000
        timestamps.append((await write_one(store, table, replace("p", "r"))).timestamp)
        timestamps.append((await write_one(store, table, merge("p", "r"))).timestamp)
        clock.ticks += 72_000_000_000
        timestamps.append((await write_one(store, table, merge("p", "r"))).timestamp)
        assert timestamps == sorted(set(timestamps))

    async def test_timestamps_follow_the_clock(self, store: Store, clock: FixedClock) -> None:
        table = await store.create_table(ACCOUNT, "things")
        before = await write_one(store, table, insert("p", "before"))
        clock.ticks += 10_000
        after = await write_one(store, table, insert("p", "after"))
        assert before.timestamp < after.timestamp

    async def test_an_etag_does_not_return_after_a_deletion(self, store: Store, clock: FixedClock) -> None:
        """Else a client that holds the ETag of the entity before would overwrite one that it never saw."""
        table = await store.create_table(ACCOUNT, "things")
        first = await write_one(store, table, insert("p", "r"))
        await store.write(table, [delete("p", "r")])
        second = await write_one(store, table, insert("p", "r"))
        await store.write(table, [delete("p", "r")])
        clock.ticks -= 36_000_000_000
        third = await write_one(store, table, insert("p", "r"))
        assert first.timestamp < second.timestamp < third.timestamp

    async def test_an_entity_of_a_megabyte_is_kept_and_a_larger_one_refused(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        piece = string("x" * 32_768)
        largest = {f"P{number:02}": member(f"P{number:02}", piece) for number in range(15)}
        entity = await write_one(store, table, Write(Mode.SET, KEY, largest, Condition.ABSENT))
        assert await store.get(table, KEY) == entity.text
        with pytest.raises(EntityTooLarge) as refusal:
            await store.write(table, [insert("p", "s"), merge("p", "r", P15=piece)])
        assert refusal.value.index == 1
        assert await scan_page(store, table) == Page(entity.text, 1, None)

    async def test_a_merge_cannot_pass_the_number_of_properties(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        full = {f"P{number}": member(f"P{number}", int32(number)) for number in range(PROPERTIES_MAX)}
        await write_one(store, table, Write(Mode.SET, KEY, full, Condition.ABSENT))
        again: Entity = await write_one(store, table, merge("p", "r", P7=int32(8)))
        assert len(members_of(again.text)) == PROPERTIES_MAX
        with pytest.raises(TooManyProperties):
            await store.write(table, [merge("p", "r", One_more=int32(1))])
        assert await store.get(table, KEY) == again.text

    @pytest.mark.parametrize(
        ("condition", "error"), [(1, UpdateConditionNotSatisfied), (Condition.UNMEETABLE, ConditionNotMet)]
    )
    async def test_the_condition_of_a_merge_comes_before_its_limits(
        self, store: Store, condition: Condition | int, error: type[ServiceError]
    ) -> None:
        table = await store.create_table(ACCOUNT, "things")
        full = {f"P{number}": member(f"P{number}", int32(number)) for number in range(PROPERTIES_MAX)}
        entity = await write_one(store, table, Write(Mode.SET, KEY, full, Condition.ABSENT))
        with pytest.raises(error):
            await store.write(table, [Write(Mode.MERGE, KEY, members(One_more=int32(1)), condition)])
        assert await store.get(table, KEY) == entity.text

    async def test_the_first_of_several_failures_is_named_where_another_is_a_limit(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        full = {f"P{number}": member(f"P{number}", int32(number)) for number in range(PROPERTIES_MAX)}
        await store.write(table, [Write(Mode.SET, KEY, full, Condition.ABSENT), insert("p", "s")])
        too_much, taken = merge("p", "r", One_more=int32(1)), insert("p", "s")
        with pytest.raises(EntityAlreadyExists) as first:
            await store.write(table, [taken, too_much])
        with pytest.raises(TooManyProperties) as second:
            await store.write(table, [too_much, taken])
        assert (first.value.index, second.value.index) == (0, 0)
