"""All SQL of the embedded store. The format that it makes is described in `docs/storage-format.md`."""

APPLICATION_ID = 0x524B4559
"""`RKEY`, so that `file` and SQLite's own tools can name the file."""
FORMAT = 2

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

CREATE TABLE entity (
    id        INTEGER PRIMARY KEY,
    key       BLOB    NOT NULL UNIQUE,              -- key_code.py
    timestamp INTEGER NOT NULL,                     -- ticks; the ETag
    body      BLOB    NOT NULL                      -- JSONB of the entity's wire text
);

{_SETTINGS}"""

UPGRADES = {
    1: f"""
PRAGMA user_version = 2;
{_SETTINGS}""",
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

LIST_TABLES = "SELECT account, name, identity, created FROM table_of_account WHERE NOT is_deleted"
LIST_DELETED_TABLES = "SELECT identity FROM table_of_account WHERE is_deleted"
FIND_TABLE = "SELECT identity FROM table_of_account WHERE account = ? AND lower_name = ? AND NOT is_deleted"
ADD_TABLE = "INSERT INTO table_of_account (account, name, lower_name, created) VALUES (?, ?, ?, ?) RETURNING identity"
MARK_TABLE_DELETED = "UPDATE table_of_account SET is_deleted = 1 WHERE identity = ?"
FORGET_TABLE = "DELETE FROM table_of_account WHERE identity = ?"
REMOVE_ENTITIES = """
DELETE FROM entity WHERE id IN (SELECT id FROM entity WHERE key >= ? AND key < ? ORDER BY key LIMIT ?)
"""

LIST_POLICIES = "SELECT identity, text FROM access_policies"
PUT_POLICIES = (
    "INSERT INTO access_policies (identity, text) VALUES (?, ?) ON CONFLICT DO UPDATE SET text = excluded.text"
)
REMOVE_POLICIES = "DELETE FROM access_policies WHERE identity = ?"
LIST_PROPERTIES = "SELECT account, section, text FROM service_properties"
PUT_PROPERTIES = """
INSERT INTO service_properties (account, section, text) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET text = excluded.text
"""

GET_TEXT = "SELECT json(body) FROM entity WHERE key = ?"
GET_TIMESTAMP = "SELECT timestamp FROM entity WHERE key = ?"
GET_ENTITY = "SELECT timestamp, json(body) FROM entity WHERE key = ?"
ADD_ENTITY = """
INSERT INTO entity (key, timestamp, body) VALUES (?, ?, jsonb(?)) ON CONFLICT (key) DO NOTHING
"""
PUT_ENTITY = """
INSERT INTO entity (key, timestamp, body) VALUES (?, ?, jsonb(?))
ON CONFLICT (key) DO UPDATE SET timestamp = excluded.timestamp, body = excluded.body
"""
REMOVE_ENTITY = "DELETE FROM entity WHERE key = ?"

# A page is gathered inside SQLite: one row comes back, so the lock of the interpreter changes hands once, not once an
# entity (beside a busy event loop: 6 ms against 830 ms for a page of 1000).
MEASURE = """
SELECT count(*), sum(length(body)), max(key)
FROM (SELECT key, body FROM entity WHERE key >= ? AND key < ? ORDER BY key LIMIT ?)
"""
GATHER = "SELECT json_group_array(json(body)) FROM entity WHERE key >= ? AND key <= ?"
FIRST_KEY = "SELECT key FROM entity WHERE key >= ? AND key < ? ORDER BY key LIMIT 1"
KEY_AT = "SELECT key FROM entity WHERE key >= ? AND key < ? ORDER BY key LIMIT 1 OFFSET ?"


def measure_candidates(condition: str) -> str:
    """Ids and total size of the entities of a key range that a residual filter may accept.

    `condition` is text of ours; its constants are bound.
    """
    return f"""
SELECT json_group_array(id), sum(length(body))
FROM (SELECT id, body FROM entity WHERE key >= ? AND key < ? AND ({condition}) ORDER BY key LIMIT ?)
"""


GATHER_CANDIDATES = """
SELECT json_group_array(json(body))
FROM (SELECT body FROM entity WHERE id IN (SELECT value FROM json_each(?)) ORDER BY key)
"""
