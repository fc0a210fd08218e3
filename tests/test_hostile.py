"""Whatever strangers send, the answer is an error that says what was wrong, at once, and nobody else notices.

Each case goes over a connection of its own to the real server process, signed like any other request unless it says
otherwise; it must be refused (4xx, or the documented 501) with a code in the body. After each, an ordinary request on
another connection must still be answered. HTTP that is not well-formed has its own tests, `tests/server`.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import socket
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tests.conftest import Server

ANSWER_SECONDS_MAX = 2
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
ENTITY = "/Hostile(PartitionKey='p',RowKey='r')"


@dataclass(frozen=True)
class Case:
    """A request to a path below the account, and what it is refused with; an empty `code` is any."""

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 400
    code: str = ""
    target: str = ""
    """The whole target, where it is not the account's path and `path`."""
    is_signed: bool = True


# ---------------------------------------------------------------- entities


def insert(body: str | bytes, code: str = "InvalidInput", status: int = 400) -> Case:
    """An Insert Entity with this body."""
    return Case("POST", "/Hostile", body if isinstance(body, bytes) else body.encode(), JSON, status, code)


def insert_members(members: str, code: str = "InvalidInput") -> Case:
    """An Insert Entity of an entity with good keys, and these members after them."""
    return insert(f'{{"PartitionKey":"p","RowKey":"bad",{members}}}', code)


def insert_value(edm_type: str, value: str, code: str = "InvalidInput") -> Case:
    """An Insert Entity with a property of a type and a JSON value that does not fit it."""
    return insert_members(f'"A@odata.type":"{edm_type}","A":{value}', code)


def insert_keys(partition_key: str, row_key: str, code: str) -> Case:
    """An Insert Entity with these keys, in JSON."""
    return insert(f'{{"PartitionKey":{partition_key},"RowKey":{row_key}}}', code)


