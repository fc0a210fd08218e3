"""Get Entity: GET /Table(PartitionKey='p',RowKey='r')."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import (
    AtomFormatNotSupported,
    InvalidPath,
    InvalidQuery,
    JsonFormatNotSupported,
    JsonVerboseFormatNotSupported,
)
from rowkey.model.entity import Key
from rowkey.operations.get_entity import GetEntity
from rowkey.wire.media import Format

if TYPE_CHECKING:
    from rowkey.errors import ServiceError
    from tests.operations.conftest import Client

BASE = "http://127.0.0.1:10002/devstoreaccount1"
ENTITY = "/Orders(PartitionKey='eu',RowKey='1')"
ETAG_IN_JSON = "W/\\\"datetime'2026-08-03T10%3A15%3A31.1234567Z'\\\""
METADATA = f'"odata.metadata":"{BASE}/$metadata#Orders/@Element'


class TestDecode:
    @pytest.mark.parametrize(
        ("path", "key"),
        [
            (ENTITY, Key("eu", "1")),
            ("/Orders(RowKey='1',PartitionKey='eu')", Key("eu", "1")),
            ("/Orders(PartitionKey='eu',%20RowKey='1')", Key("eu", "1")),
            ("/Orders%28PartitionKey=%27eu%27,RowKey=%271%27%29", Key("eu", "1")),
            ("/Orders(PartitionKey='a%23b%27,RowKey=%27c%27)", Key("a#b", "c")),
            ("/Orders(PartitionKey='O''Neil',RowKey='O%27%27Neil')", Key("O'Neil", "O'Neil")),
            ("/Orders(PartitionKey='',RowKey='')", Key("", "")),
            ("/Orders(PartitionKey='a+b',RowKey='a,b=(c)&d')", Key("a+b", "a,b=(c)&d")),
            ("/Orders(PartitionKey='%25',RowKey='%F0%9F%98%80')", Key("%", "😀")),
            ("/Orders(PartitionKey='''',RowKey='''''')", Key("'", "''")),
        ],
    )
    def test_address(self, client: Client, path: str, key: Key) -> None:
        assert client.decode("GET", path) == GetEntity("Orders", key, Format.MINIMAL_METADATA, None)

    @pytest.mark.parametrize(
        ("query", "select"),
        [
            ("?$select=A", ("A",)),
            ("?$select=B,%20A,", ("B", "A")),
            ("?$select=", None),
            ("?$select=*", None),
            ("?$filter=nonsense", None),
            ("?timeout=5", None),
        ],
    )
    def test_options(self, client: Client, query: str, select: tuple[str, ...] | None) -> None:
        operation = client.decode("GET", ENTITY + query)
        assert operation == GetEntity("Orders", Key("eu", "1"), Format.MINIMAL_METADATA, select)

    def test_format_option_wins(self, client: Client) -> None:
        path = f"{ENTITY}?$format=application%2Fjson%3Bodata%3Dfullmetadata"
        assert client.decode("GET", path) == GetEntity("Orders", Key("eu", "1"), Format.FULL_METADATA, None)

    @pytest.mark.parametrize(
        ("path", "headers", "error"),
        [
            (ENTITY, {"Accept": None}, AtomFormatNotSupported),
            (ENTITY, {"Accept": "application/json;odata=verbose"}, JsonVerboseFormatNotSupported),
            (ENTITY + "?$select=a%20b", {}, InvalidQuery),
            (ENTITY + "?$select=a", {"x-ms-version": "2009-09-19", "Accept": None}, InvalidQuery),
            (ENTITY, {"x-ms-version": "2012-02-12"}, JsonFormatNotSupported),
            ("/Orders(PartitionKey='a/b',RowKey='1')", {}, InvalidPath),
            ("/Orders(PartitionKey='a%2Fb',RowKey='1')", {}, InvalidPath),
            ("/Orders(PartitionKey='eu')", {}, InvalidPath),
            ("/Orders(PartitionKey=%22eu%22,RowKey=%221%22)", {}, InvalidPath),
        ],
    )
    def test_refusals(
        self, client: Client, path: str, headers: dict[str, str | None], error: type[ServiceError]
    ) -> None:
        with pytest.raises(error):
            client.decode("GET", path, headers=headers)


@pytest.fixture
async def stored(orders: Client) -> Client:
    """A client of an account with one entity."""
    body = b'{"PartitionKey":"eu","RowKey":"1","Qty":3,"Name":"caf\xc3\xa9","Big@odata.type":"Edm.Int64","Big":"5"}'
    await orders.ask("POST", "/Orders", body)
    return orders


class TestRun:
    async def test_minimal_metadata(self, stored: Client) -> None:
        response = await stored.ask("GET", ENTITY)
        assert response.status == 200
        assert response.header("ETag") == ETAG_IN_JSON.replace("\\", "")
        content_type = "application/json;odata=minimalmetadata;streaming=true;charset=utf-8"
        assert response.header("Content-Type") == content_type
        assert response.header("Cache-Control") == "no-cache"
        assert response.body.decode() == (
            f'{{{METADATA}","odata.etag":"{ETAG_IN_JSON}","PartitionKey":"eu","RowKey":"1",'
            '"Timestamp":"2026-08-03T10:15:31.1234567Z","Qty":3,"Name":"caf\\u00e9",'
            '"Big@odata.type":"Edm.Int64","Big":"5"}'
        )

    async def test_full_metadata(self, stored: Client) -> None:
        response = await stored.ask("GET", ENTITY, headers={"Accept": "application/json;odata=fullmetadata"})
        content_type = "application/json;odata=fullmetadata;streaming=true;charset=utf-8"
        assert response.header("Content-Type") == content_type
        assert response.body.decode() == (
            f'{{{METADATA}","odata.type":"devstoreaccount1.Orders",'
            f'"odata.id":"{BASE}/Orders(PartitionKey=\'eu\',RowKey=\'1\')","odata.etag":"{ETAG_IN_JSON}",'
            '"odata.editLink":"Orders(PartitionKey=\'eu\',RowKey=\'1\')","PartitionKey":"eu","RowKey":"1",'
            '"Timestamp@odata.type":"Edm.DateTime","Timestamp":"2026-08-03T10:15:31.1234567Z","Qty":3,'
            '"Name":"caf\\u00e9","Big@odata.type":"Edm.Int64","Big":"5"}'
        )

    async def test_no_metadata(self, stored: Client) -> None:
        response = await stored.ask("GET", ENTITY, headers={"Accept": "application/json;odata=nometadata"})
        assert response.body == (
            rb'{"PartitionKey":"eu","RowKey":"1","Timestamp":"2026-08-03T10:15:31.1234567Z","Qty":3,'
            rb'"Name":"caf\u00e9","Big":"5"}'
        )

    @pytest.mark.parametrize(
        ("select", "suffix", "members"),
        [
            ("Qty,Nope", "Qty,Nope", '"Nope":null,"Qty":3'),
            ("Qty,%20Name", "Qty,%20Name", '"Name":"caf\\u00e9","Qty":3'),
            ("Qty%2CNope,", "Qty,Nope,", '"Nope":null,"Qty":3'),
            ("Qty,Qty", "Qty,Qty", '"Qty":3'),
            ("Qty,RowKey", "Qty,RowKey", '"RowKey":"1","Qty":3'),
            ("Timestamp", "Timestamp", '"Timestamp":"2026-08-03T10:15:31.1234567Z"'),
            ("Big", "Big", '"Big@odata.type":"Edm.Int64","Big":"5"'),
        ],
    )
    async def test_projection(self, stored: Client, select: str, suffix: str, members: str) -> None:
        """Recorded: the option as sent, system properties first, then by ordinal name, null for what is missing."""
        response = await stored.ask("GET", f"{ENTITY}?$select={select}")
        expected = f'{{{METADATA}&$select={suffix}","odata.etag":"{ETAG_IN_JSON}",{members}}}'
        assert response.body.decode() == expected
        assert response.header("ETag") == ETAG_IN_JSON.replace("\\", "")

    async def test_empty_projection_is_everything_in_stored_order(self, stored: Client) -> None:
        body = (await stored.ask("GET", f"{ENTITY}?$select=")).body.decode()
        assert body.startswith(f'{{{METADATA}&$select=","odata.etag"')
        assert body.endswith('"Qty":3,"Name":"caf\\u00e9","Big@odata.type":"Edm.Int64","Big":"5"}')

    async def test_missing_entity(self, orders: Client) -> None:
        """Recorded: never EntityNotFound, whatever the documents say."""
        response = await orders.ask("GET", ENTITY)
        assert orders.refusal(response) == (404, "ResourceNotFound", "The specified resource does not exist.")
        assert response.header("Cache-Control") == "no-cache"
        assert response.header("x-ms-error-code") is None

    async def test_error_has_the_level_that_was_asked_for(self, orders: Client) -> None:
        response = await orders.ask("GET", ENTITY, headers={"Accept": "application/json;odata=nometadata"})
        content_type = "application/json;odata=nometadata;streaming=true;charset=utf-8"
        assert response.header("Content-Type") == content_type

    async def test_missing_table(self, client: Client) -> None:
        assert await client.refused("GET", ENTITY) == (404, "TableNotFound", "The table specified does not exist.")

    async def test_slash_in_a_key(self, orders: Client) -> None:
        assert await orders.refused("GET", "/Orders(PartitionKey='a/b',RowKey='1')") == (
            400,
            "InvalidInput",
            "Bad Request - Error in query syntax.",
        )

    async def test_conditions_are_ignored(self, stored: Client) -> None:
        for header in ("If-Match", "If-None-Match"):
            assert (await stored.ask("GET", ENTITY, headers={header: "nonsense"})).status == 200

    async def test_spelling_of_the_table_is_that_of_the_request(self, stored: Client) -> None:
        body = (await stored.ask("GET", ENTITY.replace("Orders", "orders"))).body
        assert f'"{BASE}/$metadata#orders/@Element"'.encode() in body

    @pytest.mark.parametrize("accept", ["application/atom+xml", "application/atom+xml,application/xml", "*/*", None])
    @pytest.mark.parametrize(("version", "kind"), [("2012-02-12", ""), ("2015-07-08", "type=entry;")])
    async def test_atom(self, stored: Client, version: str, kind: str, accept: str | None) -> None:
        response = await stored.ask("GET", ENTITY, headers={"x-ms-version": version, "Accept": accept})
        assert response.status == 200
        assert response.header("Content-Type") == f"application/atom+xml;{kind}charset=utf-8"
        assert response.header("ETag") == ETAG_IN_JSON.replace("\\", "")
        assert response.body.decode().partition("<m:properties>")[2] == (
            "<d:PartitionKey>eu</d:PartitionKey><d:RowKey>1</d:RowKey>"
            '<d:Timestamp m:type="Edm.DateTime">2026-08-03T10:15:31.1234567Z</d:Timestamp>'
            '<d:Qty m:type="Edm.Int32">3</d:Qty><d:Name>café</d:Name><d:Big m:type="Edm.Int64">5</d:Big>'
            "</m:properties></content></entry>"
        )

    async def test_selection_in_atom(self, stored: Client) -> None:
        response = await stored.ask_in_atom("GET", f"{ENTITY}?$select=Qty,Nope")
        assert response.body.decode().partition("<m:properties>")[2] == (
            '<d:Nope m:null="true" /><d:Qty m:type="Edm.Int32">3</d:Qty></m:properties></content></entry>'
        )

    async def test_missing_entity_in_atom(self, orders: Client) -> None:
        response = await orders.ask_in_atom("GET", ENTITY)
        assert (response.status, response.header("Content-Type")) == (404, "application/xml;charset=utf-8")
        assert b"<code>ResourceNotFound</code>" in response.body
        assert f"\nRequestId:{response.header('x-ms-request-id')}\nTime:".encode() in response.body
