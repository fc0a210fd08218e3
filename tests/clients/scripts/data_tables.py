"""All that the azure-data-tables package can do, with every kind of authorisation; also through its asynchronous half.

Every step says what the service answers; what the package makes of it in detail is tested in files of its own.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from datetime import UTC, datetime, timedelta

import runner
from azure.core.credentials import AccessToken, AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import HttpResponseError
from azure.data.tables import (
    AccountSasPermissions,
    ResourceTypes,
    TableAccessPolicy,
    TableCorsRule,
    TableSasPermissions,
    UpdateMode,
    generate_account_sas,
    generate_table_sas,
)
from runner import contains, entity, equal, new_name, refusal, run, step

IS_ASYNCHRONOUS = "ROWKEY_TEST_ASYNCHRONOUS" in os.environ
if IS_ASYNCHRONOUS:
    from azure.data.tables.aio import TableClient, TableServiceClient
else:
    from azure.data.tables import TableClient, TableServiceClient

LOOP = asyncio.new_event_loop()
START, EXPIRY = datetime(2012, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)
OWNER = "Shared Key"


class Credential:
    """What azure-identity makes, but for where it has its token from."""

    def get_token(self, *_scopes, **_options):
        return AccessToken(os.environ["ROWKEY_TEST_TOKEN"], int(time.time()) + 3600)


class AsynchronousCredential(Credential):
    """The same for asynchronous clients."""

    async def get_token(self, *scopes, **options):
        return super().get_token(*scopes, **options)

    async def close(self):
        """Nothing to close."""


class Awaited:
    """An asynchronous client of which every answer is waited for, so that steps need not know which half it is of."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        return lambda *arguments, **named: LOOP.run_until_complete(
            answer_of(getattr(self._client, name), arguments, named)
        )


async def answer_of(method, arguments, named):
    """What a method of an asynchronous client comes to: a list where it is a row of pages."""
    answer = method(*arguments, **named)
    if hasattr(answer, "__aiter__"):
        return [item async for item in answer]
    return await answer if inspect.isawaitable(answer) else answer


def credential_of(kind):
    """What a client shows with this kind of authorisation."""
    key = AzureNamedKeyCredential(runner.ACCOUNT, runner.KEY)
    if kind == "bearer token":
        return AsynchronousCredential() if IS_ASYNCHRONOUS else Credential()
    if kind == "table SAS":
        permission = TableSasPermissions(read=True, add=True, update=True, delete=True)
        return AzureSasCredential(generate_table_sas(key, TABLE, permission=permission, start=START, expiry=EXPIRY))
    if kind == "SAS by policy":
        return AzureSasCredential(generate_table_sas(key, TABLE, policy_id="everything"))
    if kind == "account SAS":
        everything = ResourceTypes.from_string("sco"), AccountSasPermissions.from_string("rwdlacu")
        return AzureSasCredential(generate_account_sas(key, *everything, expiry=EXPIRY))
    return key


opened = []


def opened_with(client, *names, kind):
    """A client with this kind of authorisation, which shows a failure at once."""
    made = client(runner.ENDPOINT, *names, credential=credential_of(kind), retry_total=0, read_timeout=30)
    opened.append(Awaited(made) if IS_ASYNCHRONOUS else made)
    return opened[-1]


def service_with(kind):
    """The account."""
    return opened_with(TableServiceClient, kind=kind)


def table_with(kind, name=None):
    """A table; the one that all steps share unless it is named."""
    return opened_with(TableClient, name or TABLE, kind=kind)


TABLE = new_name()
service = service_with(OWNER)
service.create_table(TABLE)
table = table_with(OWNER)
table.set_table_access_policy({"everything": TableAccessPolicy(start=START, expiry=EXPIRY, permission="raud")})


def stored(partition):
    """The entities of a partition."""
    return [dict(found) for found in table.query_entities(f"PartitionKey eq '{partition}'")]


def table_names():
    """The names of all tables."""
    return [item.name for item in service.list_tables()]


def refused(status, code, function, *arguments, **named):
    """Fail unless a call is refused with this status and code."""
    try:
        answer = function(*arguments, **named)
        list(answer)  # the synchronous half asks for a page when it is needed
    except HttpResponseError as error:
        equal(error.status_code, status)
        contains(str(error), code)
        return
    raise AssertionError(f"not refused, but {answer!r}")


def not_granted(function, *arguments, **named):
    """Fail unless a call is refused for what a signature can never be granted."""
    refused(403, "AuthorizationFailure", function, *arguments, **named)


# ---------------------------------------------------------------- tables


@step("Query Tables", "JSON", "Shared Key, account SAS, bearer token")
def tables_are_listed_and_queried(kind):
    contains([item.name for item in service_with(kind).list_tables()], TABLE)
    equal([item.name for item in service_with(kind).query_tables(f"TableName eq '{TABLE}'")], [TABLE])


