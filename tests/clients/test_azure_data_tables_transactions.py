"""Entity group transactions, through the azure-data-tables package."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ResourceNotFoundError
from azure.data.tables import RequestTooLargeError, TableTransactionError, UpdateMode

if TYPE_CHECKING:
    from azure.data.tables import TableClient, TableServiceClient

Operation = tuple[str, dict[str, Any]] | tuple[str, dict[str, Any], dict[str, Any]]


def entity(partition: str, row_key: str, **properties: Any) -> dict[str, Any]:
    """An entity in one line."""
    return {"PartitionKey": partition, "RowKey": row_key, **properties}


def stored(table: TableClient, partition: str) -> dict[str, Any]:
    """The `A` of every entity of a partition."""
    return {found["RowKey"]: found.get("A") for found in table.query_entities(f"PartitionKey eq '{partition}'")}


def told(error: TableTransactionError) -> tuple[int | None, str, int, str]:
    """Status, code, index of the failed operation, and text of a refusal."""
    code = error.message.rpartition("ErrorCode:")[2]
    return error.status_code, code, error.index, error.message.partition("\n")[0]


def test_every_kind_of_operation_in_one_transaction(table: TableClient, partition: str) -> None:
    for row_key in ("merge", "replace", "delete", "upsert-merge", "upsert-replace"):
        table.create_entity(entity(partition, row_key, A=1, B=1))
    operations: list[Operation] = [
        ("create", entity(partition, "create", A=2)),
        ("update", entity(partition, "merge", A=2)),
        ("update", entity(partition, "replace", A=2), {"mode": UpdateMode.REPLACE}),
        ("delete", entity(partition, "delete")),
        ("upsert", entity(partition, "upsert-merge", A=2)),
        ("upsert", entity(partition, "upsert-replace", A=2), {"mode": UpdateMode.REPLACE}),
        ("upsert", entity(partition, "upsert-new", A=2)),
    ]
    answers = table.submit_transaction(operations)
    found = {found["RowKey"]: dict(found) for found in table.query_entities(f"PartitionKey eq '{partition}'")}
    assert found == {
        "create": entity(partition, "create", A=2),
        "merge": entity(partition, "merge", A=2, B=1),
        "replace": entity(partition, "replace", A=2),
        "upsert-merge": entity(partition, "upsert-merge", A=2, B=1),
        "upsert-new": entity(partition, "upsert-new", A=2),
        "upsert-replace": entity(partition, "upsert-replace", A=2),
    }
    assert ["etag" in answer for answer in answers] == [True, True, True, False, True, True, True]


def test_an_etag_from_a_transaction_is_the_entitys(table: TableClient, partition: str) -> None:
    (answer,) = table.submit_transaction([("create", entity(partition, "r"))])
    assert table.get_entity(partition, "r").metadata["etag"] == answer["etag"]


def test_a_hundred_operations_are_accepted(table: TableClient, partition: str) -> None:
    answers = table.submit_transaction([("create", entity(partition, f"{row:03}")) for row in range(100)])
    assert len(answers) == 100
    assert len(stored(table, partition)) == 100


def test_more_than_a_hundred_operations_are_refused(table: TableClient, partition: str) -> None:
    with pytest.raises(TableTransactionError) as refused:
        table.submit_transaction([("create", entity(partition, f"{row:03}")) for row in range(101)])
    text = "99:The batch request operation exceeds the maximum 100 changes per change set."
    assert told(refused.value) == (400, "InvalidInput", 99, text)
    assert stored(table, partition) == {}


def test_no_operation_is_a_transaction_too(table: TableClient) -> None:
    assert table.submit_transaction([]) == []


def test_a_failed_operation_undoes_the_others_and_is_named(table: TableClient, partition: str) -> None:
    table.create_entity(entity(partition, "old", A=1))
    operations: list[Operation] = [
        ("upsert", entity(partition, "other", A=2)),
        ("create", entity(partition, "new", A=2)),
        ("create", entity(partition, "old", A=2)),
        ("create", entity(partition, "never", A=2)),
    ]
    with pytest.raises(TableTransactionError) as refused:
        table.submit_transaction(operations)
    assert told(refused.value) == (409, "EntityAlreadyExists", 2, "2:The specified entity already exists.")
    assert stored(table, partition) == {"old": 1}


@pytest.mark.parametrize("operation", ["update", "delete"])
def test_a_missing_entity_fails_the_transaction(table: TableClient, partition: str, operation: str) -> None:
    with pytest.raises(TableTransactionError) as refused:
        table.submit_transaction([("create", entity(partition, "new")), (operation, entity(partition, "missing"))])
    assert told(refused.value) == (404, "ResourceNotFound", 1, "1:The specified resource does not exist.")
    assert stored(table, partition) == {}


@pytest.mark.parametrize("operation", ["update", "delete"])
def test_a_stale_etag_fails_the_transaction(table: TableClient, partition: str, operation: str) -> None:
    stale = table.create_entity(entity(partition, "r", A=1))["etag"]
    table.upsert_entity(entity(partition, "r", A=2))
    condition = {"etag": stale, "match_condition": MatchConditions.IfNotModified}
    with pytest.raises(TableTransactionError) as refused:
        table.submit_transaction(
            [("create", entity(partition, "new")), (operation, entity(partition, "r", A=3), condition)]
        )
    text = "1:The update condition specified in the request was not satisfied."
    assert told(refused.value) == (412, "UpdateConditionNotSatisfied", 1, text)
    assert stored(table, partition) == {"r": 2}


def test_a_matching_etag_is_accepted(table: TableClient, partition: str) -> None:
    etags = {row: table.create_entity(entity(partition, row, A=1))["etag"] for row in ("merge", "replace", "delete")}
    conditions = {row: {"etag": etag, "match_condition": MatchConditions.IfNotModified} for row, etag in etags.items()}
    operations: list[Operation] = [
        ("update", entity(partition, "merge", A=2), conditions["merge"]),
        ("update", entity(partition, "replace", A=2), {**conditions["replace"], "mode": UpdateMode.REPLACE}),
        ("delete", entity(partition, "delete"), conditions["delete"]),
    ]
    table.submit_transaction(operations)
    assert stored(table, partition) == {"merge": 2, "replace": 2}


def test_the_only_operations_failure_has_no_number(table: TableClient, partition: str) -> None:
    """The service numbers failures of two operations and more; recorded 14 of 14 times."""
    with pytest.raises(TableTransactionError) as refused:
        table.submit_transaction([("delete", entity(partition, "missing"))])
    assert told(refused.value) == (404, "ResourceNotFound", 0, "The specified resource does not exist.")


def test_an_entity_twice_is_refused(table: TableClient, partition: str) -> None:
    with pytest.raises(TableTransactionError) as refused:
        table.submit_transaction(
            [("upsert", entity(partition, "a")), ("upsert", entity(partition, "b")), ("delete", entity(partition, "a"))]
        )
    text = (
        "2:The batch request contains multiple changes with same row key. "
        "An entity can appear only once in a batch request."
    )
    assert told(refused.value) == (400, "InvalidDuplicateRow", 2, text)
    assert stored(table, partition) == {}


def test_the_client_keeps_to_one_partition(table: TableClient, partition: str) -> None:
    with pytest.raises(ValueError, match="Partition Keys in the batch must all be the same"):
        table.submit_transaction([("create", entity(partition, "a")), ("create", entity(partition + "x", "b"))])
    assert stored(table, partition) == {}


def test_a_missing_table_fails_the_transaction(service: TableServiceClient, table_name: str) -> None:
    table = service.get_table_client(table_name)
    with pytest.raises(TableTransactionError) as refused:
        table.submit_transaction([("upsert", entity("p", "a")), ("upsert", entity("p", "b"))])
    assert told(refused.value) == (404, "TableNotFound", 0, "0:The table specified does not exist.")


def test_an_invalid_entity_fails_the_transaction(table: TableClient, partition: str) -> None:
    with pytest.raises(TableTransactionError) as refused:
        table.submit_transaction(
            [("create", entity(partition, "a")), ("create", entity(partition, "b", A="x" * 32769))]
        )
    assert told(refused.value)[:3] == (400, "PropertyValueTooLarge", 1)
    assert stored(table, partition) == {}


def test_more_than_4_mebibytes_are_refused(table: TableClient, partition: str) -> None:
    large = b"x" * 64 * 1024
    with pytest.raises(RequestTooLargeError):
        table.submit_transaction([("create", entity(partition, f"{row:02}", A=large)) for row in range(60)])
    assert stored(table, partition) == {}


def test_keys_and_values_of_any_script(table: TableClient, partition: str) -> None:
    row_keys = ["", "O'Neil", "100%", "a b+c", "啊齄丂狛狜", "😀", "--changeset_", '"(),;:@&=$']
    table.submit_transaction([("upsert", entity(partition, row_key, A=f"{row_key}\r\n--")) for row_key in row_keys])
    assert stored(table, partition) == {row_key: f"{row_key}\r\n--" for row_key in row_keys}
    table.submit_transaction([("delete", entity(partition, row_key)) for row_key in row_keys])
    assert stored(table, partition) == {}


def test_an_empty_partition_key(service: TableServiceClient, table_name: str) -> None:
    table = service.create_table(table_name)
    table.submit_transaction([("create", entity("", "", A=1)), ("create", entity("", "r", A=2))])
    assert stored(table, "") == {"": 1, "r": 2}
    table.submit_transaction([("delete", entity("", "")), ("update", entity("", "r", A=3))])
    assert stored(table, "") == {"r": 3}


def test_readers_see_a_transaction_whole_or_not_at_all(table: TableClient, partition: str) -> None:
    """A writer sets all entities to one number, again and again; no reader ever finds two numbers."""

    def write(number: int) -> None:
        table.submit_transaction([("upsert", entity(partition, f"{row}", A=number)) for row in range(10)])

    write(0)
    with ThreadPoolExecutor(1) as writer:
        written = [writer.submit(write, number) for number in range(1, 40)]
        while not written[-1].done():
            assert len(set(stored(table, partition).values())) == 1
        for outcome in written:
            outcome.result()


def test_a_refused_transaction_leaves_the_connection_usable(table: TableClient, partition: str) -> None:
    for _ in range(3):
        with pytest.raises(TableTransactionError):
            table.submit_transaction([("delete", entity(partition, "missing"))])
        with pytest.raises(ResourceNotFoundError):
            table.get_entity(partition, "missing")
    table.submit_transaction([("create", entity(partition, "r", A=1))])
    assert stored(table, partition) == {"r": 1}
