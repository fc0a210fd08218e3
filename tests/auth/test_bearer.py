"""Bearer tokens: every part of one that is tampered with is refused, and what is left says what its bearer may do.

Keys and signatures are real; the clock is the test's.
"""

from __future__ import annotations

import base64
import hmac
import json
import logging
import time
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from rowkey.auth.authority import REMEMBERED_MAX, KnownIssuer, TokenAuthority
from rowkey.auth.bearer import TOKEN_LENGTH_MAX, BearerGrant
from rowkey.auth.roles import ACTIONS, NEEDED, grant_for
from rowkey.auth.token import (
    LEEWAY_SECONDS,
    Issuer,
    KeysNotReadable,
    TokenRefused,
    authorization_uri,
    read_issuer,
    read_metadata,
    verify_token,
    verify_unsigned,
)
from rowkey.config import EVERYBODY_ELSE, Bearer, Role
from rowkey.errors import (
    AuthenticationFailed,
    AuthorizationPermissionMismatch,
    BearerTokenRefused,
    Layer,
    NoAuthenticationInformation,
    ResourceNotFound,
    ServerBusy,
    ServiceError,
)
from rowkey.model.rights import Right

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import TokenIssuer

ACCOUNT = "contoso"
VERSION = "2020-12-06"
TENANT = "11111111-2222-3333-4444-555555555555"
V1 = f"https://sts.windows.net/{TENANT}/"
V2 = f"https://login.microsoftonline.com/{TENANT}/v2.0"
PERSON = "aaaaaaaa-0000-0000-0000-000000000001"


def known(issuer: TokenIssuer, name: str | None = None) -> Issuer:
    """The issuer as the server knows it."""
    return read_issuer(name or issuer.url, json.dumps(issuer.key_set()).encode())


def part(value: object) -> str:
    """A part of a token."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


# ---------------------------------------------------------------- signatures


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


# ---------------------------------------------------------------- claims


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


# ---------------------------------------------------------------- keys and metadata


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


# ---------------------------------------------------------------- what a bearer may do


READER = {Right.LIST_TABLES, Right.QUERY}
CONTRIBUTOR = READER | {
    *(Right.CREATE_TABLE, Right.DELETE_TABLE, Right.INSERT, Right.CHANGE, Right.UPSERT, Right.DELETE),
}
OWNER = CONTRIBUTOR | {Right.READ_SERVICE, Right.WRITE_SERVICE}
ENTITIES = "Microsoft.Storage/storageAccounts/tableServices/tables/entities"


def test_every_right_has_its_actions() -> None:
    assert set(NEEDED) == set(Right) - {Right.ACCESS_POLICIES, Right.INDEXES, Right.TRANSACT, Right.PREFLIGHT}
    assert {action for ways in NEEDED.values() for way in ways for action in way} == ACTIONS[Role.OWNER]


@pytest.mark.parametrize(
    ("named", "rights"),
    [
        (["Storage Table Data Reader"], READER),
        (["storagetabledatareader"], READER),
        (["76199698-9eea-4c19-bc75-cec21354c6b6"], READER),
        (["Storage Table Data Contributor"], CONTRIBUTOR),
        (["0A9A7E1F-B9D0-4CC4-A60D-0319B160AAA3"], CONTRIBUTOR),
        ([f"{ENTITIES}/read"], {Right.QUERY}),
        ([f"{ENTITIES}/write"], {Right.INSERT, Right.CHANGE, Right.UPSERT}),
        ([f"{ENTITIES}/add/action"], {Right.INSERT}),
        ([f"{ENTITIES}/update/action"], {Right.CHANGE}),
        ([f"{ENTITIES}/add/action", f"{ENTITIES}/update/action"], {Right.INSERT, Right.CHANGE, Right.UPSERT}),
        ([f"{ENTITIES}/delete", "Storage Table Data Reader"], READER | {Right.DELETE}),
        (["Microsoft.Storage/storageAccounts/tableServices/tables/write"], {Right.CREATE_TABLE}),
        (["Microsoft.Storage/storageAccounts/tableServices/read"], {Right.READ_SERVICE}),
    ],
)
def test_roles_of_a_token(named: list[str], rights: set[Right]) -> None:
    """They count instead of everybody's role."""
    grant = grant_for(named, [PERSON], {EVERYBODY_ELSE: Role.OWNER}, is_delegate_allowed=True)
    assert grant.rights == rights


