"""Entity group transaction: POST /$batch.

What goes in has the form that today's Python SDK sends, unless a test says otherwise; how other clients write the
container is tested in `tests/wire/test_multipart.py`. What comes out is compared to the byte with recorded answers.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.config import DEVELOPMENT_ACCOUNT
from rowkey.wire.request import Request, Response
from tests.operations.conftest import entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.operations.conftest import Client

ACCOUNT = "devstoreaccount1"
BASE = f"http://127.0.0.1:10002/{ACCOUNT}"
JSON = "application/json;odata=minimalmetadata;streaming=true;charset=utf-8"
TABLE_MISSING = "The table specified does not exist."
RESOURCE_MISSING = "The specified resource does not exist."
EXISTS = "The specified entity already exists."
CHANGED = "The update condition specified in the request was not satisfied."
NOT_ALLOWED = "The requested method is not allowed on the specified resource."
NEED_VALUE = "The values are not specified for all properties in the entity."
NOT_VALID = "One of the request inputs is not valid."
OLD_ETAG = "W/\"datetime'2012-05-04T10%3A00%3A00Z'\""
NO_CONTENT = {"Prefer": "return-no-content"}
ANY = {"If-Match": "*"}


# ---------------------------------------------------------------- what goes in


def part(
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    *,
    url: str | None = None,
    mime: str = "",
) -> str:
    """One operation as a part, without its delimiter; `mime` are further headers of the part."""
    given = {"Accept": "application/json;odata=minimalmetadata", **(headers or {})}
    if body is not None:
        given = {"Content-Type": "application/json", **given}
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return (
        f"Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n{mime}\r\n"
        f"{method} {BASE + path if url is None else url} HTTP/1.1\r\n{lines}\r\n{text}\r\n"
    )


def insert(row_key: str, headers: Mapping[str, str] | None = None, partition_key: str = "eu", **more: object) -> str:
    """An Insert Entity."""
    return part("POST", "/Orders", {"PartitionKey": partition_key, "RowKey": row_key, **more}, headers)


def entity(row_key: str) -> str:
    """The path of an entity."""
    return f"/Orders(PartitionKey='eu',RowKey='{row_key}')"


def delete(row_key: str, headers: Mapping[str, str] | None = None) -> str:
    """A Delete Entity."""
    return part("DELETE", entity(row_key), None, {**ANY, **(headers or {})})


def change_set(*parts: str) -> str:
    """A batch of one change set."""
    content = "".join(f"--changeset_c\r\n{item}" for item in parts)
    head = "--batch_b\r\nContent-Type: multipart/mixed; boundary=changeset_c\r\n\r\n"
    return f"{head}{content}--changeset_c--\r\n--batch_b--\r\n"


def query(item: str) -> str:
    """A batch of one query."""
    return f"--batch_b\r\n{item}--batch_b--\r\n"


async def ask(client: Client, body: str, headers: Mapping[str, str | None] | None = None) -> Response:
    """Send a batch."""
    kind = {"Content-Type": "multipart/mixed; boundary=batch_b", "Accept": "application/json"}
    return await client.ask("POST", "/$batch", body.encode(), {**kind, **(headers or {})})


# ---------------------------------------------------------------- what comes out

_GUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_HEAD = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
_CHANGE_SET = re.compile(
    rf"--(?P<batch>batchresponse_{_GUID})\r\n"
    rf"Content-Type: multipart/mixed; boundary=(?P<set>changesetresponse_{_GUID})\r\n\r\n"
    r"(?P<parts>(?:--(?P=set)\r\n.*?)?)--(?P=set)--\r\n--(?P=batch)--\r\n",
    re.DOTALL,
)
_QUERY = re.compile(rf"--(?P<batch>batchresponse_{_GUID})\r\n(?P<part>.*)--(?P=batch)--\r\n", re.DOTALL)
_ERROR = re.compile(
    r'\{"odata\.error":\{"code":"(?P<code>\w+)","message":\{"lang":"en-US","value":"(?P<text>.*)'
    rf'\\nRequestId:{_GUID}\\nTime:\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{7}}Z"}}\}}\}}'
)


def answers(response: Response) -> list[str]:
    """The answers in a change set's answer, each from its status line to its end; checks everything around them."""
    assert response.status == 202, response.body
    match = _CHANGE_SET.fullmatch(response.body.decode())
    assert match is not None, response.body
    assert response.header("Content-Type") == f"multipart/mixed; boundary={match['batch']}"
    parts = match["parts"].split(f"--{match['set']}\r\n")[1:]
    assert all(item.startswith(_HEAD) for item in parts)
    return [item.removeprefix(_HEAD) for item in parts]


def only_answer(response: Response) -> str:
    """The one answer in a query's answer."""
    assert response.status == 202, response.body
    match = _QUERY.fullmatch(response.body.decode())
    assert match is not None, response.body
    assert match["part"].startswith(_HEAD)
    return match["part"].removeprefix(_HEAD)


def failure(answer: str) -> tuple[str, str, str]:
    """Status line, code and text of an answer that is an error."""
    head, _, body = answer.partition("\r\n\r\n")
    match = _ERROR.fullmatch(body.removesuffix("\r\n"))
    assert match is not None, answer
    return head.partition("\r\n")[0].removeprefix("HTTP/1.1 "), match["code"], match["text"]


