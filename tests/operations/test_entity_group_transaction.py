"""Entity group transaction: POST /$batch, as a whole.

How clients write the container is tested in `test_batch_handwriting.py` and `tests/wire/test_multipart.py`, the answers
of operations in `test_batch_answers.py` and `test_batch_failures.py`, and all in Atom in `test_batch_in_atom.py`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.config import Settings
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore
from tests.operations.batches import (
    ACCOUNT,
    ANY,
    BASE,
    JSON,
    NO_CONTENT,
    NOT_ALLOWED,
    NOT_VALID,
    RESOURCE_MISSING,
    TABLE_MISSING,
    answers,
    ask,
    change_set,
    delete,
    entity,
    etag,
    fail,
    failure,
    headers_of,
    insert,
    only_answer,
    part,
    query,
    row_keys,
)
from tests.operations.conftest import Client, FixedClock, make_request, signed

if TYPE_CHECKING:
    from rowkey.store.interface import Table
    from rowkey.wire.request import Response


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
            ("multipart/mixedX; boundary=batch_b", (415, "MediaTypeNotSupported", None)),
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
            change_set(insert("1")).replace("boundary=changeset_c", "boundary=changeset_d"),
            change_set(insert("1")).replace("boundary=changeset_c", "boundary=Changeset_C"),
            change_set(insert("1")).replace("changeset_c", "c" * 201),
            change_set(insert("1")).replace("changeset_c", "a,b"),
            change_set(insert("1")).replace("--changeset_c", "text"),
            change_set(insert("1")).replace("mixed", "related"),
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
            "another inner boundary",
            "inner boundary in other case",
            "long inner boundary",
            "inner boundary that needs quotes",
            "no inner delimiter",
            "change set of another kind",
        ],
    )
    async def test_bodies_that_are_refused_whole(self, orders: Client, body: str) -> None:
        assert orders.refusal(await ask(orders, body)) == (400, "InvalidInput", NOT_VALID)
        assert await row_keys(orders) == []

    async def test_preference_of_a_batch_that_is_refused(self, orders: Client) -> None:
        """It would be the parts' own."""
        assert (await ask(orders, "", NO_CONTENT)).header("Preference-Applied") is None

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

    async def test_table_that_was_made_anew_is_looked_for_once_more(self) -> None:
        """By another server, of which this one has not heard."""
        store = RememberingStore()
        client = Client(FixedClock(), store, Service(Settings(data=None), store))
        for number in ("1", "2"):
            await store.create_table(ACCOUNT, "Orders")
            (answer,) = answers(await ask(client, change_set(insert(number))))
            assert answer.startswith("HTTP/1.1 201 Created\r\n")
            await store.delete_table(ACCOUNT, "Orders")
        await store.create_table(ACCOUNT, "Orders")
        answer = only_answer(await ask(client, query(part("GET", entity("2")))))
        assert failure(answer) == ("404 Not Found", "ResourceNotFound", f"0:{RESOURCE_MISSING}")
        await store.delete_table(ACCOUNT, "Orders")
        assert await fail(client, insert("3")) == ("404 Not Found", "TableNotFound", f"0:{TABLE_MISSING}")

    async def test_empty_keys(self, orders: Client) -> None:
        body = change_set(part("PUT", "/Orders(PartitionKey='',RowKey='')", {"A": 1}))
        assert answers(await ask(orders, body))[0].startswith("HTTP/1.1 204")


class TestSecondary:
    """Reads are for both, and what a batch is only its parts tell."""

    async def test_query(self, orders: Client) -> None:
        await orders.ask("PUT", entity("1"), {})
        response = await ask_secondary(orders, query(part("GET", entity("1"))))
        assert only_answer(response).startswith("HTTP/1.1 200 OK\r\n")

    async def test_change_set(self, orders: Client) -> None:
        (answer,) = answers(await ask_secondary(orders, change_set(insert("1"))))
        expected = ("403 Forbidden", "InsufficientAccountPermissions", "0:Write operations are not allowed.")
        assert failure(answer) == expected
        assert await row_keys(orders) == []


async def ask_secondary(client: Client, body: str) -> Response:
    """Send a batch to the secondary."""
    headers = {"Content-Type": "multipart/mixed; boundary=batch_b"}
    request = make_request("POST", f"{BASE}-secondary/$batch", body.encode(), headers)
    return await client.service.handle(signed(request))


class RememberingStore(MemoryStore):
    """Goes by the table that it knows until that is gone, as a server does that shares its tables with others."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, Table] = {}

    async def find_table(self, account: str, name: str) -> Table | None:
        found = self._known.pop(name, None) or await super().find_table(account, name)
        if found is not None and found.identity in self._contents:
            self._known[name] = found
        return found
