"""Get Table Service Stats: GET /?restype=service&comp=stats."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import pytest

from rowkey.errors import InvalidQueryParameterValue, MissingRequiredHeader
from rowkey.operations.get_table_service_stats import GetTableServiceStats
from tests.operations.conftest import ACCOUNT

if TYPE_CHECKING:
    from tests.operations.conftest import Client

STATS = "/?restype=service&comp=stats"
XML = {"Accept": "application/xml"}
PRIMARY = f"http://{ACCOUNT}.table.local"
SECONDARY = f"http://{ACCOUNT}-secondary.table.local"


class TestDecode:
    @pytest.mark.parametrize("path", [STATS, SECONDARY + STATS, f"http://127.0.0.1:10002/{ACCOUNT}-secondary{STATS}"])
    def test_address(self, client: Client, path: str) -> None:
        """The JavaScript client asks the primary, as it cannot make the secondary's address from an IP address."""
        assert client.decode("GET", path) == GetTableServiceStats()

    def test_the_primary_in_host_style_has_none(self, client: Client) -> None:
        """Recorded."""
        with pytest.raises(InvalidQueryParameterValue):
            client.decode("GET", PRIMARY + STATS)

    @pytest.mark.parametrize("version", [None, "2012-02-12"])
    def test_versions_without_it(self, client: Client, version: str | None) -> None:
        with pytest.raises(MissingRequiredHeader):
            client.decode("GET", STATS, headers={"x-ms-version": version})


class TestRun:
    @pytest.mark.parametrize("base", ["", SECONDARY])
    async def test_live_and_in_step(self, client: Client, base: str) -> None:
        response = await client.ask("GET", base + STATS, headers=XML)
        assert (response.status, response.header("Content-Type")) == (200, "application/xml")
        assert response.body.startswith(b"\xef\xbb\xbf<?xml ")
        match = re.search(rb"<Status>live</Status><LastSyncTime>(.*)</LastSyncTime>", response.body)
        assert match is not None
        answered = parsedate_to_datetime(response.header("Date") or "")
        assert 0 <= (answered - parsedate_to_datetime(match[1].decode())).total_seconds() <= 1

    async def test_refusal(self, client: Client) -> None:
        """Recorded, to the headers."""
        response = await client.ask("GET", PRIMARY + STATS, headers=XML)
        text = "Value for one of the query parameters specified in the request URI is invalid."
        assert (response.status, response.phrase) == (400, text)
        assert response.header("x-ms-error-code") == "InvalidQueryParameterValue"
        assert b"<m:code>InvalidQueryParameterValue</m:code>" in response.body
