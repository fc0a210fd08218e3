"""Verbs on their way between two processes of one server: values to bytes and back.

    frame      4 bytes: length, big endian; then a list of calls or of answers
    call       (number, verb, arguments)
    answer     (number, result, None) or (number, None, (error, text, index))

The bytes are those of `marshal`: plain data and no code to run, as quick as the quickest JSON (1.1 us for an entity of
1 KiB, 1.6 back), and it keeps integers, tuples and lone surrogates. Its form may change with the version of Python;
both ends are the same program, and no stranger reaches either.
"""

import marshal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rowkey.errors import (
    ConditionNotMet,
    EntityAlreadyExists,
    EntityTooLarge,
    ResourceNotFound,
    ServiceError,
    TableAlreadyExists,
    TableNotFound,
    TooManyProperties,
    UpdateConditionNotSatisfied,
)
from rowkey.model.entity import Entity, Key, compose_entity
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.interface import OutcomeUnknown, StoreDamaged, StoreUnavailable

Call = tuple[int, str, tuple[Any, ...]]
Answer = tuple[int, Any, tuple[str, str, int | None] | None]

_LENGTH_BYTES = 4

_ERRORS: Mapping[str, type[ServiceError]] = {
    error.__name__: error
    for error in (
        ConditionNotMet,
        EntityAlreadyExists,
        EntityTooLarge,
        OutcomeUnknown,
        ResourceNotFound,
        StoreDamaged,
        StoreUnavailable,
        TableAlreadyExists,
        TableNotFound,
        TooManyProperties,
        UpdateConditionNotSatisfied,
    )
}
"""What a store may raise."""
_MODES = {mode.value: mode for mode in Mode}
_CONDITIONS = {condition.value: condition for condition in Condition}


def write_frame(messages: Sequence[Call] | Sequence[Answer]) -> bytes:
    """Messages that leave together."""
    content = marshal.dumps(list(messages))
    return len(content).to_bytes(_LENGTH_BYTES, "big") + content


class FrameReader:
    """Frames out of a stream of bytes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._wanted = _LENGTH_BYTES

    def feed(self, data: bytes) -> Iterator[Any]:
        """The messages of the frames that are complete with `data`."""
        self._pieces.append(data)
        self._size += len(data)
        if self._size < self._wanted:
            return
        content = b"".join(self._pieces) if len(self._pieces) > 1 else data
        position = 0
        while True:
            begin = position + _LENGTH_BYTES
            end = begin + int.from_bytes(content[position:begin], "big")
            if len(content) < end or len(content) < begin:
                break
            yield from marshal.loads(memoryview(content)[begin:end])
            position = end
        rest = content[position:]
        self._pieces = [rest] if rest else []
        self._size = len(rest)
        self._wanted = end - position if len(rest) >= _LENGTH_BYTES else _LENGTH_BYTES


# ---------------------------------------------------------------- writes


def pack_writes(writes: Iterable[Write]) -> list[tuple[Any, ...]]:
    """Writes as plain data."""
    return [
        (
            write.mode.value,
            *write.key,
            dict(write.members),
            write.condition.value if isinstance(write.condition, Condition) else write.condition,
        )
        for write in writes
    ]


def unpack_writes(packed: Iterable[tuple[Any, ...]]) -> list[Write]:
    """What `pack_writes` was given."""
    return [
        Write(_MODES[mode], Key(partition_key, row_key), members, _CONDITIONS.get(condition, condition))
        for mode, partition_key, row_key, members, condition in packed
    ]


def pack_entities(writes: Sequence[Write], entities: Iterable[Entity | None]) -> list[Any]:
    """What `writes` have made, without what follows from them: only a merge sends back a text."""
    return [
        None if entity is None else tuple(entity) if write.mode is Mode.MERGE else entity.timestamp
        for write, entity in zip(writes, entities, strict=True)
    ]


def unpack_entities(writes: Sequence[Write], packed: Iterable[Any]) -> list[Entity | None]:
    """What `pack_entities` was given, by whoever has the writes."""
    entities: list[Entity | None] = []
    for write, made in zip(writes, packed, strict=True):
        if made is None:
            entities.append(None)
        elif write.mode is Mode.MERGE:
            entities.append(Entity(*made))
        else:
            entities.append(compose_entity(write.key, made, write.members))
    return entities


# ---------------------------------------------------------------- errors


def pack_error(error: Exception) -> tuple[str, str, int | None]:
    """An error as plain data; one that no store may raise becomes OutcomeUnknown."""
    if isinstance(error, ServiceError) and type(error).__name__ in _ERRORS:
        return type(error).__name__, error.text, error.index
    return OutcomeUnknown.__name__, OutcomeUnknown.message, None


def unpack_error(packed: tuple[str, str, int | None]) -> ServiceError:
    """What `pack_error` was given."""
    name, text, index = packed
    return _ERRORS[name](text, index=index)
