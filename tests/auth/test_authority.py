"""Deciding about bearer tokens: verified, remembered, challenged.

Keys and signatures are real; the clock is the test's.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from rowkey.auth.authority import REMEMBERED_MAX, KnownIssuer, TokenAuthority
from rowkey.auth.token import (
    LEEWAY_SECONDS,
    Issuer,
)
from rowkey.config import EVERYBODY_ELSE, Bearer, Role
from rowkey.errors import (
    AuthenticationFailed,
    BearerTokenRefused,
    NoAuthenticationInformation,
    ServerBusy,
    ServiceError,
)
from rowkey.model.rights import Right
from tests.auth.tokens import ACCOUNT, CONTRIBUTOR, PERSON, READER, TENANT, V1, V2, VERSION, known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import TokenIssuer


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
