"""Deciding about bearer tokens: verified once, remembered until they expire, turned into what their bearer may do.

A token is verified in about a tenth of a millisecond, and sent with every request for an hour or so; therefore those
that were accepted are remembered, by their digest. One that was refused leaves no trace but a line in the log.
"""

import hashlib
import logging
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from rowkey.auth.bearer import BEARER_SINCE, CHALLENGE_SINCE, BearerGrant, no_credentials, refused_token
from rowkey.auth.roles import grant_for
from rowkey.auth.token import (
    Claims,
    Issuer,
    TokenRefused,
    UnknownKey,
    authorization_uri,
    verify_token,
    verify_unsigned,
)
from rowkey.config import Bearer
from rowkey.errors import AuthenticationFailed, Layer, ServerBusy, ServiceError

log = logging.getLogger(__name__)

REMEMBERED_MAX = 4096
"""Tokens in use at the same time; the oldest is forgotten for another. Each takes about 300 bytes."""
_ANY_TENANT = "https://login.microsoftonline.com/common/oauth2/authorize"


class IssuerSource(Protocol):
    """Where the issuer's keys come from."""

    @property
    def issuer(self) -> Issuer | None:
        """The issuer as far as it is known now; another object whenever it has changed."""

    async def refresh(self) -> None:
        """Ask for newer keys, unless that was done a moment ago; returns when there is an answer, and never raises."""


class KnownIssuer:
    """An issuer whose keys are given once and for all."""

    def __init__(self, issuer: Issuer) -> None:
        self.issuer = issuer

    async def refresh(self) -> None:
        """Do nothing."""


class _Remembered(NamedTuple):
    grant: BearerGrant
    expires: float


class TokenAuthority:
    """The `BearerAuthority` of a server: `source` is None where signatures are not checked."""

    def __init__(
        self, settings: Bearer, source: IssuerSource | None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._roles = settings.roles
        self._source = source
        self._clock = clock
        self._authorization_uri = _ANY_TENANT if settings.issuer is None else authorization_uri(settings.issuer)
        self._issuer: Issuer | None = None
        self._remembered: dict[bytes, _Remembered] = {}

    def challenge(self) -> ServiceError:
        """401 for a request without credentials."""
        return no_credentials(self._current_uri())

    async def authenticate(self, token: str, account: str, version_date: str, is_secure: bool) -> BearerGrant:
        """What the bearer may do; raises AuthenticationFailed, BearerTokenRefused, or ServerBusy without any keys."""
        if version_date < BEARER_SINCE:
            log.warning("refused: a bearer token needs x-ms-version %s or newer, not %r", BEARER_SINCE, version_date)
            raise AuthenticationFailed
        if not is_secure:
            log.warning("refused: a bearer token came over plain HTTP; whoever listened can use it. Send it over https")
            raise AuthenticationFailed
        now = self._clock()
        digest = hashlib.sha256(f"{account}\n{token}".encode()).digest()
        self._forget_if_keys_changed()
        known = self._remembered.get(digest)
        if known is not None and now < known.expires:
            return known.grant
        try:
            claims = await self._verify(token, account, now)
        except TokenRefused as refusal:
            log.warning("refused: a bearer token: %s", refusal)
            if version_date < CHALLENGE_SINCE:
                raise AuthenticationFailed from None
            raise refused_token(self._current_uri()) from None
        grant = self._grant(claims)
        self._forget_if_keys_changed()
        self._remember(digest, _Remembered(grant, claims.expires))
        return grant

    async def _verify(self, token: str, account: str, now: float) -> Claims:
        source = self._source
        if source is None:
            return verify_unsigned(token, account, now)
        if source.issuer is None:
            await source.refresh()
        if source.issuer is None:
            raise ServerBusy(layer=Layer.FRONT_END)
        try:
            return verify_token(token, source.issuer, account, now)
        except UnknownKey:
            await source.refresh()
            return verify_token(token, source.issuer, account, now)

    def _grant(self, claims: Claims) -> BearerGrant:
        grant = grant_for(claims.roles, claims.principals, self._roles, is_delegate_allowed=claims.is_delegate_allowed)
        if not grant.rights:
            who = claims.principals[0][:100] if claims.principals else None
            log.warning("the bearer %r has no role here. --oidc-role BEARER=ROLE gives one", who)
        return grant

    def _remember(self, digest: bytes, remembered: _Remembered) -> None:
        self._remembered.pop(digest, None)
        if len(self._remembered) >= REMEMBERED_MAX:
            del self._remembered[next(iter(self._remembered))]
        self._remembered[digest] = remembered

    def _forget_if_keys_changed(self) -> None:
        """A token whose key its issuer has withdrawn must not live on."""
        issuer = self._source.issuer if self._source is not None else None
        if issuer is not self._issuer:
            self._issuer = issuer
            self._remembered.clear()

    def _current_uri(self) -> str:
        issuer = self._source.issuer if self._source is not None else None
        return self._authorization_uri if issuer is None else issuer.authorization_uri
