"""Bodies, names, values and keys that no entity has, and changes that cannot be made."""

from __future__ import annotations

import base64
import gzip
import json

from tests.hostile.case import ENTITY, JSON, Case


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
