"""Whether indexes and entities agree: each entity that has the property has its entry, and no other entry is there.

Entities before the watermark of an index count alone. Both are read in order, so a check needs no memory to speak of
beyond the index that it looks at.
"""

from collections.abc import Iterator

import apsw
import orjson

from rowkey.store.embedded import statements
from rowkey.store.embedded.indexes import PropertyIndex
from rowkey.store.embedded.key_code import after_table, table_prefix
from rowkey.store.embedded.value_code import write_value


def find_index_faults(connection: apsw.Connection) -> Iterator[str]:
    """Findings about the indexes of a database whose entities are sound."""
    tables = {identity: name for _, name, identity, _ in connection.execute(statements.LIST_TABLES)}
    for row in list(connection.execute(statements.LIST_ALL_INDEXES)):
        index = PropertyIndex(*row)
        if index.table not in tables:
            yield f"there is an index on {index.name} of table {index.table}, which does not exist"
            continue
        missing, others = _compare(connection, index)
        what = f"the index on {index.name} of {tables[index.table]}"
        if missing:
            yield f"{what} lacks the entries of {missing} entities"
        if others:
            yield f"{what} has {others} entries that are of no entity"


def _compare(connection: apsw.Connection, index: PropertyIndex) -> tuple[int, int]:
    """How many entries are missing, and how many are there that should not be."""
    prefix = table_prefix(index.table)
    end = after_table(prefix) if index.built is None else index.built
    found = missing = 0
    for code, text in connection.execute(statements.LIST_ENTITIES_OF, (prefix, end)):
        value = write_value(orjson.loads(text), index.name)
        if value is not None:
            is_there = connection.execute(statements.HAS_ENTRY, (index.identity, value, code)).get is not None
            found, missing = found + is_there, missing + (not is_there)
    entries: int = connection.execute(statements.COUNT_ENTRIES, (index.identity,)).get
    return missing, entries - found
