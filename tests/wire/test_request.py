"""Requests and answers as values."""

from __future__ import annotations

import pytest

from rowkey.wire.request import Request, Response, reason_phrase


def test_header_of_a_request_by_its_lower_case_name() -> None:
    request = Request("GET", "/", {"if-match": "*"})
    assert (request.header("if-match"), request.header("accept")) == ("*", None)


def test_header_of_an_answer_by_its_spelling() -> None:
    response = Response(200, [("ETag", "1"), ("etag", "2")])
    assert (response.header("ETag"), response.header("ETAG")) == ("1", None)


@pytest.mark.parametrize(
    ("status", "phrase"),
    [
        (201, "Created"),
        (202, "Accepted"),
        (204, "No Content"),
        (400, "Bad Request"),
        (404, "Not Found"),
        (405, "Method Not Allowed"),
        (409, "Conflict"),
        (412, "Precondition Failed"),
        (415, "Unsupported Media Type"),
        (501, "Not Implemented"),
    ],
)
def test_reason_phrase(status: int, phrase: str) -> None:
    """They stand in the parts of a batch, which are compared."""
    assert reason_phrase(status) == phrase