def headers_of(answer: str) -> list[str]:
    """The header lines of an answer."""
    return answer.partition("\r\n\r\n")[0].split("\r\n")[1:]


def etag(last_digit: int) -> str:
    """The ETag of what was written at the first moment that ends with this digit."""
    return f"W/\"datetime'2026-08-03T10%3A15%3A31.123456{last_digit}Z'\""


async def fail(client: Client, *parts: str) -> tuple[str, str, str]:
    """Send a change set that fails; status, code and text of its only answer."""
    (answer,) = answers(await ask(client, change_set(*parts)))
    return failure(answer)


async def row_keys(client: Client) -> list[str]:
    """What is stored."""
    response = await client.ask("GET", "/Orders", headers={"Accept": "application/json;odata=nometadata"})
    return [item["RowKey"] for item in json.loads(response.body)["value"]]


# ---------------------------------------------------------------- tests


class TestDecode:
    """Errors of the batch itself are answered alone, and nothing is done."""

    @pytest.mark.parametrize(
        "content_type",
        [
            "multipart/mixed; boundary=batch_b",
            'multipart/mixed; boundary="batch_b"',
            'multipart/mixed; charset="utf-8"; boundary=batch_b',
            "multipart/mixed;boundary=batch_b;charset=utf-8",
            "Multipart/Mixed; BOUNDARY=batch_b",
        ],
    )
    async def test_content_types(self, orders: Client, content_type: str) -> None:
        response = await ask(orders, change_set(insert("1")), {"Content-Type": content_type})
        assert answers(response)[0].startswith("HTTP/1.1 201 Created\r\n")

    @pytest.mark.parametrize("accept", ["*/*", "application/json", "application/atom+xml,application/xml", None])
    async def test_accept_of_the_batch_does_not_matter(self, orders: Client, accept: str | None) -> None:
        response = await ask(orders, change_set(insert("1")), {"Accept": accept})
        assert answers(response)[0].startswith("HTTP/1.1 201 Created\r\n")

    @pytest.mark.parametrize(
        ("content_type", "refusal"),
        [
            ("multipart/mixed", (400, "InvalidInput", NOT_VALID)),
            ("multipart/mixed; boundary=", (400, "InvalidInput", NOT_VALID)),
            ("multipart/mixed; boundary=other", (400, "InvalidInput", NOT_VALID)),
            ("application/json", (415, "MediaTypeNotSupported", "None of the provided media types are supported")),
            ("multipart/related; boundary=batch_b", (415, "MediaTypeNotSupported", None)),
            (None, (415, "MediaTypeNotSupported", None)),
        ],
    )
    async def test_content_types_that_are_refused(
        self, orders: Client, content_type: str | None, refusal: tuple[int, str, str | None]
    ) -> None:
        response = await orders.ask("POST", "/$batch", change_set(insert("1")).encode(), {"Content-Type": content_type})
        status, code, text = orders.refusal(response)
        assert (status, code, text) == (refusal[0], refusal[1], refusal[2] or text)
        assert await row_keys(orders) == []

    @pytest.mark.parametrize(
        "body",
        [
            "",
            "--batch_b--\r\n",
            "nothing that is a part",
            change_set(insert("1")).removesuffix("--batch_b--\r\n") + change_set(insert("2")),
            change_set(insert("1")).removesuffix("--batch_b--\r\n") + query(part("GET", entity("1"))),
            query(part("GET", entity("1"))).removesuffix("--batch_b--\r\n") + query(part("GET", entity("1"))),
            change_set(insert("1"), "Content-Type: application/http\r\n\r\nnonsense\r\n"),
            change_set(insert("1"), "Content-Type: application/http\r\n\r\nPOST /Orders\r\n\r\n{}\r\n"),
            change_set(insert("1")).replace("boundary=changeset_c", "charset=utf-8"),
        ],
        ids=[
            "empty",
            "end only",
            "no part",
            "two change sets",
            "change set and query",
            "two queries",
            "no request",
            "no protocol",
            "no inner boundary",
        ],
    )
    async def test_bodies_that_are_refused_whole(self, orders: Client, body: str) -> None:
        assert orders.refusal(await ask(orders, body)) == (400, "InvalidInput", NOT_VALID)
        assert await row_keys(orders) == []

    @pytest.mark.parametrize("version", [None, "2008-10-27"])
    async def test_version_is_needed(self, orders: Client, version: str | None) -> None:
        headers = {"x-ms-version": version, "Accept": "application/json"}
        response = await ask(orders, change_set(insert("1")), headers)
        assert response.status == 400
        assert b"MissingRequiredHeader" in response.body

    async def test_batch_of_a_table_is_refused_in_the_words_that_clients_compare(self, orders: Client) -> None:
        headers = {"Content-Type": "multipart/mixed; boundary=batch_b"}
        refusal = await orders.refused("POST", "/Orders/$batch", change_set(insert("1")).encode(), headers)
        assert refusal == (415, "MediaTypeNotSupported", "None of the provided media types are supported")

    @pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
    async def test_other_verbs(self, orders: Client, method: str) -> None:
        assert await orders.refused(method, "/$batch") == (405, "MethodNotAllowed", NOT_ALLOWED)


