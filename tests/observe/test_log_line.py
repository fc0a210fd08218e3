"""Lines of the request log, version 1.0."""

from __future__ import annotations

import html

import pytest

from rowkey.model.service_properties import Logging
from rowkey.observe.log_line import format_lines, is_logged
from rowkey.observe.transaction import Outcome, Part
from rowkey.wire.request import Request, Response
from tests.observe.samples import MILLISECOND, NOON, transaction

HEADERS = {
    "host": "sally.table.example.com",
    "x-ms-version": "2019-02-02",
    "content-length": "12",
    "content-md5": "66CbMXKirxDeTr82SXBKbg==",
    "if-match": "W/\"datetime'2011-07-28T18%3A02%3A41.0086789Z'\"",
    "user-agent": 'agent; "quoted" & more',
    "referer": "https://app.example.com/?sig=secret&page=1",
    "x-ms-client-request-id": "abc",
}
ETAG = "W/\"datetime'2026-03-01T12%3A00%3A00.0086789Z'\""


def fields_of(line: str) -> list[str]:
    """The fields of a line, as a reader of the format takes them apart."""
    assert line.endswith("\n")
    assert line.count("\n") == 1
    fields: list[str] = []
    for piece in line[:-1].split(";"):
        if fields and fields[-1].count('"') == 1:
            fields[-1] += f";{piece}"
        else:
            fields.append(piece)
    return [html.unescape(field[1:-1]) if field[:1] == '"' else field for field in fields]


def test_a_line_has_all_fields_in_the_documented_order() -> None:
    finished = transaction(
        "UpdateEntity",
        duration=1_234_567,
        request=Request("PUT", "/Orders(PartitionKey='a',RowKey='b')?timeout=30", HEADERS, b"x" * 12, True, "[::1]:77"),
        response=Response(204, [("ETag", ETAG)]),
        parts=[Part("UpdateEntity", "/sally/Orders/a/b", ETAG)],
    )
    assert format_lines(finished) == (
        "1.0;2026-03-01T12:00:00.0000000Z;UpdateEntity;Success;204;123;123;authenticated;sally;sally;table;"
        "\"https://sally.table.example.com/Orders(PartitionKey='a',RowKey='b')?timeout=30\";\"/sally/Orders/a/b\";"
        "0f8fad5b-d9cb-469f-a165-70867728950e;0;[::1]:77;2019-02-02;100;12;200;20;12;"
        '"66CbMXKirxDeTr82SXBKbg==";"66CbMXKirxDeTr82SXBKbg==";'
        "\"W/&quot;datetime'2026-03-01T12%3A00%3A00.0086789Z'&quot;\";Sunday, 01-Mar-26 12:00:00 GMT;"
        "\"If-Match=W/&quot;datetime'2011-07-28T18%3A02%3A41.0086789Z'&quot;\";"
        '"agent; &quot;quoted&quot; &amp; more";"https://app.example.com/?sig=XXXXX&amp;page=1";"abc"\n'
    )


def test_fields_without_a_value_are_empty() -> None:
    fields = fields_of(format_lines(transaction(request=Request("GET", "/Orders", {}))))
    assert len(fields) == 30
    assert fields[15:17] == ["", ""]
    assert fields[21:] == ["0", "", "", "", "", "", "", "", ""]


@pytest.mark.parametrize(
    "target", ["/Orders?sv=2019-02-02&sig=se%2Fcret%3D&x=1", "/Orders?%73ig=secret", "/Orders?a&sig=secret", "/?sig="]
)
def test_signatures_are_not_logged(target: str) -> None:
    line = format_lines(transaction(grant_kind="sas", request=Request("GET", target, {"host": "h"})))
    assert "cret" not in line
    assert "=XXXXX" in line


@pytest.mark.parametrize(
    ("grant_kind", "status", "requester"),
    [
        ("authenticated", "ServerOtherError", "sally"),
        ("bearer", "OAuthServerOtherError", "sally"),
        ("sas", "SASServerOtherError", ""),
        ("anonymous", "AnonymousServerOtherError", ""),
    ],
)
def test_a_line_says_who_asked(grant_kind: str, status: str, requester: str) -> None:
    fields = fields_of(format_lines(transaction(grant_kind=grant_kind, outcome=Outcome.SERVER_OTHER_ERROR)))
    assert (fields[3], *fields[7:10]) == (status, grant_kind, requester, "sally")


def test_a_batch_has_a_line_for_each_of_its_operations() -> None:
    parts = [
        Part("EntityGroupTransaction", "/sally", ""),
        Part("InsertEntity", "/sally/orders/a/1", ETAG),
        Part("DeleteEntity", "/sally/orders/a/2", ""),
    ]
    lines = format_lines(transaction("EntityGroupTransaction", parts=parts)).splitlines(keepends=True)
    fields = [fields_of(line) for line in lines]
    assert [(line[2], line[12], line[14], line[24]) for line in fields] == [
        ("EntityGroupTransaction", "/sally", "0", ""),
        ("InsertEntity", "/sally/orders/a/1", "1", ETAG),
        ("DeleteEntity", "/sally/orders/a/2", "2", ""),
    ]
    assert len({(line[1], line[13]) for line in fields}) == 1


def test_what_a_client_sends_cannot_make_a_field_or_a_line() -> None:
    """Headers that the server itself would have refused, too."""
    hostile = 'a";b\n1.0;c\r\x00'
    headers = dict.fromkeys(("x-ms-version", "user-agent", "referer", "content-length", "content-md5"), hostile)
    fields = fields_of(format_lines(transaction(request=Request("GET", f"/Orders?{hostile}", headers))))
    assert len(fields) == 30
    assert fields[16] == fields[21] == fields[22] == fields[27] == hostile.replace("\x00", "\ufffd")


def test_long_fields_are_cut() -> None:
    fields = fields_of(format_lines(transaction(request=Request("GET", "/", {"user-agent": "x" * 2000}))))
    assert fields[27] == "x" * 1024


@pytest.mark.parametrize(
    ("operation", "logging"),
    [
        ("GetEntity", Logging(read=True)),
        ("InsertEntity", Logging(write=True)),
        ("EntityGroupTransaction", Logging(write=True)),
        ("DeleteTable", Logging(delete=True)),
    ],
)
def test_kinds_of_requests_are_logged_by_themselves(operation: str, logging: Logging) -> None:
    assert is_logged(logging, transaction(operation))
    others = Logging(not logging.read, not logging.write, not logging.delete)
    assert not is_logged(others, transaction(operation))


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome.SUCCESS, True),
        (Outcome.SERVER_OTHER_ERROR, True),
        (Outcome.THROTTLING_ERROR, True),
        (Outcome.SERVER_TIMEOUT_ERROR, True),
        (Outcome.CLIENT_OTHER_ERROR, False),
        (Outcome.AUTHORIZATION_ERROR, False),
    ],
)
def test_invalid_requests_of_strangers_do_not_fill_the_log(outcome: Outcome, expected: bool) -> None:
    everything = Logging(read=True, write=True, delete=True)
    assert is_logged(everything, transaction(outcome=outcome, grant_kind="anonymous")) is expected
    assert is_logged(everything, transaction(outcome=outcome))


def test_times_are_whole_milliseconds() -> None:
    fields = fields_of(format_lines(transaction(started=NOON + 1, duration=2 * MILLISECOND - 1)))
    assert (fields[1], fields[5], fields[6]) == ("2026-03-01T12:00:00.0000001Z", "1", "1")
