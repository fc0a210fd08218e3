"""Batches of the versions that have Atom."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.operations.batches import (
    ANY,
    BASE,
    JSON,
    RESOURCE_MISSING,
    answers,
    ask,
    atom_insert,
    atom_part,
    change_set,
    entity,
    etag,
    fail,
    headers_of,
    insert,
    only_answer,
    part,
    query,
    root_batch,
    row_keys,
)

if TYPE_CHECKING:
    from tests.operations.conftest import Client


OF_BOTH = {"x-ms-version": "2014-02-14", "Accept": None}
OF_ATOM = {"x-ms-version": "2012-02-12", "Accept": "application/atom+xml,application/xml"}
OF_2011 = {**OF_ATOM, "x-ms-version": "2011-08-18"}
ERROR = "application/xml;charset=utf-8"
IN_ATOM = "application/atom+xml;charset=utf-8"
IN_TYPED_ATOM = "application/atom+xml;type=entry;charset=utf-8"


class TestAtom:
    @pytest.mark.parametrize(
        ("headers", "lines"),
        [
            (
                OF_BOTH,
                [
                    "DataServiceVersion: 3.0;",
                    f"Content-Type: {IN_TYPED_ATOM}",
                    "Content-ID: 7",
                    "X-Content-Type-Options: nosniff",
                    "Cache-Control: no-cache",
                ],
            ),
            # Captured of 2011-08-18.
            (
                OF_ATOM,
                [
                    "Content-ID: 7",
                    "Cache-Control: no-cache",
                    "DataServiceVersion: 1.0;",
                    f"Content-Type: {IN_ATOM}",
                ],
            ),
        ],
    )
    async def test_insert(self, orders: Client, headers: dict[str, str | None], lines: list[str]) -> None:
        (answer,) = answers(await ask(orders, change_set(atom_insert("1", {"Content-ID": "7"})), headers))
        head, _, body = answer.partition("\r\n\r\n")
        assert head.split("\r\n") == [
            "HTTP/1.1 201 Created",
            *lines,
            f"Location: {BASE}{entity('1')}",
            f"ETag: {etag(7)}",
        ]
        assert body.startswith('<?xml version="1.0" encoding="utf-8"')
        assert '<d:Qty m:type="Edm.Int32">3</d:Qty>' in body
        assert body.endswith("</entry>\r\n")

    async def test_change_and_deletion_by_a_version_before_json(self, orders: Client) -> None:
        await orders.ask("PUT", entity("2"), {})
        parts = (
            atom_part("PUT", entity("1"), "<d:A>1</d:A>", {"Content-ID": "1"}),
            atom_part("DELETE", entity("2"), None, {**ANY, "Prefer": "return-no-content"}),
        )
        assert answers(await ask(orders, change_set(*parts), OF_ATOM)) == [
            "HTTP/1.1 204 No Content\r\nContent-ID: 1\r\nCache-Control: no-cache\r\nDataServiceVersion: 1.0;\r\n"
            f"ETag: {etag(8)}\r\n\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nCache-Control: no-cache\r\nDataServiceVersion: 1.0;\r\n\r\n\r\n",
        ]

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
        assert f"Content-Type: {IN_TYPED_ATOM}" in headers_of(second)

    @pytest.mark.parametrize(
        ("headers", "lines"), [(OF_BOTH, ["X-Content-Type-Options: nosniff"]), (OF_ATOM, [])], ids=["both", "Atom"]
    )
    async def test_failure(self, orders: Client, headers: dict[str, str | None], lines: list[str]) -> None:
        """In the order of the parts in JSON."""
        parts = (atom_insert("1"), atom_part("DELETE", entity("2"), None, {**ANY, "Content-ID": "9"}))
        response = await ask(orders, change_set(*parts), headers)
        (answer,) = answers(response)
        head, _, body = answer.partition("\r\n\r\n")
        assert head.split("\r\n") == [
            "HTTP/1.1 404 Not Found",
            "Content-ID: 9",
            *lines,
            "Cache-Control: no-cache",
            "DataServiceVersion: 1.0;",
            f"Content-Type: {ERROR}",
        ]
        text = re.sub(r"Time:.*Z", "Time:T", body).replace(response.header("x-ms-request-id") or "", "ID")
        assert text == (
            '<?xml version="1.0" encoding="utf-8"?>'
            '<error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>ResourceNotFound</code>'
            f'<message xml:lang="en-US">1:{RESOURCE_MISSING}\nRequestId:ID\nTime:T</message></error>\r\n'
        )
        assert await row_keys(orders) == []

    async def test_failure_of_the_first_versions(self, orders: Client) -> None:
        """Recorded 2011-08-18, to the byte."""
        parts = (atom_insert("1"), atom_part("PUT", entity("2"), "", {**ANY, "Content-ID": "2"}))
        response = await ask(orders, change_set(*parts), OF_2011)
        (answer,) = answers(response)
        text = re.sub(r"Time:.*Z", "Time:T", answer).replace(response.header("x-ms-request-id") or "", "ID")
        assert text == (
            "HTTP/1.1 404 Not Found\r\n"
            "Content-ID: 2\r\n"
            "Cache-Control: no-cache\r\n"
            "DataServiceVersion: 1.0;\r\n"
            "Content-Type: application/xml\r\n"
            "\r\n"
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

    @pytest.mark.parametrize(("option", "body_type"), [("$format=json", JSON), ("$format=atom", ERROR), ("", ERROR)])
    @pytest.mark.parametrize(
        "query_option", ["timeout=x", "$unknown=1"], ids=["refused at the front", "refused by the library"]
    )
    async def test_format_option_of_a_part_that_is_refused(
        self, orders: Client, query_option: str, option: str, body_type: str
    ) -> None:
        item = atom_part("POST", f"/Orders?{query_option}&{option}", "")
        (answer,) = answers(await ask(orders, change_set(item), OF_BOTH))
        assert headers_of(answer)[-1] == f"Content-Type: {body_type}"

    @pytest.mark.parametrize(("option", "body_type"), [("?$format=json", JSON), ("", ERROR)])
    async def test_format_option_of_a_part_that_was_not_read(self, orders: Client, option: str, body_type: str) -> None:
        """One too many, or without an address; before there was only JSON, what a part names decides."""
        one_too_many = change_set(*(atom_part("POST", f"/Orders{option}", "") for _ in range(101)))
        (answer,) = answers(await ask(orders, one_too_many, OF_BOTH))
        assert headers_of(answer)[-1] == f"Content-Type: {body_type}"
        (answer,) = answers(await ask(orders, change_set(atom_part("DELETE", f"/(retry){option}")), OF_BOTH))
        assert headers_of(answer)[-1] == f"Content-Type: {body_type}"

    @pytest.mark.parametrize(("headers", "body_type"), [(OF_BOTH, IN_TYPED_ATOM), (OF_ATOM, IN_ATOM)])
    async def test_query(self, orders: Client, headers: dict[str, str | None], body_type: str) -> None:
        await orders.ask("POST", "/Orders", {"PartitionKey": "eu", "RowKey": "1"})
        answer = only_answer(await ask(orders, query(atom_part("GET", entity("1"))), headers))
        assert answer.startswith("HTTP/1.1 200 OK\r\n")
        assert f"Content-Type: {body_type}" in headers_of(answer)
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
