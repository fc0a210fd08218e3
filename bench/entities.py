"""The entities that are put in and asked for.

Every entity has the same size to the byte, so a body is made by putting a row key and a number into a template, and
every request of a workload has the same length.
"""

import argparse

PARTITION_KEY = "p"
ENTITY_BYTES = 1024
FILTER_MATCHES = 10
# Numbers have seven digits whatever the size of the data set.
NUMBER_BASE = 1_000_000

_FIELDS = (
    b'{"PartitionKey":"p","RowKey":"%08d%b","Name":"Ada Lovelace","Email":"ada@example.org","City":"London",'
    b'"Number":%07d,"Price@odata.type":"Edm.Double","Price":1234.5,"Total@odata.type":"Edm.Int64",'
    b'"Total":"9007199254740993","Active":true,"Created@odata.type":"Edm.DateTime",'
    b'"Created":"2026-01-02T03:04:05.1234567Z","Owner@odata.type":"Edm.Guid",'
    b'"Owner":"c9da6455-213d-42c9-9a79-3e9149a57833","Notes":"%b"}'
)
_NOTES = b"x" * (ENTITY_BYTES - len(_FIELDS % (0, b"", 0, b"")))


def entity_json(index: int, entities: int, *, suffix: bytes = b"") -> bytes:
    """Return the entity as sent: 1 KiB, ten properties of seven types; ten entities of a table share a Number.

    With a suffix to its row key it comes behind the one without, and has the same size.
    """
    number = NUMBER_BASE + index % (entities // FILTER_MATCHES)
    return _FIELDS % (index, suffix, number, _NOTES[len(suffix) :])


def row_key(index: int) -> str:
    return f"{index:08d}"


def thousands(text: str) -> int:
    """Read a number of entities: whole pages, and whole batches."""
    entities = int(text)
    if entities < 1000 or entities % 1000:
        raise argparse.ArgumentTypeError("the number of entities must be a multiple of 1000")
    return entities
