"""The Azure command line: `az storage table`, `entity`, `cors`, `logging` and `metrics`.

The commands run one after the other in one process, through the object that `az` itself makes: as processes of their
own, each would load hundreds of modules again.
"""

from __future__ import annotations

import io
import json
import os
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import runner
from runner import contains, equal, new_name, raised, run, step

os.environ["AZURE_CONFIG_DIR"] = f"{os.environ['ROWKEY_TEST_FOLDER']}/azure"
os.environ["AZURE_CORE_COLLECT_TELEMETRY"] = "0"
os.environ["AZURE_STORAGE_CONNECTION_STRING"] = runner.CONNECTION_STRING

from azure.cli.core import get_default_cli

cli = get_default_cli()
EXPIRY = "2038-01-01T00:00:00Z"


class Failed(Exception):
    """A command ended with an exit code other than 0."""


def az(*words):
    """What a command of `az storage` answers, read from its JSON."""
    output = io.StringIO()
    try:
        code = cli.invoke(["storage", *words], out_file=output)
    except SystemExit as exit:
        code = exit.code
    if code != 0:
        raise Failed(code, str(cli.result.error))
    return json.loads(output.getvalue() or "null")


def refused(*words):
    """What a command says that ends with exit code 1."""
    code, text = raised(Failed, az, *words).args
    equal(code, 1)
    return text


def missing(*words):
    """Fail unless a command finds nothing; `az` has an exit code for that."""
    equal(raised(Failed, az, *words).args[0], 3)


def entity(*words, table=None):
    """A command of `az storage entity`."""
    return az("entity", *words, "--table-name", table or TABLE)


def insert(partition, row, *properties, **named):
    """Insert an entity, and return its etag."""
    return entity("insert", "--entity", f"PartitionKey={partition}", f"RowKey={row}", *properties, **named)["etag"]


def show(partition, row="r"):
    """An entity that is there, without what the server adds to it."""
    found = entity("show", "--partition-key", partition, "--row-key", row)
    return {name: value for name, value in found.items() if name not in ("etag", "Timestamp")}


def stored(partition, row="r", **properties):
    """What `show` returns."""
    return {"PartitionKey": partition, "RowKey": row, **properties}


def new_table():
    """A table of a step's own."""
    name = new_name()
    az("table", "create", "--name", name, "--fail-on-exist")
    return name


TABLE = new_table()

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


# ---------------------------------------------------------------- policies and signatures


def policy(table, *words):
    """A command of `az storage table policy`."""
    return az("table", "policy", *words, "--table-name", table)


@step("Set Table ACL", "XML", "Shared Key")
def policies_are_created_updated_and_deleted():
    table = new_table()
    equal(policy(table, "list"), {})
    policy(table, "create", "--name", "readers", "--permissions", "r", "--expiry", EXPIRY)
    policy(table, "create", "--name", "writers", "--permissions", "raud", "--start", "2012-01-01T00:00:00Z")
    equal(sorted(policy(table, "list")), ["readers", "writers"])
    policy(table, "update", "--name", "readers", "--permissions", "ra")
    found = policy(table, "show", "--name", "readers")
    equal((found["permission"], found["expiry"][:19]), ("ra", EXPIRY[:19]))
    policy(table, "delete", "--name", "writers")
    equal(sorted(policy(table, "list")), ["readers"])


@step("Get Table ACL", "XML", "Shared Key")
def a_policy_is_shown():
    table = new_table()
    policy(table, "create", "--name", "readers", "--permissions", "r", "--start", "2012-01-01T00:00:00Z")
    found = policy(table, "show", "--name", "readers")
    equal((found["permission"], found["start"][:19]), ("r", "2012-01-01T00:00:00"))
    equal(policy(table, "show", "--name", "nobody"), None)


def with_token(token):
    """A connection string for the holder of a signature."""
    return ["--connection-string", f"TableEndpoint={runner.ENDPOINT};SharedAccessSignature={token}"]


@step("Query Entities", "JSON", "table SAS")
def a_signature_to_query_queries():
    table = new_table()
    for partition in "abc":
        insert(partition, "r", "Value=1", table=table)
    words = ("--permissions", "r", "--expiry", EXPIRY, "--start-pk", "b", "--end-pk", "b")
    holder = with_token(az("table", "generate-sas", "--name", table, *words))
    found = entity("query", *holder, table=table)["items"]
    equal([each["PartitionKey"] for each in found], ["b"])
    words = ("--entity", "PartitionKey=b", "RowKey=x", *holder, "--table-name", table)
    contains(refused("entity", "insert", *words), "AuthorizationPermissionMismatch")


