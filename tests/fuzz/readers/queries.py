"""What is in the options of a query: filters, selections, tokens, values."""

from __future__ import annotations

import math

from rowkey.errors import ServiceError
from rowkey.model.datetimes import format_datetime, parse_datetime
from rowkey.model.edm import format_double, parse_double, parse_guid, parse_integer
from rowkey.model.entity import Key
from rowkey.model.key_range import key_order
from rowkey.odata.continuation import read_entity_start, read_table_start
from rowkey.odata.evaluator import compile_filter
from rowkey.odata.options import read_select, read_timeout, read_top
from rowkey.odata.parser import parse_filter
from rowkey.odata.planner import plan_query
from rowkey.odata.printer import print_filter
from rowkey.odata.tokens import read_token, write_token
from tests.fuzz.readers.given import NEWEST

ENTITIES = [
    {"PartitionKey": partition, "RowKey": row, **values}
    for partition in ("", "a", "b", "é", "\uffff")
    for row in ("", "r", "s")
    for values in (
        {"A": 1, "B": "x"},
        {"A": 1.5, "A@odata.type": "Edm.Double", "C": True},
        {"A": "9007199254740993", "A@odata.type": "Edm.Int64"},
        {"A": "2020-01-01T00:00:00Z", "A@odata.type": "Edm.DateTime"},
    )
]


def read_filter(data: bytes) -> None:
    """A `$filter`: its plan decides of every entity what the filter itself does, and so does its text printed anew."""
    try:
        tree = parse_filter(data.decode("utf-8"))
    except (ServiceError, UnicodeDecodeError):
        return
    printed = print_filter(tree)
    matches, again = compile_filter(tree), compile_filter(parse_filter(printed))
    plan = plan_query(tree)
    residual = None if plan.residual is None else compile_filter(plan.residual)
    for entity in ENTITIES:
        place = key_order(Key(str(entity["PartitionKey"]), str(entity["RowKey"])))
        is_inside = any(
            key_order(bounds.start) <= place and (bounds.end is None or place < key_order(bounds.end))
            for bounds in plan.ranges
        )
        expected = matches(entity)
        assert again(entity) is expected, "printed anew it means something else"
        assert (is_inside and (residual is None or residual(entity))) is expected, "the plan means something else"


def read_query(data: bytes) -> None:
    """The other options: `$select`, `$top`, timeout, and the continuation tokens."""
    options = dict(line.partition("=")[::2] for line in data.decode("latin-1").split("\n"))
    for read in (
        lambda: read_select(options.get("$select"), NEWEST),
        lambda: read_select(options.get("$select"), "2008-10-27"),
        lambda: read_top(options.get("$top")),
        lambda: read_timeout(options.get("timeout")),
        lambda: read_entity_start(options),
        lambda: read_table_start(options),
    ):
        try:
            read()
        except ServiceError:
            pass
    text = data.decode("utf-8", "replace")
    assert read_token(write_token(text)) == text


def read_values(data: bytes) -> None:
    """Values of properties in text: dates, GUIDs, numbers."""
    text = data.decode("utf-8", "replace")
    try:
        ticks = parse_datetime(text)
        assert parse_datetime(format_datetime(ticks)) == ticks
    except ValueError:
        pass
    try:
        assert parse_guid(text) == text.lower()
    except ValueError:
        pass
    try:
        value = parse_double(text)
        if math.isfinite(value):
            assert parse_double(format_double(value)) == value
    except ValueError:
        pass
    try:
        parse_integer(text, -(2**63), 2**63 - 1)
    except ValueError:
        pass
