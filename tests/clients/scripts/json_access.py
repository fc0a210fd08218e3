"""Access policies and shared access signatures, through the clients of `json_client.py`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import runner
from json_client import (
    TABLE,
    AccessPolicy,
    AccountPermissions,
    Missing,
    Refused,
    ResourceTypes,
    TableBatch,
    TablePermissions,
    TableService,
    service,
    without_retries,
)
from runner import contains, entity, equal, new_name, raised, run, step

START, EXPIRY = datetime(2012, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)


def holder_of(token):
    """The service for the holder of a signature."""
    return without_retries(
        TableService(connection_string=f"TableEndpoint={runner.ENDPOINT};SharedAccessSignature={token}")
    )


def permitted(permission, table=TABLE, expiry=EXPIRY, **ranges):
    """The service for the holder of a signature for a table."""
    token = service.generate_table_shared_access_signature(
        table, TablePermissions(_str=permission), expiry, START, **ranges
    )
    return holder_of(token)


def by_policy(table, name):
    """The service for the holder of a signature that names a policy."""
    return holder_of(service.generate_table_shared_access_signature(table, id=name))


def by_account(resource_types, permission):
    """The service for the holder of a signature for the account."""
    token = service.generate_account_shared_access_signature(
        ResourceTypes(_str=resource_types), AccountPermissions(_str=permission), EXPIRY
    )
    return holder_of(token)


def forbidden(code, function, *arguments, **named):
    """Fail unless a call is refused with this code."""
    error = raised(Refused, function, *arguments, **named)
    equal(error.status_code, 403)
    contains(str(error), code)


def new_table():
    """A table of a step's own."""
    table = new_name()
    service.create_table(table, fail_on_exist=True)
    return table


# ---------------------------------------------------------------- policies


@step("Get Table ACL", "XML", "Shared Key")
def a_new_table_has_no_policies():
    equal(dict(service.get_table_acl(new_table())), {})


@step("Get Table ACL", "XML", "Shared Key")
def policies_of_a_missing_table_are_not_found():
    contains(str(raised(Missing, service.get_table_acl, new_name())), "TableNotFound")


@step("Set Table ACL", "XML", "Shared Key")
def policies_are_kept_and_taken_away():
    table = new_table()
    policies = {
        "readers": AccessPolicy(TablePermissions.QUERY, EXPIRY, START),
        "writers": AccessPolicy(TablePermissions(_str="raud"), "2039-01-01", "2011-10-11"),
        "later": AccessPolicy(),
    }
    service.set_table_acl(table, policies)
    found = service.get_table_acl(table)
    equal(sorted(found), ["later", "readers", "writers"])
    equal((found["readers"].permission, found["readers"].start, found["readers"].expiry), ("r", START, EXPIRY))
    equal(found["writers"].permission, "raud")
    equal(found["writers"].start, datetime(2011, 10, 11, tzinfo=UTC))
    equal((found["later"].permission, found["later"].start, found["later"].expiry), (None, None, None))
    service.set_table_acl(table)
    equal(dict(service.get_table_acl(table)), {})


# ---------------------------------------------------------------- signatures for a table


@step("Query Entities", "JSON", "table SAS")
def a_signature_to_query_queries():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, Value=1))
    found = permitted("r").query_entities(TABLE, f"PartitionKey eq '{partition}'")
    equal([each["Value"] for each in found], [1])
    forbidden("AuthorizationPermissionMismatch", permitted("aud").query_entities, TABLE)


@step("Get Entity", "JSON", "table SAS")
def a_signature_to_query_gets():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, Value=1))
    equal(permitted("r").get_entity(TABLE, partition, "r")["Value"], 1)
    forbidden("AuthorizationPermissionMismatch", permitted("a").get_entity, TABLE, partition, "r")


@step("Insert Entity", "JSON", "table SAS")
def a_signature_to_add_inserts():
    partition = new_name()
    forbidden("AuthorizationPermissionMismatch", permitted("rud").insert_entity, TABLE, entity(partition, Value=1))
    permitted("a").insert_entity(TABLE, entity(partition, Value=2))
    equal(service.get_entity(TABLE, partition, "r")["Value"], 2)


