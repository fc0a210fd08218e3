"""All SQL of the PostgreSQL store. What it keeps is described in `docs/storage-format-postgres.md`.

Every statement that touches entities names one segment and asks in the same breath whether that segment is live, so
that a table which another front end has deleted is gone at once, whatever this front end remembers. On Citus such a
statement runs on the one node that has the segment.

The functions that write take scalars out of their arrays before they use them: on Citus 13 an array's element inside an
UPDATE or DELETE of a function ends the worker's process.
"""

VERSION = 1
"""Of the schema that this version of Rowkey serves."""

FIND_VERSION = """
SELECT to_regclass('rowkey.schema_version') IS NOT NULL
"""
GET_VERSION = "SELECT version, is_sharded FROM rowkey.schema_version"

_TABLES = """
CREATE SCHEMA rowkey;

CREATE TABLE rowkey.schema_version (
    version    integer NOT NULL,
    is_sharded boolean NOT NULL                     -- spread by Citus
);

CREATE SEQUENCE rowkey.identities;                  -- of tables and segments: none is ever used twice

CREATE TABLE rowkey.table_of_account (
    account    text COLLATE "C" NOT NULL,
    lower_name text COLLATE "C" NOT NULL,
    name       text             NOT NULL,           -- as it was spelled when the table was created
    identity   bigint           NOT NULL,
    created    bigint           NOT NULL,           -- ticks
    policies   text             NOT NULL DEFAULT '', -- XML, as Get Table ACL answers it
    indexes    text[]           NOT NULL DEFAULT '{}', -- properties with an index, for stores that have a use for them
    segments   bigint[]         NOT NULL,           -- ascending by their partition keys
    bounds     bytea[]          NOT NULL,           -- the partition keys with which all but the first begin
    PRIMARY KEY (account, lower_name)
);

CREATE TABLE rowkey.service_properties (
    account text COLLATE "C" NOT NULL,
    section text COLLATE "C" NOT NULL,              -- Logging, HourMetrics, MinuteMetrics or Cors
    text    text             NOT NULL,              -- XML, as Get Table Service Properties answers it
    PRIMARY KEY (account, section)
);

CREATE TABLE rowkey.segment (
    seg        bigint      NOT NULL PRIMARY KEY,
    is_live    boolean     NOT NULL DEFAULT true,
    removed_at timestamptz,                         -- since when it is not live
    is_empty   boolean     NOT NULL DEFAULT false   -- its entities have been removed since
);
CREATE INDEX segment_to_remove ON rowkey.segment (removed_at) WHERE NOT is_live;

CREATE TABLE rowkey.entity (
    seg  bigint NOT NULL,
    pk   bytea  NOT NULL,                           -- PartitionKey in the key code
    rk   bytea  NOT NULL,                           -- RowKey in the key code
    ts   bigint NOT NULL,                           -- ticks; the ETag
    body bytea  NOT NULL,                           -- the entity's wire text
    PRIMARY KEY (seg, pk, rk)
);
ALTER TABLE rowkey.entity ALTER COLUMN body SET STORAGE EXTERNAL;
"""

