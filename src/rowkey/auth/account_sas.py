r"""Shared access signatures for an account: what is signed, and what it grants.

    account \n sp \n ss \n srt \n st \n se \n sip \n spr \n sv \n
    account \n sp \n ss \n srt \n st \n se \n sip \n spr \n sv \n ses \n      since 2020-12-06

Source: "Create an account SAS" of the reference. ses, an encryption scope, means nothing to tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rowkey.auth.permissions import ACCOUNT_PERMISSIONS, account_rights
from rowkey.auth.sas_fields import (
    ORIGIN_SINCE,
    Conditions,
    SasFields,
    read_conditions,
    refuse,
    verify_interval,
    verify_signature,
)
from rowkey.auth.shared_key import SigningKey
from rowkey.errors import (
    AuthorizationFailure,
    AuthorizationPermissionMismatch,
    AuthorizationResourceTypeMismatch,
    AuthorizationServiceMismatch,
)
from rowkey.model.access_policy import AccessPolicy
from rowkey.model.rights import Grant, Right

ACCOUNT_SAS_SINCE = ORIGIN_SINCE
_ENCRYPTION_SCOPE_SINCE = "2020-12-06"
_SERVICES = frozenset("bfqt")
_RESOURCE_TYPES = frozenset("sco")


@dataclass(frozen=True, slots=True)
class AccountSas:
    """A shared access signature for an account, well-formed and not yet verified."""

    fields: SasFields
    conditions: Conditions
    expiry: int
    rights: frozenset[Right]

    policy = ""
    """There are no stored access policies for accounts."""
    table = ""

    def verify(
        self,
        account: str,
        keys: Sequence[SigningKey],
        policies: Sequence[AccessPolicy],
        *,
        now: int,
        peer: str,
        is_secure: bool,
    ) -> "AccountSasGrant":
        """What it grants to a request; raises AuthenticationFailed. `policies` have no part in it.

        `peer` (`ip:port`) and `is_secure` are the request's, `now` is in ticks.
        """
        verify_signature(_string_to_sign(self.fields, account), self.fields.sig, keys)
        verify_interval(self.conditions.start, self.expiry, now)
        return AccountSasGrant(self, peer, is_secure)


def read_account_sas(fields: SasFields) -> AccountSas:
    """The signature that these fields make; raises AuthenticationFailed."""
    conditions = read_conditions(fields, since=ACCOUNT_SAS_SINCE)
    if fields.tn or fields.si or fields.spk or fields.srk or fields.epk or fields.erk:
        refuse("tn, si, spk, srk, epk and erk are for tables, and ss and srt are for accounts")
    if fields.ses and fields.sv < _ENCRYPTION_SCOPE_SINCE:
        refuse("ses is not signed in version %s; use sv=%s or newer", fields.sv, _ENCRYPTION_SCOPE_SINCE)
    if not fields.ss or not _SERVICES.issuperset(fields.ss):
        refuse("ss is %r, and must be letters of 'bfqt'", fields.ss)
    if not fields.srt or not _RESOURCE_TYPES.issuperset(fields.srt):
        refuse("srt is %r, and must be letters of 'sco'", fields.srt)
    if not (fields.sp.isascii() and fields.sp.isalpha() and fields.sp.islower()):
        # In any order, and also with letters that only other services know.
        refuse("sp is %r, and must be letters such as 'rwdlacu'", fields.sp)
    if conditions.expiry is None:
        refuse("se is missing")
    return AccountSas(fields, conditions, conditions.expiry, account_rights(fields.srt, fields.sp))


def _string_to_sign(fields: SasFields, account: str) -> str:
    text = (
        f"{account}\n{fields.sp}\n{fields.ss}\n{fields.srt}\n{fields.st}\n{fields.se}\n"
        f"{fields.sip}\n{fields.spr}\n{fields.sv}\n"
    )
    return f"{text}{fields.ses}\n" if fields.sv >= _ENCRYPTION_SCOPE_SINCE else text


class AccountSasGrant(Grant):
    """What a verified signature for an account allows to one request."""

    __slots__ = ("_is_secure", "_peer", "_sas")

    kind = "sas"

    def __init__(self, sas: AccountSas, peer: str, is_secure: bool) -> None:
        self._sas = sas
        self._peer = peer
        self._is_secure = is_secure

    def permit(self, right: Right, table: str) -> None:
        """Raise unless the signature allows this, from there, in this way; it is for all tables."""
        sas = self._sas
        sas.conditions.verify_origin(self._peer, self._is_secure)
        if "t" not in sas.fields.ss:
            raise AuthorizationServiceMismatch
        if right in sas.rights or right is Right.TRANSACT:
            return
        needed = ACCOUNT_PERMISSIONS.get(right)
        if needed is None:
            raise AuthorizationFailure
        if needed.resource_type not in sas.fields.srt:
            raise AuthorizationResourceTypeMismatch
        raise AuthorizationPermissionMismatch
