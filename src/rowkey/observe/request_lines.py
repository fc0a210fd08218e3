"""Requests in the log of the process: a line for each, or a warning for each that was slow or looked at too much.

A line has what an operator asks for and no more: who came, which operation on which table, how it ended, how long it
took, how much was moved. It has no query, no keys of entities, no header but the client's own request id; so there is
nothing in it that had to be kept from anybody who may read logs.
"""

import logging
import math
from typing import Any

from rowkey.observe.transaction import Transaction

log = logging.getLogger("rowkey.requests")

_TICKS_PER_MILLISECOND = 10_000
_TICKS_PER_SECOND = 1000 * _TICKS_PER_MILLISECOND
_CLIENT_REQUEST_ID_LENGTH_MAX = 128


_SCANNED_MIN, _SCANNED_FOR_EACH_MIN = 10_000, 100
"""A page that looked at so many entities, and at so many for each that it returned, is worth a warning."""


class RequestLines:
    """Logs requests: every one if `is_complete`, and those that took over `slow_seconds`, if not None, as warnings.

    With `slow_seconds` there are warnings of queries, too, that looked at many entities to return a few.
    """

    def __init__(self, *, is_complete: bool, slow_seconds: float | None) -> None:
        self._is_complete = is_complete
        self._slow_ticks = math.inf if slow_seconds is None else slow_seconds * _TICKS_PER_SECOND

    def record(self, transaction: Transaction) -> None:
        """Log an answered request, if it is to be logged."""
        is_slow = transaction.duration > self._slow_ticks
        is_scan = self._slow_ticks < math.inf and _is_scan(transaction)
        if not (is_slow or is_scan or self._is_complete):
            return
        text, more = _describe(transaction), {"fields": _fields(transaction)}
        if is_scan:
            looked_at, returned = transaction.looked_at, transaction.returned
            text += (
                f"; it looked at {looked_at:,} entities and returned {returned:,}: a filter on PartitionKey would help"
            )
        if is_slow or is_scan:
            log.warning("%s: %s", "slow" if is_slow else "scan", text, extra=more)
        else:
            log.info("%s", text, extra=more)


def _is_scan(transaction: Transaction) -> bool:
    looked_at = transaction.looked_at
    return looked_at >= _SCANNED_MIN and looked_at >= _SCANNED_FOR_EACH_MIN * transaction.returned


def _describe(transaction: Transaction) -> str:
    where = f"{transaction.account}/{transaction.table}" if transaction.table else transaction.account or "-"
    return (
        f"{transaction.request.method or '-'} {transaction.operation.name} {where} "
        f"{transaction.response.status} {transaction.code or '-'} {_milliseconds(transaction):g} ms "
        f"{len(transaction.request.body)} in {transaction.response_body_bytes} out "
        f"{transaction.request.peer or '-'} {transaction.request_id}"
    )


def _fields(transaction: Transaction) -> dict[str, Any]:
    """The same, for machines."""
    client_request_id = transaction.request.headers.get("x-ms-client-request-id", "")
    return {
        "request_id": transaction.request_id,
        "client_request_id": client_request_id[:_CLIENT_REQUEST_ID_LENGTH_MAX],
        "peer": transaction.request.peer,
        "method": transaction.request.method,
        "operation": transaction.operation.name,
        "account": transaction.account,
        "table": transaction.table,
        "authenticated_by": transaction.grant_kind,
        "status": transaction.response.status,
        "code": transaction.code,
        "milliseconds": _milliseconds(transaction),
        "bytes_in": transaction.request_head_bytes + len(transaction.request.body),
        "bytes_out": transaction.response_head_bytes + transaction.response_body_bytes,
        "looked_at": transaction.looked_at,
        "returned": transaction.returned,
    }


def _milliseconds(transaction: Transaction) -> float:
    return round(transaction.duration / _TICKS_PER_MILLISECOND, 3)
