"""What analytics calls the operations."""

from __future__ import annotations

from rowkey.observe.operation_names import OPERATION_NAMES, LogKind, OperationName, name_operation
from rowkey.operations.get_entity import GetEntity
from rowkey.router import ROUTES

# "Storage Analytics logged operations and status messages", those of the Table service.
DOCUMENTED = {
    "EntityGroupTransaction",
    "CreateTable",
    "DeleteTable",
    "DeleteEntity",
    "InsertEntity",
    "InsertOrMergeEntity",
    "InsertOrReplaceEntity",
    "QueryEntity",
    "QueryEntities",
    "QueryTable",
    "QueryTables",
    "UpdateEntity",
    "MergeEntity",
    "SetTableServiceProperties",
    "GetTableServiceProperties",
    "TablePreflightRequest",
}


def test_every_operation_has_a_name() -> None:
    assert {route.operation.__name__ for route in ROUTES} == set(OPERATION_NAMES)


def test_every_documented_name_is_used() -> None:
    assert {name for name, _ in OPERATION_NAMES.values()} >= DOCUMENTED


def test_an_operation_goes_by_the_name_in_the_reference() -> None:
    assert name_operation(GetEntity, "GET") == ("QueryEntity", LogKind.READ)


def test_a_request_that_came_to_no_operation_is_unknown() -> None:
    """And is of the kind that its method tells, so that the log has it or not."""
    assert name_operation(None, "GET") == OperationName("Unknown", LogKind.READ)
    assert name_operation(None, "DELETE") == OperationName("Unknown", LogKind.DELETE)
    assert name_operation(None, "MERGE") == OperationName("Unknown", LogKind.WRITE)
