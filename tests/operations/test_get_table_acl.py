"""Get Table ACL: GET /name?comp=acl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import MissingRequiredHeader
from rowkey.operations.get_table_acl import GetTableACL
from tests.operations.conftest import ACCOUNT

if TYPE_CHECKING:
    from tests.operations.conftest import Client

XML = {"Accept": "application/xml"}
DECLARATION = b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>'


class TestDecode:
    @pytest.mark.parametrize("path", ["/Orders?comp=acl", "/Orders()?comp=ACL&timeout=30", "/%4Frders?comp=acl"])
    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    def test_address(self, client: Client, method: str, path: str) -> None:
        assert client.decode(method, path) == GetTableACL("Orders")

    @pytest.mark.parametrize("version", [None, "2011-08-18"])
    def test_versions_without_it(self, client: Client, version: str | None) -> None:
        with pytest.raises(MissingRequiredHeader):
            client.decode("GET", "/Orders?comp=acl", headers={"x-ms-version": version})

    def test_first_version_with_it(self, client: Client) -> None:
        headers = {"x-ms-version": "2012-02-12", "Accept": None}
        assert client.decode("GET", "/Orders?comp=acl", headers=headers) == GetTableACL("Orders")


class TestRun:
    @pytest.mark.parametrize("accept", ["application/xml", "application/json", "application/atom+xml", "*/*", None])
    async def test_no_policies(self, orders: Client, accept: str | None) -> None:
        """In XML whatever is asked for: PHP asks for JSON, the older JavaScript client for Atom."""
        response = await orders.ask("GET", "/Orders?comp=acl", headers={"Accept": accept})
        assert response.status == 200
        assert response.body == DECLARATION + b"<SignedIdentifiers />"

    async def test_headers_are_the_front_ends(self, orders: Client) -> None:
        response = await orders.ask("GET", "/Orders?comp=acl", headers=XML)
        names = [name for name, _ in response.headers]
        assert names == ["x-ms-request-id", "Server", "x-ms-version", "Date", "Content-Type"]
        assert response.header("Content-Type") == "application/xml"

    async def test_policies_as_they_were_set(self, orders: Client) -> None:
        text = '<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers>\u00fc</SignedIdentifiers>'
        table = await orders.store.find_table(ACCOUNT, "Orders")
        assert table is not None
        await orders.store.set_policies(table, text)
        response = await orders.ask("GET", "/oRDERS?comp=acl", headers=XML)
        assert response.body == b"\xef\xbb\xbf" + text.encode()

    async def test_missing_table(self, client: Client) -> None:
        """Recorded: of the front end, with its headers and its reason phrase."""
        response = await client.ask("GET", "/Missing?comp=acl", headers=XML)
        assert (response.status, response.phrase) == (404, "The table specified does not exist.")
        assert response.header("x-ms-error-code") == "TableNotFound"
        assert response.header("Cache-Control") is None
        assert b"<m:code>TableNotFound</m:code>" in response.body

    @pytest.mark.parametrize(("name", "code"), [("a", "OutOfRangeInput"), ("not-a-name", "InvalidResourceName")])
    async def test_name_that_no_table_can_have(self, client: Client, name: str, code: str) -> None:
        response = await client.ask("GET", f"/{name}?comp=acl", headers=XML)
        assert (response.status, response.header("x-ms-error-code")) == (400, code)
        assert response.header("Cache-Control") is None

    async def test_error_is_json_where_that_is_asked_for(self, client: Client) -> None:
        response = await client.ask("GET", "/Missing?comp=acl")
        assert client.refusal(response)[:2] == (404, "TableNotFound")
        assert response.header("Content-Type") == "application/json"

    @pytest.mark.parametrize("method", ["POST", "DELETE", "PATCH", "MERGE"])
    async def test_other_methods(self, orders: Client, method: str) -> None:
        response = await orders.ask(method, "/Orders?comp=acl", headers=XML)
        assert response.status == 405
        assert response.header("x-ms-error-code") == "UnsupportedHttpVerb"
