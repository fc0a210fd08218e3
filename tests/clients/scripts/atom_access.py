"""Access policies and shared access signatures, through azure 0.11.1 and azure-storage 0.20.3.

A signature of theirs is of version 2014-02-14. In that time what it does not permit was "not found".
"""

from __future__ import annotations

import runner
from atom_client import TABLE, Missing, Refused, TableService, service
from azure.storage import AccessPolicy, SharedAccessPolicy, SignedIdentifier, SignedIdentifiers
from runner import contains, entity, equal, new_name, raised, run, step

PAST, FUTURE = "2012-01-01T00:00:00Z", "2038-01-01T00:00:00Z"


def with_policy(policy, table=TABLE):
    """The service for the holder of a signature."""
    token = service.generate_shared_access_signature(table, policy)
    return TableService(runner.ACCOUNT, None, runner.PROTOCOL, runner.HOST_BASE, sas_token=token)


def permitted(permission, expiry=FUTURE, **ranges):
    """The service for the holder of a signature that stands for itself."""
    return with_policy(SharedAccessPolicy(AccessPolicy(PAST, expiry, permission, **ranges)))


def policies(*identifiers):
    """What `set_table_acl` takes."""
    found = SignedIdentifiers()
    for name, start, expiry, permission in identifiers:
        identifier = SignedIdentifier()
        identifier.id = name
        identifier.access_policy = AccessPolicy(start, expiry, permission)
        found.signed_identifiers.append(identifier)
    return found


def partitions(found):
    """The partition keys of entities."""
    return [each.PartitionKey for each in found]


@step("Get Table ACL", "XML", "Shared Key")
def a_new_table_has_no_policies():
    table = new_name()
    service.create_table(table, fail_on_exist=True)
    equal(len(service.get_table_acl(table)), 0)


@step("Get Table ACL", "XML", "Shared Key")
def policies_of_a_missing_table_are_not_found():
    raised(Missing, service.get_table_acl, new_name())


@step("Set Table ACL", "XML", "Shared Key")
def policies_are_kept_and_taken_away():
    table = new_name()
    service.create_table(table, fail_on_exist=True)
    service.set_table_acl(table, policies(("readers", "2012-01-01", FUTURE, "r"), ("writers", PAST, FUTURE, "raud")))
    equal(
        [
            (each.id, each.access_policy.start, each.access_policy.expiry, each.access_policy.permission)
            for each in service.get_table_acl(table)
        ],
        [
            ("readers", "2012-01-01T00:00:00.0000000Z", "2038-01-01T00:00:00.0000000Z", "r"),
            ("writers", "2012-01-01T00:00:00.0000000Z", "2038-01-01T00:00:00.0000000Z", "raud"),
        ],
    )
    service.set_table_acl(table)
    equal(len(service.get_table_acl(table)), 0)


@step("Set Table ACL", "XML", "Shared Key")
def more_than_five_policies_are_refused():
    many = policies(*((f"policy{number}", PAST, FUTURE, "r") for number in range(6)))
    contains(str(raised(Refused, service.set_table_acl, TABLE, many)), "InvalidXmlDocument")


@step("Query Entities", "Atom", "table SAS")
def a_signature_to_query_queries():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, Value=1))
    holder = permitted("r")
    found = holder.query_entities(TABLE, f"PartitionKey eq '{partition}'")
    equal([each.Value for each in found], [1])


@step("Get Entity", "Atom", "table SAS")
def a_signature_to_query_gets():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, Value=1))
    equal(permitted("r").get_entity(TABLE, partition, "r").Value, 1)
    raised(Missing, permitted("a").get_entity, TABLE, partition, "r")


@step("Insert Entity", "Atom", "table SAS")
def a_signature_to_add_inserts():
    partition = new_name()
    raised(Missing, permitted("rud").insert_entity, TABLE, entity(partition, Value=1))
    permitted("a").insert_entity(TABLE, entity(partition, Value=2))
    equal(service.get_entity(TABLE, partition, "r").Value, 2)


@step("Update Entity", "Atom", "table SAS")
def a_signature_to_update_updates():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, Value=1))
    raised(Missing, permitted("rad").update_entity, TABLE, partition, "r", entity(partition, Value=2))
    permitted("u").update_entity(TABLE, partition, "r", entity(partition, Value=3))
    equal(service.get_entity(TABLE, partition, "r").Value, 3)


