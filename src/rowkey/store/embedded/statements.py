"""All SQL of the embedded store. The format that it makes is described in `docs/storage-format.md`."""

from collections.abc import Sequence

APPLICATION_ID = 0x524B4559
"""`RKEY`, so that `file` and SQLite's own tools can name the file."""
FORMAT = 4

_SETTINGS = """
CREATE TABLE access_policies (
    identity INTEGER PRIMARY KEY,                   -- the table's
    text     TEXT    NOT NULL                       -- XML, as Get Table ACL answers it
);

CREATE TABLE service_properties (
    account TEXT NOT NULL,
    section TEXT NOT NULL,                          -- Logging, HourMetrics, MinuteMetrics or Cors
    text    TEXT NOT NULL,                          -- XML, as Get Table Service Properties answers it
    PRIMARY KEY (account, section)
) WITHOUT ROWID;
"""

_CLOCK = """
CREATE TABLE clock (
    id       INTEGER PRIMARY KEY CHECK (id = 1),    -- there is one
    reserved INTEGER NOT NULL                       -- ticks; no time beyond it was handed out
);
"""

_ENTITY = """
CREATE TABLE entity (
    id        INTEGER PRIMARY KEY,
    key       BLOB    NOT NULL UNIQUE,              -- key_code.py
    timestamp INTEGER NOT NULL,                     -- ticks; the ETag
    checksum  INTEGER NOT NULL,                     -- CRC-32 of the key and the wire text
    body      BLOB    NOT NULL                      -- JSONB of the entity's wire text
);
"""

_INDEXES = """
CREATE TABLE property_index (
    identity       INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used twice: entries of dropped ones may linger
    table_identity INTEGER NOT NULL,
    name           TEXT    NOT NULL,                    -- the property's
    built          BLOB,                                -- keys before it have their entries; NULL: all have
    is_dropped     INTEGER NOT NULL DEFAULT 0           -- its entries are still to be removed
);
CREATE UNIQUE INDEX property_index_by_name ON property_index (table_identity, name) WHERE NOT is_dropped;

CREATE TABLE index_entry (
    property_index INTEGER NOT NULL,
    value          BLOB    NOT NULL,                    -- value_code.py
    key            BLOB    NOT NULL,                    -- the entity's
    PRIMARY KEY (property_index, value, key)
) WITHOUT ROWID;
"""

SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};

CREATE TABLE table_of_account (
    identity   INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used twice: keys of deleted tables may linger
    account    TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    lower_name TEXT    NOT NULL,
    created    INTEGER NOT NULL,                    -- ticks
    is_deleted INTEGER NOT NULL DEFAULT 0           -- its entities are still to be removed
);
CREATE UNIQUE INDEX table_by_name ON table_of_account (account, lower_name) WHERE NOT is_deleted;

{_ENTITY}
{_SETTINGS}
{_CLOCK}
INSERT INTO clock VALUES (1, 0);
{_INDEXES}"""

UPGRADES = {
    1: f"""
PRAGMA user_version = 2;
{_SETTINGS}""",
    2: f"""
PRAGMA user_version = 3;
ALTER TABLE entity RENAME TO entity_of_2;
{_ENTITY}
INSERT INTO entity SELECT id, key, timestamp, entity_checksum(key, json(body)), body FROM entity_of_2;
DROP TABLE entity_of_2;
{_CLOCK}
INSERT INTO clock SELECT 1, coalesce(max(timestamp), 0) FROM entity;
""",
    3: f"""
PRAGMA user_version = 4;
{_INDEXES}""",
}
"""By the number of an older format: what makes the next one of it, within one transaction."""

# Durable: FULL syncs the write-ahead log at every commit; NORMAL was measured to lose acknowledged writes. The log is
# folded into the database by writer.py, in its thread.
WRITER_PRAGMAS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = 0;
PRAGMA cache_size = -16384;
PRAGMA temp_store = MEMORY;
"""
READER_PRAGMAS = """
PRAGMA query_only = ON;
PRAGMA temp_store = MEMORY;
"""