@pytest.mark.parametrize(
    ("assigned", "rights"),
    [
        ({}, set()),
        ({EVERYBODY_ELSE: Role.NONE}, set()),
        ({EVERYBODY_ELSE: Role.READER}, READER),
        ({EVERYBODY_ELSE: Role.CONTRIBUTOR}, CONTRIBUTOR),
        ({EVERYBODY_ELSE: Role.OWNER}, OWNER),
        ({EVERYBODY_ELSE: Role.READER, PERSON: Role.CONTRIBUTOR}, CONTRIBUTOR),
        ({EVERYBODY_ELSE: Role.CONTRIBUTOR, PERSON: Role.READER}, READER),
        ({EVERYBODY_ELSE: Role.CONTRIBUTOR, PERSON: Role.NONE}, set()),
        ({"group": Role.CONTRIBUTOR, PERSON: Role.READER}, CONTRIBUTOR),
        ({"somebody else": Role.OWNER}, set()),
    ],
)
def test_roles_that_are_assigned(assigned: dict[str, Role], rights: set[Right]) -> None:
    grant = grant_for(["unheard of"], [PERSON, "group", ""], assigned, is_delegate_allowed=True)
    assert grant.rights == rights


def test_right_that_is_missing_is_refused() -> None:
    grant = BearerGrant(frozenset({Right.QUERY}))
    assert (grant.kind, grant.key_range) == ("bearer", None)
    for right in (Right.QUERY, Right.TRANSACT, Right.PREFLIGHT):
        grant.permit(right, "Orders")
    for right in (Right.INSERT, Right.DELETE_TABLE, Right.WRITE_SERVICE):
        with pytest.raises(AuthorizationPermissionMismatch):
            grant.permit(right, "Orders")


def test_access_policies_are_not_there_for_any_token() -> None:
    with pytest.raises(ResourceNotFound) as refused:
        BearerGrant(frozenset(Right) - {Right.ACCESS_POLICIES}).permit(Right.ACCESS_POLICIES, "Orders")
    assert refused.value.layer is Layer.FRONT_END


# ---------------------------------------------------------------- the authority


