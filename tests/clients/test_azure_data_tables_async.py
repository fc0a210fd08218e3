"""The asynchronous half of the azure-data-tables package: the same through aiohttp, and many requests at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
)
from azure.data.tables import EdmType, EntityProperty, TableTransactionError, UpdateMode
from azure.data.tables.aio import TableClient, TableServiceClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from azure.data.tables import TableClient as SyncTableClient

    from tests.conftest import Server


@pytest.fixture
async def account(server: Server) -> AsyncIterator[TableServiceClient]:
    """The account, through the asynchronous SDK."""
    async with TableServiceClient.from_connection_string(
        server.connection_string, retry_total=0, read_timeout=30
    ) as account:
        yield account


@pytest.fixture
async def entities(account: TableServiceClient, table: SyncTableClient) -> TableClient:
    """The table that all tests share, through the asynchronous SDK."""
    return account.get_table_client(table.table_name)


async def test_a_table_is_created_listed_and_deleted(account: TableServiceClient, table_name: str) -> None:
    await account.create_table(table_name)
    with pytest.raises(ResourceExistsError, match="TableAlreadyExists"):
        await account.create_table(table_name)
    query = account.query_tables("TableName eq @name", parameters={"name": table_name})
    assert [table.name async for table in query] == [table_name]
    await account.delete_table(table_name)
    assert table_name not in [table.name async for table in account.list_tables()]


async def test_entities_of_a_missing_table_are_not_found(account: TableServiceClient, table_name: str) -> None:
    missing = account.get_table_client(table_name)
    with pytest.raises(ResourceNotFoundError, match="TableNotFound"):
        await missing.create_entity({"PartitionKey": "p", "RowKey": "r"})
    with pytest.raises(ResourceNotFoundError, match="TableNotFound"):
        [entity async for entity in missing.list_entities()]


async def test_a_wrong_key_is_refused(server: Server) -> None:
    connection_string = server.connection_string.replace(server.key, "d3Jvbmc=")
    async with TableServiceClient.from_connection_string(connection_string, retry_total=0) as stranger:
        with pytest.raises(ClientAuthenticationError, match="AuthenticationFailed"):
            [table async for table in stranger.list_tables()]


async def test_an_entity_lives(entities: TableClient, partition: str) -> None:
    key = {"PartitionKey": partition, "RowKey": "O'Neil + %"}
    created = await entities.create_entity({**key, "A": 1, "Big": EntityProperty(2**62, EdmType.INT64), "B": b"\x00"})
    with pytest.raises(ResourceExistsError, match="EntityAlreadyExists"):
        await entities.create_entity(key)

    await entities.update_entity({**key, "A": 2}, UpdateMode.MERGE)
    entity = await entities.get_entity(key["PartitionKey"], key["RowKey"])
    assert dict(entity) == {**key, "A": 2, "Big": EntityProperty(2**62, EdmType.INT64), "B": b"\x00"}

    stale: dict[str, Any] = {"etag": created["etag"], "match_condition": MatchConditions.IfNotModified}
    with pytest.raises(ResourceModifiedError, match="UpdateConditionNotSatisfied"):
        await entities.update_entity({**key, "A": 3}, UpdateMode.REPLACE, **stale)
    with pytest.raises(ResourceModifiedError, match="UpdateConditionNotSatisfied"):
        await entities.delete_entity(key, **stale)

    await entities.upsert_entity({**key, "C": 4}, UpdateMode.REPLACE)
    assert dict(await entities.get_entity(key["PartitionKey"], key["RowKey"], select=["A", "C"])) == {"A": None, "C": 4}
    await entities.delete_entity(key)
    with pytest.raises(ResourceNotFoundError, match="ResourceNotFound"):
        await entities.get_entity(key["PartitionKey"], key["RowKey"])


async def test_a_query_comes_in_pages(entities: TableClient, partition: str) -> None:
    for number in range(7):
        await entities.create_entity({"PartitionKey": partition, "RowKey": f"{number}", "Even": number % 2 == 0})
    query = entities.query_entities(f"PartitionKey eq '{partition}'", results_per_page=3)
    pages = [[entity["RowKey"] async for entity in page] async for page in query.by_page()]
    assert pages == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    even = entities.query_entities(
        "PartitionKey eq @key and Even eq @even", parameters={"key": partition, "even": True}, select=["RowKey"]
    )
    assert [dict(entity) async for entity in even] == [{"RowKey": row_key} for row_key in "0246"]


async def test_a_filter_that_cannot_be_read_is_refused(entities: TableClient) -> None:
    with pytest.raises(HttpResponseError, match="Syntax error at position 7 in 'aaa bbb ccc'"):
        [entity async for entity in entities.query_entities("aaa bbb ccc")]


async def test_a_transaction_is_done_whole_or_not_at_all(entities: TableClient, partition: str) -> None:
    key = {"PartitionKey": partition}
    assert await entities.submit_transaction([]) == []
    await entities.submit_transaction([("create", {**key, "RowKey": f"{number:03}"}) for number in range(100)])
    await entities.submit_transaction(
        [
            ("update", {**key, "RowKey": "000", "A": 1}, {"mode": UpdateMode.REPLACE}),
            ("upsert", {**key, "RowKey": "001", "A": 1}),
            ("delete", {**key, "RowKey": "002"}),
            ("create", {**key, "RowKey": "100"}),
        ]
    )
    with pytest.raises(TableTransactionError, match="1:The specified entity already exists") as refused:
        await entities.submit_transaction([("delete", {**key, "RowKey": "001"}), ("create", {**key, "RowKey": "000"})])
    assert (refused.value.status_code, refused.value.index) == (409, 1)
    found = [entity["RowKey"] async for entity in entities.query_entities(f"PartitionKey eq '{partition}'")]
    assert found == [f"{number:03}" for number in range(101) if number != 2]


async def test_many_requests_at_once(entities: TableClient, partition: str) -> None:
    """Each answer reaches the request it belongs to."""

    async def insert_and_read(number: int) -> int:
        row_key = f"{number:03}"
        await entities.create_entity({"PartitionKey": partition, "RowKey": row_key, "Number": number})
        entity = await entities.get_entity(partition, row_key)
        return int(entity["Number"])

    assert await asyncio.gather(*(insert_and_read(number) for number in range(200))) == list(range(200))


async def test_of_many_inserts_of_one_entity_one_succeeds(entities: TableClient, partition: str) -> None:
    async def insert(number: int) -> int | None:
        try:
            await entities.create_entity({"PartitionKey": partition, "RowKey": "r", "Number": number})
        except ResourceExistsError:
            return None
        return number

    outcomes = await asyncio.gather(*(insert(number) for number in range(50)))
    (winner,) = [number for number in outcomes if number is not None]
    assert (await entities.get_entity(partition, "r"))["Number"] == winner


async def test_no_update_is_lost_when_all_use_etags(entities: TableClient, partition: str) -> None:
    """The counter that optimistic concurrency is for: read, add one, write if unchanged, else again."""
    await entities.create_entity({"PartitionKey": partition, "RowKey": "r", "Counter": 0})

    async def add_one() -> None:
        while True:
            entity = await entities.get_entity(partition, "r")
            entity["Counter"] += 1
            try:
                await entities.update_entity(entity, match_condition=MatchConditions.IfNotModified)
            except ResourceModifiedError:
                continue
            return

    await asyncio.gather(*(add_one() for _ in range(20)))
    assert (await entities.get_entity(partition, "r"))["Counter"] == 20
