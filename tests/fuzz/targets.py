"""The readers of strangers' bytes, each as a function of bytes that must return, whatever the bytes are.

A target catches what its reader promises to raise. Anything else that is raised is a finding: an exception of another
kind, or an assertion about what was read, such as that two ways of reading the same bytes agree.
"""

from __future__ import annotations

import hmac
import json
import math
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from email.utils import formatdate
from functools import cache
from typing import Any
from xml.etree import ElementTree

import orjson

from rowkey.auth.sas import read_sas
from rowkey.auth.shared_key import SigningKey, read_signer, verify_shared_key
from rowkey.auth.token import KeysNotReadable, TokenRefused, read_issuer, verify_token, verify_unsigned
from rowkey.config import DEVELOPMENT_ACCOUNT, Settings
from rowkey.errors import PropertyNameTooLong, ServiceError
from rowkey.model.datetimes import format_datetime, parse_datetime
from rowkey.model.edm import format_double, parse_double, parse_guid, parse_integer
from rowkey.model.entity import Key, compose_entity, entity_bytes, members_of, split_entities, wire_members
from rowkey.model.key_range import key_order
from rowkey.model.shape import shape_texts
from rowkey.odata.continuation import read_entity_start, read_table_start
from rowkey.odata.evaluator import compile_filter
from rowkey.odata.options import read_select, read_timeout, read_top, verify_options
from rowkey.odata.parser import parse_filter
from rowkey.odata.planner import plan_query
from rowkey.odata.printer import print_filter
from rowkey.odata.tokens import read_token, write_token
from rowkey.payload.access_policies import read_policies, write_policies
from rowkey.payload.answer_body import write_entry, write_feed
from rowkey.payload.atom_input import read_entry
from rowkey.payload.json_input import read_object
from rowkey.payload.properties import read_new_entity, read_table_name
from rowkey.payload.service_properties import read_properties as read_service_properties
from rowkey.payload.views import EntityView, shape_of
from rowkey.payload.xml_input import XmlNotReadable, parse_xml
from rowkey.server.limits import Limits
from rowkey.server.reader import CLOSE, RequestReader
from rowkey.server.writer import format_head
from rowkey.service import Service
from rowkey.store.embedded.key_code import read_key, table_prefix, write_key
from rowkey.store.memory.store import MemoryStore
from rowkey.wire.media import Format, read_format
from rowkey.wire.multipart import read_boundary, read_inner_request, split_multipart
from rowkey.wire.preconditions import parse_etag
from rowkey.wire.request import Request, Response
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

ACCOUNT = DEVELOPMENT_ACCOUNT.name
ACCOUNTS = frozenset({ACCOUNT})
KEYS = {ACCOUNT: [SigningKey(key) for key in DEVELOPMENT_ACCOUNT.keys]}
NOW = parse_datetime("2026-08-03T10:15:30Z")
UNIX_NOW = 1_785_752_130.0
NEWEST = "2019-02-02"
LIMITS = Limits(head_bytes_max=4096, target_bytes_max=2048, headers_max=40, body_bytes_max=8192)


# ---------------------------------------------------------------- HTTP


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


# ---------------------------------------------------------------- credentials


def read_authorization(data: bytes) -> None:
    """Authorization and date of a request; nobody gets in with what was made up."""
    authorization, _, date = data.decode("latin-1").partition("\n")
    request = Request("GET", f"/{ACCOUNT}/Tables", {"authorization": authorization, "x-ms-date": date, "host": "h"})
    read_signer(request)
    address = read_address(request, ACCOUNTS)
    try:
        verify_shared_key(request, address, None, KEYS, UNIX_NOW)
    except ServiceError:
        return
    raise AssertionError("a signature that was made up is accepted")


