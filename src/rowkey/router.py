"""The table of contents: every REST operation, one line each."""

from typing import NamedTuple

from rowkey.errors import (
    InvalidHttpVerb,
    MediaTypeNotSupported,
    MethodNotAllowed,
    UnsupportedHttpVerb,
)
from rowkey.operations.add_index import AddIndex
from rowkey.operations.create_table import CreateTable
from rowkey.operations.delete_entity import DeleteEntity
from rowkey.operations.delete_table import DeleteTable
from rowkey.operations.drop_index import DropIndex
from rowkey.operations.entity_group_transaction import EntityGroupTransaction
from rowkey.operations.get_entity import GetEntity
from rowkey.operations.get_metadata import GetMetadata
from rowkey.operations.get_service_document import GetServiceDocument
from rowkey.operations.get_table import GetTable
from rowkey.operations.get_table_acl import GetTableACL
from rowkey.operations.get_table_service_properties import GetTableServiceProperties
from rowkey.operations.get_table_service_stats import GetTableServiceStats
from rowkey.operations.insert_entity import InsertEntity
from rowkey.operations.insert_or_merge_entity import InsertOrMergeEntity
from rowkey.operations.insert_or_replace_entity import InsertOrReplaceEntity
from rowkey.operations.list_indexes import ListIndexes
from rowkey.operations.merge_entity import MergeEntity
from rowkey.operations.operation import Operation
from rowkey.operations.preflight_table_request import PreflightTableRequest
from rowkey.operations.query_entities import QueryEntities
from rowkey.operations.query_tables import QueryTables
from rowkey.operations.set_table_acl import SetTableACL
from rowkey.operations.set_table_service_properties import SetTableServiceProperties
from rowkey.operations.table_below_table import TableBelowTable
from rowkey.operations.update_entity import UpdateEntity
from rowkey.wire.call import Call
from rowkey.wire.target import ResourceKind


class Route(NamedTuple):
    """`has_if_match` is None where the header does not choose the operation."""

    method: str
    kind: ResourceKind
    has_if_match: bool | None
    operation: type[Operation]


ROUTES = (
    Route("GET", ResourceKind.TABLES, None, QueryTables),
    Route("POST", ResourceKind.TABLES, None, CreateTable),
    Route("GET", ResourceKind.TABLE, None, GetTable),
    Route("DELETE", ResourceKind.TABLE, None, DeleteTable),
    Route("GET", ResourceKind.ENTITIES, None, QueryEntities),
    Route("POST", ResourceKind.ENTITIES, None, InsertEntity),
    Route("GET", ResourceKind.ENTITY, None, GetEntity),
    Route("PUT", ResourceKind.ENTITY, True, UpdateEntity),
    Route("PUT", ResourceKind.ENTITY, False, InsertOrReplaceEntity),
    Route("MERGE", ResourceKind.ENTITY, True, MergeEntity),
    Route("MERGE", ResourceKind.ENTITY, False, InsertOrMergeEntity),
    Route("PATCH", ResourceKind.ENTITY, True, MergeEntity),
    Route("PATCH", ResourceKind.ENTITY, False, InsertOrMergeEntity),
    Route("DELETE", ResourceKind.ENTITY, None, DeleteEntity),
    Route("POST", ResourceKind.BATCH, None, EntityGroupTransaction),
    Route("POST", ResourceKind.TABLES_BELOW_TABLE, None, TableBelowTable),
    Route("GET", ResourceKind.KEYS_BELOW_TABLE, None, TableBelowTable),
    Route("DELETE", ResourceKind.KEYS_BELOW_TABLE, None, TableBelowTable),
    Route("GET", ResourceKind.SERVICE, None, GetServiceDocument),
    Route("GET", ResourceKind.METADATA, None, GetMetadata),
    Route("GET", ResourceKind.TABLE_ACL, None, GetTableACL),
    Route("PUT", ResourceKind.TABLE_ACL, None, SetTableACL),
    Route("GET", ResourceKind.SERVICE_PROPERTIES, None, GetTableServiceProperties),
    Route("PUT", ResourceKind.SERVICE_PROPERTIES, None, SetTableServiceProperties),
    Route("GET", ResourceKind.SERVICE_STATS, None, GetTableServiceStats),
    Route("OPTIONS", ResourceKind.SERVICE, None, PreflightTableRequest),
)

OWN_ROUTES = (
    Route("GET", ResourceKind.TABLE_INDEXES, None, ListIndexes),
    Route("PUT", ResourceKind.TABLE_INDEXES, None, AddIndex),
    Route("DELETE", ResourceKind.TABLE_INDEXES, None, DropIndex),
)
"""Additions of Rowkey's own, at addresses that mean nothing to the service."""

_INDEX = {
    (route.method, route.kind, has_if_match): route.operation
    for route in ROUTES + OWN_ROUTES
    for has_if_match in ((True, False) if route.has_if_match is None else (route.has_if_match,))
}
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "MERGE", "DELETE", "OPTIONS"})
_PARTS = frozenset(
    {
        ResourceKind.SERVICE_PROPERTIES,
        ResourceKind.SERVICE_STATS,
        ResourceKind.TABLE_ACL,
        ResourceKind.TABLE_INDEXES,
    }
)
READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def route(call: Call) -> type[Operation]:
    """The operation that a call asks for; HEAD is answered as GET without the body.

    Raises MethodNotAllowed, UnsupportedHttpVerb, InvalidHttpVerb, and for a batch below a table the error that clients
    compare word by word.
    """
    kind = call.resource.kind
    method = "GET" if call.method == "HEAD" else call.method
    operation = _INDEX.get((method, kind, "if-match" in call.request.headers))
    if operation is not None:
        if call.resource.table.startswith("$") and method != "GET":
            raise MethodNotAllowed  # what the service writes about itself is only to be read
        return operation
    if method not in _METHODS:
        raise InvalidHttpVerb
    if kind is ResourceKind.BATCH_BELOW_TABLE:
        raise MediaTypeNotSupported
    if kind in _PARTS:
        raise UnsupportedHttpVerb
    raise MethodNotAllowed
