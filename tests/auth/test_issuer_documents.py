"""What is taken from the documents of an issuer of tokens: keys, names, endpoints."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from rowkey.auth.token import (
    KeysNotReadable,
    TokenRefused,
    authorization_uri,
    read_issuer,
    read_metadata,
    verify_token,
)
from tests.auth.tokens import ACCOUNT, TENANT, V1, V2, known

if TYPE_CHECKING:
    from tests.conftest import TokenIssuer


@pytest.mark.parametrize(
    ("changes", "is_taken"),
    [
        ({}, True),
        ({"use": None}, False),
        ({"use": "enc"}, False),
        ({"key_ops": ["verify"]}, True),
        ({"key_ops": ["encrypt"]}, False),
        ({"key_ops": 5}, False),
        ({"alg": "RS256"}, True),
        ({"alg": "RSA-OAEP"}, False),
        ({"alg": "HS256"}, False),
        ({"kty": "oct", "k": "c2VjcmV0"}, False),
        ({"kty": "RSB"}, False),
        ({"n": "!"}, False),
        ({"n": 5}, False),
        ({"e": None}, False),
        ({"issuer": V2}, True),
        ({"issuer": "https://login.microsoftonline.com/{tenantid}/v2.0"}, True),
        ({"issuer": "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"}, False),
    ],
)
def test_only_keys_for_signatures_of_this_issuer_are_taken(
    issuer: TokenIssuer, changes: dict[str, Any], is_taken: bool
) -> None:
    issuer.keys["second"] = ec.generate_private_key(ec.SECP256R1())
    first, second = issuer.key_set()["keys"]
    trusted = read_issuer(V2, json.dumps({"keys": [first | changes, second, "no key", {}]}).encode())
    assert set(trusted.keys) == ({"first", "second"} if is_taken else {"second"})


def test_a_key_is_good_for_its_own_algorithm_alone(issuer: TokenIssuer) -> None:
    keys = {"keys": [issuer.key_set()["keys"][0] | {"alg": "PS256"}]}
    trusted = read_issuer(issuer.url, json.dumps(keys).encode())
    assert verify_token(issuer.token(algorithm="PS256"), trusted, ACCOUNT, time.time()).principals
    with pytest.raises(TokenRefused, match="algorithm is 'RS256'"):
        verify_token(issuer.token(), trusted, ACCOUNT, time.time())


def test_short_keys_are_not_taken(issuer: TokenIssuer) -> None:
    issuer.keys["first"] = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    with pytest.raises(KeysNotReadable, match="there is no key"):
        known(issuer)


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"keys": {}}', b'{"keys": []}', b"<html>", b"\xff"])
def test_what_is_no_set_of_keys(text: bytes) -> None:
    with pytest.raises(KeysNotReadable):
        read_issuer("https://here", text)


def test_metadata_must_be_of_the_issuer_that_was_asked() -> None:
    def metadata(**changes: str) -> bytes:
        return json.dumps({"issuer": "https://here", "jwks_uri": "https://here/keys"} | changes).encode()

    assert read_metadata("https://here", metadata())["jwks_uri"] == "https://here/keys"
    assert read_metadata("https://here/", metadata())
    by_domain = "https://login.microsoftonline.com/contoso.onmicrosoft.com/v2.0"
    for name in (V1, V2, by_domain):
        assert read_metadata(name, metadata(issuer=V1))["issuer"] == V1
    for name, changes in (
        ("https://there", {}),
        ("https://here", {"issuer": V1}),
        (V1, {"issuer": "https://here"}),
        ("https://login.microsoftonline.com/x/v2.0", {"issuer": V2.replace(TENANT, "{tenantid}")}),
    ):
        with pytest.raises(KeysNotReadable):
            read_metadata(name, metadata(**changes))
    for text in (b"", b"[]", b"5", b'{"issuer": "https://here"}'):
        with pytest.raises(KeysNotReadable):
            read_metadata("https://here", text)


@pytest.mark.parametrize(
    ("name", "endpoint", "uri"),
    [
        (V1, None, f"https://sts.windows.net/{TENANT}/oauth2/authorize"),
        (V2, None, f"https://login.microsoftonline.com/{TENANT}/oauth2/authorize"),
        (V2, f"{V2}/authorize", f"{V2}/authorize"),
        (V2, "https://here/a b", f"https://login.microsoftonline.com/{TENANT}/oauth2/authorize"),
        (V2, 'https://here/"\r\nX: y', f"https://login.microsoftonline.com/{TENANT}/oauth2/authorize"),
        ("https://here", None, "https://here/oauth2/authorize"),
    ],
)
def test_where_clients_are_sent(name: str, endpoint: str | None, uri: str) -> None:
    assert authorization_uri(name, endpoint) == uri
