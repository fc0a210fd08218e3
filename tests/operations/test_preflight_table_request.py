"""Preflight Table Request: OPTIONS with any path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import InvalidHeaderValue
from rowkey.model.cors import CorsRule
from rowkey.operations.preflight_table_request import PreflightTableRequest
from rowkey.payload.service_properties import write_cors
from rowkey.wire.request import Request
from tests.operations.conftest import ACCOUNT, HOST

if TYPE_CHECKING:
    from rowkey.wire.request import Response
    from tests.operations.conftest import Client

PAGE = "https://page.contoso.com"
ASKED = {"Origin": PAGE, "Access-Control-Request-Method": "PUT"}
RULE = CorsRule((PAGE,), ("GET", "PUT"), ("content-type", "x-ms-*"), (), 300)


async def preflight(client: Client, path: str = "/Orders", **asked: str | None) -> Response:
    """What a browser is answered: it sends neither credentials nor a version."""
    names = {"origin": "origin", "method": "access-control-request-method", "headers": "access-control-request-headers"}
    given = {"origin": PAGE, "method": "PUT", "headers": None} | asked
    headers = {names[name]: value for name, value in given.items() if value is not None}
    return await client.service.handle(
        Request("OPTIONS", f"/{ACCOUNT}{path}", {"host": HOST, "accept": "*/*", **headers})
    )


async def allow(client: Client, *rules: CorsRule) -> None:
    """Let these be the account's rules."""
    await client.store.set_properties(ACCOUNT, {"Cors": write_cors(rules)})


def said(response: Response) -> dict[str, str]:
    """The headers about other origins."""
    return {name: value for name, value in response.headers if name.startswith("Access-Control-") or name == "Vary"}


class TestDecode:
    def test_what_the_browser_would_send(self, client: Client) -> None:
        headers = {**ASKED, "Access-Control-Request-Headers": "content-type, x-ms-date,,x-ms-version "}
        expected = PreflightTableRequest(PAGE, "PUT", ["content-type", "x-ms-date", "x-ms-version"])
        assert client.decode("OPTIONS", "/Orders(PartitionKey='1',RowKey='2')", headers=headers) == expected

    @pytest.mark.parametrize("path", ["/", "/Tables", "/Nothing/at/all", "/Orders('", "/$batch"])
    def test_any_path(self, client: Client, path: str) -> None:
        assert client.decode("OPTIONS", path, headers=ASKED) == PreflightTableRequest(PAGE, "PUT", [])

    @pytest.mark.parametrize("lacking", [*ASKED])
    def test_a_header_that_must_be_there(self, client: Client, lacking: str) -> None:
        with pytest.raises(InvalidHeaderValue, match="A required CORS header is not present"):
            client.decode("OPTIONS", "/Orders", headers={**ASKED, lacking: None})

    @pytest.mark.parametrize(
        "changes", [{"Access-Control-Request-Method": "P T"}, {"Access-Control-Request-Headers": "x-a, x b"}]
    )
    def test_names_that_are_none(self, client: Client, changes: dict[str, str]) -> None:
        with pytest.raises(InvalidHeaderValue):
            client.decode("OPTIONS", "/Orders", headers={**ASKED, **changes})


class TestRun:
    async def test_allowed(self, client: Client) -> None:
        await allow(client, RULE)
        response = await preflight(client, headers="Content-Type,x-ms-date")
        assert (response.status, response.body) == (200, b"")
        assert said(response) == {
            "Access-Control-Allow-Origin": PAGE,
            "Access-Control-Allow-Methods": "PUT",
            "Access-Control-Allow-Headers": "Content-Type,x-ms-date",
            "Access-Control-Max-Age": "300",
            "Access-Control-Allow-Credentials": "true",
            "Vary": "Origin",
        }

    async def test_allowed_to_all(self, client: Client) -> None:
        await allow(client, RULE._replace(origins=("*",)))
        assert said(await preflight(client)) == {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "PUT",
            "Access-Control-Max-Age": "300",
            "Access-Control-Allow-Credentials": "true",
        }

    @pytest.mark.parametrize(
        "path",
        ["", "/", "/Missing(PartitionKey='1',RowKey='2')", "/no('thing", "?comp=acl", "?timeout=x", "?$a=1&$a=%FF"],
    )
    async def test_what_is_addressed_need_not_exist(self, client: Client, path: str) -> None:
        await allow(client, RULE)
        assert (await preflight(client, path)).status == 200

    async def test_on_the_secondary(self, client: Client) -> None:
        await allow(client, RULE)
        assert (await preflight(client, "-secondary/Orders", method="GET")).status == 200

    @pytest.mark.parametrize(
        "asked", [{"origin": "https://others.com"}, {"method": "DELETE"}, {"headers": "x-ms-date,x-other"}]
    )
    async def test_not_allowed(self, client: Client, asked: dict[str, str]) -> None:
        await allow(client, RULE)
        response = await preflight(client, **asked)
        assert response.status == 403
        assert b"<m:code>CorsPreflightFailure</m:code>" in response.body
        assert said(response) == {}

    @pytest.mark.parametrize("rules", [None, []])
    async def test_no_rules(self, client: Client, rules: list[CorsRule] | None) -> None:
        if rules is not None:
            await allow(client, *rules)
        assert (await preflight(client)).status == 403

    async def test_only_the_first_rule_of_origin_and_method_counts(self, client: Client) -> None:
        """The second would allow the header."""
        await allow(client, RULE._replace(allowed_headers=()), RULE)
        assert (await preflight(client, headers="x-ms-date")).status == 403

    async def test_malformed(self, client: Client) -> None:
        response = await preflight(client, method=None)
        assert response.status == 400
        assert b"<code>InvalidHeaderValue</code>" in response.body
        assert b"A required CORS header is not present." in response.body
