"""The entities that are put in and asked for.

Every entity has the same size to the byte, so a body is made by putting a row key and a number into a template, and
every request of a workload has the same length.
"""

import argparse
import random
from string import ascii_lowercase

PARTITION_KEY = "p"
ENTITY_BYTES = 1024
FILTER_MATCHES = 10
# Numbers have seven digits whatever the size of the data set.
NUMBER_BASE = 1_000_000

_KEYS = b'"PartitionKey":"p","RowKey":"%08d%b",'
_PROPERTIES = (
    b'"Name":"Ada Lovelace","Email":"ada@example.org","City":"London",'
    b'"Number":%07d,"Price@odata.type":"Edm.Double","Price":1234.5,"Total@odata.type":"Edm.Int64",'
    b'"Total":"9007199254740993","Active":true,"Created@odata.type":"Edm.DateTime",'
    b'"Created":"2026-01-02T03:04:05.1234567Z","Owner@odata.type":"Edm.Guid",'
    b'"Owner":"c9da6455-213d-42c9-9a79-3e9149a57833","Notes":"%b"'
)
_ENTITY = b"{" + _KEYS + _PROPERTIES + b"}"
_REPLACEMENT = b"{" + _PROPERTIES + b"}"
_NOTES = b"x" * (ENTITY_BYTES - len(_ENTITY % (0, b"", 0, b"")))

_WORD_LENGTHS = (3, 9)
_choose = random.Random(20)
_WORDS = ["".join(_choose.choices(ascii_lowercase, k=_choose.randint(*_WORD_LENGTHS))) for _ in range(1000)]


def entity_json(index: int, entities: int, *, suffix: bytes = b"") -> bytes:
    """Return the entity as sent: 1 KiB, ten properties of seven types; ten entities of a table share a Number.

    With a suffix to its row key it comes behind the one without, and has the same size.
    """
    number = NUMBER_BASE + index % (entities // FILTER_MATCHES)
    return _ENTITY % (index, suffix, number, _NOTES[len(suffix) :])


def worded_json(index: int, entities: int) -> bytes:
    """Return an entity whose Notes are words, no two entities the same: gzip would make nothing of one letter."""
    words = random.Random(index).choices(_WORDS, k=len(_NOTES) // _WORD_LENGTHS[0])
    return entity_json(index, entities).replace(_NOTES, " ".join(words).encode()[: len(_NOTES)])


def replacement_json(change: int) -> bytes:
    """Return all properties of an entity, with another Number at each change; its keys are those of the address."""
    return _REPLACEMENT % (_changed_number(change), _NOTES)


def merge_json(change: int) -> bytes:
    """Return two properties of an entity, with another Number at each change."""
    return b'{"City":"Paris","Number":%07d}' % _changed_number(change)


def _changed_number(change: int) -> int:
    return NUMBER_BASE + change % NUMBER_BASE


def row_key(index: int) -> str:
    return f"{index:08d}"


def thousands(text: str) -> int:
    """Read a number of entities: whole pages, and whole batches."""
    entities = int(text)
    if entities < 1000 or entities % 1000:
        raise argparse.ArgumentTypeError("the number of entities must be a multiple of 1000")
    return entities
