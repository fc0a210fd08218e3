"""The Azure command line: `az storage table` and `entity`."""

from __future__ import annotations

from az_command import TABLE, az, entity, insert, missing, new_table, refused, show, stored
from runner import contains, equal, new_name, run, step

# ---------------------------------------------------------------- tables


@step("Create Table", "JSON", "Shared Key")
def a_table_is_created():
    name = new_name()
    equal(az("table", "create", "--name", name, "--fail-on-exist"), {"created": True})
    equal(az("table", "exists", "--name", name), {"exists": True})


@step("Create Table", "JSON", "Shared Key")
def a_table_that_exists_is_a_conflict():
    contains(refused("table", "create", "--name", TABLE, "--fail-on-exist"), "TableAlreadyExists")
    equal(az("table", "create", "--name", TABLE), {"created": True})  # what the command says in any case


@step("Create Table", "JSON", "Shared Key")
def a_table_name_against_the_rules_is_refused():
    contains(refused("table", "create", "--name", "no-dash", "--fail-on-exist"), "table names must be alphanumeric")


@step("Query Tables", "JSON", "Shared Key")
def tables_come_in_pages():
    names = sorted(new_table() for _ in range(3))
    found, marker = [], []
    while True:
        page = az("table", "list", "--num-results", "2", "--show-next-marker", *marker)
        token = page.pop()["nextMarker"]
        equal(len(page) <= 2, True)
        found += [table["name"] for table in page]
        if not token:
            break
        marker = ["--marker", token]
    equal([name for name in found if name in names], names)
    equal(found, [table["name"] for table in az("table", "list")])


@step("Query Tables", "JSON", "Shared Key")
def a_missing_table_does_not_exist():
    equal(az("table", "exists", "--name", new_name()), {"exists": False})


@step("Delete Table", "JSON", "Shared Key")
def a_deleted_table_is_gone():
    name = new_table()
    equal(az("table", "delete", "--name", name, "--fail-not-exist"), {"deleted": True})
    equal(az("table", "exists", "--name", name), {"exists": False})
    equal(az("table", "delete", "--name", name), {"deleted": False})


# ---------------------------------------------------------------- entities


@step("Insert Entity", "JSON", "Shared Key")
def an_inserted_entity_is_answered_with_its_etag():
    partition = new_name()
    etag = insert(partition, "r", "Name=Ada")
    contains(etag, "W/\"datetime'")
    equal(entity("show", "--partition-key", partition, "--row-key", "r")["etag"], etag)


@step("Insert Entity", "JSON", "Shared Key")
def inserting_an_entity_again_is_a_conflict():
    partition = new_name()
    insert(partition, "r", "Value=1")
    words = ("--entity", f"PartitionKey={partition}", "RowKey=r", "Value=2", "--table-name", TABLE)
    contains(refused("entity", "insert", *words), "The specified entity already exists.")
    equal(show(partition), stored(partition, Value=1))


@step("Insert Entity", "JSON", "Shared Key")
def all_types_come_back_as_they_were():
    partition = new_name()
    insert(
        partition,
        "r",
        *("Text=Zoë <&> \U0001f600", "Count=7", "Half=2.5"),
        *("Yes=true", "Yes@odata.type=Edm.Boolean"),
        *("Long=1099511627776", "Long@odata.type=Edm.Int64"),
        *("Whole=5.0", "Whole@odata.type=Edm.Double"),
        *("Guid=c9da6455-213d-42c9-9a79-3e9149a57833", "Guid@odata.type=Edm.Guid"),
        *("Moment=2008-07-10T12:30:05Z", "Moment@odata.type=Edm.DateTime"),
        *("Binary=text", "Binary@odata.type=Edm.Binary"),
    )
    found = show(partition)
    expected = stored(
        partition,
        Text="Zoë <&> \U0001f600",
        Count=7,
        Half=2.5,
        Yes=True,
        Long={"edm_type": "Edm.Int64", "value": 2**40},
        Whole=5.0,
        Guid="c9da6455-213d-42c9-9a79-3e9149a57833",
        Moment="2008-07-10T12:30:05+00:00",
        Binary="dGV4dA==",
    )
    equal(sorted(found), sorted(expected))
    for name, value in expected.items():
        equal(found[name], value)  # types too: 5.0 is no 5, and True no 1


@step("Get Entity", "JSON", "Shared Key")
def an_entity_comes_back_whole():
    partition = new_name()
    insert(partition, "r", "Name=Ada", "Age=36")
    equal(show(partition), stored(partition, Name="Ada", Age=36))


@step("Get Entity", "JSON", "Shared Key")
def a_missing_entity_is_not_found():
    missing("entity", "show", "--partition-key", new_name(), "--row-key", "r", "--table-name", TABLE)