_FUNCTIONS = """
CREATE FUNCTION rowkey.choose_ticks(in_ts bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
-- A timestamp for a write: in_ts or later. It is this database's clock, so that the timestamps of all front ends grow,
-- with a last digit that is no zero, so that all seven digits of a second's fraction are written.
DECLARE
    v_ts bigint := greatest(in_ts, 116444736000000000 + (extract(epoch FROM clock_timestamp()) * 10000000)::bigint);
BEGIN
    RETURN v_ts + (v_ts % 10 = 0)::integer;
END
$body$;

CREATE FUNCTION rowkey.format_ticks(in_ts bigint) RETURNS text LANGUAGE plpgsql AS $body$
BEGIN
    RETURN to_char(
        timestamp 'epoch' + (in_ts - 116444736000000000) / 10 * interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US'
    ) || in_ts % 10 || 'Z';
END
$body$;

CREATE FUNCTION rowkey.write_one(
    in_seg bigint, in_pk bytea, in_rk bytea, in_condition bigint, in_body bytea, in_ts bigint
) RETURNS bigint LANGUAGE plpgsql AS $body$
-- Make in_body what is stored under a key, as of in_ts, or delete it where in_body is NULL, if in_condition holds: a
-- timestamp, -1 any, -2 absent, -3 exists, -4 none that could hold. Returns in_ts; or else, with nothing changed:
--     -1  there is no entity    -2  there is one    -3  it has another timestamp
--     -t  it has the timestamp t, which is in_ts or later: try again with a later one
DECLARE
    v_found bigint;
BEGIN
    IF in_condition = -2 THEN
        INSERT INTO rowkey.entity (seg, pk, rk, ts, body) VALUES (in_seg, in_pk, in_rk, in_ts, in_body)
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            RETURN in_ts;
        END IF;
    ELSIF in_condition = -4 THEN
        NULL;
    ELSIF in_body IS NULL THEN
        DELETE FROM rowkey.entity
        WHERE seg = in_seg AND pk = in_pk AND rk = in_rk AND ts < in_ts AND (in_condition < 0 OR ts = in_condition);
        IF FOUND THEN
            RETURN in_ts;
        END IF;
    ELSIF in_condition = -1 THEN
        INSERT INTO rowkey.entity AS e (seg, pk, rk, ts, body) VALUES (in_seg, in_pk, in_rk, in_ts, in_body)
        ON CONFLICT (seg, pk, rk) DO UPDATE SET ts = EXCLUDED.ts, body = EXCLUDED.body WHERE e.ts < EXCLUDED.ts;
        IF FOUND THEN
            RETURN in_ts;
        END IF;
    ELSE
        UPDATE rowkey.entity SET ts = in_ts, body = in_body
        WHERE seg = in_seg AND pk = in_pk AND rk = in_rk AND ts < in_ts AND (in_condition < 0 OR ts = in_condition);
        IF FOUND THEN
            RETURN in_ts;
        END IF;
    END IF;
    SELECT ts INTO v_found FROM rowkey.entity WHERE seg = in_seg AND pk = in_pk AND rk = in_rk;
    IF NOT FOUND THEN
        RETURN CASE WHEN in_condition IN (-1, -2) THEN -in_ts ELSE -1 END;  -- deleted since the look before: once more
    END IF;
    RETURN CASE
        WHEN in_condition IN (-2, -4) THEN -2
        WHEN in_condition >= 0 AND v_found <> in_condition THEN -3
        ELSE -v_found
    END;
END
$body$;

CREATE FUNCTION rowkey.write(
    in_seg bigint, in_pk bytea, in_rks bytea[], in_conditions bigint[], in_heads bytea[], in_tails bytea[], in_ts bigint
) RETURNS bigint LANGUAGE plpgsql AS $body$
-- One entity group transaction, all or nothing; returns its timestamp. What is stored of entity n of the partition is
--     {"odata.etag":"W/\\"datetime'TIME in_heads[n] TIME in_tails[n]
-- with the timestamp, with %3A for its colons in the first place; where in_heads[n] is NULL it is deleted. Conditions
-- are those of write_one. Row keys ascend, so that transactions which meet wait for each other in the same order.
--   RK001  conditions do not hold; the message has pairs of a number and what write_one says of it
--   RK002  the segment is gone
--   RK003  an entity has the timestamp in the message already, or a later one: call again with one after it
DECLARE
    v_ts        bigint := rowkey.choose_ticks(in_ts);
    v_time      text   := rowkey.format_ticks(v_ts);
    v_start     bytea  := convert_to('{"odata.etag":"W/\\"datetime''' || replace(v_time, ':', '%3A'), 'UTF8');
    v_middle    bytea  := convert_to(v_time, 'UTF8');
    v_rk        bytea;
    v_condition bigint;
    v_body      bytea;
    v_verdict   bigint;
    v_latest    bigint := 0;
    v_failures  text   := '';
BEGIN
    PERFORM FROM rowkey.segment WHERE seg = in_seg AND is_live;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'RK002', MESSAGE = 'segment ' || in_seg || ' is gone';
    END IF;
    FOR n IN 1 .. cardinality(in_rks) LOOP
        v_rk := in_rks[n];
        v_condition := in_conditions[n];
        v_body := v_start || in_heads[n] || v_middle || in_tails[n];
        v_verdict := rowkey.write_one(in_seg, in_pk, v_rk, v_condition, v_body, v_ts);
        IF v_verdict < -3 THEN
            v_latest := least(v_latest, v_verdict);
        ELSIF v_verdict < 0 THEN
            v_failures := v_failures || n || ' ' || v_verdict || ' ';
        END IF;
    END LOOP;
    IF v_failures <> '' THEN
        RAISE EXCEPTION USING ERRCODE = 'RK001', MESSAGE = v_failures;
    ELSIF v_latest < 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'RK003', MESSAGE = (-v_latest)::text;
    END IF;
    RETURN v_ts;
END
$body$;

CREATE FUNCTION rowkey.write_alike(
    in_seg bigint, in_pk bytea, in_rks bytea[], in_condition bigint, in_heads bytea[], in_tails bytea[], in_ts bigint
) RETURNS bigint LANGUAGE plpgsql AS $body$
-- As `write`, where nothing is deleted and all conditions are -1, or all are -2: one statement for all entities. Raises
-- nothing but RK002; where `write` would raise something else it returns NULL, with nothing changed. Not for Citus.
DECLARE
    v_ts     bigint := rowkey.choose_ticks(in_ts);
    v_time   text   := rowkey.format_ticks(v_ts);
    v_start  bytea  := convert_to('{"odata.etag":"W/\\"datetime''' || replace(v_time, ':', '%3A'), 'UTF8');
    v_middle bytea  := convert_to(v_time, 'UTF8');
    v_count  integer;
BEGIN
    PERFORM FROM rowkey.segment WHERE seg = in_seg AND is_live;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'RK002', MESSAGE = 'segment ' || in_seg || ' is gone';
    END IF;
    BEGIN
        IF in_condition = -2 THEN
            INSERT INTO rowkey.entity (seg, pk, rk, ts, body)
            SELECT in_seg, in_pk, u.rk, v_ts, v_start || u.head || v_middle || u.tail
            FROM unnest(in_rks, in_heads, in_tails) AS u (rk, head, tail)
            ON CONFLICT DO NOTHING;
        ELSE
            INSERT INTO rowkey.entity AS e (seg, pk, rk, ts, body)
            SELECT in_seg, in_pk, u.rk, v_ts, v_start || u.head || v_middle || u.tail
            FROM unnest(in_rks, in_heads, in_tails) AS u (rk, head, tail)
            ON CONFLICT (seg, pk, rk) DO UPDATE SET ts = EXCLUDED.ts, body = EXCLUDED.body WHERE e.ts < EXCLUDED.ts;
        END IF;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        IF v_count < cardinality(in_rks) THEN
            RAISE EXCEPTION USING ERRCODE = 'RK003';
        END IF;
    EXCEPTION WHEN SQLSTATE 'RK003' THEN
        RETURN NULL;
    END;
    RETURN v_ts;
END
$body$;

CREATE FUNCTION rowkey.write_each(
    in_seg bigint, in_pks bytea[], in_rks bytea[], in_conditions bigint[], in_heads bytea[], in_tails bytea[],
    in_ts bigint
) RETURNS bigint[] LANGUAGE plpgsql AS $body$
-- Several writes of different entities of one segment, each for itself, as `write` would do them: what write_one says
-- of each. They share a commit, and one that fails has changed nothing. Keys ascend. NULL where the segment is gone.
DECLARE
    v_ts        bigint := rowkey.choose_ticks(in_ts);
    v_time      text   := rowkey.format_ticks(v_ts);
    v_start     bytea  := convert_to('{"odata.etag":"W/\\"datetime''' || replace(v_time, ':', '%3A'), 'UTF8');
    v_middle    bytea  := convert_to(v_time, 'UTF8');
    v_pk        bytea;
    v_rk        bytea;
    v_condition bigint;
    v_body      bytea;
    v_verdicts  bigint[] := '{}';
BEGIN
    PERFORM FROM rowkey.segment WHERE seg = in_seg AND is_live;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    FOR n IN 1 .. cardinality(in_rks) LOOP
        v_pk := in_pks[n];
        v_rk := in_rks[n];
        v_condition := in_conditions[n];
        v_body := v_start || in_heads[n] || v_middle || in_tails[n];
        v_verdicts[n] := rowkey.write_one(in_seg, v_pk, v_rk, v_condition, v_body, v_ts);
    END LOOP;
    RETURN v_verdicts;
END
$body$;

CREATE FUNCTION rowkey.create_table(in_account text, in_name text, in_lower_name text)
RETURNS bigint[] LANGUAGE plpgsql AS $body$
-- The identity of a new table and when it was created, NULL where the account has one of that name.
DECLARE
    v_identity bigint := nextval('rowkey.identities');
    v_created  bigint := 116444736000000000 + (extract(epoch FROM clock_timestamp()) * 10000000)::bigint;
BEGIN
    INSERT INTO rowkey.table_of_account (account, lower_name, name, identity, created, segments, bounds)
    VALUES (in_account, in_lower_name, in_name, v_identity, v_created, ARRAY[v_identity], '{}')
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO rowkey.segment (seg) VALUES (v_identity);
    RETURN ARRAY[v_identity, v_created];
END
$body$;

CREATE FUNCTION rowkey.delete_table(in_account text, in_lower_name text)
RETURNS bigint LANGUAGE plpgsql AS $body$
-- The identity that the table had, NULL where there is none of that name. Its entities are removed later.
DECLARE
    v_identity bigint;
    v_segments bigint[];
    v_seg      bigint;
BEGIN
    DELETE FROM rowkey.table_of_account WHERE account = in_account AND lower_name = in_lower_name
    RETURNING identity, segments INTO v_identity, v_segments;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    FOREACH v_seg IN ARRAY v_segments LOOP
        UPDATE rowkey.segment SET is_live = false, removed_at = clock_timestamp() WHERE seg = v_seg;
    END LOOP;
    PERFORM pg_notify('rowkey', 'table ' || v_identity);
    RETURN v_identity;
END
$body$;

CREATE FUNCTION rowkey.set_properties(in_account text, in_sections text[], in_texts text[])
RETURNS void LANGUAGE plpgsql AS $body$
DECLARE
    v_section text;
    v_text    text;
BEGIN
    FOR n IN 1 .. cardinality(in_sections) LOOP
        v_section := in_sections[n];
        v_text := in_texts[n];
        INSERT INTO rowkey.service_properties AS p (account, section, text) VALUES (in_account, v_section, v_text)
        ON CONFLICT (account, section) DO UPDATE SET text = EXCLUDED.text;
    END LOOP;
    PERFORM pg_notify('rowkey', 'properties');
END
$body$;
"""