@step("Update Entity", "JSON", "table SAS")
def a_signature_to_update_updates():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, Value=1))
    forbidden("AuthorizationPermissionMismatch", permitted("rad").update_entity, TABLE, entity(partition, Value=2))
    permitted("u").update_entity(TABLE, entity(partition, Value=3))
    equal(service.get_entity(TABLE, partition, "r")["Value"], 3)


@step("Merge Entity", "JSON", "table SAS")
def a_signature_to_update_merges():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, Value=1))
    forbidden("AuthorizationPermissionMismatch", permitted("rad").merge_entity, TABLE, entity(partition, Value=2))
    permitted("u").merge_entity(TABLE, entity(partition, Other=3))
    found = service.get_entity(TABLE, partition, "r")
    equal((found["Value"], found["Other"]), (1, 3))


@step("Insert Or Replace Entity", "JSON", "table SAS")
def a_signature_to_add_and_update_inserts_or_replaces():
    wanted = entity(new_name(), Value=1)
    for permission in ("a", "u"):
        upsert = permitted(permission).insert_or_replace_entity
        forbidden("AuthorizationPermissionMismatch", upsert, TABLE, wanted)
    permitted("au").insert_or_replace_entity(TABLE, wanted)
    equal(service.get_entity(TABLE, wanted["PartitionKey"], "r")["Value"], 1)


@step("Insert Or Merge Entity", "JSON", "table SAS")
def a_signature_to_add_and_update_inserts_or_merges():
    partition = new_name()
    forbidden("AuthorizationPermissionMismatch", permitted("a").insert_or_merge_entity, TABLE, entity(partition))
    permitted("au").insert_or_merge_entity(TABLE, entity(partition, Value=1))
    permitted("au").insert_or_merge_entity(TABLE, entity(partition, Other=2))
    found = service.get_entity(TABLE, partition, "r")
    equal((found["Value"], found["Other"]), (1, 2))


@step("Delete Entity", "JSON", "table SAS")
def a_signature_to_delete_deletes():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition))
    forbidden("AuthorizationPermissionMismatch", permitted("rau").delete_entity, TABLE, partition, "r")
    equal(service.get_entity(TABLE, partition, "r")["PartitionKey"], partition)
    permitted("d").delete_entity(TABLE, partition, "r")
    raised(Missing, service.get_entity, TABLE, partition, "r")


@step("Entity Group Transaction", "JSON", "table SAS")
def a_signature_does_a_batch():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, "old"))
    batch = TableBatch()
    batch.insert_entity(entity(partition, "new", Value=1))
    batch.delete_entity(partition, "old")
    permitted("ad").commit_batch(TABLE, batch)
    found = service.query_entities(TABLE, f"PartitionKey eq '{partition}'")
    equal([each["RowKey"] for each in found], ["new"])


@step("Entity Group Transaction", "JSON", "table SAS")
def a_batch_needs_permission_for_all_it_does():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, "old"))
    batch = TableBatch()
    batch.insert_entity(entity(partition, "new", Value=1))
    batch.delete_entity(partition, "old")
    refusal = None
    try:
        permitted("a").commit_batch(TABLE, batch)
    except Refused as error:  # of the whole or of a part: the client has a class for either
        refusal = error
    contains(str(refusal), "not authorized to perform this operation")
    found = service.query_entities(TABLE, f"PartitionKey eq '{partition}'")
    equal([each["RowKey"] for each in found], ["old"])


@step("Query Entities", "JSON", "table SAS")
def a_signature_ends_with_its_time_and_table():
    forbidden("AuthenticationFailed", permitted("r", expiry=START + timedelta(days=1)).query_entities, TABLE)
    forbidden("AuthorizationFailure", permitted("raud").query_entities, new_table())


@step("Query Entities", "JSON", "table SAS")
def a_signature_for_a_range_shows_the_range():
    prefix = new_name()
    for suffix in "abcd":
        service.insert_entity(TABLE, entity(prefix + suffix))
    holder = permitted("ra", start_pk=prefix + "b", start_rk="r", end_pk=prefix + "c", end_rk="r")
    equal([each["PartitionKey"] for each in holder.query_entities(TABLE)], [prefix + "b", prefix + "c"])
    forbidden("AuthorizationFailure", holder.insert_entity, TABLE, entity(prefix + "e"))


