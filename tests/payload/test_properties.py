"""Properties of request bodies, whatever their format was: what is read of an entity, and what is refused.

They are written here as JSON; `test_atom_input.py` has those that come from Atom.
"""

from __future__ import annotations

import base64
import time
import tracemalloc

import pytest

from rowkey.errors import (
    BodyNotReadable,
    InvalidInput,
    OutOfRangeInput,
    PrimaryKeyPropertyIsInvalidType,
    PropertiesNeedValue,
    PropertyNameInvalid,
    PropertyNameTooLong,
    PropertyValueTooLarge,
    ServiceError,
    TooManyProperties,
)
from rowkey.model.entity import Key, json_string
from rowkey.payload.json_input import read_object
from rowkey.payload.properties import read_entity, read_new_entity, read_table_name

TODAY = "2019-02-02"
OF_2008 = "2008-10-27"
GUID = "c9da6455-213d-42c9-9a79-3e9149a57833"


def read(members: str) -> dict[str, str]:
    """The custom properties of a body with good keys and these members."""
    return read_entity(read_object(f'{{"PartitionKey":"p","RowKey":"r",{members}}}'.encode()), TODAY)


def annotated(edm_type: str, value: str) -> str:
    """Members of a property A of this type."""
    return f'"A@odata.type":"{edm_type}","A":{value}'


# ---------------------------------------------------------------- reading

# A JSON value without annotation, and what is stored of it.
UNTYPED = [
    ('""', '""'),
    ('"text"', '"text"'),
    ('"é"', r'"\u00e9"'),
    (r'"\u00E9\/\u0041"', r'"\u00e9/A"'),
    ('"😀"', r'"\ud83d\ude00"'),
    ('"2026-08-03T10:15:30Z"', '"2026-08-03T10:15:30Z"'),
    ('"NaN"', '"NaN"'),
    ("true", "true"),
    ("false", "false"),
    ("0", "0"),
    ("-0", "0"),
    ("2147483647", "2147483647"),
    ("-2147483648", "-2147483648"),
    ("5.0", "5.0"),
    ("-0.0", "-0.0"),
    ("123.45", "123.45"),
    ("0.1", "0.1"),
    ("1e0", "1.0"),
    ("1.23456789012346e+24", "1.23456789012346E+24"),
    ("1e22", "1E+22"),
    ("-12345678901234567890123.0", "-1.2345678901234568E+22"),
    ("1e-5", "1E-05"),
    ("0.30000000000000004", "0.30000000000000004"),
    ("5e-324", "5E-324"),
    ("1.7976931348623157e308", "1.7976931348623157E+308"),
]
# Type, JSON value, and what is stored of it.
TYPED = [
    ("Edm.String", '"5"', '"5"'),
    ("Edm.Boolean", "true", "true"),
    ("Edm.Boolean", '"true"', "true"),
    ("Edm.Boolean", '"False"', "false"),
    ("Edm.Int32", "5", "5"),
    ("Edm.Int32", '"37"', "37"),
    ("Edm.Int32", '"-2147483648"', "-2147483648"),
    ("Edm.Int64", '"255"', '"255"'),
    ("Edm.Int64", "255", '"255"'),
    ("Edm.Int64", '"9223372036854775807"', '"9223372036854775807"'),
    ("Edm.Int64", "-9223372036854775808", '"-9223372036854775808"'),
    ("Edm.Double", "5", "5.0"),
    ("Edm.Double", "5.5", "5.5"),
    ("Edm.Double", '"200.23"', "200.23"),
    ("Edm.Double", '"2.71"', "2.71"),
    ("Edm.Double", "123456789012345680", "1.2345678901234568E+17"),
    ("Edm.Double", "12345678901234567890123", "1.2345678901234568E+22"),
    ("Edm.Double", '"NaN"', '"NaN"'),
    ("Edm.Double", '"Infinity"', '"Infinity"'),
    ("Edm.Double", '"-Infinity"', '"-Infinity"'),
    ("Edm.DateTime", '"2011-11-04T00:05:23.283000Z"', '"2011-11-04T00:05:23.283Z"'),
    ("Edm.DateTime", '"1973-10-04T00:00:00.000000Z"', '"1973-10-04T00:00:00Z"'),
    ("Edm.DateTime", '"2026-08-03"', '"2026-08-03T00:00:00Z"'),
    ("Edm.DateTime", '"2026-08-03T10:15"', '"2026-08-03T10:15:00Z"'),
    ("Edm.DateTime", '"2026-08-03T10:15:30"', '"2026-08-03T10:15:30Z"'),
    ("Edm.DateTime", '"2026-08-03T10:15:30+02:00"', '"2026-08-03T08:15:30Z"'),
    ("Edm.DateTime", '"2026-08-03T10:15:30.123456789Z"', '"2026-08-03T10:15:30.1234568Z"'),
    ("Edm.DateTime", '"1601-01-01T00:00:00Z"', '"1601-01-01T00:00:00Z"'),
    ("Edm.DateTime", '"9999-12-31T23:59:59.9999999Z"', '"9999-12-31T23:59:59.9999999Z"'),
    ("Edm.Guid", f'"{GUID.upper()}"', f'"{GUID}"'),
    ("Edm.Binary", '""', '""'),
    ("Edm.Binary", '"AQIDBA=="', '"AQIDBA=="'),
]
ALWAYS_ANNOTATED = {"Edm.Int64", "Edm.DateTime", "Edm.Guid", "Edm.Binary"}


