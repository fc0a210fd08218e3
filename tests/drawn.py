"""What the model of the service (`test_model.py`) draws: keys, values of every type, changes, and filters."""

from __future__ import annotations

import operator
from base64 import b64encode
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st


class Value(NamedTuple):
    """A value: its Edm type, what the JSON says, the literal of a filter, and what it is compared by."""

    edm_type: str
    shown: Any
    literal: str
    order: Any

    def __repr__(self) -> str:
        return self.literal[:40]


def string(text: str) -> Value:
    return Value("Edm.String", text, "'" + text.replace("'", "''") + "'", text.encode("utf-16-be"))


VALUES = [
    *map(string, ("", "a", "A", "it's", "é", "\U0001f600", "\uff21", "1", "a" * 300)),
    *(Value("Edm.Int32", number, str(number), number) for number in (0, 1, -1, 2**31 - 1, -(2**31))),
    *(Value("Edm.Int64", str(number), f"{number}L", number) for number in (0, 1, 2**53 + 1, 2**63 - 1, -(2**63) + 1)),
    *(Value("Edm.Double", number, repr(number), number) for number in (0.5, -1.5, 1e300, 9007199254740992.5)),
    Value("Edm.Boolean", True, "true", True),
    Value("Edm.Boolean", False, "false", False),
    *(
        Value("Edm.DateTime", text, f"datetime'{text}'", text)
        for text in ("1601-01-01T00:00:00Z", "2026-08-03T10:15:30.1234567Z", "9999-12-31T23:59:59.9999999Z")
    ),
    *(
        Value("Edm.Guid", text, f"guid'{text}'", text)
        for text in ("c9da6455-213d-42c9-9a79-3e9149a57833", "0" * 8 + "-0000-0000-0000-" + "0" * 12)
    ),
    *(Value("Edm.Binary", b64encode(data).decode(), f"X'{data.hex()}'", data) for data in (b"", b"\0", b"\xff" * 40)),
]
NUMBERS = ("Edm.Int32", "Edm.Int64", "Edm.Double")
OPERATORS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}

Properties = dict[str, Value]
Entity = Properties
"""Custom properties and both keys."""
Predicate = Callable[[Entity], bool]


class Change(NamedTuple):
    """A write of one entity; `etag` is what If-Match says: `current`, `stale`, `*`, or nothing."""

    method: str
    row_key: str
    properties: Properties
    etag: str


TABLES = st.sampled_from(["Alpha", "alpha", "beta", "Gamma2"])
PARTITION_KEYS = st.sampled_from(["", "p", "it's", "\U0001f600", "é"])
ROW_KEYS = st.sampled_from(["", "a", "b", "aa", "a b", "\uff21", "\U0001f600", "'", "%2F"])
NAMES = st.sampled_from(["A", "B", "a", "é", "_1"])
PROPERTIES = st.dictionaries(NAMES, st.sampled_from(VALUES), max_size=4)
CHANGES = st.builds(
    Change,
    st.sampled_from(["POST", "PUT", "MERGE", "PATCH", "DELETE"]),
    ROW_KEYS,
    PROPERTIES,
    st.sampled_from(["", "*", "current", "current", "stale"]),
)


def compare(name: str, sign: str, value: Value) -> tuple[str, Predicate]:
    """A comparison, as text and as what it means."""

    def holds(entity: Entity) -> bool:
        mine = entity.get(name)
        if mine is None:
            return False
        if mine.edm_type == value.edm_type or (mine.edm_type in NUMBERS and value.edm_type in NUMBERS):
            return bool(OPERATORS[sign](mine.order, value.order))
        if sign in ("eq", "ne"):
            return sign == "ne"
        # Strings come after everything else; other types have no order.
        if mine.edm_type == "Edm.String":
            return sign in ("gt", "ge")
        return value.edm_type == "Edm.String" and sign in ("lt", "le")

    return f"{name} {sign} {value.literal}", holds


def negate(operand: tuple[str, Predicate]) -> tuple[str, Predicate]:
    return f"not ({operand[0]})", lambda entity: not operand[1](entity)


def both(first: tuple[str, Predicate], second: tuple[str, Predicate]) -> tuple[str, Predicate]:
    return f"({first[0]}) and ({second[0]})", lambda entity: first[1](entity) and second[1](entity)


def either(first: tuple[str, Predicate], second: tuple[str, Predicate]) -> tuple[str, Predicate]:
    return f"({first[0]}) or ({second[0]})", lambda entity: first[1](entity) or second[1](entity)


SIGNS = st.sampled_from(sorted(OPERATORS))
FILTERS = st.recursive(
    st.builds(compare, NAMES, SIGNS, st.sampled_from(VALUES))
    | st.builds(compare, st.just("PartitionKey"), SIGNS, PARTITION_KEYS.map(string))
    | st.builds(compare, st.just("RowKey"), SIGNS, ROW_KEYS.map(string)),
    lambda inner: st.builds(negate, inner) | st.builds(both, inner, inner) | st.builds(either, inner, inner),
    max_leaves=5,
)

TOO_MUCH: dict[str, dict[str, object]] = {
    "KeyValueTooLarge": {"PartitionKey": "k" * 513},
    "OutOfRangeInput": {"RowKey": "a/b"},
    "PropertyValueTooLarge": {"A": "x" * 32_769},
    "PropertyNameTooLong": {"A" * 256: 1},
    "TooManyProperties": {f"A{number}": 1 for number in range(253)},
    "EntityTooLarge": {f"A{number}": "x" * 32_000 for number in range(17)},
    "PropertyNameInvalid": {"a-b": 1},
    "InvalidInput": {"A": 2**31},
}