GOOD = '{"PartitionKey":"p","RowKey":"good","A":1}'
BODIES = {
    "no body": insert(b""),
    "blanks": insert(b" \r\n\t "),
    "a byte order mark alone": insert(b"\xef\xbb\xbf"),
    "null": insert("null"),
    "true": insert("true"),
    "a number": insert("42"),
    "a string": insert('"text"'),
    "an empty list": insert("[]"),
    "a list with an entity": insert(f"[{GOOD}]"),
    "an object without an end": insert(GOOD[:-1]),
    "an object cut within a string": insert(GOOD[:20]),
    "an end without an object": insert("}"),
    "a comma at the end": insert(GOOD[:-1] + ",}"),
    "a comma too many": insert(GOOD.replace(",", ",,", 1)),
    "no comma": insert(GOOD.replace(",", " ", 1)),
    "no colon": insert(GOOD.replace(":", " ", 1)),
    "single quotes": insert(GOOD.replace('"', "'")),
    "names without quotes": insert('{PartitionKey:"p",RowKey:"r"}'),
    "a comment": insert("/* hi */" + GOOD),
    "a line comment": insert(GOOD + "// hi"),
    "two objects": insert(GOOD + GOOD),
    "garbage after the object": insert(GOOD + "garbage"),
    "a Python literal": insert(repr(GOOD.encode())),
    "XML": insert("<entry xmlns='http://www.w3.org/2005/Atom'></entry>"),
    "a form": insert("PartitionKey=p&RowKey=r"),
    "a NUL after the object": insert(GOOD + "\0"),
    "NULs": insert(b"\0" * 100),
    "UTF-16 with a byte order mark": insert(GOOD.encode("utf-16")),
    "UTF-16": insert(GOOD.encode("utf-16-le")),
    "UTF-32": insert(GOOD.encode("utf-32")),
    "Latin-1": insert('{"PartitionKey":"é","RowKey":"r"}'.encode("latin-1")),
    "overlong UTF-8": insert(b'{"PartitionKey":"\xc0\xaf","RowKey":"r"}'),
    "surrogates in UTF-8": insert(b'{"PartitionKey":"\xed\xa0\x80","RowKey":"r"}'),
    "UTF-8 beyond Unicode": insert(b'{"PartitionKey":"\xf4\x90\x80\x80","RowKey":"r"}'),
    "UTF-8 cut short": insert(b'{"PartitionKey":"\xe5\x95'),
    "gzip": insert(gzip.compress(GOOD.encode(), mtime=0)),
    "random bytes": insert(bytes(range(256)) * 8),
    "a line end in a string": insert_members('"A":"a\nb"'),
    "a tab in a string": insert_members('"A":"a\tb"'),
    "a NUL in a string": insert_members('"A":"a\0b"'),
    "an unknown escape": insert_members(r'"A":"\x41"'),
    "half an escape": insert_members(r'"A":"\u00"'),
    "an escape without an end": insert_members('"A":"\\'),
    "half a surrogate pair": insert_members(r'"A":"\ud800"'),
    "the other half": insert_members(r'"A":"\udc00"'),
    "a pair the wrong way round": insert_members(r'"A":"\udc00\ud800"'),
    "half a pair in a name": insert_members(r'"\ud800":"a"', ""),
    "NaN": insert_members('"A":NaN'),
    "Infinity": insert_members('"A":Infinity'),
    "a leading zero": insert_members('"A":01'),
    "a plus": insert_members('"A":+1'),
    "hexadecimal": insert_members('"A":0x10'),
    "a point first": insert_members('"A":.5'),
    "a point last": insert_members('"A":5.'),
    "half an exponent": insert_members('"A":5e'),
    "a minus alone": insert_members('"A":-'),
    "two minuses": insert_members('"A":--1'),
    "True": insert_members('"A":True'),
    "undefined": insert_members('"A":undefined'),
    "an integer of 400 digits": insert_members('"A":' + "9" * 400),
    "an integer of a million digits": insert_members('"A":' + "9" * 1_000_000),
    "an integer beyond Int32": insert_members('"A":2147483648'),
    "an integer below Int32": insert_members('"A":-2147483649'),
    "a double beyond the range": insert_members('"A":1e999'),
    "a double below the range": insert_members('"A":-1e999'),
    "an object as value": insert_members('"A":{"B":1}'),
    "a list as value": insert_members('"A":[1]'),
    "a list bomb": insert("[" * 200_000),
    "a closed list bomb": insert("[" * 200_000 + "]" * 200_000),
    "an object bomb": insert('{"A":' * 200_000),
    "a list bomb as value": insert_members('"A":' + "[" * 200_000 + "]" * 200_000),
    "a bomb as the value of a key": insert_keys("[" * 900 + "]" * 900, '"r"', ""),
    "a name given twice": insert_members('"A":1,"A":1', "DuplicatePropertiesSpecified"),
    "a name given twice, the second null": insert_members('"A":1,"A":null', "DuplicatePropertiesSpecified"),
    "a name given twice, once escaped": insert_members(r'"A":1,"\u0041":2', "DuplicatePropertiesSpecified"),
    "a name given twice, other strings escaped": insert_members(
        r'"A":"\"","B":"\\","A":"\""', "DuplicatePropertiesSpecified"
    ),
    "an annotation given twice": insert_members(
        '"A@odata.type":"Edm.Int32","A":1,"A@odata.type":"Edm.Int64"', "DuplicatePropertiesSpecified"
    ),
    "a key given twice": insert_members('"PartitionKey":"q"', "DuplicatePropertiesSpecified"),
    "a name given a thousand times": insert_members(",".join(['"A":1'] * 1000), "DuplicatePropertiesSpecified"),
    "253 properties": insert_members(",".join(f'"A{n}":1' for n in range(253)), "TooManyProperties"),
    "100,000 properties": insert_members(",".join(f'"A{n}":1' for n in range(100_000)), "TooManyProperties"),
    "an entity over 1 MiB": insert_members(",".join(f'"A{n}":"{"x" * 32_000}"' for n in range(17)), "EntityTooLarge"),
    "a body over 4 MiB": insert(b" " * (4 << 20) + GOOD.encode(), "RequestBodyTooLarge", 413),
}
NAMES = {
    "an empty name": insert_members('"":1', "PropertyNameInvalid"),
    "a name with a dash": insert_members('"a-b":1', "PropertyNameInvalid"),
    "a name with a blank": insert_members('"a b":1', "PropertyNameInvalid"),
    "a name with a dot": insert_members('"a.b":1', "PropertyNameInvalid"),
    "a name with an at sign": insert_members('"a@b":1', "PropertyNameInvalid"),
    "a name that begins with a digit": insert_members('"1a":1', "PropertyNameInvalid"),
    "a name with a quote": insert_members(r'"a\"b":1', "PropertyNameInvalid"),
    "a name with a control character": insert_members(r'"a\u0001b":1', "PropertyNameInvalid"),
    "a name with NUL": insert_members(r'"\u0000":1', "PropertyNameInvalid"),
    "a name with a C1 control character": insert_members(r'"a\u0085":1', "PropertyNameInvalid"),
    "a name with a private character": insert_members(r'"a\ue000":1', "PropertyNameInvalid"),
    "a name that is an emoji": insert_members('"😀":1', "PropertyNameInvalid"),
    "a name that begins with an accent": insert_members(r'"\u0301a":1', "PropertyNameInvalid"),
    "a name of 256 characters": insert_members(f'"{"a" * 256}":1', "PropertyNameTooLong"),
    "a name of 256 characters with an annotation": insert_members(
        f'"{"a" * 256}":"1","{"a" * 256}@odata.type":"Edm.Int64"', "PropertyNameTooLong"
    ),
    "a name of a million characters": insert_members(f'"{"a" * 1_000_000}":1', "PropertyNameTooLong"),
    "an SQL injection": insert_members('"a\');DROP TABLE entities;--":1', "PropertyNameInvalid"),
}
VALUES = {
    "an unknown type": insert_value("Edm.Foo", '"a"'),
    "a type of another protocol": insert_value("Edm.DateTimeOffset", '"2026-01-01T00:00:00Z"'),
    "Edm.Single": insert_value("Edm.Single", "1.5"),
    "Edm.Decimal": insert_value("Edm.Decimal", '"1.5"'),
    "a type in lower case": insert_value("edm.int32", "1"),
    "a type without Edm": insert_value("Int32", "1"),
    "an empty type": insert_value("", "1"),
    "a collection": insert_value("Collection(Edm.Int32)", "[1]"),
    "a number as type": insert_members('"A@odata.type":1,"A":1'),
    "a list as type": insert_members('"A@odata.type":[],"A":1'),
    "an object as type": insert_members('"A@odata.type":{},"A":1'),
    "an object as value of each type": insert_value("Edm.Int64", "{}"),
    "Int32 too large": insert_value("Edm.Int32", "2147483648"),
    "Int32 too large in text": insert_value("Edm.Int32", '"2147483648"'),
    "Int32 with a fraction": insert_value("Edm.Int32", "1.5"),
    "Int32 as Boolean": insert_value("Edm.Int32", "true"),
    "Int32 as text": insert_value("Edm.Int32", '"one"'),
    "Int64 too large": insert_value("Edm.Int64", '"9223372036854775808"'),
    "Int64 too small": insert_value("Edm.Int64", '"-9223372036854775809"'),
    "Int64 too large for a number": insert_value("Edm.Int64", "18446744073709551616"),
    "Int64 with a fraction": insert_value("Edm.Int64", '"1.5"'),
    "Int64 empty": insert_value("Edm.Int64", '""'),
    "Int64 in hexadecimal": insert_value("Edm.Int64", '"0x10"'),
    "Int64 between blanks": insert_value("Edm.Int64", '" 5 "'),
    "Int64 with an underline": insert_value("Edm.Int64", '"1_000"'),
    "Int64 in wide digits": insert_value("Edm.Int64", '"１２"'),
    "Int64 of a million digits": insert_value("Edm.Int64", f'"{"9" * 1_000_000}"'),
    "Double as text": insert_value("Edm.Double", '"much"'),
    "Double empty": insert_value("Edm.Double", '""'),
    "Double as Boolean": insert_value("Edm.Double", "true"),
    "Double beyond the range": insert_value("Edm.Double", '"1e999"'),
    "Double with an underline": insert_value("Edm.Double", '"1_0.0"'),
    "Double in hexadecimal": insert_value("Edm.Double", '"0x1p3"'),
    "Double of an integer beyond the range": insert_value("Edm.Double", "9" * 400),
    "Boolean as text": insert_value("Edm.Boolean", '"yes"'),
    "Boolean as number": insert_value("Edm.Boolean", "1"),
    "Boolean empty": insert_value("Edm.Boolean", '""'),
    "String as number": insert_value("Edm.String", "1"),
    "String of 32,769 units": insert_members(f'"A":"{"x" * 32_769}"', "PropertyValueTooLarge"),
    "String of 16,385 emoji": insert_members(f'"A":"{"😀" * 16_385}"', "PropertyValueTooLarge"),
    "DateTime as text": insert_value("Edm.DateTime", '"yesterday"'),
    "DateTime empty": insert_value("Edm.DateTime", '""'),
    "DateTime as number": insert_value("Edm.DateTime", "1"),
    "DateTime in the 13th month": insert_value("Edm.DateTime", '"2026-13-01T00:00:00Z"'),
    "DateTime on 30 February": insert_value("Edm.DateTime", '"2026-02-30T00:00:00Z"'),
    "DateTime at 24 o'clock": insert_value("Edm.DateTime", '"2026-01-01T24:00:00Z"'),
    "DateTime in a leap second": insert_value("Edm.DateTime", '"2016-12-31T23:59:60Z"'),
    "DateTime in the year 0": insert_value("Edm.DateTime", '"0000-01-01T00:00:00Z"', ""),
    "DateTime in the year 10000": insert_value("Edm.DateTime", '"10000-01-01T00:00:00Z"'),
    "DateTime in wide digits": insert_value("Edm.DateTime", '"２０２６-01-01T00:00:00Z"'),
    "DateTime with a sign for a colon": insert_value("Edm.DateTime", '"2026-01-01T00+00:00Z"'),
    "DateTime in an unheard-of zone": insert_value("Edm.DateTime", '"2026-01-01T00:00:00+99:00"'),
    "DateTime with a million digits in its fraction": insert_value(
        "Edm.DateTime", f'"2026-01-01T00:00:00.{"1" * 1_000_000}"'[:-1] + 'z?"'
    ),
    "DateTime before 1601": insert_value("Edm.DateTime", '"1600-12-31T23:59:59Z"', "OutOfRangeInput"),
    "DateTime in the year 1": insert_value("Edm.DateTime", '"0001-01-01T00:00:00Z"', "OutOfRangeInput"),
    "DateTime before 1601 by its zone": insert_value("Edm.DateTime", '"1601-01-01T00:00:00+01:00"', "OutOfRangeInput"),
    "DateTime after 9999 by its zone": insert_value("Edm.DateTime", '"9999-12-31T23:59:59-01:00"', "OutOfRangeInput"),
    "Guid as text": insert_value("Edm.Guid", '"guid"'),
    "Guid in braces": insert_value("Edm.Guid", '"{c9da6455-213d-42c9-9a79-3e9149a57833}"'),
    "Guid too short": insert_value("Edm.Guid", '"c9da6455-213d-42c9-9a79-3e9149a5783"'),
    "Guid with another letter": insert_value("Edm.Guid", '"g9da6455-213d-42c9-9a79-3e9149a57833"'),
    "Guid as number": insert_value("Edm.Guid", "1"),
    "Binary as text": insert_value("Edm.Binary", '"not base64!"'),
    "Binary without padding": insert_value("Edm.Binary", '"AQI"'),
    "Binary in the alphabet of URLs": insert_value("Edm.Binary", '"_-8="'),
    "Binary in Cyrillic": insert_value("Edm.Binary", '"АААА"'),
    "Binary as number": insert_value("Edm.Binary", "1"),
    "Binary as list": insert_value("Edm.Binary", "[1,2]"),
    "Binary over 64 KiB": insert_value(
        "Edm.Binary", f'"{base64.b64encode(bytes(65_537)).decode()}"', "PropertyValueTooLarge"
    ),
}
KEYS = {
    "no keys": insert('{"A":1}', "PropertiesNeedValue"),
    "no properties": insert("{}", "PropertiesNeedValue"),
    "no RowKey": insert('{"PartitionKey":"p"}', "PropertiesNeedValue"),
    "no PartitionKey": insert('{"RowKey":"r"}', "PropertiesNeedValue"),
    "a key that is null": insert_keys("null", '"r"', "PropertiesNeedValue"),
    "a key in other letter case": insert('{"partitionkey":"p","rowkey":"r"}', "PropertiesNeedValue"),
    "a key that is a number": insert_keys("1", '"r"', "PrimaryKeyPropertyIsInvalidType"),
    "a key that is true": insert_keys('"p"', "true", "PrimaryKeyPropertyIsInvalidType"),
    "a key that is an object": insert_keys("{}", '"r"', ""),
    "a key annotated as Int64": insert_keys(
        '"1","PartitionKey@odata.type":"Edm.Int64"', '"r"', "PrimaryKeyPropertyIsInvalidType"
    ),
    "a key annotated with nonsense": insert_keys('"1","PartitionKey@odata.type":[1]', '"r"', ""),
    "a key with half a surrogate pair": insert_keys(r'"\ud83d"', '"r"', "InvalidInput"),
    "a key of 513 characters": insert_keys(f'"{"k" * 513}"', '"r"', "KeyValueTooLarge"),
    "a key of 257 emoji": insert_keys('"p"', f'"{"😀" * 257}"', "KeyValueTooLarge"),
    "a key of a million characters": insert_keys(f'"{"k" * 1_000_000}"', '"r"', "KeyValueTooLarge"),
    **{
        f"a key with {character!a}": insert_keys('"p"', json.dumps(f"a{character}b"), "OutOfRangeInput")
        for character in "/\\#?\0\t\n\x1f\x7f\x85\x9f"
    },
}
CHANGES = {
    "an update without a body": Case("PUT", ENTITY, b"", JSON, code="InvalidInput"),
    "a merge with a list": Case("MERGE", ENTITY, b"[]", JSON, code="InvalidInput"),
    "a patch with a bad value": Case(
        "PATCH", ENTITY, b'{"A@odata.type":"Edm.Guid","A":"x"}', JSON, code="InvalidInput"
    ),
    "a patch with 253 properties": Case(
        "PATCH", ENTITY, json.dumps({f"A{n}": n for n in range(253)}).encode(), JSON, code="TooManyProperties"
    ),
    "an update of a key that is too long": Case(
        "PUT", f"/Hostile(PartitionKey='{'k' * 513}',RowKey='r')", b"{}", JSON, code="KeyValueTooLarge"
    ),
    "an update of a key with a control character": Case(
        "PUT", "/Hostile(PartitionKey='a%01b',RowKey='r')", b"{}", JSON, code="OutOfRangeInput"
    ),
    "an update of a key with NUL": Case(
        "MERGE", "/Hostile(PartitionKey='%00',RowKey='r')", b"{}", JSON, code="OutOfRangeInput"
    ),
    "a deletion without If-Match": Case("DELETE", ENTITY, code="MissingRequiredHeader"),
    "a deletion of a key with a question mark": Case(
        "DELETE", "/Hostile(PartitionKey='%3F',RowKey='r')", headers={"If-Match": "*"}, code="OutOfRangeInput"
    ),
    "an update of what is not there": Case(
        "PUT", "/Hostile(PartitionKey='p',RowKey='not')", b"{}", {**JSON, "If-Match": "*"}, 404, "ResourceNotFound"
    ),
    "an insert into a table that is not there": Case("POST", "/Nowhere", GOOD.encode(), JSON, 404, "TableNotFound"),
    "an insert into a table whose name no table can have": Case("POST", "/" + "a" * 5000, GOOD.encode(), JSON, code=""),
}


