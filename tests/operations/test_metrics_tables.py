"""The tables of metrics as requests see them: to be read, never listed, and not to be touched otherwise.

Reference: "Storage Analytics metrics table schema".
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.observe.metrics_tables import HOUR_TABLES, MINUTE_TABLES
from tests.operations.conftest import ACCOUNT

if TYPE_CHECKING:
    from tests.operations.conftest import Client

HOURS, MINUTES = HOUR_TABLES[0], MINUTE_TABLES[0]
KEYS = "(PartitionKey='20260301T1200',RowKey='user;All')"


@pytest.fixture
async def metrics(orders: Client) -> Client:
    """An account with the table Orders and metrics of one hour."""
    table = await orders.store.create_table(ACCOUNT, HOURS)
    write = Write(Mode.SET, Key("20260301T1200", "user;All"), {"Success": '"Success":1'}, Condition.ANY)
    await orders.store.write(table, [write])
    return orders


@pytest.mark.parametrize("name", [HOURS, HOURS.lower(), "%24MetricsHourPrimaryTransactionsTable"])
@pytest.mark.parametrize("path", [KEYS, "()", "()?$filter=PartitionKey%20ge%20'20260301T1200'"])
async def test_metrics_can_be_read(metrics: Client, name: str, path: str) -> None:
    answer = await metrics.ask("GET", f"/{name}{path}")
    assert answer.status == 200
    assert b'"Success":1' in answer.body


async def test_the_old_name_still_works(metrics: Client) -> None:
    """`$MetricsTransactionsTable`, of the versions before 2013-08-15."""
    answer = await metrics.ask("GET", f"/$MetricsTransactionsTable{KEYS}")
    assert (answer.status, json.loads(answer.body)["Success"]) == (200, 1)


@pytest.mark.parametrize("name", [MINUTES, "$MetricsTransactionsBlob"])
async def test_metrics_that_were_never_switched_on_are_not_found(metrics: Client, name: str) -> None:
    assert (await metrics.refused("GET", f"/{name}()"))[:2] == (404, "TableNotFound")


async def test_the_old_name_of_metrics_that_were_never_switched_on_is_not_found(orders: Client) -> None:
    assert (await orders.refused("GET", "/$MetricsTransactionsTable()"))[:2] == (404, "TableNotFound")


@pytest.mark.parametrize(
    "path", ["/Tables", "/Tables?$top=1", "/Tables?NextTableName=$Metrics", "/Tables?$filter=TableName%20ge%20'$'"]
)
async def test_tables_of_metrics_are_not_listed(metrics: Client, path: str) -> None:
    answer = await metrics.ask("GET", path)
    assert [table["TableName"] for table in json.loads(answer.body)["value"]] == ["Orders"]
    assert answer.header("x-ms-continuation-NextTableName") is None


async def test_a_table_of_metrics_can_be_looked_at(metrics: Client) -> None:
    """As the service's team blog shows it (2011-08-03, Storage Metrics)."""
    answer = await metrics.ask("GET", f"/Tables('{HOURS}')")
    assert (answer.status, json.loads(answer.body)["TableName"]) == (200, HOURS)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"/{HOURS}"),
        ("PUT", f"/{HOURS}{KEYS}"),
        ("MERGE", f"/{HOURS}{KEYS}"),
        ("PATCH", f"/{HOURS}{KEYS}"),
        ("DELETE", f"/{HOURS}{KEYS}"),
        ("DELETE", f"/Tables('{HOURS}')"),
        ("PUT", f"/{HOURS}?comp=acl"),
    ],
)
async def test_nothing_else_can_be_done_with_them(metrics: Client, method: str, path: str) -> None:
    body = {"PartitionKey": "p", "RowKey": "r"} if method != "DELETE" else b""
    answer = await metrics.ask(method, path, body, {"If-Match": "*"} if "(Part" in path else {})
    assert answer.status == 405
    assert (await metrics.ask("GET", f"/{HOURS}{KEYS}")).status == 200


async def test_nobody_can_make_one(client: Client) -> None:
    assert (await client.refused("POST", "/Tables", {"TableName": MINUTES}))[:2] == (400, "InvalidResourceName")
