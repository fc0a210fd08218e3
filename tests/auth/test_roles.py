"""What the bearer of a token may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.auth.bearer import BearerGrant
from rowkey.auth.roles import ACTIONS, NEEDED, grant_for
from rowkey.config import EVERYBODY_ELSE, Role
from rowkey.errors import (
    AuthorizationPermissionMismatch,
    Layer,
    ResourceNotFound,
)
from rowkey.model.rights import Right
from tests.auth.tokens import CONTRIBUTOR, PERSON, READER

if TYPE_CHECKING:
    pass


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
