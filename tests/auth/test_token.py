"""Bearer tokens: every part of one that is tampered with is refused. Keys and signatures are real."""

from __future__ import annotations

import base64
import hmac
import json
import time
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from rowkey.auth.bearer import TOKEN_LENGTH_MAX
from rowkey.auth.token import (
    LEEWAY_SECONDS,
    TokenRefused,
    verify_token,
    verify_unsigned,
)
from tests.auth.tokens import ACCOUNT, PERSON, TENANT, V1, V2, known, part

if TYPE_CHECKING:
    from tests.conftest import TokenIssuer


@pytest.mark.parametrize("algorithm", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"])
def test_rsa_signatures(issuer: TokenIssuer, algorithm: str) -> None:
    claims = verify_token(issuer.token(algorithm=algorithm), known(issuer), ACCOUNT, time.time())
    assert claims.principals == (PERSON, PERSON)


@pytest.mark.parametrize(
    ("algorithm", "curve"), [("ES256", ec.SECP256R1()), ("ES384", ec.SECP384R1()), ("ES512", ec.SECP521R1())]
)
def test_signatures_with_elliptic_curves(issuer: TokenIssuer, algorithm: str, curve: ec.EllipticCurve) -> None:
    issuer.keys["curve"] = ec.generate_private_key(curve)
    assert verify_token(issuer.token("curve", algorithm), known(issuer), ACCOUNT, time.time()).is_delegate_allowed


def test_every_changed_character_is_noticed(issuer: TokenIssuer) -> None:
    """Also in the last characters of a part, some bits of which base64 does not use."""
    token, trusted, now = issuer.token(), known(issuer), time.time()
    ends = [place for place, character in enumerate(token) if character == "."] + [len(token)]
    places = {*range(0, len(token), 23), *(end - 1 for end in ends), *(end - 2 for end in ends)}
    for place in places - set(ends):
        changed = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        with pytest.raises(TokenRefused):
            verify_token(changed, trusted, ACCOUNT, now)


def test_signature_of_another_key_is_refused(issuer: TokenIssuer) -> None:
    trusted = known(issuer)
    issuer.keys["first"] = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with pytest.raises(TokenRefused, match="signature is not good"):
        verify_token(issuer.token(), trusted, ACCOUNT, time.time())


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", None, 256, ["RS256"], "HS256", "RS1", "ES256"])
@pytest.mark.parametrize("signature", ["", "AAAA"])
def test_other_algorithms_are_refused(issuer: TokenIssuer, algorithm: object, signature: str) -> None:
    header = {"alg": algorithm, "kid": "first", "typ": "JWT"}
    token = f"{part(header)}.{part(issuer.claims())}.{signature}"
    with pytest.raises(TokenRefused, match="algorithm is"):
        verify_token(token, known(issuer), ACCOUNT, time.time())


@pytest.mark.parametrize("is_pem", [True, False])
def test_the_public_key_is_no_secret_for_an_hmac(issuer: TokenIssuer, is_pem: bool) -> None:
    """The attack of 2015: HS256, with what everybody can fetch as the secret."""
    key = issuer.keys["first"].public_key()
    pem = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    secret = pem if is_pem else json.dumps(issuer.key_set()["keys"][0]).encode()
    signed = f"{part({'alg': 'HS256', 'kid': 'first'})}.{part(issuer.claims())}"
    signature = base64.urlsafe_b64encode(hmac.digest(secret, signed.encode(), "sha256")).rstrip(b"=").decode()
    with pytest.raises(TokenRefused, match="algorithm is 'HS256'"):
        verify_token(f"{signed}.{signature}", known(issuer), ACCOUNT, time.time())


def test_unknown_key_is_refused_whatever_else_the_token_brings(issuer: TokenIssuer) -> None:
    """Neither a key in the header nor an address of one is taken."""
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    trusted, now = known(issuer), time.time()
    numbers = stranger.public_key().public_numbers()
    own_key = {"kty": "RSA", "n": str(numbers.n), "e": "AQAB", "kid": "mine"}
    for header in ({"kid": "mine", "jwk": own_key}, {"kid": "mine", "jku": "https://here/keys"}, {"kid": 1}):
        token = f"{part({'alg': 'RS256', **header})}.{part(issuer.claims())}.AAAA"
        with pytest.raises(TokenRefused, match="which its issuer does not have"):
            verify_token(token, trusted, ACCOUNT, now)


def test_token_without_a_key_id_needs_an_issuer_with_one_key(issuer: TokenIssuer) -> None:
    token = jwt.encode(issuer.claims(), issuer.keys["first"], "RS256")
    assert verify_token(token, known(issuer), ACCOUNT, time.time()).principals
    issuer.keys["second"] = ec.generate_private_key(ec.SECP256R1())
    with pytest.raises(TokenRefused, match="the key None"):
        verify_token(token, known(issuer), ACCOUNT, time.time())


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "...",
        "a.b",
        "é.é.é",
        "AAAA.AAAA.AAAA",
        f"{part([])}.{part({})}.AAAA",
        f"{part({'alg': 'RS256', 'kid': 'first', 'crit': ['exp']})}.{part({})}.AAAA",
        f"{part({'alg': 'RS256', 'kid': 'first', 'b64': False})}..AAAA",
        f"{'A' * TOKEN_LENGTH_MAX}.A.A",
        "[" * 5000 + ".A.A",
        base64.urlsafe_b64encode(b"[" * 5000).decode() + ".A.A",
    ],
)
def test_what_is_no_token_is_refused(issuer: TokenIssuer, token: str) -> None:
    with pytest.raises(TokenRefused):
        verify_token(token, known(issuer), ACCOUNT, 0)
    with pytest.raises(TokenRefused):
        verify_unsigned(token, ACCOUNT, 0)