class Clock:
    """A time that the test sets."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


class ChangingSource:
    """An issuer whose newest keys are seen only after a refresh."""

    def __init__(self, *issuers: Issuer | None) -> None:
        self.issuer, *self.next = issuers
        self.refreshed = 0

    async def refresh(self) -> None:
        """Look again."""
        self.refreshed += 1
        if self.next:
            self.issuer = self.next.pop(0)


def authority(
    issuer: TokenIssuer, *, clock: Clock | None = None, roles: Mapping[str, Role] | None = None
) -> TokenAuthority:
    """An authority that knows the issuer."""
    settings = Bearer(issuer.url, roles=roles or {EVERYBODY_ELSE: Role.CONTRIBUTOR})
    return TokenAuthority(settings, KnownIssuer(known(issuer)), clock=clock or Clock())


async def test_verified_token_becomes_a_grant(issuer: TokenIssuer) -> None:
    grant = await authority(issuer).authenticate(issuer.token(), ACCOUNT, VERSION, True)
    assert grant.rights == CONTRIBUTOR


@pytest.mark.parametrize(
    ("scopes", "rights"),
    [
        (None, CONTRIBUTOR),
        ("user_impersonation", CONTRIBUTOR),
        ("openid user_impersonation profile", CONTRIBUTOR),
        (["user_impersonation"], CONTRIBUTOR),
        ("openid", set()),
        ("", set()),
        ([], set()),
    ],
)
async def test_application_may_act_for_a_user_who_let_it(
    issuer: TokenIssuer, scopes: object, rights: set[Right]
) -> None:
    grant = await authority(issuer).authenticate(issuer.token(scp=scopes), ACCOUNT, VERSION, True)
    assert grant.rights == rights


async def test_bearer_is_known_by_id_and_group(issuer: TokenIssuer) -> None:
    some = authority(issuer, roles={PERSON: Role.READER, "writers": Role.CONTRIBUTOR})
    for changes, rights in (
        ({}, READER),
        ({"oid": "x"}, READER),  # `sub` is still the person
        ({"oid": "x", "sub": "x"}, set()),
        ({"groups": ["writers"]}, CONTRIBUTOR),
        ({"groups": "writers"}, CONTRIBUTOR),
        ({"roles": ["Storage Table Data Contributor"]}, CONTRIBUTOR),
        ({"roles": ["Writers"], "oid": "x", "sub": "x"}, set()),
    ):
        grant = await some.authenticate(issuer.token(**changes), ACCOUNT, VERSION, True)
        assert grant.rights == rights, changes


async def test_refused_token_is_challenged(issuer: TokenIssuer, caplog: pytest.LogCaptureFixture) -> None:
    """The log says why; neither it nor the answer repeats the token."""
    token = issuer.token(aud="https://elsewhere")
    with pytest.raises(BearerTokenRefused) as refused:
        await authority(issuer).authenticate(token, ACCOUNT, VERSION, True)
    assert (refused.value.status, refused.value.code) == (401, "InvalidAuthenticationInfo")
    assert refused.value.headers == (
        (
            "WWW-Authenticate",
            f"Bearer authorization_uri={issuer.url}/oauth2/authorize resource_id=https://storage.azure.com "
            'error="invalid_token"',
        ),
    )
    assert "its audience is 'https://elsewhere'" in caplog.text
    assert not any(part in caplog.text for part in token.split("."))


def test_request_without_credentials_is_challenged(issuer: TokenIssuer) -> None:
    error = authority(issuer).challenge()
    assert isinstance(error, NoAuthenticationInformation)
    assert error.status == 401
    assert error.headers == (
        (
            "WWW-Authenticate",
            f"Bearer authorization_uri={issuer.url}/oauth2/authorize resource_id=https://storage.azure.com",
        ),
    )


@pytest.mark.parametrize(("version", "refusal"), [("2019-07-07", AuthenticationFailed), (VERSION, BearerTokenRefused)])
async def test_refused_token_is_challenged_in_newer_versions(
    issuer: TokenIssuer, version: str, refusal: type[ServiceError]
) -> None:
    with pytest.raises(ServiceError) as refused:
        await authority(issuer).authenticate(issuer.token(aud="https://vault.azure.net"), ACCOUNT, version, True)
    assert type(refused.value) is refusal


@pytest.mark.parametrize(("version", "is_secure"), [("2017-11-08", True), ("", True), (VERSION, False)])
async def test_good_token_in_a_bad_place(
    issuer: TokenIssuer, caplog: pytest.LogCaptureFixture, version: str, is_secure: bool
) -> None:
    with pytest.raises(AuthenticationFailed):
        await authority(issuer).authenticate(issuer.token(), ACCOUNT, version, is_secure)
    assert ("x-ms-version" if is_secure else "https") in caplog.text


async def test_token_is_remembered_until_it_expires(issuer: TokenIssuer) -> None:
    clock = Clock()
    some = authority(issuer, clock=clock)
    token = issuer.token(exp=int(clock.now) + 100)
    first = await some.authenticate(token, ACCOUNT, VERSION, True)
    clock.now += 100 + LEEWAY_SECONDS - 2
    assert await some.authenticate(token, ACCOUNT, VERSION, True) is first
    clock.now += 2
    with pytest.raises(BearerTokenRefused):
        await some.authenticate(token, ACCOUNT, VERSION, True)


async def test_token_is_remembered_for_one_account(issuer: TokenIssuer) -> None:
    some = authority(issuer)
    token = issuer.token(aud="https://contoso.table.core.windows.net")
    await some.authenticate(token, ACCOUNT, VERSION, True)
    with pytest.raises(BearerTokenRefused):
        await some.authenticate(token, "fabrikam", VERSION, True)


async def test_what_is_remembered_is_bounded(issuer: TokenIssuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """And refused tokens are not remembered at all."""
    assert REMEMBERED_MAX <= 10_000
    monkeypatch.setattr("rowkey.auth.authority.REMEMBERED_MAX", 3)
    some = authority(issuer)
    remembered = some._remembered
    for n in range(5):
        with pytest.raises(BearerTokenRefused):
            await some.authenticate(issuer.token(exp=1, jti=str(n)), ACCOUNT, VERSION, True)
    assert not remembered
    tokens = [issuer.token(jti=str(n)) for n in range(5)]
    grants = [await some.authenticate(token, ACCOUNT, VERSION, True) for token in tokens]
    assert len(remembered) == 3
    assert await some.authenticate(tokens[4], ACCOUNT, VERSION, True) is grants[4]
    assert await some.authenticate(tokens[0], ACCOUNT, VERSION, True) is not grants[0]


async def test_unknown_key_is_looked_for(issuer: TokenIssuer) -> None:
    before = known(issuer)
    issuer.keys["second"] = ec.generate_private_key(ec.SECP256R1())
    source = ChangingSource(before, known(issuer))
    some = TokenAuthority(Bearer(issuer.url, roles={EVERYBODY_ELSE: Role.READER}), source)
    grant = await some.authenticate(issuer.token("second", "ES256"), ACCOUNT, VERSION, True)
    assert grant.rights == READER
    assert source.refreshed == 1
    with pytest.raises(BearerTokenRefused):
        await some.authenticate(issuer.token().replace(".", "x.", 1), ACCOUNT, VERSION, True)
    assert source.refreshed == 1  # only an unknown key is a reason to look


async def test_withdrawn_key_ends_what_was_remembered(issuer: TokenIssuer) -> None:
    before = known(issuer)
    token = issuer.token()
    issuer.keys["second"] = issuer.keys.pop("first")
    source = ChangingSource(before, known(issuer))
    some = TokenAuthority(Bearer(issuer.url, roles={EVERYBODY_ELSE: Role.READER}), source)
    await some.authenticate(token, ACCOUNT, VERSION, True)
    await source.refresh()
    with pytest.raises(BearerTokenRefused):
        await some.authenticate(token, ACCOUNT, VERSION, True)


async def test_without_any_keys_the_server_is_busy(issuer: TokenIssuer) -> None:
    """It is not the token's fault: the client may try again."""
    source = ChangingSource(None, None, known(issuer))
    some = TokenAuthority(Bearer(issuer.url, roles={EVERYBODY_ELSE: Role.READER}), source)
    assert "authorization_uri" in some.challenge().headers[0][1]
    with pytest.raises(ServerBusy):
        await some.authenticate(issuer.token(), ACCOUNT, VERSION, True)
    assert (await some.authenticate(issuer.token(), ACCOUNT, VERSION, True)).rights == READER