# ---------------------------------------------------------------- tables


def create(body: str, code: str, status: int = 400) -> Case:
    """A Create Table with this body."""
    return Case("POST", "/Tables", body.encode(), JSON, status, code)


def create_named(name: str, code: str = "InvalidResourceName") -> Case:
    """A Create Table with this name."""
    return create(json.dumps({"TableName": name}), code)


TABLES = {
    "a table without a body": create("", "InvalidInput"),
    "a table in a list": create('["abc"]', "InvalidInput"),
    "a table without a name": create("{}", "PropertiesNeedValue"),
    "a table called null": create('{"TableName":null}', "PropertiesNeedValue"),
    "a table with a number for a name": create('{"TableName":123}', "InvalidInput"),
    "a table with a list for a name": create('{"TableName":["abc"]}', "InvalidInput"),
    "a table with two names": create('{"TableName":"abc","TableName":"abd"}', "DuplicatePropertiesSpecified"),
    "a table with an empty name": create_named("", ""),
    "a name of two letters": create_named("ab", "OutOfRangeInput"),
    "a name of 64 letters": create_named("a" * 64, "OutOfRangeInput"),
    "a name of a million letters": create_named("a" * 1_000_000, "OutOfRangeInput"),
    "a table name with a dash": create_named("ab-cd"),
    "a table name with an underline": create_named("ab_cd"),
    "a table name that begins with a digit": create_named("1abc"),
    "a table name with a blank": create_named("abc "),
    "a table name with a line end": create_named("abc\n"),
    "a table name with NUL": create_named("abc\0"),
    "a table name with a quote": create_named("ab'cd"),
    "a table name with a path": create_named("../../etc/passwd"),
    "a table name in Chinese": create_named("啊齄丂"),
    "a table name with a Kelvin sign": create_named("abc\u212a"),
    "a table name with a dotless i": create_named("abcı"),
    "a table name with half a surrogate pair": create('{"TableName":"abc\\ud800"}', ""),
    "the reserved name": create_named("tables"),
    "the reserved name in capitals": create_named("TABLES"),
    "an analytics table": create_named("$MetricsHourPrimaryTransactionsTable"),
    "a table that is there": create('{"TableName":"HOSTILE"}', "TableAlreadyExists", 409),
    "the deletion of a table that is not there": Case(
        "DELETE", "/Tables('Nowhere')", status=404, code="ResourceNotFound"
    ),
    "the deletion of a table without a name": Case("DELETE", "/Tables('')", status=404, code="ResourceNotFound"),
    "the deletion of a table with If-Match": Case(
        "DELETE", "/Tables('Hostile')", headers={"If-Match": "*"}, code="InvalidInput"
    ),
    "the deletion of all tables": Case("DELETE", "/Tables", status=405, code="MethodNotAllowed"),
    "a table of strange name": Case("GET", "/Tables('%00%01')", headers=JSON, status=404, code="ResourceNotFound"),
}


# ---------------------------------------------------------------- queries


def query(option: str, code: str = "InvalidInput", status: int = 400, path: str = "/Hostile()") -> Case:
    """A query with these options, percent-encoded already."""
    return Case("GET", f"{path}?{option}", headers=JSON, status=status, code=code)


def query_filter(text: str, code: str = "InvalidInput", status: int = 400) -> Case:
    """A query with this filter."""
    return query("$filter=" + quote(text, safe=""), code, status)


