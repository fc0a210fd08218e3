"""Get Metadata: GET /$metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.operations.get_metadata import GetMetadata

if TYPE_CHECKING:
    from tests.operations.conftest import Client

ACCOUNT = "devstoreaccount1"


class TestDecode:
    @pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/xml", "text/html"])
    @pytest.mark.parametrize("version", [None, "2014-02-14", "2019-02-02"])
    def test_accept_does_not_matter(self, client: Client, accept: str | None, version: str | None) -> None:
        headers = {"Accept": accept, "x-ms-version": version}
        assert client.decode("GET", "/$metadata", headers=headers) == GetMetadata()


class TestRun:
    async def test_every_table(self, client: Client) -> None:
        for name in ("Parts", "orders"):
            await client.store.create_table(ACCOUNT, name)
        response = await client.ask("GET", "/$metadata")
        assert (response.status, response.header("Content-Type")) == (200, "application/xml;charset=utf-8")
        assert response.body.index(b'Name="orders"') < response.body.index(b'Name="Parts"')
        assert b'EntityType="devstoreaccount1.orders"' in response.body

    async def test_first_thousand_tables_are_shown(self, client: Client) -> None:
        for number in range(1_001):
            await client.store.create_table(ACCOUNT, f"Table{number:04}")
        response = await client.ask("GET", "/$metadata")
        assert response.body.count(b"<EntitySet ") == 1 + 1_000
        assert b"Table1000" not in response.body
