"""Storage analytics as a user has it: switched on through the azure-data-tables package, read through it and in files.

The metrics of a minute are stored when it is over, and all that there is when the server stops; so these tests stop it.
"""

from __future__ import annotations

import csv
import html
import re
import time
from typing import TYPE_CHECKING

import pytest
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.data.tables import (
    TableAnalyticsLogging,
    TableClient,
    TableMetrics,
    TableRetentionPolicy,
    TableServiceClient,
)

if TYPE_CHECKING:
    from pathlib import Path

    from azure.data.tables import TableEntity

    from tests.conftest import ServerProcess

HOURS = "$MetricsHourPrimaryTransactionsTable"
MINUTES = "$MetricsMinutePrimaryTransactionsTable"
SECONDARY_HOURS = "$MetricsHourSecondaryTransactionsTable"
FIELDS = 30


def switch_on(connection_string: str) -> None:
    """Count by the hour and by the minute, and log everything."""
    week = TableRetentionPolicy(enabled=True, days=7)
    with TableServiceClient.from_connection_string(connection_string) as service:
        service.set_service_properties(
            analytics_logging=TableAnalyticsLogging(read=True, write=True, delete=True, retention_policy=week),
            hour_metrics=TableMetrics(enabled=True, include_apis=True, retention_policy=week),
            minute_metrics=TableMetrics(enabled=True, include_apis=True, retention_policy=week),
        )


def work(connection_string: str) -> None:
    """Eight requests: a table, four ways to have entities in it, one of them refused, two to read, one to delete."""
    with TableServiceClient.from_connection_string(connection_string) as service:
        table = service.create_table("Orders")
        table.create_entity({"PartitionKey": "p", "RowKey": "1", "Note": "x" * 1000})
        with pytest.raises(ResourceExistsError):
            table.create_entity({"PartitionKey": "p", "RowKey": "1"})
        table.submit_transaction([("create", {"PartitionKey": "p", "RowKey": row_key}) for row_key in ("2", "3")])
        table.upsert_entity({"PartitionKey": "p", "RowKey": "4"})
        table.get_entity("p", "1", select=["Note"])
        assert len(list(table.list_entities())) == 4
        table.delete_entity("p", "1")


REQUESTS = {
    "user;All": 9,
    "user;SetTableServiceProperties": 1,
    "user;CreateTable": 1,
    "user;InsertEntity": 2,
    "user;EntityGroupTransaction": 1,
    "user;InsertOrMergeEntity": 1,
    "user;QueryEntity": 1,
    "user;QueryEntities": 1,
    "user;DeleteEntity": 1,
}


def entities(connection_string: str, name: str) -> list[TableEntity]:
    """The entities of a table of metrics."""
    with TableClient.from_connection_string(connection_string, name) as table:
        return list(table.query_entities("PartitionKey ge '20000101T0000' and RowKey ge 'user;'"))


def requests(connection_string: str, name: str) -> dict[str, int]:
    """TotalRequests by row key; a test may run across the end of a minute or an hour."""
    totals: dict[str, int] = {}
    for entity in entities(connection_string, name):
        totals[entity["RowKey"]] = totals.get(entity["RowKey"], 0) + entity["TotalRequests"].value
    return totals


def log_files(folder: Path) -> list[Path]:
    """The files of the request log of the server whose folder this is."""
    return sorted(folder.glob("data/logs/*/table/*/*/*/*/*.log"))


def log_lines(folder: Path) -> list[list[str]]:
    """The fields of all lines of the request log, in the order of the requests' times; each worker has its own file."""
    lines = [line for file in log_files(folder) for line in file.read_text().splitlines()]
    reader = csv.reader(lines, delimiter=";", quotechar='"')
    return sorted(([html.unescape(field) for field in fields] for fields in reader), key=lambda fields: fields[1])


@pytest.mark.parametrize("name", [HOURS, MINUTES])
def test_metrics_are_there_to_be_queried(own_server: ServerProcess, name: str) -> None:
    connection_string = own_server.server.connection_string
    switch_on(connection_string)
    work(connection_string)
    own_server.stop()
    own_server.start()
    found = entities(connection_string, name)
    assert requests(connection_string, name) == REQUESTS
    for entity in found:
        assert re.fullmatch(r"\d{8}T\d{4}", entity["PartitionKey"])
        assert isinstance(entity["AverageServerLatency"], float)
        assert entity["Availability"] == 100.0
        assert entity["TotalIngress"].value > 100 * entity["TotalRequests"].value
    assert sum(entity["ClientOtherError"].value for entity in found if entity["RowKey"] == "user;All") == 1


