"""Batches, through the clients of `atom_client.py`; also in their emulator mode, which posts them to the root."""

from __future__ import annotations

import os

import runner
from atom_client import TABLE, BatchRefused, TableService, insert, properties_of, service
from runner import contains, entity, equal, new_name, raised, run, step

# ---------------------------------------------------------------- batches


@step("Entity Group Transaction", "Atom", "Shared Key")
def a_batch_does_all_of_its_operations():
    partition = new_name()
    etag = insert(partition, "update", A=1)
    for row in ("merge", "delete", "replace"):
        insert(partition, row, A=1)
    service.begin_batch()
    service.insert_entity(TABLE, entity(partition, "insert", A=2, Text="Zoë <&>"))
    service.update_entity(TABLE, partition, "update", entity(partition, "update", B=2), if_match=etag)
    service.merge_entity(TABLE, partition, "merge", entity(partition, "merge", B=2))
    service.delete_entity(TABLE, partition, "delete")
    service.insert_or_replace_entity(TABLE, partition, "replace", entity(partition, "replace", B=2))
    service.insert_or_merge_entity(TABLE, partition, "new", entity(partition, "new", B=2))
    service.commit_batch()
    found = service.query_entities(TABLE, f"PartitionKey eq '{partition}'")
    equal(
        [properties_of(each) for each in found],
        [
            entity(partition, "insert", A=2, Text="Zoë <&>"),
            entity(partition, "merge", A=1, B=2),
            entity(partition, "new", B=2),
            entity(partition, "replace", B=2),
            entity(partition, "update", B=2),
        ],
    )


@step("Entity Group Transaction", "Atom", "Shared Key")
def a_failed_batch_leaves_nothing_behind():
    partition = new_name()
    insert(partition, "b", A=1)
    service.begin_batch()
    service.insert_entity(TABLE, entity(partition, "a"))
    service.insert_entity(TABLE, entity(partition, "b"))
    service.insert_entity(TABLE, entity(partition, "c"))
    error = raised(BatchRefused, service.commit_batch)
    equal(error.code, "EntityAlreadyExists")
    contains(str(error), "1:The specified entity already exists.")
    found = service.query_entities(TABLE, f"PartitionKey eq '{partition}'")
    equal([properties_of(each) for each in found], [entity(partition, "b", A=1)])


# ---------------------------------------------------------------- emulator mode

# The client's emulator mode puts the account into the path, but posts batches to the root.
os.environ["EMULATED"] = "true"
emulated = TableService(dev_host=runner.NETLOC)


@step("Query Entities", "Atom", "Shared Key")
def the_emulator_mode_of_the_client_is_served():
    table, partition = new_name(), new_name()
    equal(emulated.create_table(table, fail_on_exist=True), True)
    emulated.insert_entity(table, entity(partition, "a", Value=1))
    etag = emulated.get_entity(table, partition, "a").etag
    emulated.merge_entity(table, partition, "a", entity(partition, "a", More=2), if_match=etag)
    found = emulated.query_entities(table, "Value eq 1")
    equal([properties_of(each) for each in found], [entity(partition, "a", Value=1, More=2)])
    equal(emulated.delete_table(table, fail_not_exist=True), True)


@step("Entity Group Transaction", "Atom", "Shared Key")
def a_batch_at_the_root_finds_its_account():
    """The path of the batch names no account. Its operations do, and so does the signature."""
    partition = new_name()
    emulated.begin_batch()
    emulated.insert_entity(TABLE, entity(partition, "a", Value=1))
    emulated.insert_or_merge_entity(TABLE, partition, "b", entity(partition, "b", Value=2))
    emulated.commit_batch()
    found = emulated.query_entities(TABLE, f"PartitionKey eq '{partition}'")
    equal([properties_of(each) for each in found], [entity(partition, "a", Value=1), entity(partition, "b", Value=2)])


if __name__ == "__main__":
    run()