FILTERS = {
    f"filter {text[:30]}": query_filter(text)
    for text in (
        "aaa bbb ccc",
        "A eq",
        "eq 'x'",
        "A eq eq 'x'",
        "A eq 'x' and",
        "and A eq 'x'",
        "A eq 'x' or or B eq 1",
        "A = 'x'",
        "A == 'x'",
        "A != 1",
        "A < 1",
        "A & B",
        "A eq 'x",
        "A eq x'",
        'A eq "x"',
        "A eq null",
        "A eq datetime'x'",
        "A eq datetime'2026-02-30T00:00:00Z'",
        "A eq datetime'1600-01-01'",
        "A eq datetime'",
        "A eq guid'x'",
        "A eq guid''",
        "A eq X'0'",
        "A eq X'zz'",
        "A eq binary'x'",
        "A eq time'x'",
        "A eq 1.5m",
        "A eq 1.5f",
        "A eq datetimeoffset'2026-01-01T00:00:00Z'",
        "A eq B",
        "1 eq 1",
        "'a' eq 'a'",
        "1",
        "'a'",
        "A eq 99999999999999999999",
        "A eq 9223372036854775808L",
        "A eq 1e999",
        "A eq 1.",
        "A eq 1e",
        "A eq 0x10",
        "A eq +1",
        "A eq ١",
        "(A eq 1",
        "A eq 1)",
        "()",
        "((",
        "))",
        "not",
        "not not",
        "A eq not B",
        "A eq (B eq 1)",
        "A EQ 'x'",
        "A eq 'x' AND B eq 1",
        "A eq 'x' B eq 1",
        "A in ('x')",
        "A has 'x'",
        "A eq 1;DROP TABLE x",
        "A eq 'x\0",
        "\0",
        "\ufffe eq 1",
        "😀 eq 1",
        "$it eq 1",
        "@p eq 1",
        "A..B eq 1",
        "A eq true false",
        "{A} eq 1",
        "[A] eq 1",
        "A[0] eq 1",
        "A eq {1}",
        "`A` eq 1",
        "datetime'2026-01-01' A",
        "NaN",
        "INF",
        "1 and 2",
        "A and 1",
        "not 'x'",
        "A eq 'a''",
        "'",
    )
}
NOT_IMPLEMENTED = {
    f"filter {text}": query_filter(text, "NotImplemented", 501)
    for text in (
        "startswith(A,'x')",
        "substringof('x',A)",
        "length(A) eq 1",
        "tolower(A) eq 'x'",
        "A add 1 eq 2",
        "A sub 1 eq 2",
        "A mul 2 eq 2",
        "A div 2 eq 2",
        "A mod 2 eq 0",
        "A/B eq 1",
        "year(A) eq 2026",
        "A eq 'x' -- comment",
        "A eq 1 /* x */",
    )
}
LARGE_FILTERS = {
    "5,000 open parentheses": query_filter("(" * 5000),
    "5,000 parentheses": query_filter("(" * 5000 + "A eq 1" + ")" * 5000),
    "2,000 nested groups": query_filter("(A eq 1 and (B eq 1 or " * 900 + "A eq 1" + "))" * 900),
    "4,000 nots": query_filter("not " * 4000),
    "4,000 quotes": query_filter("A eq '" + "'" * 4002),
    "a number of 10,000 digits": query_filter("A eq " + "9" * 10_000),
    "10,000 digits after the point": query_filter("A eq 0." + "9" * 10_000 + "x"),
    "a name of 10,000 characters": query_filter("A" * 10_000 + " eq"),
    "10,000 blanks": query_filter("A" + " " * 10_000 + "eq"),
    "a filter too long for a URL": query_filter("A eq 1 and " * 6000, "", 431),
}
OPTIONS = {
    **{
        f"$top={text}": query(f"$top={text}")
        for text in ("0", "-1", "1001", "x", "1.5", "1e2", "9" * 60, "1%2C2", "%EF%BC%91")
    },
    **{
        f"$select={text}": query(f"$select={text}")
        for text in (
            "a%20b",
            "1a",
            "a,,b",
            ",",
            ",a",
            "a-b",
            "a%2Fb",
            "%00",
            "['age,%20sex']",
            "a%20as%20b",
            "count(*)",
            "a" * 256,
        )
    },
    "$select of 256 names": query("$select=" + ",".join(f"a{n}" for n in range(256))),
    "a bad $select at an address": query("$select=a%20b", path=ENTITY),
    "a bad filter on tables": query("$filter=TableName%20eq", path="/Tables"),
    "a bad $top on tables": query("$top=0", path="/Tables"),
    "$filter twice": query("$filter=A%20eq%201&$filter=A%20eq%201"),
    "$top twice": query("$top=1&%24top=1"),
    "an option that is no UTF-8": query("$filter=%FF%FE"),
    "an option that is half a surrogate pair": query("$filter=A%20eq%20'%ED%A0%80'"),
    "a name of an option that is no UTF-8": query("%FF=1"),
    **{
        option: query(f"{option}=1", "NotImplemented", 501)
        for option in ("$orderby", "$skip", "$inlinecount", "$expand", "$skiptoken", "$search", "$", "$Filter", "$TOP")
    },
    **{f"timeout={text}": query(f"timeout={text}", "InvalidQueryParameterValue") for text in ("x", "-1", "1.5", "")},
    "$format=xml": query("$format=xml", "MediaTypeNotSupported", 415),
    "$format=atom": query("$format=atom", "AtomFormatNotSupported", 415),
    "$format of verbose JSON": query("$format=application/json;odata=verbose", "JsonVerboseFormatNotSupported", 415),
    "$format of no level": query("$format=application/json;odata=much", "MediaTypeNotSupported", 415),
}
TOKENS = {
    **{
        f"NextPartitionKey={token}": query(f"NextPartitionKey={token}&NextRowKey=1!4!cGs-")
        for token in (
            "1!",
            "1!!",
            "1!4",
            "1!4!",
            "1!4!cGs",
            "1!5!cGs--",
            "1!x!cGs-",
            "1!-4!cGs-",
            "1!4!cGs=",
            "1!4!c Gs",
            "1!4!%C3%A9",
            "1!3!cGs",
            "1!4!____",
            "1!4!7aCA",
            "1!1000000000!cGs-",
            "1!4!cGs-x",
            "1!0!x",
        )
    },
    "a row key's token": query("NextPartitionKey=1!4!cGs-&NextRowKey=1!4!"),
    "a table's token": query("NextTableName=1!4!x", path="/Tables"),
    "a table's token that is no UTF-8": query("NextTableName=1!4!____", path="/Tables"),
    "both kinds of tokens": query("$ct=p/r&NextPartitionKey=1!4!cGs-"),
    "both kinds of tokens on tables": query("$ct=p&NextTableName=p", path="/Tables"),
}


# ---------------------------------------------------------------- addresses, methods


def get(path: str, code: str = "InvalidInput", status: int = 400) -> Case:
    """A GET of this path."""
    return Case("GET", path, headers=JSON, status=status, code=code)


def elsewhere(target: str, code: str = "", status: int = 404, method: str = "GET") -> Case:
    """A request whose target is not below the account."""
    return Case(method, "", headers=JSON, status=status, code=code, target=target)


