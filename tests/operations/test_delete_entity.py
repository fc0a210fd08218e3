"""Delete Entity: DELETE /Table(PartitionKey='p',RowKey='r') with If-Match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import InvalidETag, InvalidInput, KeyValueTooLarge, MissingRequiredHeader, OutOfRangeInput
from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.operations.delete_entity import DeleteEntity

if TYPE_CHECKING:
    from rowkey.errors import ServiceError
    from tests.operations.conftest import Client

ENTITY = "/Orders(PartitionKey='eu',RowKey='1')"
ETAG = "W/\"datetime'2026-08-03T10%3A15%3A31.1234567Z'\""
OLD_ETAG = "W/\"datetime'2012-05-04T10%3A00%3A00Z'\""
ANY = {"If-Match": "*"}


class TestDecode:
    @pytest.mark.parametrize(
        ("etag", "condition"),
        [
            ("*", Condition.EXISTS),
            (ETAG, parse_datetime("2026-08-03T10:15:31.1234567Z")),
            ('W/"0x5B168C7B6E589D2"', Condition.UNMEETABLE),
        ],
    )
    def test_condition(self, client: Client, etag: str, condition: Condition | int) -> None:
        expected = DeleteEntity("Orders", Write(Mode.DELETE, Key("eu", "1"), {}, condition))
        assert client.decode("DELETE", ENTITY, headers={"If-Match": etag}) == expected

    @pytest.mark.parametrize("content_type", ["application/json", "application/atom+xml", "text/plain", ""])
    def test_content_type_does_not_matter(self, client: Client, content_type: str) -> None:
        """Clients of 2008 sent one without a body."""
        operation = client.decode("DELETE", ENTITY, headers={**ANY, "Content-Type": content_type})
        assert isinstance(operation, DeleteEntity)

    @pytest.mark.parametrize(
        ("path", "headers", "error"),
        [
            (ENTITY, {}, MissingRequiredHeader),
            (ENTITY, {"If-None-Match": "*"}, InvalidInput),
            (ENTITY, {"If-None-Match": "*", **ANY}, InvalidInput),
            (ENTITY, {"If-Match": "nonsense"}, InvalidETag),
            (ENTITY, {"If-Match": f"{ETAG}, {OLD_ETAG}"}, InvalidETag),
            (f"/Orders(PartitionKey='{'k' * 513}',RowKey='')", ANY, KeyValueTooLarge),
            ("/Orders(PartitionKey='',RowKey='%23')", ANY, OutOfRangeInput),
        ],
    )
    def test_refusals(self, client: Client, path: str, headers: dict[str, str], error: type[ServiceError]) -> None:
        with pytest.raises(error):
            client.decode("DELETE", path, headers=headers)


class TestRun:
    @pytest.mark.parametrize("etag", ["*", ETAG])
    @pytest.mark.parametrize("headers", [{}, {"Accept": "*/*"}, {"Accept": None}, {"Prefer": "return-no-content"}])
    async def test_entity_is_gone(self, orders: Client, etag: str, headers: dict[str, str | None]) -> None:
        """Recorded: no ETag, and no Preference-Applied even when Prefer was sent (50 of 50)."""
        await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": "1"})
        response = await orders.ask("DELETE", ENTITY, headers={"If-Match": etag, **headers})
        assert (response.status, response.body) == (204, b"")
        assert response.header("ETag") is None
        assert response.header("Preference-Applied") is None
        assert (await orders.ask("GET", ENTITY)).status == 404

    @pytest.mark.parametrize("etag", ["*", ETAG])
    async def test_missing_entity(self, orders: Client, etag: str) -> None:
        assert await orders.refused("DELETE", ENTITY, headers={"If-Match": etag}) == (
            404,
            "ResourceNotFound",
            "The specified resource does not exist.",
        )

    async def test_other_etag_is_refused_and_nothing_is_deleted(self, orders: Client) -> None:
        await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": "1"})
        assert await orders.refused("DELETE", ENTITY, headers={"If-Match": OLD_ETAG}) == (
            412,
            "UpdateConditionNotSatisfied",
            "The update condition specified in the request was not satisfied.",
        )
        assert (await orders.ask("GET", ENTITY)).status == 200

    async def test_missing_condition(self, orders: Client) -> None:
        assert await orders.refused("DELETE", ENTITY) == (
            400,
            "MissingRequiredHeader",
            "An HTTP header that's mandatory for this request is not specified.",
        )

    async def test_if_none_match(self, orders: Client) -> None:
        assert await orders.refused("DELETE", ENTITY, headers={"If-None-Match": "*"}) == (
            400,
            "InvalidInput",
            "If-None-Match HTTP header cannot be specified for DELETE operations.",
        )

    async def test_missing_table(self, orders: Client) -> None:
        refusal = await orders.refused("DELETE", ENTITY.replace("Orders", "Nowhere"), headers=ANY)
        assert refusal == (404, "TableNotFound", "The table specified does not exist.")

    async def test_etag_does_not_return_with_the_keys(self, orders: Client) -> None:
        """The clock stands still here; a new entity must not have the ETag of the one that was deleted."""
        body = {"PartitionKey": "eu", "RowKey": "1"}
        first = (await orders.ask("POST", "/Orders", body)).header("ETag")
        await orders.ask("DELETE", ENTITY, headers=ANY)
        second = (await orders.ask("POST", "/Orders", body)).header("ETag")
        assert first != second

    async def test_error_of_a_deletion_with_any_accept_is_xml(self, orders: Client) -> None:
        response = await orders.ask("DELETE", ENTITY, headers={**ANY, "Accept": "*/*"})
        assert response.header("Content-Type") == "application/xml;charset=utf-8"
