"""Entities in JSON: how one is written at the three levels, and that any comes back as it went in."""

from __future__ import annotations

import base64
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.model.datetimes import TICKS_MAX, format_datetime, parse_datetime
from rowkey.model.edm import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, format_double
from rowkey.model.entity import Key, compose_entity, members_of, ordinal, split_entities, wire_members
from rowkey.model.shape import shape_texts
from rowkey.payload.json_entity import write_entry, write_feed
from rowkey.payload.json_input import read_object
from rowkey.payload.properties import read_entity, read_new_entity
from rowkey.payload.views import EntityView, shape_of
from rowkey.wire.media import Format

TODAY = "2019-02-02"
BASE = "https://contoso.table.core.windows.net"


# ---------------------------------------------------------------- writing

TIME = parse_datetime("2026-08-03T10:15:31.1234567Z")
MEMBERS = {
    "Qty": '"Qty":3',
    "Big": '"Big@odata.type":"Edm.Int64","Big":"5"',
    "Rate": '"Rate@odata.type":"Edm.Double","Rate":"NaN"',
    "caf\u00e9": r'"caf\u00e9":"a,\"b\":{}"',
}
TEXT = compose_entity(Key("O'Neil", "a b/é"), TIME, MEMBERS).text
ETAG = '"odata.etag":"W/\\"datetime\'2026-08-03T10%3A15%3A31.1234567Z\'\\""'
LINK = "Orders(PartitionKey='O''Neil',RowKey='a%20b%2F%C3%A9')"
KEYS = r'''"PartitionKey":"O'Neil","RowKey":"a b/\u00e9"'''
STAMP = '"Timestamp":"2026-08-03T10:15:31.1234567Z"'
CAFE = r'"caf\u00e9":"a,\"b\":{}"'
METADATA = f'"odata.metadata":"{BASE}/$metadata#Orders'
FULL_CONTROL = f'"odata.type":"contoso.Orders","odata.id":"{BASE}/{LINK}",{ETAG},"odata.editLink":"{LINK}"'
MINIMAL = f'{ETAG},{KEYS},{STAMP},"Qty":3,"Big@odata.type":"Edm.Int64","Big":"5",{MEMBERS["Rate"]},{CAFE}'
FULL = (
    f'{FULL_CONTROL},{KEYS},"Timestamp@odata.type":"Edm.DateTime",{STAMP},"Qty":3,'
    f'"Big@odata.type":"Edm.Int64","Big":"5",{MEMBERS["Rate"]},{CAFE}'
)
NONE = f'{KEYS},{STAMP},"Qty":3,"Big":"5","Rate":"NaN",{CAFE}'


def view(level: Format, *select: str, text: str | None = None) -> EntityView:
    return EntityView(level, BASE, "contoso", "Orders", TIME, select or None, text)


def feed(texts: str, entities: EntityView) -> str:
    """The feed of entities that a store has gathered in the view's shape."""
    return write_feed(shape_texts(texts, shape_of(entities.format, entities.select)), entities).decode()


