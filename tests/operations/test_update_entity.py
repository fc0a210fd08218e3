"""Update Entity: PUT /Table(PartitionKey='p',RowKey='r') with If-Match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.operations.update_entity import UpdateEntity

if TYPE_CHECKING:
    from tests.operations.conftest import Client

ENTITY = "/Orders(PartitionKey='eu',RowKey='1')"
NO_METADATA = {"Accept": "application/json;odata=nometadata"}


class TestDecode:
    def test_update(self, client: Client) -> None:
        write = Write(Mode.SET, Key("eu", "1"), {"A": '"A":1'}, Condition.EXISTS)
        assert client.decode("PUT", ENTITY, {"A": 1}, {"If-Match": "*"}) == UpdateEntity("Orders", write, None)

    def test_preference(self, client: Client) -> None:
        operation = client.decode("PUT", ENTITY, {}, {"If-Match": "*", "Prefer": "return-content"})
        assert isinstance(operation, UpdateEntity)
        assert operation.preference == "return-content"


class TestRun:
    async def test_what_is_not_sent_is_gone(self, orders: Client) -> None:
        await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": "1", "A": 1, "B": 2})
        await orders.ask("PUT", ENTITY, {"B": 3}, {"If-Match": "*"})
        response = await orders.ask("GET", ENTITY, headers=NO_METADATA)
        assert response.body == (b'{"PartitionKey":"eu","RowKey":"1","Timestamp":"2026-08-03T10:15:31.1234568Z","B":3}')

    async def test_update_with_the_current_etag(self, orders: Client) -> None:
        etag = (await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": "1"})).header("ETag")
        assert (await orders.ask("PUT", ENTITY, {"B": 3}, {"If-Match": etag})).status == 204

    async def test_second_update_with_the_same_etag_is_refused_and_changes_nothing(self, orders: Client) -> None:
        etag = (await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": "1"})).header("ETag")
        await orders.ask("PUT", ENTITY, {"A": "first"}, {"If-Match": etag})
        assert (await orders.ask("PUT", ENTITY, {"A": "second"}, {"If-Match": etag})).status == 412
        assert (await orders.ask("GET", ENTITY, headers=NO_METADATA)).body.endswith(b'"A":"first"}')

    async def test_update_does_not_create(self, orders: Client) -> None:
        assert (await orders.ask("PUT", ENTITY, {"A": 1}, {"If-Match": "*"})).status == 404
        assert (await orders.ask("GET", ENTITY)).status == 404
