"""A PostgreSQL for the tests of its store: one server for all, one database for each test file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from rowkey.store.postgres.schema import init
from tests.postgres import Postgres, empty

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A running server."""
    server = Postgres()
    try:
        server.init()
        server.start()
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[str]:
    """The URL of a database with the schema."""
    name = f"t{uuid4().hex}"
    postgres.sql(f"CREATE DATABASE {name}")
    asyncio.run(init(postgres.url(name), is_sharded=False))
    yield postgres.url(name)
    postgres.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def empty_database(postgres: Postgres, database: str) -> str:
    """The same without tables and settings."""
    empty(postgres, database)
    return database