@step("Insert Entity", "JSON", "table SAS")
def a_signature_to_add_inserts():
    table = new_table()
    holder = with_token(az("table", "generate-sas", "--name", table, "--permissions", "a", "--expiry", EXPIRY))
    entity("insert", "--entity", "PartitionKey=p", "RowKey=r", "Value=1", *holder, table=table)
    found = entity("query", table=table)["items"]
    equal([(each["PartitionKey"], each["RowKey"], each["Value"]) for each in found], [("p", "r", 1)])


@step("Query Entities", "JSON", "SAS by policy")
def a_policy_permits_as_long_as_it_is_there():
    table = new_table()
    insert("p", "r", "Value=1", table=table)
    policy(table, "create", "--name", "readers", "--permissions", "r", "--expiry", EXPIRY)
    holder = with_token(az("table", "generate-sas", "--name", table, "--policy-name", "readers"))
    equal([each["Value"] for each in entity("query", *holder, table=table)["items"]], [1])
    policy(table, "delete", "--name", "readers")
    contains(refused("entity", "query", *holder, "--table-name", table), "AuthenticationFailed")


@step("Query Tables", "JSON", "account SAS")
def a_signature_for_containers_lists_tables():
    table = new_table()
    words = ("--services", "t", "--resource-types", "c", "--permissions", "l", "--expiry", "2038-01-01T00:00Z")
    holder = with_token(az("account", "generate-sas", *words))
    contains([each["name"] for each in az("table", "list", *holder)], table)
    contains(refused("table", "create", "--name", new_name(), "--fail-on-exist", *holder), "PermissionMismatch")


# ---------------------------------------------------------------- the service


@step("Set Table Service Properties", "XML", "Shared Key")
def cors_rules_are_added_and_cleared():
    az("cors", "clear", "--services", "t")
    words = ("--methods", "GET", "PUT", "--origins", "http://www.contoso.example", "--max-age", "500")
    az("cors", "add", "--services", "t", *words, "--allowed-headers", "x-ms-meta-*", "--exposed-headers", "x-ms-meta-a")
    az("cors", "add", "--services", "t", "--methods", "GET", "--origins", "*")
    contoso, anybody = az("cors", "list", "--services", "t")
    equal(
        contoso,
        {
            "Service": "table",
            "Rule": 1,
            "AllowedMethods": "GET, PUT",
            "AllowedOrigins": "http://www.contoso.example",
            "AllowedHeaders": "x-ms-meta-*",
            "ExposedHeaders": "x-ms-meta-a",
            "MaxAgeInSeconds": 500,
        },
    )
    equal((anybody["Rule"], anybody["AllowedMethods"], anybody["AllowedOrigins"]), (2, "GET", "*"))
    equal((anybody["AllowedHeaders"], anybody["ExposedHeaders"], anybody["MaxAgeInSeconds"]), ("", "", 0))
    az("cors", "clear", "--services", "t")
    equal(az("cors", "list", "--services", "t"), [])


@step("Set Table Service Properties", "XML", "Shared Key")
def logging_is_updated():
    az("logging", "update", "--services", "t", "--log", "rd", "--retention", "5")
    found = az("logging", "show", "--services", "t")["table"]
    equal((found["read"], found["write"], found["delete"]), (True, False, True))
    equal((found["retentionPolicy"]["enabled"], found["retentionPolicy"]["days"]), (True, 5))


@step("Set Table Service Properties", "XML", "Shared Key")
def metrics_are_updated():
    words = ("--hour", "true", "--minute", "false", "--api", "true", "--retention", "7")
    az("metrics", "update", "--services", "t", *words)
    found = az("metrics", "show", "--services", "t")["table"]
    equal((found["hour"]["enabled"], found["hour"]["includeApis"]), (True, True))
    equal((found["hour"]["retentionPolicy"]["enabled"], found["hour"]["retentionPolicy"]["days"]), (True, 7))
    equal(found["minute"]["enabled"], False)


@step("Get Table Service Properties", "XML", "Shared Key")
def properties_of_the_service_are_shown():
    equal(az("logging", "show", "--services", "t")["table"]["version"], "1.0")
    equal(az("metrics", "show", "--services", "t")["table"]["hour"]["version"], "1.0")


@step("Get Table Service Stats", "XML", "Shared Key")
def the_secondary_tells_that_it_is_live():
    found = az("table", "stats")["geoReplication"]
    equal(found["status"], "live")
    moment = found["lastSyncTime"]
    moment = datetime.fromisoformat(moment) if "T" in moment[:11] else parsedate_to_datetime(moment)
    equal(abs(moment - datetime.now(UTC)) < timedelta(minutes=5), True)


if __name__ == "__main__":
    run()
