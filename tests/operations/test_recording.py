"""A request and what became of it, as analytics records it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.auth.grants import OWNER
from rowkey.errors import (
    AuthenticationFailed,
    EntityAlreadyExists,
    InternalError,
    InvalidQuery,
    OperationTimedOut,
    ServiceError,
)
from rowkey.model.entity import Key, compose_entity
from rowkey.observe.transaction import Outcome, Part, Transaction
from rowkey.operations.entity_group_transaction import BatchFailure, EntityGroupTransaction
from rowkey.operations.operation import Operation
from rowkey.operations.query_entities import QueryEntities
from rowkey.operations.recording import transaction_of
from rowkey.store.interface import OutcomeUnknown
from rowkey.wire.request import Response
from tests.operations.conftest import ACCOUNT, FIRST_WRITE, Client

if TYPE_CHECKING:
    from rowkey.wire.call import Call

ENTITY = {"PartitionKey": "p", "RowKey": "r"}
ETAG = "W/\"datetime'2026-08-03T10%3A15%3A31.1234567Z'\""
KEYS = "(PartitionKey='p',RowKey='r%20s')"


def record(
    call: Call,
    response: Response,
    *,
    operation: Operation | type[Operation] | None = None,
    result: Any = None,
    error: type[ServiceError] | None = None,
) -> Transaction:
    """The record of an authenticated request that took a millisecond."""
    return transaction_of(
        call.request,
        response,
        address=call.address,
        grant=OWNER,
        call=call,
        operation=operation,
        result=result,
        error=error,
        request_id="0f8fad5b-d9cb-469f-a165-70867728950e",
        started=FIRST_WRITE,
        ended=FIRST_WRITE + 10_000,
    )


def decoded(client: Client, *request: Any) -> tuple[Call, Operation]:
    return client.call(*request), client.decode(*request)


def test_a_success_is_recorded_with_what_it_was_about(client: Client) -> None:
    call, operation = decoded(client, "GET", f"/Orders{KEYS}")
    finished = record(call, Response(200, [("ETag", ETAG)], b"x" * 9), operation=operation, result="")
    assert (finished.account, finished.operation.name, finished.outcome) == (ACCOUNT, "QueryEntity", Outcome.SUCCESS)
    assert (finished.grant_kind, finished.is_secondary) == ("authenticated", False)
    assert (finished.started, finished.duration, finished.response_body_bytes) == (FIRST_WRITE, 10_000, 9)
    assert list(finished.parts()) == [Part("QueryEntity", f"/{ACCOUNT}/Orders/p/r s", ETAG)]


@pytest.mark.parametrize(
    ("request_", "part"),
    [
        (("POST", "/Orders", ENTITY), Part("InsertEntity", f"/{ACCOUNT}/Orders/p/r", "")),
        (("PUT", f"/Orders{KEYS}", {}), Part("InsertOrReplaceEntity", f"/{ACCOUNT}/Orders/p/r s", "")),
        (("GET", "/Orders()"), Part("QueryEntities", f"/{ACCOUNT}/Orders", "")),
        (("GET", "/Tables('Orders')"), Part("QueryTable", f"/{ACCOUNT}/Orders", "")),
        (("GET", "/Tables"), Part("QueryTables", f"/{ACCOUNT}", "")),
        (("GET", "/Orders?comp=acl"), Part("GetTableACL", f"/{ACCOUNT}/Orders", "")),
    ],
)
def test_tables_and_keys_are_named_as_far_as_they_are_known(
    client: Client, request_: tuple[Any, ...], part: Part
) -> None:
    call, operation = decoded(client, *request_)
    assert list(record(call, Response(200), operation=operation).parts()) == [part]


def test_an_operation_that_cannot_be_decoded_is_known_by_its_class(client: Client) -> None:
    call = client.call("GET", "/Orders()?$filter=nonsense")
    finished = record(call, Response(400), operation=QueryEntities, error=InvalidQuery)
    assert (finished.operation.name, finished.outcome) == ("QueryEntities", Outcome.CLIENT_OTHER_ERROR)


def test_what_is_not_authenticated_is_anonymous_and_unknown(client: Client) -> None:
    call = client.call("DELETE", f"/Orders{KEYS}")
    finished = transaction_of(
        call.request,
        Response(403),
        address=call.address,
        grant=None,
        call=None,
        operation=None,
        result=None,
        error=AuthenticationFailed,
        request_id="",
        started=FIRST_WRITE,
        ended=FIRST_WRITE - 5,  # the clock was set
    )
    assert (finished.grant_kind, finished.outcome) == ("anonymous", Outcome.AUTHORIZATION_ERROR)
    assert finished.duration == 0
    assert list(finished.parts()) == [Part("Unknown", f"/{ACCOUNT}", "")]


@pytest.mark.parametrize(
    ("query", "error", "outcome"),
    [
        ("", OperationTimedOut, Outcome.SERVER_TIMEOUT_ERROR),
        ("?timeout=30", OperationTimedOut, Outcome.SERVER_TIMEOUT_ERROR),
        ("?timeout=2", OperationTimedOut, Outcome.CLIENT_TIMEOUT_ERROR),
        ("?timeout=2", OutcomeUnknown, Outcome.SERVER_TIMEOUT_ERROR),
        ("?timeout=2", InternalError, Outcome.SERVER_OTHER_ERROR),
    ],
)
def test_a_time_out_is_the_clients_where_it_gave_little_time(
    client: Client, query: str, error: type[ServiceError], outcome: Outcome
) -> None:
    call = client.call("GET", f"/Orders(){query}")
    assert record(call, Response(500), operation=QueryEntities, error=error).outcome is outcome


def batch(client: Client) -> tuple[Call, EntityGroupTransaction]:
    """A batch of an insert and a delete."""
    requests: list[tuple[Any, ...]] = [
        ("POST", "/Orders", ENTITY),
        ("DELETE", f"/Orders{KEYS}", b"", {"If-Match": "*"}),
    ]
    steps: list[Any] = []
    for request in requests:
        call, operation = decoded(client, *request)
        steps.append(SimpleNamespace(request=call.request, call=call, operation=operation))
    return client.call("POST", "/$batch"), EntityGroupTransaction(False, steps, [], None)


def test_the_operations_of_a_batch_follow_it(client: Client) -> None:
    call, operation = batch(client)
    entity = compose_entity(Key("p", "r"), FIRST_WRITE, {})
    assert list(record(call, Response(202), operation=operation, result=[entity, None]).parts()) == [
        Part("EntityGroupTransaction", f"/{ACCOUNT}", ""),
        Part("InsertEntity", f"/{ACCOUNT}/Orders/p/r", ETAG),
        Part("DeleteEntity", f"/{ACCOUNT}/Orders/p/r s", ""),
    ]


def test_a_batch_that_failed_is_no_success(client: Client) -> None:
    """Though its status is 202."""
    call, operation = batch(client)
    failure = BatchFailure(0, EntityAlreadyExists(), operation.steps[0])
    finished = record(call, Response(202), operation=operation, result=failure)
    assert finished.outcome is Outcome.CLIENT_OTHER_ERROR
    assert [part.operation for part in finished.parts()] == ["EntityGroupTransaction"]


def test_the_body_of_an_answer_to_head_is_not_sent(client: Client) -> None:
    call = client.call("GET", "/Orders()")
    call.request.method = "HEAD"
    assert record(call, Response(200, [], b"xyz"), operation=QueryEntities).response_body_bytes == 0
