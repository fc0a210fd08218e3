"""Bearer tokens (OAuth 2.0, as Microsoft Entra ID issues them): what the service needs to know about them.

A client without credentials is told where tokens come from (`challenge`); a client with a token has it verified, and
gets a grant (`authenticate`). Who verifies is `rowkey.auth.authority`, which is loaded only by a server that was told
of an issuer; without one there is no authority, and a bearer token is refused like any other wrong signature.
Source: "Authorize with Microsoft Entra ID" of the reference; the header's form was recorded.
"""

from typing import Protocol

from rowkey.errors import (
    AuthorizationPermissionMismatch,
    BearerTokenRefused,
    Layer,
    NoAuthenticationInformation,
    ResourceNotFound,
    ServiceError,
)
from rowkey.model.rights import Grant, Right

BEARER_SINCE = "2017-11-09"
"""The first protocol version with bearer tokens; requests that name an older one or none are answered as before."""
CHALLENGE_SINCE = "2019-12-12"
"""The first version in which a token that is not accepted is challenged; in older ones it is AuthenticationFailed
(asserted by client suites, for 2019-07-07 and 2020-12-06)."""
TOKEN_LENGTH_MAX = 16 * 1024
"""Longer tokens are refused unread. Those of Entra ID have 1 to 3 KiB, 10 with two hundred groups."""

RESOURCE = "https://storage.azure.com"


class BearerAuthority(Protocol):
    """Decides about bearer tokens."""

    def challenge(self) -> ServiceError:
        """What to raise for a request of version `BEARER_SINCE` or newer that has no credentials at all."""

    async def authenticate(self, token: str, account: str, version_date: str, is_secure: bool) -> Grant:
        """What the bearer of `token` may do with `account`; raises ServiceError.

        `version_date` is x-ms-version as sent, empty where there is none. Safe where there is no Task.
        """


class BearerGrant(Grant):
    """The rights of one token; see `rowkey.auth.roles`."""

    __slots__ = ("rights",)

    kind = "bearer"

    def __init__(self, rights: frozenset[Right]) -> None:
        self.rights = rights

    def permit(self, right: Right, table: str) -> None:
        """Raise unless the token has the right.

        Access policies are not to be had with any token: the service answers as if they were not there (recorded).
        A batch is permitted to everybody, since each operation in it is asked about by itself.
        """
        if right in self.rights or right is Right.TRANSACT or right is Right.PREFLIGHT:
            return
        if right is Right.ACCESS_POLICIES:
            raise ResourceNotFound(layer=Layer.FRONT_END)
        raise AuthorizationPermissionMismatch


def no_credentials(authorization_uri: str) -> ServiceError:
    """401 with the challenge that SDKs read the tenant from: the first segment of the address's path."""
    return _challenged(NoAuthenticationInformation(), authorization_uri, "")


def refused_token(authorization_uri: str) -> ServiceError:
    """401 for a token that is not accepted; why is said in the log, not to the bearer (RFC 6750, 3.1)."""
    return _challenged(BearerTokenRefused(), authorization_uri, ' error="invalid_token"')


def _challenged(error: ServiceError, authorization_uri: str, reason: str) -> ServiceError:
    """The parameters are separated by blanks alone, which SDKs count on, whatever RFC 9110 says."""
    challenge = f"Bearer authorization_uri={authorization_uri} resource_id={RESOURCE}{reason}"
    error.headers = (("WWW-Authenticate", challenge),)
    return error
