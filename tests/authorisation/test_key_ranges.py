"""No operation, alone or in a batch, reaches beyond the range of keys that its signature is for."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rowkey.model.entity import Key
from rowkey.wire.request import Response
from tests.auth.conftest import table_sas
from tests.authorisation.operations import ENTITY_RIGHTS, MODERN, ON_ENTITIES, Operation, in_batch, request_for
from tests.authorisation.service import Bench, read_answer
from tests.authorisation.signatures import KINDS, LIMITS, sas
from tests.requests import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = [Key(partition, row) for partition in ("a", "b", "c") for row in ("1", "2", "3")]
BOUNDS: dict[str, tuple[dict[str, str], Callable[[str, str], bool]]] = {
    "spk": ({"spk": "b"}, lambda pk, rk: pk >= "b"),
    "epk": ({"epk": "b"}, lambda pk, rk: pk <= "b"),
    "spk srk": ({"spk": "b", "srk": "2"}, lambda pk, rk: (pk, rk) >= ("b", "2")),
    "epk erk": ({"epk": "b", "erk": "2"}, lambda pk, rk: (pk, rk) <= ("b", "2")),
    "one partition": ({"spk": "b", "epk": "b"}, lambda pk, rk: pk == "b"),
    "one entity": ({"spk": "b", "srk": "2", "epk": "b", "erk": "2"}, lambda pk, rk: (pk, rk) == ("b", "2")),
    "over partitions": (
        {"spk": "a", "srk": "2", "epk": "c", "erk": "2"},
        lambda pk, rk: ("a", "2") <= (pk, rk) <= ("c", "2"),
    ),
    "between keys": ({"spk": "b", "srk": "10", "epk": "b", "erk": "29"}, lambda pk, rk: (pk, rk) == ("b", "2")),
    "nothing": ({"spk": "c", "epk": "a"}, lambda pk, rk: False),
    "nothing there": ({"spk": "bb", "epk": "bz"}, lambda pk, rk: False),
}


def at(operation: Operation, key: Key) -> Operation:
    """The operation on the entity with this key."""
    if operation.method == "POST":
        body = json.dumps({"PartitionKey": key.partition_key, "RowKey": key.row_key}).encode()
        return replace(operation, body=body)
    return replace(operation, path=f"/Orders(PartitionKey='{key.partition_key}',RowKey='{key.row_key}')")


@pytest.mark.parametrize("bounds", BOUNDS)
class TestKeyRanges:
    @pytest.mark.parametrize("version", ["2013-08-15", MODERN])
    @pytest.mark.parametrize("is_in_batch", [False, True])
    @pytest.mark.parametrize("name", [name for name in ON_ENTITIES if name != "Query Entities"])
    async def test_one_entity(self, name: str, bounds: str, is_in_batch: bool, version: str) -> None:
        """Each key, there or not, within the range or outside."""
        fields, is_within = BOUNDS[bounds]
        refusal = (403, "AuthorizationFailure") if version == MODERN else (404, "ResourceNotFound")
        kind = sas(table_sas(ACCOUNT, sv=version, sp="raud", tn="Orders", **LIMITS, **fields), ENTITY_RIGHTS)
        for key in KEYS:
            there = [] if name == "Insert Entity" else KEYS
            bench = await Bench().fill(*there)
            before = await bench.contents()
            operation = at(ON_ENTITIES[name], key)
            answer = await bench.ask(kind.sign(request_for(in_batch(operation) if is_in_batch else operation)))
            if is_within(*key):
                assert answer == (operation.status, ""), key
            else:
                assert answer == refusal, key
                assert await bench.contents() == before, key

    @pytest.mark.parametrize("name", ["Insert Entity", "Update Entity", "Insert Or Merge Entity", "Delete Entity"])
    async def test_one_of_several_in_a_change_set(self, name: str, bounds: str) -> None:
        """All or nothing."""
        fields, is_within = BOUNDS[bounds]
        kind = sas(table_sas(ACCOUNT, sv=MODERN, sp="raud", tn="Orders", **LIMITS, **fields), ENTITY_RIGHTS)
        for partition in ("a", "b", "c"):
            bench = await Bench().fill(*([] if name == "Insert Entity" else KEYS))
            before = await bench.contents()
            keys = [Key(partition, row) for row in ("2", "1", "3")]
            operations = [at(ON_ENTITIES[name], key) for key in keys]
            response = await bench.service.handle(kind.sign(request_for(in_batch(*operations))))
            outside = [index for index, key in enumerate(keys) if not is_within(*key)]
            if not outside:
                assert read_answer(response).status < 300
            else:
                assert read_answer(response) == (403, "AuthorizationFailure")
                assert f'"value":"{outside[0]}:This request is not authorized'.encode() in response.body
                assert await bench.contents() == before

    @pytest.mark.parametrize("is_in_batch", [False, True])
    @pytest.mark.parametrize(
        "query",
        [
            "",
            "$filter=PartitionKey%20eq%20'b'",
            "$filter=PartitionKey%20ge%20'a'%20and%20RowKey%20le%20'2'",
            "$filter=not%20(PartitionKey%20eq%20'b')",
            "$filter=RowKey%20eq%20'2'%20or%20PartitionKey%20eq%20'c'",
            "$filter=PartitionKey%20eq%20'c'%20and%20RowKey%20eq%20'3'",
            "$select=RowKey",
            # Tokens that point before every range: 1!4!YQ-- is `a`, 1!4!MQ-- is `1`.
            "NextPartitionKey=1!4!YQ--&NextRowKey=1!4!MQ--",
            "NextPartitionKey=1!4!YQ--",
        ],
    )
    async def test_queries_find_only_what_is_within(self, query: str, bounds: str, is_in_batch: bool) -> None:
        fields, is_within = BOUNDS[bounds]
        bench = await Bench().fill(*KEYS)
        operation = replace(ON_ENTITIES["Query Entities"], path=f"/Orders()?{query}")
        everything = keys_in(await bench.service.handle(KINDS["SharedKey"].sign(request_for(operation))))
        kind = sas(table_sas(ACCOUNT, sv=MODERN, sp="raud", tn="Orders", **LIMITS, **fields), ENTITY_RIGHTS)
        response = await bench.service.handle(kind.sign(request_for(in_batch(operation) if is_in_batch else operation)))
        found = keys_in(response)
        if "select" in query:
            assert len(found) == sum(is_within(*key) for key in KEYS)
        else:
            assert found == [key for key in everything if is_within(*key)]

    @pytest.mark.parametrize("top", [1, 2])
    async def test_pages_stay_within(self, top: int, bounds: str) -> None:
        fields, is_within = BOUNDS[bounds]
        bench = await Bench().fill(*KEYS)
        kind = sas(table_sas(ACCOUNT, sv=MODERN, sp="r", tn="Orders", **LIMITS, **fields), ENTITY_RIGHTS)
        found: list[Key] = []
        token = ""
        for _ in range(len(KEYS) + 1):
            operation = replace(ON_ENTITIES["Query Entities"], path=f"/Orders()?$top={top}{token}")
            response = await bench.service.handle(kind.sign(request_for(operation)))
            found += keys_in(response)
            next_keys = {
                name: response.header(f"x-ms-continuation-{name}") for name in ("NextPartitionKey", "NextRowKey")
            }
            token = "".join(f"&{name}={value}" for name, value in next_keys.items() if value)
            if not token:
                break
        assert found == [key for key in KEYS if is_within(*key)]


def keys_in(response: Response) -> list[Key]:
    """The keys in a feed, also one that is a batch's only part."""
    assert read_answer(response).status == 200, response.body
    (feed,) = re.findall(rb'\{"odata\.metadata".*\}', response.body)
    return [Key(entity.get("PartitionKey", ""), entity["RowKey"]) for entity in json.loads(feed)["value"]]
