"""What the permission letters of shared access signatures allow.

Sources: "Create a service SAS", permissions for a table; "Create an account SAS", permissions by operation.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from rowkey.model.rights import Right

TABLE_PERMISSIONS: Mapping[Right, str] = {
    Right.QUERY: "r",
    Right.INSERT: "a",
    Right.CHANGE: "u",
    Right.UPSERT: "au",
    Right.DELETE: "d",
}
"""The letters that a table's signature needs, all of them. What is not here, no signature for a table allows."""


class AccountPermission(NamedTuple):
    """What an account's signature needs: the resource type, and all letters of one of these groups."""

    resource_type: str
    letters: tuple[str, ...]


ACCOUNT_PERMISSIONS: Mapping[Right, AccountPermission] = {
    Right.READ_SERVICE: AccountPermission("s", ("r",)),
    Right.WRITE_SERVICE: AccountPermission("s", ("w",)),
    Right.LIST_TABLES: AccountPermission("c", ("l",)),
    Right.CREATE_TABLE: AccountPermission("c", ("c", "w")),
    Right.DELETE_TABLE: AccountPermission("c", ("d",)),
    Right.QUERY: AccountPermission("o", ("r",)),
    Right.INSERT: AccountPermission("o", ("a",)),
    Right.CHANGE: AccountPermission("o", ("u",)),
    Right.UPSERT: AccountPermission("o", ("au",)),
    Right.DELETE: AccountPermission("o", ("d",)),
}
"""What is not here, no signature for an account allows: access policies and indexes are the owner's alone."""


@lru_cache(maxsize=64)
def table_rights(letters: str) -> frozenset[Right]:
    """The rights that a table's signature with these letters has."""
    return frozenset(right for right, needed in TABLE_PERMISSIONS.items() if set(needed) <= set(letters))


@lru_cache(maxsize=64)
def account_rights(resource_types: str, letters: str) -> frozenset[Right]:
    """The rights that an account's signature with these resource types and letters has."""
    return frozenset(
        right
        for right, needed in ACCOUNT_PERMISSIONS.items()
        if needed.resource_type in resource_types and any(set(group) <= set(letters) for group in needed.letters)
    )