class TestReading:
    @pytest.mark.parametrize(("value", "stored"), UNTYPED)
    def test_value_without_a_type(self, value: str, stored: str) -> None:
        assert read(f'"A":{value}') == {"A": f'"A":{stored}'}

    @pytest.mark.parametrize(("edm_type", "value", "stored"), TYPED)
    def test_value_with_a_type(self, edm_type: str, value: str, stored: str) -> None:
        is_special = edm_type == "Edm.Double" and stored.startswith('"')
        annotation = f'"A@odata.type":"{edm_type}",' if edm_type in ALWAYS_ANNOTATED or is_special else ""
        assert read(annotated(edm_type, value)) == {"A": f'{annotation}"A":{stored}'}

    @pytest.mark.parametrize(("edm_type", "value", "stored"), TYPED)
    def test_annotation_may_follow(self, edm_type: str, value: str, stored: str) -> None:
        """The Python SDK sends it after its property."""
        after = read(f'"A":{value},"B":1,"A@odata.type":"{edm_type}"')
        assert after == {**read(annotated(edm_type, value)), "B": '"B":1'}

    @pytest.mark.parametrize(("edm_type", "value", "stored"), TYPED)
    def test_what_is_stored_reads_back_to_itself(self, edm_type: str, value: str, stored: str) -> None:
        members = read(annotated(edm_type, value))
        assert read(members["A"]) == members

    @pytest.mark.parametrize(
        ("value", "error"),
        [
            ("2147483648", InvalidInput),
            ("-2147483649", InvalidInput),
            ("9223372036854775808", InvalidInput),
            ("-9223372036854775809", InvalidInput),
            ("12345678901234567890123", InvalidInput),
            ("9" * 300, InvalidInput),
            ("9" * 400, InvalidInput),
            ("{}", InvalidInput),
            ("[]", InvalidInput),
            ("NaN", InvalidInput),
            ("1e999", InvalidInput),
            (r'"\ud800"', InvalidInput),
            (f'"{"x" * 32_769}"', PropertyValueTooLarge),
            (f'"{"😀" * 16_385}"', PropertyValueTooLarge),
        ],
    )
    def test_untyped_value_is_refused(self, value: str, error: type[ServiceError]) -> None:
        with pytest.raises(error):
            read(f'"A":{value}')

    @pytest.mark.parametrize("value", [f'"{"x" * 32_768}"', f'"{"😀" * 16_384}"', f'"{"é" * 32_768}"'])
    def test_longest_strings(self, value: str) -> None:
        assert len(read(f'"A":{value}')["A"]) > 32_768

    @pytest.mark.parametrize(
        ("edm_type", "value", "error"),
        [
            ("Edm.Foo", "1", BodyNotReadable),
            ("Edm.Byte", "1", BodyNotReadable),
            ("Edm.Single", "1.5", BodyNotReadable),
            ("Edm.DateTimeOffset", '"2026-08-03T10:15:30Z"', BodyNotReadable),
            ("edm.string", '"a"', BodyNotReadable),
            ("", '"a"', BodyNotReadable),
            ("Edm.String", "5", BodyNotReadable),
            ("Edm.String", f'"{"x" * 32_769}"', PropertyValueTooLarge),
            ("Edm.Boolean", "1", BodyNotReadable),
            ("Edm.Boolean", '"yes"', BodyNotReadable),
            ("Edm.Int32", "2147483648", BodyNotReadable),
            ("Edm.Int32", "1.0", BodyNotReadable),
            ("Edm.Int32", "true", BodyNotReadable),
            ("Edm.Int32", '"x"', BodyNotReadable),
            ("Edm.Int64", '"9223372036854775808"', BodyNotReadable),
            ("Edm.Int64", '""', BodyNotReadable),
            ("Edm.Int64", '" 1"', BodyNotReadable),
            ("Edm.Int64", '"١"', BodyNotReadable),
            ("Edm.Int64", "1.5", BodyNotReadable),
            ("Edm.Int64", "12345678901234567890123", BodyNotReadable),
            ("Edm.Double", '"x"', BodyNotReadable),
            ("Edm.Double", '"1e999"', BodyNotReadable),
            ("Edm.Double", '"nan"', BodyNotReadable),
            ("Edm.Double", "false", BodyNotReadable),
            ("Edm.DateTime", "5", BodyNotReadable),
            ("Edm.DateTime", '"x"', BodyNotReadable),
            ("Edm.DateTime", '"2026-13-01T00:00:00Z"', BodyNotReadable),
            ("Edm.DateTime", '"2026-01-01T24:00:00Z"', BodyNotReadable),
            ("Edm.DateTime", '"2026-01-01T00:00:60Z"', BodyNotReadable),
            ("Edm.DateTime", '"2026-02-30T00:00:00Z"', BodyNotReadable),
            ("Edm.DateTime", '"1600-12-31T23:59:59Z"', OutOfRangeInput),
            ("Edm.DateTime", '"0001-01-01T00:00:00Z"', OutOfRangeInput),
            ("Edm.DateTime", '"9999-12-31T23:59:59-00:01"', OutOfRangeInput),
            ("Edm.Guid", '"x"', BodyNotReadable),
            ("Edm.Guid", f'"{{{GUID}}}"', BodyNotReadable),
            ("Edm.Guid", f'"{GUID.replace("-", "")}"', BodyNotReadable),
            ("Edm.Guid", "5", BodyNotReadable),
            ("Edm.Binary", '"###"', BodyNotReadable),
            ("Edm.Binary", '"AQI"', BodyNotReadable),
            ("Edm.Binary", '"AAEC="', BodyNotReadable),
            ("Edm.Binary", '"AAEC=="', BodyNotReadable),
            ("Edm.Binary", '"AAEC===="', BodyNotReadable),
            ("Edm.Binary", '"===="', BodyNotReadable),
            ("Edm.Binary", "[1]", BodyNotReadable),
            ("Edm.Binary", f'"{base64.b64encode(bytes(65_537)).decode()}"', PropertyValueTooLarge),
        ],
    )
    def test_typed_value_is_refused(self, edm_type: str, value: str, error: type[ServiceError]) -> None:
        with pytest.raises(error) as caught:
            read(annotated(edm_type, value))
        assert type(caught.value) is error

    def test_longest_binary(self) -> None:
        value = base64.b64encode(bytes(65_536)).decode()
        assert read(annotated("Edm.Binary", f'"{value}"'))["A"].endswith(f'"A":"{value}"')

    @pytest.mark.parametrize(
        "members",
        [
            '"A":null',
            '"A":null,"A@odata.type":"Edm.Int64"',
            '"A@odata.type":"Edm.Foo","A":null',
            '"Timestamp":"2026-08-03T10:15:30Z","Timestamp@odata.type":"Edm.DateTime"',
            '"Timestamp":"nonsense"',
            '"Timestamp":null',
            '"odata.etag":"x","odata.metadata":5,"odata.anything":{"a":[1]}',
            '"Nothing@odata.type":"Edm.Int64"',
        ],
    )
    def test_what_is_not_stored(self, members: str) -> None:
        assert read(members) == {}

    def test_null_as_a_type_is_none(self) -> None:
        assert read('"A@odata.type":null,"A":5') == {"A": '"A":5'}

    def test_other_letter_case_is_an_ordinary_property(self) -> None:
        assert list(read('"timestamp":1,"partitionKey":2,"rowkey":3,"TIMESTAMP":4')) == [
            "timestamp",
            "partitionKey",
            "rowkey",
            "TIMESTAMP",
        ]

    def test_order_is_kept(self) -> None:
        assert list(read('"b":1,"a":2,"B":3,"A":4,"_":5')) == ["b", "a", "B", "A", "_"]

    @pytest.mark.parametrize(
        ("name", "error"),
        [
            ("", PropertyNameInvalid),
            ("a-b", PropertyNameInvalid),
            ("a b", PropertyNameInvalid),
            ("1a", PropertyNameInvalid),
            ("a.b", PropertyNameInvalid),
            ("a@b", PropertyNameInvalid),
            (r"\ue000", PropertyNameInvalid),
            (r"a\u0000", PropertyNameInvalid),
            ("ª", PropertyNameInvalid),
            ("µ", PropertyNameInvalid),
            (r"a\u00ad", PropertyNameInvalid),
            ("a" * 256, PropertyNameTooLong),
        ],
    )
    def test_name_is_refused(self, name: str, error: type[ServiceError]) -> None:
        with pytest.raises(error):
            read(f'"{name}":1')

    @pytest.mark.parametrize("name", ["a" * 255, "_", "_1", "啊齄", "é", "x̄", "snake_case", "Ⅷ"])
    def test_name_is_taken(self, name: str) -> None:
        assert list(read(f'"{name}":1')) == [name]

    @pytest.mark.parametrize(
        "body",
        [
            b'{"PartitionKey":"p","RowKey":"r"}',
            b'\xef\xbb\xbf{"PartitionKey":"p","RowKey":"r"}',
            b' \r\n{"RowKey" : "r" , "PartitionKey":"p"}\t\n',
            b'{"PartitionKey@odata.type":"Edm.String","PartitionKey":"p","RowKey":"r","RowKey@odata.type":"Edm.String"}',
            rb'{"\u0050artitionKey":"\u0070","RowKey":"r"}',
        ],
    )
    def test_keys(self, body: bytes) -> None:
        assert read_new_entity(read_object(body), TODAY) == (Key("p", "r"), {})

    @pytest.mark.parametrize(
        "body",
        [
            b"{}",
            b'{"PartitionKey":null,"RowKey":null}',
            b'{"PartitionKey":"p"}',
            b'{"RowKey":"r"}',
            b'{"partitionkey":"p","rowkey":"r"}',
            b'{"PartitionKey":"p","RowKey":null,"RowKey@odata.type":"Edm.String"}',
        ],
    )
    def test_no_keys(self, body: bytes) -> None:
        with pytest.raises(PropertiesNeedValue):
            read_new_entity(read_object(body), TODAY)

    @pytest.mark.parametrize("keys", ["", '"PartitionKey":"other","RowKey":"keys",', '"PartitionKey":null,'])
    def test_keys_beside_an_address_do_not_matter(self, keys: str) -> None:
        assert read_entity(read_object(f'{{{keys}"A":1}}'.encode()), TODAY) == {"A": '"A":1'}

    @pytest.mark.parametrize(
        "body",
        [
            b'{"PartitionKey":5,"RowKey":"r"}',
            b'{"PartitionKey":true,"RowKey":"r"}',
            b'{"PartitionKey":{},"RowKey":"r"}',
            b'{"PartitionKey":"p","RowKey":1.5}',
            b'{"PartitionKey":"p","RowKey":"5","RowKey@odata.type":"Edm.Int32"}',
            b'{"PartitionKey":"p","RowKey":"5","RowKey@odata.type":"Edm.Guid"}',
            b'{"PartitionKey":"p","RowKey":"5","RowKey@odata.type":5}',
        ],
    )
    def test_key_of_another_type(self, body: bytes) -> None:
        with pytest.raises(PrimaryKeyPropertyIsInvalidType):
            read_new_entity(read_object(body), TODAY)

    @pytest.mark.parametrize("name", ["a-b", "a-", "a--1", "é-b"])
    def test_hyphens_in_names_of_2008(self, name: str) -> None:
        assert read_entity({name: 1}, OF_2008) == {name: f"{json_string(name)}:1"}
        with pytest.raises(PropertyNameInvalid):
            read_entity({name: 1}, "2009-04-14")

    @pytest.mark.parametrize("name", ["-", "-a", "a b", "a.b", "1-a"])
    def test_names_that_2008_had_not_either(self, name: str) -> None:
        with pytest.raises(PropertyNameInvalid):
            read_entity({name: 1}, OF_2008)

    def test_time_is_linear_in_the_number_of_properties(self) -> None:
        """A body may have 300,000 names within 4 MiB, and nobody else is answered meanwhile."""
        assert seconds_to_read(100_000) < 0.5

    @pytest.mark.parametrize("count", [253, 1_000, 2_000])
    def test_time_of_annotated_properties(self, count: int) -> None:
        members = ",".join(f'"A{number}@odata.type":"Edm.Int64","A{number}":"1"' for number in range(count))
        begun = time.process_time()
        try:
            read(members)
        except TooManyProperties:
            pass
        assert time.process_time() - begun < 0.5


