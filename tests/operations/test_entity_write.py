"""What PUT, MERGE and PATCH have in common, with and without If-Match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import (
    AtomFormatNotSupported,
    InvalidETag,
    InvalidInput,
    JsonFormatNotSupported,
    KeyValueTooLarge,
    MediaTypeNotSupported,
    OutOfRangeInput,
)
from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Key
from rowkey.model.writes import Condition
from rowkey.operations.entity_write import EntityChange

if TYPE_CHECKING:
    from rowkey.errors import ServiceError
    from tests.operations.conftest import Client

ENTITY = "/Orders(PartitionKey='eu',RowKey='1')"
ETAG = "W/\"datetime'2026-08-03T10%3A15%3A31.1234567Z'\""
OLD_ETAG = "W/\"datetime'2012-05-04T10%3A00%3A00Z'\""
VERBS = ["PUT", "MERGE", "PATCH"]

pytestmark = pytest.mark.parametrize("verb", VERBS)


class TestDecode:
    def test_properties_are_sorted_by_ordinal_name(self, client: Client, verb: str) -> None:
        """Recorded, 65 of 65, for each of the verbs."""
        body = {"age": 1, "Zone": 2, "_x": 3, "Birthday": 4, "é": 5, "birthday": 6}
        operation = client.decode(verb, ENTITY, body)
        assert isinstance(operation, EntityChange)
        assert list(operation.write.members) == ["Birthday", "Zone", "_x", "age", "birthday", "é"]

    @pytest.mark.parametrize("body", [{}, {"PartitionKey": "other", "RowKey": "keys"}, {"RowKey": None}])
    def test_keys_are_those_of_the_address(self, client: Client, verb: str, body: dict[str, object]) -> None:
        """Recorded: an upsert whose body had other keys was stored under those of the URL."""
        operation = client.decode(verb, ENTITY, body)
        assert isinstance(operation, EntityChange)
        assert operation.write.key == Key("eu", "1")
        assert not operation.write.members

    @pytest.mark.parametrize(
        ("etag", "condition"),
        [
            ("*", Condition.EXISTS),
            (ETAG, parse_datetime("2026-08-03T10:15:31.1234567Z")),
            (ETAG.replace("W/", "w/").replace("%3A", "%3a"), parse_datetime("2026-08-03T10:15:31.1234567Z")),
            ('W/"0x5B168C7B6E589D2"', Condition.UNMEETABLE),
            ("W/\"datetime''2012-05-04T10%3A00%3A00Z''\"", Condition.UNMEETABLE),
        ],
    )
    def test_condition(self, client: Client, verb: str, etag: str, condition: Condition | int) -> None:
        operation = client.decode(verb, ENTITY, {}, {"If-Match": etag})
        assert isinstance(operation, EntityChange)
        assert operation.write.condition == condition

    def test_no_condition(self, client: Client, verb: str) -> None:
        operation = client.decode(verb, ENTITY, {})
        assert isinstance(operation, EntityChange)
        assert operation.write.condition is Condition.ANY

    @pytest.mark.parametrize("accept", [None, "*/*", "text/html", "application/atom+xml"])
    def test_format_does_not_matter(self, client: Client, verb: str, accept: str | None) -> None:
        """Recorded: what is answered without a body works whatever Accept says."""
        assert isinstance(client.decode(verb, ENTITY, {}, {"Accept": accept}), EntityChange)

    @pytest.mark.parametrize(
        ("path", "headers", "error"),
        [
            (ENTITY, {"If-Match": "nonsense"}, InvalidETag),
            (ENTITY, {"If-Match": '"strong"'}, InvalidETag),
            (ENTITY, {"If-None-Match": "*"}, InvalidInput),
            (ENTITY, {"If-None-Match": "*", "If-Match": "*"}, InvalidInput),
            (ENTITY, {"x-ms-version": "2009-09-19"}, JsonFormatNotSupported),
            (ENTITY, {"x-ms-version": None, "Accept": None}, JsonFormatNotSupported),
            (ENTITY, {"x-ms-version": "2012-02-12"}, JsonFormatNotSupported),
            (ENTITY, {"Content-Type": "text/plain"}, MediaTypeNotSupported),
            (ENTITY, {"Content-Type": "text/plain", "If-None-Match": "*"}, MediaTypeNotSupported),
            (ENTITY, {"Content-Type": "text/plain", "If-Match": "nonsense"}, MediaTypeNotSupported),
            (ENTITY, {"Content-Type": "application/atom+xml"}, AtomFormatNotSupported),
            (f"/Orders(PartitionKey='{'k' * 513}',RowKey='')", {}, KeyValueTooLarge),
            ("/Orders(PartitionKey='',RowKey='%01')", {}, OutOfRangeInput),
        ],
    )
    def test_refusals(
        self, client: Client, verb: str, path: str, headers: dict[str, str | None], error: type[ServiceError]
    ) -> None:
        with pytest.raises(error):
            client.decode(verb, path, {}, headers)


class TestRun:
    @pytest.mark.parametrize("if_match", ["*", None])
    async def test_answer_is_the_new_etag_alone(self, orders: Client, verb: str, if_match: str | None) -> None:
        await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": "1"})
        response = await orders.ask(verb, ENTITY, {"A": 1}, {"If-Match": if_match})
        assert (response.status, response.body) == (204, b"")
        assert response.header("ETag") == ETAG.replace("4567Z", "4568Z")
        assert response.header("Cache-Control") == "no-cache"
        assert response.header("X-Content-Type-Options") == "nosniff"
        for absent in ("Location", "DataServiceId", "Preference-Applied", "Content-Type"):
            assert response.header(absent) is None

    @pytest.mark.parametrize("preference", ["return-no-content", "return-content"])
    async def test_preference_is_confirmed_and_nothing_is_returned(
        self, orders: Client, verb: str, preference: str
    ) -> None:
        response = await orders.ask(verb, ENTITY, {"A": 1}, {"Prefer": preference})
        assert (response.status, response.body) == (204, b"")
        assert response.header("Preference-Applied") == "return-no-content"

    @pytest.mark.parametrize("etag", ["*", ETAG, 'W/"0x5B168C7B6E589D2"'])
    async def test_missing_entity_is_reported_before_the_etag_is_compared(
        self, orders: Client, verb: str, etag: str
    ) -> None:
        assert await orders.refused(verb, ENTITY, {}, {"If-Match": etag}) == (
            404,
            "ResourceNotFound",
            "The specified resource does not exist.",
        )

    async def test_other_etag_is_refused(self, orders: Client, verb: str) -> None:
        await orders.ask("PUT", ENTITY, {"A": 1})
        response = await orders.ask(verb, ENTITY, {"A": 2}, {"If-Match": OLD_ETAG, "Prefer": "return-no-content"})
        assert orders.refusal(response) == (
            412,
            "UpdateConditionNotSatisfied",
            "The update condition specified in the request was not satisfied.",
        )
        assert response.header("Cache-Control") == "no-cache"
        assert response.header("Preference-Applied") is None

    async def test_etag_of_another_form_is_not_met(self, orders: Client, verb: str) -> None:
        """Recorded: storage-go-classic TestMerge; without Cache-Control."""
        await orders.ask("PUT", ENTITY, {"A": 1})
        response = await orders.ask(verb, ENTITY, {"A": 2}, {"If-Match": 'W/"0x5B168C7B6E589D2"'})
        assert orders.refusal(response) == (
            412,
            "ConditionNotMet",
            "The condition specified using HTTP conditional header(s) is not met.",
        )
        assert response.header("Cache-Control") is None
        assert response.header("X-Content-Type-Options") == "nosniff"

    async def test_malformed_etag_is_refused(self, orders: Client, verb: str) -> None:
        response = await orders.ask(verb, ENTITY, {"A": 2}, {"If-Match": "nonsense"})
        assert orders.refusal(response) == (
            400,
            "InvalidInput",
            "The etag value 'nonsense' specified in one of the request headers is not valid. "
            "Please make sure only one etag value is specified and is valid.",
        )
        assert response.header("Cache-Control") is None

    async def test_if_none_match_is_refused(self, orders: Client, verb: str) -> None:
        assert await orders.refused(verb, ENTITY, {}, {"If-None-Match": "*"}) == (
            400,
            "InvalidInput",
            f"If-None-Match HTTP header cannot be specified for {verb} operations.",
        )

    @pytest.mark.parametrize("entity", [ENTITY, ENTITY.replace("'1'", "'2'"), ENTITY.replace("Orders", "Nowhere")])
    @pytest.mark.parametrize("if_match", ["*", OLD_ETAG, 'W/"0x5B168C7B6E589D2"', "nonsense", None])
    @pytest.mark.parametrize(
        ("properties", "code"),
        [
            ({f"A{number}": 1 for number in range(253)}, "TooManyProperties"),
            ({f"A{number}": "x" * 32_000 for number in range(17)}, "EntityTooLarge"),
        ],
    )
    async def test_limits_come_before_table_entity_and_condition(
        self, orders: Client, verb: str, entity: str, if_match: str | None, properties: dict[str, object], code: str
    ) -> None:
        await orders.ask("PUT", ENTITY, {})
        assert (await orders.refused(verb, entity, properties, {"If-Match": if_match}))[:2] == (400, code)

    async def test_missing_table(self, orders: Client, verb: str) -> None:
        refusal = await orders.refused(verb, ENTITY.replace("Orders", "Nowhere"), {})
        assert refusal == (404, "TableNotFound", "The table specified does not exist.")

    async def test_etag_of_each_change_is_the_condition_of_the_next(self, orders: Client, verb: str) -> None:
        etag = (await orders.ask("PUT", ENTITY, {})).header("ETag")
        for number in range(3):
            response = await orders.ask(verb, ENTITY, {"A": number}, {"If-Match": etag})
            assert response.status == 204
            assert response.header("ETag") != etag
            etag = response.header("ETag")

    async def test_properties_come_back_sorted(self, orders: Client, verb: str) -> None:
        """Recorded, 65 of 65: also where a POST had left another order."""
        await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": "1", "z": 1, "b": 2, "B": 3})
        await orders.ask(verb, ENTITY, {"z": 1, "b": 2, "a": 4, "B": 3})
        response = await orders.ask("GET", ENTITY, headers={"Accept": "application/json;odata=nometadata"})
        assert response.body.endswith(b'"B":3,"a":4,"b":2,"z":1}')

    @pytest.mark.parametrize("path", [ENTITY, ENTITY + "/", "/Orders(RowKey='1',PartitionKey='eu')"])
    async def test_tunnelled_in_a_post(self, orders: Client, verb: str, path: str) -> None:
        response = await orders.ask("POST", path, {"A": 1}, {"X-HTTP-Method": verb})
        assert (response.status, response.header("ETag")) == (204, ETAG)

    async def test_missing_condition_before_upserts_were_known(self, orders: Client, verb: str) -> None:
        headers = {"x-ms-version": "2009-09-19"}
        response = await orders.ask_in_atom(verb, ENTITY, "", headers)
        assert (response.status, b"<code>MissingRequiredHeader</code>" in response.body) == (
            400,
            b"odata.error" not in response.body,
        )

    async def test_atom(self, orders: Client, verb: str) -> None:
        keys = "<d:PartitionKey>other</d:PartitionKey><d:RowKey>keys</d:RowKey>"
        inserted = await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": "1", "A": 1})
        properties = f'{keys}<d:C m:type="Edm.Int64">3</d:C><d:B>2</d:B><d:A m:null="true" />'
        response = await orders.ask_in_atom(verb, ENTITY, properties, {"If-Match": inserted.header("ETag")})
        assert (response.status, response.body) == (204, b"")
        read = await orders.ask("GET", ENTITY, headers={"Accept": "application/json;odata=nometadata"})
        kept = b"" if verb == "PUT" else b'"A":1,'
        assert read.body.endswith(b'Z",' + kept + b'"B":"2","C":"3"}')
