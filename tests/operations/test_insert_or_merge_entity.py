"""Insert Or Merge Entity: MERGE or PATCH /Table(PartitionKey='p',RowKey='r') without If-Match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.operations.insert_or_merge_entity import InsertOrMergeEntity

if TYPE_CHECKING:
    from tests.operations.conftest import Client

ENTITY = "/Orders(PartitionKey='eu',RowKey='1')"
NO_METADATA = {"Accept": "application/json;odata=nometadata"}

pytestmark = pytest.mark.parametrize("verb", ["MERGE", "PATCH"])


class TestDecode:
    def test_insert_or_merge(self, client: Client, verb: str) -> None:
        write = Write(Mode.MERGE, Key("eu", "1"), {"A": '"A":1'}, Condition.ANY)
        assert client.decode(verb, ENTITY, {"A": 1}) == InsertOrMergeEntity("Orders", write, None)


class TestRun:
    async def test_new_entity_comes_back_sorted_too(self, orders: Client, verb: str) -> None:
        """Recorded: test_insert_or_merge_entity_with_non_existing_entity."""
        assert (await orders.ask(verb, ENTITY, {"b": 1, "a": 2})).status == 204
        response = await orders.ask("GET", ENTITY, headers=NO_METADATA)
        assert response.body.endswith(b'"a":2,"b":1}')

    async def test_what_is_not_sent_stays(self, orders: Client, verb: str) -> None:
        await orders.ask(verb, ENTITY, {"A": 1, "B": 2})
        await orders.ask(verb, ENTITY, {"B": 3, "C": None})
        assert (await orders.ask("GET", ENTITY, headers=NO_METADATA)).body.endswith(b'"A":1,"B":3}')