ADDRESSES = {
    "a key with a slash": get("/Hostile(PartitionKey='a/b',RowKey='r')"),
    "a key with an encoded slash": get("/Hostile(PartitionKey='p',RowKey='a%2Fb')"),
    "one key": get("/Hostile(PartitionKey='p')"),
    "the other key alone": get("/Hostile(RowKey='r')"),
    "a value without a name": get("/Hostile('p')"),
    "two values without names": get("/Hostile('p','r')"),
    "the same key twice": get("/Hostile(PartitionKey='p',PartitionKey='p')"),
    "three keys": get("/Hostile(PartitionKey='p',RowKey='r',Other='o')"),
    "keys in lower case": get("/Hostile(partitionkey='p',rowkey='r')"),
    "keys in double quotes": get('/Hostile(PartitionKey="p",RowKey="r")'.replace('"', "%22")),
    "keys without quotes": get("/Hostile(PartitionKey=p,RowKey=r)"),
    "a key that is a number": get("/Hostile(PartitionKey=1,RowKey='r')"),
    "a quote that is not doubled": get("/Hostile(PartitionKey='a'b',RowKey='r')"),
    "a quote without an end": get("/Hostile(PartitionKey='p,RowKey='r')"),
    "no comma between keys": get("/Hostile(PartitionKey='p'RowKey='r')"),
    "no closing parenthesis": get("/Hostile(PartitionKey='p',RowKey='r'"),
    "something after the keys": get("/Hostile(PartitionKey='p',RowKey='r')x"),
    "a property of an entity": get("/Hostile(PartitionKey='p',RowKey='r')/A"),
    "10,000 quotes": get("/Hostile(PartitionKey='" + "'" * 10_000 + ",RowKey='r')"),
    "10,000 parentheses": get("/Hostile" + "(" * 10_000, ""),
    "nested parentheses": get("/Hostile" + "()" * 1000, ""),
    "no closing parenthesis after a table": get("/Hostile("),
    "a key that is no UTF-8": get("/Hostile(PartitionKey='%FF',RowKey='r')", "RequestUrlFailedToParse"),
    "a key that is half a surrogate pair": get(
        "/Hostile(PartitionKey='%ED%A0%80',RowKey='r')", "RequestUrlFailedToParse"
    ),
    "a path of one parenthesis": get("/%28retry%29", "ResourceNotFound", 404),
    "an unknown $ resource": get("/$unknown", ""),
    "a path below a path": get("/Hostile/a/b/c", "ResourceNotFound", 404),
    "slashes": get("//////", "", 404),
    "dots": get("/../../etc/passwd", "", 404),
    "encoded dots": get("/%2e%2e/%2e%2e/etc/passwd", "", 404),
    "a table with NUL": get("/%00", ""),
    "a table that is not there": get("/Nowhere()", "TableNotFound", 404),
    "an entity of a table that is not there": get("/Nowhere(PartitionKey='p',RowKey='r')", "TableNotFound", 404),
    "an entity that is not there": get("/Hostile(PartitionKey='p',RowKey='not')", "ResourceNotFound", 404),
    "an entity whose key cannot be": get("/Hostile(PartitionKey='%00',RowKey='r')", "", 0),
    "an entity whose key is too long": get(f"/Hostile(PartitionKey='{'k' * 10_000}',RowKey='r')", "", 0),
    "another account": elsewhere("/somebodyelse/Tables", "ResourceNotFound"),
    "no account": elsewhere("/", "ResourceNotFound"),
    "no account before a table": elsewhere("/Tables", "ResourceNotFound"),
    "an account in capitals": elsewhere("/DEVSTOREACCOUNT1/Tables", ""),
    "an account with another suffix": elsewhere("/devstoreaccount1-tertiary/Tables", ""),
    "a suffix without an account": elsewhere("/-secondary/Tables", ""),
    "a query alone": elsewhere("/?restype=service", ""),
    "an asterisk": elsewhere("*", "", 400, "OPTIONS"),
    "another scheme": elsewhere("ftp://elsewhere/", "", 404),
    "an absolute target without a path": elsewhere("http://elsewhere", "", 404),
    "an absolute target without a host": elsewhere("http:///devstoreaccount1/Tables", "", 400),
    "a write to the secondary": elsewhere(
        "/devstoreaccount1-secondary/Tables", "InsufficientAccountPermissions", 403, "POST"
    ),
    "a deletion on the secondary": elsewhere(
        "/devstoreaccount1-secondary/devstoreaccount1/Tables('Hostile')",
        "InsufficientAccountPermissions",
        403,
        "DELETE",
    ),
}
METHODS = {
    f"{method} {path}": Case(method, path, b"{}", {**JSON, "If-Match": "*"}, status, code)
    for method, path, status, code in (
        ("PUT", "/Tables", 405, "MethodNotAllowed"),
        ("MERGE", "/Tables", 405, "MethodNotAllowed"),
        ("POST", "/Tables('Hostile')", 405, "MethodNotAllowed"),
        ("PATCH", "/Tables('Hostile')", 405, "MethodNotAllowed"),
        ("PUT", "/Hostile", 405, "MethodNotAllowed"),
        ("DELETE", "/Hostile", 405, "MethodNotAllowed"),
        ("POST", ENTITY, 405, "MethodNotAllowed"),
        ("GET", "/$batch", 405, "MethodNotAllowed"),
        ("DELETE", "/$batch", 405, "MethodNotAllowed"),
        ("POST", "/$metadata", 405, "MethodNotAllowed"),
        ("POST", "/", 405, "MethodNotAllowed"),
        ("DELETE", "/", 405, "MethodNotAllowed"),
        ("TRACE", "/Tables", 400, "InvalidHttpVerb"),
        ("PROPFIND", "/Tables", 400, "InvalidHttpVerb"),
        ("PURGE", ENTITY, 400, "InvalidHttpVerb"),
        ("DELETE", "/Hostile/Tables('x')", 400, "InvalidInput"),
        ("POST", "/Hostile/$batch", 415, "MediaTypeNotSupported"),
        ("POST", "/Hostile/Tables", 400, "PropertiesNeedValue"),
        ("POST", "/Nowhere/Tables", 404, "TableNotFound"),
    )
}


# ---------------------------------------------------------------- headers


def change(headers: Mapping[str, str], code: str, status: int = 400, method: str = "PUT") -> Case:
    """A good change of an entity that is there, with one bad header."""
    return Case(method, ENTITY, b'{"A":1}', {**JSON, **headers}, status, code)


def read(headers: Mapping[str, str], code: str, status: int = 400) -> Case:
    """A good query with one bad header."""
    return Case("GET", "/Hostile()", b"", {**JSON, **headers}, status, code)


def stranger(authorization: str, code: str = "AuthenticationFailed", status: int = 403) -> Case:
    """A query with this Authorization header."""
    headers = {**JSON, "Authorization": authorization, "x-ms-date": "Mon, 03 Aug 2026 10:15:30 GMT"}
    return Case("GET", "/Hostile()", b"", headers, status, code, is_signed=False)


