"""Every operation: a request for it, and what its success is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rowkey.wire.request import Request
from tests.every_operation.answers import (
    Check,
    allows_the_origin,
    has_in_xml,
    leaves,
    leaves_in_xml,
    names_the_collection_of_tables,
    names_the_table,
    shows,
    shows_parts,
)
from tests.every_operation.formats import IN_XML, IN_XML_OF_ATOM, JSON, NO_BODY, ODATA, Payload
from tests.every_operation.service import KEY, SERVICE_PROPERTIES, SIGNED_IDENTIFIERS, make_request
from tests.requests import ACCOUNT, BATCH_TYPE, write_batch

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Operation:
    """A request for one operation, with the properties in its body, and what its success is."""

    name: str
    method: str
    path: str
    status: int
    check: Check
    body: Mapping[str, str] | str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    payloads: tuple[Payload, ...] = ODATA
    is_on_entities: bool = False
    variant: str = ""
    host: str = ACCOUNT
    """The account in the path, where it is that of the secondary."""

    def request(self, payload: Payload) -> Request:
        """The request in one format, without credentials."""
        body = self.body.encode() if isinstance(self.body, str) else payload.write(self.body)
        request = make_request(self.method, f"/{self.host}{self.path}", payload, body)
        return replace(request, headers={**request.headers, **self.headers})


@dataclass(frozen=True)
class Batch(Operation):
    """An entity group transaction of other operations."""

    parts: tuple[Operation, ...] = ()

    def request(self, payload: Payload) -> Request:
        """The batch, with all of its parts in one format."""
        body = write_batch([part.request(payload) for part in self.parts])
        request = make_request(self.method, f"/{ACCOUNT}{self.path}", payload, body)
        return replace(request, headers=request.headers | {"content-type": BATCH_TYPE})


NEW_KEY = {"PartitionKey": "p", "RowKey": "new"}
ENTITY, NEW_ENTITY = "/Orders(PartitionKey='p',RowKey='r')", "/Orders(PartitionKey='p',RowKey='new')"
CHANGE = {"Name": "Ben"}
ANY = {"if-match": "*"}
PREFLIGHT = {"origin": "http://contoso.example", "access-control-request-method": "GET"}


def on_entities(name: str, method: str, path: str, status: int, check: Check, **more: object) -> Operation:
    """An operation that a signature for a table can be granted."""
    return Operation(name, method, path, status, check, is_on_entities=True, **more)  # type: ignore[arg-type]


WHOLE, CHANGED = {**KEY, "Name": "Ada", "City": "Ur"}, {**KEY, **CHANGE}
GET_ENTITY = on_entities("Get Entity", "GET", ENTITY, 200, shows(WHOLE))
INSERT = on_entities("Insert Entity", "POST", "/Orders", 201, shows({**NEW_KEY, **CHANGE}), body={**NEW_KEY, **CHANGE})
UPDATE = on_entities("Update Entity", "PUT", ENTITY, 204, leaves(ENTITY, CHANGED), body=CHANGE, headers=ANY)
BATCH = Batch("Entity Group Transaction", "POST", "/$batch", 202, shows_parts(), is_on_entities=True)
OPERATIONS = (
    Operation("Query Tables", "GET", "/Tables", 200, shows({"TableName": "Orders"})),
    Operation("Create Table", "POST", "/Tables", 201, shows({"TableName": "New"}), body={"TableName": "New"}),
    Operation("Get Table", "GET", "/Tables('Orders')", 200, shows({"TableName": "Orders"})),
    Operation("Delete Table", "DELETE", "/Tables('Orders')", 204, leaves("/Tables('Orders')", None)),
    on_entities("Query Entities", "GET", "/Orders()", 200, shows(WHOLE)),
    GET_ENTITY,
    INSERT,
    UPDATE,
    *(
        on_entities(
            *("Merge Entity", method, ENTITY, 204, leaves(ENTITY, WHOLE | CHANGE)),
            body=CHANGE,
            headers=ANY,
            variant=method,
        )
        for method in ("MERGE", "PATCH")
    ),
    on_entities(
        "Insert Or Replace Entity", "PUT", NEW_ENTITY, 204, leaves(NEW_ENTITY, {**NEW_KEY, **CHANGE}), body=CHANGE
    ),
    *(
        on_entities(
            *("Insert Or Merge Entity", method, ENTITY, 204, leaves(ENTITY, WHOLE | CHANGE)),
            body=CHANGE,
            variant=method,
        )
        for method in ("MERGE", "PATCH")
    ),
    on_entities("Delete Entity", "DELETE", ENTITY, 204, leaves(ENTITY, None), headers=ANY),
    replace(
        BATCH,
        variant="change set",
        parts=(INSERT, UPDATE),
        check=shows_parts((201, INSERT.check), (204, UPDATE.check)),
    ),
    replace(BATCH, variant="query", parts=(GET_ENTITY,), check=shows_parts((200, GET_ENTITY.check))),
    on_entities(
        *("Table Below Table", "POST", "/Orders/Tables", 400, shows()), body={"TableName": "New"}, variant="POST"
    ),
    *(
        on_entities("Table Below Table", method, "/Orders/Tables('New')", 400, shows(), variant=method)
        for method in ("GET", "DELETE")
    ),
    Operation(
        *("Get Table Service Properties", "GET", "/?restype=service&comp=properties", 200),
        has_in_xml("AllowedOrigins", "*"),
        payloads=(IN_XML,),
    ),
    Operation(
        *("Set Table Service Properties", "PUT", "/?restype=service&comp=properties", 202),
        leaves_in_xml("/?restype=service&comp=properties", "AllowedOrigins", "http://contoso.example"),
        SERVICE_PROPERTIES.format(origin="http://contoso.example"),
        payloads=(IN_XML,),
    ),
    Operation(
        *("Get Table Service Stats", "GET", "/?restype=service&comp=stats", 200),
        has_in_xml("Status", "live"),
        payloads=(IN_XML,),
        host=f"{ACCOUNT}-secondary",
    ),
    Operation(*("Get Table ACL", "GET", "/Orders?comp=acl", 200), has_in_xml("Id", "everything"), payloads=(IN_XML,)),
    Operation(
        *("Set Table ACL", "PUT", "/Orders?comp=acl", 204),
        leaves_in_xml("/Orders?comp=acl", "Id", "readers"),
        SIGNED_IDENTIFIERS.format(name="readers"),
        payloads=(IN_XML,),
    ),
    Operation(
        *("Preflight Table Request", "OPTIONS", "/Orders", 200, allows_the_origin),
        headers=PREFLIGHT,
        payloads=(NO_BODY,),
    ),
    Operation(
        *("Get Service Document", "GET", "/", 200, names_the_collection_of_tables), payloads=(*JSON, IN_XML_OF_ATOM)
    ),
    Operation("Get Metadata", "GET", "/$metadata", 200, names_the_table, payloads=(IN_XML,)),
)