READ_FORMAT = "SELECT * FROM pragma_application_id, pragma_user_version"
LIST_TABLES = "SELECT account, name, identity, created FROM table_of_account WHERE NOT is_deleted"
LIST_DELETED_TABLES = "SELECT identity FROM table_of_account WHERE is_deleted"
GET_TABLE = """
SELECT account, name, identity, created FROM table_of_account WHERE account = ? AND lower_name = ? AND NOT is_deleted
"""
LIST_TABLES_FROM = """
SELECT account, name, identity, created FROM table_of_account
WHERE account = ? AND lower_name >= ? AND NOT is_deleted ORDER BY lower_name LIMIT ?
"""
FIND_IDENTITY = "SELECT identity FROM table_of_account WHERE identity = ? AND NOT is_deleted"
FIND_TABLE = "SELECT identity FROM table_of_account WHERE account = ? AND lower_name = ? AND NOT is_deleted"
ADD_TABLE = "INSERT INTO table_of_account (account, name, lower_name, created) VALUES (?, ?, ?, ?) RETURNING identity"
MARK_TABLE_DELETED = "UPDATE table_of_account SET is_deleted = 1 WHERE identity = ?"
FORGET_TABLE = "DELETE FROM table_of_account WHERE identity = ?"
REMOVE_ENTITIES = """
DELETE FROM entity WHERE id IN (SELECT id FROM entity WHERE key >= ? AND key < ? ORDER BY key LIMIT ?)
"""

LIST_ALL_TABLES = "SELECT identity, account, name, lower_name, created, is_deleted FROM table_of_account"
LIST_POLICIES_IDENTITIES = "SELECT identity FROM access_policies"
LIST_KEYS = "SELECT key FROM entity ORDER BY key"
RESTORE_TABLE = """
INSERT INTO table_of_account (identity, account, name, lower_name, created, is_deleted) VALUES (?, ?, ?, ?, ?, ?)
"""
RESTORE_ENTITY = """
INSERT INTO entity (key, timestamp, checksum, body) VALUES (?, ?, ?, jsonb(?))
ON CONFLICT (key) DO UPDATE
SET timestamp = excluded.timestamp, checksum = excluded.checksum, body = excluded.body
WHERE excluded.timestamp > timestamp
"""
LIST_CHECKSUMS = "SELECT key, checksum, json(body) FROM entity"
LIST_ENTITIES = "SELECT key, timestamp, json(body) FROM entity ORDER BY key"
ARCHIVED_ENTITIES = """
SELECT key, timestamp, checksum, json(body) FROM entity WHERE key >= ? AND key < ? ORDER BY key LIMIT ?
"""
LAST_KEY = "SELECT key FROM entity WHERE key >= ? AND key < ? ORDER BY key DESC LIMIT 1"

GET_RESERVED = "SELECT reserved FROM clock"
SET_RESERVED = "UPDATE clock SET reserved = ?"

GET_POLICIES = "SELECT text FROM access_policies WHERE identity = ?"
LIST_POLICIES = "SELECT identity, text FROM access_policies"
PUT_POLICIES = (
    "INSERT INTO access_policies (identity, text) VALUES (?, ?) ON CONFLICT DO UPDATE SET text = excluded.text"
)
REMOVE_POLICIES = "DELETE FROM access_policies WHERE identity = ?"
GET_PROPERTIES = "SELECT section, text FROM service_properties WHERE account = ?"
LIST_PROPERTIES = "SELECT account, section, text FROM service_properties"
PUT_PROPERTIES = """
INSERT INTO service_properties (account, section, text) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET text = excluded.text
"""

