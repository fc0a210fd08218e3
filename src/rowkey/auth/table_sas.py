r"""Shared access signatures for a table: what is signed, and what it grants.

    before 2015-04-05   sp \n st \n se \n resource \n si \n sv \n spk \n srk \n epk \n erk
    since 2015-04-05    sp \n st \n se \n resource \n si \n sip \n spr \n sv \n spk \n srk \n epk \n erk

resource is `/account/table`, from 2015-02-21 on `/table/account/table`, the table's name in lower case.
Source: "Create a service SAS" of the reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rowkey.auth.permissions import TABLE_PERMISSIONS, table_rights
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
from rowkey.errors import AuthorizationFailure, AuthorizationPermissionMismatch, ResourceNotFound, ServiceError
from rowkey.model.access_policy import AccessPolicy, is_permission
from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange, successor
from rowkey.model.rights import Grant, Right

TABLE_SAS_SINCE = "2012-02-12"
_SERVICE_NAME_SINCE = "2015-02-21"


@dataclass(frozen=True, slots=True)
class TableSas:
    """A shared access signature for a table, well-formed and not yet verified."""

    fields: SasFields
    conditions: Conditions
    key_range: KeyRange | None

    @property
    def policy(self) -> str:
        """The identifier of the stored access policy that it relies on, empty for none."""
        return self.fields.si

    @property
    def table(self) -> str:
        """The name of its table, in any letter case."""
        return self.fields.tn

    def verify(
        self,
        account: str,
        keys: Sequence[SigningKey],
        policies: Sequence[AccessPolicy],
        *,
        now: int,
        peer: str,
        is_secure: bool,
    ) -> "TableSasGrant":
        """What it grants to a request; raises AuthenticationFailed.

        `policies` are those of its table. `peer` (`ip:port`) and `is_secure` are the request's, `now` is in ticks.
        """
        fields, (start, expiry, *_) = self.fields, self.conditions
        verify_signature(_string_to_sign(fields, account), fields.sig, keys)
        permission = fields.sp
        if fields.si:
            policy = _find_policy(fields, policies)
            start = policy.start if start is None else start
            expiry = policy.expiry if expiry is None else expiry
            permission = permission or policy.permission or ""
        if expiry is None or not permission:
            refuse("%s is neither in it nor in the stored access policy", "se" if expiry is None else "sp")
        verify_interval(start, expiry, now)
        return TableSasGrant(self, table_rights(permission), peer, is_secure)


def read_table_sas(fields: SasFields) -> TableSas:
    """The signature that these fields make; raises AuthenticationFailed."""
    conditions = read_conditions(fields, since=TABLE_SAS_SINCE)
    if fields.ss or fields.srt or fields.ses:
        refuse("tn is for tables, and ss, srt and ses are for accounts")
    if fields.sp and not is_permission(fields.sp):
        refuse("sp is %r, and must be letters of 'raud' in this order", fields.sp)
    if not fields.si and not (fields.sp and fields.se):
        refuse("sp and se are needed where there is no stored access policy (si)")
    if (fields.srk and not fields.spk) or (fields.erk and not fields.epk):
        refuse("srk needs spk, and erk needs epk")
    return TableSas(fields, conditions, _read_key_range(fields))


def _read_key_range(fields: SasFields) -> KeyRange | None:
    """Both ends are inclusive; a row key bounds only the partition that is named with it."""
    if not fields.spk and not fields.epk:
        return None
    end = None
    if fields.epk:
        end = Key(fields.epk, successor(fields.erk)) if fields.erk else Key(successor(fields.epk), "")
    return KeyRange(Key(fields.spk, fields.srk), end)


def _string_to_sign(fields: SasFields, account: str) -> str:
    resource = f"/{account}/{fields.tn.lower()}"
    if fields.sv >= _SERVICE_NAME_SINCE:
        resource = "/table" + resource
    origin = f"{fields.sip}\n{fields.spr}\n" if fields.sv >= ORIGIN_SINCE else ""
    return (
        f"{fields.sp}\n{fields.st}\n{fields.se}\n{resource}\n{fields.si}\n{origin}{fields.sv}\n"
        f"{fields.spk}\n{fields.srk}\n{fields.epk}\n{fields.erk}"
    )


def _find_policy(fields: SasFields, policies: Sequence[AccessPolicy]) -> AccessPolicy:
    """The policy that is named; what it says must not be said again ("Define a stored access policy")."""
    policy = next((policy for policy in policies if policy.identifier == fields.si), None)
    if policy is None:
        refuse("table %r has no stored access policy %r; it was never set, or called back", fields.tn, fields.si)
    if (
        (fields.st and policy.start is not None)
        or (fields.se and policy.expiry is not None)
        or (fields.sp and policy.permission is not None)
    ):
        refuse("st, se or sp is both in it and in the stored access policy %r; leave it out of one", fields.si)
    return policy


class TableSasGrant(Grant):
    """What a verified signature for a table allows to one request."""

    __slots__ = ("_is_secure", "_peer", "_rights", "_sas", "key_range")

    kind = "sas"

    def __init__(self, sas: TableSas, rights: frozenset[Right], peer: str, is_secure: bool) -> None:
        self.key_range = sas.key_range
        self._sas = sas
        self._rights = rights
        self._peer = peer
        self._is_secure = is_secure

    def permit(self, right: Right, table: str) -> None:
        """Raise unless the signature allows this on the table, from there, in this way.

        Versions before 2015-04-05 answer what is not permitted as if it were not there.
        """
        sas = self._sas
        sas.conditions.verify_origin(self._peer, self._is_secure)
        if right is Right.TRANSACT:
            return
        if right not in TABLE_PERMISSIONS or table.lower() != sas.fields.tn.lower():
            raise self._refusal(AuthorizationFailure())
        if right not in self._rights:
            raise self._refusal(AuthorizationPermissionMismatch())

    def outside(self) -> ServiceError:
        return self._refusal(AuthorizationFailure())

    def _refusal(self, error: ServiceError) -> ServiceError:
        return error if self._sas.fields.sv >= ORIGIN_SINCE else ResourceNotFound()
