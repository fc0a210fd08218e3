"""A database laid open for copying, when it does not do what it should: what `rowkey db copy` then says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.store.postgres.archive import DatabaseArchive
from rowkey.store.transfer import ArchivedTable, TransferError

if TYPE_CHECKING:
    from tests.postgres import Postgres

TABLE = ArchivedTable("abc", "Things", 1, "", ())


async def test_a_connection_that_is_lost(postgres: Postgres, database: str) -> None:
    archive = await DatabaseArchive.open(database.replace("rowkey@", "rowkey:secret@"))
    name = database.rpartition("/")[2]
    postgres.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    for _ in range(2):
        with pytest.raises(
            TransferError, match=r"rowkey@127.*the connection was lost\. Start the same command"
        ) as caught:
            await archive.add_table(TABLE)
        assert "secret" not in str(caught.value)
    await archive.close()


async def test_a_user_without_rights(postgres: Postgres, database: str) -> None:
    name = database.rpartition("/")[2]
    postgres.sql("CREATE ROLE guest LOGIN")
    grants = "GRANT USAGE ON SCHEMA rowkey TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA rowkey TO guest"
    postgres.sql(grants, name)
    archive = await DatabaseArchive.open(database.replace("rowkey@", "guest@"))
    assert await archive.read_tables() == []
    with pytest.raises(TransferError, match=r"permission denied.*\. When that is mended start the same command"):
        await archive.add_table(TABLE)
    await archive.close()
    postgres.sql("DROP OWNED BY guest; DROP ROLE guest", name)
