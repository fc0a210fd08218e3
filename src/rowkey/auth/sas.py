"""Shared access signatures: a client without a key holds a URL's query that somebody with a key has signed.

    read_sas    the query options as a TableSas or AccountSas: well-formed, nothing verified
    verify      signature, stored access policy, start and expiry: the result is a grant
    permit      the grant is asked for each operation: protocol, source, service, resource type, table, permission

Sources: "Create a service SAS", "Create an account SAS", "Define a stored access policy" of the reference.
"""

from collections.abc import Mapping
from functools import lru_cache

from rowkey.auth.account_sas import AccountSas, read_account_sas
from rowkey.auth.sas_fields import SasFields, refuse
from rowkey.auth.table_sas import TableSas, read_table_sas

_DELEGATION = frozenset({"skoid", "sktid", "skt", "ske", "sks", "skv", "skdutid", "sduoid", "saoid", "suoid", "scid"})
"""What marks a signature made with a user's delegation key, of which there are none here."""


def read_sas(options: Mapping[str, str]) -> TableSas | AccountSas:
    """The shared access signature in the decoded query options; raises AuthenticationFailed for anything malformed."""
    if not _DELEGATION.isdisjoint(options):
        refuse("it is made with a user delegation key, and only those made with an account key are accepted")
    return _read_sas(tuple([options.get(name, "") for name in SasFields._fields]))


@lru_cache(maxsize=512)
def _read_sas(values: tuple[str, ...]) -> TableSas | AccountSas:
    """A client sends the same signature with each of its requests. Nothing here depends on key, clock or request."""
    fields = SasFields(*values)
    if fields.tn:
        return read_table_sas(fields)
    if fields.ss or fields.srt:
        return read_account_sas(fields)
    refuse("it has neither tn, as one for a table, nor ss and srt, as one for an account")
