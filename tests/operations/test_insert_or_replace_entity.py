"""Insert Or Replace Entity: PUT /Table(PartitionKey='p',RowKey='r') without If-Match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.operations.insert_or_replace_entity import InsertOrReplaceEntity

if TYPE_CHECKING:
    from tests.operations.conftest import Client

ENTITY = "/Orders(PartitionKey='eu',RowKey='1')"
NO_METADATA = {"Accept": "application/json;odata=nometadata"}


class TestDecode:
    def test_insert_or_replace(self, client: Client) -> None:
        write = Write(Mode.SET, Key("eu", "1"), {"A": '"A":1'}, Condition.ANY)
        assert client.decode("PUT", ENTITY, {"A": 1}) == InsertOrReplaceEntity("Orders", write, None)


class TestRun:
    async def test_new_entity_is_answered_as_a_replaced_one(self, orders: Client) -> None:
        first = await orders.ask("PUT", ENTITY, {"A": 1})
        second = await orders.ask("PUT", ENTITY, {"A": 2})
        assert (first.status, second.status) == (204, 204)
        assert [name for name, _ in first.headers] == [name for name, _ in second.headers]

    async def test_read_back_sorted_and_escaped(self, orders: Client) -> None:
        body = {
            "PartitionKey": "eu",
            "RowKey": "1",
            "qty": 3,
            "Name": "café",
            "Zone@odata.type": "Edm.Guid",
            "Zone": "C9DA6455-213D-42C9-9A79-3E9149A57833",
        }
        await orders.ask("PUT", ENTITY, body)
        response = await orders.ask("GET", ENTITY, headers=NO_METADATA)
        assert response.body == (
            rb'{"PartitionKey":"eu","RowKey":"1","Timestamp":"2026-08-03T10:15:31.1234567Z",'
            rb'"Name":"caf\u00e9","Zone":"c9da6455-213d-42c9-9a79-3e9149a57833","qty":3}'
        )

    async def test_what_is_not_sent_is_gone(self, orders: Client) -> None:
        await orders.ask("PUT", ENTITY, {"A": 1, "B": 2})
        await orders.ask("PUT", ENTITY, {"B": 3})
        assert (await orders.ask("GET", ENTITY, headers=NO_METADATA)).body.endswith(b'68Z","B":3}')

    async def test_empty_keys(self, orders: Client) -> None:
        """Recorded: both keys may be empty."""
        path = "/Orders(PartitionKey='',RowKey='')"
        assert (await orders.ask("PUT", path, {"A": 1})).status == 204
        assert (await orders.ask("GET", path, headers=NO_METADATA)).body.startswith(b'{"PartitionKey":"","RowKey":"",')
