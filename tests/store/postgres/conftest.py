"""Databases for the tests of the PostgreSQL store: one for each test file, and servers for those that harm them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.postgres import Postgres, empty

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[str]:
    """The URL of a database with the schema."""
    url = postgres.new_database()
    yield url
    postgres.sql(f"DROP DATABASE {url.rpartition('/')[2]} WITH (FORCE)")


@pytest.fixture
def empty_database(postgres: Postgres, database: str) -> str:
    """The same without tables and settings."""
    empty(postgres, database)
    return database


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A server that the test may stop and configure."""
    with Postgres.running() as server:
        yield server