HEADERS = {
    **{
        f"If-Match: {etag[:20]}": change({"If-Match": etag}, "InvalidInput")
        for etag in ("nonsense", '"0x5B168C7B6E589D2"', '""', "W/", 'W/"', "W/x", 'W/"a", W/"b"', "*, *", "**", "")
    },
    "a weak etag of another form": change({"If-Match": 'W/"0x5B168C7B6E589D2"'}, "ConditionNotMet", 412),
    "an etag of a bad time": change({"If-Match": "W/\"datetime'x'\""}, "ConditionNotMet", 412),
    "an etag of doubled quotes": change(
        {"If-Match": "W/\"datetime''2026-08-03T10%3A15%3A30.5Z''\""}, "ConditionNotMet", 412
    ),
    "an etag of another time": change(
        {"If-Match": "W/\"datetime'2001-08-03T10%3A15%3A30.5Z'\""}, "UpdateConditionNotSatisfied", 412
    ),
    "a deletion with an etag of another time": change(
        {"If-Match": "W/\"datetime'2001-08-03T10%3A15%3A30.5Z'\""}, "UpdateConditionNotSatisfied", 412, "DELETE"
    ),
    "an etag of 10,000 characters": change({"If-Match": "x" * 10_000}, "InvalidInput"),
    "If-None-Match on PUT": change({"If-None-Match": "*"}, "InvalidInput"),
    "If-None-Match on MERGE": change({"If-None-Match": "*"}, "InvalidInput", method="MERGE"),
    "If-None-Match on DELETE": change({"If-None-Match": "*"}, "InvalidInput", method="DELETE"),
    "both conditions": change({"If-Match": "*", "If-None-Match": "*"}, "InvalidInput"),
    **{
        f"Content-Type: {kind}": change({"Content-Type": kind}, "MediaTypeNotSupported", 415)
        for kind in ("text/plain", "text/html", "image/png", "multipart/form-data; boundary=x", "json", ";;;", "*")
    },
    "a body in Atom": change({"Content-Type": "application/atom+xml"}, "AtomFormatNotSupported", 415),
    "a body in XML": change({"Content-Type": "application/xml"}, "", 415),
    **{
        f"Accept: {accept}": read({"Accept": accept}, code, 415)
        for accept, code in (
            ("text/html", "MediaTypeNotSupported"),
            ("application/json;odata=verbose", "JsonVerboseFormatNotSupported"),
            ("application/json;odata=much", "MediaTypeNotSupported"),
            ("application/atom+xml", "AtomFormatNotSupported"),
            ("application/atom+xml,application/xml", "AtomFormatNotSupported"),
            ("application/json;q=0", ""),
            (",;,=;", ""),
            ("", "AtomFormatNotSupported"),
        )
    },
    **{
        f"x-ms-version: {version[:20]}": read({"x-ms-version": version}, "InvalidHeaderValue")
        for version in (
            "12.0.0b1",
            "2019-2-2",
            "2019-13-45",
            "2019-02-02T00:00:00Z",
            "20190202",
            "latest",
            "2019-02-02 x",
            "9" * 5000,
        )
    },
    "a body in JSON for a version without it": change({"x-ms-version": "2012-02-12"}, "JsonFormatNotSupported", 415),
    "Content-MD5 of another body": change({"Content-MD5": base64.b64encode(bytes(16)).decode()}, "Md5Mismatch"),
    "Content-MD5 that is too short": change({"Content-MD5": "AAAA"}, "InvalidMd5"),
    "Content-MD5 that is no base64": change({"Content-MD5": "###"}, "InvalidMd5"),
    "Content-MD5 in Cyrillic": change({"Content-MD5": "абв"}, "InvalidMd5"),
    "X-HTTP-Method in a PUT": change({"X-HTTP-Method": "MERGE"}, "XMethodNotUsingPost"),
    "X-HTTP-Method of nonsense": change({"X-HTTP-Method": "FROB"}, "XMethodIncorrectValue", method="POST"),
    "X-HTTP-Method that is empty": change({"X-HTTP-Method": ""}, "XMethodIncorrectValue", method="POST"),
    "X-HTTP-Method twice": change({"X-HTTP-Method": "PUT, PUT"}, "XMethodIncorrectCount", method="POST"),
    "a date that is none": read({"x-ms-date": "yesterday"}, "AuthenticationFailed", 403),
    "a date in 1970": read({"x-ms-date": "Thu, 01 Jan 1970 00:00:00 GMT"}, "AuthenticationFailed", 403),
    "a date in 9999": read({"x-ms-date": "Fri, 31 Dec 9999 23:59:59 GMT"}, "AuthenticationFailed", 403),
    "a date beyond all calendars": read({"x-ms-date": "Mon, 99 Aug 99999 99:99:99 GMT"}, "AuthenticationFailed", 403),
    "a date with an unheard-of zone": read(
        {"x-ms-date": "Mon, 03 Aug 2026 10:15:30 +9999999999"}, "AuthenticationFailed", 403
    ),
    "an empty date": Case(
        "GET", "/Hostile()", b"", {**JSON, "x-ms-date": ""}, 403, "AuthenticationFailed", is_signed=False
    ),
    "no Authorization": Case("GET", "/Hostile()", b"", JSON, 403, "AuthenticationFailed", is_signed=False),
    "an empty Authorization": stranger("", "", 0),
    "one word": stranger("SharedKey", "InvalidAuthenticationInfo", 400),
    "a scheme without an account": stranger("SharedKey :AAAA"),
    "no signature": stranger("SharedKey devstoreaccount1", ""),
    "an empty signature": stranger("SharedKey devstoreaccount1:"),
    "a signature that is no base64": stranger("SharedKey devstoreaccount1:!!!"),
    "a signature in Cyrillic": stranger("SharedKey devstoreaccount1:подпись"),
    "a signature of nothing": stranger("SharedKey devstoreaccount1:" + "A" * 43 + "="),
    "a signature of 20,000 characters": stranger("SharedKey devstoreaccount1:" + "A" * 20_000),
    "another account's signature": stranger("SharedKey somebodyelse:" + "A" * 43 + "="),
    "an account with a line end's escape": stranger("SharedKey dev\\nstore:AAAA"),
    "Lite without a signature": stranger("SharedKeyLite devstoreaccount1:"),
    "Basic": stranger("Basic dXNlcjpwYXNz"),
    "Bearer": stranger("Bearer eyJhbGciOiJub25lIn0.e30."),
    "Digest": stranger('Digest username="a", realm="b"'),
    "colons": stranger("::::", "InvalidAuthenticationInfo", 400),
    "a host that is none": Case("GET", "/Hostile()", b"", {**JSON, "Host": "a b<c>"}, 400, ""),
    "an empty host": Case("GET", "/Hostile()", b"", {**JSON, "Host": ""}, 400, "HostInformationNotPresent"),
    "a preflight without anything": Case("OPTIONS", "/Hostile", status=0, is_signed=False),
}


# ---------------------------------------------------------------- batches


def batch(body: str | bytes, code: str = "InvalidInput", status: int = 400, content_type: str = "") -> Case:
    """A batch with this body; `status` and `code` are those of the part that failed, where the answer has parts."""
    data = body if isinstance(body, bytes) else body.replace("\n", "\r\n").encode()
    headers = {"Content-Type": content_type or "multipart/mixed; boundary=b", "Accept": "application/json"}
    return Case("POST", "/$batch", data, headers, status, code)


def change_set(*requests: str) -> str:
    """A batch body with these requests as its one change set."""
    head = "--c\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\n"
    parts = "".join(f"{head}{request}\n" for request in requests)
    return f"--b\nContent-Type: multipart/mixed; boundary=c\n\n{parts}--c--\n--b--\n"


def insertion(partition_key: str, row_key: str, table: str = "Hostile") -> str:
    """A good Insert Entity as a part."""
    body = json.dumps({"PartitionKey": partition_key, "RowKey": row_key})
    return (
        f"POST /devstoreaccount1/{table} HTTP/1.1\nContent-Type: application/json\nAccept: application/json\n\n{body}"
    )


def changes_of(partition_keys: Iterable[str]) -> str:
    return change_set(*(insertion(key, f"{number}") for number, key in enumerate(partition_keys)))


