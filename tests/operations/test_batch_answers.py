"""The answers of operations in a batch, compared to the byte with recorded ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.operations.batches import (
    ANY,
    BASE,
    JSON,
    NO_CONTENT,
    answers,
    ask,
    change_set,
    delete,
    entity,
    etag,
    headers_of,
    insert,
    part,
)

if TYPE_CHECKING:
    from tests.operations.conftest import Client


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