GET_TEXT = "SELECT json(body) FROM entity WHERE key = ?"
GET_TIMESTAMP = "SELECT timestamp FROM entity WHERE key = ?"
GET_ENTITY = "SELECT timestamp, json(body) FROM entity WHERE key = ?"
ADD_ENTITY = """
INSERT INTO entity (key, timestamp, checksum, body) VALUES (?, ?, ?, jsonb(?)) ON CONFLICT (key) DO NOTHING
"""
PUT_ENTITY = """
INSERT INTO entity (key, timestamp, checksum, body) VALUES (?, ?, ?, jsonb(?))
ON CONFLICT (key) DO UPDATE
SET timestamp = excluded.timestamp, checksum = excluded.checksum, body = excluded.body
"""
REMOVE_ENTITY = "DELETE FROM entity WHERE key = ?"

# A page is gathered inside SQLite: one row comes back, so the lock of the interpreter changes hands once, not once an
# entity (beside a busy event loop: 6 ms against 830 ms for a page of 1000).
MEASURE = """
SELECT count(*), sum(length(body)), max(key)
FROM (SELECT key, body FROM entity WHERE key >= ? AND key < ? ORDER BY key LIMIT ?)
"""
GATHER = "SELECT json_group_array(json(body)) FROM entity WHERE key >= ? AND key <= ?"
_GATHER_SHAPED = "FROM entity WHERE key >= ? AND key <= ?"


def gather_without(members: int) -> str:
    """GATHER without so many members of each entity, whose paths are bound before the range."""
    return f"SELECT json_group_array(json(jsonb_remove(body{', ?' * members}))) {_GATHER_SHAPED}"


def gather_members(names: Sequence[str], *, has_control: bool) -> str:
    """Texts, joined by commas, with these members of each entity, null where it lacks one; names are identifiers."""
    members = [_member(name, has_control=has_control) for name in names]
    etag = ["""'"odata.etag":' || (body -> '$."odata.etag"')"""] if has_control else []
    joined = ", ',', ".join(etag + members)
    return f"SELECT group_concat(concat('{{', {joined}, '}}')) {_GATHER_SHAPED}"


def _member(name: str, *, has_control: bool) -> str:
    value = f"""'"{name}":', coalesce(body -> '$.{name}', 'null')"""
    annotation = f"{name}@odata.type"
    return f"""'"{annotation}":' || (body -> '$."{annotation}"') || ',', {value}""" if has_control else value


FIRST_KEY = "SELECT key FROM entity WHERE key >= ? AND key < ? ORDER BY key LIMIT 1"
KEY_AT = "SELECT key FROM entity WHERE key >= ? AND key < ? ORDER BY key LIMIT 1 OFFSET ?"


# Candidates of a filter with something beside the keys; `condition` is text of narrow.py, whose constants are bound.

_POINTS = """
SELECT i.key FROM json_each(?1) AS probe CROSS JOIN index_entry AS i
WHERE i.property_index = (probe.value ->> 0) AND i.value = unhex(probe.value ->> 1) AND i.key >= ?2 AND i.key < ?3
"""
_SPANS = """
SELECT i.key FROM json_each(?1) AS probe CROSS JOIN index_entry AS i
WHERE i.property_index = (probe.value ->> 0)
AND i.value >= unhex(probe.value ->> 1) AND i.value <= unhex(probe.value ->> 2)
"""


def find_in_table(condition: str) -> str:
    """Ids and total size of the entities of a key range that a filter may accept."""
    return f"""
SELECT json_group_array(id), sum(length(body))
FROM (SELECT id, body FROM entity WHERE key >= ? AND key < ? AND ({condition}) ORDER BY key LIMIT ?)
"""


def find_in_indexes(condition: str, *, is_of_points: bool) -> str:
    """As above, of those that probes (JSON: [[index, low, high], ...]) name; where all are points, low is high."""
    keys = _POINTS if is_of_points else f"{_SPANS} AND i.key >= ?2 AND i.key < ?3"
    return f"""
SELECT json_group_array(id), sum(length(body))
FROM (SELECT id, body FROM entity WHERE key IN ({keys}) AND ({condition}) ORDER BY key LIMIT ?)
"""


