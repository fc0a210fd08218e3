"""The Azure command line: `az storage table policy` and signatures, `cors`, `logging` and `metrics`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import runner
from az_command import EXPIRY, az, entity, insert, new_table, refused
from runner import contains, equal, new_name, run, step

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