@step("Get Entity", "JSON", "Shared Key")
def keys_with_unicode_and_quotes_are_found():
    partition, row = new_name("Zoë's 日本 \U0001f600 \"'' "), "100% of a+b & c;d@e"
    insert(partition, row, "Value=1")
    equal(show(partition, row), stored(partition, row, Value=1))


@step("Get Entity", "JSON", "Shared Key")
def selected_properties_come_alone():
    partition = new_name()
    insert(partition, "r", "A=1", "B=2", "C=3")
    found = entity("show", "--partition-key", partition, "--row-key", "r", "--select", "A", "C")
    equal({name: value for name, value in found.items() if name not in ("etag", "Timestamp")}, {"A": 1, "C": 3})


@step("Query Entities", "JSON", "Shared Key")
def entities_come_in_pages():
    partition = new_name()
    for row in "abcde":
        insert(partition, row)
    pages, marker = [], []
    while True:
        page = entity("query", "--filter", f"PartitionKey eq '{partition}'", "--num-results", "2", *marker)
        pages.append([each["RowKey"] for each in page["items"]])
        if not page["nextMarker"]:
            break
        marker = ["--marker", *(f"{name}={value}" for name, value in page["nextMarker"].items())]
    equal(pages, [["a", "b"], ["c", "d"], ["e"]])


@step("Query Entities", "JSON", "Shared Key")
def a_filter_chooses_and_properties_are_selected():
    partition = new_name()
    for number, row in enumerate("abc", start=1):
        insert(partition, row, f"Number={number}", "Other=1")
    words = ("--filter", f"PartitionKey eq '{partition}' and Number ge 2", "--select", "RowKey", "Number")
    found = entity("query", *words)["items"]
    equal([(each["RowKey"], each["Number"], "Other" in each) for each in found], [("b", 2, False), ("c", 3, False)])


@step("Query Entities", "JSON", "Shared Key")
def a_filter_that_cannot_be_read_is_refused():
    contains(refused("entity", "query", "--filter", "Number ge", "--table-name", TABLE), "InvalidInput")


@step("Update Entity", "JSON", "Shared Key")
def an_update_replaces_all_properties():
    partition = new_name()
    old = insert(partition, "r", "A=1", "B=2")
    words = ("--entity", f"PartitionKey={partition}", "RowKey=r", "B=3", "--if-match", old)
    new = entity("replace", *words)["etag"]
    equal(show(partition), stored(partition, B=3))
    contains(refused("entity", "replace", *words, "--table-name", TABLE), "UpdateConditionNotSatisfied")
    equal(entity("show", "--partition-key", partition, "--row-key", "r")["etag"], new)


@step("Merge Entity", "JSON", "Shared Key")
def a_merge_keeps_other_properties():
    partition = new_name()
    old = insert(partition, "r", "A=1", "B=2")
    words = ("--entity", f"PartitionKey={partition}", "RowKey=r", "B=3", "--if-match", old)
    entity("merge", *words)
    equal(show(partition), stored(partition, A=1, B=3))
    contains(refused("entity", "merge", *words, "--table-name", TABLE), "UpdateConditionNotSatisfied")


@step("Insert Or Replace Entity", "JSON", "Shared Key")
def insert_or_replace_inserts_and_replaces():
    partition = new_name()
    insert(partition, "r", "A=1", "B=2", "--if-exists", "replace")
    equal(show(partition), stored(partition, A=1, B=2))
    insert(partition, "r", "B=3", "--if-exists", "replace")
    equal(show(partition), stored(partition, B=3))


@step("Insert Or Merge Entity", "JSON", "Shared Key")
def insert_or_merge_inserts_and_merges():
    partition = new_name()
    insert(partition, "r", "A=1", "B=2", "--if-exists", "merge")
    equal(show(partition), stored(partition, A=1, B=2))
    insert(partition, "r", "B=3", "--if-exists", "merge")
    equal(show(partition), stored(partition, A=1, B=3))


@step("Delete Entity", "JSON", "Shared Key")
def a_deleted_entity_is_gone():
    partition = new_name()
    old = insert(partition, "r", "A=1")
    entity("merge", "--entity", f"PartitionKey={partition}", "RowKey=r", "A=2")
    words = ("--partition-key", partition, "--row-key", "r")
    contains(
        refused("entity", "delete", *words, "--if-match", old, "--table-name", TABLE), "UpdateConditionNotSatisfied"
    )
    equal(show(partition), stored(partition, A=2))
    entity("delete", *words)
    missing("entity", "show", *words, "--table-name", TABLE)


if __name__ == "__main__":
    run()