class TestWriting:
    @pytest.mark.parametrize(
        ("level", "expected"),
        [
            (Format.NO_METADATA, f"{{{NONE}}}"),
            (Format.MINIMAL_METADATA, f'{{{METADATA}/@Element",{MINIMAL}}}'),
            (Format.FULL_METADATA, f'{{{METADATA}/@Element",{FULL}}}'),
        ],
    )
    def test_entry(self, level: Format, expected: str) -> None:
        assert write_entry(TEXT, view(level)).decode() == expected

    @pytest.mark.parametrize("count", [0, 1, 2, 5])
    @pytest.mark.parametrize(
        ("level", "start", "entry"),
        [
            (Format.NO_METADATA, "{", NONE),
            (Format.MINIMAL_METADATA, f'{{{METADATA}",', MINIMAL),
            (Format.FULL_METADATA, f'{{{METADATA}",', FULL),
        ],
    )
    def test_feed(self, level: Format, start: str, entry: str, count: int) -> None:
        entries = ",".join([f"{{{entry}}}"] * count)
        assert feed(",".join([TEXT] * count), view(level)) == f'{start}"value":[{entries}]}}'

    @pytest.mark.parametrize(
        ("select", "minimal"),
        [
            (("Qty",), '"Qty":3'),
            (("Nope", "Qty"), '"Nope":null,"Qty":3'),
            (("Qty", "Nope", "nope", "Aaa"), '"Aaa":null,"Nope":null,"Qty":3,"nope":null'),
            (("Qty", "RowKey"), r'"RowKey":"a b/\u00e9","Qty":3'),
            (("Timestamp", "RowKey", "PartitionKey"), f"{KEYS},{STAMP}"),
            (("Big",), '"Big@odata.type":"Edm.Int64","Big":"5"'),
            (("café", "Rate"), f"{MEMBERS['Rate']},{CAFE}"),
        ],
    )
    def test_selection(self, select: tuple[str, ...], minimal: str) -> None:
        """System properties first, the others by ordinal name, null for what is missing (recorded)."""
        text = ",".join(select)
        suffix = "&$select=" + json.dumps(text)[1:-1]
        typeless = minimal.replace('"Big@odata.type":"Edm.Int64",', "").replace('"Rate@odata.type":"Edm.Double",', "")
        stamped = minimal.replace(STAMP, f'"Timestamp@odata.type":"Edm.DateTime",{STAMP}')
        expected = [
            f"{{{typeless}}}",
            f'{{{METADATA}/@Element{suffix}",{ETAG},{minimal}}}',
            f'{{{METADATA}/@Element{suffix}",{FULL_CONTROL},{stamped}}}',
        ]
        levels = [Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA]
        assert [write_entry(TEXT, view(level, *select, text=text)).decode() for level in levels] == expected
        both = feed(f"{TEXT},{TEXT}", view(Format.MINIMAL_METADATA, *select, text=text))
        assert both == f'{{{METADATA}{suffix}","value":[{{{ETAG},{minimal}}},{{{ETAG},{minimal}}}]}}'

    @pytest.mark.parametrize(
        ("text", "suffix"),
        [("", ""), ("age,sex", "age,sex"), ("age, sex,", "age,%20sex,"), ("a  b", "a%20%20b"), ("é", r"\u00e9")],
    )
    def test_text_of_the_selection(self, text: str, suffix: str) -> None:
        body = write_entry(TEXT, view(Format.MINIMAL_METADATA, text=text)).decode()
        assert body.startswith(f'{{{METADATA}/@Element&$select={suffix}",{ETAG}')

    @pytest.mark.parametrize(
        ("text", "escaped"),
        [
            ('"\\', r"\"\\"),
            ("\b\t\n\f\r", r"\b\t\n\f\r"),
            ("\x00\x01\x1f", r"\u0000\u0001\u001f"),
            ("\x7f/<>'%{}&+", "\x7f/<>'%{}&+"),
            ("\x80\xffÿ", r"\u0080\u00ff\u00ff"),
            ("\u2028啊\uffff", r"\u2028\u554a\uffff"),
            ("😀", r"\ud83d\ude00"),
            ("é\x7f", "\\u00e9\x7f"),
        ],
    )
    def test_escapes(self, text: str, escaped: str) -> None:
        """Recorded: pure ASCII, lower-case digits, one escape for each UTF-16 unit; U+007F as it is."""
        members = read_entity({"A": text}, TODAY)
        entity = compose_entity(Key("p", "r"), TIME, members)
        assert write_entry(entity.text, view(Format.NO_METADATA)).decode("ascii").endswith(f'"A":"{escaped}"}}')

    @pytest.mark.parametrize(
        "value",
        ['{"odata.etag":', ',{"odata.etag":"x"}', '"B@odata.type":"Edm.Int64",', '"odata.etag":"', "},{", '\\"'],
    )
    @pytest.mark.parametrize("level", [Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA])
    def test_values_that_look_like_control_information(self, value: str, level: Format) -> None:
        members = read_entity({"A": value, "B": "5", "B@odata.type": "Edm.Int64"}, TODAY)
        text = compose_entity(Key(value, value), TIME, members).text
        entities = json.loads(feed(f"{text},{text}", view(level)))["value"]
        assert [entity["A"] for entity in entities] == [value, value]
        assert [entity["PartitionKey"] for entity in entities] == [value, value]
        assert split_entities(f"{text},{text}") == [text, text]


