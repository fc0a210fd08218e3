"""What says who is asking: Shared Key, shared access signatures, bearer tokens."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from rowkey.auth.sas import read_sas
from rowkey.auth.shared_key import read_signer, verify_shared_key
from rowkey.auth.token import KeysNotReadable, TokenRefused, read_issuer, verify_token, verify_unsigned
from rowkey.errors import ServiceError
from rowkey.wire.request import Request
from rowkey.wire.target import read_address, read_options
from tests.fuzz.readers.given import ACCOUNT, ACCOUNTS, KEYS, NOW, UNIX_NOW


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
    members = {"kty": "RSA", "kid": "k", "use": "sig", "alg": "RS256", "e": "AQAB", "n": "_" * 341 + "w"}
    return read_issuer("https://here/", json.dumps({"keys": [members]}).encode())
