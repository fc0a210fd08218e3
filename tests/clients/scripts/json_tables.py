"""Tables and entities, through azure-storage 0.33.0 and 0.36.0 and azure-cosmosdb-table 1.0.6, which speak JSON.

They are the same client at three ages.
"""

from __future__ import annotations

from datetime import UTC, datetime

import runner
from azure.common import AzureConflictHttpError as Conflict
from azure.common import AzureHttpError as Refused
from azure.common import AzureMissingResourceHttpError as Missing
from runner import contains, equal, new_name, raised, run, step

try:
    from azure.cosmosdb.table import (
        AzureBatchOperationError,
        EdmType,
        EntityProperty,
        TableBatch,
        TablePayloadFormat,
        TableService,
    )

    QUOTE = "'"
except ImportError:
    from azure.storage.table import (
        AzureBatchOperationError,
        EdmType,
        EntityProperty,
        TableBatch,
        TablePayloadFormat,
        TableService,
    )

    QUOTE = "''"  # the older ones leave it to the caller to double a quote in the key of an entity to get


def without_retries(service):
    """A service that shows a failure at once."""
    service.retry = lambda context: None
    return service


service = without_retries(TableService(connection_string=runner.CONNECTION_STRING))
in_host = without_retries(
    TableService(
        runner.ACCOUNT,
        runner.KEY,
        protocol=runner.PROTOCOL,
        endpoint_suffix=runner.HOST_BASE.removeprefix(".table").lstrip("."),
    )
)

TABLE = new_name()
service.create_table(TABLE, fail_on_exist=True)


def entity(partition, row="r", **properties):
    """An entity as a dictionary."""
    return {"PartitionKey": partition, "RowKey": row, **properties}


def properties_of(found):
    """What an entity has besides what the server adds to it."""
    return {name: value for name, value in found.items() if name not in ("etag", "Timestamp")}


def stored(partition, row="r"):
    """The properties of an entity that is there."""
    return properties_of(service.get_entity(TABLE, partition, row))


def gone(partition, row="r"):
    """Fail unless there is no such entity."""
    contains(str(raised(Missing, service.get_entity, TABLE, partition, row)), "ResourceNotFound")


def of_partition(partition):
    """The properties of all entities of a partition."""
    return [properties_of(each) for each in service.query_entities(TABLE, f"PartitionKey eq '{partition}'")]


def rows(found):
    """The row keys of entities."""
    return [each["RowKey"] for each in found]


# ---------------------------------------------------------------- tables


@step("Create Table", "JSON", "Shared Key")
def a_table_is_created():
    name = new_name()
    equal(service.create_table(name, fail_on_exist=True), True)
    equal(service.exists(name), True)


@step("Create Table", "JSON", "Shared Key")
def a_table_that_exists_is_a_conflict():
    error = raised(Conflict, service.create_table, TABLE, fail_on_exist=True)
    contains(str(error), "TableAlreadyExists")
    equal(service.create_table(TABLE), False)


@step("Create Table", "JSON", "Shared Key")
def a_table_name_against_the_rules_is_refused():
    error = raised(Refused, service.create_table, "no-dash", fail_on_exist=True)
    equal(error.status_code, 400)
    contains(str(error), "InvalidResourceName")


@step("Query Tables", "JSON", "Shared Key")
def tables_come_in_pages():
    prefix = new_name()
    names = [prefix + suffix for suffix in "abc"]
    for name in names:
        service.create_table(name, fail_on_exist=True)
    found, marker = [], None
    while True:
        page = service.list_tables(num_results=2, marker=marker)
        names_of_page = [table.name for table in page]
        equal(len(names_of_page) <= 2, True)
        found += names_of_page
        marker = page.next_marker
        if not marker:
            break
    equal([name for name in found if name.startswith(prefix)], names)
    equal(found, [table.name for table in service.list_tables()])


@step("Query Tables", "JSON", "Shared Key")
def a_missing_table_does_not_exist():
    equal(service.exists(new_name()), False)


