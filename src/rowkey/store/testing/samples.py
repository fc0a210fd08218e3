"""What the suite stores and asks: a clock, keys that are easily put in the wrong order, values of every Edm type."""

import math
from base64 import b64encode
from collections.abc import Sequence

from rowkey.model.datetimes import TICKS_MAX, format_datetime, parse_datetime
from rowkey.model.edm import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, EdmType, format_double
from rowkey.model.entity import Entity, Key, json_string
from rowkey.model.key_range import WHOLE_TABLE, KeyRange, key_order
from rowkey.model.limits import PAGE_BYTES_MAX
from rowkey.model.shape import WHOLE, Shape
from rowkey.model.writes import Condition, Mode, Write
from rowkey.odata.ast import Constant, Filter
from rowkey.store.checked import split_page, verify_wire_text
from rowkey.store.interface import Page, Scan, Store, Table

ACCOUNT = "account"


class FixedClock:
    """A clock that stands still until it is set."""

    def __init__(self, ticks: int = parse_datetime("2026-03-01T12:00:00.1234567Z")) -> None:
        self.ticks = ticks

    def __call__(self) -> int:
        return self.ticks


# ---------------------------------------------------------------- keys

LONGEST_KEY = "k" * 512
ODD_KEYS = [
    *("", " ", "!", "'", "''", '"', "%", "%00", "+", ",", "-", "--", ";", "(", "*", "_", "{", "|", "~"),
    *("0", "01", "1", "10", "2", "A", "a", "a ", "a b", "a!", "aa", "ab", "aé", "a~", "b", "[", "null"),
    *("é", "e\u0301", "ÿ", "\u00a0", "\u0100", "\u0391", "\u07ff", "\u0800", "\u554a", "\ud7ff"),
    *("\ue000", "\uff21", "\ufffd", "\uffff", "\U00010000", "\U0001f600", "\U0001f600a", "\U0010ffff"),
    *("a\uff21", "a\U0001f600", "a\U0001f600b", "é\uff21", LONGEST_KEY, "\U0001f600" * 256, "é" * 512),
]
"""All legal. U+1F600 begins with the unit D83D: it comes before U+FF21, and after U+D7FF."""

BOUNDS_ONLY = ["\x00", "\x01", "a\x00", "a\x1f", "a/", "\x7f", "a\x7f", "\x80", "a\x9f", "é\x00", "\U0001f600\x00"]
"""No stored key contains these characters, but a range may begin or end with them."""

ODD_KEYS_IN_ORDER = sorted(ODD_KEYS, key=lambda key: key.encode("utf-16-be"))

# ---------------------------------------------------------------- properties


def value(edm_type: EdmType, of: str | int | float | bool | bytes) -> str:
    """The JSON text of a value, held as constants of a filter are: DateTime as ticks, Binary as bytes."""
    match of:
        case bool():
            return "true" if of else "false"
        case bytes():
            return f'"{b64encode(of).decode()}"'
        case str():
            return json_string(of)
        case float():
            return format_double(of) if math.isfinite(of) else _NOT_FINITE[str(of)]
        case int() if edm_type is EdmType.DATETIME:
            return f'"{format_datetime(of)}"'
        case _:
            return f'"{of}"' if edm_type is EdmType.INT64 else str(of)


_NOT_FINITE = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}
_ANNOTATED = frozenset({EdmType.BINARY, EdmType.DATETIME, EdmType.GUID, EdmType.INT64})


def member(name: str, constant: Constant) -> str:
    """The member text of a property with this value."""
    text = value(constant.edm_type, constant.value)
    name_text = json_string(name)[1:-1]
    if constant.edm_type in _ANNOTATED or (constant.edm_type is EdmType.DOUBLE and text[0] == '"'):
        return f'"{name_text}@odata.type":"{constant.edm_type}","{name_text}":{text}'
    return f'"{name_text}":{text}'


def members(**constants: Constant) -> dict[str, str]:
    """Custom properties in the order given."""
    return {name: member(name, constant) for name, constant in constants.items()}


def string(text: str) -> Constant:
    """An Edm.String."""
    return Constant(EdmType.STRING, text)


def int32(number: int) -> Constant:
    """An Edm.Int32."""
    return Constant(EdmType.INT32, number)


def int64(number: int) -> Constant:
    """An Edm.Int64."""
    return Constant(EdmType.INT64, number)


def double(number: float) -> Constant:
    """An Edm.Double."""
    return Constant(EdmType.DOUBLE, number)


def moment(ticks: int) -> Constant:
    """An Edm.DateTime."""
    return Constant(EdmType.DATETIME, ticks)


def boolean(truth: bool) -> Constant:
    """An Edm.Boolean."""
    return Constant(EdmType.BOOLEAN, truth)


_NOON = parse_datetime("2026-03-01T12:00:00Z")