class TestParts:
    """What is inside, to the byte."""

    async def test_outer_answer(self, orders: Client) -> None:
        response = await ask(orders, change_set(insert("1")))
        assert response.status == 202
        assert response.header("Cache-Control") == "no-cache"
        assert response.header("X-Content-Type-Options") == "nosniff"
        assert response.header("x-ms-version") == "2019-02-02"
        assert response.header("DataServiceVersion") is None
        assert len(answers(response)) == 1

    async def test_insert_without_content(self, orders: Client) -> None:
        url = f"{BASE}{entity('1')}"
        assert answers(await ask(orders, change_set(insert("1", NO_CONTENT)))) == [
            "HTTP/1.1 204 No Content\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Cache-Control: no-cache\r\n"
            "Preference-Applied: return-no-content\r\n"
            "DataServiceVersion: 3.0;\r\n"
            f"Location: {url}\r\n"
            f"DataServiceId: {url}\r\n"
            f"ETag: {etag(7)}\r\n\r\n\r\n"
        ]

    @pytest.mark.parametrize("preference", [None, "return-content"])
    async def test_insert_with_content(self, orders: Client, preference: str | None) -> None:
        headers = {"Prefer": preference} if preference else {}
        applied = f"Preference-Applied: {preference}\r\n" if preference else ""
        in_json = etag(7).replace('"', '\\"')
        assert answers(await ask(orders, change_set(insert("1", headers, Qty=3)))) == [
            "HTTP/1.1 201 Created\r\n"
            "DataServiceVersion: 3.0;\r\n"
            f"Content-Type: {JSON}\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Cache-Control: no-cache\r\n"
            f"{applied}"
            f"Location: {BASE}{entity('1')}\r\n"
            f"ETag: {etag(7)}\r\n\r\n"
            f'{{"odata.metadata":"{BASE}/$metadata#Orders/@Element","odata.etag":"{in_json}","PartitionKey":"eu",'
            '"RowKey":"1","Timestamp":"2026-08-03T10:15:31.1234567Z","Qty":3}\r\n'
        ]

    @pytest.mark.parametrize("headers", [{}, ANY])
    @pytest.mark.parametrize("verb", ["PUT", "MERGE", "PATCH"])
    async def test_change(self, orders: Client, verb: str, headers: dict[str, str]) -> None:
        """Recorded: PUT 74, PATCH 54, MERGE 30."""
        await orders.ask("PUT", entity("1"), {})
        assert answers(await ask(orders, change_set(part(verb, entity("1"), {"A": 1}, headers)))) == [
            "HTTP/1.1 204 No Content\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Cache-Control: no-cache\r\n"
            "DataServiceVersion: 1.0;\r\n"
            f"ETag: {etag(8)}\r\n\r\n\r\n"
        ]

    @pytest.mark.parametrize("verb", ["PUT", "MERGE", "PATCH"])
    async def test_change_with_a_preference(self, orders: Client, verb: str) -> None:
        assert answers(await ask(orders, change_set(part(verb, entity("1"), {"A": 1}, NO_CONTENT)))) == [
            "HTTP/1.1 204 No Content\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Cache-Control: no-cache\r\n"
            "Preference-Applied: return-no-content\r\n"
            "DataServiceVersion: 3.0;\r\n"
            f"ETag: {etag(7)}\r\n\r\n\r\n"
        ]

    @pytest.mark.parametrize("headers", [{}, NO_CONTENT])
    async def test_deletion(self, orders: Client, headers: dict[str, str]) -> None:
        await orders.ask("PUT", entity("1"), {})
        assert answers(await ask(orders, change_set(delete("1", headers)))) == [
            "HTTP/1.1 204 No Content\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Cache-Control: no-cache\r\n"
            "DataServiceVersion: 1.0;\r\n\r\n\r\n"
        ]

    @pytest.mark.parametrize("content_id", ["1", "0", "not-a-number", "1.5"])
    async def test_content_id_of_the_request_comes_first(self, orders: Client, content_id: str) -> None:
        body = change_set(
            insert("1", {**NO_CONTENT, "Content-ID": content_id}), part("PUT", entity("2"), {}, {"content-id": "x"})
        )
        first, second = answers(await ask(orders, body))
        assert headers_of(first)[0] == f"Content-ID: {content_id}"
        assert headers_of(second)[0] == "Content-ID: x"

    async def test_content_id_of_the_part_is_not_echoed(self, orders: Client) -> None:
        body = change_set(part("PUT", entity("1"), {}, mime="Content-ID: 0\r\n"))
        assert "Content-ID" not in answers(await ask(orders, body))[0]

    async def test_content_id_of_a_failure(self, orders: Client) -> None:
        (answer,) = answers(await ask(orders, change_set(delete("1", {"Content-ID": "7"}))))
        assert headers_of(answer) == [
            "Content-ID: 7",
            "X-Content-Type-Options: nosniff",
            "Cache-Control: no-cache",
            "DataServiceVersion: 3.0;",
            f"Content-Type: {JSON}",
        ]

    async def test_preference_of_the_batch_does_not_reach_its_parts(self, orders: Client) -> None:
        response = await ask(orders, change_set(insert("1")), NO_CONTENT)
        assert answers(response)[0].startswith("HTTP/1.1 201 Created\r\n")

    @pytest.mark.parametrize("level", ["nometadata", "minimalmetadata", "fullmetadata"])
    async def test_each_part_has_its_own_format(self, orders: Client, level: str) -> None:
        (answer,) = answers(await ask(orders, change_set(insert("1", {"Accept": f"application/json;odata={level}"}))))
        assert f"Content-Type: application/json;odata={level};streaming=true;charset=utf-8" in headers_of(answer)

    async def test_parts_without_accept_are_json(self, orders: Client) -> None:
        text = insert("1").replace("Accept: application/json;odata=minimalmetadata\r\n", "")
        (answer,) = answers(await ask(orders, change_set(text)))
        assert f"Content-Type: {JSON}" in headers_of(answer)


