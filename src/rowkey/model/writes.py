"""The six entity writes as one value, and the one rule of what a write does.

    insert                SET    condition ABSENT
    update                SET    condition EXISTS (If-Match: *) or an ETag's timestamp
    insert or replace     SET    condition ANY
    merge                 MERGE  condition EXISTS or a timestamp
    insert or merge       MERGE  condition ANY
    delete                DELETE condition EXISTS or a timestamp

Stores apply `apply_write` or prove that they agree with it.
"""

from dataclasses import dataclass
from enum import Enum

from rowkey.errors import (
    ConditionNotMet,
    EntityAlreadyExists,
    EntityTooLarge,
    ResourceNotFound,
    TooManyProperties,
    UpdateConditionNotSatisfied,
)
from rowkey.model.entity import Entity, Key, Members, compose_entity, entity_bytes, members_of, ordinal
from rowkey.model.limits import ENTITY_BYTES_MAX, KEY_UNITS_MAX, PROPERTIES_MAX


class Mode(Enum):
    """What a write does with the properties that it carries."""

    SET = "set"
    MERGE = "merge"
    DELETE = "delete"


class Condition(Enum):
    """What must be true of the stored entity; an int in its place asks for exactly that timestamp."""

    ANY = "any"
    ABSENT = "absent"
    EXISTS = "exists"
    UNMEETABLE = "unmeetable"
    """A well-formed ETag that is no timestamp: it cannot match, and the service says so in words of its own."""


@dataclass(slots=True)
class Write:
    """One change of one entity. `members` are in the order in which a SET stores them, and within the limits."""

    mode: Mode
    key: Key
    members: Members
    condition: Condition | int


def apply_write(current: Entity | None, write: Write, now: int) -> Entity | None:
    """The entity after `write` at `now` (ticks), None once deleted.

    Timestamps of an entity grow strictly, whatever the clock does. A merge leaves absent properties as they are and
    sorts all of them by ordinal name (recorded, 65 of 65). Raises the ConditionError that the service answers, and
    what `verify_limits` raises when a merge would pass them.
    """
    verify_condition(current, write.condition)
    if write.mode is Mode.DELETE:
        if current is None:
            raise ResourceNotFound
        return None
    timestamp = now if current is None else max(now, current.timestamp + 1)
    members = write.members
    if write.mode is Mode.MERGE and current is not None:
        members = _sorted_members({**members_of(current.text), **members})
        verify_limits(write.key, members, sum(map(len, members.values())))
    return compose_entity(write.key, timestamp, members)


def verify_limits(key: Key, members: Members, length: int) -> None:
    """Raise TooManyProperties or EntityTooLarge unless an entity may have all of these properties.

    `length` is that of any text that says all of them, by which most entities need no closer look. What a request
    brings is verified when it is read, before the table and the entity are looked for.
    """
    if len(members) > PROPERTIES_MAX:
        raise TooManyProperties
    # The formula counts at most two bytes for a character of text, and twelve more for a short one.
    if _KEY_BYTES_MAX + 2 * length + 12 * len(members) > ENTITY_BYTES_MAX and (
        entity_bytes(key, members) > ENTITY_BYTES_MAX
    ):
        raise EntityTooLarge


_KEY_BYTES_MAX = 4 + 2 * 2 * KEY_UNITS_MAX
"""What the formula counts for an entity without properties."""


def verify_condition(current: Entity | None, condition: Condition | int) -> None:
    """Raise unless `condition` holds; a missing entity is reported before an ETag is compared (recorded)."""
    if current is None:
        if condition is not Condition.ANY and condition is not Condition.ABSENT:
            raise ResourceNotFound
    elif condition is Condition.ABSENT:
        raise EntityAlreadyExists
    elif condition is Condition.UNMEETABLE:
        raise ConditionNotMet
    elif isinstance(condition, int) and condition != current.timestamp:
        raise UpdateConditionNotSatisfied


def _sorted_members(members: Members) -> Members:
    return {name: members[name] for name in sorted(members, key=ordinal)}
