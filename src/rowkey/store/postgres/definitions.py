"""The schema of the PostgreSQL store: its tables and functions, by version (`docs/storage-format-postgres.md`).

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
-- A moment from 1970 on, with seven digits of the second's fraction.
DECLARE
    v_ticks bigint := in_ts - 116444736000000000;
BEGIN
    RETURN to_char(timestamp 'epoch' + v_ticks / 10000000 * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.')
        || lpad((v_ticks % 10000000)::text, 7, '0') || 'Z';
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
    PERFORM 1 FROM rowkey.segment WHERE seg = in_seg AND is_live;
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
    PERFORM 1 FROM rowkey.segment WHERE seg = in_seg AND is_live;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'RK002', MESSAGE = 'segment ' || in_seg || ' is gone';
    END IF;
    BEGIN
        IF in_condition = -2 THEN
            INSERT INTO rowkey.entity (seg, pk, rk, ts, body)
            SELECT in_seg, in_pk, u.rk, v_ts, v_start || u.head || v_middle || u.tail
            FROM unnest(in_rks, in_heads, in_tails) AS u (rk, head, tail);
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
    EXCEPTION WHEN unique_violation OR SQLSTATE 'RK003' THEN
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
    PERFORM 1 FROM rowkey.segment WHERE seg = in_seg AND is_live;
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
    v_now      timestamptz := clock_timestamp();  -- Citus takes no such function within an UPDATE
BEGIN
    DELETE FROM rowkey.table_of_account WHERE account = in_account AND lower_name = in_lower_name
    RETURNING identity, segments INTO v_identity, v_segments;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    FOREACH v_seg IN ARRAY v_segments LOOP
        UPDATE rowkey.segment SET is_live = false, removed_at = v_now WHERE seg = v_seg;
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

HAS_CITUS = "SELECT to_regclass('pg_catalog.pg_dist_node') IS NOT NULL"
COUNT_NODES = "SELECT count(*) FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND shouldhaveshards"
"""Those that Citus puts data on. Where it knows of none at all, it puts everything on the coordinator, for good."""
ON_WORKERS = "SELECT nodename, nodeport, result FROM run_command_on_workers($1) WHERE NOT success"

# Service properties stay on the coordinator, where the functions for them run: all of them are read every few seconds
# by every server. Segments are spread over 128 shards: on 20 nodes each then has 6 or 7, while of the usual 32 some
# have twice as many as others; and each shard can be moved by itself.
SHARDING = {
    1: """
SET LOCAL citus.multi_shard_modify_mode = 'sequential';
SELECT create_distributed_table('rowkey.table_of_account', 'account', colocate_with := 'none');
SELECT create_distributed_table('rowkey.segment', 'seg', colocate_with := 'none', shard_count := 128);
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