def test_metrics_of_an_hour_grow_over_restarts(own_server: ServerProcess) -> None:
    connection_string = own_server.server.connection_string
    switch_on(connection_string)
    own_server.stop()
    own_server.start()
    work(connection_string)
    own_server.stop()
    own_server.start()
    assert requests(connection_string, HOURS) == REQUESTS


def test_requests_to_the_secondary_have_tables_of_their_own(own_server: ServerProcess) -> None:
    server = own_server.server
    switch_on(server.connection_string)
    credential = AzureNamedKeyCredential(server.account, server.key)
    with TableServiceClient(f"{server.endpoint}-secondary", credential=credential) as service:
        assert list(service.list_tables()) == []
    own_server.stop()
    own_server.start()
    assert requests(server.connection_string, SECONDARY_HOURS) == {"user;All": 1, "user;QueryTables": 1}


def test_tables_of_metrics_can_only_be_read(own_server: ServerProcess) -> None:
    """They are there as soon as metrics are switched on, though no list shows them."""
    connection_string = own_server.server.connection_string
    switch_on(connection_string)
    with TableServiceClient.from_connection_string(connection_string) as service:
        assert list(service.list_tables()) == []
        table = service.get_table_client(HOURS)
        assert list(table.list_entities()) == []
        with pytest.raises(HttpResponseError) as refused:
            table.create_entity({"PartitionKey": "p", "RowKey": "r"})
        assert refused.value.status_code == 405
        with pytest.raises(HttpResponseError):
            service.delete_table(HOURS)
        assert list(table.list_entities()) == []


def test_requests_are_logged(own_server: ServerProcess, tmp_path: Path) -> None:
    connection_string = own_server.server.connection_string
    switch_on(connection_string)
    work(connection_string)
    own_server.stop()
    account = own_server.server.account
    lines = log_lines(tmp_path)
    assert {len(fields) for fields in lines} == {FIELDS}
    # version, operation, status, HTTP status, authentication, object key, operation number
    assert [(*fields[:1], *fields[2:5], fields[7], fields[12], fields[14]) for fields in lines] == [
        ("1.0", operation, status, code, "authenticated", f"/{account}{key}", number)
        for operation, status, code, key, number in (
            ("SetTableServiceProperties", "Success", "202", "", "0"),
            ("CreateTable", "Success", "201", "", "0"),
            ("InsertEntity", "Success", "201", "/Orders/p/1", "0"),
            ("InsertEntity", "ClientOtherError", "409", "/Orders/p/1", "0"),
            ("EntityGroupTransaction", "Success", "202", "", "0"),
            ("InsertEntity", "Success", "202", "/Orders/p/2", "1"),
            ("InsertEntity", "Success", "202", "/Orders/p/3", "2"),
            ("InsertOrMergeEntity", "Success", "204", "/Orders/p/4", "0"),
            ("QueryEntity", "Success", "200", "/Orders/p/1", "0"),
            ("QueryEntities", "Success", "200", "/Orders", "0"),
            ("DeleteEntity", "Success", "204", "/Orders/p/1", "0"),
        )
    ]
    for fields in lines:
        assert fields[11].startswith(own_server.server.endpoint)
        assert fields[15].startswith("127.0.0.1:")
        assert fields[27].startswith("azsdk-python-data-tables/")


def test_lines_are_in_the_files_soon(own_server: ServerProcess, tmp_path: Path) -> None:
    switch_on(own_server.server.connection_string)
    deadline = time.monotonic() + 10
    while not log_lines(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (file,) = log_files(tmp_path)
    moment = time.strftime("%Y/%m/%d/%H00", time.gmtime(file.stat().st_mtime))
    assert file == tmp_path / "data" / "logs" / own_server.server.account / "table" / moment / "000000.log"


def test_nothing_is_recorded_unless_it_is_switched_on(own_server: ServerProcess, tmp_path: Path) -> None:
    work(own_server.server.connection_string)
    own_server.stop()
    own_server.start()
    assert log_files(tmp_path) == []
    with pytest.raises(ResourceNotFoundError):
        entities(own_server.server.connection_string, HOURS)
