"""Batches, through the clients of `json_client.py`; also with the account in the host."""

from __future__ import annotations

from json_client import TABLE, AzureBatchOperationError, TableBatch, in_host, of_partition, service
from runner import contains, entity, equal, new_name, raised, run, step


@step("Entity Group Transaction", "JSON", "Shared Key")
def a_batch_does_all_of_its_operations():
    partition = new_name("Zoë ")
    old = service.insert_entity(TABLE, entity(partition, "update", A=1))
    for row in ("merge", "delete", "replace"):
        service.insert_entity(TABLE, entity(partition, row, A=1))
    batch = TableBatch()
    batch.insert_entity(entity(partition, "insert", A=2, Text="Zoë <&>"))
    batch.update_entity(entity(partition, "update", B=2), if_match=old)
    batch.merge_entity(entity(partition, "merge", B=2))
    batch.delete_entity(partition, "delete")
    batch.insert_or_replace_entity(entity(partition, "replace", B=2))
    batch.insert_or_merge_entity(entity(partition, "new", B=2))
    etags = service.commit_batch(TABLE, batch)
    equal(
        of_partition(partition),
        [
            entity(partition, "insert", A=2, Text="Zoë <&>"),
            entity(partition, "merge", A=1, B=2),
            entity(partition, "new", B=2),
            entity(partition, "replace", B=2),
            entity(partition, "update", B=2),
        ],
    )
    written = ("insert", "update", "merge", None, "replace", "new")  # what is deleted has no etag
    equal(etags, [row and service.get_entity(TABLE, partition, row).etag for row in written])


@step("Entity Group Transaction", "JSON", "Shared Key")
def a_failed_batch_leaves_nothing_behind():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, "b", A=1))
    batch = TableBatch()
    for row in "abc":
        batch.insert_entity(entity(partition, row))
    error = raised(AzureBatchOperationError, service.commit_batch, TABLE, batch)
    equal((error.status_code, error.code), (409, "EntityAlreadyExists"))
    contains(str(error), "1:The specified entity already exists.")
    equal(of_partition(partition), [entity(partition, "b", A=1)])


@step("Entity Group Transaction", "JSON", "Shared Key")
def a_batch_with_an_old_etag_leaves_nothing_behind():
    partition = new_name()
    old = service.insert_entity(TABLE, entity(partition, "b", A=1))
    service.merge_entity(TABLE, entity(partition, "b", A=2))
    batch = TableBatch()
    batch.insert_entity(entity(partition, "a"))
    batch.update_entity(entity(partition, "b", A=3), if_match=old)
    error = raised(AzureBatchOperationError, service.commit_batch, TABLE, batch)
    equal((error.status_code, error.code), (412, "UpdateConditionNotSatisfied"))
    equal(of_partition(partition), [entity(partition, "b", A=2)])


@step("Entity Group Transaction", "JSON", "Shared Key")
def a_batch_of_a_hundred_is_done():
    partition = new_name()
    with service.batch(TABLE) as batch:
        for number in range(100):
            batch.insert_entity(entity(partition, f"{number:03}", Number=number))
    equal([each["Number"] for each in of_partition(partition)], list(range(100)))


@step("Entity Group Transaction", "JSON", "Shared Key")
def the_account_may_be_in_the_host():
    partition = new_name()
    with in_host.batch(TABLE) as batch:
        batch.insert_entity(entity(partition, "a", Value=1))
        batch.insert_entity(entity(partition, "b", Value=2))
    found = in_host.query_entities(TABLE, f"PartitionKey eq '{partition}'")
    equal([each["Value"] for each in found], [1, 2])
    in_host.delete_entity(TABLE, partition, "a")
    equal(of_partition(partition), [entity(partition, "b", Value=2)])


if __name__ == "__main__":
    run()
