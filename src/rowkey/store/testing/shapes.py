"""What a store promises of shapes: a page in a shape is what `shape_texts` makes of the whole page."""

import pytest

from rowkey.model.entity import Key
from rowkey.model.shape import WHOLE, Shape, shape_texts
from rowkey.model.writes import Condition, Mode, Write
from rowkey.odata.ast import Comparison
from rowkey.store.interface import Store, Table
from rowkey.store.testing.samples import ACCOUNT, CONSTANTS, fill, insert, int32, int64, member, scan_page, write_one

NAMES = ["A", "_b9", "Größe", "\U00010400x", "Zz"]
"""Plain names, names beyond ASCII, and names that are in another order by UTF-16 units than by code points."""


class ShapeConformance:
    """Needs a fixture `store`: an empty store."""

    pytestmark = pytest.mark.asyncio

    @pytest.mark.parametrize("has_control", [True, False])
    async def test_values_of_every_type_are_shaped(self, store: Store, has_control: bool) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for index, constant in enumerate(CONSTANTS):
            name, other = NAMES[index % len(NAMES)], NAMES[(index + 1) % len(NAMES)]
            members = {name: member(name, constant), other: member(other, int64(index))}
            await write_one(store, table, Write(Mode.SET, Key("p", f"{index:03}"), members, Condition.ANY))
        for names in (None, ("A",), ("RowKey", "_b9", "A"), ("Größe", "A"), ("Missing", "Timestamp"), tuple(NAMES)):
            await _verify_shape(store, table, Shape(has_control, names))

    async def test_a_page_is_shaped_the_second_time_as_the_first(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await write_one(store, table, insert("p", "a", A=int64(1), B=int32(1)))
        await _verify_shape(store, table, Shape(has_control=False))
        await write_one(store, table, insert("p", "b", A=int32(1), B=int64(1)))
        await _verify_shape(store, table, Shape(has_control=False))
        await _verify_shape(store, table, Shape(has_control=False))

    async def test_entities_with_many_properties_are_shaped(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        names = [f"N{number:03}" for number in range(250)]
        await fill(store, table, "p", ["a", "b", "c"], **{name: int64(1) for name in names})
        await _verify_shape(store, table, Shape(has_control=False))
        await _verify_shape(store, table, Shape(has_control=False))
        await _verify_shape(store, table, Shape(True, tuple(names[:20])))
        await _verify_shape(store, table, Shape(True, tuple(names)))

    async def test_what_a_predicate_accepts_is_shaped(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await fill(store, table, "p", ["a", "b"], A=int64(1), B=int32(2))
        await fill(store, table, "p", ["c"], A=int64(2), B=int32(2))
        for shape in (Shape(has_control=False), Shape(True, ("B",)), Shape(False, ("A",))):
            page = await scan_page(store, table, predicate=Comparison("A", "eq", int64(1)), shape=shape)
            whole = await scan_page(store, table, predicate=Comparison("A", "eq", int64(1)))
            assert page.count == 2
            assert page.text == shape_texts(whole.text, shape)

    async def test_no_entities_have_no_text_in_any_shape(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for shape in (WHOLE, Shape(has_control=False), Shape(True, ("A",))):
            assert (await scan_page(store, table, shape=shape)).text == ""


async def _verify_shape(store: Store, table: Table, shape: Shape) -> None:
    whole = await scan_page(store, table)
    for limit in (2, 1000):  # few are gathered at once, many elsewhere
        page = await scan_page(store, table, limit=limit, shape=shape)
        first = whole if limit == 1000 else await scan_page(store, table, limit=limit)
        assert page.text == shape_texts(first.text, shape)
        assert (page.count, page.next_key) == (first.count, first.next_key)
