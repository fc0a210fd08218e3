"""Tables and entities, through the clients that speak Atom only: azure 0.8.4 and 0.11.1, azure-storage 0.20.3.

Their `TableService` has nearly the same methods. It writes keys into URLs as they are, so that a caller doubles quotes.
"""

from __future__ import annotations

import os
from datetime import datetime

import runner
from runner import contains, equal, new_name, raised, run, step

try:  # azure-storage
    from azure.common import AzureConflictHttpError as Conflict
    from azure.common import AzureHttpError as Refused
    from azure.common import AzureMissingResourceHttpError as Missing
    from azure.storage import AzureBatchOperationError as BatchRefused
    from azure.storage.table import EntityProperty, TableService
except ImportError:  # azure
    from azure import WindowsAzureBatchOperationError as BatchRefused
    from azure import WindowsAzureConflictError as Conflict
    from azure import WindowsAzureError as Refused
    from azure import WindowsAzureMissingResourceError as Missing
    from azure.storage import EntityProperty, TableService

service = TableService(runner.ACCOUNT, runner.KEY, runner.PROTOCOL, runner.HOST_BASE)

# The client's emulator mode puts the account into the path, but posts batches to the root.
os.environ["EMULATED"] = "true"
emulated = TableService(dev_host=runner.NETLOC)

TABLE = new_name()
service.create_table(TABLE, fail_on_exist=True)


def entity(partition, row="r", **properties):
    """An entity as a dictionary."""
    return {"PartitionKey": partition, "RowKey": row, **properties}


def insert(partition, row="r", **properties):
    """Insert an entity, and return the etag that the answer told."""
    return service.insert_entity(TABLE, entity(partition, row, **properties)).etag


def properties_of(found):
    """What an entity has besides what the server adds to it."""
    return {name: value for name, value in vars(found).items() if name not in ("etag", "Timestamp")}


def stored(partition, row="r"):
    """The properties of an entity that is there."""
    return properties_of(service.get_entity(TABLE, partition, row))


def gone(partition, row="r"):
    """Fail unless there is no such entity."""
    raised(Missing, service.get_entity, TABLE, partition, row)


def rows(found):
    """The row keys of entities."""
    return [each.RowKey for each in found]


# ---------------------------------------------------------------- tables


@step("Create Table", "Atom", "Shared Key")
def a_table_is_created():
    name = new_name()
    equal(service.create_table(name, fail_on_exist=True), True)
    equal([table.name for table in service.query_tables(name)], [name])


@step("Create Table", "Atom", "Shared Key")
def a_table_that_exists_is_a_conflict():
    raised(Conflict, service.create_table, TABLE, fail_on_exist=True)
    equal(service.create_table(TABLE), False)


@step("Create Table", "Atom", "Shared Key")
def a_table_name_against_the_rules_is_refused():
    contains(str(raised(Refused, service.create_table, "no-dash", fail_on_exist=True)), "InvalidResourceName")


@step("Query Tables", "Atom", "Shared Key")
def tables_come_in_pages():
    prefix = new_name()
    names = [prefix + suffix for suffix in "abc"]
    for name in names:
        service.create_table(name, fail_on_exist=True)
    found, token = [], None
    while True:
        page = service.query_tables(top=2, next_table_name=token)
        equal(len(page) <= 2, True)
        found += [table.name for table in page]
        if not hasattr(page, "x_ms_continuation"):
            break
        token = page.x_ms_continuation["NextTableName"]
    equal([name for name in found if name.startswith(prefix)], names)


@step("Query Tables", "Atom", "Shared Key")
def a_missing_table_is_not_found():
    raised(Missing, service.query_tables, new_name())


@step("Delete Table", "Atom", "Shared Key")
def a_deleted_table_is_gone():
    name = new_name()
    service.create_table(name, fail_on_exist=True)
    equal(service.delete_table(name, fail_not_exist=True), True)
    raised(Missing, service.query_tables, name)


@step("Delete Table", "Atom", "Shared Key")
def deleting_a_missing_table_is_refused():
    raised(Missing, service.delete_table, new_name(), fail_not_exist=True)
    equal(service.delete_table(new_name()), False)


# ---------------------------------------------------------------- reading entities


@step("Insert Entity", "Atom", "Shared Key")
def an_inserted_entity_is_answered_whole():
    partition = new_name()
    answer = service.insert_entity(TABLE, entity(partition, Name="Ada", Age=36))
    equal(properties_of(answer), entity(partition, Name="Ada", Age=36))
    contains(answer.etag, "W/\"datetime'")


@step("Insert Entity", "Atom", "Shared Key")
def inserting_an_entity_again_is_a_conflict():
    partition = new_name()
    insert(partition, Value=1)
    raised(Conflict, service.insert_entity, TABLE, entity(partition, Value=2))
    equal(stored(partition), entity(partition, Value=1))


@step("Insert Entity", "Atom", "Shared Key")
def inserting_into_a_missing_table_is_not_found():
    raised(Missing, service.insert_entity, new_name(), entity("p"))