MIGRATIONS = {1: _TABLES + _FUNCTIONS}
"""By number: what makes this version of the schema of the one before, within one transaction."""

SET_VERSION = """
DELETE FROM rowkey.schema_version;
INSERT INTO rowkey.schema_version (version, is_sharded) VALUES ({version}, {is_sharded});
"""

SHARDING = {
    1: """
SELECT create_distributed_table('rowkey.table_of_account', 'account', colocate_with := 'none');
SELECT create_distributed_table('rowkey.service_properties', 'account', colocate_with := 'rowkey.table_of_account');
SELECT create_distributed_table('rowkey.segment', 'seg', colocate_with := 'none');
SELECT create_distributed_table('rowkey.entity', 'seg', colocate_with := 'rowkey.segment');
SELECT create_distributed_function('rowkey.choose_ticks(bigint)');
SELECT create_distributed_function('rowkey.format_ticks(bigint)');
SELECT create_distributed_function('rowkey.write_one(bigint,bytea,bytea,bigint,bytea,bigint)');
SELECT create_distributed_function(
    'rowkey.write(bigint,bytea,bytea[],bigint[],bytea[],bytea[],bigint)', 'in_seg', colocate_with := 'rowkey.entity'
);
SELECT create_distributed_function(
    'rowkey.write_each(bigint,bytea[],bytea[],bigint[],bytea[],bytea[],bigint)', 'in_seg',
    colocate_with := 'rowkey.entity'
);
""",
}
"""By number: what Citus is told of the tables and functions that the migration has made."""

