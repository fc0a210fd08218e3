"""A request and what became of it, as analytics records it: the one place that knows both."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from rowkey.errors import OperationTimedOut, ServiceError
from rowkey.model.entity import Entity, Key
from rowkey.model.rights import Grant
from rowkey.observe.operation_names import OperationName, name_operation
from rowkey.observe.transaction import (
    Outcome,
    Part,
    Transaction,
    read_outcome,
    request_head_bytes,
    response_head_bytes,
)
from rowkey.odata.options import TIMEOUT_SECONDS_MAX, read_timeout
from rowkey.operations.entity_group_transaction import BatchFailure, EntityGroupTransaction
from rowkey.operations.entity_write import EntityWrite
from rowkey.operations.operation import Operation
from rowkey.store.interface import Page
from rowkey.wire.call import Call
from rowkey.wire.request import Request, Response
from rowkey.wire.target import Address, ResourceKind


def transaction_of(
    request: Request,
    response: Response,
    *,
    request_id: str,
    started: int,
    ended: int,
    address: Address | None = None,
    grant: Grant | None = None,
    call: Call | None = None,
    operation: Operation | type[Operation] | None = None,
    result: Any = None,
    error: type[ServiceError] | None = None,
) -> Transaction:
    """The record of a request that was answered; `started` and `ended` are in ticks.

    `address`, `grant`, `call`, `operation` and `result` are None where it did not get so far; of an operation that
    could not be decoded the class is enough. `error` is what was raised.
    """
    name = name_operation(operation if isinstance(operation, type) else type(operation), request.method)
    outcome = read_outcome(response.status)
    if error is not None and issubclass(error, OperationTimedOut):
        outcome = _read_time_out(error, call)
    elif isinstance(result, BatchFailure):  # answered 202, as a success is
        outcome = read_outcome(result.error.status)
        error = type(result.error)
    account = "" if address is None else address.account
    return Transaction(
        account,
        address is not None and address.is_secondary,
        name,
        "anonymous" if grant is None else grant.kind,
        outcome,
        request,
        response,
        request_id,
        started,
        max(0, ended - started),  # the clock may have been set
        request_head_bytes(request),
        response_head_bytes(response),
        0 if request.method == "HEAD" else len(response.body),
        partial(_parts, account, name, response, call, operation, result),
        "" if call is None else call.resource.table,
        "" if error is None else error.code,
        *((result.looked_at, result.count) if isinstance(result, Page) else (0, 0)),
    )


def _read_time_out(error: type[ServiceError], call: Call | None) -> Outcome:
    """Whose time-out it was: the client's where it gave less time than it might have, and the store did not fail."""
    is_short = call is not None and read_timeout(call.options.get("timeout")) < TIMEOUT_SECONDS_MAX
    return Outcome.CLIENT_TIMEOUT_ERROR if is_short and error is OperationTimedOut else Outcome.SERVER_TIMEOUT_ERROR


def _parts(
    account: str, name: OperationName, response: Response, call: Call | None, operation: object, result: Any
) -> Iterator[Part]:
    """What the log has lines for."""
    yield Part(name.name, _object_key(account, call, operation), response.header("ETag") or "")
    if isinstance(operation, EntityGroupTransaction) and isinstance(result, list):
        for step, entity in zip(operation.steps, result, strict=True):
            step_name = name_operation(type(step.operation), step.request.method).name
            etag = entity.etag if isinstance(entity, Entity) else ""
            yield Part(step_name, _object_key(account, step.call, step.operation), etag)


def _object_key(account: str, call: Call | None, operation: object) -> str:
    """`/sally/orders/partition key/row key`, the form in which the service logs tables and entities."""
    if isinstance(operation, EntityWrite):
        return _entity_key(account, operation.table, operation.write.key)
    if call is None:
        return f"/{account}"
    resource = call.resource
    if resource.kind is ResourceKind.ENTITY:
        return _entity_key(account, resource.table, resource.key)
    return f"/{account}/{resource.table}" if resource.table else f"/{account}"


def _entity_key(account: str, table: str, key: Key) -> str:
    return f"/{account}/{table}/{key.partition_key}/{key.row_key}"