class TestQuery:
    async def test_entity(self, orders: Client) -> None:
        await orders.ask("PUT", entity("1"), {"Qty": 3})
        in_json = etag(7).replace('"', '\\"')
        assert only_answer(await ask(orders, query(part("GET", entity("1"))))) == (
            "HTTP/1.1 200 OK\r\n"
            "DataServiceVersion: 3.0;\r\n"
            f"Content-Type: {JSON}\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Cache-Control: no-cache\r\n"
            f"ETag: {etag(7)}\r\n\r\n"
            f'{{"odata.metadata":"{BASE}/$metadata#Orders/@Element","odata.etag":"{in_json}","PartitionKey":"eu",'
            '"RowKey":"1","Timestamp":"2026-08-03T10:15:31.1234567Z","Qty":3}\r\n'
        )

    async def test_missing_entity_has_the_index(self, orders: Client) -> None:
        """Recorded: also for the one query of a batch."""
        answer = only_answer(await ask(orders, query(part("GET", entity("1")))))
        assert failure(answer) == ("404 Not Found", "ResourceNotFound", f"0:{RESOURCE_MISSING}")

    async def test_missing_table(self, client: Client) -> None:
        answer = only_answer(await ask(client, query(part("GET", entity("1")))))
        assert failure(answer) == ("404 Not Found", "TableNotFound", f"0:{TABLE_MISSING}")
        assert "Cache-Control: no-cache" not in headers_of(answer)

    async def test_feed(self, orders: Client) -> None:
        await orders.ask("PUT", entity("1"), {})
        answer = only_answer(await ask(orders, query(part("GET", "/Orders()?$filter=RowKey%20eq%20'1'"))))
        assert answer.startswith("HTTP/1.1 200 OK\r\n")
        assert '"value":[{"odata.etag"' in answer

    async def test_query_does_not_belong_into_a_change_set(self, orders: Client) -> None:
        assert await fail(orders, part("GET", entity("1"))) == (
            "405 Method Not Allowed",
            "MethodNotAllowed",
            f"0:{NOT_ALLOWED}",
        )


