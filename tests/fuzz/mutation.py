"""New inputs from old ones, by chance: what fuzzing does where no coverage guides it."""

from __future__ import annotations

import random
from collections.abc import Sequence

INPUT_BYTES_MAX = 64 * 1024

_PIECES = [
    *(bytes([byte]) for byte in range(256)),
    *(
        text.encode("utf-8")
        for text in ("\x85", "\u2028", "\ufffe", "\uffff", "é", "ß", "İ", "ı", "\u212a", "１", "😀", "\u0301")
    ),
    *(b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf"),
    *(b"%00", b"%27", b"%2F", b"%FF", b"%ED%A0%80", b"%", b"%2", b"+", b"''", b"\\u0000", b"\\ud800", b'\\"'),
    *(b"0", b"-1", b"2147483648", b"-9223372036854775809", b"1e999", b"-0.0", b"NaN", b"9" * 400),
    *(b"\r\n", b"\n\n", b"\r\n\r\n", b"\r\n ", b": ", b"--", b";", b"&", b"=", b"null", b"true", b"{}", b"[]", b"()"),
    *(
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Length: 5\r\n",
        b"Host: x\r\n",
        b"HTTP/1.1",
        b"Expect: 100-continue\r\n",
    ),
    *(b"eq", b"and", b"or", b"not ", b"datetime'", b"guid'", b"X'", b"L", b"$filter", b"$select", b"$ct"),
    *(b"<!DOCTYPE a [", b"<!ENTITY a 'b'>", b"&a;", b"&#0;", b"<![CDATA[", b"]]>", b"<?xml ", b"xmlns:a='b'"),
    *(b"@odata.type", b"Edm.Int64", b"Edm.DateTime", b"PartitionKey", b"RowKey", b"Timestamp"),
]


def mutate(corpus: Sequence[bytes], chance: random.Random) -> bytes:
    """One of the inputs, changed in a few places."""
    data = bytearray(chance.choice(corpus))
    for _ in range(1 << chance.randrange(4)):
        chance.choice(_CHANGES)(data, corpus, chance)
    return bytes(data[:INPUT_BYTES_MAX])


def _flip(data: bytearray, _corpus: Sequence[bytes], chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _insert(data: bytearray, _corpus: Sequence[bytes], chance: random.Random) -> None:
    place = chance.randint(0, len(data))
    data[place:place] = chance.choice(_PIECES)


def _overwrite(data: bytearray, _corpus: Sequence[bytes], chance: random.Random) -> None:
    place, piece = chance.randint(0, len(data)), chance.choice(_PIECES)
    data[place : place + len(piece)] = piece


def _delete(data: bytearray, _corpus: Sequence[bytes], chance: random.Random) -> None:
    start, end = _span(data, chance)
    del data[start:end]


def _repeat(data: bytearray, _corpus: Sequence[bytes], chance: random.Random) -> None:
    start, end = _span(data, chance)
    data[end:end] = data[start:end] * chance.choice((1, 2, 10, 300))


def _move(data: bytearray, _corpus: Sequence[bytes], chance: random.Random) -> None:
    start, end = _span(data, chance)
    piece = data[start:end]
    del data[start:end]
    place = chance.randint(0, len(data))
    data[place:place] = piece


def _splice(data: bytearray, corpus: Sequence[bytes], chance: random.Random) -> None:
    other = bytearray(chance.choice(corpus))
    start, end = _span(other, chance)
    place = chance.randint(0, len(data))
    data[place:place] = other[start:end]


def _span(data: bytearray, chance: random.Random) -> tuple[int, int]:
    start = chance.randint(0, len(data))
    return start, min(len(data), start + (1 << chance.randrange(7)))


_CHANGES = (_flip, _insert, _insert, _overwrite, _delete, _repeat, _move, _splice)