@step("Create Table", "JSON", "Shared Key, account SAS, bearer token")
def a_table_is_created(kind):
    name = new_name()
    service_with(kind).create_table(name)
    contains(table_names(), name)
    refused(409, "TableAlreadyExists", service_with(kind).create_table, name)


@step("Delete Table", "JSON", "Shared Key, account SAS, bearer token")
def a_table_is_deleted(kind):
    name = new_name()
    service.create_table(name)
    service_with(kind).delete_table(name)
    equal(name in table_names(), False)


@refusal("Query Tables", "JSON", "table SAS, SAS by policy")
def tables_are_not_for_a_signature_of_one_to_list(kind):
    not_granted(service_with(kind).list_tables)


@refusal("Create Table", "JSON", "table SAS, SAS by policy")
def tables_are_not_for_a_signature_of_one_to_create(kind):
    not_granted(service_with(kind).create_table, new_name())


@refusal("Delete Table", "JSON", "table SAS, SAS by policy")
def tables_are_not_for_a_signature_of_one_to_delete(kind):
    not_granted(service_with(kind).delete_table, TABLE)
    contains(table_names(), TABLE)


# ---------------------------------------------------------------- entities


@step("Insert Entity", "JSON", "Shared Key, table SAS, SAS by policy, account SAS, bearer token")
def an_entity_is_inserted(kind):
    partition = new_name()
    answer = table_with(kind).create_entity(entity(partition, Value=1))
    equal(stored(partition), [entity(partition, Value=1)])
    equal(answer["etag"], table.get_entity(partition, "r").metadata["etag"])


@step("Get Entity", "JSON", "Shared Key, table SAS, SAS by policy, account SAS, bearer token")
def an_entity_comes_back(kind):
    partition = new_name("O'Neil ")
    table.create_entity(entity(partition, Value=1))
    equal(dict(table_with(kind).get_entity(partition, "r")), entity(partition, Value=1))
    refused(404, "ResourceNotFound", table_with(kind).get_entity, partition, "s")


@step("Query Entities", "JSON", "Shared Key, table SAS, SAS by policy, account SAS, bearer token")
def entities_are_listed_and_queried(kind):
    partition = new_name()
    for number in range(3):
        table.create_entity(entity(partition, str(number), Value=number))
    found = table_with(kind).query_entities(f"PartitionKey eq '{partition}' and Value ge 1", results_per_page=1)
    equal([each["RowKey"] for each in found], ["1", "2"])
    listed = table_with(kind).list_entities(select=["PartitionKey"])
    equal(len([each for each in listed if each["PartitionKey"] == partition]), 3)


@step("Update Entity", "JSON", "Shared Key, table SAS, SAS by policy, account SAS, bearer token")
def an_entity_is_updated(kind):
    partition = new_name()
    table.create_entity(entity(partition, A=1, B=2))
    table_with(kind).update_entity(entity(partition, B=3), mode=UpdateMode.REPLACE)
    equal(stored(partition), [entity(partition, B=3)])


@step("Merge Entity", "JSON", "Shared Key, table SAS, SAS by policy, account SAS, bearer token")
def an_entity_is_merged(kind):
    partition = new_name()
    table.create_entity(entity(partition, A=1, B=2))
    table_with(kind).update_entity(entity(partition, B=3), mode=UpdateMode.MERGE)
    equal(stored(partition), [entity(partition, A=1, B=3)])


@step("Insert Or Replace Entity", "JSON", "Shared Key, table SAS, SAS by policy, account SAS, bearer token")
def an_entity_is_inserted_or_replaced(kind):
    partition = new_name()
    table_with(kind).upsert_entity(entity(partition, A=1, B=2), mode=UpdateMode.REPLACE)
    equal(stored(partition), [entity(partition, A=1, B=2)])
    table_with(kind).upsert_entity(entity(partition, B=3), mode=UpdateMode.REPLACE)
    equal(stored(partition), [entity(partition, B=3)])


@step("Insert Or Merge Entity", "JSON", "Shared Key, table SAS, SAS by policy, account SAS, bearer token")
def an_entity_is_inserted_or_merged(kind):
    partition = new_name()
    table_with(kind).upsert_entity(entity(partition, A=1, B=2), mode=UpdateMode.MERGE)
    equal(stored(partition), [entity(partition, A=1, B=2)])
    table_with(kind).upsert_entity(entity(partition, B=3), mode=UpdateMode.MERGE)
    equal(stored(partition), [entity(partition, A=1, B=3)])


@step("Delete Entity", "JSON", "Shared Key, table SAS, SAS by policy, account SAS, bearer token")
def an_entity_is_deleted(kind):
    partition = new_name()
    table.create_entity(entity(partition))
    table_with(kind).delete_entity(partition, "r")
    equal(stored(partition), [])