@step("Delete Table", "JSON", "Shared Key")
def a_deleted_table_is_gone():
    name = new_name()
    service.create_table(name, fail_on_exist=True)
    equal(service.delete_table(name, fail_not_exist=True), True)
    equal(service.exists(name), False)


@step("Delete Table", "JSON", "Shared Key")
def deleting_a_missing_table_is_refused():
    contains(str(raised(Missing, service.delete_table, new_name(), fail_not_exist=True)), "ResourceNotFound")
    equal(service.delete_table(new_name()), False)


# ---------------------------------------------------------------- reading entities


@step("Insert Entity", "JSON", "Shared Key")
def an_inserted_entity_is_answered_with_its_etag():
    partition = new_name()
    etag = service.insert_entity(TABLE, entity(partition, Name="Ada"))
    contains(etag, "W/\"datetime'")
    equal(service.get_entity(TABLE, partition, "r").etag, etag)


@step("Insert Entity", "JSON", "Shared Key")
def inserting_an_entity_again_is_a_conflict():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, Value=1))
    error = raised(Conflict, service.insert_entity, TABLE, entity(partition, Value=2))
    contains(str(error), "EntityAlreadyExists")
    equal(stored(partition), entity(partition, Value=1))


@step("Insert Entity", "JSON", "Shared Key")
def inserting_into_a_missing_table_is_not_found():
    contains(str(raised(Missing, service.insert_entity, new_name(), entity("p"))), "TableNotFound")


VALUES = {
    "Text": "  two spaces, <&> \U0001f600 and\nlines  ",
    "Empty": "",
    "Yes": True,
    "No": False,
    "Large": 2**40,
    "Long": 5,
    "Half": 2.5,
    "Whole": 5.0,
    "Huge": 1e300,
    "Endless": float("-inf"),
    "Moment": datetime(2008, 7, 10, 12, 30, 5, tzinfo=UTC),
}
TYPED = {
    "Int": (EdmType.INT32, -(2**31)),
    "Guid": (EdmType.GUID, "c9da6455-213d-42c9-9a79-3e9149a57833"),
    "Binary": (EdmType.BINARY, b"\x00\xff\x10"),
}


def insert_all_types(partition):
    """Insert an entity with a property of each type, and one that is null."""
    typed = {name: EntityProperty(*value) for name, value in TYPED.items()}
    service.insert_entity(TABLE, entity(partition, **VALUES, **typed, Nothing=None))


def has_all_types(found):
    """Fail unless each property has come back with its value and its type."""
    equal(sorted(properties_of(found)), sorted(["PartitionKey", "RowKey", *VALUES, *TYPED]))
    for name, value in VALUES.items():
        equal(found[name], value)  # types too: 5.0 is no 5, and True no 1
    for name, value in TYPED.items():
        equal((found[name].type, found[name].value), value)


@step("Insert Entity", "JSON", "Shared Key")
def all_types_come_back_as_they_were():
    partition = new_name()
    insert_all_types(partition)
    has_all_types(service.get_entity(TABLE, partition, "r"))


@step("Get Entity", "JSON", "Shared Key")
def full_metadata_tells_all_types():
    partition = new_name()
    insert_all_types(partition)
    has_all_types(service.get_entity(TABLE, partition, "r", accept=TablePayloadFormat.JSON_FULL_METADATA))


@step("Get Entity", "JSON", "Shared Key")
def no_metadata_leaves_types_to_the_client():
    partition = new_name()
    insert_all_types(partition)
    plain = service.get_entity(TABLE, partition, "r", accept=TablePayloadFormat.JSON_NO_METADATA)
    equal((plain["Large"], plain["Whole"], plain["Binary"]), ("1099511627776", 5.0, "AP8Q"))
    types = {"Large": EdmType.INT64, "Long": EdmType.INT64, "Moment": EdmType.DATETIME, "Endless": EdmType.DOUBLE}
    types |= {name: kind for name, (kind, _) in TYPED.items()}
    resolved = service.get_entity(
        TABLE,
        partition,
        "r",
        accept=TablePayloadFormat.JSON_NO_METADATA,
        property_resolver=lambda partition, row, name, value, kind: types.get(name),
    )
    has_all_types(resolved)


