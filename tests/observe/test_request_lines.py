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
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith("slow: GET QueryEntity sally 200 - 1000 ms")


def test_queries_that_look_at_much_to_return_little_are_warnings(caplog: pytest.LogCaptureFixture) -> None:
    lines = RequestLines(is_complete=False, slow_seconds=1.0)
    query = transaction("QueryEntities")
    for looked_at, returned in ((9_999, 0), (10_000, 101), (1_000_000, 1_000_000)):
        lines.record(query._replace(looked_at=looked_at, returned=returned))
    assert not caplog.records
    lines.record(query._replace(looked_at=10_000, returned=100))
    lines.record(query._replace(looked_at=250_000, returned=3, duration=2 * SECOND))
    first, second = caplog.records
    assert first.levelname == "WARNING"
    assert first.getMessage().startswith("scan: GET QueryEntities")
    assert second.getMessage().startswith("slow: GET QueryEntities")
    assert "looked at 250,000 entities and returned 3" in second.getMessage()
    assert fields(second)["looked_at"] == 250_000


def test_a_request_that_never_was_one_has_a_line_too(caplog: pytest.LogCaptureFixture) -> None:
    nothing = transaction(request=Request("", "", {}))._replace(account="", code="InvalidInput")
    RequestLines(is_complete=True, slow_seconds=None).record(nothing)
    assert caplog.records[0].getMessage().startswith("- QueryEntity - 200 InvalidInput")
