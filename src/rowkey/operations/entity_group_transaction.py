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
    TableNotFound,
)
from rowkey.model.key_range import KeyRange
from rowkey.model.limits import BATCH_OPERATIONS_MAX
from rowkey.model.rights import Right
from rowkey.operations.entity_write import EntityWrite
from rowkey.operations.operation import Operation, require_table
from rowkey.payload.error_body import BYTE_ORDER_MARK, write_error
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.common_headers import layer_headers
from rowkey.wire.media import Format
from rowkey.wire.multipart import Part, join_multipart, read_boundary, read_inner_request, split_multipart
from rowkey.wire.prefer import read_preference
from rowkey.wire.request import Request, Response, reason_phrase
from rowkey.wire.target import ResourceKind, read_options
from rowkey.wire.terms import read_part_terms
from rowkey.wire.version import JSON_ONLY_SINCE, JSON_SINCE, TRANSACTIONS_SINCE, Version


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
            try:
                return await self._execute(store, account)
            except TableNotFound:  # looked for once more, as for every request; the spine hears of no failure here
                return await self._execute(store, account)
        except ServiceError as error:
            index = error.index or 0
            return BatchFailure(index, error, self.steps[index])

    async def _execute(self, store: Store, account: str) -> Sequence[Any]:
        if not self.writes:  # a query, or an empty change set
            return [await step.operation.run(store, account) for step in self.steps if step.operation is not None]
        table = await require_table(store, account, self.writes[0].table)
        return await store.write(table, [operation.write for operation in self.writes])

    def respond(self, call: Call, result: "Sequence[Any] | BatchFailure") -> Response:
        if isinstance(result, BatchFailure):
            is_executed = result is not self.failure
            is_numbered = self.is_query or len(self.steps) > 1 or not (is_executed and result.error.is_condition)
            parts = [_write_failure(call, result, is_numbered=is_numbered)]
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
    if not _is_multipart(content_type):
        raise MediaTypeNotSupported
    outer = split_multipart(body, read_boundary(content_type), 2)
    if len(outer) != 1:  # two change sets, queries beside one another or beside a change set, or nothing at all
        raise InvalidInput
    content_type = outer[0].headers.get("content-type", "")
    if _is_multipart(content_type):
        return split_multipart(outer[0].content, read_boundary(content_type), BATCH_OPERATIONS_MAX + 1), False
    return outer, True


def _is_multipart(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "multipart/mixed"


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
            _verify_allowed(step.call, is_query=writes is None)
            step.operation = operation = step.call.decode(step.call)
            if writes is None:
                continue
            writes.append(operation)
            _verify_same_group(writes[0], operation)
            row_key = operation.write.key.row_key
            if row_key in row_keys:
                raise InvalidDuplicateRow
            row_keys.add(row_key)
        except ServiceError as error:
            if error.layer is not Layer.LIBRARY:
                error.layer = Layer.ENGINE  # which alone writes parts
            raise BatchFailure(index, error, step) from None


def _verify_allowed(call: Call, *, is_query: bool) -> None:
    """Raise MethodNotAllowed for what is no entity write, or no query of entities, whatever else is wrong with it."""
    if call.resource.kind not in _ENTITIES or (call.method in _READS) is not is_query:
        raise MethodNotAllowed


_ENTITIES = (ResourceKind.ENTITIES, ResourceKind.ENTITY)
_READS = ("GET", "HEAD")


def _verify_same_group(first: EntityWrite, other: EntityWrite) -> None:
    if other.table != first.table and other.table.lower() != first.table.lower():
        raise InvalidInput
    if other.write.key.partition_key != first.write.key.partition_key:
        raise CommandsInBatchActOnDifferentPartitions


# ---------------------------------------------------------------- writing

_PART_HEAD = b"Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"


def _write_part(call: Call, response: Response) -> bytes:
    """An operation's answer as a part, headers in the recorded order.

    DataServiceVersion is 3.0 for inserts, queries and whatever a preference was applied to, else 1.0 (recorded). Before
    there was 3.0 it was always 1.0, and did not stand first where there is a body (recorded of 2011-08-18).
    """
    headers = dict(response.headers)
    knows_3 = call.version.date >= JSON_SINCE
    has_version_3 = knows_3 and (response.body or "Preference-Applied" in headers or "Location" in headers)
    lines = _first_lines(call.request, call.version, response.layer)
    described = [("DataServiceVersion", "3.0;" if has_version_3 else "1.0;")]
    content_type = headers.pop("Content-Type", None)
    preference = headers.pop("Preference-Applied", None)
    if preference is not None:
        lines.append(("Preference-Applied", preference))
    if content_type is not None:
        described.append(("Content-Type", content_type))
    lines = [*described, *lines] if content_type is not None and knows_3 else [*lines, *described]
    return _write_http(response.status, [*lines, *headers.items()], response.body)


def _write_failure(call: Call, failure: BatchFailure, *, is_numbered: bool) -> bytes:
    """The one part of a batch that failed.

    The message is preceded by the operation's index; not where the only operation of a change set failed while it was
    executed (recorded, 14 of 14).
    """
    error, step = failure.error, failure.step
    wanted = _read_format(step.request, call.version) if step.call is None else step.call.format
    if call.version.date >= JSON_ONLY_SINCE and not wanted.is_json:
        wanted = Format.MINIMAL_METADATA
    content_type, body = write_error(
        error,
        wanted=wanted,
        version=call.version,
        request_id=call.request_id,
        now=call.now,
        prefix=f"{failure.index}:" if is_numbered else "",
    )
    lines = _first_lines(step.request, call.version, error.layer)
    method = step.request.method if step.call is None else step.call.method
    if method == "POST" and (preference := read_preference(step.request, call.version)):
        lines.append(("Preference-Applied", preference))  # recorded: not for DELETE
    lines += [("DataServiceVersion", "3.0;" if wanted.is_json else "1.0;"), ("Content-Type", content_type)]
    return _write_http(error.status, lines, body.removeprefix(BYTE_ORDER_MARK))


def _read_format(request: Request, version: Version) -> Format:
    """The format that a part asks for, where it never became a call."""
    option = read_options(request.target.partition("?")[2]).get("$format")
    return read_part_terms(version, request.headers.get("accept"), option).format


def _first_lines(request: Request, version: Version, layer: Layer) -> list[tuple[str, str]]:
    content_id = request.headers.get("content-id")
    lines = [("Content-ID", content_id)] if content_id else []
    return [*lines, *layer_headers(version.date, layer)]


def _write_http(status: int, headers: Sequence[tuple[str, str]], body: bytes) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    head = f"HTTP/1.1 {status} {reason_phrase(status)}\r\n{lines}\r\n"
    return b"%b%b%b\r\n" % (_PART_HEAD, head.encode("latin-1"), body)