@step("Insert Entity", "Atom", "Shared Key")
def all_types_come_back_as_they_were():
    partition = new_name()
    values = {
        "Text": "  two spaces, <&> and\nlines  ",
        "Empty": "",
        "Yes": True,
        "No": False,
        "Small": -(2**31),
        "Large": 2**40,
        "Half": 2.5,
        "Whole": 5.0,
        "Huge": 1e300,
    }
    special = {
        "Long": EntityProperty("Edm.Int64", 5),
        "Guid": EntityProperty("Edm.Guid", "c9da6455-213d-42c9-9a79-3e9149a57833"),
        "Binary": EntityProperty("Edm.Binary", b"\x00\xff\x10"),
        "Moment": datetime(2008, 7, 10, 12, 30, 5),
    }
    insert(partition, **values, **special, Nothing=None)
    found = stored(partition)
    equal({name: found[name] for name in values}, values)
    for name, value in values.items():
        equal(found[name], value)  # types too: 5.0 is no 5, and True no 1
    equal(found["Long"], 5)
    equal((found["Guid"].type, found["Guid"].value), ("Edm.Guid", "c9da6455-213d-42c9-9a79-3e9149a57833"))
    equal((found["Binary"].type, found["Binary"].value), ("Edm.Binary", b"\x00\xff\x10"))
    equal(found["Moment"].replace(tzinfo=None), datetime(2008, 7, 10, 12, 30, 5))
    equal(sorted(found), sorted(["PartitionKey", "RowKey", *values, *special]))


@step("Get Entity", "Atom", "Shared Key")
def an_entity_comes_back_whole():
    partition = new_name()
    etag = insert(partition, Name="Ada")
    found = service.get_entity(TABLE, partition, "r")
    equal(properties_of(found), entity(partition, Name="Ada"))
    equal(found.etag, etag)


@step("Get Entity", "Atom", "Shared Key")
def a_missing_entity_is_not_found():
    gone(new_name())


@step("Get Entity", "Atom", "Shared Key")
def keys_with_unicode_and_quotes_are_found():
    partition, row = new_name("Zoë's 日本 \U0001f600 "), "100% of a+b & c=d;e@f"
    insert(partition, row, Value=1)
    equal(stored(partition.replace("'", "''"), row), entity(partition, row, Value=1))


@step("Get Entity", "Atom", "Shared Key")
def selected_properties_come_alone():
    partition = new_name()
    insert(partition, A=1, B=2, C=3)
    equal(properties_of(service.get_entity(TABLE, partition, "r", "A,C,Missing")), {"A": 1, "C": 3})


@step("Query Entities", "Atom", "Shared Key")
def entities_come_in_pages():
    partition = new_name()
    for row in "abcde":
        insert(partition, row)
    pages, token = [], {}
    while token is not None:
        page = service.query_entities(TABLE, f"PartitionKey eq '{partition}'", top=2, **token)
        pages.append(rows(page))
        more = getattr(page, "x_ms_continuation", None)
        token = more and {
            "next_partition_key": more["NextPartitionKey"],
            "next_row_key": more["NextRowKey"],
        }
    equal(pages, [["a", "b"], ["c", "d"], ["e"]])


@step("Query Entities", "Atom", "Shared Key")
def a_filter_chooses():
    partition = new_name("Zoë's ")
    moments = {"a": datetime(2001, 1, 1), "b": datetime(2002, 2, 2), "c": datetime(2003, 3, 3)}
    for number, (row, moment) in enumerate(moments.items()):
        insert(partition, row, Number=number, Moment=moment, Even=number % 2 == 0)
    within = "PartitionKey eq '" + partition.replace("'", "''") + "' and "
    equal(rows(service.query_entities(TABLE, within + "Number ge 1")), ["b", "c"])
    equal(rows(service.query_entities(TABLE, within + "Moment lt datetime'2002-02-02T00:00:00Z'")), ["a"])
    equal(rows(service.query_entities(TABLE, within + "(Even eq true and not (RowKey eq 'a'))")), ["c"])


@step("Query Entities", "Atom", "Shared Key")
def a_query_selects_properties():
    partition = new_name()
    insert(partition, "a", A=1, B=2)
    insert(partition, "b", B=3)
    found = service.query_entities(TABLE, f"PartitionKey eq '{partition}'", select="RowKey,A")
    equal([properties_of(each) for each in found], [{"RowKey": "a", "A": 1}, {"RowKey": "b"}])


@step("Query Entities", "Atom", "Shared Key")
def a_filter_that_cannot_be_read_is_refused():
    contains(str(raised(Refused, service.query_entities, TABLE, "Number ge")), "InvalidInput")


# ---------------------------------------------------------------- writing entities


@step("Update Entity", "Atom", "Shared Key")
def an_update_replaces_all_properties():
    partition = new_name()
    old = insert(partition, A=1, B=2)
    answer = service.update_entity(TABLE, partition, "r", entity(partition, B=3), if_match=old)
    found = service.get_entity(TABLE, partition, "r")
    equal(properties_of(found), entity(partition, B=3))
    equal(answer, {"etag": found.etag})
    equal(found.etag != old, True)


