"""Pages end where they should, however large the entities around their end are: large texts do not come as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import TableNotFound
from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange
from rowkey.store.checked import CheckedStore
from rowkey.store.postgres import statements
from rowkey.store.postgres.pages import _page_of
from rowkey.store.postgres.store import PostgresStore
from rowkey.store.testing.samples import ACCOUNT, fill, keys_of, scan_keys, scan_pages, string

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rowkey.store.interface import Store, Table

LARGE = string("x" * statements.LARGE_BYTES)
SMALL = string("x")


@pytest.fixture
async def store(empty_database: str) -> AsyncIterator[Store]:
    store = await PostgresStore.open(empty_database)
    yield CheckedStore(store)
    await store.close()


async def filled(store: Store, large: set[int]) -> Table:
    """A table with six entities, some of them large."""
    table = await store.create_table(ACCOUNT, "things")
    for number in range(6):
        await fill(store, table, "p", [str(number)], A=LARGE if number in large else SMALL)
    return table


@pytest.mark.parametrize("large", [set(), {0}, {2}, {3}, {5}, {1, 2, 3}])
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6, 7])
async def test_pages_have_as_many_entities_as_were_asked_for(store: Store, large: set[int], limit: int) -> None:
    """Wherever the large ones are: within a page, or the first of the next."""
    table = await filled(store, large)
    pages = await scan_pages(store, table, limit=limit)
    assert [key.row_key for page in pages for key in keys_of(page)] == list("012345")
    assert [page.count for page in pages if page.count] == [limit] * (6 // limit) + [6 % limit] * (6 % limit > 0)


async def test_a_range_with_nothing_in_it_is_an_empty_page(store: Store) -> None:
    table = await filled(store, set())
    (page,) = await scan_pages(store, table, [KeyRange(Key("q", ""), None)], limit=10)
    assert (page.text, page.count, page.next_key) == ("", 0, None)


async def test_a_page_of_a_table_that_another_deletes_is_refused(store: Store, empty_database: str) -> None:
    table = await filled(store, set())
    other = await PostgresStore.open(empty_database)
    await other.delete_table(ACCOUNT, "things")
    await other.close()
    with pytest.raises(TableNotFound):
        await scan_keys(store, table)


@pytest.mark.parametrize(("bytes_max", "count"), [(1, 1), (33, 1), (34, 2), (66, 2), (67, 3), (1000, 3)])
def test_a_page_ends_with_the_text_that_fills_it(bytes_max: int, count: int) -> None:
    texts = [b'{"PartitionKey":"p","RowKey":"%d"}' % number for number in range(4)]
    assert {len(text) for text in texts} == {33}
    page = _page_of(texts, 3, bytes_max)
    assert (page.count, page.next_key) == (count, Key("p", str(count)))
    assert page.text == b",".join(texts[:count]).decode()
