"""What a write does: the one rule that every store applies."""

import pytest

from rowkey.errors import (
    ConditionNotMet,
    EntityAlreadyExists,
    EntityTooLarge,
    ResourceNotFound,
    ServiceError,
    TooManyProperties,
    UpdateConditionNotSatisfied,
)
from rowkey.model.entity import Key, compose_entity, entity_bytes, members_of
from rowkey.model.limits import ENTITY_BYTES_MAX, KEY_UNITS_MAX, PROPERTIES_MAX
from rowkey.model.writes import Condition, Mode, Write, apply_write, verify_condition, verify_limits

KEY = Key("p", "r")
THEN = 1_000
NOW = 5_000
STORED = compose_entity(KEY, THEN, {"B": '"B":1', "A": '"A":1'})

# Condition, and what it makes of a write to an entity that is there (left) or is not (right); None: it goes ahead.
CONDITIONS: list[tuple[Condition | int, type[ServiceError] | None, type[ServiceError] | None]] = [
    (Condition.ANY, None, None),
    (Condition.ABSENT, EntityAlreadyExists, None),
    (Condition.EXISTS, None, ResourceNotFound),
    (Condition.UNMEETABLE, ConditionNotMet, ResourceNotFound),
    (THEN, None, ResourceNotFound),
    (THEN - 1, UpdateConditionNotSatisfied, ResourceNotFound),
    (THEN + 1, UpdateConditionNotSatisfied, ResourceNotFound),
    (0, UpdateConditionNotSatisfied, ResourceNotFound),
]
WHEN_PRESENT = [(condition, present) for condition, present, _ in CONDITIONS]
WHEN_ABSENT = [(condition, absent) for condition, _, absent in CONDITIONS]
HOLD_WHEN_PRESENT = [condition for condition, error in WHEN_PRESENT if error is None]
HOLD_WHEN_ABSENT = [condition for condition, error in WHEN_ABSENT if error is None]
FAIL_WHEN_PRESENT = [(condition, error) for condition, error in WHEN_PRESENT if error is not None]
FAIL_WHEN_ABSENT = [(condition, error) for condition, error in WHEN_ABSENT if error is not None]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(("condition", "error"), FAIL_WHEN_PRESENT)
def test_a_condition_that_fails_on_a_stored_entity(
    mode: Mode, condition: Condition | int, error: type[ServiceError]
) -> None:
    with pytest.raises(error):
        apply_write(STORED, Write(mode, KEY, {}, condition), NOW)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(("condition", "error"), FAIL_WHEN_ABSENT)
def test_a_condition_that_fails_where_nothing_is_stored(
    mode: Mode, condition: Condition | int, error: type[ServiceError]
) -> None:
    with pytest.raises(error):
        apply_write(None, Write(mode, KEY, {}, condition), NOW)


@pytest.mark.parametrize("condition", HOLD_WHEN_PRESENT)
def test_a_set_replaces_all_properties_and_keeps_the_order_given(condition: Condition | int) -> None:
    members = {"C": '"C":2', "A": '"A":2'}
    entity = apply_write(STORED, Write(Mode.SET, KEY, members, condition), NOW)
    assert entity == compose_entity(KEY, NOW, members)


@pytest.mark.parametrize("condition", HOLD_WHEN_PRESENT)
def test_a_merge_replaces_what_it_names_and_sorts_all(condition: Condition | int) -> None:
    members = {"a": '"a":2', "C": '"C":2', "B": '"B":2'}
    entity = apply_write(STORED, Write(Mode.MERGE, KEY, members, condition), NOW)
    assert entity == compose_entity(KEY, NOW, {"A": '"A":1', "B": '"B":2', "C": '"C":2', "a": '"a":2'})


@pytest.mark.parametrize("condition", HOLD_WHEN_PRESENT)
def test_a_deletion_leaves_nothing(condition: Condition | int) -> None:
    assert apply_write(STORED, Write(Mode.DELETE, KEY, {}, condition), NOW) is None


@pytest.mark.parametrize("condition", HOLD_WHEN_ABSENT)
@pytest.mark.parametrize("mode", [Mode.SET, Mode.MERGE])
def test_a_set_or_merge_inserts_what_is_not_there(mode: Mode, condition: Condition | int) -> None:
    members = {"A": '"A":2', "C": '"C":2'}
    assert apply_write(None, Write(mode, KEY, members, condition), NOW) == compose_entity(KEY, NOW, members)


