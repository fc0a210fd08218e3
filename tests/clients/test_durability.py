"""What a client was told is done stays done, however the server ends; through the azure-data-tables package."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from azure.core.exceptions import AzureError
from azure.data.tables import TableClient, TableServiceClient

if TYPE_CHECKING:
    from tests.conftest import ServerProcess

KILLS = 3
WRITERS = 4
SECONDS_BEFORE_KILL = 0.5


def test_no_answered_write_is_lost_when_the_server_is_killed(own_server: ServerProcess) -> None:
    """Writers insert entities, one at a time and in transactions, and keep a ledger of what was answered."""
    connection_string = own_server.server.connection_string
    with TableServiceClient.from_connection_string(connection_string) as service:
        service.create_table("Ledger")
    answered: list[tuple[str, str]] = []

    for round_number in range(KILLS):
        # No retries: a write that was not answered may have been done, so only the answered ones can be counted on.
        writers = [
            threading.Thread(target=write_until_refused, args=(connection_string, f"{round_number}-{writer}", answered))
            for writer in range(WRITERS)
        ]
        for writer in writers:
            writer.start()
        time.sleep(SECONDS_BEFORE_KILL)
        own_server.kill()
        for writer in writers:
            writer.join()
        own_server.start()

        with TableClient.from_connection_string(connection_string, "Ledger") as table:
            stored = {(entity["PartitionKey"], entity["RowKey"]) for entity in table.list_entities()}
        assert set(answered) <= stored
        # What was not answered is there whole or not at all: transactions insert pairs.
        assert {(partition, pair_of(row)) for partition, row in stored if "." in row} <= stored
    assert len(answered) > KILLS * WRITERS


def write_until_refused(connection_string: str, partition: str, answered: list[tuple[str, str]]) -> None:
    """Insert entities, alone and in pairs, until the server is gone; `answered` gets the keys of those it confirmed."""
    with TableClient.from_connection_string(connection_string, "Ledger", retry_total=0) as table:
        for number in range(1_000_000):
            row_keys = [f"{number:06}"] if number % 3 else [f"{number:06}.a", f"{number:06}.b"]
            try:
                insert(table, partition, row_keys)
            except AzureError:
                return
            answered.extend((partition, row) for row in row_keys)


def insert(table: TableClient, partition: str, row_keys: list[str]) -> None:
    """One entity with Insert Entity, several in a transaction."""
    entities = [{"PartitionKey": partition, "RowKey": row_key} for row_key in row_keys]
    if len(entities) == 1:
        table.create_entity(entities[0])
    else:
        table.submit_transaction([("create", entity) for entity in entities])


def pair_of(row_key: str) -> str:
    """The other entity of a transaction."""
    return row_key[:-1] + ("b" if row_key.endswith("a") else "a")


def test_everything_is_there_after_a_restart(own_server: ServerProcess) -> None:
    """Tables, entities, etags; and a deleted table stays deleted."""
    with TableServiceClient.from_connection_string(own_server.server.connection_string) as service:
        kept = service.create_table("Kept")
        service.create_table("Gone").create_entity({"PartitionKey": "p", "RowKey": "r"})
        etag = kept.create_entity({"PartitionKey": "p", "RowKey": "r", "Value": "啊"})["etag"]
        service.delete_table("Gone")

        own_server.stop()
        own_server.start()

        assert [table.name for table in service.list_tables()] == ["Kept"]
        entity = kept.get_entity("p", "r")
        assert (entity["Value"], entity.metadata["etag"]) == ("啊", etag)
        assert list(service.create_table("Gone").list_entities()) == []
