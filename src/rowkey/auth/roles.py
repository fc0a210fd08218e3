"""What a bearer may do: from roles to data actions, and from these to rights.

Azure keeps role assignments outside of the token, and so a token of Entra ID says who its bearer is and not what they
may do. Here the settings assign roles to those whom a token names; a token that names roles has these too. The
actions, what the built-in roles consist of and what each operation needs are Azure's: "Azure built-in roles for
Storage", and "Authorize with Microsoft Entra ID" of the reference.
"""

from collections.abc import Iterable, Mapping

from rowkey.auth.bearer import BearerGrant
from rowkey.config import EVERYBODY_ELSE, Role
from rowkey.model.rights import Right

_SERVICE = "microsoft.storage/storageaccounts/tableservices"
_TABLES = f"{_SERVICE}/tables"
_ENTITIES = f"{_TABLES}/entities"

_READER = frozenset({f"{_TABLES}/read", f"{_ENTITIES}/read"})
_CONTRIBUTOR = _READER | {
    f"{_TABLES}/write",
    f"{_TABLES}/delete",
    f"{_ENTITIES}/write",
    f"{_ENTITIES}/delete",
    f"{_ENTITIES}/add/action",
    f"{_ENTITIES}/update/action",
}
_OWNER = _CONTRIBUTOR | {f"{_SERVICE}/read", f"{_SERVICE}/write"}

ACTIONS: Mapping[Role, frozenset[str]] = {
    Role.NONE: frozenset(),
    Role.READER: _READER,
    Role.CONTRIBUTOR: _CONTRIBUTOR,
    Role.OWNER: _OWNER,
}
"""Owner is no built-in role: it is a contributor who may see and change the service's properties as well."""

NEEDED: Mapping[Right, tuple[frozenset[str], ...]] = {
    Right.READ_SERVICE: (frozenset({f"{_SERVICE}/read"}),),
    Right.WRITE_SERVICE: (frozenset({f"{_SERVICE}/write"}),),
    Right.LIST_TABLES: (frozenset({f"{_TABLES}/read"}),),
    Right.CREATE_TABLE: (frozenset({f"{_TABLES}/write"}),),
    Right.DELETE_TABLE: (frozenset({f"{_TABLES}/delete"}),),
    Right.QUERY: (frozenset({f"{_ENTITIES}/read"}),),
    Right.INSERT: (frozenset({f"{_ENTITIES}/write"}), frozenset({f"{_ENTITIES}/add/action"})),
    Right.CHANGE: (frozenset({f"{_ENTITIES}/write"}), frozenset({f"{_ENTITIES}/update/action"})),
    Right.UPSERT: (
        frozenset({f"{_ENTITIES}/write"}),
        frozenset({f"{_ENTITIES}/add/action", f"{_ENTITIES}/update/action"}),
    ),
    Right.DELETE: (frozenset({f"{_ENTITIES}/delete"}),),
}
"""What each right takes: one of these sets of actions."""

_NAMES = {
    "storagetabledatareader": Role.READER,
    "76199698-9eea-4c19-bc75-cec21354c6b6": Role.READER,
    "storagetabledatacontributor": Role.CONTRIBUTOR,
    "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": Role.CONTRIBUTOR,
}
"""The built-in roles by name and by id. Entra ID allows no blanks in the value of an app role, so they do not count."""


def grant_for(
    named: Iterable[str], principals: Iterable[str], assigned: Mapping[str, Role], *, is_delegate_allowed: bool
) -> BearerGrant:
    """What the bearer of a token may do who names these roles and is these principals (themselves, their groups).

    All roles count together; without any the bearer has the role of everybody else, and none where there is none.
    `is_delegate_allowed` is false for an application that acts for a user who has not let it do so here.
    """
    if not is_delegate_allowed:
        return BearerGrant(frozenset())
    known = [actions for name in named if (actions := _actions_of(name)) is not None]
    known += [ACTIONS[assigned[principal]] for principal in principals if principal in assigned and principal]
    if not known:
        known = [ACTIONS[assigned.get(EVERYBODY_ELSE, Role.NONE)]]
    actions = frozenset[str]().union(*known)
    return BearerGrant(frozenset(right for right, ways in NEEDED.items() if any(way <= actions for way in ways)))


def _actions_of(name: str) -> frozenset[str] | None:
    """The actions of a role that a token names, which may be an action itself; None for one of something else."""
    name = name.replace(" ", "").lower()
    return frozenset({name}) if name in _OWNER else ACTIONS[_NAMES[name]] if name in _NAMES else None