# Plans do not follow statistics, which are wrong for a table that has just begun to grow: every statement here is a
# walk along an index, whatever its parameters, and planned once for each connection. A commit waits for the standbys as
# the database is set up to, but never for less than its own disk: an answered write is on disk.
SESSION = """
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET plan_cache_mode = force_generic_plan;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') IN ('off', 'local');
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
FROM rowkey.segment AS s LEFT JOIN rowkey.entity AS e ON e.seg = s.seg AND e.pk = $2 AND e.rk = $3
WHERE s.seg = $1 AND s.is_live
"""
GET_MANY = """
SELECT k.n, e.body
FROM rowkey.segment AS s
CROSS JOIN unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS k (pk, rk, n)
LEFT JOIN rowkey.entity AS e ON e.seg = s.seg AND e.pk = k.pk AND e.rk = k.rk
WHERE s.seg = $1 AND s.is_live
"""
GET_CURRENT = """
SELECT k.rk, e.ts, e.body
FROM rowkey.segment AS s
CROSS JOIN unnest($3::bytea[]) AS k (rk)
LEFT JOIN rowkey.entity AS e ON e.seg = s.seg AND e.pk = $2 AND e.rk = k.rk
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

_WITH_NEEDLES = "WHERE position($8::bytea IN body) > 0 AND position($9::bytea IN body) > 0"

# One row comes back: how many entities there are, the texts of those that have the pieces $8 and $9 joined by commas,
# and the key of the entity after them. The texts are made only where all of them are no larger than $7 together; the
# sizes are known without a look at the texts.
GATHER = f"""
WITH measured AS (
    SELECT count(*) AS entities, coalesce(sum(octet_length(body)), 0) AS size
    FROM ({_RANGES.format(columns="e.body", limit="$6")} LIMIT $6) AS page
)
SELECT m.entities, m.size, following.pk, following.rk,
    CASE WHEN m.size <= $7 THEN (
        SELECT string_agg(body, ',') FILTER ({_WITH_NEEDLES})
        FROM ({_RANGES.format(columns="e.body", limit="$6")} LIMIT $6) AS page
    ) END AS texts
FROM rowkey.segment AS s
CROSS JOIN measured AS m
LEFT JOIN LATERAL (
    {_RANGES.format(columns="e.pk, e.rk", limit="$6::bigint + 1")} OFFSET $6 LIMIT 1
) AS following ON m.entities = $6
WHERE s.seg = $1 AND s.is_live
"""

# The same for texts that are larger together: as many as there is room for, and one at least.
GATHER_FITTING = f"""
WITH numbered AS (
    SELECT pk, rk, body, row_number() OVER ordered AS n,
        sum(octet_length(body)) OVER ordered - octet_length(body) AS before
    FROM ({_RANGES.format(columns="e.pk, e.rk, e.body", limit="$6::bigint + 1")} LIMIT $6::bigint + 1) AS page
    WINDOW ordered AS (ORDER BY pk, rk ROWS UNBOUNDED PRECEDING)
), measured AS (
    SELECT count(*) AS entities FROM numbered WHERE n <= $6 AND (n = 1 OR before < $7)
)
SELECT m.entities, 0 AS size, following.pk, following.rk,
    (SELECT string_agg(body, ',' ORDER BY n) FILTER ({_WITH_NEEDLES}) FROM numbered WHERE n <= m.entities) AS texts
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
