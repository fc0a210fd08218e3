"""Entity group transaction: POST /$batch.

A batch is one change set of up to 100 entity writes, or one query. Each part is a request of its own: it is opened,
routed and decoded like any other, all writes go to the store at once, and each part's own operation responds. The
answer is 202 whenever the batch was understood; the first operation that fails is then its only part.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from rowkey.errors import (
    CommandsInBatchActOnDifferentPartitions,
    InvalidDuplicateRow,
    InvalidInput,
    Layer,
    MediaTypeNotSupported,
    MethodNotAllowed,
    MissingRequiredHeader,
    ServiceError,
)
from rowkey.model.key_range import KeyRange
from rowkey.model.limits import BATCH_OPERATIONS_MAX
from rowkey.model.rights import Right
from rowkey.operations.entity_write import EntityWrite
from rowkey.operations.get_entity import GetEntity
from rowkey.operations.operation import Operation, require_table
from rowkey.operations.query_entities import QueryEntities
from rowkey.payload.error_body import BYTE_ORDER_MARK, write_error
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.media import Format
from rowkey.wire.multipart import Part, join_multipart, read_boundary, read_inner_request, split_multipart
from rowkey.wire.prefer import RETURN_NO_CONTENT, read_preference
from rowkey.wire.request import Request, Response, reason_phrase
from rowkey.wire.terms import read_part_terms
from rowkey.wire.version import JSON_SINCE, TRANSACTIONS_SINCE


@dataclass(slots=True)
class _Step:
    """A part on its way: its request, the call that it makes, the operation that the call asks for."""

    request: Request
    call: Call | None = None
    operation: Operation | None = None


class BatchFailure(Exception):
    """The operation at `index` failed, and the whole batch with it."""

    def __init__(self, index: int, error: ServiceError, step: _Step) -> None:
        self.index, self.error, self.step = index, error, step


@dataclass(slots=True)
class EntityGroupTransaction(Operation):
    """`steps` in order, and the `writes` that those of a change set are; `failure` is the first part that could not be
    decoded.
    """

    right = Right.TRANSACT

    is_query: bool
    steps: Sequence[_Step]
    writes: Sequence[EntityWrite]
    failure: BatchFailure | None

    @classmethod
    def decode(cls, call: Call) -> Self:
        if call.version.text is None or call.version.date < TRANSACTIONS_SINCE:
            raise MissingRequiredHeader
        parts, is_query = _read_parts(call.request.headers.get("content-type", ""), call.request.body)
        steps: list[_Step] = []
        writes: list[EntityWrite] = []
        try:
            _decode_parts(call, parts, steps, None if is_query else writes)
        except BatchFailure as failure:
            return cls(is_query, steps, writes, failure)
        return cls(is_query, steps, writes, None)

    def confine(self, bounds: KeyRange) -> bool:
        return True  # every part was confined when it was decoded

    async def run(self, store: Store, account: str) -> "Sequence[Any] | BatchFailure":
        """The results of all parts, or the failure of the first that failed."""
        if self.failure is not None:
            return self.failure
        try:
            if not self.writes:  # a query, or an empty change set
                return [await step.operation.run(store, account) for step in self.steps if step.operation is not None]
            table = await require_table(store, account, self.writes[0].table)
            return await store.write(table, [operation.write for operation in self.writes])
        except ServiceError as error:
            index = error.index or 0
            return BatchFailure(index, error, self.steps[index])

    def respond(self, call: Call, result: "Sequence[Any] | BatchFailure") -> Response:
        if isinstance(result, BatchFailure):
            parts = [_write_failure(call, result, is_alone=len(self.steps) == 1, is_query=self.is_query)]
        else:
            parts = [
                _write_part(step.call, step.operation.respond(step.call, item))
                for step, item in zip(self.steps, result, strict=True)
                if step.operation is not None and step.call is not None
            ]
        batch = f"batchresponse_{uuid.uuid4()}"
        if not self.is_query:
            change_set = f"changesetresponse_{uuid.uuid4()}"
            head = f"Content-Type: multipart/mixed; boundary={change_set}\r\n\r\n".encode("ascii")
            parts = [head + join_multipart(parts, change_set)]
        return Response(202, [("Content-Type", f"multipart/mixed; boundary={batch}")], join_multipart(parts, batch))


# ---------------------------------------------------------------- reading


def _read_parts(content_type: str, body: bytes) -> tuple[list[Part], bool]:
    """The parts of the one change set, or the one query; True for the latter."""
    if not content_type.strip().lower().startswith("multipart/mixed"):
        raise MediaTypeNotSupported
    outer = split_multipart(body, read_boundary(content_type))
    change_sets = [part for part in outer if part.headers.get("content-type", "").lower().startswith("multipart/")]
    if len(outer) != 1:  # two change sets, queries beside one another or beside a change set, or nothing at all
        raise InvalidInput
    if change_sets:
        part = change_sets[0]
        return split_multipart(part.content, read_boundary(part.headers["content-type"])), False
    return outer, True


def _decode_parts(call: Call, parts: Sequence[Part], steps: list[_Step], writes: list[EntityWrite] | None) -> None:
    """Open, route and decode all parts into `steps`, those of a change set into `writes` as well.

    Raises BatchFailure for the first that cannot be.
    """
    row_keys: set[str] = set()
    requests = [read_inner_request(part.content) for part in parts]  # one that is none spoils the batch itself
    if len(requests) > BATCH_OPERATIONS_MAX:
        text = f"The batch request operation exceeds the maximum {BATCH_OPERATIONS_MAX} changes per change set."
        last = BATCH_OPERATIONS_MAX - 1
        raise BatchFailure(last, InvalidInput(text), _Step(requests[last]))
    for index, request in enumerate(requests):
        step = _Step(request)
        steps.append(step)
        try:
            step.call = call.open_part(call, request)
            step.operation = operation = step.call.decode(step.call)
            if writes is None:
                if not isinstance(operation, GetEntity | QueryEntities):
                    raise MethodNotAllowed
                continue
            if not isinstance(operation, EntityWrite):
                raise MethodNotAllowed
            writes.append(operation)
            _verify_same_group(writes[0], operation)
            row_key = operation.write.key.row_key
            if row_key in row_keys:
                raise InvalidDuplicateRow
            row_keys.add(row_key)
        except ServiceError as error:
            raise BatchFailure(index, error, step) from None


def _verify_same_group(first: EntityWrite, other: EntityWrite) -> None:
    if other.table != first.table and other.table.lower() != first.table.lower():
        raise InvalidInput
    if other.write.key.partition_key != first.write.key.partition_key:
        raise CommandsInBatchActOnDifferentPartitions


# ---------------------------------------------------------------- writing

_PART_HEAD = b"Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"


def _write_part(call: Call, response: Response) -> bytes:
    """An operation's answer as a part, headers in the recorded order.

    DataServiceVersion is 3.0 for inserts, queries and whatever a preference was applied to, else 1.0 (recorded); it
    was always 1.0 before there was 3.0.
    """
    headers = dict(response.headers)
    has_version_3 = response.body or "Preference-Applied" in headers or "Location" in headers
    version = ("DataServiceVersion", "3.0;" if has_version_3 and call.version.date >= JSON_SINCE else "1.0;")
    content_id = call.request.headers.get("content-id")
    lines = [("Content-ID", content_id)] if content_id else []
    lines += [("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-cache")]
    content_type = headers.pop("Content-Type", None)
    preference = headers.pop("Preference-Applied", None)
    if preference is not None:
        lines.append(("Preference-Applied", preference))
    lines = [*lines, version] if content_type is None else [version, ("Content-Type", content_type), *lines]
    return _write_http(response.status, [*lines, *headers.items()], response.body)


def _write_failure(call: Call, failure: BatchFailure, *, is_alone: bool, is_query: bool) -> bytes:
    """The one part of a batch that failed.

    The message is preceded by the operation's index; not where the only operation of a change set failed while it was
    executed (recorded, 14 of 14).
    """
    error, step = failure.error, failure.step
    headers = step.request.headers
    wanted = step.call.format if step.call else read_part_terms(call.version, headers.get("accept"), None).format
    if wanted is Format.LATE_ATOM:
        wanted = Format.MINIMAL_METADATA
    content_type, body = write_error(
        error,
        wanted=wanted,
        version=call.version,
        request_id=call.request_id,
        now=call.now,
        prefix="" if is_alone and not is_query and error.is_condition else f"{failure.index}:",
    )
    content_id = headers.get("content-id")
    lines = [("Content-ID", content_id)] if content_id else []
    lines.append(("X-Content-Type-Options", "nosniff"))
    if error.layer is not Layer.LIBRARY:
        lines.append(("Cache-Control", "no-cache"))
    if step.request.method == "POST" and read_preference(step.request, call.version) == RETURN_NO_CONTENT:
        lines.append(("Preference-Applied", RETURN_NO_CONTENT))  # recorded: not for DELETE
    lines += [("DataServiceVersion", "3.0;" if wanted.is_json else "1.0;"), ("Content-Type", content_type)]
    return _write_http(error.status, lines, body.removeprefix(BYTE_ORDER_MARK))


def _write_http(status: int, headers: Sequence[tuple[str, str]], body: bytes) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    head = f"HTTP/1.1 {status} {reason_phrase(status)}\r\n{lines}\r\n"
    return b"%b%b%b\r\n" % (_PART_HEAD, head.encode("latin-1"), body)