def read_signature(data: bytes) -> None:
    """The options of a shared access signature."""
    try:
        options = read_options(data.decode("latin-1"))
        sas = read_sas(options)
        sas.verify(ACCOUNT, KEYS[ACCOUNT], (), now=NOW, peer="10.0.0.1:5", is_secure=True)
    except ServiceError:
        return
    raise AssertionError("a signature that was made up is accepted")


def read_jwt(data: bytes) -> None:
    """A bearer token, checked against keys and unchecked; and the same bytes as an issuer's documents."""
    token = data.decode("latin-1")
    for verify in (lambda: verify_token(token, _issuer(), ACCOUNT, UNIX_NOW), lambda: _unsigned(token)):
        try:
            verify()
        except TokenRefused:
            pass
    try:
        read_issuer("https://here/", data)
        read_issuer("https://here/", b'{"keys":[]}', data)
    except KeysNotReadable:
        pass


def _unsigned(token: str) -> None:
    verify_unsigned(token, ACCOUNT, UNIX_NOW)


@cache
def _issuer() -> Any:
    members = {
        "kty": "RSA",
        "kid": "k",
        "use": "sig",
        "alg": "RS256",
        "e": "AQAB",
        "n": b64encode(b"\xff" * 255).decode(),
    }
    members["n"] = members["n"].replace("+", "-").replace("/", "_").rstrip("=") + "w"
    members["n"] = "_" * 341 + "w"
    return read_issuer("https://here/", json.dumps({"keys": [members]}).encode())


# ---------------------------------------------------------------- bodies


def read_json(data: bytes) -> None:
    """A JSON body: what is accepted is stored, shown in every format, and read back the same."""
    _read_body(lambda: read_object(data))


def read_atom(data: bytes) -> None:
    """An Atom body, in the same way."""
    _read_body(lambda: read_entry(data))


def _read_body(read: Callable[[], Any]) -> None:
    try:
        properties = read()
    except ServiceError:
        return
    try:
        read_table_name(properties)
    except ServiceError:
        pass
    try:
        key, members = read_new_entity(properties, NEWEST)
    except ServiceError:
        return
    _show_everywhere(key, members)


def _show_everywhere(key: Key, members: Mapping[str, str]) -> None:
    entity = compose_entity(key, NOW, members)
    assert entity.text.isascii()
    assert members_of(entity.text) == dict(members)
    assert entity_bytes(key, members) >= 4
    assert split_entities(f"{entity.text},{entity.text}") == [entity.text, entity.text]
    decoded = orjson.loads(entity.text)
    assert (decoded["PartitionKey"], decoded["RowKey"]) == key
    for form in (Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA):
        for select in (None, ("A", "RowKey")):
            view = EntityView(form, "http://h/a", ACCOUNT, "T", NOW, select, None if select is None else "A,RowKey")
            orjson.loads(write_entry(entity.text, view))
            texts = shape_texts(f"{entity.text},{entity.text}", shape_of(form, select))
            assert len(orjson.loads(write_feed(texts, view))["value"]) == 2
    atom = write_entry(entity.text, EntityView(Format.ATOM, "http://h/a", ACCOUNT, "T", NOW))
    ElementTree.fromstring(atom)
    try:
        again_key, again = read_new_entity(read_entry(atom), NEWEST)
    except PropertyNameTooLong:
        assert not all(name.isascii() for name in members)  # escapes have made it longer
        return
    assert again_key == Key(*map(_as_xml, key))
    assert len(again) == len(members)
    for name, text in members.items():
        value = decoded[name]
        if name not in again:  # a character that names in XML cannot have is written `_xHHHH_`, as .NET does
            assert not name.isascii()
        elif isinstance(value, str):
            assert orjson.loads(f"{{{again[name]}}}")[name] == _as_xml(value)
        else:
            assert again[name] == text


