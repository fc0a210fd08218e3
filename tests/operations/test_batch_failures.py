"""Operations that fail in a batch: which part the answer has, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.operations.batches import (
    ANY,
    CHANGED,
    EXISTS,
    JSON,
    NEED_VALUE,
    NO_CONTENT,
    NOT_ALLOWED,
    NOT_VALID,
    OLD_ETAG,
    RESOURCE_MISSING,
    TABLE_MISSING,
    answers,
    ask,
    change_set,
    delete,
    entity,
    fail,
    failure,
    headers_of,
    insert,
    part,
    row_keys,
)

if TYPE_CHECKING:
    from tests.operations.conftest import Client


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

    @pytest.mark.parametrize("preference", ["return-content", "return-no-content"])
    async def test_preference_of_a_failure(self, orders: Client, preference: str) -> None:
        await orders.ask("PUT", entity("old"), {})
        (answer,) = answers(await ask(orders, change_set(insert("old", {"Prefer": preference}))))
        assert headers_of(answer)[2] == f"Preference-Applied: {preference}"

    @pytest.mark.parametrize(
        "item",
        [
            delete("new", NO_CONTENT),
            part("PUT", entity("new"), {}, {**ANY, **NO_CONTENT}),
            part("POST", entity("new"), None, {**ANY, **NO_CONTENT, "X-HTTP-Method": "DELETE"}),
        ],
    )
    async def test_preference_that_applies_to_nothing(self, orders: Client, item: str) -> None:
        """Recorded of Delete Entity in a batch, and of a 412 to Update Entity alone."""
        (answer,) = answers(await ask(orders, change_set(item)))
        assert "Preference-Applied" not in answer

    @pytest.mark.parametrize(
        "item",
        [
            part("GET", entity("old")),
            part("GET", "/Orders()?$filter=(((&$top=x"),
            part("HEAD", entity("old")),
            part("GET", "/Tables"),
            part("POST", "/Tables", "{"),
            part("DELETE", "/Tables('Orders')", None, ANY),
            part("GET", "/Orders?comp=acl"),
            part("PUT", "/Orders?comp=acl", "<nonsense"),
            part("PUT", "/?restype=service&comp=properties", "<nonsense"),
            part("OPTIONS", "/Orders"),
            part("POST", "/$batch", "{}"),
            part("POST", "/Orders/$batch", "{}"),
            part("POST", entity("old"), "{"),
        ],
    )
    async def test_what_is_no_entity_write_is_refused_unread(self, orders: Client, item: str) -> None:
        await orders.ask("PUT", entity("old"), {})
        expected = ("405 Method Not Allowed", "MethodNotAllowed", f"0:{NOT_ALLOWED}")
        assert await fail(orders, item, insert("1")) == expected
        assert await row_keys(orders) == ["old"]

    async def test_batches_within_batches(self, orders: Client) -> None:
        """Only the outermost is opened."""
        item = insert("1")
        for depth in range(1000, 1400):
            body = change_set(item).replace("batch_b", f"batch_{depth}").replace("changeset_c", f"changeset_{depth}")
            kind = {"Content-Type": f"multipart/mixed; boundary=batch_{depth}"}
            item = part("POST", "/$batch", body, kind)
        expected = ("405 Method Not Allowed", "MethodNotAllowed", f"0:{NOT_ALLOWED}")
        assert await fail(orders, item) == expected
        assert await row_keys(orders) == []

    @pytest.mark.parametrize(
        ("item", "status", "code"),
        [
            (part("DELETE", "/(retry)"), "404 Not Found", "ResourceNotFound"),
            (part("PUT", entity("%FF"), {}), "400 Bad Request", "RequestUrlFailedToParse"),
            (part("PUT", entity("1") + "?comp=foo", {}), "400 Bad Request", "InvalidQueryParameterValue"),
            (part("PUT", entity("1") + "?timeout=x", {}), "400 Bad Request", "InvalidQueryParameterValue"),
            (part("BREW", entity("1"), {}), "400 Bad Request", "InvalidHttpVerb"),
        ],
    )
    async def test_what_the_front_end_finds_is_numbered_and_in_the_form_of_all_parts(
        self, orders: Client, item: str, status: str, code: str
    ) -> None:
        (answer,) = answers(await ask(orders, change_set(item)))
        assert failure(answer)[:2] == (status, code)
        assert failure(answer)[2].startswith("0:")
        assert headers_of(answer) == [
            "X-Content-Type-Options: nosniff",
            "Cache-Control: no-cache",
            "DataServiceVersion: 3.0;",
            f"Content-Type: {JSON}",
        ]
        assert (await fail(orders, item, insert("1")))[2].startswith("0:")
        assert (await fail(orders, insert("1"), item))[2].startswith("1:")

    async def test_condition_that_is_stated_twice(self, orders: Client) -> None:
        """The two are one list, as in a request of its own: neither counts."""
        await orders.ask("PUT", entity("old"), {"A": 1})
        item = part("PUT", entity("old"), {}, {"If-Match": OLD_ETAG, "if-match": "*"})
        status, code, text = await fail(orders, item)
        assert (status, code) == ("400 Bad Request", "InvalidInput")
        assert text.endswith("Please make sure only one etag value is specified and is valid.")

    async def test_etag_of_another_form(self, orders: Client) -> None:
        await orders.ask("PUT", entity("old"), {})
        text = "The condition specified using HTTP conditional header(s) is not met."
        item = part("PUT", entity("old"), {}, {"If-Match": 'W/"0x5B168C7B6E589D2"'})
        assert (await fail(orders, item))[:2] == ("412 Precondition Failed", "ConditionNotMet")
        assert await fail(orders, insert("1"), item) == ("412 Precondition Failed", "ConditionNotMet", f"1:{text}")

    @pytest.mark.parametrize(
        ("accept", "code"),
        [
            ("text/html", "MediaTypeNotSupported"),
            ("application/json;odata=verbose", "JsonVerboseFormatNotSupported"),
            ("application/atom+xml,application/xml", "AtomFormatNotSupported"),
        ],
    )
    async def test_format_that_cannot_be_had(self, orders: Client, accept: str, code: str) -> None:
        """As alone, but said in JSON; what is answered without a body needs no format."""
        wanted = {"Accept": accept}
        assert (await fail(orders, insert("1", wanted)))[:2] == ("415 Unsupported Media Type", code)
        (answer,) = answers(await ask(orders, change_set(part("PUT", entity("1"), {}, wanted))))
        assert answer.startswith("HTTP/1.1 204 No Content\r\n")
        assert (await fail(orders, delete("2", wanted)))[1:] == ("ResourceNotFound", RESOURCE_MISSING)

    async def test_error_has_the_level_of_the_part(self, orders: Client) -> None:
        (answer,) = answers(await ask(orders, change_set(delete("1", {"Accept": "application/json;odata=nometadata"}))))
        assert "Content-Type: application/json;odata=nometadata;streaming=true;charset=utf-8" in headers_of(answer)

    async def test_request_id_is_that_of_the_batch(self, orders: Client) -> None:
        response = await ask(orders, change_set(delete("1")))
        assert f"RequestId:{response.header('x-ms-request-id')}" in answers(response)[0]