class TestFailures:
    """One part in the answer of a batch that failed: that of the operation that failed."""

    @pytest.mark.parametrize(
        ("parts", "expected"),
        [
            # Alone, found while executing: no index (recorded, 14 of 14).
            ([delete("new")], ("404 Not Found", "ResourceNotFound", RESOURCE_MISSING)),
            ([insert("old")], ("409 Conflict", "EntityAlreadyExists", EXISTS)),
            (
                [delete("old", {"If-Match": OLD_ETAG})],
                ("412 Precondition Failed", "UpdateConditionNotSatisfied", CHANGED),
            ),
            ([part("PUT", entity("new"), {}, ANY)], ("404 Not Found", "ResourceNotFound", RESOURCE_MISSING)),
            # Alone, found before executing: the index.
            (
                [part("POST", "/Nowhere", {"PartitionKey": "", "RowKey": ""})],
                ("404 Not Found", "TableNotFound", f"0:{TABLE_MISSING}"),
            ),
            ([part("POST", "", {})], ("405 Method Not Allowed", "MethodNotAllowed", f"0:{NOT_ALLOWED}")),
            (
                [part("POST", "/Tables", {"TableName": "abc"})],
                ("405 Method Not Allowed", "MethodNotAllowed", f"0:{NOT_ALLOWED}"),
            ),
            ([part("DELETE", "/Tables('Orders')")], ("405 Method Not Allowed", "MethodNotAllowed", f"0:{NOT_ALLOWED}")),
            ([part("POST", "/Orders", "{")], ("400 Bad Request", "InvalidInput", f"0:{NOT_VALID}")),
            (
                [part("POST", "/Orders", {"RowKey": ""})],
                ("400 Bad Request", "PropertiesNeedValue", f"0:{NEED_VALUE}"),
            ),
            (
                [insert("a/b")],
                ("400 Bad Request", "OutOfRangeInput", "0:The 'RowKey' parameter of value 'a/b' is out of range."),
            ),
            (
                [insert("1", None, When="1600-01-01T00:00:00Z", **{"When@odata.type": "Edm.DateTime"})],
                ("400 Bad Request", "OutOfRangeInput", "0:One of the request inputs is out of range."),
            ),
            # Two and more: always the index.
            ([insert("1"), insert("old")], ("409 Conflict", "EntityAlreadyExists", f"1:{EXISTS}")),
            ([insert("1"), delete("new")], ("404 Not Found", "ResourceNotFound", f"1:{RESOURCE_MISSING}")),
            (
                [insert("1"), insert("2"), part("MERGE", entity("old"), {}, {"If-Match": OLD_ETAG}), insert("3")],
                ("412 Precondition Failed", "UpdateConditionNotSatisfied", f"2:{CHANGED}"),
            ),
            ([delete("new"), insert("old")], ("404 Not Found", "ResourceNotFound", f"0:{RESOURCE_MISSING}")),
            (
                [insert("1"), insert("1")],
                (
                    "400 Bad Request",
                    "InvalidDuplicateRow",
                    "1:The batch request contains multiple changes with same row key. "
                    "An entity can appear only once in a batch request.",
                ),
            ),
            (
                [insert("1"), insert("2"), insert("3", None, "us")],
                (
                    "400 Bad Request",
                    "CommandsInBatchActOnDifferentPartitions",
                    "2:All commands in a batch must operate on same entity group.",
                ),
            ),
            (
                [insert("1"), part("PUT", "/Other(PartitionKey='eu',RowKey='2')", {})],
                ("400 Bad Request", "InvalidInput", f"1:{NOT_VALID}"),
            ),
            (
                [insert("1"), part("PUT", "/Orders(PartitionKey='eu',RowKey='a/b')", {})],
                ("400 Bad Request", "InvalidInput", "1:Bad Request - Error in query syntax."),
            ),
            (
                [insert("1"), insert("2"), insert("3"), part("PUT", entity("4"), {"A": [1]})],
                ("400 Bad Request", "InvalidInput", f"3:{NOT_VALID}"),
            ),
            (
                [insert(f"{number}") for number in range(101)],
                (
                    "400 Bad Request",
                    "InvalidInput",
                    "99:The batch request operation exceeds the maximum 100 changes per change set.",
                ),
            ),
        ],
    )
    async def test_failure(self, orders: Client, parts: list[str], expected: tuple[str, str, str]) -> None:
        await orders.ask("PUT", entity("old"), {})
        assert await fail(orders, *parts) == expected
        assert await row_keys(orders) == ["old"]

    @pytest.mark.parametrize(
        ("item", "is_cached"),
        [
            (delete("new"), True),
            (insert("old"), True),
            (insert("a/b"), True),
            (part("POST", "/Nowhere", {"PartitionKey": "", "RowKey": ""}), False),
            (part("POST", "", {}), False),
            (part("PUT", entity("old"), {}, {"If-Match": 'W/"0x1"'}), False),
            (part("PUT", entity("old"), {}, {"If-Match": "nonsense"}), False),
        ],
    )
    async def test_headers_of_a_failure(self, orders: Client, item: str, is_cached: bool) -> None:
        """Recorded: Cache-Control is absent where the OData library refuses before a table is touched."""
        await orders.ask("PUT", entity("old"), {})
        (answer,) = answers(await ask(orders, change_set(item)))
        cached = ["Cache-Control: no-cache"] if is_cached else []
        expected = ["X-Content-Type-Options: nosniff", *cached, "DataServiceVersion: 3.0;", f"Content-Type: {JSON}"]
        assert headers_of(answer) == expected

    async def test_preference_of_a_failure(self, orders: Client) -> None:
        await orders.ask("PUT", entity("old"), {})
        (answer,) = answers(await ask(orders, change_set(insert("old", NO_CONTENT))))
        assert headers_of(answer)[2] == "Preference-Applied: return-no-content"

    async def test_etag_of_another_form(self, orders: Client) -> None:
        await orders.ask("PUT", entity("old"), {})
        text = "The condition specified using HTTP conditional header(s) is not met."
        item = part("PUT", entity("old"), {}, {"If-Match": 'W/"0x5B168C7B6E589D2"'})
        assert (await fail(orders, item))[:2] == ("412 Precondition Failed", "ConditionNotMet")
        assert await fail(orders, insert("1"), item) == ("412 Precondition Failed", "ConditionNotMet", f"1:{text}")

    async def test_error_has_the_level_of_the_part(self, orders: Client) -> None:
        (answer,) = answers(await ask(orders, change_set(delete("1", {"Accept": "application/json;odata=nometadata"}))))
        assert "Content-Type: application/json;odata=nometadata;streaming=true;charset=utf-8" in headers_of(answer)

    async def test_request_id_is_that_of_the_batch(self, orders: Client) -> None:
        response = await ask(orders, change_set(delete("1")))
        assert f"RequestId:{response.header('x-ms-request-id')}" in answers(response)[0]