def test_nothing_large_is_kept() -> None:
    """A plan for names that no entity can have so many of is of no use to anybody later."""
    tracemalloc.start()
    try:
        for number in range(20):
            with pytest.raises(TooManyProperties):
                read_entity({f"A{number}_{position}": 1 for position in range(2_000)}, TODAY)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000


def seconds_to_read(count: int) -> float:
    body = "{" + ",".join(f'"A{number}":1' for number in range(count)) + "}"
    begun = time.process_time()
    with pytest.raises(TooManyProperties):
        read_entity(read_object(body.encode()), TODAY)
    return time.process_time() - begun


@pytest.mark.parametrize("name", ["Orders", " ", "é"])
def test_name_of_a_table(name: str) -> None:
    assert read_table_name({"odata.type": "x", "Other": [1, {}], "TableName": name}) == name


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"TableName": 1}, InvalidInput),
        ({"TableName": ["Orders"]}, InvalidInput),
        ({}, PropertiesNeedValue),
        ({"TableName": None}, PropertiesNeedValue),
        ({"TableName": ""}, PropertiesNeedValue),
        ({"TableName": False}, InvalidInput),
        ({"tableName": "Orders"}, PropertiesNeedValue),
    ],
)
def test_name_of_a_table_is_refused(properties: dict[str, object], error: type[ServiceError]) -> None:
    with pytest.raises(error):
        read_table_name(properties)