@step("Entity Group Transaction", "JSON", "Shared Key, table SAS, SAS by policy, account SAS, bearer token")
def a_transaction_is_done_whole_or_not_at_all(kind):
    partition = new_name()
    for row in ("delete", "merge", "replace"):
        table.create_entity(entity(partition, row, A=1))
    operations = [
        ("create", entity(partition, "create", A=2)),
        ("delete", entity(partition, "delete")),
        ("update", entity(partition, "merge", B=2)),
        ("update", entity(partition, "replace", B=2), {"mode": UpdateMode.REPLACE}),
        ("upsert", entity(partition, "upsert", A=2)),
    ]
    equal(len(table_with(kind).submit_transaction(operations)), 5)
    done = [
        entity(partition, "create", A=2),
        entity(partition, "merge", A=1, B=2),
        entity(partition, "replace", B=2),
        entity(partition, "upsert", A=2),
    ]
    equal(stored(partition), done)
    again = [("upsert", entity(partition, "upsert", A=3)), ("create", entity(partition, "create"))]
    refused(409, "EntityAlreadyExists", table_with(kind).submit_transaction, again)
    equal(stored(partition), done)


# ---------------------------------------------------------------- access policies


@step("Get Table ACL", "XML", "Shared Key")
def access_policies_are_shown():
    found = table.get_table_access_policy()["everything"]
    equal((found.start, found.expiry, found.permission), (START, EXPIRY, "raud"))


@step("Set Table ACL", "XML", "Shared Key")
def access_policies_are_kept_and_taken_away():
    name = new_name()
    service.create_table(name)
    own = table_with(OWNER, name)
    own.set_table_access_policy({"readers": TableAccessPolicy(permission="r"), "later": None})
    found = own.get_table_access_policy()
    equal(list(found), ["readers", "later"])
    equal((found["readers"].permission, found["later"]), ("r", None))
    own.set_table_access_policy({})
    equal(own.get_table_access_policy(), {})


@refusal("Get Table ACL", "XML", "table SAS, SAS by policy, account SAS")
def access_policies_are_shown_to_no_signature(kind):
    not_granted(table_with(kind).get_table_access_policy)


@refusal("Set Table ACL", "XML", "table SAS, SAS by policy, account SAS")
def access_policies_are_set_by_no_signature(kind):
    not_granted(table_with(kind).set_table_access_policy, {})
    equal(list(table.get_table_access_policy()), ["everything"])


@refusal("Get Table ACL", "XML", "bearer token")
def access_policies_are_not_there_for_a_bearer():
    refused(404, "ResourceNotFound", table_with("bearer token").get_table_access_policy)


@refusal("Set Table ACL", "XML", "bearer token")
def access_policies_are_not_there_for_a_bearer_to_set():
    refused(404, "ResourceNotFound", table_with("bearer token").set_table_access_policy, {})
    equal(list(table.get_table_access_policy()), ["everything"])


# ---------------------------------------------------------------- the service


@step("Get Table Service Properties", "XML", "Shared Key, account SAS, bearer token")
def properties_of_the_service_are_there(kind):
    equal(service_with(kind).get_service_properties()["analytics_logging"].version, "1.0")


@step("Set Table Service Properties", "XML", "Shared Key, account SAS, bearer token")
def properties_of_the_service_are_kept(kind):
    origin = f"http://{new_name()}.example"
    service_with(kind).set_service_properties(cors=[TableCorsRule([origin], ["GET"], max_age_in_seconds=5)])
    (rule,) = service.get_service_properties()["cors"]
    equal((rule.allowed_origins, rule.allowed_methods, rule.max_age_in_seconds), ([origin], ["GET"], 5))
    service_with(kind).set_service_properties(cors=[])
    equal(service.get_service_properties()["cors"], [])


@step("Get Table Service Stats", "XML", "Shared Key, account SAS, bearer token")
def the_secondary_tells_that_it_is_live(kind):
    found = service_with(kind).get_service_stats()["geo_replication"]
    equal(found["status"], "live")
    equal(abs(found["last_sync_time"] - datetime.now(UTC)) < timedelta(minutes=5), True)


@refusal("Get Table Service Properties", "XML", "table SAS, SAS by policy")
def properties_of_the_service_are_not_for_a_signature_of_a_table(kind):
    not_granted(service_with(kind).get_service_properties)


@refusal("Set Table Service Properties", "XML", "table SAS, SAS by policy")
def properties_of_the_service_are_not_set_by_a_signature_of_a_table(kind):
    not_granted(service_with(kind).set_service_properties, cors=[TableCorsRule(["*"], ["GET"])])
    equal(service.get_service_properties()["cors"], [])


@refusal("Get Table Service Stats", "XML", "table SAS, SAS by policy")
def statistics_are_not_for_a_signature_of_a_table(kind):
    not_granted(service_with(kind).get_service_stats)


if __name__ == "__main__":
    run()
    for client in opened:
        client.close()