def _as_xml(text: str) -> str:
    """Text as Atom has it: U+FFFD stands for what XML cannot say."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def read_xml(data: bytes) -> None:
    """Service properties, access policies, and XML as such."""
    try:
        parse_xml(data)
    except XmlNotReadable:
        pass
    for version in ("2012-02-12", NEWEST):
        try:
            read_service_properties(data, version)
        except ServiceError:
            pass
    try:
        policies = read_policies(data)
    except ServiceError:
        return
    assert read_policies(write_policies(policies)) == policies


def read_multipart(data: bytes) -> None:
    """The container of a batch and the requests in it."""
    content_type, _, body = data.partition(b"\n")
    try:
        boundary = read_boundary(content_type.decode("latin-1"))
        for part in split_multipart(body, boundary):
            if "boundary" in part.headers.get("content-type", ""):
                for inner in split_multipart(part.content, read_boundary(part.headers["content-type"])):
                    read_inner_request(inner.content)
            read_inner_request(part.content)
    except ServiceError:
        pass


# ---------------------------------------------------------------- queries


ENTITIES = [
    {"PartitionKey": partition, "RowKey": row, **values}
    for partition in ("", "a", "b", "é", "\uffff")
    for row in ("", "r", "s")
    for values in (
        {"A": 1, "B": "x"},
        {"A": 1.5, "A@odata.type": "Edm.Double", "C": True},
        {"A": "9007199254740993", "A@odata.type": "Edm.Int64"},
        {"A": "2020-01-01T00:00:00Z", "A@odata.type": "Edm.DateTime"},
    )
]


def read_filter(data: bytes) -> None:
    """A `$filter`: its plan decides of every entity what the filter itself does, and so does its text printed anew."""
    try:
        tree = parse_filter(data.decode("utf-8"))
    except (ServiceError, UnicodeDecodeError):
        return
    printed = print_filter(tree)
    matches, again = compile_filter(tree), compile_filter(parse_filter(printed))
    plan = plan_query(tree)
    residual = None if plan.residual is None else compile_filter(plan.residual)
    for entity in ENTITIES:
        place = key_order(Key(str(entity["PartitionKey"]), str(entity["RowKey"])))
        is_inside = any(
            key_order(bounds.start) <= place and (bounds.end is None or place < key_order(bounds.end))
            for bounds in plan.ranges
        )
        expected = matches(entity)
        assert again(entity) is expected, "printed anew it means something else"
        assert (is_inside and (residual is None or residual(entity))) is expected, "the plan means something else"


def read_query(data: bytes) -> None:
    """The other options: `$select`, `$top`, timeout, and the continuation tokens."""
    options = dict(line.partition("=")[::2] for line in data.decode("latin-1").split("\n"))
    for read in (
        lambda: read_select(options.get("$select"), NEWEST),
        lambda: read_select(options.get("$select"), "2008-10-27"),
        lambda: read_top(options.get("$top")),
        lambda: read_timeout(options.get("timeout")),
        lambda: read_entity_start(options),
        lambda: read_table_start(options),
    ):
        try:
            read()
        except ServiceError:
            pass
    text = data.decode("utf-8", "replace")
    assert read_token(write_token(text)) == text


def read_values(data: bytes) -> None:
    """Values of properties in text: dates, GUIDs, numbers."""
    text = data.decode("utf-8", "replace")
    try:
        ticks = parse_datetime(text)
        assert parse_datetime(format_datetime(ticks)) == ticks
    except ValueError:
        pass
    try:
        assert parse_guid(text) == text.lower()
    except ValueError:
        pass
    try:
        value = parse_double(text)
        if math.isfinite(value):
            assert parse_double(format_double(value)) == value
    except ValueError:
        pass
    try:
        parse_integer(text, -(2**63), 2**63 - 1)
    except ValueError:
        pass


# ---------------------------------------------------------------- what is stored


def read_stored(data: bytes) -> None:
    """Stored keys and wire text: what is written is read back, in the same order."""
    text = data.decode("utf-16-le", "surrogatepass") if len(data) % 2 == 0 else data.decode("utf-8", "replace")
    text = "".join(c for c in text if c != "\0" and not "\ud800" <= c <= "\udfff")
    half = len(text) // 2
    key, other = Key(text[:half], text[half:]), Key(text[half:], text[:half])
    codes = [write_key(table_prefix(1), one) for one in (key, other)]
    assert [read_key(code) for code in codes] == [key, other]
    assert (codes[0] < codes[1]) == (key_order(key) < key_order(other))
    name, value = orjson.dumps(f"N{half}").decode(), orjson.dumps(text).decode()
    value = value.encode("ascii", "backslashreplace").decode() if value.isascii() else json.dumps(text)
    members = {f"N{half}": f"{name}:{value}"}
    entity = compose_entity(key, NOW, members)
    assert members_of(entity.text) == members
    assert [member.text for member in wire_members(entity.text)][-1] == members[f"N{half}"]
    assert split_entities(",".join([entity.text] * 3)) == [entity.text] * 3


# ---------------------------------------------------------------- all together


class _Served:
    """A service in memory that has a table and an entity; a new one now and then, so that it does not grow."""

    def __init__(self) -> None:
        self.asked = 0
        self.service = Service(Settings(data=None), MemoryStore())
        for target, body in (
            (f"/{ACCOUNT}/Tables", b'{"TableName":"Tab"}'),
            (f"/{ACCOUNT}/Tab", b'{"PartitionKey":"p","RowKey":"r","A":1}'),
        ):
            headers = {
                "host": "h",
                "content-type": "application/json",
                "accept": "application/json",
                "x-ms-version": NEWEST,
            }
            assert self.ask(Request("POST", target, headers, body)).status == 201

    def ask(self, request: Request) -> Response:
        """Answer a request that is signed anew, so that it is not refused for that."""
        self.asked += 1
        headers = request.headers
        if request.target.startswith("/") and "sig=" not in request.target:
            date = headers["x-ms-date"] = formatdate(usegmt=True)
            content = headers.get("content-md5", ""), headers.get("content-type", "")
            path = request.target.partition("?")[0]
            text = "\n".join((request.method, *content, date, f"/{ACCOUNT}{path}"))
            digest = hmac.digest(DEVELOPMENT_ACCOUNT.keys[0], text.encode("utf-8"), "sha256")
            headers["authorization"] = f"SharedKey {ACCOUNT}:{b64encode(digest).decode()}"
        coroutine = self.service.handle(request)
        try:
            coroutine.send(None)
        except StopIteration as done:
            response: Response = done.value
            return response
        raise AssertionError("the store in memory has suspended")


_served: list[_Served] = []


def ask_service(data: bytes) -> None:
    """A whole request, signed, through the whole service: never a fault, and never a header of the client's making."""
    reader = RequestReader(LIMITS)
    try:
        reader.feed(data)
    except ServiceError:
        pass
    if not _served or _served[0].asked > 2000:
        _served[:] = [_Served()]
    while reader.complete:
        request, _ = reader.complete.popleft()
        response = _served[0].ask(request)
        assert response.status < 500 or response.status == 501, (response.status, response.body)
        head = format_head(response, CLOSE).decode("latin-1")
        assert head.count("\r\n") == head.count("\n") == head.count("\r")
        names = [line.partition(":")[0] for line in head.split("\r\n")[1:-2]]
        assert set(names) <= {name for name, _ in response.headers} | {"Content-Length", "Connection"}
        kind = response.header("Content-Type") or ""
        if response.body and "json" in kind:
            orjson.loads(response.body)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "http": read_http,
    "target": read_target,
    "headers": read_headers,
    "authorization": read_authorization,
    "sas": read_signature,
    "jwt": read_jwt,
    "json": read_json,
    "atom": read_atom,
    "xml": read_xml,
    "multipart": read_multipart,
    "filter": read_filter,
    "query": read_query,
    "values": read_values,
    "stored": read_stored,
    "service": ask_service,
}
