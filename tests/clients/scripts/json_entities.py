"""Entities, read and written through the clients of `json_client.py`."""

from __future__ import annotations

from datetime import UTC, datetime

from json_client import (
    QUOTE,
    TABLE,
    Conflict,
    EdmType,
    EntityProperty,
    Missing,
    Refused,
    TablePayloadFormat,
    gone,
    properties_of,
    service,
    stored,
)
from runner import contains, entity, equal, new_name, raised, run, step


def rows(found):
    """The row keys of entities."""
    return [each["RowKey"] for each in found]


# ---------------------------------------------------------------- reading


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


# ---------------------------------------------------------------- writing


def an_old_etag_is_refused(write):
    """Fail unless a write that wants an entity as it was before is refused, and leaves it as it is."""
    partition = new_name()
    old = service.insert_entity(TABLE, entity(partition, A=1))
    write(TABLE, entity(partition, A=2))
    error = raised(Refused, write, TABLE, entity(partition, A=3), if_match=old)
    equal(error.status_code, 412)
    contains(str(error), "UpdateConditionNotSatisfied")
    equal(stored(partition), entity(partition, A=2))


def a_missing_entity_is_not_written(write):
    """Fail unless a write finds nothing to change."""
    contains(str(raised(Missing, write, TABLE, entity(new_name(), A=1))), "ResourceNotFound")


def inserts_and_changes(write, changed):
    """Fail unless a write inserts an entity, and makes this of it when it is there."""
    partition = new_name()
    write(TABLE, entity(partition, A=1, B=2))
    equal(stored(partition), entity(partition, A=1, B=2))
    etag = write(TABLE, entity(partition, B=3))
    equal(stored(partition), entity(partition, **changed))
    equal(etag, service.get_entity(TABLE, partition, "r").etag)


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
    an_old_etag_is_refused(service.update_entity)


@step("Update Entity", "JSON", "Shared Key")
def an_update_of_a_missing_entity_is_not_found():
    a_missing_entity_is_not_written(service.update_entity)


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
    an_old_etag_is_refused(service.merge_entity)


@step("Merge Entity", "JSON", "Shared Key")
def a_merge_of_a_missing_entity_is_not_found():
    a_missing_entity_is_not_written(service.merge_entity)


@step("Insert Or Replace Entity", "JSON", "Shared Key")
def insert_or_replace_inserts_and_replaces():
    inserts_and_changes(service.insert_or_replace_entity, {"B": 3})


@step("Insert Or Merge Entity", "JSON", "Shared Key")
def insert_or_merge_inserts_and_merges():
    inserts_and_changes(service.insert_or_merge_entity, {"A": 1, "B": 3})


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


if __name__ == "__main__":
    run()
