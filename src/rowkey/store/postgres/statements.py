"""All SQL of the PostgreSQL store, but for what makes its schema (`definitions.py`).

Every statement that touches entities names one segment and asks in the same breath whether that segment is live, so
that a table which another front end has deleted is gone at once, whatever this front end remembers. On Citus such a
statement runs on the one node that has the segment.
"""

# Plans do not follow statistics, which are wrong for a table that has just begun to grow: every statement here is a
# walk along an index, whatever its parameters, and planned once for each connection; but Citus chooses the node by the
# parameters. A commit waits for the standbys as the database is set up to, but never for less than its own disk: an
# answered write is on disk. A coordinator of Citus must not give up waiting for a node that commits.
_PLANS = {
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_material": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}
SESSION = f"""
{"".join(f"SET {name} = {value};" for name, value in _PLANS.items())}
SELECT set_config('plan_cache_mode', CASE WHEN is_sharded THEN 'force_custom_plan' ELSE 'force_generic_plan' END, false)
FROM rowkey.schema_version;
SELECT set_config(name, '0', false)
FROM rowkey.schema_version, pg_settings
WHERE is_sharded AND name IN ('statement_timeout', 'transaction_timeout');
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') IN ('off', 'local');
"""
IS_SHARDED = "SELECT is_sharded FROM rowkey.schema_version"
NOTHING = "SELECT 1"

# Citus connects to its other nodes as the same user, to a database of the same name, and takes nothing along of what a
# session is set to. So there it is what that user's sessions begin with. A commit there waits for the standbys as the
# node was set up to when this was run, but never for less than its own disk, whatever the node is set up to later.
SESSIONS_OF_NODE = f"""
DO $body$
DECLARE
    v_commit text := current_setting('synchronous_commit');
    v_name   text;
    v_value  text;
BEGIN
    IF v_commit IN ('off', 'local') THEN
        v_commit := 'on';
    END IF;
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    FOR v_name, v_value IN
        VALUES {", ".join(f"('{name}', '{value}')" for name, value in _PLANS.items())}, ('synchronous_commit', v_commit)
    LOOP
        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET %I = %L', current_user, current_database(), v_name, v_value);
    END LOOP;
END
$body$
"""

# ---------------------------------------------------------------- tables and settings

CREATE_TABLE = "SELECT rowkey.create_table($1, $2, $3)"
DELETE_TABLE = "SELECT rowkey.delete_table($1, $2)"
FIND_TABLE = """
SELECT account, name, identity, created, segments, bounds
FROM rowkey.table_of_account WHERE account = $1 AND lower_name = $2
"""
LIST_TABLES = """
SELECT account, name, identity, created
FROM rowkey.table_of_account WHERE account = $1 AND lower_name >= $2 ORDER BY lower_name LIMIT $3
"""
GET_POLICIES = """
SELECT policies FROM rowkey.table_of_account WHERE account = $1 AND lower_name = $2 AND identity = $3
"""
SET_POLICIES = """
UPDATE rowkey.table_of_account SET policies = $4 WHERE account = $1 AND lower_name = $2 AND identity = $3
RETURNING identity
"""
ADD_INDEX = """
UPDATE rowkey.table_of_account SET indexes = array_append(indexes, $4)
WHERE account = $1 AND lower_name = $2 AND identity = $3 AND NOT $4 = ANY (indexes)
RETURNING identity
"""
DROP_INDEX = """
UPDATE rowkey.table_of_account SET indexes = array_remove(indexes, $4)
WHERE account = $1 AND lower_name = $2 AND identity = $3 AND $4 = ANY (indexes)
RETURNING identity
"""
LIST_INDEXES = """
SELECT indexes, segments FROM rowkey.table_of_account WHERE account = $1 AND lower_name = $2 AND identity = $3
"""
COUNT_ENTITIES_WITH = "SELECT count(*) FROM rowkey.entity WHERE seg = $1 AND position($2::bytea IN body) > 0"
LIST_PROPERTIES = "SELECT account, section, text FROM rowkey.service_properties"
SET_PROPERTIES = "SELECT rowkey.set_properties($1, $2, $3)"
CHANNEL = "rowkey"
"""Where front ends hear of deleted tables and of changed service properties."""

# ---------------------------------------------------------------- entities

WRITE = "SELECT rowkey.write($1, $2, $3, $4, $5, $6, $7)"

WRITE_ALIKE = "SELECT rowkey.write_alike($1, $2, $3, $4, $5, $6, $7)"
WRITE_EACH = "SELECT rowkey.write_each($1, $2, $3, $4, $5, $6, $7)"

GET_ONE = """
SELECT e.body
FROM rowkey.segment AS s LEFT JOIN rowkey.entity AS e ON e.seg = $1 AND e.pk = $2 AND e.rk = $3
WHERE s.seg = $1 AND s.is_live
"""
# The rows come in the order of the arrays: there is one segment, and for it the keys are taken one after another. With
# `unnest` in FROM each statement takes some 40 us longer.
GET_MANY = """
SELECT (SELECT e.body FROM rowkey.entity AS e WHERE e.seg = $1 AND e.pk = k.pk AND e.rk = k.rk)
FROM (
    SELECT unnest($2::bytea[]) AS pk, unnest($3::bytea[]) AS rk
    FROM rowkey.segment AS s WHERE s.seg = $1 AND s.is_live
) AS k
"""
GET_CURRENT = """
SELECT k.rk, e.ts, e.body
FROM rowkey.segment AS s
CROSS JOIN unnest($3::bytea[]) AS k (rk)
LEFT JOIN rowkey.entity AS e ON e.seg = $1 AND e.pk = $2 AND e.rk = k.rk
WHERE s.seg = $1 AND s.is_live
"""

# ---------------------------------------------------------------- pages

# The ranges are $2 to $5, as arrays. A nested loop takes them in their order, and an index has the entities of each in
# theirs; each branch stops after the rows that are wanted.
_RANGES = """
SELECT {columns}
FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[]) AS r (start_pk, start_rk, end_pk, end_rk)
CROSS JOIN LATERAL (
    SELECT pk, rk, body FROM rowkey.entity
    WHERE seg = $1 AND (pk, rk) >= (r.start_pk, r.start_rk) AND (pk, rk) < (r.end_pk, r.end_rk)
    ORDER BY pk, rk LIMIT {limit}
) AS e
"""

_HAS_NEEDLES = "position($7::bytea IN body) > 0 AND position($8::bytea IN body) > 0"
LARGE_BYTES = 16 * 1024
"""Texts above it are gathered only by the second of the two statements, which knows how many have room."""

# A page without a filter: the text of each entity, and of one more, from where the next page goes on. Large texts are
# empty. Where there are no entities one row comes back, without a text; and none where the segment is gone.
# Having the database join the texts takes three times as much of its time: memory for a megabyte at once is dear.
PAGE = f"""
SELECT CASE WHEN octet_length(page.body) <= {LARGE_BYTES} THEN page.body WHEN page.body IS NOT NULL THEN '' END
FROM rowkey.segment AS s
LEFT JOIN LATERAL (
    {_RANGES.format(columns="e.body", limit="$6::bigint + 1")} LIMIT $6::bigint + 1
) AS page ON true
WHERE s.seg = $1 AND s.is_live
"""

# For a filter. One row comes back: how many entities there are, their size, how many of them are large, the texts of
# the others that have the pieces $7 and $8, joined by commas, and the key of the entity after them.
GATHER = f"""
WITH gathered AS (
    SELECT count(*) AS entities, coalesce(sum(octet_length(body)), 0) AS size,
        count(*) FILTER (WHERE octet_length(body) > {LARGE_BYTES}) AS large,
        string_agg(body, ',') FILTER (WHERE octet_length(body) <= {LARGE_BYTES} AND {_HAS_NEEDLES}) AS texts
    FROM ({_RANGES.format(columns="e.body", limit="$6")} LIMIT $6) AS page
)
SELECT g.entities, g.size, g.large, g.texts, following.pk, following.rk
FROM rowkey.segment AS s
CROSS JOIN gathered AS g
LEFT JOIN LATERAL (
    {_RANGES.format(columns="e.pk, e.rk", limit="$6::bigint + 1")} OFFSET $6 LIMIT 1
) AS following ON g.entities = $6
WHERE s.seg = $1 AND s.is_live
"""

# As many entities as have room in $9 bytes, and one at least, large or not.
GATHER_FITTING = f"""
WITH numbered AS (
    SELECT pk, rk, body, row_number() OVER ordered AS n,
        sum(octet_length(body)) OVER ordered - octet_length(body) AS before
    FROM ({_RANGES.format(columns="e.pk, e.rk, e.body", limit="$6::bigint + 1")} LIMIT $6::bigint + 1) AS page
    WINDOW ordered AS (ORDER BY pk, rk ROWS UNBOUNDED PRECEDING)
), measured AS (
    SELECT count(*) AS entities FROM numbered WHERE n <= $6 AND (n = 1 OR before < $9)
)
SELECT m.entities, 0 AS size, 0 AS large,
    (SELECT string_agg(body, ',' ORDER BY n) FILTER (WHERE {_HAS_NEEDLES}) FROM numbered WHERE n <= m.entities)
        AS texts,
    following.pk, following.rk
FROM rowkey.segment AS s
CROSS JOIN measured AS m
LEFT JOIN numbered AS following ON following.n = m.entities + 1
WHERE s.seg = $1 AND s.is_live
"""

BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN = "BEGIN"
COMMIT = "COMMIT"

# ---------------------------------------------------------------- what is left of deleted tables

LIST_REMOVED = """
SELECT seg, is_empty FROM rowkey.segment
WHERE NOT is_live AND (NOT is_empty OR removed_at < clock_timestamp() - interval '1 hour')
ORDER BY removed_at LIMIT 100
"""
KEY_AFTER = """
SELECT pk, rk FROM rowkey.entity WHERE seg = $1 AND (pk, rk) >= ($2, $3) ORDER BY pk, rk OFFSET $4 LIMIT 1
"""
REMOVE_ENTITIES = """
DELETE FROM rowkey.entity WHERE seg = $1 AND (pk, rk) >= ($2, $3) AND (pk, rk) < ($4, $5)
"""
NOTE_EMPTY = "UPDATE rowkey.segment SET is_empty = true WHERE seg = $1 AND NOT is_live"
FORGET_SEGMENT = "DELETE FROM rowkey.segment WHERE seg = $1 AND NOT is_live"

# ---------------------------------------------------------------- copying

ARCHIVED_TABLES = """
SELECT account, name, created, policies, indexes FROM rowkey.table_of_account ORDER BY account, lower_name
"""
ARCHIVED_ENTITIES = """
SELECT pk, rk, ts, body FROM rowkey.entity
WHERE seg = $1 AND (pk, rk) >= ($2, $3) AND (pk, rk) < ($4, $5) ORDER BY pk, rk LIMIT $6
"""
LAST_KEY = "SELECT pk, rk FROM rowkey.entity WHERE seg = $1 ORDER BY pk DESC, rk DESC LIMIT 1"
DESCRIBE_TABLE = """
UPDATE rowkey.table_of_account SET created = $3, policies = $4, indexes = $5 WHERE account = $1 AND lower_name = $2
"""
ADD_ENTITIES = """
INSERT INTO rowkey.entity (seg, pk, rk, ts, body)
SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bytea[])
ON CONFLICT DO NOTHING
"""
