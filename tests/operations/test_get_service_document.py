"""Get Service Document: GET /."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rowkey.errors import AtomFormatNotSupported, JsonFormatNotSupported
from rowkey.operations.get_service_document import GetServiceDocument
from rowkey.wire.media import Format

if TYPE_CHECKING:
    from tests.operations.conftest import Client

BASE = "http://127.0.0.1:10002/devstoreaccount1"
OF_BOTH = {"x-ms-version": "2014-02-14"}


class TestDecode:
    @pytest.mark.parametrize(
        ("headers", "wanted"),
        [
            ({}, Format.MINIMAL_METADATA),
            ({"Accept": "application/json;odata=nometadata"}, Format.NO_METADATA),
            ({**OF_BOTH, "Accept": None}, Format.ATOM),
            ({**OF_BOTH, "Accept": "application/atomsvc+xml, */*"}, Format.ATOM),
        ],
    )
    def test_formats(self, client: Client, headers: dict[str, str | None], wanted: Format) -> None:
        assert client.decode("GET", "/", headers=headers) == GetServiceDocument(wanted)

    @pytest.mark.parametrize(
        ("headers", "error"),
        [({"Accept": None}, AtomFormatNotSupported), ({"x-ms-version": "2012-02-12"}, JsonFormatNotSupported)],
    )
    def test_refused(self, client: Client, headers: dict[str, str | None], error: type[Exception]) -> None:
        with pytest.raises(error):
            client.decode("GET", "/", headers=headers)


class TestRun:
    async def test_json(self, client: Client) -> None:
        response = await client.ask("GET", "/")
        assert response.status == 200
        assert response.header("Content-Type") == (
            "application/json;odata=minimalmetadata;streaming=true;charset=utf-8"
        )
        assert response.header("Cache-Control") == "no-cache"
        assert json.loads(response.body)["odata.metadata"] == f"{BASE}/$metadata"

    async def test_atom(self, client: Client) -> None:
        response = await client.ask("GET", "/", headers={**OF_BOTH, "Accept": None})
        assert (response.status, response.header("Content-Type")) == (200, "application/xml;charset=utf-8")
        assert b"<service " in response.body
