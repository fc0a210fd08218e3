"""What a store promises of scans: the order of results, ranges, the ends of pages, and going on from there."""

import random
from itertools import product

import pytest

from rowkey.model.entity import Key
from rowkey.model.key_range import FIRST_KEY, WHOLE_TABLE, KeyRange, key_order, successor
from rowkey.odata.ast import Comparison, Fixed
from rowkey.store.checked import is_within
from rowkey.store.interface import Page, Store, Table
from rowkey.store.testing.samples import (
    ACCOUNT,
    BOUNDS_ONLY,
    ODD_KEYS,
    ODD_KEYS_IN_ORDER,
    delete,
    fill,
    insert,
    int32,
    keys_of,
    rest_of,
    scan_keys,
    scan_page,
    scan_pages,
    string,
    write_one,
)

DIGITS = [f"{number:02}" for number in range(100)]


class ScanConformance:
    """Needs a fixture `store`: an empty store."""

    pytestmark = pytest.mark.asyncio

    async def test_an_empty_table_is_one_empty_page(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        assert await scan_page(store, table) == Page("", 0, None)

    async def test_no_ranges_are_one_empty_page(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await write_one(store, table, insert("p", "r"))
        assert await scan_page(store, table, []) == Page("", 0, None)

    async def test_entities_come_by_utf16_units_of_both_keys(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        shuffled = random.Random(1).sample(ODD_KEYS, len(ODD_KEYS))
        for partition_key in shuffled:
            await fill(store, table, partition_key, shuffled)
        assert await scan_keys(store, table) == [Key(*keys) for keys in product(ODD_KEYS_IN_ORDER, repeat=2)]

    async def test_tables_are_scanned_apart(self, store: Store) -> None:
        one = await store.create_table(ACCOUNT, "one")
        two = await store.create_table(ACCOUNT, "two")
        three = await store.create_table(ACCOUNT, "three")
        await fill(store, two, "", ["", "a"])
        await fill(store, three, "\uffff", ["\uffff"])
        assert await scan_keys(store, one) == []
        assert await scan_keys(store, two) == [Key("", ""), Key("", "a")]
        assert await scan_keys(store, three) == [Key("\uffff", "\uffff")]

    async def test_a_range_of_row_keys_is_half_open(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for partition_key in ["o", "p", "p\u0300", "q"]:
            await fill(store, table, partition_key, ["a", "aa", "a b", "b"])
        assert await _row_keys(store, table, "a", "b") == ["a", "a b", "aa"]
        assert await _row_keys(store, table, successor("a"), "b") == ["a b", "aa"]
        assert await _row_keys(store, table, "a", successor("b")) == ["a", "a b", "aa", "b"]
        assert await _row_keys(store, table, "a", successor("a")) == ["a"]
        assert await _row_keys(store, table, "a", "a") == []
        assert await _row_keys(store, table, "", "a") == []
        assert await _row_keys(store, table, "c", "d") == []

    async def test_a_range_of_partition_keys_is_half_open(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for partition_key in ["", "a", "a ", "aa", "b"]:
            await fill(store, table, partition_key, ["", "r"])
        a_only = KeyRange(Key("a", ""), Key(successor("a"), ""))
        after_a = KeyRange(Key(successor("a"), ""), None)
        before_b = KeyRange(FIRST_KEY, Key("b", ""))
        assert [key.partition_key for key in await scan_keys(store, table, [a_only])] == ["a", "a"]
        assert [key.partition_key for key in await scan_keys(store, table, [after_a])] == [
            *("a ", "a "),
            *("aa", "aa"),
            *("b", "b"),
        ]
        assert len(await scan_keys(store, table, [before_b])) == 8

    async def test_ranges_begin_and_end_at_any_text(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "a", ODD_KEYS)
        everything = await scan_keys(store, table)
        bounds = sorted((Key("a", row_key) for row_key in (*ODD_KEYS, *BOUNDS_ONLY)), key=key_order)
        for place, start in enumerate(bounds):
            for end in (bounds[place], *bounds[place + 1 :: 7], None):
                ranges = [KeyRange(start, end)]
                assert await scan_keys(store, table, ranges) == [key for key in everything if is_within(key, ranges)]

    async def test_partitions_begin_and_end_at_any_text(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for partition_key in ODD_KEYS:
            await fill(store, table, partition_key, ["", "a"])
        everything = await scan_keys(store, table)
        bounds = sorted((Key(text, "a") for text in (*ODD_KEYS, *BOUNDS_ONLY)), key=key_order)
        for place, start in enumerate(bounds):
            for end in (bounds[place], *bounds[place + 1 :: 7], None):
                ranges = [KeyRange(start, end)]
                assert await scan_keys(store, table, ranges) == [key for key in everything if is_within(key, ranges)]

    async def test_several_ranges_are_scanned_in_order(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for partition_key in ["a", "b", "c"]:
            await fill(store, table, partition_key, DIGITS)
        ranges = [
            KeyRange(Key("a", "10"), Key("a", "13")),
            KeyRange(Key("a", "13"), Key("a", "14")),
            KeyRange(Key("a", "990"), Key("b", "")),
            KeyRange(Key("b", "98"), Key("c", "01")),
            KeyRange(Key("c", "99"), None),
        ]
        expected = [
            *(Key("a", "10"), Key("a", "11"), Key("a", "12"), Key("a", "13")),
            *(Key("b", "98"), Key("b", "99"), Key("c", "00"), Key("c", "99")),
        ]
        assert await scan_keys(store, table, ranges) == expected
        for limit in range(1, 9):
            pages = await scan_pages(store, table, ranges, limit=limit)
            assert [key for page in pages for key in keys_of(page)] == expected

    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 50, 99, 100, 101])
    async def test_pages_end_at_the_limit_and_go_on_with_exactly_the_rest(self, store: Store, limit: int) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", DIGITS)
        pages = await scan_pages(store, table, limit=limit)
        assert [key.row_key for page in pages for key in keys_of(page)] == DIGITS
        assert [page.count for page in pages[:-1]] == [limit] * ((100 - 1) // limit)

    async def test_a_full_page_says_where_the_next_entity_is(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["1", "12", "123"])
        page = await scan_page(store, table, limit=2)
        assert page.next_key is not None
        assert key_order(Key("p", "12")) < key_order(page.next_key) <= key_order(Key("p", "123"))

    async def test_a_full_page_with_nothing_after_it_is_the_last(self, store: Store) -> None:
        """Recorded: six entities in pages of two have continuation tokens on the first two pages only."""
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["1", "2", "3", "4"])
        first, second = await scan_pages(store, table, limit=2)
        assert (first.count, second.count) == (2, 2)
        ranges = [KeyRange(Key("p", "1"), Key("p", "2")), KeyRange(Key("p", "3"), Key("p", "4"))]
        assert (await scan_page(store, table, ranges, limit=2)).next_key is None

    async def test_a_scan_goes_on_although_the_next_entity_was_deleted(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["1", "3", "5", "7"])
        page = await scan_page(store, table, limit=2)
        await store.write(table, [delete("p", "5"), insert("p", "2"), insert("p", "6")])
        assert page.next_key is not None
        rest = await scan_keys(store, table, rest_of([WHOLE_TABLE], page.next_key))
        assert [key.row_key for key in rest] == ["6", "7"]

    async def test_pages_end_at_about_the_byte_budget(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", DIGITS, Text=string("x" * 900))
        pages = await scan_pages(store, table, bytes_max=10_000)
        assert [key.row_key for page in pages for key in keys_of(page)] == DIGITS
        assert all(5_000 < len(page.text) < 12_000 for page in pages[:-1])

    async def test_a_byte_budget_smaller_than_an_entity_still_gets_on(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", DIGITS)
        pages = await scan_pages(store, table, bytes_max=1)
        assert [key.row_key for page in pages for key in keys_of(page)] == DIGITS
        assert len(pages) >= 50

    async def test_without_time_a_scan_still_gets_on_and_ends(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", DIGITS, A=int32(1))
        await write_one(store, table, insert("p", "99a", A=int32(2)))
        everything = await scan_pages(store, table, seconds_max=0.0)
        assert [key.row_key for page in everything for key in keys_of(page)] == [*DIGITS, "99a"]
        assert len(everything) <= 102
        filtered = await scan_pages(store, table, seconds_max=0.0, predicate=Comparison("A", "eq", int32(2)))
        assert [key.row_key for page in filtered for key in keys_of(page)] == ["99a"]
        assert len(filtered) <= 102

    async def test_a_page_ends_when_its_time_is_up(self, store: Store) -> None:
        """Stores may look at the clock now and then only, but more often than every ten thousand entities."""
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", [f"{number:05}" for number in range(10_000)], A=int32(1))
        page = await scan_page(store, table, seconds_max=0.0, predicate=Comparison("A", "eq", int32(2)))
        assert page.count == 0
        assert page.next_key is not None

    async def test_a_page_of_a_thousand_is_one_page(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        row_keys = [f"{number:04}" for number in range(1000)]
        await fill(store, table, "p", row_keys)
        page = await scan_page(store, table, limit=1000)
        assert (page.count, page.next_key) == (1000, None)
        assert [key.row_key for key in keys_of(page)] == row_keys

    async def test_the_limit_counts_what_satisfies_the_predicate(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for number, row_key in enumerate(DIGITS):
            await write_one(store, table, insert("p", row_key, A=int32(number % 10)))
        pages = await scan_pages(store, table, limit=4, predicate=Comparison("A", "eq", int32(3)))
        found = [[key.row_key for key in keys_of(page)] for page in pages]
        assert found[0] == ["03", "13", "23", "33"]
        assert [row_key for page in found for row_key in page] == DIGITS[3::10]

    async def test_a_predicate_that_nothing_satisfies_is_scanned_to_the_end(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", DIGITS)
        assert await scan_page(store, table, limit=1, predicate=Fixed(False)) == Page("", 0, None)


async def _row_keys(store: Store, table: Table, start: str, end: str) -> list[str]:
    """The row keys from `start` on and before `end` in the partition `p`."""
    keys = await scan_keys(store, table, [KeyRange(Key("p", start), Key("p", end))])
    return [key.row_key for key in keys if key.partition_key == "p"]
