"""Query Tables: GET /Tables."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

from rowkey.errors import InvalidInput, NotImplementedOnResource
from rowkey.operations.query_tables import QueryTables
from rowkey.wire.media import Format

if TYPE_CHECKING:
    from rowkey.errors import ServiceError
    from tests.operations.conftest import Client

BASE = "http://127.0.0.1:10002/devstoreaccount1"
NO_METADATA = {"Accept": "application/json;odata=nometadata"}


class TestDecode:
    @pytest.mark.parametrize(
        ("query", "start", "top"),
        [
            ("", "", 1000),
            ("?$top=1", "", 1),
            ("?$top=1000", "", 1000),
            ("?%24top=7&timeout=30&unknown=1", "", 7),
            ("?NextTableName=1!8!T3JkZXJz", "orders", 1000),
            ("?nexttablename=1%218%21T3JkZXJz", "orders", 1000),
            ("?NextTableName=1!36!bXl0YWJsZTIBMDFkNmQ1NjM0M2I4Zjg3OA--", "mytable2", 1000),
            ("?NextTableName=Orders", "orders", 1000),
            ("?$ct=Orders", "orders", 1000),
            ("?$filter=&$select=", "", 1000),
            ("?$filter=%20+", "", 1000),
        ],
    )
    def test_options(self, client: Client, query: str, start: str, top: int) -> None:
        assert client.decode("GET", f"/Tables{query}") == QueryTables(None, start, top, Format.MINIMAL_METADATA)

    @pytest.mark.parametrize(
        ("query", "error"),
        [
            ("?$top=0", InvalidInput),
            ("?$top=1001", InvalidInput),
            ("?$filter=TableName", None),
            ("?$filter=TableName%20eq", InvalidInput),
            ("?$filter=TableName%20eq%20'a'%C2%A0", InvalidInput),
            ("?$filter=startswith(TableName,'a')", NotImplementedOnResource),
            ("?$filter='a'%20eq%20tolower(TableName)", NotImplementedOnResource),
            ("?NextTableName=1!4!x", InvalidInput),
            ("?NextTableName=a&$ct=a", InvalidInput),
        ],
    )
    def test_options_that_are_refused(self, client: Client, query: str, error: type[ServiceError] | None) -> None:
        if error is None:
            client.decode("GET", f"/Tables{query}")
            return
        with pytest.raises(error):
            client.decode("GET", f"/Tables{query}")


async def make(client: Client, *names: str) -> None:
    for name in names:
        assert (await client.ask("POST", "/Tables", {"TableName": name})).status == 201


async def list_names(client: Client, query: str = "") -> list[str]:
    response = await client.ask("GET", f"/Tables{query}", headers=NO_METADATA)
    assert response.status == 200, response.body
    return [table["TableName"] for table in json.loads(response.body)["value"]]


class TestRun:
    async def test_no_tables(self, client: Client) -> None:
        response = await client.ask("GET", "/Tables")
        assert response.body.decode() == f'{{"odata.metadata":"{BASE}/$metadata#Tables","value":[]}}'
        assert (response.header("ETag"), response.header("Cache-Control")) == (None, "no-cache")

    async def test_three_levels(self, client: Client) -> None:
        await make(client, "Orders")
        level = "application/json;odata={}"
        answers = [
            (await client.ask("GET", "/Tables()", headers={"Accept": level.format(name)})).body.decode()
            for name in ("nometadata", "minimalmetadata", "fullmetadata")
        ]
        assert answers == [
            '{"value":[{"TableName":"Orders"}]}',
            f'{{"odata.metadata":"{BASE}/$metadata#Tables","value":[{{"TableName":"Orders"}}]}}',
            f'{{"odata.metadata":"{BASE}/$metadata#Tables","value":[{{"odata.type":"devstoreaccount1.Tables",'
            f'"odata.id":"{BASE}/Tables(\'Orders\')","odata.editLink":"Tables(\'Orders\')","TableName":"Orders"}}]}}',
        ]

    async def test_order_ignores_letter_case_and_keeps_the_spelling(self, client: Client) -> None:
        """Recorded, 164 of 164."""
        await make(client, "beta", "Alpha", "Gamma", "alpha2", "BETA2")
        assert await list_names(client) == ["Alpha", "alpha2", "beta", "BETA2", "Gamma"]

    async def test_prefix_filter(self, client: Client) -> None:
        await make(client, "abc1", "abc2", "abd", "ab0")
        query = "?$filter=TableName%20ge%20'abc'%20and%20TableName%20lt%20'abc{'"
        assert await list_names(client, query) == ["abc1", "abc2"]

    async def test_filter_compares_the_stored_spelling(self, client: Client) -> None:
        await make(client, "Orders", "orders2")
        assert await list_names(client, "?$filter=TableName+eq+'orders'") == []
        assert await list_names(client, "?$filter=TableName+eq+'Orders'") == ["Orders"]

    async def test_a_position_counts_the_blanks_in_front(self, client: Client) -> None:
        text = "Syntax error at position 8 in ' aaa bbb ccc'."
        assert await client.refused("GET", "/Tables?$filter=%20aaa+bbb+ccc") == (400, "InvalidInput", text)

    async def test_pages(self, client: Client) -> None:
        await make(client, "aaa", "Bbb", "ccc", "Ddd", "eee")
        names: list[str] = []
        query = ""
        for _ in range(3):
            response = await client.ask("GET", f"/Tables?$top=2{query}", headers=NO_METADATA)
            names += [table["TableName"] for table in json.loads(response.body)["value"]]
            token = response.header("x-ms-continuation-NextTableName")
            query = f"&NextTableName={token}"
        assert names == ["aaa", "Bbb", "ccc", "Ddd", "eee"]
        assert token is None

    async def test_page_that_ends_with_the_last_table_has_no_token(self, client: Client) -> None:
        await make(client, "aaa", "bbb")
        response = await client.ask("GET", "/Tables?$top=2")
        assert response.header("x-ms-continuation-NextTableName") is None

    async def test_token_names_the_next_table_and_when_it_was_made(self, client: Client) -> None:
        """Recorded, 187 of 187: lower-cased name, U+0001, 16 hexadecimal digits."""
        await make(client, "aaa", "Bbb")
        token = (await client.ask("GET", "/Tables?$top=1")).header("x-ms-continuation-NextTableName")
        assert token is not None
        version, length, payload = token.split("!")
        assert (version, length) == ("1", str(len(payload)))
        name, _, created = base64.b64decode(payload.replace("-", "=")).decode().partition("\x01")
        assert name == "bbb"
        assert len(created) == 16
        assert int(created, 16) == client.clock.ticks + 1

    async def test_token_of_a_deleted_table_goes_on_after_it(self, client: Client) -> None:
        """Recorded: cosmosdb-table-python test_list_tables_with_marker."""
        await make(client, "aaa", "bbb", "ccc")
        token = (await client.ask("GET", "/Tables?$top=1")).header("x-ms-continuation-NextTableName")
        await client.ask("DELETE", "/Tables('bbb')")
        assert await list_names(client, f"?NextTableName={token}") == ["ccc"]

    async def test_more_than_a_thousand(self, client: Client) -> None:
        for number in range(1001):
            await client.store.create_table("devstoreaccount1", f"Table{number:04}")
        response = await client.ask("GET", "/Tables", headers=NO_METADATA)
        assert len(json.loads(response.body)["value"]) == 1000
        token = response.header("x-ms-continuation-NextTableName")
        assert await list_names(client, f"?NextTableName={token}") == ["Table1000"]

    async def test_filter_finds_what_lies_behind_the_first_thousand(self, client: Client) -> None:
        for number in range(2100):
            await client.store.create_table("devstoreaccount1", f"Table{number:04}")
        assert await list_names(client, "?$filter=TableName%20ge%20'Table2098'") == ["Table2098", "Table2099"]

    async def test_client_of_2008_gets_plain_names(self, client: Client) -> None:
        await make(client, "aaa", "Bbb")
        headers = {"x-ms-version": None, "Accept": "application/json"}
        response = await client.ask("GET", "/Tables?$top=1", headers=headers)
        assert response.header("x-ms-continuation-NextTableName") == "Bbb"
        assert response.header("x-ms-version") is None

    async def test_selection_is_repeated_in_the_metadata(self, client: Client) -> None:
        response = await client.ask("GET", "/Tables?$select=TableName")
        expected = f'{{"odata.metadata":"{BASE}/$metadata#Tables&$select=TableName","value":[]}}'
        assert response.body.decode() == expected

    async def test_atom(self, orders: Client) -> None:
        await orders.ask("POST", "/Tables", {"TableName": "Parts"})
        response = await orders.ask_in_atom("GET", "/Tables()?$top=1")
        assert response.header("Content-Type") == "application/atom+xml;charset=utf-8"
        assert (response.header("x-ms-continuation-NextTableName") or "").startswith("1!")
        assert response.body.count(b"<entry>") == 1
        assert b"<d:TableName>Orders</d:TableName>" in response.body
