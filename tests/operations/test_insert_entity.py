"""Insert Entity: POST /Table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import (
    AtomFormatNotSupported,
    BodyNotReadable,
    DuplicatePropertiesSpecified,
    InvalidInput,
    KeyValueTooLarge,
    MediaTypeNotSupported,
    OutOfRangeInput,
    PrimaryKeyPropertyIsInvalidType,
    PropertiesNeedValue,
    PropertyNameInvalid,
    PropertyNameTooLong,
    PropertyValueTooLarge,
)
from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.operations.insert_entity import InsertEntity
from rowkey.wire.media import Format

if TYPE_CHECKING:
    from rowkey.errors import ServiceError
    from tests.operations.conftest import Client

BASE = "http://127.0.0.1:10002/devstoreaccount1"
ETAG = "W/\"datetime'2026-08-03T10%3A15%3A31.1234567Z'\""
ETAG_IN_JSON = "W/\\\"datetime'2026-08-03T10%3A15%3A31.1234567Z'\\\""
NO_METADATA = {"Accept": "application/json;odata=nometadata"}
NO_CONTENT = {"Prefer": "return-no-content"}
KEYS = {"PartitionKey": "eu", "RowKey": "1"}


class TestDecode:
    @pytest.mark.parametrize("path", ["/Orders", "/Orders()", "/Orders/", "/Orders?timeout=30", "/Orders%28%29"])
    def test_every_address(self, client: Client, path: str) -> None:
        write = Write(Mode.SET, Key("eu", "1"), {"Qty": '"Qty":3'}, Condition.ABSENT)
        expected = InsertEntity("Orders", write, None, Format.MINIMAL_METADATA)
        assert client.decode("POST", path, {**KEYS, "Qty": 3}) == expected

    def test_properties_keep_their_order(self, client: Client) -> None:
        operation = client.decode("POST", "/Orders", {"b": 1, **KEYS, "a": 2, "B": 3, "A": 4})
        assert isinstance(operation, InsertEntity)
        assert list(operation.write.members) == ["b", "a", "B", "A"]

    @pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
    def test_conditions_are_ignored(self, client: Client, header: str) -> None:
        operation = client.decode("POST", "/Orders", KEYS, {header: "nonsense"})
        assert isinstance(operation, InsertEntity)
        assert operation.write.condition is Condition.ABSENT

    def test_format_does_not_matter_where_nothing_is_returned(self, client: Client) -> None:
        operation = client.decode("POST", "/Orders", KEYS, {**NO_CONTENT, "Accept": None})
        assert isinstance(operation, InsertEntity)
        assert (operation.preference, operation.format) == ("return-no-content", None)

    @pytest.mark.parametrize(
        ("body", "error"),
        [
            (b"not JSON", InvalidInput),
            ({}, PropertiesNeedValue),
            ({"PartitionKey": "eu"}, PropertiesNeedValue),
            ({"RowKey": "1"}, PropertiesNeedValue),
            ({**KEYS, "RowKey": None}, PropertiesNeedValue),
            ({**KEYS, "RowKey": 1}, PrimaryKeyPropertyIsInvalidType),
            ({**KEYS, "RowKey@odata.type": "Edm.Int64"}, PrimaryKeyPropertyIsInvalidType),
            ({**KEYS, "RowKey": "a/b"}, OutOfRangeInput),
            ({**KEYS, "RowKey": "a\\b"}, OutOfRangeInput),
            ({**KEYS, "PartitionKey": "a#b"}, OutOfRangeInput),
            ({**KEYS, "PartitionKey": "a?b"}, OutOfRangeInput),
            ({**KEYS, "PartitionKey": "\x7f"}, OutOfRangeInput),
            ({**KEYS, "RowKey": "k" * 513}, KeyValueTooLarge),
            ({**KEYS, "a-b": 1}, PropertyNameInvalid),
            ({**KEYS, "a" * 256: 1}, PropertyNameTooLong),
            ({**KEYS, "A": "x" * 32_769}, PropertyValueTooLarge),
            ({**KEYS, "A": [1]}, InvalidInput),
            ({**KEYS, "A": 2**31}, InvalidInput),
            ({**KEYS, "A": "x", "A@odata.type": "Edm.Guid"}, BodyNotReadable),
            ({**KEYS, "A": "1600-01-01T00:00:00Z", "A@odata.type": "Edm.DateTime"}, OutOfRangeInput),
            (b'{"PartitionKey":"p","RowKey":"r","A":1,"A":2}', DuplicatePropertiesSpecified),
        ],
    )
    def test_bodies_that_are_refused(self, client: Client, body: object, error: type[ServiceError]) -> None:
        with pytest.raises(error) as caught:
            client.decode("POST", "/Orders", body)
        assert caught.value.code == error.code

    @pytest.mark.parametrize(
        ("headers", "error"),
        [
            ({"Accept": None}, AtomFormatNotSupported),
            ({"Accept": "application/atom+xml"}, AtomFormatNotSupported),
            ({"Accept": "text/html"}, MediaTypeNotSupported),
            ({"Content-Type": "application/atom+xml", **NO_CONTENT}, AtomFormatNotSupported),
            ({"Content-Type": "text/plain"}, MediaTypeNotSupported),
        ],
    )
    def test_headers_that_are_refused(
        self, client: Client, headers: dict[str, str | None], error: type[ServiceError]
    ) -> None:
        with pytest.raises(error):
            client.decode("POST", "/Orders", KEYS, headers)


class TestRun:
    async def test_new_entity_is_returned(self, orders: Client) -> None:
        """Annotations after the property, a whole double, a long fraction, a null, a Timestamp of the client's."""
        body = (
            b'{"PartitionKey":"eu","PartitionKey@odata.type":"Edm.String","RowKey":"1","Qty":3,'
            b'"Price":5,"Price@odata.type":"Edm.Double","Big":"9007199254740993","Big@odata.type":"Edm.Int64",'
            b'"When":"2011-11-04T00:05:23.283000Z","When@odata.type":"Edm.DateTime","Gone":null,'
            b'"Timestamp":"0001-01-01T00:00:00Z"}'
        )
        response = await orders.ask("POST", "/Orders", body)
        assert response.status == 201
        assert response.header("ETag") == ETAG
        assert response.header("Location") == f"{BASE}/Orders(PartitionKey='eu',RowKey='1')"
        assert response.header("Cache-Control") == "no-cache"
        assert response.header("X-Content-Type-Options") == "nosniff"
        assert response.header("DataServiceId") is None
        assert response.header("Preference-Applied") is None
        assert response.body.decode() == (
            f'{{"odata.metadata":"{BASE}/$metadata#Orders/@Element","odata.etag":"{ETAG_IN_JSON}",'
            '"PartitionKey":"eu","RowKey":"1","Timestamp":"2026-08-03T10:15:31.1234567Z","Qty":3,"Price":5.0,'
            '"Big@odata.type":"Edm.Int64","Big":"9007199254740993",'
            '"When@odata.type":"Edm.DateTime","When":"2011-11-04T00:05:23.283Z"}'
        )

    async def test_new_entity_with_full_metadata(self, orders: Client) -> None:
        headers = {"Accept": "application/json;odata=fullmetadata"}
        response = await orders.ask("POST", "/Orders", {"PartitionKey": "O'Neil", "RowKey": "a b", "Qty": 3}, headers)
        link = "Orders(PartitionKey='O''Neil',RowKey='a%20b')"
        assert response.body.decode() == (
            f'{{"odata.metadata":"{BASE}/$metadata#Orders/@Element","odata.type":"devstoreaccount1.Orders",'
            f'"odata.id":"{BASE}/{link}","odata.etag":"{ETAG_IN_JSON}","odata.editLink":"{link}",'
            '"PartitionKey":"O\'Neil","RowKey":"a b","Timestamp@odata.type":"Edm.DateTime",'
            '"Timestamp":"2026-08-03T10:15:31.1234567Z","Qty":3}'
        )

    async def test_new_entity_is_not_returned_where_that_is_preferred(self, orders: Client) -> None:
        response = await orders.ask("POST", "/Orders", KEYS, NO_CONTENT)
        url = f"{BASE}/Orders(PartitionKey='eu',RowKey='1')"
        assert (response.status, response.body) == (204, b"")
        assert response.header("ETag") == ETAG
        assert (response.header("Location"), response.header("DataServiceId")) == (url, url)
        assert response.header("Preference-Applied") == "return-no-content"
        assert response.header("Content-Type") is None

    @pytest.mark.parametrize(
        ("key", "spelling"),
        [
            ("", ""),
            ("O'Neil", "O''Neil"),
            (":@", "%3A%40"),
            ("+,$", "%2B%2C%24"),
            ("=& ", "%3D%26%20"),
            ('"', "%22"),
            ("café", "caf%C3%A9"),
            ("😀", "%F0%9F%98%80"),
            ("100%", "100%25"),
            ("a-b._~", "a-b._~"),
        ],
    )
    async def test_location_spells_keys_as_recorded_and_leads_back(
        self, orders: Client, key: str, spelling: str
    ) -> None:
        response = await orders.ask("POST", "/Orders", {"PartitionKey": key, "RowKey": key}, NO_METADATA)
        location = response.header("Location") or ""
        assert location == f"{BASE}/Orders(PartitionKey='{spelling}',RowKey='{spelling}')"
        assert (await orders.ask("GET", location.removeprefix(BASE))).status == 200

    async def test_everything_beyond_ascii_is_escaped(self, orders: Client) -> None:
        """Recorded, 18 of 18: lower-case digits, one escape for each UTF-16 unit; names too."""
        body = {"PartitionKey": "é", "RowKey": "", "啊": "😀\x7f/<>'%{}\"\\\b\t\n\f\r\x01"}
        response = await orders.ask("POST", "/Orders", body, NO_METADATA)
        assert response.body == (
            rb'{"PartitionKey":"\u00e9","RowKey":"","Timestamp":"2026-08-03T10:15:31.1234567Z",'
            b'"\\u554a":"\\ud83d\\ude00\x7f/<>\'%{}\\"\\\\\\b\\t\\n\\f\\r\\u0001"}'
        )

    async def test_entity_that_is_there_is_not_replaced(self, orders: Client) -> None:
        await orders.ask("POST", "/Orders", {**KEYS, "Qty": 1})
        assert await orders.refused("POST", "/Orders", {**KEYS, "Qty": 2}) == (
            409,
            "EntityAlreadyExists",
            "The specified entity already exists.",
        )
        response = await orders.ask("GET", "/Orders(PartitionKey='eu',RowKey='1')", headers=NO_METADATA)
        assert response.body.endswith(b'"Qty":1}')

    async def test_missing_table(self, orders: Client) -> None:
        assert await orders.refused("POST", "/Nowhere", KEYS) == (
            404,
            "TableNotFound",
            "The table specified does not exist.",
        )

    async def test_table_is_found_in_any_letter_case_and_answered_as_asked(self, orders: Client) -> None:
        response = await orders.ask("POST", "/ORDERS", KEYS)
        assert response.header("Location") == f"{BASE}/ORDERS(PartitionKey='eu',RowKey='1')"
        assert b"$metadata#ORDERS/@Element" in response.body

    @pytest.mark.parametrize(
        ("body", "refusal"),
        [
            (
                {"RowKey": "1"},
                ("PropertiesNeedValue", "The values are not specified for all properties in the entity."),
            ),
            (
                {**KEYS, "a" * 256: 1},
                ("PropertyNameTooLong", "The property name exceeds the maximum allowed length (255)."),
            ),
            (
                {**KEYS, **{f"A{number}": 1 for number in range(253)}},
                (
                    "TooManyProperties",
                    "The entity contains more properties than allowed. Each entity can include up to 252 properties "
                    "to store data. Each entity also has 3 system properties.",
                ),
            ),
            (
                {**KEYS, **{f"A{number}": "x" * 32_000 for number in range(17)}},
                ("EntityTooLarge", "The entity is larger than the maximum allowed size (1MB)."),
            ),
            (
                {**KEYS, "RowKey": "a/b"},
                ("OutOfRangeInput", "The 'RowKey' parameter of value 'a/b' is out of range."),
            ),
            (
                {**KEYS, "A": "?", "A@odata.type": "Edm.Int64"},
                ("InvalidInput", "An error occurred while processing this request."),
            ),
            (b"[]", ("InvalidInput", "One of the request inputs is not valid.")),
        ],
    )
    async def test_refusals_in_the_words_of_the_service(
        self, orders: Client, body: object, refusal: tuple[str, str]
    ) -> None:
        assert await orders.refused("POST", "/Orders", body) == (400, *refusal)

    @pytest.mark.parametrize("table", ["Orders", "Nowhere"])
    @pytest.mark.parametrize(
        ("properties", "code"),
        [
            ({f"A{number}": 1 for number in range(253)}, "TooManyProperties"),
            ({f"A{number}": "x" * 32_000 for number in range(17)}, "EntityTooLarge"),
        ],
    )
    async def test_limits_come_before_the_table_and_the_entity(
        self, orders: Client, table: str, properties: dict[str, object], code: str
    ) -> None:
        await orders.ask("POST", "/Orders", KEYS)
        refusal = await orders.refused("POST", f"/{table}", {**KEYS, **properties})
        assert refusal[:2] == (400, code)

    async def test_252_properties_are_taken(self, orders: Client) -> None:
        body = {**KEYS, **{f"A{number}": 1 for number in range(252)}, "Null": None}
        assert (await orders.ask("POST", "/Orders", body)).status == 201

    async def test_limits_are_taken(self, orders: Client) -> None:
        """Keys of 512 units, a string of 32,768, a name of 255."""
        body = {"PartitionKey": "😀" * 256, "RowKey": "k" * 512, "a" * 255: "x" * 32_768}
        assert (await orders.ask("POST", "/Orders", body)).status == 201

    async def test_refusal_keeps_the_preference(self, orders: Client) -> None:
        """Recorded for 400 PropertiesNeedValue and 409."""
        response = await orders.ask("POST", "/Orders", {}, NO_CONTENT)
        assert (response.status, response.header("Preference-Applied")) == (400, "return-no-content")

    async def test_other_letter_case_is_another_property(self, orders: Client) -> None:
        """Recorded: `timestamp` is an ordinary property."""
        response = await orders.ask("POST", "/Orders", {**KEYS, "timestamp": "mine", "partitionKey": "p"}, NO_METADATA)
        assert response.body.endswith(b'"timestamp":"mine","partitionKey":"p"}')


