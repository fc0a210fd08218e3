"""What a signature does not permit is refused, also where it travels in a batch, and leaves everything as it was."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from rowkey.model.access_policy import AccessPolicy
from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Key
from rowkey.model.rights import Right
from rowkey.payload.access_policies import write_policies
from tests.auth.conftest import account_sas, table_sas
from tests.authorisation.operations import (
    BATCHES,
    ENTITY_RIGHTS,
    MODERN,
    ON_ENTITIES,
    OPERATIONS,
    in_batch,
    request_for,
)
from tests.authorisation.service import Bench, read_answer
from tests.authorisation.signatures import EXPIRY, LIMITS, START, sas
from tests.requests import ACCOUNT

TABLE_LETTERS = {
    Right.QUERY: "r",
    Right.INSERT: "a",
    Right.CHANGE: "u",
    Right.UPSERT: "au",
    Right.DELETE: "d",
}


@pytest.mark.parametrize("letters", ["".join(some) for count in range(1, 5) for some in combinations("raud", count)])
class TestPermissions:
    """Of a table's signature: alone, in a batch, and behind an operation that is permitted."""

    @pytest.mark.parametrize("name", ON_ENTITIES | BATCHES)
    @pytest.mark.parametrize("version", ["2013-08-15", MODERN])
    @pytest.mark.parametrize("is_policy", [True, False])
    async def test_permission(self, name: str, letters: str, version: str, is_policy: bool) -> None:
        bench = await Bench().fill(Key("p", "r"))
        fields = {"sp": letters, **LIMITS}
        if is_policy:
            fields = {"si": "some"}
            table = await bench.store.find_table(ACCOUNT, "Orders")
            assert table is not None
            limits = parse_datetime(START), parse_datetime(EXPIRY)
            await bench.store.set_policies(table, write_policies([AccessPolicy("some", *limits, letters)]))
        kind = sas(table_sas(ACCOUNT, sv=version, tn="Orders", **fields), ENTITY_RIGHTS)
        before = await bench.contents()
        operation = OPERATIONS[name]
        answer = await bench.ask(kind.sign(request_for(operation)))
        if set(TABLE_LETTERS[operation.right]) <= set(letters):
            assert answer == ((operation.inner or operation).status, "")
        else:
            code = "AuthorizationPermissionMismatch" if version == MODERN else "ResourceNotFound"
            assert answer == (403 if version == MODERN else 404, code)
            assert await bench.contents() == before

    @pytest.mark.parametrize("name", [name for name, one in ON_ENTITIES.items() if one.method != "GET"])
    @pytest.mark.parametrize("other", ["Insert Entity", "Update Entity", "Insert Or Merge Entity", "Delete Entity"])
    async def test_second_operation_of_a_change_set(self, name: str, other: str, letters: str) -> None:
        """Both are asked about, and all or nothing is done."""
        bench = await Bench().fill(Key("p", "r"), Key("p", "s"))
        first = ON_ENTITIES[other]
        if other != "Insert Entity":
            first = replace(first, path="/Orders(PartitionKey='p',RowKey='s')")
        else:
            first = replace(first, body=b'{"PartitionKey":"p","RowKey":"t"}')
        second = ON_ENTITIES[name]
        kind = sas(table_sas(ACCOUNT, sv=MODERN, tn="Orders", sp=letters, **LIMITS), ENTITY_RIGHTS)
        before = await bench.contents()
        response = await bench.service.handle(kind.sign(request_for(in_batch(first, second))))
        needed = set(TABLE_LETTERS[first.right]) | set(TABLE_LETTERS[second.right])
        if needed <= set(letters):
            assert read_answer(response).status < 300
            return
        assert read_answer(response) == (403, "AuthorizationPermissionMismatch")
        index = 1 if set(TABLE_LETTERS[first.right]) <= set(letters) else 0
        assert f'"value":"{index}:This request is not authorized'.encode() in response.body
        assert await bench.contents() == before


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("resource_types", ["s", "c", "o", "sc", "so", "co"])
async def test_account_signature_without_a_resource_type(name: str, resource_types: str) -> None:
    bench = await Bench().fill(Key("p", "r"))
    fields = {"sv": MODERN, "ss": "t", "srt": resource_types, "sp": "rwdlacu", **LIMITS}
    operation = OPERATIONS[name]
    answer = await bench.ask(sas(account_sas(ACCOUNT, **fields), frozenset()).sign(request_for(operation)))
    needed = "o" if operation.right in ENTITY_RIGHTS else "s" if "SERVICE" in operation.right.name else "c"
    if operation.right is Right.ACCESS_POLICIES:
        assert answer == (403, "AuthorizationFailure")
    elif needed in resource_types:
        assert answer == ((operation.inner or operation).status, "")
    else:
        assert answer == (403, "AuthorizationResourceTypeMismatch")


@pytest.mark.parametrize("name", OPERATIONS)
class TestRefusedBeforePermissions:
    """Protocol, source and service, alone and in a batch; the batch itself is refused, and nothing in it is read."""

    @pytest.mark.parametrize(
        ("fields", "code"),
        [
            ({"spr": "https", "sip": "10.0.0.1"}, "AuthorizationProtocolMismatch"),
            ({"sip": "10.0.0.1"}, "AuthorizationSourceIPMismatch"),
        ],
    )
    async def test_table_signature(self, name: str, fields: dict[str, str], code: str) -> None:
        options = table_sas(ACCOUNT, sv=MODERN, tn="Customers", sp="r", **LIMITS, **fields)
        await self.refused(name, options, code)

    @pytest.mark.parametrize(
        ("fields", "code"),
        [
            ({"spr": "https", "sip": "10.0.0.1"}, "AuthorizationProtocolMismatch"),
            ({"sip": "10.0.0.1"}, "AuthorizationSourceIPMismatch"),
            ({}, "AuthorizationServiceMismatch"),
        ],
    )
    async def test_account_signature(self, name: str, fields: dict[str, str], code: str) -> None:
        options = account_sas(ACCOUNT, sv=MODERN, ss="b", srt="s", sp="x", **LIMITS, **fields)
        await self.refused(name, options, code)

    async def refused(self, name: str, options: dict[str, str], code: str) -> None:
        """Ask, and be refused."""
        bench = await Bench().fill(Key("p", "r"))
        before = await bench.contents()
        request = sas(options, frozenset()).sign(request_for(OPERATIONS[name]))
        assert await bench.ask(request) == (403, code)
        assert await bench.contents() == before


@pytest.mark.parametrize("name", ON_ENTITIES | BATCHES)
@pytest.mark.parametrize("table", ["Customers", "Order", "Missing"])
async def test_signature_for_another_table(name: str, table: str) -> None:
    bench = await Bench().fill(Key("p", "r"))
    options = table_sas(ACCOUNT, sv=MODERN, tn=table, sp="raud", **LIMITS)
    request = sas(options, frozenset()).sign(request_for(OPERATIONS[name]))
    assert await bench.ask(request) == (403, "AuthorizationFailure")