@step("Update Entity", "Atom", "Shared Key")
def an_update_with_an_old_etag_is_refused():
    partition = new_name()
    old = insert(partition, A=1)
    service.update_entity(TABLE, partition, "r", entity(partition, A=2))
    error = raised(Refused, service.update_entity, TABLE, partition, "r", entity(partition, A=3), if_match=old)
    contains(str(error), "UpdateConditionNotSatisfied")
    equal(stored(partition), entity(partition, A=2))


@step("Update Entity", "Atom", "Shared Key")
def an_update_of_a_missing_entity_is_not_found():
    partition = new_name()
    raised(Missing, service.update_entity, TABLE, partition, "r", entity(partition, A=1))


@step("Merge Entity", "Atom", "Shared Key")
def a_merge_keeps_other_properties():
    partition = new_name()
    old = insert(partition, A=1, B=2)
    answer = service.merge_entity(TABLE, partition, "r", entity(partition, B=3), if_match=old)
    found = service.get_entity(TABLE, partition, "r")
    equal(properties_of(found), entity(partition, A=1, B=3))
    equal(answer, {"etag": found.etag})


@step("Merge Entity", "Atom", "Shared Key")
def a_merge_with_an_old_etag_is_refused():
    partition = new_name()
    old = insert(partition, A=1)
    service.merge_entity(TABLE, partition, "r", entity(partition, A=2))
    error = raised(Refused, service.merge_entity, TABLE, partition, "r", entity(partition, A=3), if_match=old)
    contains(str(error), "UpdateConditionNotSatisfied")
    equal(stored(partition), entity(partition, A=2))


@step("Merge Entity", "Atom", "Shared Key")
def a_merge_of_a_missing_entity_is_not_found():
    partition = new_name()
    raised(Missing, service.merge_entity, TABLE, partition, "r", entity(partition, A=1))


@step("Insert Or Replace Entity", "Atom", "Shared Key")
def insert_or_replace_inserts_and_replaces():
    partition = new_name()
    service.insert_or_replace_entity(TABLE, partition, "r", entity(partition, A=1, B=2))
    equal(stored(partition), entity(partition, A=1, B=2))
    answer = service.insert_or_replace_entity(TABLE, partition, "r", entity(partition, B=3))
    equal(stored(partition), entity(partition, B=3))
    equal(answer, {"etag": service.get_entity(TABLE, partition, "r").etag})


@step("Insert Or Merge Entity", "Atom", "Shared Key")
def insert_or_merge_inserts_and_merges():
    partition = new_name()
    service.insert_or_merge_entity(TABLE, partition, "r", entity(partition, A=1, B=2))
    equal(stored(partition), entity(partition, A=1, B=2))
    answer = service.insert_or_merge_entity(TABLE, partition, "r", entity(partition, B=3))
    equal(stored(partition), entity(partition, A=1, B=3))
    equal(answer, {"etag": service.get_entity(TABLE, partition, "r").etag})


@step("Delete Entity", "Atom", "Shared Key")
def a_deleted_entity_is_gone():
    partition = new_name()
    etag = insert(partition)
    service.delete_entity(TABLE, partition, "r", if_match=etag)
    gone(partition)
    raised(Missing, service.delete_entity, TABLE, partition, "r")


@step("Delete Entity", "Atom", "Shared Key")
def deleting_with_an_old_etag_is_refused():
    partition = new_name()
    old = insert(partition, A=1)
    service.update_entity(TABLE, partition, "r", entity(partition, A=2))
    error = raised(Refused, service.delete_entity, TABLE, partition, "r", if_match=old)
    contains(str(error), "UpdateConditionNotSatisfied")
    equal(stored(partition), entity(partition, A=2))


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


# ---------------------------------------------------------------- service properties


@step("Set Table Service Properties", "XML", "Shared Key")
def logging_and_metrics_are_kept():
    wanted = service.get_table_service_properties()
    metrics = getattr(wanted, "hour_metrics", None) or wanted.metrics  # 0.8.4 knows no others
    wanted.logging.read, wanted.logging.write, wanted.logging.delete = True, False, True
    wanted.logging.retention_policy.enabled, wanted.logging.retention_policy.days = True, 5
    metrics.enabled, metrics.include_apis = True, True
    metrics.retention_policy.enabled, metrics.retention_policy.days = True, 7
    service.set_table_service_properties(wanted)
    found = service.get_table_service_properties()
    metrics = getattr(found, "hour_metrics", None) or found.metrics
    equal((found.logging.read, found.logging.write, found.logging.delete), (True, False, True))
    equal((found.logging.retention_policy.enabled, found.logging.retention_policy.days), (True, 5))
    equal((metrics.enabled, metrics.include_apis), (True, "true"))
    equal((metrics.retention_policy.enabled, metrics.retention_policy.days), (True, 7))


@step("Get Table Service Properties", "XML", "Shared Key")
def logging_and_metrics_are_there():
    found = service.get_table_service_properties()
    equal(found.logging.version, "1.0")
    equal((getattr(found, "hour_metrics", None) or found.metrics).version, "1.0")
    if hasattr(found, "minute_metrics"):
        equal(found.minute_metrics.version, "1.0")


if __name__ == "__main__":
    run()
