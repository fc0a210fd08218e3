"""An entity as its wire text: composed, taken apart, measured."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.model.datetimes import TICKS_MAX, parse_datetime
from rowkey.model.edm import utf16_length
from rowkey.model.entity import (
    SYSTEM_NAMES,
    Key,
    WireMember,
    compose_entity,
    entity_bytes,
    etag_of,
    json_string,
    members_of,
    ordinal,
    unescape,
    wire_members,
)
from rowkey.store.testing.samples import CONSTANTS, member

TIMESTAMP = parse_datetime("2017-11-10T02:46:53.636692Z")

# The example worked out by hand with the published formula; see entity_bytes.
WORKED_EXAMPLE = {
    "Name": '"Name":"abc"',
    "Qty": '"Qty":3',
    "Price": '"Price":1.5',
    "Id": '"Id@odata.type":"Edm.Guid","Id":"c9da6455-213d-42c9-9a79-3e9149a57833"',
    "Raw": '"Raw@odata.type":"Edm.Binary","Raw":"AQIDBAU="',
    "Ok": '"Ok":true',
    "Big": '"Big@odata.type":"Edm.Int64","Big":"255"',
    "When": '"When@odata.type":"Edm.DateTime","When":"2008-07-10T00:00:00Z"',
}


def test_an_entity_is_composed_as_a_feed_entry_with_minimal_metadata() -> None:
    entity = compose_entity(Key("eu", "0001"), TIMESTAMP, {"Qty": '"Qty":3', "Big": WORKED_EXAMPLE["Big"]})
    assert entity.timestamp == TIMESTAMP
    assert entity.text == (
        r'{"odata.etag":"W/\"datetime' + "'2017-11-10T02%3A46%3A53.636692Z'" + r'\"",'
        '"PartitionKey":"eu","RowKey":"0001","Timestamp":"2017-11-10T02:46:53.636692Z",'
        '"Qty":3,"Big@odata.type":"Edm.Int64","Big":"255"}'
    )


def test_an_entity_without_properties_ends_with_its_timestamp() -> None:
    assert compose_entity(Key("", ""), 0, {}).text.endswith('"RowKey":"","Timestamp":"1601-01-01T00:00:00Z"}')


def test_the_text_is_ascii_and_json_whatever_the_keys() -> None:
    key = Key("it's \"\\ \u554a", "\U0001f600\x7f")
    text = compose_entity(key, TIMESTAMP, {}).text
    assert text.isascii()
    assert Key(json.loads(text)["PartitionKey"], json.loads(text)["RowKey"]) == key


@pytest.mark.parametrize("timestamp", [0, TIMESTAMP, TICKS_MAX])
def test_the_etag_is_the_timestamp(timestamp: int) -> None:
    text = compose_entity(Key("p'q", "r'"), timestamp, WORKED_EXAMPLE).text
    assert etag_of(text) == json.loads(text)["odata.etag"]


def test_an_etag_is_spelled_with_escaped_colons() -> None:
    text = compose_entity(Key("p", "r"), TIMESTAMP, {}).text
    assert etag_of(text) == "W/\"datetime'2017-11-10T02%3A46%3A53.636692Z'\""


def test_custom_properties_come_apart_in_order() -> None:
    text = compose_entity(Key("PartitionKey", '","RowKey":"x'), TIMESTAMP, WORKED_EXAMPLE).text
    assert list(members_of(text).items()) == list(WORKED_EXAMPLE.items())


def test_all_members_come_apart_with_their_annotations() -> None:
    text = compose_entity(Key("p", "r"), TIMESTAMP, {"Qty": '"Qty":3', "Big": WORKED_EXAMPLE["Big"]}).text
    members = wire_members(text)
    assert [member.name for member in members] == ["odata.etag", "PartitionKey", "RowKey", "Timestamp", "Qty", "Big"]
    assert members[1] == WireMember("PartitionKey", None, '"p"', '"PartitionKey":"p"')
    assert members[5] == WireMember("Big", "Edm.Int64", '"255"', WORKED_EXAMPLE["Big"])


@pytest.mark.parametrize(
    "value",
    [
        *("", "\\", '"', '\\"', '","B":1,"C":"', '"B@odata.type":"Edm.Int64","B":"1"', "{}[],:", "a@odata.type"),
        *("\n\r\t\b\f", "\x00", "\x7f", "\u2028", "\U0001f600", "/", "Edm.Int64", "W/\"datetime''\""),
    ],
)
def test_no_value_is_taken_for_a_member(value: str) -> None:
    properties = {name: f'"{name}":{json_string(value)}' for name in ("A", "Z")}
    assert members_of(compose_entity(Key(value, value), TIMESTAMP, properties).text) == properties


@given(
    st.dictionaries(
        st.text(st.characters(categories=["L", "Nl"]), min_size=1).filter(lambda name: name not in SYSTEM_NAMES),
        st.sampled_from(CONSTANTS),
    ),
    st.text(),
    st.text(),
)
def test_members_come_back_as_they_went_in(properties: dict[str, object], partition_key: str, row_key: str) -> None:
    members = {name: member(name, constant) for name, constant in properties.items()}  # type: ignore[arg-type]
    text = compose_entity(Key(partition_key, row_key), TIMESTAMP, members).text
    assert list(members_of(text).items()) == list(members.items())
    assert text.isascii()
    assert json.loads(text)["RowKey"] == row_key


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", '""'),
        ("abc", '"abc"'),
        ("/ < > ' % { }", '"/ < > \' % { }"'),
        ('"', r'"\""'),
        ("\\", r'"\\"'),
        ("\n\r\t\b\f", r'"\n\r\t\b\f"'),
        ("\x00\x1f", r'"\u0000\u001f"'),
        ("\x7f", '"\x7f"'),
        ('a\x7f"é\x7f', '"a\x7f\\"\\u00e9\x7f"'),
        ("\x80", r'"\u0080"'),
        ("\u554a\u9f44", r'"\u554a\u9f44"'),
        ("\U0001f600", r'"\ud83d\ude00"'),
        ("\ud83d", r'"\ud83d"'),
    ],
)
def test_text_is_written_as_the_service_does_and_read_back(text: str, written: str) -> None:
    assert json_string(text) == written
    assert unescape(written[1:-1]) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_reads_back(text: str) -> None:
    assert unescape(json_string(text)[1:-1]) == text
    assert json.loads(json_string(text)) == text


def test_names_are_ordered_by_utf16_units() -> None:
    assert sorted(["b", "a", "_", "B", "\uff21", "é", "\U00010400", "a1"], key=ordinal) == [
        *("B", "_", "a", "a1", "b", "é", "\U00010400", "\uff21")
    ]


def test_the_size_of_the_worked_example_is_196_bytes() -> None:
    assert entity_bytes(Key("eu", "0001"), WORKED_EXAMPLE) == 196


# The bytes of a value alone, by the table of the data model.
VALUE_BYTES = [
    ('"A":""', 4),
    ('"A":"abc"', 10),
    (r'"A":"\u00e9\""', 8),
    (r'"A":"\ud83d\ude00"', 8),
    ('"A":true', 1),
    ('"A":false', 1),
    ('"A":0', 4),
    ('"A":-2147483648', 4),
    ('"A":1.0', 8),
    ('"A":1E+15', 8),
    ('"A":-0.0', 8),
    ('"A@odata.type":"Edm.Double","A":"NaN"', 8),
    ('"A@odata.type":"Edm.Binary","A":""', 4),
    ('"A@odata.type":"Edm.Binary","A":"AA=="', 5),
    ('"A@odata.type":"Edm.Binary","A":"AAA="', 6),
    ('"A@odata.type":"Edm.Binary","A":"AAAA"', 7),
]


@pytest.mark.parametrize(("text", "size"), VALUE_BYTES)
def test_values_are_measured_by_their_type(text: str, size: int) -> None:
    assert entity_bytes(Key("", ""), {"A": text}) == 4 + 8 + 2 + size


def test_keys_and_names_count_two_bytes_for_a_unit() -> None:
    assert entity_bytes(Key("\U0001f600", "é"), {}) == 4 + 2 * 3
    name = "\u554a\U00010400"
    assert entity_bytes(Key("", ""), {name: f'"{json_string(name)[1:-1]}":1'}) == 4 + 8 + 2 * utf16_length(name) + 4