CONSTANTS = [
    *map(string, ["", " ", "a", "A", "aa", "it's", "12", "true", 'quote " and \\', "\x00\x1f\x7f\x80", "é", "e\u0301"]),
    *map(string, ["\ud7ff", "\uff21", "\U0001f600", "</script>", "\u2028", "NaN", "2026-03-01T12:00:00Z"]),
    *map(boolean, [True, False]),
    *map(int32, [INT32_MIN, -1, 0, 1, 39, INT32_MAX]),
    *map(int64, [INT64_MIN, -1, 0, 1, 39, 2**53, 2**53 + 1, 2**53 + 2, INT64_MAX - 1, INT64_MAX]),
    *map(double, [-math.inf, -1.7976931348623157e308, -1.5, -5e-324, -0.0, 0.0, 5e-324, 0.1, 1.0, 1.5, 39.0]),
    *map(double, [float(2**53), float(2**63), 1e15, 123456789012345.6, 1.7976931348623157e308, math.inf, math.nan]),
    *map(moment, [0, _NOON - 1, _NOON, _NOON + 1, TICKS_MAX]),
    Constant(EdmType.GUID, "00000000-0000-0000-0000-000000000000"),
    Constant(EdmType.GUID, "c9da6455-213d-42c9-9a79-3e9149a57833"),
    *(Constant(EdmType.BINARY, raw) for raw in (b"", b"\x00", b"\x00\x01", b"\x7f", b"\x80", b"\xff" * 20)),
]
"""Values of every Edm type, at the limits and next to each other."""

# ---------------------------------------------------------------- writes


def insert(partition_key: str, row_key: str, /, **constants: Constant) -> Write:
    """An insert of an entity with these properties."""
    return Write(Mode.SET, Key(partition_key, row_key), members(**constants), Condition.ABSENT)


def replace(partition_key: str, row_key: str, /, **constants: Constant) -> Write:
    """An insert or replace."""
    return Write(Mode.SET, Key(partition_key, row_key), members(**constants), Condition.ANY)


def merge(partition_key: str, row_key: str, /, **constants: Constant) -> Write:
    """An insert or merge."""
    return Write(Mode.MERGE, Key(partition_key, row_key), members(**constants), Condition.ANY)


def delete(partition_key: str, row_key: str, /) -> Write:
    """A deletion whatever the ETag."""
    return Write(Mode.DELETE, Key(partition_key, row_key), {}, Condition.EXISTS)


async def write_one(store: Store, table: Table, write: Write) -> Entity:
    """Apply a single write, not a deletion; returns what is stored."""
    (entity,) = await store.write(table, [write])
    assert entity is not None
    return entity


async def fill(store: Store, table: Table, partition_key: str, row_keys: Sequence[str], **constants: Constant) -> None:
    """Insert entities with these row keys, all with the same properties."""
    for start in range(0, len(row_keys), 100):
        await store.write(table, [insert(partition_key, key, **constants) for key in row_keys[start : start + 100]])


# ---------------------------------------------------------------- scans


async def scan_page(
    store: Store,
    table: Table,
    ranges: Sequence[KeyRange] = (WHOLE_TABLE,),
    *,
    limit: int = 1000,
    bytes_max: int = PAGE_BYTES_MAX,
    seconds_max: float = 60.0,
    predicate: Filter | None = None,
    shape: Shape = WHOLE,
) -> Page:
    """One page, with limits that do not matter unless given."""
    return await store.scan(table, Scan(ranges, limit, bytes_max, seconds_max, predicate, shape))


async def scan_pages(
    store: Store,
    table: Table,
    ranges: Sequence[KeyRange] = (WHOLE_TABLE,),
    *,
    limit: int = 1000,
    bytes_max: int = PAGE_BYTES_MAX,
    seconds_max: float = 60.0,
    predicate: Filter | None = None,
) -> list[Page]:
    """All pages of a scan, each going on where the one before it says."""
    pages: list[Page] = []
    while not pages or pages[-1].next_key is not None:
        page = await scan_page(
            store, table, ranges, limit=limit, bytes_max=bytes_max, seconds_max=seconds_max, predicate=predicate
        )
        pages.append(page)
        ranges = () if page.next_key is None else rest_of(ranges, page.next_key)
    return pages


async def scan_keys(
    store: Store, table: Table, ranges: Sequence[KeyRange] = (WHOLE_TABLE,), *, predicate: Filter | None = None
) -> list[Key]:
    """The keys of all entities that a scan finds."""
    return [key for page in await scan_pages(store, table, ranges, predicate=predicate) for key in keys_of(page)]


def rest_of(ranges: Sequence[KeyRange], start: Key) -> list[KeyRange]:
    """What is left of the ranges from `start` on."""
    place = key_order(start)
    return [
        KeyRange(max(first, start, key=key_order), end)
        for first, end in ranges
        if end is None or place < key_order(end)
    ]


def keys_of(page: Page) -> list[Key]:
    """The keys of a page's entities."""
    return [verify_wire_text(text)[0] for text in split_page(page.text)]