@step("Query Entities", "JSON", "table SAS")
def a_signature_permits_an_address_and_a_protocol():
    table = new_table()
    equal(list(permitted("r", table, ip="127.0.0.0-127.0.0.255", protocol="https,http").query_entities(table)), [])
    forbidden("AuthorizationSourceIPMismatch", permitted("r", table, ip="203.0.113.1").query_entities, table)
    if runner.PROTOCOL == "http":
        forbidden("AuthorizationProtocolMismatch", permitted("r", table, protocol="https").query_entities, table)


# ---------------------------------------------------------------- signatures by policy


@step("Query Entities", "JSON", "SAS by policy")
def a_policy_permits_as_long_as_it_is_there():
    table = new_table()
    service.insert_entity(table, entity("p", Value=1))
    service.set_table_acl(table, {"readers": AccessPolicy(TablePermissions.QUERY, EXPIRY)})
    holder = by_policy(table, "readers")
    equal([each["Value"] for each in holder.query_entities(table)], [1])
    service.set_table_acl(table)
    forbidden("AuthenticationFailed", holder.query_entities, table)


@step("Insert Entity", "JSON", "SAS by policy")
def a_policy_permits_no_more_than_it_says():
    table = new_table()
    service.set_table_acl(
        table,
        {
            "readers": AccessPolicy(TablePermissions.QUERY, EXPIRY),
            "adders": AccessPolicy(TablePermissions.ADD, EXPIRY),
        },
    )
    insert = by_policy(table, "readers").insert_entity
    forbidden("AuthorizationPermissionMismatch", insert, table, entity("p", Value=1))
    by_policy(table, "adders").insert_entity(table, entity("p", Value=2))
    equal(service.get_entity(table, "p", "r")["Value"], 2)


# ---------------------------------------------------------------- signatures for the account


@step("Create Table", "JSON", "account SAS")
def a_signature_for_containers_creates_a_table():
    table = new_name()
    forbidden(
        "AuthorizationResourceTypeMismatch",
        by_account("so", "rwdlacu").create_table,
        *(table, True),
    )
    forbidden("AuthorizationPermissionMismatch", by_account("c", "rl").create_table, table, True)
    by_account("c", "c").create_table(table, True)
    equal(service.exists(table), True)


@step("Query Tables", "JSON", "account SAS")
def a_signature_for_containers_lists_tables():
    table = new_table()
    contains([each.name for each in by_account("c", "l").list_tables()], table)
    forbidden("AuthorizationPermissionMismatch", by_account("c", "r").list_tables)


@step("Delete Table", "JSON", "account SAS")
def a_signature_for_containers_deletes_a_table():
    table = new_table()
    forbidden("AuthorizationPermissionMismatch", by_account("c", "rwlacu").delete_table, table, True)
    by_account("c", "d").delete_table(table, True)
    equal(service.exists(table), False)


@step("Query Entities", "JSON", "account SAS")
def a_signature_for_objects_queries():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, Value=1))
    found = by_account("o", "r").query_entities(TABLE, f"PartitionKey eq '{partition}'")
    equal([each["Value"] for each in found], [1])
    forbidden("AuthorizationResourceTypeMismatch", by_account("sc", "r").query_entities, TABLE)


@step("Insert Entity", "JSON", "account SAS")
def a_signature_for_objects_inserts():
    partition = new_name()
    forbidden("AuthorizationPermissionMismatch", by_account("o", "rwdlcu").insert_entity, TABLE, entity(partition))
    by_account("o", "a").insert_entity(TABLE, entity(partition, Value=1))
    equal(service.get_entity(TABLE, partition, "r")["Value"], 1)


@step("Get Table Service Properties", "XML", "account SAS")
def a_signature_for_the_service_reads_its_properties():
    equal(by_account("s", "r").get_table_service_properties().logging.version, "1.0")
    forbidden("AuthorizationResourceTypeMismatch", by_account("co", "r").get_table_service_properties)


@step("Get Table ACL", "XML", "Shared Key")
def policies_are_shown_to_no_signature():
    equal(dict(service.get_table_acl(TABLE)), {})
    forbidden("AuthorizationFailure", by_account("sco", "rwdlacu").get_table_acl, TABLE)
    forbidden("AuthorizationFailure", permitted("raud").get_table_acl, TABLE)


if __name__ == "__main__":
    run()