GATHER_CANDIDATES = """
SELECT json_group_array(json(body)) FROM json_each(?) AS candidate CROSS JOIN entity
ON entity.id = candidate.value
"""
COUNT_ENTITIES = "SELECT count(*) FROM (SELECT 1 FROM entity WHERE key >= ? AND key < ? LIMIT ?)"
COUNT_WITHIN = "SELECT count(*) FROM entity WHERE key >= ? AND key < ?"
COUNT_POINTS = f"SELECT count(*) FROM ({_POINTS} LIMIT ?4)"
COUNT_SPANS = f"SELECT count(*) FROM ({_SPANS} LIMIT ?2)"
ENTRY_AT = """
SELECT key FROM index_entry
WHERE property_index = ? AND value = ? AND key >= ? AND key < ? ORDER BY key LIMIT 1 OFFSET ?
"""

# Indexes.

READY_INDEXES = """
SELECT name, identity FROM property_index WHERE table_identity = ? AND built IS NULL AND NOT is_dropped
"""
LIST_ALL_INDEXES = "SELECT identity, table_identity, name, built FROM property_index WHERE NOT is_dropped"
FIND_INDEX = """
SELECT identity, table_identity, name, built FROM property_index
WHERE table_identity = ? AND name = ? AND NOT is_dropped
"""
LIST_DROPPED_INDEXES = "SELECT identity FROM property_index WHERE is_dropped"
LIST_INDEXES = """
SELECT name, built IS NULL, (SELECT count(*) FROM index_entry WHERE property_index = identity)
FROM property_index WHERE table_identity = ? AND NOT is_dropped ORDER BY name
"""
ADD_INDEX = "INSERT INTO property_index (table_identity, name, built) VALUES (?, ?, ?) RETURNING identity"
MARK_INDEX_DROPPED = "UPDATE property_index SET is_dropped = 1 WHERE identity = ?"
DROP_INDEXES = "UPDATE property_index SET is_dropped = 1 WHERE table_identity = ? AND NOT is_dropped"
FORGET_INDEX = "DELETE FROM property_index WHERE identity = ?"
GET_BUILT = "SELECT built FROM property_index WHERE identity = ? AND NOT is_dropped"
SET_BUILT = "UPDATE property_index SET built = ? WHERE identity = ?"
ADD_ENTRY = "INSERT INTO index_entry (property_index, value, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
REMOVE_ENTRY = "DELETE FROM index_entry WHERE property_index = ? AND value = ? AND key = ?"
COUNT_ENTRIES = "SELECT count(*) FROM index_entry WHERE property_index = ?"
HAS_ENTRY = "SELECT 1 FROM index_entry WHERE property_index = ? AND value = ? AND key = ?"
LIST_ENTITIES_OF = "SELECT key, json(body) FROM entity WHERE key >= ? AND key < ? ORDER BY key"
REMOVE_ENTRIES = """
DELETE FROM index_entry WHERE property_index = ?1
AND (value, key) IN (SELECT value, key FROM index_entry WHERE property_index = ?1 LIMIT ?2)
"""
# The entities of a step: their ids, the last key, and their texts.
READ_STEP = """
SELECT json_group_array(id), max(key), json_group_array(json(body))
FROM (SELECT id, key, body FROM entity WHERE key >= ? AND key < ? ORDER BY key LIMIT ?)
"""
ADD_ENTRIES = """
INSERT INTO index_entry (property_index, value, key)
SELECT ?, unhex(entry.value ->> 1), entity.key
FROM json_each(?) AS entry CROSS JOIN entity ON entity.id = (entry.value ->> 0)
WHERE true ON CONFLICT DO NOTHING
"""