class TestRun:
    async def test_all_operations_together(self, orders: Client) -> None:
        for row_key in ("update", "merge", "delete"):
            await orders.ask("PUT", entity(row_key), {"Old": 1})
        body = change_set(
            insert("insert", None, New=1),
            part("PUT", entity("update"), {"New": 1}, ANY),
            part("PATCH", entity("merge"), {"New": 1}, ANY),
            part("PUT", entity("or replace"), {"New": 1}),
            part("MERGE", entity("or merge"), {"New": 1}),
            delete("delete"),
        )
        statuses = [answer[9:12] for answer in answers(await ask(orders, body))]
        assert statuses == ["201", "204", "204", "204", "204", "204"]
        response = await orders.ask("GET", "/Orders", headers={"Accept": "application/json;odata=nometadata"})
        stored = {item["RowKey"]: sorted(item)[:2] for item in json.loads(response.body)["value"]}
        assert stored == {
            "insert": ["New", "PartitionKey"],
            "update": ["New", "PartitionKey"],
            "merge": ["New", "Old"],
            "or replace": ["New", "PartitionKey"],
            "or merge": ["New", "PartitionKey"],
        }

    async def test_hundred_operations(self, orders: Client) -> None:
        response = await ask(orders, change_set(*(insert(f"{number:03}") for number in range(100))))
        assert len(answers(response)) == 100
        assert len(await row_keys(orders)) == 100

    async def test_empty_change_set(self, orders: Client) -> None:
        """Recorded: test_query_zero_entities."""
        assert answers(await ask(orders, change_set())) == []

    async def test_nothing_is_done_where_one_operation_fails(self, orders: Client) -> None:
        await orders.ask("PUT", entity("a"), {"A": 1})
        before = (await orders.ask("GET", "/Orders")).body
        body = change_set(
            delete("a"), part("PUT", entity("b"), {}), insert("c"), part("PUT", entity("missing"), {}, ANY)
        )
        assert failure(answers(await ask(orders, body))[0])[2] == f"3:{RESOURCE_MISSING}"
        assert (await orders.ask("GET", "/Orders")).body == before

    async def test_limits_of_an_entity_hold_in_a_batch(self, orders: Client) -> None:
        properties: dict[str, Any] = {f"A{number}": 1 for number in range(253)}
        refusal = await fail(orders, insert("1"), insert("2", None, **properties))
        assert refusal[:2] == ("400 Bad Request", "TooManyProperties")
        assert refusal[2].startswith("1:The entity contains more properties than allowed.")
        assert await row_keys(orders) == []

    async def test_empty_keys(self, orders: Client) -> None:
        body = change_set(part("PUT", "/Orders(PartitionKey='',RowKey='')", {"A": 1}))
        assert answers(await ask(orders, body))[0].startswith("HTTP/1.1 204")


class TestUrls:
    """Of the URL of a part only path and query count."""

    @pytest.mark.parametrize(
        "url",
        [
            f"http://127.0.0.1:10002/{ACCOUNT}/Orders(PartitionKey='eu',RowKey='1')",
            f"https://other.example/{ACCOUNT}/Orders(PartitionKey='eu',RowKey='1')",
            "https://contoso.table.core.windows.net/Orders(PartitionKey='eu',RowKey='1')",
            "http://:contoso.table.core.windows.net:80/Orders(PartitionKey='eu',RowKey='1')",
            f"/{ACCOUNT}/Orders(PartitionKey='eu',RowKey='1')",
            "/Orders(PartitionKey='eu',RowKey='1')",
            "/Orders(PartitionKey='eu', RowKey='1')",
            "/Orders(RowKey='1',PartitionKey='eu')",
            "/Orders(PartitionKey='eu,RowKey=%271%27)".replace("'eu", "'eu%27"),
            "/Orders%28PartitionKey=%27eu%27,RowKey=%271%27%29",
            "/orders(PartitionKey='eu',RowKey='1')?$format=application%2Fjson%3Bodata%3Dnometadata",
            f"http://127.0.0.1:10002/{ACCOUNT}-secondary/Orders(PartitionKey='eu',RowKey='1')",
        ],
    )
    async def test_url(self, orders: Client, url: str) -> None:
        response = await ask(orders, change_set(part("PUT", "", {"A": 1}, url=url)))
        assert answers(response)[0].startswith("HTTP/1.1 204 No Content\r\n")
        assert await row_keys(orders) == ["1"]

    async def test_table_that_is_called_like_the_account(self, client: Client) -> None:
        await client.ask("POST", "/Tables", {"TableName": ACCOUNT})
        item = part("POST", f"/{ACCOUNT}", {"PartitionKey": "eu", "RowKey": "1"})
        assert answers(await ask(client, change_set(item)))[0].startswith("HTTP/1.1 201 Created\r\n")

    async def test_batch_at_the_root_without_the_account(self, orders: Client) -> None:
        """The clients of 2013 post there in emulator mode; the account is in the Authorization header alone."""
        response = await orders.service.handle(
            root_batch(change_set(part("PUT", "", {}, url=f"/{ACCOUNT}{entity('1')}")))
        )
        assert answers(response)[0].startswith("HTTP/1.1 204 No Content\r\n")
        assert await row_keys(orders) == ["1"]

    async def test_batch_at_the_root_with_urls_without_the_account(self, orders: Client) -> None:
        response = await orders.service.handle(
            root_batch(change_set(part("POST", "", {"PartitionKey": "eu", "RowKey": "1"}, url="/Orders")))
        )
        (answer,) = answers(response)
        assert f"Location: {BASE}{entity('1')}" in headers_of(answer)

    async def test_batch_at_the_root_of_a_stranger(self, orders: Client) -> None:
        request = root_batch(change_set(insert("1")))
        request.headers["authorization"] = "SharedKey somebodyelse:AAAA"
        assert (await orders.service.handle(request)).status == 404

    async def test_tunnelled_method(self, orders: Client) -> None:
        item = part("POST", entity("1"), {"A": 1}, {"X-HTTP-Method": "MERGE"})
        (answer,) = answers(await ask(orders, change_set(item)))
        assert answer.startswith("HTTP/1.1 204 No Content\r\n")


