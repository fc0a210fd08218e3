"""What the tests of the clients share: one table, and keys that no other test has."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from azure.data.tables import TableServiceClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from azure.data.tables import TableClient

    from tests.conftest import Server


@pytest.fixture(scope="session")
def service(server: Server) -> Iterator[TableServiceClient]:
    """The account, through the SDK; without retries or long waits, so that a failure is seen at once."""
    with TableServiceClient.from_connection_string(server.connection_string, retry_total=0, read_timeout=30) as service:
        yield service


@pytest.fixture(scope="session")
def table(service: TableServiceClient) -> Iterator[TableClient]:
    """A table for everybody."""
    table = service.create_table(new_table_name())
    yield table
    table.delete_table()


@pytest.fixture
def partition() -> str:
    """A partition key that no other test has."""
    return uuid4().hex


@pytest.fixture
def table_name() -> str:
    """A table name that no other test has."""
    return new_table_name()


def new_table_name() -> str:
    """A random name, which begins with a letter as the service asks."""
    return f"t{uuid4().hex}"
