"""Narrowing never leaves out what the evaluator accepts, whatever the types are."""

from __future__ import annotations

import apsw
import orjson
import pytest

from rowkey.model.datetimes import TICKS_MIN, parse_datetime
from rowkey.model.edm import EdmType
from rowkey.odata.ast import Comparison, Constant
from rowkey.odata.evaluator import compile_filter
from rowkey.store.embedded.narrow import narrow
from rowkey.store.testing.indexes import OPERATORS, VALUES
from rowkey.store.testing.samples import double, int32, int64, member, moment, string

_NOON = parse_datetime("2026-03-01T12:00:00Z")
TIMES = ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.1Z", "2026-03-01T12:00:01Z"]
BODIES = [f'{{"Timestamp":"{TIMES[0]}",{member("A", constant)}}}' for constant in VALUES]
BODIES += [f'{{"Timestamp":"{time}"}}' for time in TIMES]


@pytest.fixture(scope="module")
def connection() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE entity (body BLOB)")
    connection.executemany("INSERT INTO entity VALUES (jsonb(?))", [(body,) for body in BODIES])
    return connection


def left(connection: apsw.Connection, comparison: Comparison) -> list[bool]:
    """Of each body, whether it is still to be decided about."""
    condition, parameters = narrow(comparison)
    sql = f"SELECT coalesce(({condition}), 0) FROM entity ORDER BY rowid"
    return [bool(is_left) for (is_left,) in connection.execute(sql, parameters)]


@pytest.mark.parametrize("name", ["A", "Timestamp"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_what_is_accepted_is_left(connection: apsw.Connection, operator: str, name: str) -> None:
    for constant in [*VALUES, moment(-1), moment(TICKS_MIN)]:
        comparison = Comparison(name, operator, constant)
        matches = compile_filter(comparison)
        for body, is_left in zip(BODIES, left(connection, comparison), strict=True):
            assert is_left or not matches(orjson.loads(body)), (comparison, body)


@pytest.mark.parametrize(
    ("operator", "constant", "other"),
    [
        ("eq", string("a"), string("aa")),
        ("ne", string("a"), string("a")),
        ("gt", string("b"), string("a")),
        ("gt", string("b"), int32(39)),
        ("lt", string("a"), string("aa")),
        ("eq", int32(39), int64(2**53)),
        ("ne", int32(39), double(39.0)),
        ("lt", int32(0), int32(1)),
        ("le", int64(2**53), double(1e15 * 100)),
        ("ge", int32(40), int32(39)),
        ("lt", moment(1), moment(_NOON)),
        ("ge", moment(_NOON), moment(0)),
        ("eq", moment(_NOON), moment(_NOON + 1)),
        ("lt", moment(TICKS_MIN), moment(0)),
        ("eq", moment(-1), moment(0)),
        ("eq", Constant(EdmType.GUID, "c9da6455-213d-42c9-9a79-3e9149a57833"), string("a")),
    ],
)
def test_others_are_left_out(operator: str, constant: Constant, other: Constant) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE entity AS SELECT jsonb(?) AS body", (f"{{{member('A', other)}}}",))
    assert left(connection, Comparison("A", operator, constant)) == [False]