@step("Get Entity", "JSON", "Shared Key")
def an_entity_comes_back_whole():
    partition = new_name()
    etag = service.insert_entity(TABLE, entity(partition, Name="Ada"))
    found = service.get_entity(TABLE, partition, "r")
    equal(properties_of(found), entity(partition, Name="Ada"))
    equal(found.etag, etag)
    equal(type(found.Timestamp), datetime)


@step("Get Entity", "JSON", "Shared Key")
def a_missing_entity_is_not_found():
    gone(new_name())


@step("Get Entity", "JSON", "Shared Key")
def keys_with_unicode_and_quotes_are_found():
    partition, row = new_name("Zoë's 日本 \U0001f600 \"'' "), "100% of a+b & c=d;e@f"
    service.insert_entity(TABLE, entity(partition, row, Value=1))
    equal(stored(partition.replace("'", QUOTE), row), entity(partition, row, Value=1))


@step("Get Entity", "JSON", "Shared Key")
def selected_properties_come_alone():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, A=1, B=2, C=3))
    found = service.get_entity(TABLE, partition, "r", select="A,C,Missing")
    equal(properties_of(found), {"A": 1, "C": 3, "Missing": None})


@step("Query Entities", "JSON", "Shared Key")
def entities_come_in_pages():
    partition = new_name()
    for row in "abcde":
        service.insert_entity(TABLE, entity(partition, row))
    within = f"PartitionKey eq '{partition}'"
    pages, marker = [], None
    while True:
        page = service.query_entities(TABLE, within, num_results=2, marker=marker)
        pages.append(rows(page))
        marker = page.next_marker
        if not marker:
            break
    equal(pages, [["a", "b"], ["c", "d"], ["e"]])


@step("Query Entities", "JSON", "Shared Key")
def a_filter_chooses():
    partition = new_name("Zoë's ")
    for number, row in enumerate("abc"):
        moment = datetime(2001 + number, 1, 1, tzinfo=UTC)
        service.insert_entity(TABLE, entity(partition, row, Number=number, Moment=moment, Even=number % 2 == 0))
    within = "PartitionKey eq '" + partition.replace("'", "''") + "' and "
    equal(rows(service.query_entities(TABLE, within + "Number ge 1L")), ["b", "c"])
    equal(rows(service.query_entities(TABLE, within + "Moment lt datetime'2002-01-01T00:00:00Z'")), ["a"])
    equal(rows(service.query_entities(TABLE, within + "(Even eq true and not (RowKey eq 'a'))")), ["c"])


@step("Query Entities", "JSON", "Shared Key")
def a_query_selects_properties():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, "a", A=1, B=2))
    service.insert_entity(TABLE, entity(partition, "b", B=3))
    found = service.query_entities(TABLE, f"PartitionKey eq '{partition}'", select="RowKey,A")
    equal([properties_of(each) for each in found], [{"RowKey": "a", "A": 1}, {"RowKey": "b", "A": None}])


@step("Query Entities", "JSON", "Shared Key")
def a_query_tells_all_types_with_full_metadata():
    partition = new_name()
    insert_all_types(partition)
    found = service.query_entities(
        TABLE, f"PartitionKey eq '{partition}'", accept=TablePayloadFormat.JSON_FULL_METADATA
    )
    for each in found:
        has_all_types(each)
    equal(len(found.items), 1)


@step("Query Entities", "JSON", "Shared Key")
def a_filter_that_cannot_be_read_is_refused():
    error = raised(Refused, service.query_entities, TABLE, "Number ge")
    equal(error.status_code, 400)
    contains(str(error), "InvalidInput")


# ---------------------------------------------------------------- writing entities


@step("Update Entity", "JSON", "Shared Key")
def an_update_replaces_all_properties():
    partition = new_name()
    old = service.insert_entity(TABLE, entity(partition, A=1, B=2))
    new = service.update_entity(TABLE, entity(partition, B=3), if_match=old)
    found = service.get_entity(TABLE, partition, "r")
    equal(properties_of(found), entity(partition, B=3))
    equal(new, found.etag)
    equal(new != old, True)


