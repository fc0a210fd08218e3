"""Opening a database: it is waited for, and refused where its schema is missing or not ours; and making the schema."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import asyncpg
import pytest

from rowkey.store.postgres import schema, statements
from rowkey.store.postgres.schema import DatabaseError
from rowkey.store.postgres.store import PostgresStore
from tests.postgres import SUPERUSER

if TYPE_CHECKING:
    from tests.postgres import Postgres


async def test_a_database_that_is_not_there_yet_is_waited_for(
    own_postgres: Postgres, caplog: pytest.LogCaptureFixture
) -> None:
    url = await asyncio.to_thread(own_postgres.new_database)
    own_postgres.stop()
    with caplog.at_level(logging.WARNING):
        opening = asyncio.ensure_future(PostgresStore.open(url))
        await asyncio.sleep(0.7)
        assert not opening.done()
        await asyncio.to_thread(own_postgres.start)
        await (await opening).close()
    assert f"waiting for the database {url}" in caplog.text


async def test_a_database_without_a_schema_is_refused(postgres: Postgres) -> None:
    with pytest.raises(DatabaseError, match="rowkey db init"):
        await PostgresStore.open(postgres.url("postgres"))


async def test_a_database_that_does_not_exist_is_refused(postgres: Postgres) -> None:
    with pytest.raises(DatabaseError, match="does not exist"):
        await PostgresStore.open(postgres.url("missing"))


@pytest.mark.parametrize("version", [0, 99])
async def test_a_schema_of_another_version_is_refused(postgres: Postgres, version: int) -> None:
    url = await asyncio.to_thread(postgres.new_database)
    connection = await asyncpg.connect(url)
    await connection.execute(f"UPDATE rowkey.schema_version SET version = {version}")
    await connection.close()
    with pytest.raises(DatabaseError, match="db upgrade" if version == 0 else "newer Rowkey"):
        await PostgresStore.open(url)
    if version:
        with pytest.raises(DatabaseError, match="newer Rowkey"):
            await schema.upgrade(url)


async def test_what_to_do_is_said_with_what_is_wrong(postgres: Postgres) -> None:
    url = await asyncio.to_thread(postgres.new_database)
    postgres.sql("CREATE ROLE stranger LOGIN")
    stranger, empty = (url.replace(f"{SUPERUSER}@", "stranger@") for url in (url, postgres.url("postgres")))
    for job, words in (
        (schema.read_status(postgres.url("missing")), "does not exist. Make it with: createdb --owner USER NAME"),
        (schema.read_status(url.replace(f"{SUPERUSER}@", "missing@")), "does not exist. Make it with: createuser"),
        (schema.read_status(url.replace(str(postgres.port), "1")), "Start it, or look at host and port."),
        (schema.init(empty, is_sharded=False), "or: GRANT CREATE ON DATABASE NAME TO USER"),
        (schema.read_status(stranger), "permission denied for schema rowkey."),
        (schema.upgrade(stranger), "permission denied for schema rowkey."),
        (PostgresStore.open(stranger), "permission denied for schema rowkey."),
    ):
        with pytest.raises(DatabaseError) as caught:
            await job
        assert words in str(caught.value)
    postgres.sql("DROP ROLE stranger")


async def test_a_schema_is_made_once(postgres: Postgres) -> None:
    url = await asyncio.to_thread(postgres.new_database)
    with pytest.raises(DatabaseError, match="already"):
        await schema.init(url, is_sharded=False)
    assert (await schema.upgrade(url)).version == (await schema.read_status(url)).version


async def test_a_database_without_citus_is_not_spread(postgres: Postgres) -> None:
    """Nothing is made there."""
    await asyncio.to_thread(postgres.sql, "CREATE DATABASE unspread")
    with pytest.raises(DatabaseError, match=r"no extension citus.*citus_add_node"):
        await schema.init(postgres.url("unspread"), is_sharded=True)
    assert (await schema.read_status(postgres.url("unspread"))).version is None


@pytest.mark.parametrize(("setting", "commit"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")])
async def test_a_node_of_citus_keeps_what_the_coordinator_is_told(
    own_postgres: Postgres, setting: str, commit: str
) -> None:
    """Sessions there begin as our own do, for the one user who has none but a user's rights, in the one database."""
    own_postgres.sql("CREATE ROLE ordinary LOGIN")
    own_postgres.sql("CREATE DATABASE node OWNER ordinary")
    own_postgres.sql(f"ALTER SYSTEM SET synchronous_commit = '{setting}'")
    own_postgres.sql("SELECT pg_reload_conf()")
    url = own_postgres.url("node").replace(f"{SUPERUSER}@", "ordinary@")
    connection = await asyncpg.connect(url)
    await connection.execute(statements.SESSIONS_OF_NODE)
    await connection.close()
    await asyncio.to_thread(own_postgres.sql, "ALTER SYSTEM SET synchronous_commit = 'off'")
    await asyncio.to_thread(own_postgres.sql, "SELECT pg_reload_conf()")
    connection = await asyncpg.connect(url)
    for name, value in {**statements._PLANS, "synchronous_commit": commit}.items():
        assert await connection.fetchval("SELECT current_setting($1)", name) == value
    await connection.close()
    assert (await asyncio.to_thread(own_postgres.sql, "SHOW enable_seqscan", "node")).strip() == "on"
