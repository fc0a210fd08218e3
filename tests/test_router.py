"""The table of contents: which operation each method on each resource is."""

from __future__ import annotations

from typing import NoReturn

import pytest

from rowkey.auth.grants import OWNER
from rowkey.errors import (
    InvalidHttpVerb,
    Layer,
    MediaTypeNotSupported,
    MethodNotAllowed,
)
from rowkey.operations.create_table import CreateTable
from rowkey.operations.delete_entity import DeleteEntity
from rowkey.operations.delete_table import DeleteTable
from rowkey.operations.entity_group_transaction import EntityGroupTransaction
from rowkey.operations.get_entity import GetEntity
from rowkey.operations.get_table import GetTable
from rowkey.operations.insert_entity import InsertEntity
from rowkey.operations.insert_or_merge_entity import InsertOrMergeEntity
from rowkey.operations.insert_or_replace_entity import InsertOrReplaceEntity
from rowkey.operations.merge_entity import MergeEntity
from rowkey.operations.operation import Operation
from rowkey.operations.query_entities import QueryEntities
from rowkey.operations.query_tables import QueryTables
from rowkey.operations.table_below_table import TableBelowTable
from rowkey.operations.update_entity import UpdateEntity
from rowkey.router import OWN_ROUTES, READ_METHODS, ROUTES, route
from rowkey.wire.call import Call
from rowkey.wire.request import Request
from rowkey.wire.target import ResourceKind, read_address, read_options, read_resource
from rowkey.wire.terms import read_terms

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "MERGE", "DELETE", "OPTIONS"]
TABLES, TABLE, ENTITIES, ENTITY = "/Tables", "/Tables('Orders')", "/Orders", "/Orders(PartitionKey='a',RowKey='b')"
BATCH, SERVICE, METADATA = "/$batch", "/", "/$metadata"
IF_MATCH = {"if-match": "*"}

OPERATIONS: dict[tuple[str, str], type[Operation]] = {
    ("GET", TABLES): QueryTables,
    ("HEAD", TABLES): QueryTables,
    ("POST", TABLES): CreateTable,
    ("GET", TABLE): GetTable,
    ("HEAD", TABLE): GetTable,
    ("DELETE", TABLE): DeleteTable,
    ("GET", ENTITIES): QueryEntities,
    ("HEAD", ENTITIES): QueryEntities,
    ("POST", ENTITIES): InsertEntity,
    ("GET", ENTITY): GetEntity,
    ("HEAD", ENTITY): GetEntity,
    ("PUT", ENTITY): InsertOrReplaceEntity,
    ("MERGE", ENTITY): InsertOrMergeEntity,
    ("PATCH", ENTITY): InsertOrMergeEntity,
    ("DELETE", ENTITY): DeleteEntity,
    ("POST", BATCH): EntityGroupTransaction,
}
WITH_IF_MATCH = {
    **OPERATIONS,
    ("PUT", ENTITY): UpdateEntity,
    ("MERGE", ENTITY): MergeEntity,
    ("PATCH", ENTITY): MergeEntity,
}


def call(method: str, path: str, headers: dict[str, str] | None = None) -> Call:
    """A call of this method on a path of an account."""
    request = Request(method, f"/account{path}", {"host": "here", "accept": "application/json", **(headers or {})})
    address = read_address(request, frozenset({"account"}))
    version, wanted = read_terms("2019-02-02", "application/json", None)
    return Call(
        request=request,
        method=method,
        address=address,
        resource=read_resource(address.path),
        options=read_options(address.query),
        version=version,
        grant=OWNER,
        format=wanted,
        request_id="",
        now=0,
        open_part=nothing,
        decode=nothing,
    )


def nothing(*_: object) -> NoReturn:
    raise AssertionError("a router neither opens nor decodes")


@pytest.mark.parametrize("path", [TABLES, TABLE, ENTITIES, ENTITY, BATCH])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("headers", "operations"), [({}, OPERATIONS), (IF_MATCH, WITH_IF_MATCH)])
def test_whole_table(
    method: str, path: str, headers: dict[str, str], operations: dict[tuple[str, str], type[Operation]]
) -> None:
    expected = operations.get((method, path))
    if expected is not None:
        assert route(call(method, path, headers)) is expected
        return
    with pytest.raises(MethodNotAllowed) as caught:
        route(call(method, path, headers))
    assert caught.value.layer is Layer.LIBRARY


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "MERGE", "DELETE"])
@pytest.mark.parametrize("path", [SERVICE, METADATA])
def test_nothing_can_be_written_at_the_root(method: str, path: str) -> None:
    """Recorded for a POST in a batch."""
    with pytest.raises(MethodNotAllowed):
        route(call(method, path))


@pytest.mark.parametrize("path", [TABLES, TABLE, ENTITIES, ENTITY, BATCH, SERVICE])
@pytest.mark.parametrize("method", ["TRACE", "PROPFIND", "get", "", "MERGER"])
def test_unknown_verb(method: str, path: str) -> None:
    with pytest.raises(InvalidHttpVerb):
        route(call(method, path))


def test_batch_of_a_table() -> None:
    """Client suites compare the text."""
    with pytest.raises(MediaTypeNotSupported, match=r"^None of the provided media types are supported$"):
        route(call("POST", "/Orders/$batch"))


def test_table_below_a_table() -> None:
    assert route(call("POST", "/Orders/Tables")) is TableBelowTable
    assert route(call("DELETE", "/Orders/Tables('x')")) is TableBelowTable


def test_each_route_is_its_own() -> None:
    routes = ROUTES + OWN_ROUTES
    keys = [(entry.method, entry.kind, entry.has_if_match) for entry in routes]
    assert len(set(keys)) == len(keys)
    assert {entry.kind for entry in routes} <= set(ResourceKind)


def test_operations_are_named_once() -> None:
    """Every operation is reached by at least one route, all but the merges and the mistaken address by exactly one."""
    operations = [entry.operation for entry in ROUTES]
    twice = {operation for operation in operations if operations.count(operation) > 1}
    assert twice == {MergeEntity, InsertOrMergeEntity, TableBelowTable}


def test_reading_methods_change_nothing() -> None:
    writing = {entry.method for entry in ROUTES} - READ_METHODS
    assert writing == {"POST", "PUT", "MERGE", "PATCH", "DELETE"}