class TestAtom:
    async def test_new_entity_is_returned(self, orders: Client) -> None:
        properties = (
            '<d:Qty m:type="Edm.Int32">3</d:Qty><d:PartitionKey>eu</d:PartitionKey><d:RowKey>1</d:RowKey>'
            '<d:Note> a&amp;b </d:Note><d:Gone m:null="true" />'
            '<d:Timestamp m:type="Edm.DateTime">0001-01-01T00:00:00</d:Timestamp>'
        )
        response = await orders.ask_in_atom("POST", "/Orders", properties)
        assert (response.status, response.header("ETag")) == (201, ETAG)
        assert response.header("Content-Type") == "application/atom+xml;charset=utf-8"
        assert response.header("Location") == f"{BASE}/Orders(PartitionKey='eu',RowKey='1')"
        assert response.header("x-ms-version") == "2012-02-12"
        assert response.body.decode().endswith(
            '</d:Timestamp><d:Qty m:type="Edm.Int32">3</d:Qty><d:Note xml:space="preserve"> a&amp;b </d:Note>'
            "</m:properties></content></entry>"
        )
        read = await orders.ask("GET", "/Orders(PartitionKey='eu',RowKey='1')", headers=NO_METADATA)
        assert read.body.endswith(b'"Qty":3,"Note":" a&b "}')

    async def test_formats_of_question_and_answer_are_independent(self, orders: Client) -> None:
        keys = "<d:PartitionKey>eu</d:PartitionKey><d:RowKey>1</d:RowKey>"
        headers: dict[str, str | None] = {"x-ms-version": "2014-02-14", **NO_METADATA}
        response = await orders.ask_in_atom("POST", "/Orders", keys, headers)
        assert response.body == b'{"PartitionKey":"eu","RowKey":"1","Timestamp":"2026-08-03T10:15:31.1234567Z"}'
        response = await orders.ask("POST", "/Orders", {**KEYS, "RowKey": "2"}, {**headers, "Accept": None})
        assert b"<d:RowKey>2</d:RowKey>" in response.body

    async def test_preference(self, orders: Client) -> None:
        keys = "<d:PartitionKey>eu</d:PartitionKey><d:RowKey>1</d:RowKey>"
        response = await orders.ask_in_atom("POST", "/Orders", keys, {"x-ms-version": "2014-02-14", **NO_CONTENT})
        assert (response.status, response.body) == (204, b"")

    @pytest.mark.parametrize(
        ("version", "kind"),
        [
            ("2012-02-12", "application/xml;charset=utf-8"),
            ("2014-02-14", "application/xml;charset=utf-8"),
            (None, "application/xml"),
        ],
    )
    async def test_conflict(self, orders: Client, version: str | None, kind: str) -> None:
        keys = "<d:PartitionKey>eu</d:PartitionKey><d:RowKey>1</d:RowKey>"
        for status in (201, 409):
            response = await orders.ask_in_atom("POST", "/Orders", keys, {"x-ms-version": version})
            assert response.status == status
        assert response.header("Content-Type") == kind
        assert b"<code>EntityAlreadyExists</code>" in response.body