@step("Merge Entity", "Atom", "table SAS")
def a_signature_to_update_merges():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, Value=1))
    permitted("u").merge_entity(TABLE, partition, "r", entity(partition, Other=3))
    found = service.get_entity(TABLE, partition, "r")
    equal((found.Value, found.Other), (1, 3))


@step("Insert Or Replace Entity", "Atom", "table SAS")
def a_signature_to_add_and_update_inserts_or_replaces():
    partition = new_name()
    for permission in ("a", "u"):
        raised(
            Missing,
            permitted(permission).insert_or_replace_entity,
            *(TABLE, partition, "r", entity(partition, Value=1)),
        )
    permitted("au").insert_or_replace_entity(TABLE, partition, "r", entity(partition, Value=2))
    equal(service.get_entity(TABLE, partition, "r").Value, 2)


@step("Insert Or Merge Entity", "Atom", "table SAS")
def a_signature_to_add_and_update_inserts_or_merges():
    partition = new_name()
    permitted("au").insert_or_merge_entity(TABLE, partition, "r", entity(partition, Value=1))
    permitted("au").insert_or_merge_entity(TABLE, partition, "r", entity(partition, Other=2))
    found = service.get_entity(TABLE, partition, "r")
    equal((found.Value, found.Other), (1, 2))


@step("Delete Entity", "Atom", "table SAS")
def a_signature_to_delete_deletes():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition))
    raised(Missing, permitted("rau").delete_entity, TABLE, partition, "r")
    equal(service.get_entity(TABLE, partition, "r").PartitionKey, partition)
    permitted("d").delete_entity(TABLE, partition, "r")
    raised(Missing, service.get_entity, TABLE, partition, "r")


@step("Entity Group Transaction", "Atom", "table SAS")
def a_signature_does_a_batch():
    partition = new_name()
    service.insert_entity(TABLE, entity(partition, "old"))
    holder = permitted("ad")
    holder.begin_batch()
    holder.insert_entity(TABLE, entity(partition, "new", Value=1))
    holder.delete_entity(TABLE, partition, "old")
    holder.commit_batch()
    found = service.query_entities(TABLE, f"PartitionKey eq '{partition}'")
    equal([each.RowKey for each in found], ["new"])


@step("Query Entities", "Atom", "table SAS")
def a_signature_ends_with_its_time_and_table():
    contains(str(raised(Refused, permitted("r", expiry=PAST).query_entities, TABLE)), "AuthenticationFailed")
    other = new_name()
    service.create_table(other, fail_on_exist=True)
    raised(Missing, permitted("raud").query_entities, other)


@step("Query Entities", "Atom", "table SAS")
def a_signature_for_a_range_shows_the_range():
    prefix = new_name()
    for suffix in "abcd":
        service.insert_entity(TABLE, entity(prefix + suffix))
    holder = permitted("ra", start_pk=prefix + "b", start_rk="r", end_pk=prefix + "c", end_rk="r")
    equal(partitions(holder.query_entities(TABLE)), [prefix + "b", prefix + "c"])
    raised(Missing, holder.insert_entity, TABLE, entity(prefix + "e"))


@step("Query Entities", "Atom", "SAS by policy")
def a_policy_permits_as_long_as_it_is_there():
    table = new_name()
    service.create_table(table, fail_on_exist=True)
    service.insert_entity(table, entity("p", Value=1))
    service.set_table_acl(table, policies(("readers", PAST, FUTURE, "r")))
    holder = with_policy(SharedAccessPolicy(None, "readers"), table)
    equal([each.Value for each in holder.query_entities(table)], [1])
    service.set_table_acl(table)
    contains(str(raised(Refused, holder.query_entities, table)), "AuthenticationFailed")


@step("Insert Entity", "Atom", "SAS by policy")
def a_policy_permits_no_more_than_it_says():
    table = new_name()
    service.create_table(table, fail_on_exist=True)
    service.set_table_acl(table, policies(("readers", PAST, FUTURE, "r"), ("adders", PAST, FUTURE, "a")))
    raised(Missing, with_policy(SharedAccessPolicy(None, "readers"), table).insert_entity, table, entity("p"))
    with_policy(SharedAccessPolicy(None, "adders"), table).insert_entity(table, entity("p", Value=1))
    equal(service.get_entity(table, "p", "r").Value, 1)


if __name__ == "__main__":
    run()