@pytest.mark.parametrize("condition", HOLD_WHEN_ABSENT)
def test_what_is_not_there_cannot_be_deleted(condition: Condition | int) -> None:
    with pytest.raises(ResourceNotFound):
        apply_write(None, Write(Mode.DELETE, KEY, {}, condition), NOW)


def test_a_merge_without_properties_only_moves_the_timestamp_and_sorts() -> None:
    entity = apply_write(STORED, Write(Mode.MERGE, KEY, {}, Condition.EXISTS), NOW)
    assert entity == compose_entity(KEY, NOW, {"A": '"A":1', "B": '"B":1'})


@pytest.mark.parametrize("mode", [Mode.SET, Mode.MERGE])
@pytest.mark.parametrize(("now", "expected"), [(NOW, NOW), (THEN + 1, THEN + 1), (THEN, THEN + 1), (3, THEN + 1)])
def test_timestamps_grow_whatever_the_clock_does(mode: Mode, now: int, expected: int) -> None:
    entity = apply_write(STORED, Write(mode, KEY, {}, Condition.ANY), now)
    assert entity is not None
    assert entity.timestamp == expected


def test_nothing_given_is_modified() -> None:
    members = {"Z": '"Z":1', "A": '"A":2'}
    write = Write(Mode.MERGE, KEY, members, Condition.ANY)
    apply_write(STORED, write, NOW)
    assert write == Write(Mode.MERGE, KEY, {"Z": '"Z":1', "A": '"A":2'}, Condition.ANY)
    assert list(members) == ["Z", "A"]


def test_properties_may_be_as_many_as_the_limit() -> None:
    full = {f"P{number}": f'"P{number}":1' for number in range(PROPERTIES_MAX)}
    one_more = {**full, "Q": '"Q":1'}
    verify_limits(KEY, full, length_of(full))
    with pytest.raises(TooManyProperties):
        verify_limits(KEY, one_more, length_of(one_more))
    stored = compose_entity(KEY, THEN, full)
    merged = apply_write(stored, Write(Mode.MERGE, KEY, {"P7": '"P7":2'}, Condition.ANY), NOW)
    assert merged is not None
    assert len(members_of(merged.text)) == PROPERTIES_MAX
    with pytest.raises(TooManyProperties):
        apply_write(stored, Write(Mode.MERGE, KEY, {"Q": '"Q":1'}, Condition.ANY), NOW)


@pytest.mark.parametrize("key", [KEY, Key("p" * KEY_UNITS_MAX, "\U0001f600" * (KEY_UNITS_MAX // 2))])
@pytest.mark.parametrize("character", ["x", "\\u00e9", "\\n"])
def test_an_entity_may_be_as_large_as_the_limit_to_the_byte(character: str, key: Key) -> None:
    """The quick estimate must never let a larger one through, nor refuse one that fits."""
    members = {f"P{number:02}": f'"P{number:02}":"{character * 32_700}"' for number in range(15)}
    rest = (ENTITY_BYTES_MAX - entity_bytes(key, members) - (8 + 2 * 4 + 4)) // 2
    fitting = {**members, "Last": f'"Last":"{character * rest}"'}
    larger = {**members, "Last": f'"Last":"{character * (rest + 1)}"'}
    assert entity_bytes(key, fitting) == ENTITY_BYTES_MAX
    stored = compose_entity(key, THEN, members)
    verify_limits(key, fitting, length_of(fitting))
    apply_write(stored, Write(Mode.MERGE, key, {"Last": fitting["Last"]}, Condition.ANY), NOW)
    with pytest.raises(EntityTooLarge):
        verify_limits(key, larger, length_of(larger))
    with pytest.raises(EntityTooLarge):
        apply_write(stored, Write(Mode.MERGE, key, {"Last": larger["Last"]}, Condition.ANY), NOW)


def test_a_merge_whose_condition_does_not_hold_is_not_measured() -> None:
    full = {f"P{number}": f'"P{number}":1' for number in range(PROPERTIES_MAX)}
    with pytest.raises(UpdateConditionNotSatisfied):
        apply_write(compose_entity(KEY, THEN, full), Write(Mode.MERGE, KEY, {"Q": '"Q":1'}, THEN - 1), NOW)


def length_of(members: dict[str, str]) -> int:
    """The length of a text that says these properties, and not the keys."""
    return sum(map(len, members.values()))


def test_a_condition_is_verified_on_its_own() -> None:
    verify_condition(STORED, THEN)
    verify_condition(None, Condition.ABSENT)
    with pytest.raises(EntityAlreadyExists):
        verify_condition(STORED, Condition.ABSENT)
