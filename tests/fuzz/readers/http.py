"""HTTP: the bytes of a connection, targets, headers."""

from __future__ import annotations

from rowkey.errors import ServiceError
from rowkey.model.entity import Key
from rowkey.odata.options import verify_options
from rowkey.server.reader import RequestReader
from rowkey.wire.media import read_format
from rowkey.wire.preconditions import parse_etag
from rowkey.wire.request import Request
from rowkey.wire.target import (
    quote_key,
    read_address,
    read_component,
    read_options,
    read_resource,
    verify_query,
    without_signature,
)
from rowkey.wire.version import read_version
from tests.fuzz.readers.given import ACCOUNT, ACCOUNTS, LIMITS, NEWEST


def read_http(data: bytes) -> None:
    """Bytes of a connection: the same requests come out whether they arrive in one piece or byte by byte."""
    whole = _requests_of([data])
    if len(data) <= 2048:
        pieces = _requests_of([data[n : n + 1] for n in range(len(data))])
        assert [str(request) for request in whole[0]] == [str(request) for request in pieces[0]], "framing differs"
        assert (whole[1] is None) == (pieces[1] is None), "one is refused, the other is not"


def _requests_of(pieces: list[bytes]) -> tuple[list[Request], type | None]:
    reader = RequestReader(LIMITS)
    requests: list[Request] = []
    try:
        for piece in pieces:
            reader.feed(piece)
            while reader.complete:
                request, _ = reader.complete.popleft()
                assert "\n" not in request.target
                assert "\r" not in request.target
                assert all("\n" not in value and "\r" not in value for value in request.headers.values())
                requests.append(request)
    except ServiceError as refusal:
        while reader.complete:
            requests.append(reader.complete.popleft()[0])
        return requests, type(refusal)
    return requests, None


def read_target(data: bytes) -> None:
    """A host and a target: whose account is it, what does the path name, which options are there."""
    host, _, target = data.decode("latin-1").partition("\n")
    request = Request("GET", target, {"host": host})
    without_signature(target)
    try:
        address = read_address(request, ACCOUNTS, signer=ACCOUNT)
        assert address.account == ACCOUNT
        options = read_options(address.query)
        verify_query(address.query)
        verify_options(options)
        resource = read_resource(address.path)
        if "comp" in options:
            read_component(resource, options["comp"], options.get("restype"))
        if resource.key != Key("", ""):
            path = f"/T(PartitionKey='{quote_key(resource.key[0])}',RowKey='{quote_key(resource.key[1])}')"
            assert read_resource(path).key == resource.key
    except ServiceError:
        pass


def read_headers(data: bytes) -> None:
    """What single headers say: version, Accept, conditions."""
    lines = data.decode("latin-1").split("\n")
    version, accept, etag, data_version = (lines + [""] * 4)[:4]
    try:
        read_version(version, accept)
    except ServiceError:
        pass
    for known in ("2011-08-18", "2014-02-14", NEWEST):
        try:
            read_format(accept, data_version or None, known)
        except ServiceError:
            pass
    try:
        parse_etag(etag)
    except ServiceError:
        pass
