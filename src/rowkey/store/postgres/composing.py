"""What the database is sent of a write, and what it answers; the functions that it calls are in `statements.py`."""

from rowkey.errors import (
    ConditionNotMet,
    EntityAlreadyExists,
    ResourceNotFound,
    ServiceError,
    UpdateConditionNotSatisfied,
)
from rowkey.model.datetimes import format_datetime
from rowkey.model.entity import Entity
from rowkey.model.writes import Condition, Mode, Write, apply_write

ABSENT = -2
_CODES = {Condition.ANY: -1, Condition.ABSENT: ABSENT, Condition.EXISTS: -3, Condition.UNMEETABLE: -4}
_DELETE_CODES = {**_CODES, Condition.ANY: _CODES[Condition.EXISTS], Condition.ABSENT: _CODES[Condition.UNMEETABLE]}
"""What is not there cannot be deleted."""
_IS_ABSENT, _IS_PRESENT, _IS_CHANGED = -1, -2, -3
_SUPPOSED = Entity(0, "")
"""Some entity, where a condition says that there is one."""
_SOME_TICKS = 1
"""A timestamp to compose texts with, before they have their own."""
_START, _TIME = '{"odata.etag":"W/\\"datetime\'', ',"Timestamp":"'


class Pieces:
    """A wire text without its timestamp: what stands between the two places where that is, and what comes after."""

    __slots__ = ("head", "tail")

    def __init__(self, text: str) -> None:
        end = text.index("'", len(_START))
        time = text.index(_TIME, end) + len(_TIME)  # quotes within keys are escaped
        self.head = text[end:time].encode("ascii")
        self.tail = text[text.index('"', time) :].encode("ascii")


class Stamp:
    """A timestamp that the database has chosen, and the texts that it has put together with it."""

    __slots__ = ("_start", "_ticks", "_time")

    def __init__(self, ticks: int) -> None:
        self._ticks = ticks
        self._time = format_datetime(ticks)
        self._start = f"{_START}{self._time.replace(':', '%3A')}"

    def entity(self, pieces: Pieces | None) -> Entity | None:
        """What is stored now."""
        if pieces is None:
            return None
        head, tail = pieces.head.decode("ascii"), pieces.tail.decode("ascii")
        return Entity(self._ticks, f"{self._start}{head}{self._time}{tail}")


def compose(write: Write, current: Entity | None) -> Pieces | None:
    """What a write makes of an entity, None where it deletes it; raises what `apply_write` raises."""
    entity = apply_write(current, write, _SOME_TICKS)
    return None if entity is None else Pieces(entity.text)


def compose_unseen(write: Write) -> Pieces | None:
    """The same in a state in which the condition holds, which is verified later; not for merges."""
    if write.mode is Mode.DELETE or write.condition is Condition.UNMEETABLE:
        return None
    if isinstance(write.condition, int):
        return compose(write, Entity(write.condition, ""))
    return compose(write, _SUPPOSED if write.condition is Condition.EXISTS else None)


def condition_of(write: Write) -> int:
    """What the database verifies; below zero are codes, and no timestamps of entities."""
    if isinstance(write.condition, int):
        return max(0, write.condition)
    return (_DELETE_CODES if write.mode is Mode.DELETE else _CODES)[write.condition]


def ticks_after(write: Write) -> int:
    """The earliest timestamp that the entity can have after the write."""
    return max(0, write.condition) + 1 if isinstance(write.condition, int) else 1


def read_verdict(write: Write, verdict: int, index: int) -> ServiceError:
    """The error for what the database has found to be the case, but for being overtaken."""
    if verdict == _IS_ABSENT:
        return ResourceNotFound(index=index)
    if write.condition is Condition.UNMEETABLE:
        return ConditionNotMet(index=index)
    return UpdateConditionNotSatisfied(index=index) if verdict == _IS_CHANGED else EntityAlreadyExists(index=index)


def is_overtaken(verdict: int) -> bool:
    """Whether there is an entity with a timestamp that the write would have had to be after: `-verdict`."""
    return verdict < _IS_CHANGED