@step("Update Entity", "JSON", "Shared Key")
def an_update_with_an_old_etag_is_refused():
    partition = new_name()
    old = service.insert_entity(TABLE, entity(partition, A=1))
    service.update_entity(TABLE, entity(partition, A=2))
    error = raised(Refused, service.update_entity, TABLE, entity(partition, A=3), if_match=old)
    equal(error.status_code, 412)
    contains(str(error), "UpdateConditionNotSatisfied")
    equal(stored(partition), entity(partition, A=2))


@step("Update Entity", "JSON", "Shared Key")
def an_update_of_a_missing_entity_is_not_found():
    error = raised(Missing, service.update_entity, TABLE, entity(new_name(), A=1))
    contains(str(error), "ResourceNotFound")


@step("Merge Entity", "JSON", "Shared Key")
def a_merge_keeps_other_properties():
    partition = new_name()
    old = service.insert_entity(TABLE, entity(partition, A=1, B=2))
    new = service.merge_entity(TABLE, entity(partition, B=3), if_match=old)
    found = service.get_entity(TABLE, partition, "r")
    equal(properties_of(found), entity(partition, A=1, B=3))
    equal(new, found.etag)


@step("Merge Entity", "JSON", "Shared Key")
def a_merge_with_an_old_etag_is_refused():
    partition = new_name()
    old = service.insert_entity(TABLE, entity(partition, A=1))
    service.merge_entity(TABLE, entity(partition, A=2))
    error = raised(Refused, service.merge_entity, TABLE, entity(partition, A=3), if_match=old)
    equal(error.status_code, 412)
    contains(str(error), "UpdateConditionNotSatisfied")
    equal(stored(partition), entity(partition, A=2))


@step("Merge Entity", "JSON", "Shared Key")
def a_merge_of_a_missing_entity_is_not_found():
    error = raised(Missing, service.merge_entity, TABLE, entity(new_name(), A=1))
    contains(str(error), "ResourceNotFound")


@step("Insert Or Replace Entity", "JSON", "Shared Key")
def insert_or_replace_inserts_and_replaces():
    partition = new_name()
    service.insert_or_replace_entity(TABLE, entity(partition, A=1, B=2))
    equal(stored(partition), entity(partition, A=1, B=2))
    etag = service.insert_or_replace_entity(TABLE, entity(partition, B=3))
    equal(stored(partition), entity(partition, B=3))
    equal(etag, service.get_entity(TABLE, partition, "r").etag)


@step("Insert Or Merge Entity", "JSON", "Shared Key")
def insert_or_merge_inserts_and_merges():
    partition = new_name()
    service.insert_or_merge_entity(TABLE, entity(partition, A=1, B=2))
    equal(stored(partition), entity(partition, A=1, B=2))
    etag = service.insert_or_merge_entity(TABLE, entity(partition, B=3))
    equal(stored(partition), entity(partition, A=1, B=3))
    equal(etag, service.get_entity(TABLE, partition, "r").etag)


@step("Delete Entity", "JSON", "Shared Key")
def a_deleted_entity_is_gone():
    partition = new_name()
    etag = service.insert_entity(TABLE, entity(partition))
    service.delete_entity(TABLE, partition, "r", if_match=etag)
    gone(partition)
    contains(str(raised(Missing, service.delete_entity, TABLE, partition, "r")), "ResourceNotFound")


@step("Delete Entity", "JSON", "Shared Key")
def deleting_with_an_old_etag_is_refused():
    partition = new_name()
    old = service.insert_entity(TABLE, entity(partition, A=1))
    service.update_entity(TABLE, entity(partition, A=2))
    error = raised(Refused, service.delete_entity, TABLE, partition, "r", if_match=old)
    equal(error.status_code, 412)
    contains(str(error), "UpdateConditionNotSatisfied")
    equal(stored(partition), entity(partition, A=2))


# ---------------------------------------------------------------- batches


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


# ---------------------------------------------------------------- the account in the host


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
