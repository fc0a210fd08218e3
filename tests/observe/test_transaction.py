"""A finished request as a value: how it ended, and how large it was."""

from __future__ import annotations

import pytest

from rowkey.observe.transaction import (
    Outcome,
    counter_name,
    read_outcome,
    request_head_bytes,
    response_head_bytes,
)
from rowkey.server.writer import format_head
from rowkey.wire.request import Request, Response


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, Outcome.SUCCESS),
        (202, Outcome.SUCCESS),
        (204, Outcome.SUCCESS),
        (304, Outcome.CLIENT_OTHER_ERROR),
        (400, Outcome.CLIENT_OTHER_ERROR),
        (401, Outcome.AUTHORIZATION_ERROR),
        (403, Outcome.AUTHORIZATION_ERROR),
        (404, Outcome.CLIENT_OTHER_ERROR),
        (405, Outcome.CLIENT_OTHER_ERROR),
        (409, Outcome.CLIENT_OTHER_ERROR),
        (412, Outcome.CLIENT_OTHER_ERROR),
        (500, Outcome.SERVER_OTHER_ERROR),
        (501, Outcome.CLIENT_OTHER_ERROR),
        (503, Outcome.THROTTLING_ERROR),
    ],
)
def test_a_status_tells_how_a_request_ended(status: int, outcome: Outcome) -> None:
    assert read_outcome(status) is outcome


@pytest.mark.parametrize(
    ("grant_kind", "name"),
    [
        ("authenticated", "ClientOtherError"),
        ("bearer", "ClientOtherError"),
        ("sas", "SASClientOtherError"),
        ("anonymous", "AnonymousClientOtherError"),
    ],
)
def test_counters_say_who_asked(grant_kind: str, name: str) -> None:
    assert counter_name(grant_kind, Outcome.CLIENT_OTHER_ERROR) == name


def test_sizes_are_those_on_the_wire() -> None:
    request = Request("GET", "/a/Orders", {"host": "h", "accept": "*/*"})
    assert request_head_bytes(request) == len(b"GET /a/Orders HTTP/1.1\r\nhost: h\r\naccept: */*\r\n\r\n")
    for response in (Response(200, [("Content-Type", "text/plain")], b"x" * 1000), Response(400, [], b"x", "No way")):
        assert response_head_bytes(response) == len(format_head(response, ""))
