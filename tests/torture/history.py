"""Histories of single entities: clients that do things to one entity at a time, and write down what they saw."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

import orjson

from rowkey.errors import (
    EntityAlreadyExists,
    ResourceNotFound,
    ServiceError,
    UpdateConditionNotSatisfied,
)
from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Key
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.testing.samples import int32, members
from tests.torture.linearizability import Operation, Seen

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from rowkey.store.interface import Store, Table

CLIENTS = 8
KINDS = ["get", "get", "get", "insert", "insert", "replace", "merge", "replace", "merge", "delete"]


class Told(NamedTuple):
    """An answer, as an operation has it."""

    answer: str
    etag: str = ""
    seen: Seen | None = None


class Asker:
    """How an entity is read and written: over a store, or over a socket."""

    async def ask(self, kind: str, key: Key, value: int, match: str | None) -> Told:
        """Do it, and tell what the answer was; never raises."""
        raise NotImplementedError


async def record(
    askers: list[Asker], key: Key, operations: int, values: Iterator[int], chance: random.Random
) -> list[Operation]:
    """The history of one entity, with a client for each asker."""
    history: list[Operation] = []

    async def play(client: int, asker: Asker) -> None:
        known = ""
        for _ in range(operations):
            kind = chance.choice(KINDS)
            match = None
            if kind not in ("get", "insert"):
                match = chance.choice([known, known, "*"]) or "*"
                if kind == "replace" and chance.random() < 0.2:
                    match = None
            value = next(values)
            called = time.monotonic()
            told = await asker.ask(kind, key, value, match)
            returned = time.monotonic()
            history.append(
                Operation(
                    client,
                    kind,
                    called,
                    returned,
                    told.answer,
                    value=value,
                    match=match,
                    seen=told.seen,
                    etag=told.etag,
                )
            )
            known = told.etag or (told.seen.etag if told.seen else known)
            await asyncio.sleep(chance.choice([0, 0, 0.0003]))

    await asyncio.gather(*(play(client, asker) for client, asker in enumerate(askers)))
    return history


class StoreAsker(Asker):
    """Over a store's verbs."""

    def __init__(self, store: Store, table: Table) -> None:
        self._store = store
        self._table = table

    async def ask(self, kind: str, key: Key, value: int, match: str | None) -> Told:
        try:
            if kind == "get":
                text = await self._store.get(self._table, key)
                return Told("missing") if text is None else Told("ok", seen=_seen(text))
            (entity,) = await self._store.write(self._table, [write_of(kind, key, value, match)])
        except EntityAlreadyExists:
            return Told("exists")
        except ResourceNotFound:
            return Told("missing")
        except UpdateConditionNotSatisfied:
            return Told("changed")
        except ServiceError:
            return Told("unknown")
        return Told("ok", str(entity.timestamp) if entity else "")


def write_of(kind: str, key: Key, value: int, match: str | None) -> Write:
    """The write that an operation stands for; ETags are timestamps in digits."""
    condition: Condition | int = Condition.ABSENT if kind == "insert" else Condition.ANY
    if match is not None:
        condition = Condition.EXISTS if match == "*" else int(match)
    mode = {"insert": Mode.SET, "replace": Mode.SET, "merge": Mode.MERGE, "delete": Mode.DELETE}[kind]
    return Write(mode, key, {} if mode is Mode.DELETE else members(Value=int32(value)), condition)


def _seen(text: str) -> Seen:
    values = orjson.loads(text)
    return Seen(str(parse_datetime(values["Timestamp"])), values["Value"])