class TestLineEnds:
    """Clients send CRLF, bare LF, and both in one body; the answer has CRLF."""

    @pytest.mark.parametrize(
        "body",
        [
            change_set(insert("1")).replace("\r\n", "\n"),
            change_set(insert("1")).replace("\r\n\r\n", "\n\n"),
            change_set(insert("1")).replace("--changeset_c--", "\n\n--changeset_c--"),
            change_set(insert("1")).replace("binary\r\n\r\n", "binary\r\n\r\n\r\n\r\n"),
            change_set(insert("1")).replace("--batch_b--\r\n", "--batch_b"),
            change_set(insert("1")).replace("--batch_b--\r\n", ""),
            change_set(insert("1")).replace("--batch_b--", "--batch_b–"),
            change_set(insert("1", {"Content-Length": "40"})),
            change_set(insert("1", {"Content-Length": "1"})),
            change_set(insert("1", {"Content-Length": "9999"})),
            "preamble\r\n" + change_set(insert("1")) + "epilogue\r\n",
        ],
        ids=[
            "LF",
            "mixed",
            "blank lines before a delimiter",
            "blank lines after the headers",
            "end without dashes",
            "no end",
            "typographic dash",
            "length",
            "short length",
            "long length",
            "preamble and epilogue",
        ],
    )
    async def test_body(self, orders: Client, body: str) -> None:
        (answer,) = answers(await ask(orders, body))
        assert answer.startswith("HTTP/1.1 201 Created\r\n")
        assert await row_keys(orders) == ["1"]


def atom_part(
    method: str, path: str, properties: str | None = None, headers: Mapping[str, str] | None = None, *, mime: str = ""
) -> str:
    """One operation in Atom; without Accept, as the old Python clients send it."""
    given = dict(headers or {})
    text = ""
    if properties is not None:
        given = {"Content-Type": "application/atom+xml;type=entry", **given}
        text = entry(properties).decode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return (
        f"Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n{mime}\r\n"
        f"{method} {BASE + path} HTTP/1.1\r\n{lines}\r\n{text}\r\n"
    )


def atom_insert(row_key: str, headers: Mapping[str, str] | None = None) -> str:
    """An Insert Entity in Atom."""
    keys = f"<d:PartitionKey>eu</d:PartitionKey><d:RowKey>{row_key}</d:RowKey>"
    return atom_part("POST", "/Orders", f'{keys}<d:Qty m:type="Edm.Int32">3</d:Qty>', headers)


OF_BOTH = {"x-ms-version": "2014-02-14", "Accept": None}
OF_ATOM = {"x-ms-version": "2012-02-12", "Accept": "application/atom+xml,application/xml"}
IN_ATOM = "application/atom+xml;charset=utf-8"


