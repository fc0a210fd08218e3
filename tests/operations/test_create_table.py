"""Create Table: POST /Tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import (
    DuplicatePropertiesSpecified,
    InvalidInput,
    InvalidResourceName,
    JsonFormatNotSupported,
    MediaTypeNotSupported,
    PropertiesNeedValue,
    ResourceNameOutOfRange,
)
from rowkey.operations.create_table import CreateTable
from rowkey.wire.media import Format

if TYPE_CHECKING:
    from rowkey.errors import ServiceError
    from tests.operations.conftest import Client

BASE = "http://127.0.0.1:10002/devstoreaccount1"
NO_CONTENT = {"Prefer": "return-no-content"}


class TestDecode:
    @pytest.mark.parametrize(
        ("headers", "preference", "level"),
        [
            ({}, None, Format.MINIMAL_METADATA),
            ({"Accept": "application/json;odata=fullmetadata"}, None, Format.FULL_METADATA),
            ({"Accept": "application/json;odata=nometadata"}, None, Format.NO_METADATA),
            ({"Accept": "*/*"}, None, Format.MINIMAL_METADATA),
            ({"x-ms-version": "2014-02-14", "Accept": "*/*"}, None, Format.ATOM),
            ({"x-ms-version": "2014-02-14", "Accept": None}, None, Format.ATOM),
            ({"Prefer": "return-content"}, "return-content", Format.MINIMAL_METADATA),
            (NO_CONTENT, "return-no-content", None),
            ({**NO_CONTENT, "Accept": None}, "return-no-content", None),
            ({**NO_CONTENT, "Accept": "text/html"}, "return-no-content", None),
        ],
    )
    def test_what_is_returned(
        self, client: Client, headers: dict[str, str | None], preference: str | None, level: Format | None
    ) -> None:
        expected = CreateTable("Orders", preference, level)
        assert client.decode("POST", "/Tables", {"TableName": "Orders"}, headers) == expected

    @pytest.mark.parametrize("path", ["/Tables", "/Tables()", "/Tables/", "/tables", "/Tables?timeout=30"])
    def test_every_address(self, client: Client, path: str) -> None:
        assert client.decode("POST", path, {"TableName": "abc"}) == CreateTable("abc", None, Format.MINIMAL_METADATA)

    @pytest.mark.parametrize("name", ["abc", "A" * 63, "a1B2c3", "CamelCase", "table", "Tables1"])
    def test_names_that_tables_may_have(self, client: Client, name: str) -> None:
        assert client.decode("POST", "/Tables", {"TableName": name}, NO_CONTENT) == CreateTable(
            name, "return-no-content", None
        )

    @pytest.mark.parametrize(
        ("body", "error"),
        [
            (b"", InvalidInput),
            (b"[]", InvalidInput),
            (b"{", InvalidInput),
            ({}, PropertiesNeedValue),
            ({"TableName": None}, PropertiesNeedValue),
            ({"tablename": "abc"}, PropertiesNeedValue),
            ({"TableName": 1}, InvalidInput),
            (b'{"TableName":"abc","TableName":"abc"}', DuplicatePropertiesSpecified),
            ({"TableName": "ab"}, ResourceNameOutOfRange),
            ({"TableName": "a" * 64}, ResourceNameOutOfRange),
            ({"TableName": "1abc"}, InvalidResourceName),
            ({"TableName": "ab-cd"}, InvalidResourceName),
            ({"TableName": "ab_cd"}, InvalidResourceName),
            ({"TableName": "啊齄丂"}, InvalidResourceName),
            ({"TableName": "tables"}, InvalidResourceName),
            ({"TableName": "Tables"}, InvalidResourceName),
        ],
    )
    def test_bodies_that_are_refused(self, client: Client, body: object, error: type[ServiceError]) -> None:
        with pytest.raises(error) as caught:
            client.decode("POST", "/Tables", body)
        assert type(caught.value) is error

    @pytest.mark.parametrize(
        ("headers", "error"),
        [
            ({"Content-Type": "text/plain"}, MediaTypeNotSupported),
            ({"Accept": "text/html"}, MediaTypeNotSupported),
            ({"x-ms-version": "2012-02-12", **NO_CONTENT}, JsonFormatNotSupported),
        ],
    )
    def test_headers_that_are_refused(self, client: Client, headers: dict[str, str], error: type[ServiceError]) -> None:
        with pytest.raises(error):
            client.decode("POST", "/Tables", {"TableName": "abc"}, headers)


class TestRun:
    async def test_new_table_is_returned(self, client: Client) -> None:
        response = await client.ask("POST", "/Tables", {"TableName": "Orders"})
        assert response.status == 201
        assert response.header("Location") == f"{BASE}/Tables('Orders')"
        assert response.header("Cache-Control") == "no-cache"
        assert response.header("X-Content-Type-Options") == "nosniff"
        assert response.header("x-ms-version") == "2019-02-02"
        content_type = "application/json;odata=minimalmetadata;streaming=true;charset=utf-8"
        assert response.header("Content-Type") == content_type
        for absent in ("ETag", "DataServiceId", "Preference-Applied", "DataServiceVersion", "x-ms-error-code"):
            assert response.header(absent) is None
        expected = f'{{"odata.metadata":"{BASE}/$metadata#Tables/@Element","TableName":"Orders"}}'
        assert response.body == expected.encode()

    async def test_full_metadata(self, client: Client) -> None:
        headers = {"Accept": "application/json;odata=fullmetadata"}
        response = await client.ask("POST", "/Tables", {"TableName": "Orders"}, headers)
        assert response.body.decode() == (
            f'{{"odata.metadata":"{BASE}/$metadata#Tables/@Element","odata.type":"devstoreaccount1.Tables",'
            f'"odata.id":"{BASE}/Tables(\'Orders\')","odata.editLink":"Tables(\'Orders\')","TableName":"Orders"}}'
        )

    async def test_no_metadata(self, client: Client) -> None:
        headers = {"Accept": "application/json;odata=nometadata"}
        response = await client.ask("POST", "/Tables", {"TableName": "Orders"}, headers)
        assert response.body == b'{"TableName":"Orders"}'

    async def test_new_table_is_not_returned_where_that_is_preferred(self, client: Client) -> None:
        response = await client.ask("POST", "/Tables", {"TableName": "Orders"}, NO_CONTENT)
        assert (response.status, response.body) == (204, b"")
        url = f"{BASE}/Tables('Orders')"
        assert (response.header("Location"), response.header("DataServiceId")) == (url, url)
        assert response.header("Preference-Applied") == "return-no-content"
        assert response.header("Content-Type") is None

    async def test_preference_for_content_is_confirmed(self, client: Client) -> None:
        response = await client.ask("POST", "/Tables", {"TableName": "Orders"}, {"Prefer": "return-content"})
        assert (response.status, response.header("Preference-Applied")) == (201, "return-content")

    @pytest.mark.parametrize("name", ["Orders", "orders", "ORDERS"])
    async def test_name_is_taken_in_any_letter_case(self, orders: Client, name: str) -> None:
        assert await orders.refused("POST", "/Tables", {"TableName": name}) == (
            409,
            "TableAlreadyExists",
            "The table specified already exists.",
        )

    async def test_conflict_keeps_the_preference(self, orders: Client) -> None:
        """Recorded: an error of a POST says Preference-Applied too."""
        response = await orders.ask("POST", "/Tables", {"TableName": "Orders"}, NO_CONTENT)
        assert response.status == 409
        assert response.header("Preference-Applied") == "return-no-content"
        assert response.header("x-ms-error-code") is None

    async def test_bad_name_in_the_words_of_the_service(self, client: Client) -> None:
        assert await client.refused("POST", "/Tables", {"TableName": "a-b-c"}) == (
            400,
            "InvalidResourceName",
            "The specifed resource name contains invalid characters.",
        )

    async def test_bad_length_in_the_words_of_the_service(self, client: Client) -> None:
        assert await client.refused("POST", "/Tables", {"TableName": "ab"}) == (
            400,
            "OutOfRangeInput",
            "The specified resource name length is not within the permissible limits.",
        )

    async def test_deleted_name_is_free_at_once(self, orders: Client) -> None:
        await orders.ask("DELETE", "/Tables('Orders')")
        assert (await orders.ask("POST", "/Tables", {"TableName": "orders"})).status == 201
        assert (await orders.ask("GET", "/Tables")).body.endswith(b'"value":[{"TableName":"orders"}]}')

    async def test_atom(self, client: Client) -> None:
        response = await client.ask_in_atom("POST", "/Tables", "<d:TableName>Orders</d:TableName>")
        assert response.status == 201
        assert response.header("Content-Type") == "application/atom+xml;charset=utf-8"
        assert response.header("Location") == f"{BASE}/Tables('Orders')"
        assert f"<id>{BASE}/Tables('Orders')</id>".encode() in response.body
        assert b"<d:TableName>Orders</d:TableName>" in response.body

    @pytest.mark.parametrize(
        ("properties", "code"),
        [
            ("", "PropertiesNeedValue"),
            ("<d:TableName />", "PropertiesNeedValue"),
            ('<d:TableName m:null="true" />', "PropertiesNeedValue"),
            ("<d:TableName>a</d:TableName><d:TableName>b</d:TableName>", "DuplicatePropertiesSpecified"),
            ("<d:TableName>", "InvalidInput"),
        ],
    )
    async def test_atom_that_is_refused(self, client: Client, properties: str, code: str) -> None:
        response = await client.ask_in_atom("POST", "/Tables", properties)
        assert (response.status, response.header("Content-Type")) == (400, "application/xml;charset=utf-8")
        assert f"<code>{code}</code>".encode() in response.body
