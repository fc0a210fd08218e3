"""Which answers are compressed, and for whom."""

import gzip

import pytest

from rowkey.wire.compression import COMPRESSED_BYTES_MIN, compress, negotiate, replace_body, takes_gzip
from rowkey.wire.request import Request, Response

LARGE = b'{"PartitionKey":"p"},' * 1000


@pytest.mark.parametrize(
    ("accepted", "wanted"),
    [
        ("gzip", True),
        ("gzip, deflate", True),
        ("deflate, gzip;q=1.0, *;q=0.5", True),
        ("GZip", True),
        ("x-gzip", True),
        ("br , gzip ; q=0.1", True),
        ("*", True),
        ("", False),
        ("identity", False),
        ("deflate", False),
        ("gzip;q=0", False),
        ("gzip;q=0.0, *", False),
        ("*;q=0", False),
        ("gzip;q=much", False),
        ("gzip;q=1.1.1", False),
        (";;,,=", False),
        ("identity;q=1, gzip;q=0.5", False),
        ("gzip;q=0.5, identity;q=0.5", True),
    ],
)
def test_accept_encoding_is_read_as_the_rfc_says(accepted: str, wanted: bool) -> None:
    assert takes_gzip(accepted) is wanted


@pytest.mark.parametrize(
    ("method", "status", "body", "wanted"),
    [
        ("GET", 200, LARGE, True),
        ("HEAD", 200, LARGE, True),  # its Content-Length is that of GET
        ("GET", 200, b"x" * COMPRESSED_BYTES_MIN, True),
        ("GET", 200, b"x" * (COMPRESSED_BYTES_MIN - 1), False),
        ("POST", 202, LARGE, False),
        ("POST", 201, LARGE, False),
        ("GET", 404, LARGE, False),
    ],
)
def test_large_answers_to_reading_requests_are_compressed(method: str, status: int, body: bytes, wanted: bool) -> None:
    response = Response(status, [], body)
    assert negotiate(Request(method, "/", {"accept-encoding": "gzip"}), response) is wanted
    assert (response.header("Vary") == "Accept-Encoding") is wanted


def test_a_large_answer_says_that_others_may_get_it_otherwise() -> None:
    response = Response(200, [], LARGE)
    assert not negotiate(Request("GET", "/", {}), response)
    assert response.headers == [("Vary", "Accept-Encoding")]


def test_a_compressed_body_comes_back() -> None:
    response = Response(200, [], LARGE)
    replace_body(response, compress(LARGE))
    assert response.header("Content-Encoding") == "gzip"
    assert gzip.decompress(response.body) == LARGE
    assert len(response.body) < len(LARGE) / 4
