"""Entities, read and written through the clients of `atom_client.py`."""

from __future__ import annotations

from datetime import datetime

from atom_client import TABLE, Conflict, EntityProperty, Missing, Refused, gone, insert, properties_of, service, stored
from runner import contains, entity, equal, new_name, raised, run, step


def rows(found):
    """The row keys of entities."""
    return [each.RowKey for each in found]


# ---------------------------------------------------------------- reading


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


# ---------------------------------------------------------------- writing


def an_old_etag_is_refused(write):
    """Fail unless a write that wants an entity as it was before is refused, and leaves it as it is."""
    partition = new_name()
    old = insert(partition, A=1)
    write(TABLE, partition, "r", entity(partition, A=2))
    error = raised(Refused, write, TABLE, partition, "r", entity(partition, A=3), if_match=old)
    contains(str(error), "UpdateConditionNotSatisfied")
    equal(stored(partition), entity(partition, A=2))


def a_missing_entity_is_not_written(write):
    """Fail unless a write finds nothing to change."""
    partition = new_name()
    raised(Missing, write, TABLE, partition, "r", entity(partition, A=1))


def inserts_and_changes(write, changed):
    """Fail unless a write inserts an entity, and makes this of it when it is there."""
    partition = new_name()
    write(TABLE, partition, "r", entity(partition, A=1, B=2))
    equal(stored(partition), entity(partition, A=1, B=2))
    answer = write(TABLE, partition, "r", entity(partition, B=3))
    equal(stored(partition), entity(partition, **changed))
    equal(answer, {"etag": service.get_entity(TABLE, partition, "r").etag})


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
    an_old_etag_is_refused(service.update_entity)


@step("Update Entity", "Atom", "Shared Key")
def an_update_of_a_missing_entity_is_not_found():
    a_missing_entity_is_not_written(service.update_entity)


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
    an_old_etag_is_refused(service.merge_entity)


@step("Merge Entity", "Atom", "Shared Key")
def a_merge_of_a_missing_entity_is_not_found():
    a_missing_entity_is_not_written(service.merge_entity)


@step("Insert Or Replace Entity", "Atom", "Shared Key")
def insert_or_replace_inserts_and_replaces():
    inserts_and_changes(service.insert_or_replace_entity, {"B": 3})


@step("Insert Or Merge Entity", "Atom", "Shared Key")
def insert_or_merge_inserts_and_merges():
    inserts_and_changes(service.insert_or_merge_entity, {"A": 1, "B": 3})


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


if __name__ == "__main__":
    run()