@pytest.mark.parametrize(
    "audience",
    [
        "https://storage.azure.com",
        "https://storage.azure.com/",
        "https://contoso.table.core.windows.net",
        "https://contoso.table.core.windows.net/",
        "e406a681-f3d4-42a8-90b6-c2b029497af1",
        ["https://elsewhere", "https://storage.azure.com/"],
    ],
)
def test_audiences(issuer: TokenIssuer, audience: object) -> None:
    assert verify_token(issuer.token(aud=audience), known(issuer), ACCOUNT, time.time()).principals


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"aud": None}, "audience"),
        ({"aud": ""}, "audience"),
        ({"aud": 1}, "audience"),
        ({"aud": ["x", {}]}, "audience"),
        ({"aud": "https://management.azure.com/"}, "audience"),
        ({"aud": "https://storage.azure.com//"}, "audience"),
        ({"aud": "https://STORAGE.azure.com"}, "audience"),
        ({"aud": "https://fabrikam.table.core.windows.net"}, "audience"),
        ({"aud": "https://contoso.blob.core.windows.net"}, "audience"),
        ({"iss": None}, "issuer"),
        ({"iss": V1}, "issuer"),
        ({"exp": None}, "does not say when it expires"),
        ({"exp": "tomorrow"}, "exp is not a time"),
        ({"exp": "99999999999"}, "exp is not a time"),
        ({"exp": True}, "exp is not a time"),
        ({"nbf": [0]}, "nbf is not a time"),
    ],
)
def test_tampered_claims_are_refused(issuer: TokenIssuer, changes: dict[str, Any], complaint: str) -> None:
    """All of them signed as they should be."""
    with pytest.raises(TokenRefused, match=complaint):
        verify_token(issuer.token(**changes), known(issuer), ACCOUNT, time.time())


def test_issuer_must_be_the_very_same(issuer: TokenIssuer) -> None:
    for other in (issuer.url + "/", issuer.url.upper(), issuer.url.replace("127.0.0.1", "localhost")):
        with pytest.raises(TokenRefused, match="issuer"):
            verify_token(issuer.token(iss=other), known(issuer), ACCOUNT, time.time())


def test_issuer_that_is_no_text(issuer: TokenIssuer) -> None:
    for value in ([issuer.url], {"a": 1}, 5):
        signed = jwt.PyJWS().encode(
            json.dumps(issuer.claims() | {"iss": value}).encode(), issuer.keys["first"], "RS256", {"kid": "first"}
        )
        with pytest.raises(TokenRefused, match="issuer"):
            verify_token(signed, known(issuer), ACCOUNT, time.time())


def test_times_have_a_small_leeway(issuer: TokenIssuer) -> None:
    trusted = known(issuer)
    token = issuer.token(nbf=10_000, exp=20_000)
    for now in (10_000, 15_000, 19_999, 10_000 - LEEWAY_SECONDS, 19_999 + LEEWAY_SECONDS):
        assert verify_token(token, trusted, ACCOUNT, now).expires == 20_000 + LEEWAY_SECONDS
    with pytest.raises(TokenRefused, match="expired 60 seconds ago"):
        verify_token(token, trusted, ACCOUNT, 20_000 + LEEWAY_SECONDS)
    with pytest.raises(TokenRefused, match="valid only in 61 seconds"):
        verify_token(token, trusted, ACCOUNT, 10_000 - LEEWAY_SECONDS - 1)
    assert verify_token(issuer.token(nbf=None), trusted, ACCOUNT, time.time()).principals


@pytest.mark.parametrize("configured", [V1, V2])
def test_entra_id_has_two_names(issuer: TokenIssuer, configured: str) -> None:
    """Its tokens for storage are of version 1, whichever version's address the client asked."""
    trusted = known(issuer, configured)
    for name in (V1, V2):
        assert verify_token(issuer.token(iss=name), trusted, ACCOUNT, time.time()).principals
    other = TENANT.replace("1", "9")
    for name in (f"https://sts.windows.net/{other}/", V1[:-1], V2 + "/", f"https://evil.example/{TENANT}/v2.0"):
        with pytest.raises(TokenRefused, match="issuer"):
            verify_token(issuer.token(iss=name), trusted, ACCOUNT, time.time())
