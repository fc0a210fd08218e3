"""Requests in the log: what is said of them, and what is not."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from rowkey.observe.request_lines import RequestLines
from rowkey.wire.request import Request
from tests.observe.samples import SECOND, transaction


@pytest.fixture(autouse=True)
def _everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def fields(record: logging.LogRecord) -> dict[str, Any]:
    """What a line has for machines."""
    value: dict[str, Any] = vars(record)["fields"]
    return value


def test_a_line_says_what_an_operator_asks_for(caplog: pytest.LogCaptureFixture) -> None:
    RequestLines(is_complete=True, slow_seconds=None).record(transaction()._replace(table="Orders", code="NotFound"))
    (record,) = caplog.records
    assert record.getMessage() == (
        "GET QueryEntity sally/Orders 200 NotFound 5 ms 10 in 20 out 10.0.0.7:1234 0f8fad5b-d9cb-469f-a165-70867728950e"
    )
    assert fields(record)["milliseconds"] == 5
    assert fields(record)["bytes_in"] == 110
    assert fields(record)["operation"] == "QueryEntity"


def test_a_line_has_no_keys_and_no_credentials(caplog: pytest.LogCaptureFixture) -> None:
    request = Request(
        "GET",
        "/sally/Orders(PartitionKey='private',RowKey='private')?sig=private&$filter=private",
        {"authorization": "SharedKey sally:private", "x-ms-client-request-id": "mine", "cookie": "private"},
    )
    RequestLines(is_complete=True, slow_seconds=None).record(transaction(request=request))
    (record,) = caplog.records
    assert "private" not in record.getMessage() + str(fields(record))
    assert fields(record)["client_request_id"] == "mine"


def test_slow_requests_are_warnings(caplog: pytest.LogCaptureFixture) -> None:
    lines = RequestLines(is_complete=False, slow_seconds=1.0)
    lines.record(transaction(duration=SECOND))
    assert not caplog.records
    lines.record(transaction(duration=SECOND + 1))
    lines.record(transaction("QueryEntities", duration=2 * SECOND)._replace(is_full_scan=True, table="Orders"))
    first, second = caplog.records
    assert first.levelname == "WARNING"
    assert first.getMessage().startswith("slow: GET QueryEntity sally 200 - 1000 ms")
    assert second.getMessage().endswith("its filter bounds no PartitionKey, so it looks through the whole table")


def test_a_request_that_never_was_one_has_a_line_too(caplog: pytest.LogCaptureFixture) -> None:
    nothing = transaction(request=Request("", "", {}))._replace(account="", code="InvalidInput")
    RequestLines(is_complete=True, slow_seconds=None).record(nothing)
    assert caplog.records[0].getMessage().startswith("- QueryEntity - 200 InvalidInput")