ONE = insertion("p", "one")
QUERY = (
    "--b\nContent-Type: application/http\n\nGET /devstoreaccount1/Hostile(PartitionKey='p',RowKey='not') HTTP/1.1\n\n"
)
BATCHES = {
    "nothing": batch(""),
    "blank lines": batch("\n" * 1000),
    "a boundary that is not there": batch(change_set(ONE), content_type="multipart/mixed; boundary=other"),
    "no boundary": batch(change_set(ONE), content_type="multipart/mixed"),
    "an empty boundary": batch(change_set(ONE), content_type="multipart/mixed; boundary="),
    "an empty quoted boundary": batch(change_set(ONE), content_type='multipart/mixed; boundary=""'),
    "a boundary of 1,000 characters": batch(change_set(ONE), content_type="multipart/mixed; boundary=" + "b" * 1000),
    "a boundary in Cyrillic": batch(change_set(ONE), "", 0, content_type="multipart/mixed; boundary=граница"),
    "another multipart": batch(change_set(ONE), "MediaTypeNotSupported", 415, "multipart/form-data; boundary=b"),
    "a megabyte of blanks in a part's target": batch(
        change_set(f"POST /devstoreaccount1/Hostile/x({' ' * 1_000_000}x HTTP/1.1\n\n{{}}"), "", 0
    ),
    "20,000 names selected by a part": batch(
        QUERY.replace("not')", "not')?$select=" + "a," * 20_000 + "a") + "--b--\n", "", 0
    ),
    "JSON in place of a batch": batch("{}", "MediaTypeNotSupported", 415, "application/json"),
    "a batch of no type": Case(
        "POST", "/$batch", b"--b--", {"Accept": "application/json"}, 415, "MediaTypeNotSupported"
    ),
    "delimiters only": batch("--b\n--b\n--b\n--b--\n"),
    "the end only": batch("--b--\n"),
    "a part of nothing": batch("--b\n\n--b--\n"),
    "100,000 delimiters": batch("--b\n" * 100_000),
    "100,000 parts": batch("--b\n\nx\n" * 100_000),
    "a megabyte of dashes": batch("-" * 1_000_000),
    "a megabyte of almost delimiters": batch("--b-" * 250_000),
    "a megabyte of line ends": batch("--b" + "\n" * 1_000_000),
    "a megabyte of blanks": batch("--b" + " " * 1_000_000),
    "4 MiB and more": batch(b"x" * ((4 << 20) + 1), "RequestBodyTooLarge", 413),
    "a change set without a boundary": batch("--b\nContent-Type: multipart/mixed\n\n--c--\n--b--\n"),
    "a change set within a change set": batch(
        change_set("").replace("Content-Type: application/http", "Content-Type: multipart/mixed; boundary=d")
    ),
    "two change sets": batch(change_set(ONE).removesuffix("--b--\n") + change_set(insertion("p", "two"))),
    "a query beside a change set": batch(QUERY + change_set(ONE)),
    "two queries": batch(QUERY + QUERY + "--b--\n"),
    "a query in a change set": batch(
        change_set("GET /devstoreaccount1/Hostile(PartitionKey='p',RowKey='r') HTTP/1.1\n\n"), "MethodNotAllowed", 405
    ),
    "a write without a change set": batch(
        "--b\nContent-Type: application/http\n\n" + ONE + "\n--b--\n", "MethodNotAllowed", 405
    ),
    "a table in a change set": batch(
        change_set('POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\n\n{"TableName":"abc"}'),
        "MethodNotAllowed",
        405,
    ),
    "the end of a table in a change set": batch(
        change_set("DELETE /devstoreaccount1/Tables('Hostile') HTTP/1.1\n\n"), "MethodNotAllowed", 405
    ),
    "a batch in a batch": batch(
        change_set("POST /devstoreaccount1/$batch HTTP/1.1\nContent-Type: multipart/mixed; boundary=b\n\n--b--"),
        "",
        0,
    ),
    "an insert at the root": batch(change_set("POST /devstoreaccount1 HTTP/1.1\n\n{}"), "MethodNotAllowed", 405),
    "no request": batch(change_set("")),
    "a request without a version": batch(change_set("POST /devstoreaccount1/Hostile\n\n{}")),
    "a request without a target": batch(change_set("POST HTTP/1.1\n\n{}")),
    "a request of another protocol": batch(change_set("POST /devstoreaccount1/Hostile ICE/1.0\n\n{}")),
    "a request that is binary": batch(change_set("\0\1\2\3\n\n\0")),
    "a request line that is no UTF-8": batch(change_set(ONE).encode().replace(b"Hostile", b"Host\xffle")),
    "a header without a colon": batch(change_set(ONE.replace("Accept: ", "Accept "))),
    "a part's header without a colon": batch(change_set(ONE).replace("binary", "binary\nnonsense")),
    "an unknown verb in a part": batch(change_set(ONE.replace("POST", "FROB")), "InvalidHttpVerb"),
    "a verb in lower case in a part": batch(change_set(ONE.replace("POST", "post")), "InvalidHttpVerb"),
    "a body that is no JSON in a part": batch(change_set(ONE.replace("{", "")), "InvalidInput"),
    "a body of another type in a part": batch(
        change_set(ONE.replace("Type: application/json", "Type: text/plain")), "MediaTypeNotSupported", 415
    ),
    "a key with a slash in a part": batch(
        change_set("DELETE /devstoreaccount1/Hostile(PartitionKey='a/b',RowKey='r') HTTP/1.1\nIf-Match: *\n"),
        "InvalidInput",
    ),
    "a bad etag in a part": batch(
        change_set("DELETE /devstoreaccount1/Hostile(PartitionKey='p',RowKey='r') HTTP/1.1\nIf-Match: x\n"),
        "InvalidInput",
    ),
    "a target that is no URL in a part": batch(change_set(ONE.replace("/devstoreaccount1/Hostile", "::::")), "", 0),
    "an absolute target without a path in a part": batch(
        change_set(ONE.replace("/devstoreaccount1/Hostile", "http://here")), "", 0
    ),
    "a version of its own in a part": batch(change_set(ONE.replace("Accept", "x-ms-version: nonsense\nAccept")), "", 0),
    "a bad Content-MD5 in a part": batch(change_set(ONE.replace("Accept", "Content-MD5: x\nAccept")), "InvalidMd5"),
    "101 operations": batch(changes_of(["p"] * 101)),
    "10,000 operations": batch(changes_of(["p"] * 10_000)),
    "two partitions": batch(changes_of(["p", "q"]), "CommandsInBatchActOnDifferentPartitions"),
    "two tables": batch(change_set(ONE, insertion("p", "two", "Nowhere")), "InvalidInput"),
    "the same entity twice": batch(change_set(ONE, ONE), "InvalidDuplicateRow"),
    "a table that is not there in a part": batch(change_set(insertion("p", "r", "Nowhere")), "TableNotFound", 404),
    "an entity that is there in a part": batch(change_set(insertion("p", "r")), "EntityAlreadyExists", 409),
    "an entity that is not there in a part": batch(QUERY + "--b--\n", "ResourceNotFound", 404),
    "a bad filter in a part": batch(
        "--b\nContent-Type: application/http\n\nGET /devstoreaccount1/Hostile()?$filter=aaa%20bbb HTTP/1.1\n\n\n--b--\n"
    ),
    "a Content-ID with a line end": batch(
        change_set(ONE.replace("Accept", "Content-ID: 1\rX-Injected: 1\nAccept"), ONE), "", 0
    ),
    "a Content-ID in Cyrillic": batch(
        change_set(ONE.replace("Accept", "Content-ID: номер\nAccept"), ONE), "InvalidDuplicateRow"
    ),
    "a reference to another part": batch(
        change_set(ONE, "PUT $1 HTTP/1.1\nContent-Type: application/json\n\n{}"), "", 0
    ),
    "a version too old for batches": Case(
        "POST",
        "/$batch",
        b"--b--",
        {"Content-Type": "multipart/mixed; boundary=b", "x-ms-version": "2008-10-27"},
        400,
        "MissingRequiredHeader",
    ),
}

ATOM = {"Content-Type": "application/atom+xml", "x-ms-version": "2014-02-14"}
ENTRY = (
    "<entry xmlns='http://www.w3.org/2005/Atom' xmlns:d='http://schemas.microsoft.com/ado/2007/08/dataservices'"
    " xmlns:m='http://schemas.microsoft.com/ado/2007/08/dataservices/metadata'><content><m:properties>{}"
    "<d:PartitionKey>p</d:PartitionKey><d:RowKey>atom</d:RowKey></m:properties></content></entry>"
)
FULL_BODY = 4 * 1024 * 1024 - 1024


