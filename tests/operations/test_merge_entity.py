"""Merge Entity: MERGE or PATCH /Table(PartitionKey='p',RowKey='r') with If-Match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.operations.merge_entity import MergeEntity

if TYPE_CHECKING:
    from tests.operations.conftest import Client

ENTITY = "/Orders(PartitionKey='eu',RowKey='1')"
KEYS = {"PartitionKey": "eu", "RowKey": "1"}
NO_METADATA = {"Accept": "application/json;odata=nometadata"}
ANY = {"If-Match": "*"}


class TestDecode:
    @pytest.mark.parametrize("verb", ["MERGE", "PATCH"])
    def test_merge(self, client: Client, verb: str) -> None:
        write = Write(Mode.MERGE, Key("eu", "1"), {"A": '"A":1'}, Condition.EXISTS)
        assert client.decode(verb, ENTITY, {"A": 1}, ANY) == MergeEntity("Orders", write, None)

    def test_etag(self, client: Client) -> None:
        headers = {"If-Match": "W/\"datetime'2012-05-04T10%3A00%3A00.12Z'\""}
        write = Write(Mode.MERGE, Key("eu", "1"), {}, parse_datetime("2012-05-04T10:00:00.12Z"))
        assert client.decode("MERGE", ENTITY, {}, headers) == MergeEntity("Orders", write, None)


@pytest.mark.parametrize("verb", ["MERGE", "PATCH"])
class TestRun:
    async def test_what_is_not_sent_stays(self, orders: Client, verb: str) -> None:
        await orders.ask("POST", "/Orders", {**KEYS, "B": 2, "A": 1})
        await orders.ask(verb, ENTITY, {"B": 3, "C": 4}, ANY)
        response = await orders.ask("GET", ENTITY, headers=NO_METADATA)
        assert response.body.endswith(b'"A":1,"B":3,"C":4}')

    async def test_null_keeps_the_stored_value(self, orders: Client, verb: str) -> None:
        await orders.ask("POST", "/Orders", {**KEYS, "A": 1})
        await orders.ask(verb, ENTITY, {"A": None}, ANY)
        assert (await orders.ask("GET", ENTITY, headers=NO_METADATA)).body.endswith(b'"A":1}')

    async def test_type_may_change(self, orders: Client, verb: str) -> None:
        """Recorded: an Int32 became a String."""
        await orders.ask("POST", "/Orders", {**KEYS, "A": 1, "B@odata.type": "Edm.Int64", "B": "5"})
        await orders.ask(verb, ENTITY, {"A": "one", "B": "five"}, ANY)
        assert (await orders.ask("GET", ENTITY)).body.endswith(b'"A":"one","B":"five"}')

    async def test_limits_are_those_of_the_result(self, orders: Client, verb: str) -> None:
        await orders.ask("POST", "/Orders", {**KEYS, **{f"A{number}": 1 for number in range(200)}})
        more = {f"B{number}": 1 for number in range(53)}
        assert (await orders.refused(verb, ENTITY, more, ANY))[1] == "TooManyProperties"
        del more["B0"]
        assert (await orders.ask(verb, ENTITY, more, ANY)).status == 204

    async def test_size_is_that_of_the_result(self, orders: Client, verb: str) -> None:
        big = {f"A{number}": "x" * 32_000 for number in range(16)}
        await orders.ask("POST", "/Orders", {**KEYS, **big})
        assert (await orders.refused(verb, ENTITY, {"B": "x" * 32_000}, ANY))[1] == "EntityTooLarge"

    async def test_merge_with_stale_etag_is_refused_and_changes_nothing(self, orders: Client, verb: str) -> None:
        etag = (await orders.ask("POST", "/Orders", {**KEYS, "A": 1})).header("ETag")
        await orders.ask(verb, ENTITY, {"A": 2}, {"If-Match": etag})
        assert (await orders.ask(verb, ENTITY, {"A": 3}, {"If-Match": etag})).status == 412
        assert (await orders.ask("GET", ENTITY, headers=NO_METADATA)).body.endswith(b'"A":2}')

    async def test_merge_of_nothing_changes_the_etag(self, orders: Client, verb: str) -> None:
        etag = (await orders.ask("POST", "/Orders", KEYS)).header("ETag")
        response = await orders.ask(verb, ENTITY, {}, {"If-Match": etag})
        assert response.status == 204
        assert response.header("ETag") != etag