class TestAtom:
    @pytest.mark.parametrize(("headers", "odata"), [(OF_BOTH, "3.0;"), (OF_ATOM, "1.0;")])
    async def test_insert(self, orders: Client, headers: dict[str, str | None], odata: str) -> None:
        (answer,) = answers(await ask(orders, change_set(atom_insert("1", {"Content-ID": "7"})), headers))
        head, _, body = answer.partition("\r\n\r\n")
        assert head.split("\r\n") == [
            "HTTP/1.1 201 Created",
            f"DataServiceVersion: {odata}",
            f"Content-Type: {IN_ATOM}",
            "Content-ID: 7",
            "X-Content-Type-Options: nosniff",
            "Cache-Control: no-cache",
            f"Location: {BASE}{entity('1')}",
            f"ETag: {etag(7)}",
        ]
        assert body.startswith('<?xml version="1.0" encoding="utf-8" standalone="yes"?><entry xml:base=')
        assert '<d:Qty m:type="Edm.Int32">3</d:Qty>' in body
        assert body.endswith("</entry>\r\n")

    async def test_other_operations(self, orders: Client) -> None:
        keys = "<d:PartitionKey>eu</d:PartitionKey><d:RowKey>2</d:RowKey>"
        for row_key in ("2", "3", "4"):
            await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": row_key, "A": 1})
        parts = (
            atom_insert("1", {"Prefer": "return-no-content"}),
            atom_part("MERGE", entity("2"), f"{keys}<d:B>2</d:B>", ANY),
            atom_part("PUT", entity("3"), "", ANY),
            atom_part("DELETE", entity("4"), None, ANY),
        )
        inserted, *others = answers(await ask(orders, change_set(*parts), OF_BOTH))
        assert [answer.split("\r\n")[0] for answer in (inserted, *others)] == ["HTTP/1.1 204 No Content"] * 4
        assert headers_of(inserted)[2:4] == ["Preference-Applied: return-no-content", "DataServiceVersion: 3.0;"]
        for answer in others:
            assert "DataServiceVersion: 1.0;" in headers_of(answer)
        response = await orders.ask("GET", "/Orders", headers={"Accept": "application/json;odata=nometadata"})
        stored = [set(item) - {"PartitionKey", "Timestamp"} for item in json.loads(response.body)["value"]]
        assert stored == [{"RowKey", "Qty"}, {"RowKey", "A", "B"}, {"RowKey"}]

    async def test_format_of_each_part_is_its_own(self, orders: Client) -> None:
        first, second = answers(await ask(orders, change_set(insert("1"), atom_insert("2")), OF_BOTH))
        assert f"Content-Type: {JSON}" in headers_of(first)
        assert f"Content-Type: {IN_ATOM}" in headers_of(second)

    @pytest.mark.parametrize("headers", [OF_BOTH, OF_ATOM])
    async def test_failure(self, orders: Client, headers: dict[str, str | None]) -> None:
        """In the order of the parts in JSON; the body has no byte order mark amid other text."""
        parts = (atom_insert("1"), atom_part("DELETE", entity("2"), None, {**ANY, "Content-ID": "9"}))
        response = await ask(orders, change_set(*parts), headers)
        (answer,) = answers(response)
        head, _, body = answer.partition("\r\n\r\n")
        assert head.split("\r\n") == [
            "HTTP/1.1 404 Not Found",
            "Content-ID: 9",
            "X-Content-Type-Options: nosniff",
            "Cache-Control: no-cache",
            "DataServiceVersion: 1.0;",
            "Content-Type: application/xml",
        ]
        text = re.sub(r"Time:.*Z", "Time:T", body).replace(response.header("x-ms-request-id") or "", "ID")
        assert text == (
            '<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n'
            '<error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">\r\n'
            "  <code>ResourceNotFound</code>\r\n"
            f'  <message xml:lang="en-US">1:{RESOURCE_MISSING}\nRequestId:ID\nTime:T</message>\r\n'
            "</error>\r\n"
        )
        assert await row_keys(orders) == []

    @pytest.mark.parametrize(
        ("item", "headers", "status", "code"),
        [
            (atom_part("POST", "/Orders", "<d:A>"), OF_BOTH, "400 Bad Request", "InvalidInput"),
            (insert("1"), OF_ATOM, "415 Unsupported Media Type", "JsonFormatNotSupported"),
            (part("MERGE", entity("1"), {}), OF_ATOM, "415 Unsupported Media Type", "JsonFormatNotSupported"),
            (atom_insert("1", {"Accept": "text/html"}), OF_BOTH, "415 Unsupported Media Type", "MediaTypeNotSupported"),
        ],
    )
    async def test_part_that_is_refused(
        self, orders: Client, item: str, headers: dict[str, str | None], status: str, code: str
    ) -> None:
        (answer,) = answers(await ask(orders, change_set(item), headers))
        assert answer.startswith(f"HTTP/1.1 {status}\r\n")
        assert f"<code>{code}</code>" in answer

    async def test_atom_of_today(self, orders: Client) -> None:
        """Refused in JSON: the form of all parts that name nothing that can be had."""
        assert await fail(orders, atom_insert("1")) == (
            "415 Unsupported Media Type",
            "AtomFormatNotSupported",
            "0:Atom format is not supported.",
        )

    @pytest.mark.parametrize("headers", [OF_BOTH, OF_ATOM])
    async def test_query(self, orders: Client, headers: dict[str, str | None]) -> None:
        await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": "1"})
        answer = only_answer(await ask(orders, query(atom_part("GET", entity("1"))), headers))
        assert answer.startswith("HTTP/1.1 200 OK\r\n")
        assert f"Content-Type: {IN_ATOM}" in headers_of(answer)
        assert f"ETag: {etag(7)}" in headers_of(answer)
        assert f' xml:base="{BASE}/" ' in answer
        missing = only_answer(await ask(orders, query(atom_part("GET", entity("2"))), headers))
        assert f">0:{RESOURCE_MISSING}\n" in missing

    async def test_feed(self, orders: Client) -> None:
        answer = only_answer(await ask(orders, query(atom_part("GET", "/Orders()?$top=1")), OF_ATOM))
        assert answer.endswith("</feed>\r\n")

    async def test_bare_line_feeds_and_the_root(self, orders: Client) -> None:
        """As the old Python clients send it: posted to the root, which names no account."""
        body = change_set(atom_insert("1"), atom_insert("2")).replace("\r\n", "\n")
        response = await orders.service.handle(root_batch(body))
        assert [answer.split("\r\n")[0] for answer in answers(response)] == ["HTTP/1.1 201 Created"] * 2
        assert await row_keys(orders) == ["1", "2"]


def root_batch(body: str) -> Request:
    """A batch posted to `/$batch` at the root, signed as the old Python client does."""
    date, content_type = formatdate(usegmt=True), "multipart/mixed; boundary=batch_b"
    text = f"POST\n\n{content_type}\n{date}\n/{ACCOUNT}/$batch"
    signature = base64.b64encode(hmac.digest(DEVELOPMENT_ACCOUNT.keys[0], text.encode(), "sha256")).decode()
    headers: dict[str, Any] = {
        "host": "127.0.0.1:10002",
        "x-ms-version": "2014-02-14",
        "x-ms-date": date,
        "content-type": content_type,
        "authorization": f"SharedKey {ACCOUNT}:{signature}",
    }
    return Request("POST", "/$batch", headers, body.encode())