async def test_bearer_without_a_role_is_named_in_the_log(issuer: TokenIssuer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        await authority(issuer, roles={"x": Role.READER}).authenticate(issuer.token(), ACCOUNT, VERSION, True)
    assert PERSON in caplog.text
    assert "--oidc-role" in caplog.text


# ---------------------------------------------------------------- without signatures


class TestUnsigned:
    """`--oauth basic`: whoever made the token, what it says must be right."""

    @pytest.fixture
    def unsafe(self) -> TokenAuthority:
        """An authority that checks no signatures."""
        return TokenAuthority(Bearer(None, roles={EVERYBODY_ELSE: Role.CONTRIBUTOR}), None)

    @pytest.mark.parametrize("name", [V1, V2, f"https://sts.chinacloudapi.cn/{TENANT}/"])
    async def test_tokens_of_anybody_are_accepted(self, issuer: TokenIssuer, unsafe: TokenAuthority, name: str) -> None:
        token = f"{issuer.token(iss=name).rpartition('.')[0]}.AAAA"
        assert (await unsafe.authenticate(token, ACCOUNT, VERSION, True)).rights == CONTRIBUTOR

    @pytest.mark.parametrize(
        "changes", [{"iss": "https://elsewhere/"}, {"iss": None}, {"aud": "x"}, {"exp": 1}, {"nbf": 1 << 40}]
    )
    async def test_what_they_say_must_be_right(
        self, issuer: TokenIssuer, unsafe: TokenAuthority, changes: dict[str, Any]
    ) -> None:
        with pytest.raises(BearerTokenRefused):
            await unsafe.authenticate(issuer.token(**{"iss": V1} | changes), ACCOUNT, VERSION, True)

    def test_challenge_names_no_tenant_of_ours(self, unsafe: TokenAuthority) -> None:
        assert "authorization_uri=https://login.microsoftonline.com/common/" in unsafe.challenge().headers[0][1]