# ---------------------------------------------------------------- properties

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
KEY_TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\#?"), max_size=20)
NAMES = st.from_regex(r"[A-Za-z_\u00e0-\u00f6\u4e00-\u4eff][A-Za-z0-9_\u00e0-\u00f6]{0,12}", fullmatch=True).filter(
    lambda name: name not in ("PartitionKey", "RowKey", "Timestamp")
)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
# The JSON value sent, its type (None: no annotation), and the JSON value that must come back.
VALUES = st.one_of(
    TEXTS.map(lambda value: (value, None, value)),
    TEXTS.map(lambda value: (value, "Edm.String", value)),
    st.booleans().map(lambda value: (value, None, value)),
    st.integers(INT32_MIN, INT32_MAX).map(lambda value: (value, None, value)),
    st.integers(INT32_MIN, INT32_MAX).map(lambda value: (str(value), "Edm.Int32", value)),
    st.integers(INT64_MIN, INT64_MAX).map(lambda value: (str(value), "Edm.Int64", str(value))),
    st.integers(INT64_MIN, INT64_MAX).map(lambda value: (value, "Edm.Int64", str(value))),
    FINITE.map(lambda value: (value, None, value)),
    FINITE.map(lambda value: (format_double(value), "Edm.Double", value)),
    st.sampled_from(["NaN", "Infinity", "-Infinity"]).map(lambda value: (value, "Edm.Double", value)),
    st.integers(0, TICKS_MAX).map(format_datetime).map(lambda value: (value, "Edm.DateTime", value)),
    st.uuids().map(lambda value: (str(value).upper(), "Edm.Guid", str(value))),
    st.binary(max_size=60).map(base64.b64encode).map(lambda value: (value.decode(), "Edm.Binary", value.decode())),
)
PROPERTIES = st.dictionaries(NAMES, VALUES, max_size=8)


@given(partition_key=KEY_TEXTS, row_key=KEY_TEXTS, properties=PROPERTIES, ascii_only=st.booleans())
def test_any_entity_round_trips(
    partition_key: str, row_key: str, properties: dict[str, tuple[object, str | None, object]], ascii_only: bool
) -> None:
    """read_entity -> compose_entity -> wire_members, and the three levels are JSON with the same values."""
    body: dict[str, object] = {"PartitionKey": partition_key, "RowKey": row_key}
    for name, (value, edm_type, _) in properties.items():
        body |= {name: value} if edm_type is None else {name: value, f"{name}@odata.type": edm_type}
    key, read_members = read_new_entity(read_object(json.dumps(body, ensure_ascii=ascii_only).encode()), TODAY)
    entity = compose_entity(key, TIME, read_members)

    assert entity.text.isascii()
    assert key == (partition_key, row_key)
    assert members_of(entity.text) == read_members
    assert list(members_of(entity.text)) == list(properties)
    _, *members = wire_members(entity.text)
    assert (
        "{" + ",".join([wire_members(entity.text)[0].text, *(member.text for member in members)]) + "}" == entity.text
    )

    expected = {name: stored for name, (_, _, stored) in properties.items()}
    for level in (Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA):
        written = json.loads(write_entry(entity.text, view(level)))
        values = {name: value for name, value in written.items() if "odata." not in name and name != "Timestamp"}
        assert values == {"PartitionKey": partition_key, "RowKey": row_key, **expected}
        assert [type(values[name]) for name in expected] == [type(value) for value in expected.values()]
    assert read_new_entity(read_object(write_entry(entity.text, view(Format.FULL_METADATA))), TODAY) == (
        key,
        read_members,
    )


@given(value=FINITE)
def test_doubles_keep_value_and_sign(value: float) -> None:
    text = read_entity(read_object(json.dumps({"A": value}).encode()), TODAY)["A"].removeprefix('"A":')
    assert "." in text or "E" in text
    assert (float(text), math.copysign(1, float(text))) == (value, math.copysign(1, value))


@given(names=st.lists(NAMES, min_size=1, max_size=10, unique=True))
def test_selection_is_in_ordinal_order(names: list[str]) -> None:
    body = write_entry(TEXT, view(Format.NO_METADATA, *names)).decode()
    assert list(json.loads(body)) == sorted(names, key=ordinal)
