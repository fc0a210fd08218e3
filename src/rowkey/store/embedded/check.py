"""What is wrong with a database: everything that can be told from the file alone, a sentence for each finding.

`find_damage` is what a server does when it opens a small file: the structure as SQLite checks it (each page belongs to
one tree, trees are in order, an index has what its table has), and each entity's checksum. `find_all` is what `rowkey
check` does: after that, whether all of it makes sense to Rowkey.
"""

from collections.abc import Iterator

import apsw
import orjson

from rowkey.model.datetimes import TICKS_MAX, parse_datetime
from rowkey.model.entity import Key, compose_entity, members_of
from rowkey.store.embedded import statements
from rowkey.store.embedded.checksums import entity_checksum
from rowkey.store.embedded.damage import explain
from rowkey.store.embedded.index_check import find_index_faults
from rowkey.store.embedded.key_code import TABLE_BYTES, read_key, write_key


def find_all(connection: apsw.Connection) -> Iterator[str]:
    """All findings; each kind only where those before it found nothing, since damage below has echoes above."""
    for find in (find_damage, find_faults, find_index_faults):
        is_sound = True
        try:
            for finding in find(connection):
                is_sound = False
                yield finding
        except apsw.Error as error:
            yield explain(error)
            return
        if not is_sound:
            return


def find_damage(connection: apsw.Connection) -> Iterator[str]:
    """Findings about the structure and the checksums of a database of today's format."""
    try:
        for (finding,) in connection.execute("PRAGMA integrity_check"):
            if finding != "ok":
                yield f"integrity check: {finding}"
        for code, checksum, text in connection.execute(statements.LIST_CHECKSUMS):
            if entity_checksum(code, text) != checksum:
                yield f"the entity {name_key(code)} is not as it was written"
    except apsw.Error as error:
        yield explain(error)
    except (TypeError, ValueError) as error:  # a value of another type, or no ASCII
        yield f"an entity has a value that nobody wrote: {error}"


def find_faults(connection: apsw.Connection) -> Iterator[str]:
    """Findings about the meaning of a database whose structure is sound."""
    reserved = connection.execute(statements.GET_RESERVED).get
    if not isinstance(reserved, int) or not 0 <= reserved <= TICKS_MAX:
        yield f"the clock is set to {reserved}, which is no time"
        return
    identities: set[int] = set()
    for identity, account, name, lower_name, created, _ in connection.execute(statements.LIST_ALL_TABLES):
        identities.add(identity)
        if name.lower() != lower_name:
            yield f"the table {name} of {account} is kept under the name {lower_name}"
        if not 0 <= created <= TICKS_MAX:
            yield f"the table {name} of {account} was created at {created}, which is no time"
    for (identity,) in connection.execute(statements.LIST_POLICIES_IDENTITIES):
        if identity not in identities:
            yield f"there are access policies of table {identity}, which does not exist"
    previous = b""
    for code, timestamp, text in connection.execute(statements.LIST_ENTITIES):
        if code <= previous:
            yield f"the entity {name_key(code)} is not in its place in the order of keys"
        previous = code
        if int.from_bytes(code[:TABLE_BYTES], "big") not in identities:
            yield f"the entity {name_key(code)} belongs to no table"
        fault = fault_of_entity(code, timestamp, text)
        if fault:
            yield f"the entity {name_key(code)} {fault}"
        elif timestamp > reserved:
            yield f"the entity {name_key(code)} was written at {timestamp}, later than the clock says"


def fault_of_entity(code: bytes, timestamp: int, text: str) -> str | None:
    """Why this is no entity that `compose_entity` made for this key and timestamp; None where it is one."""
    try:
        values = orjson.loads(text)
        key = Key(values["PartitionKey"], values["RowKey"])
        if write_key(code[:TABLE_BYTES], key) != code:
            return f"says that its key is {key.partition_key!r}, {key.row_key!r}"
        if parse_datetime(values["Timestamp"]) != timestamp:
            return "says that it was written at another time"
        if compose_entity(key, timestamp, members_of(text)).text != text:
            return "is not spelled as entities are"
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        return f"cannot be understood: {error!r}"
    return None


def name_key(code: bytes) -> str:
    """A key for a sentence: its table's number and both keys, or the bytes where they are no key."""
    try:
        key = read_key(code)
    except (ValueError, IndexError):
        return code.hex()
    return f"{key.partition_key!r}, {key.row_key!r} of table {int.from_bytes(code[:TABLE_BYTES], 'big')}"
