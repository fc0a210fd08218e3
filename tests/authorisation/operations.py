"""Operations, alone and in a batch: a request for each, and the right that it needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.model.rights import Right
from rowkey.wire.request import Request
from tests.requests import ACCOUNT, BATCH_TYPE, HOST, write_batch

if TYPE_CHECKING:
    from collections.abc import Mapping

MODERN = "2019-02-02"
MODERN_ACCEPT = "application/json;odata=minimalmetadata"
PEER = "127.0.0.1:50123"


@dataclass(frozen=True)
class Operation:
    """A request for one operation, the right that it needs, and the status of its success."""

    method: str
    path: str
    right: Right
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    inner: Operation | None = None
    """What a batch holds."""


ENTITY = "/Orders(PartitionKey='p',RowKey='r')"
NEW_ENTITY = "/Orders(PartitionKey='p',RowKey='n')"
JSON = {"content-type": "application/json"}
XML = {"content-type": "application/xml", "accept": "application/xml"}
ANY = {"if-match": "*"}
PROPERTIES = b'{"Name":"x"}'
POLICIES = b"<SignedIdentifiers><SignedIdentifier><Id>x</Id></SignedIdentifier></SignedIdentifiers>"
SERVICE_PROPERTIES = b"<StorageServiceProperties><Cors /></StorageServiceProperties>"

ON_ENTITIES = {
    "Query Entities": Operation("GET", "/Orders()", Right.QUERY, 200),
    "Get Entity": Operation("GET", ENTITY, Right.QUERY, 200),
    "Insert Entity": Operation(
        "POST", "/Orders", Right.INSERT, 201, b'{"PartitionKey":"p","RowKey":"n","Name":"x"}', JSON
    ),
    "Update Entity": Operation("PUT", ENTITY, Right.CHANGE, 204, PROPERTIES, {**JSON, **ANY}),
    "Merge Entity": Operation("MERGE", ENTITY, Right.CHANGE, 204, PROPERTIES, {**JSON, **ANY}),
    "Merge Entity (PATCH)": Operation("PATCH", ENTITY, Right.CHANGE, 204, PROPERTIES, {**JSON, **ANY}),
    "Insert Or Replace Entity": Operation("PUT", NEW_ENTITY, Right.UPSERT, 204, PROPERTIES, JSON),
    "Insert Or Merge Entity": Operation("PATCH", NEW_ENTITY, Right.UPSERT, 204, PROPERTIES, JSON),
    "Insert Or Merge Entity (there)": Operation("MERGE", ENTITY, Right.UPSERT, 204, PROPERTIES, JSON),
    "Delete Entity": Operation("DELETE", ENTITY, Right.DELETE, 204, headers=ANY),
}
ON_OTHERS = {
    "Query Tables": Operation("GET", "/Tables", Right.LIST_TABLES, 200),
    "Get Table": Operation("GET", "/Tables('Orders')", Right.LIST_TABLES, 200),
    "Create Table": Operation("POST", "/Tables", Right.CREATE_TABLE, 201, b'{"TableName":"Fresh"}', JSON),
    "Delete Table": Operation("DELETE", "/Tables('Orders')", Right.DELETE_TABLE, 204),
    "Get Table ACL": Operation("GET", "/Orders?comp=acl", Right.ACCESS_POLICIES, 200),
    "Set Table ACL": Operation("PUT", "/Orders?comp=acl", Right.ACCESS_POLICIES, 204, POLICIES, XML),
    "Get Service Properties": Operation("GET", "/?restype=service&comp=properties", Right.READ_SERVICE, 200),
    "Set Service Properties": Operation(
        "PUT", "/?restype=service&comp=properties", Right.WRITE_SERVICE, 202, SERVICE_PROPERTIES, XML
    ),
    "Get Service Stats": Operation("GET", "/?restype=service&comp=stats", Right.READ_SERVICE, 200),
}

ENTITY_RIGHTS = frozenset({Right.QUERY, Right.INSERT, Right.CHANGE, Right.UPSERT, Right.DELETE})


def in_batch(operation: Operation, *more: Operation) -> Operation:
    """The operation as the only one of a batch, or with others after it in its change set."""
    requests = [
        Request(
            part.method, f"/{ACCOUNT}{part.path}", {"host": HOST, "accept": MODERN_ACCEPT, **part.headers}, part.body
        )
        for part in (operation, *more)
    ]
    return Operation(
        "POST", "/$batch", operation.right, 202, write_batch(requests), {"content-type": BATCH_TYPE}, operation
    )


BATCHES = {f"batch of {name}": in_batch(operation) for name, operation in ON_ENTITIES.items()}
OPERATIONS = ON_ENTITIES | BATCHES | ON_OTHERS


def request_for(operation: Operation, version: str = MODERN) -> Request:
    """The request, not yet signed."""
    headers = {"host": HOST, "x-ms-version": version, "accept": MODERN_ACCEPT, **operation.headers}
    return Request(operation.method, f"/{ACCOUNT}{operation.path}", headers, operation.body, peer=PEER)
