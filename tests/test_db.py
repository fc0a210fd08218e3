"""`rowkey db` and `rowkey serve --store` as processes: what they print, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from azure.core import MatchConditions
from azure.data.tables import TableServiceClient

from tests.conftest import ServerProcess
from tests.postgres import Postgres, free_port

if TYPE_CHECKING:
    from pathlib import Path

SECONDS_MAX = 30


def rowkey(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    command = [sys.executable, "-m", "rowkey", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS_MAX)


def test_a_schema_is_made_and_looked_at(postgres: Postgres) -> None:
    postgres.sql("CREATE DATABASE made")
    url = postgres.url("made")
    assert "no schema of Rowkey's" in rowkey("db", "status", url).stdout
    for action in ("init", "status", "upgrade"):
        run = rowkey("db", action, url)
        assert (run.returncode, run.stderr) == (0, "")
        assert "schema version 1, the one that this version of Rowkey serves" in run.stdout
    again = rowkey("db", "init", url)
    assert again.returncode == 1
    assert "has a schema already" in again.stderr


def test_what_cannot_be_done_is_explained_in_one_line(postgres: Postgres, tmp_path: Path) -> None:
    database = postgres.new_database()
    for arguments, code, words in [
        (("db", "status", postgres.url("missing")), 1, "does not exist. Make it with: createdb"),
        (("db", "init", f"postgresql://rowkey:secret@127.0.0.1:{free_port()}/rowkey"), 1, "Start it, or look at host"),
        (("db", "status", "mysql://rowkey"), 2, "not the URL of a database"),
        (("db", "init", "postgresql://rowkey:sec/secret@127.0.0.1/rowkey"), 2, "In a password write"),
        (("db", "copy", str(tmp_path), "postgresql://rowkey@127.0.0.1:secret/rowkey"), 2, "a port that is no number"),
        (("db", "copy", str(tmp_path / "missing"), database), 1, "is not a folder"),
        (("db", "copy", "a" * 300, database), 1, "File name too long"),
        (("db", "copy", str(tmp_path), database), 1, "There is no rowkey.db in"),
        (("db", "copy", str(tmp_path), f"{tmp_path}/."), 2, "cannot be copied into itself"),
        (("serve", "--store", postgres.url("missing")), 1, "does not exist"),
        (("serve", "--store", postgres.url("postgres")), 1, "rowkey db init"),
        (("serve", "--store", "rowkey-data"), 2, "not the URL of a database"),
        (("serve", "--store", postgres.url("postgres"), "--memory"), 2, "exclude each other"),
        (("serve", "--store", postgres.url("postgres"), "--workers", "2"), 2, "exclude each other"),
    ]:
        run = rowkey(*arguments)
        assert run.returncode == code, arguments
        assert words in run.stderr
        assert run.stderr.count("\n") == 1
        assert "secret" not in run.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [("db", "status"), ("serve", "--store")])
def test_without_the_package_for_databases_it_is_said_where_to_get_it(arguments: tuple[str, ...]) -> None:
    program = "import sys; sys.modules['asyncpg'] = None; from rowkey.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, *arguments, "postgresql://rowkey@127.0.0.1/rowkey"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
    assert run.returncode == 1
    assert "needs asyncpg, which is not installed: in a checkout `make run` installs it" in run.stderr


def test_a_server_that_waits_for_its_database_can_be_stopped() -> None:
    url = f"postgresql://rowkey:secret@127.0.0.1:{free_port()}/rowkey"
    command = [sys.executable, "-m", "rowkey", "serve", "--port", "0", "--store", url, "--log-format", "text"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "waiting for the database postgresql://rowkey@127.0.0.1" in line
        assert "secret" not in line
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(SECONDS_MAX) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_folder_is_served_from_a_database_after_a_copy(postgres: Postgres, tmp_path: Path) -> None:
    """Clients go on with the ETags that they have."""
    process = ServerProcess(tmp_path)
    process.start()
    with TableServiceClient.from_connection_string(process.server.connection_string) as service:
        table = service.create_table("Things")
        etag = table.create_entity({"PartitionKey": "p", "RowKey": "r", "Number": 1})["etag"]
        table.submit_transaction([("upsert", {"PartitionKey": "q", "RowKey": f"{n}"}) for n in range(100)])
    process.stop()

    url = postgres.new_database()
    run = rowkey("db", "copy", str(tmp_path / "data"), url)
    assert (run.returncode, run.stderr) == (0, "")
    assert "devstoreaccount1/Things: 101 entities, SHA-256 " in run.stdout
    assert "1 tables with 101 entities are the same in both." in run.stdout

    process = ServerProcess(tmp_path, "--store", url)
    process.start()
    with TableServiceClient.from_connection_string(process.server.connection_string) as service:
        table = service.get_table_client("Things")
        entity = table.get_entity("p", "r")
        assert (entity["Number"], entity.metadata["etag"]) == (1, etag)
        table.update_entity({**entity, "Number": 2}, etag=etag, match_condition=MatchConditions.IfNotModified)
        assert len(list(table.list_entities())) == 101
    process.stop()
