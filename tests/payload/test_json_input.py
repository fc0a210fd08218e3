"""Request bodies in JSON: what is an object, and that none has a name twice."""

from __future__ import annotations

from contextlib import suppress

import pytest

from rowkey.errors import DuplicatePropertiesSpecified, InvalidInput
from rowkey.payload.json_input import read_object


def read(members: str) -> dict[str, object]:
    """A body with good keys and these members."""
    return read_object(f'{{"PartitionKey":"p","RowKey":"r",{members}}}'.encode())


@pytest.mark.parametrize(
    ("body", "properties"),
    [
        (b"{}", {}),
        (b'\xef\xbb\xbf {"A" : "b"}\r\n', {"A": "b"}),
        (rb'{"\u0041":"\u00e9\ud83d\ude00"}', {"A": "é😀"}),
        (b'{"B":1,"A":[1,{}],"A@odata.type":null}', {"B": 1, "A": [1, {}], "A@odata.type": None}),
        (b'{"A":12345678901234567890123,"B":1e22}', {"A": 12345678901234567890123, "B": 1e22}),
        (b'\xef\xbb\xbf{"A":-9223372036854775809}', {"A": -9223372036854775809}),
        (b'{"A":-0.0,"B":-9.3e18,"C":1.0}', {"A": -0.0, "B": -9.3e18, "C": 1.0}),
    ],
)
def test_object_is_read_in_its_order(body: bytes, properties: dict[str, object]) -> None:
    found = read_object(body)
    assert list(found.items()) == list(properties.items())
    assert list(map(type, found.values())) == list(map(type, properties.values()))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"null",
        b"5",
        b'"text"',
        b"[]",
        b"[{}]",
        b"{",
        b'{"A":1',
        b'{"A":1,}',
        b"{'A':1}",
        b"{A:1}",
        b'{"A":1}{"B":2}',
        b'{"A":01}',
        b'{"A":+1}',
        b'{"A":1.}',
        b'{"A":.5}',
        b'{"A":Infinity}',
        b'{"A":True}',
        b'{"A":"\n"}',
        b'{"A":"\\x"}',
        b'{"A":"\xff"}',
        b'{"A":"\xed\xa0\x80"}',
        '{"A":1}'.encode("utf-16"),
        b"[" * 100_000,
        b'{"A":' * 100_000,
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
    ],
)
def test_body_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_object(body)


def test_deep_body_is_read_or_refused() -> None:
    """The slower parser goes as deep as the interpreter lets it, and Python 3.13 lets it further than 3.11."""
    with suppress(InvalidInput):
        read_object(b'{"odata.x":' + b"[" * 1_020 + b"]" * 1_020 + b',"A":1e22}')


@pytest.mark.parametrize(
    "members",
    [
        '"A":1,"A":1',
        '"A":1,"A":"text"',
        '"A":null,"A":null',
        '"A":"","A":""',
        r'"A":1,"\u0041":1',
        r'"é":1,"\u00e9":1',
        r'"A":"\"","A":1',
        r'"A":"\\","A":1',
        r'"A":"\\\"","B":"\\","A":1',
        '"PartitionKey":"p"',
        '"Timestamp":1,"Timestamp":1',
        '"odata.etag":1,"odata.etag":1',
        '"A@odata.type":"Edm.Int32","A":1,"A@odata.type":"Edm.Int32"',
        ",".join(f'"A{number % 500}":1' for number in range(501)),
    ],
)
def test_name_that_is_given_twice(members: str) -> None:
    with pytest.raises(DuplicatePropertiesSpecified):
        read(members)


@pytest.mark.parametrize(
    ("members", "names"),
    [
        (r'"A":"\"","B":"\\"', ["A", "B"]),
        (r'"A":"\"A\":1","B":"\"A\":1"', ["A", "B"]),
        (r'"A":"a\\\"b","\u0042":"\\"', ["A", "B"]),
        ('"A":1,"a":1', ["A", "a"]),
    ],
)
def test_quotes_and_escapes_do_not_look_like_a_second_name(members: str, names: list[str]) -> None:
    assert list(read(members))[2:] == names
