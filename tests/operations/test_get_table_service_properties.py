"""Get Table Service Properties: GET /?restype=service&comp=properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import MissingRequiredHeader
from rowkey.operations.get_table_service_properties import GetTableServiceProperties
from rowkey.payload.service_properties import write_properties
from tests.operations.conftest import ACCOUNT

if TYPE_CHECKING:
    from tests.operations.conftest import Client

PROPERTIES = "/?restype=service&comp=properties"
XML = {"Accept": "application/xml"}

RULES = (
    "<Cors><CorsRule><AllowedMethods>GET</AllowedMethods><AllowedOrigins>https://one.example</AllowedOrigins>"
    "<AllowedHeaders /><ExposedHeaders /><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors>"
)


class TestDecode:
    @pytest.mark.parametrize(
        "path", [PROPERTIES, "?comp=properties&restype=service", "/?comp=Properties&restype=Service"]
    )
    def test_address(self, client: Client, path: str) -> None:
        assert client.decode("GET", path) == GetTableServiceProperties()

    @pytest.mark.parametrize("version", [None, "2009-07-17"])
    def test_versions_without_it(self, client: Client, version: str | None) -> None:
        with pytest.raises(MissingRequiredHeader):
            client.decode("GET", PROPERTIES, headers={"x-ms-version": version})


class TestRun:
    async def test_defaults(self, client: Client) -> None:
        response = await client.ask("GET", PROPERTIES, headers=XML)
        assert response.status == 200
        assert response.header("Content-Type") == "application/xml"
        assert response.header("Cache-Control") is None
        assert response.body == b"\xef\xbb\xbf" + write_properties({}, "2019-02-02").encode()

    @pytest.mark.parametrize("version", ["2019-02-02", "2012-02-12"])
    async def test_what_was_set(self, client: Client, version: str) -> None:
        await client.store.set_properties(ACCOUNT, {"Cors": RULES})
        response = await client.ask("GET", PROPERTIES, headers={**XML, "x-ms-version": version})
        assert response.body == b"\xef\xbb\xbf" + write_properties({"Cors": RULES}, version).encode()
        assert (b"https://one.example" in response.body) is (version == "2019-02-02")

    async def test_accounts_have_their_own(self, client: Client) -> None:
        await client.store.set_properties("another", {"Cors": RULES})
        assert b"one.example" not in (await client.ask("GET", PROPERTIES, headers=XML)).body

    async def test_errors_are_the_front_ends(self, client: Client) -> None:
        response = await client.ask("DELETE", PROPERTIES, headers=XML)
        assert (response.status, response.header("x-ms-error-code")) == (405, "UnsupportedHttpVerb")

    @pytest.mark.parametrize("query", ["comp=properties", "restype=container&comp=properties", "comp=list"])
    async def test_parts_that_the_service_does_not_have(self, client: Client, query: str) -> None:
        response = await client.ask("GET", f"/?{query}", headers=XML)
        assert (response.status, response.header("x-ms-error-code")) == (400, "InvalidQueryParameterValue")
