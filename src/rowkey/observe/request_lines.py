"""Requests in the log of the process: a line for each, or a warning for each that was slow.

A line has what an operator asks for and no more: who came, which operation on which table, how it ended, how long it
took, how much was moved. It has no query, no keys of entities, no header but the client's own request id; so there is
nothing in it that had to be kept from anybody who may read logs.
"""

import logging
from typing import Any

from rowkey.observe.transaction import Transaction

log = logging.getLogger("rowkey.requests")

_TICKS_PER_MILLISECOND = 10_000
_TICKS_PER_SECOND = 1000 * _TICKS_PER_MILLISECOND
_CLIENT_REQUEST_ID_LENGTH_MAX = 128


class RequestLines:
    """Logs requests: every one if `is_complete`, and those that took over `slow_seconds`, if not None, as warnings."""

    def __init__(self, *, is_complete: bool, slow_seconds: float | None) -> None:
        self._is_complete = is_complete
        self._slow_ticks = None if slow_seconds is None else slow_seconds * _TICKS_PER_SECOND

    def record(self, transaction: Transaction) -> None:
        """Log an answered request, if it is to be logged."""
        if self._slow_ticks is not None and transaction.duration > self._slow_ticks:
            scan = "; its filter bounds no PartitionKey, so it looks through the whole table"
            note = scan if transaction.is_full_scan else ""
            log.warning("slow: %s%s", _describe(transaction), note, extra={"fields": _fields(transaction)})
        elif self._is_complete:
            log.info("%s", _describe(transaction), extra={"fields": _fields(transaction)})


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
        "is_full_scan": transaction.is_full_scan,
    }


def _milliseconds(transaction: Transaction) -> float:
    return round(transaction.duration / _TICKS_PER_MILLISECOND, 3)
