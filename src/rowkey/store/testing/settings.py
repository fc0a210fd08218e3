"""What a store promises of settings: the access policies of tables and the service properties of accounts."""

import asyncio
from typing import cast

import pytest

from rowkey.errors import TableNotFound
from rowkey.model.entity import Key
from rowkey.store.interface import Store, Table
from rowkey.store.testing.samples import ACCOUNT, insert, scan_keys, write_one

TEXTS = [
    "<SignedIdentifiers />",
    "<Id>'quoted' \"twice\" &amp; more</Id>",
    "\ufeffZ\u00fcrich \U0001f600\r\n\t",
    "x" * 20_000,
    "",
]


class SettingsConformance:
    """Needs a fixture `store`: an empty store."""

    pytestmark = pytest.mark.asyncio

    # ------------------------------------------------------------ access policies

    async def test_a_new_table_has_no_policies(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        assert await store.get_policies(table) == ""

    async def test_policies_are_what_was_last_set(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        for text in TEXTS:
            await store.set_policies(table, text)
            assert await store.get_policies(table) == text

    async def test_tables_have_their_own_policies(self, store: Store) -> None:
        tables = [await store.create_table(*place) for place in [(ACCOUNT, "a"), (ACCOUNT, "b"), ("other", "a")]]
        for table in tables:
            await store.set_policies(table, f"{table.account} {table.name}")
        assert [await store.get_policies(table) for table in tables] == [f"{ACCOUNT} a", f"{ACCOUNT} b", "other a"]

    async def test_policies_and_entities_do_not_touch(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await store.set_policies(table, "policies")
        await write_one(store, table, insert("p", "r"))
        await store.set_policies(table, "others")
        assert await scan_keys(store, table) == [Key("p", "r")]
        assert await store.get_policies(table) == "others"

    async def test_a_deleted_table_has_no_policies(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await store.set_policies(table, "policies")
        await store.delete_table(ACCOUNT, "things")
        with pytest.raises(TableNotFound):
            await store.get_policies(table)
        with pytest.raises(TableNotFound):
            await store.set_policies(table, "others")

    async def test_a_table_created_again_has_no_policies(self, store: Store) -> None:
        old = await store.create_table(ACCOUNT, "things")
        await store.set_policies(old, "policies")
        await store.delete_table(ACCOUNT, "things")
        new = await store.create_table(ACCOUNT, "things")
        assert await store.get_policies(new) == ""
        await store.set_policies(new, "others")
        with pytest.raises(TableNotFound):
            await store.get_policies(old)

    async def test_policies_set_at_once_are_the_last_ones(self, store: Store) -> None:
        table = await store.create_table(ACCOUNT, "things")
        await asyncio.gather(*(store.set_policies(table, str(number)) for number in range(20)))
        settled = await store.get_policies(table)
        assert settled in {str(number) for number in range(20)}
        assert await store.get_policies(table) == settled

    async def test_policies_and_a_deletion_at_once(self, store: Store) -> None:
        """Whichever comes first, the table is gone afterwards, and one made anew has nothing of it."""
        table = await store.create_table(ACCOUNT, "things")
        deletion = asyncio.ensure_future(store.delete_table(ACCOUNT, "things"))
        results = await asyncio.gather(
            *(store.set_policies(table, "policies") for _ in range(3)), deletion, return_exceptions=True
        )
        assert {type(result) for result in results} <= {type(None), TableNotFound}
        assert deletion.exception() is None
        new: Table = await store.create_table(ACCOUNT, "things")
        assert await store.get_policies(new) == ""

    # ------------------------------------------------------------ service properties

    async def test_a_new_account_has_no_properties(self, store: Store) -> None:
        assert dict(await store.get_properties(ACCOUNT)) == {}

    async def test_properties_are_what_was_last_set(self, store: Store) -> None:
        for text in TEXTS:
            await store.set_properties(ACCOUNT, {"Cors": text})
            assert await store.get_properties(ACCOUNT) == {"Cors": text}

    async def test_sections_that_are_not_set_stay(self, store: Store) -> None:
        await store.set_properties(ACCOUNT, {"Logging": "1", "Cors": "2"})
        await store.set_properties(ACCOUNT, {"Cors": "3", "HourMetrics": "4"})
        assert await store.get_properties(ACCOUNT) == {"Logging": "1", "Cors": "3", "HourMetrics": "4"}
        await store.set_properties(ACCOUNT, {})
        assert await store.get_properties(ACCOUNT) == {"Logging": "1", "Cors": "3", "HourMetrics": "4"}

    async def test_accounts_have_their_own_properties(self, store: Store) -> None:
        await store.set_properties("one", {"Cors": "1"})
        await store.set_properties("two", {"Logging": "2"})
        assert await store.get_properties("one") == {"Cors": "1"}
        assert await store.get_properties("two") == {"Logging": "2"}
        assert await store.get_properties("three") == {}

    async def test_properties_are_one_object_until_they_change(self, store: Store) -> None:
        """So that what is read from them can be kept beside them."""
        await store.set_properties(ACCOUNT, {"Cors": "1"})
        before = await store.get_properties(ACCOUNT)
        await store.set_properties("other", {"Cors": "1"})
        await store.create_table(ACCOUNT, "things")
        assert await store.get_properties(ACCOUNT) is before
        await store.set_properties(ACCOUNT, {"Cors": "2"})
        assert before == {"Cors": "1"}
        assert await store.get_properties(ACCOUNT) == {"Cors": "2"}

    async def test_properties_cannot_be_modified_by_those_who_read_or_set_them(self, store: Store) -> None:
        given = {"Cors": "1"}
        await store.set_properties(ACCOUNT, given)
        given["Cors"] = "2"
        sections = await store.get_properties(ACCOUNT)
        with pytest.raises(TypeError):
            cast("dict[str, str]", sections)["Cors"] = "3"
        assert await store.get_properties(ACCOUNT) == {"Cors": "1"}

    async def test_sections_set_at_once_are_all_there(self, store: Store) -> None:
        names = [f"Section{number}" for number in range(20)]
        await asyncio.gather(*(store.set_properties(ACCOUNT, {name: name}) for name in names))
        assert await store.get_properties(ACCOUNT) == {name: name for name in names}