def atom(body: str | bytes, code: str = "InvalidInput", path: str = "/Hostile") -> Case:
    """An insert of this document."""
    return Case("POST", path, body.encode() if isinstance(body, str) else body, ATOM, 400, code)


def atom_entry(properties: str, code: str = "InvalidInput") -> Case:
    """An insert of an entry with these properties beside good keys."""
    return atom(ENTRY.format(properties), code)


def doctype(declarations: str, properties: str = "") -> Case:
    """An insert of an entry that begins with a document type."""
    return atom(f"<!DOCTYPE entry [{declarations}]>" + ENTRY.format(properties))


ENTRIES = {
    "nothing": atom(""),
    "JSON": atom('{"PartitionKey":"p","RowKey":"r"}'),
    "no properties": atom("<entry xmlns='http://www.w3.org/2005/Atom' />"),
    "another root": atom(ENTRY.format("").replace("entry", "feed")),
    "an open entry": atom(ENTRY.format("")[:-1]),
    "UTF-16": atom(ENTRY.format("").encode("utf-16")),
    "bytes that are no UTF-8": atom(ENTRY.format("<d:A>\xff</d:A>").encode("latin-1")),
    "a declared encoding": atom("<?xml version='1.0' encoding='utf-7'?>" + ENTRY.format("")),
    "NUL": atom_entry("<d:A>\0</d:A>"),
    "a reference to NUL": atom_entry("<d:A>&#0;</d:A>"),
    "a reference to half a surrogate pair": atom_entry("<d:A>&#xD83D;</d:A>"),
    "an entity without a declaration": atom_entry("<d:A>&a;</d:A>"),
    "a declared entity": doctype("<!ENTITY a 'x'>", "<d:A>&a;</d:A>"),
    "entities of entities": doctype(
        "<!ENTITY a0 'lol'>" + "".join(f"<!ENTITY a{n + 1} '{f'&a{n};' * 10}'>" for n in range(12)), "<d:A>&a12;</d:A>"
    ),
    "an entity from a file": doctype("<!ENTITY a SYSTEM 'file:///etc/passwd'>", "<d:A>&a;</d:A>"),
    "a parameter entity from elsewhere": doctype("<!ENTITY % a SYSTEM 'http://127.0.0.1:1/x'> %a;"),
    "a large entity": doctype(f"<!ENTITY a '{'x' * 1_000_000}'>", "<d:A>&a;</d:A>"),
    "4 MiB of elements": atom("<a>" + "<b/>" * (FULL_BODY // 4) + "</a>"),
    "4 MiB of levels": atom("<b>" * (FULL_BODY // 3)),
    "4 MiB of attributes": atom("<a" + "".join(f" a{n}=''" for n in range(380_000)) + "/>"),
    "4 MiB of namespaces": atom("<a" + "".join(f" xmlns:a{n}='u'" for n in range(190_000)) + "/>"),
    "4 MiB of an open tag": atom("<a b='" + "x" * FULL_BODY),
    "4 MiB of a comment": atom("<a><!--" + "x" * FULL_BODY + "--></a>"),
    "4 MiB of references": atom_entry("<d:A>" + "&lt;" * (FULL_BODY // 4 - 200) + "</d:A>", "PropertyValueTooLarge"),
    "4 MiB of line ends": atom("<a>" + "\n" * FULL_BODY + "</a>"),
    "1,000 properties": atom_entry("".join(f"<d:A{n}>1</d:A{n}>" for n in range(1_000)), "TooManyProperties"),
    "10,000 properties": atom_entry("".join(f"<d:A{n}>1</d:A{n}>" for n in range(10_000))),
    "a property twice": atom_entry("<d:A>1</d:A><d:A>2</d:A>", "DuplicatePropertiesSpecified"),
    "elements in a property": atom_entry("<d:A><d:B /></d:A>"),
    "a name with a point": atom_entry("<d:odata.etag>1</d:odata.etag>", "PropertyNameInvalid"),
    "an unknown type": atom_entry("<d:A m:type='Edm.Foo'>1</d:A>"),
    "a value that is not of its type": atom_entry("<d:A m:type='Edm.Int32'>x</d:A>"),
    "a number of 100,000 digits": atom_entry(f"<d:A m:type='Edm.Double'>{'9' * 100_000}</d:A>"),
    "a table without a name": atom(ENTRY.format(""), "PropertiesNeedValue", "/Tables"),
}

CASES = {
    f"{group}: {name}": case
    for group, cases in {
        "body": BODIES,
        "name": NAMES,
        "value": VALUES,
        "key": KEYS,
        "change": CHANGES,
        "table": TABLES,
        "query": FILTERS,
        "not implemented": NOT_IMPLEMENTED,
        "large query": LARGE_FILTERS,
        "option": OPTIONS,
        "token": TOKENS,
        "address": ADDRESSES,
        "method": METHODS,
        "header": HEADERS,
        "batch": BATCHES,
        "entry": ENTRIES,
    }.items()
    for name, case in cases.items()
}


# ---------------------------------------------------------------- tests


@pytest.mark.parametrize("name", CASES)
def test_hostile_request_is_refused_and_disturbs_nobody(bystander: Connection, name: str) -> None:
    case = CASES[name]
    with closing(Connection(bystander.server)) as connection:
        status, code = verdict(*connection.ask(case))
    if case.status:
        assert (status, code) == (case.status, case.code or code)
        assert code
    else:  # what is said here is nobody's rule, but it must be an answer
        assert status < 500
    assert bystander.ask(READ)[0] == 200


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 200


READ = Case("GET", ENTITY, headers=JSON)


@pytest.fixture(scope="module")
def bystander(request: pytest.FixtureRequest, server: Server) -> Iterator[Connection]:
    """A client on a connection of its own, with a table and an entity in it."""
    if request.config.getoption("--target") is not None:
        pytest.skip("names the account in what it sends, and is rude: never to a --target")
    with closing(Connection(server)) as connection:
        connection.ask(create_named("Hostile"))
        connection.ask(insert('{"PartitionKey":"p","RowKey":"r"}'))
        assert connection.ask(READ)[0] == 200
        yield connection


class Connection:
    """A connection on which answers come in time."""

    def __init__(self, server: Server) -> None:
        self.server = server
        url = urlsplit(server.endpoint)
        self._socket = socket.create_connection((url.hostname or "", url.port or 0), timeout=ANSWER_SECONDS_MAX)
        self._file = self._socket.makefile("rb")

    def ask(self, case: Case) -> tuple[int, bytes]:
        """Send a request; status and body of its answer."""
        url = urlsplit(self.server.endpoint)
        target = case.target or url.path + case.path
        headers = {"Host": url.netloc, "x-ms-version": "2019-02-02", **case.headers}
        if case.is_signed:
            headers = self.server.sign(case.method, target, headers)
        headers["Content-Length"] = str(len(case.body))
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._socket.sendall(f"{case.method} {target} HTTP/1.1\r\n{head}\r\n".encode() + case.body)
        return self._answer()

    def _answer(self) -> tuple[int, bytes]:
        status = int(self._file.readline().split()[1])
        length = 0
        while (line := self._file.readline().strip()) != b"":
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        return status, self._file.read(length)

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self._socket.close()


_PART = re.compile(rb"^HTTP/1\.1 (\d{3}) ", re.MULTILINE)
_CODE = re.compile(rb'"code":"(\w+)"|<(?:m:)?code>(\w+)</')


def verdict(status: int, body: bytes) -> tuple[int, str]:
    """Status and code of an answer, in a batch those of its one part; the code is empty where there is none."""
    part = _PART.search(body)
    code = _CODE.search(body)
    return int(part[1]) if part else status, (code[1] or code[2]).decode() if code else ""
