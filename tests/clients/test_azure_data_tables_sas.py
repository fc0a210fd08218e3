"""Shared access signatures and stored access policies, through the azure-data-tables package as a user would."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import HttpResponseError
from azure.data.tables import (
    AccountSasPermissions,
    ResourceTypes,
    TableAccessPolicy,
    TableClient,
    TableSasPermissions,
    TableServiceClient,
    TableTransactionError,
    UpdateMode,
    generate_account_sas,
    generate_table_sas,
)
from azure.data.tables.aio import TableClient as AsyncTableClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Server

HOUR = timedelta(hours=1)
EVERYTHING = TableSasPermissions(read=True, add=True, update=True, delete=True)


class Signer:
    """Holds the key, and hands out clients that have a signature instead."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.credential = AzureNamedKeyCredential(server.account, server.key)
        self.now = datetime.now(UTC)

    def table_sas(self, name: str, **fields: Any) -> str:
        """A signature for a table; valid from an hour ago on, for two hours, unless `fields` says otherwise."""
        if "policy_id" not in fields:
            fields = {"permission": EVERYTHING, "start": self.now - HOUR, "expiry": self.now + HOUR, **fields}
        return generate_table_sas(self.credential, name, **fields)

    def table(self, name: str, sas: str) -> TableClient:
        """A client for a table that has only the signature."""
        return TableClient(self.server.endpoint, name, credential=AzureSasCredential(sas), retry_total=0)

    def account_sas(self, types: str = "sco", permission: str = "rwdlacu", **fields: Any) -> str:
        """A signature for the account."""
        fields = {"expiry": self.now + HOUR, **fields}
        resource_types = ResourceTypes.from_string(types)
        permissions = AccountSasPermissions.from_string(permission)
        return generate_account_sas(self.credential, resource_types, permissions, **fields)

    def account(self, sas: str) -> TableServiceClient:
        """A client for the account that has only the signature."""
        return TableServiceClient(self.server.endpoint, credential=AzureSasCredential(sas), retry_total=0)


@pytest.fixture
def signer(server: Server) -> Signer:
    return Signer(server)


@pytest.fixture
def own_table(service: TableServiceClient, table_name: str) -> Iterator[TableClient]:
    """A table that no other test has, with the owner's credentials."""
    yield service.create_table(table_name)
    service.delete_table(table_name)


def entity(partition: str, row: str = "r", **properties: Any) -> dict[str, Any]:
    """An entity as the client takes it."""
    return {"PartitionKey": partition, "RowKey": row, **properties}


def code_of(refused: pytest.ExceptionInfo[HttpResponseError]) -> tuple[int | None, str]:
    """Status and code of a refusal; the client shows the code in one of two ways."""
    found = re.search(r'"code":"(\w+)"|ErrorCode:(\w+)', str(refused.value))
    return refused.value.status_code, (found[1] or found[2]) if found else ""


class TestTable:
    def test_everything_with_entities(self, signer: Signer, table: TableClient, partition: str) -> None:
        client = signer.table(table.table_name, signer.table_sas(table.table_name))
        client.create_entity(entity(partition, Name="a"))
        client.update_entity(entity(partition, Name="b"), mode=UpdateMode.REPLACE)
        client.update_entity(entity(partition, More=1), mode=UpdateMode.MERGE)
        client.upsert_entity(entity(partition, "s"), mode=UpdateMode.REPLACE)
        client.upsert_entity(entity(partition, "s", Name="c"), mode=UpdateMode.MERGE)
        assert dict(client.get_entity(partition, "r")) == entity(partition, Name="b", More=1)
        assert [found["RowKey"] for found in client.query_entities(f"PartitionKey eq '{partition}'")] == ["r", "s"]
        client.submit_transaction([("create", entity(partition, "t")), ("delete", entity(partition, "s"))])
        client.delete_entity(partition, "r")
        assert [found["RowKey"] for found in client.query_entities(f"PartitionKey eq '{partition}'")] == ["t"]

    def test_nothing_but_reading(self, signer: Signer, table: TableClient, partition: str) -> None:
        table.create_entity(entity(partition))
        client = signer.table(table.table_name, signer.table_sas(table.table_name, permission="r"))
        assert client.get_entity(partition, "r")["RowKey"] == "r"
        for write in (
            lambda: client.create_entity(entity(partition, "s")),
            lambda: client.update_entity(entity(partition)),
            lambda: client.upsert_entity(entity(partition, "s")),
            lambda: client.delete_entity(partition, "r"),
        ):
            with pytest.raises(HttpResponseError) as refused:
                write()
            assert code_of(refused) == (403, "AuthorizationPermissionMismatch")

    def test_a_transaction_has_no_more_permissions(self, signer: Signer, table: TableClient, partition: str) -> None:
        client = signer.table(table.table_name, signer.table_sas(table.table_name, permission="ra"))
        with pytest.raises(TableTransactionError) as refused:
            client.submit_transaction([("create", entity(partition)), ("upsert", entity(partition, "s"))])
        assert code_of(refused) == (403, "AuthorizationPermissionMismatch")
        assert refused.value.index == 1
        assert list(client.query_entities(f"PartitionKey eq '{partition}'")) == []

    def test_upper_case_table_name(self, signer: Signer, table: TableClient, partition: str) -> None:
        """Recorded: signed in lower case, written as it is."""
        table.create_entity(entity(partition))
        upper = table.table_name.upper()
        for name in (table.table_name, upper):
            client = signer.table(name, signer.table_sas(upper))
            assert client.get_entity(partition, "r")["RowKey"] == "r"

    def test_another_table(self, signer: Signer, table: TableClient, own_table: TableClient, partition: str) -> None:
        client = signer.table(own_table.table_name, signer.table_sas(table.table_name))
        with pytest.raises(HttpResponseError) as refused:
            client.create_entity(entity(partition))
        assert code_of(refused) == (403, "AuthorizationFailure")

    def test_tables_and_policies_are_not_for_it(self, signer: Signer, table: TableClient) -> None:
        sas = signer.table_sas(table.table_name)
        for ask in (
            lambda: list(signer.account(sas).list_tables()),
            lambda: signer.account(sas).create_table("another"),
            lambda: signer.account(sas).get_service_properties(),
            lambda: signer.table(table.table_name, sas).get_table_access_policy(),
            lambda: signer.table(table.table_name, sas).delete_table(),
        ):
            with pytest.raises(HttpResponseError) as refused:
                ask()
            assert code_of(refused) == (403, "AuthorizationFailure")

    @pytest.mark.parametrize("times", [(-2, -1), (1, 2)])
    def test_expired_or_not_yet_valid(self, signer: Signer, table: TableClient, times: tuple[int, int]) -> None:
        start, expiry = (signer.now + hours * HOUR for hours in times)
        client = signer.table(table.table_name, signer.table_sas(table.table_name, start=start, expiry=expiry))
        with pytest.raises(HttpResponseError) as refused:
            client.get_entity("p", "r")
        assert code_of(refused) == (403, "AuthenticationFailed")

    @pytest.mark.parametrize("expiry", ["2099-01-01", "2099-01-01T00:00Z", "2099-01-01T00:00:00.0000000Z"])
    def test_expiry_as_text(self, signer: Signer, table: TableClient, partition: str, expiry: str) -> None:
        client = signer.table(table.table_name, signer.table_sas(table.table_name, expiry=expiry))
        client.create_entity(entity(partition))

    def test_a_changed_signature(self, signer: Signer, table: TableClient) -> None:
        sas = signer.table_sas(table.table_name, permission="r").replace("sp=r", "sp=raud")
        with pytest.raises(HttpResponseError) as refused:
            signer.table(table.table_name, sas).get_entity("p", "r")
        assert code_of(refused) == (403, "AuthenticationFailed")

    def test_https_only(self, signer: Signer, table: TableClient, partition: str) -> None:
        client = signer.table(table.table_name, signer.table_sas(table.table_name, protocol="https"))
        if signer.server.endpoint.startswith("https:"):
            client.create_entity(entity(partition))
            return
        with pytest.raises(HttpResponseError) as refused:
            client.create_entity(entity(partition))
        assert code_of(refused) == (403, "AuthorizationProtocolMismatch")

    @pytest.mark.parametrize(
        ("sources", "is_allowed"),
        [("127.0.0.1", True), ("127.0.0.0-127.255.255.255", True), ("10.0.0.1", False), ("10.0.0.0-10.0.0.9", False)],
    )
    def test_source(self, signer: Signer, table: TableClient, partition: str, sources: str, is_allowed: bool) -> None:
        if "127.0.0.1" not in signer.server.endpoint:
            pytest.skip("only a server on this machine sees 127.0.0.1")
        sas = signer.table_sas(table.table_name, ip_address_or_range=sources)
        client = signer.table(table.table_name, sas)
        if is_allowed:
            client.create_entity(entity(partition))
            return
        with pytest.raises(HttpResponseError, match=r"using this source IP 127\.0\.0\.1\.") as refused:
            client.create_entity(entity(partition))
        assert code_of(refused) == (403, "AuthorizationSourceIPMismatch")


class TestKeyRanges:
    def test_insert_outside_the_range(self, signer: Signer, table: TableClient, partition: str) -> None:
        """Recorded."""
        sas = signer.table_sas(table.table_name, start_pk="test", start_rk="test1", end_pk="test", end_rk="test1")
        with pytest.raises(HttpResponseError) as refused:
            signer.table(table.table_name, sas).create_entity(entity(partition))
        assert code_of(refused) == (403, "AuthorizationFailure")

    def test_queries_show_what_is_within(self, signer: Signer, table: TableClient, partition: str) -> None:
        rows = ["1", "2", "\u00e9", "\U0001f600"]
        table.submit_transaction([("create", entity(partition, row)) for row in rows])
        for start, end, expected in (
            ("2", "\u00e9", rows[1:3]),
            ("1", "2", rows[:2]),
            ("\u00e9", "\U0001f600", rows[2:]),
            ("3", "4", []),
        ):
            sas = signer.table_sas(table.table_name, start_pk=partition, start_rk=start, end_pk=partition, end_rk=end)
            found = signer.table(table.table_name, sas).list_entities(results_per_page=1)
            assert [one["RowKey"] for one in found] == expected

    def test_points_and_transactions(self, signer: Signer, table: TableClient, partition: str) -> None:
        table.submit_transaction([("create", entity(partition, row)) for row in ("1", "2", "3")])
        sas = signer.table_sas(table.table_name, start_pk=partition, start_rk="2", end_pk=partition)
        client = signer.table(table.table_name, sas)
        assert client.get_entity(partition, "2")["RowKey"] == "2"
        client.upsert_entity(entity(partition, "9"))
        with pytest.raises(HttpResponseError) as refused:
            client.get_entity(partition, "1")
        assert code_of(refused) == (403, "AuthorizationFailure")
        with pytest.raises(TableTransactionError) as refused:
            client.submit_transaction([("delete", entity(partition, "3")), ("delete", entity(partition, "1"))])
        assert code_of(refused) == (403, "AuthorizationFailure")
        assert client.get_entity(partition, "3")["RowKey"] == "3"


class TestPolicies:
    def test_given_back_as_set(self, signer: Signer, own_table: TableClient) -> None:
        start, expiry = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2099, 1, 1, tzinfo=UTC)
        own_table.set_table_access_policy(
            {
                "full": TableAccessPolicy(start=start, expiry=expiry, permission="raud"),
                "dates": TableAccessPolicy(start="2026-01-02", expiry="2099-01-01T00:00Z"),
                "empty": TableAccessPolicy(),
                "none": None,
            }
        )
        policies = own_table.get_table_access_policy()
        assert list(policies) == ["full", "dates", "empty", "none"]
        assert policies["full"] is not None
        assert (policies["full"].start, policies["full"].expiry) == (start, expiry)
        assert policies["full"].permission == "raud"
        assert policies["none"] is None
        own_table.set_table_access_policy({})
        assert own_table.get_table_access_policy() == {}

    def test_six_are_too_many(self, own_table: TableClient) -> None:
        with pytest.raises(ValueError, match="Too many"):
            own_table.set_table_access_policy({str(number): None for number in range(6)})

    def test_a_signature_by_policy(self, signer: Signer, own_table: TableClient) -> None:
        name = own_table.table_name
        expiry = signer.now + HOUR
        own_table.create_entity(entity("p"))
        client = signer.table(name, signer.table_sas(name, policy_id="readers"))
        with pytest.raises(HttpResponseError):
            client.get_entity("p", "r")
        own_table.set_table_access_policy({"readers": TableAccessPolicy(expiry=expiry, permission="r")})
        assert client.get_entity("p", "r")["RowKey"] == "r"
        with pytest.raises(HttpResponseError) as refused:
            client.delete_entity("p", "r")
        assert code_of(refused) == (403, "AuthorizationPermissionMismatch")
        own_table.set_table_access_policy({"readers": TableAccessPolicy(expiry=expiry, permission="d")})
        client.delete_entity("p", "r")
        own_table.set_table_access_policy({})
        with pytest.raises(HttpResponseError) as refused:
            client.get_entity("p", "r")
        assert code_of(refused) == (403, "AuthenticationFailed")

    def test_policy_and_signature_share_the_fields(self, signer: Signer, own_table: TableClient) -> None:
        name = own_table.table_name
        own_table.set_table_access_policy({"p": TableAccessPolicy(start=signer.now - HOUR, permission="a")})
        sas = signer.table_sas(name, policy_id="p", expiry=signer.now + HOUR)
        signer.table(name, sas).create_entity(entity("p"))
        both = signer.table_sas(name, policy_id="p", expiry=signer.now + HOUR, permission="a")
        with pytest.raises(HttpResponseError):
            signer.table(name, both).create_entity(entity("q"))


class TestAccount:
    def test_everything(self, signer: Signer, table_name: str) -> None:
        account = signer.account(signer.account_sas())
        table = account.create_table(table_name)
        table.create_entity(entity("p"))
        table.submit_transaction([("upsert", entity("p", row)) for row in "abc"])
        assert [found["RowKey"] for found in table.list_entities()] == ["a", "b", "c", "r"]
        assert table_name in [found.name for found in account.list_tables()]
        assert "cors" in account.get_service_properties()
        with pytest.raises(HttpResponseError) as refused:
            table.get_table_access_policy()
        assert code_of(refused) == (403, "AuthorizationFailure")
        account.delete_table(table_name)
        assert table_name not in [found.name for found in account.list_tables()]

    def test_objects_alone_are_enough_for_queries(self, signer: Signer, table: TableClient, partition: str) -> None:
        """Recorded."""
        table.create_entity(entity(partition))
        client = signer.table(table.table_name, signer.account_sas("o", "r"))
        assert client.get_entity(partition, "r")["RowKey"] == "r"
        assert len(list(client.query_entities(f"PartitionKey eq '{partition}'"))) == 1

    def test_resource_types_and_permissions(self, signer: Signer, table: TableClient, partition: str) -> None:
        for types, permission, code in (
            ("sc", "rwdlacu", "AuthorizationResourceTypeMismatch"),
            ("o", "rwdlcu", "AuthorizationPermissionMismatch"),
        ):
            with pytest.raises(HttpResponseError) as refused:
                signer.table(table.table_name, signer.account_sas(types, permission)).create_entity(entity(partition))
            assert code_of(refused) == (403, code)

    def test_in_a_connection_string(self, signer: Signer, table: TableClient, partition: str) -> None:
        sas = signer.account_sas("o", "ra")
        text = f"TableEndpoint={signer.server.endpoint};SharedAccessSignature={sas};"
        with TableClient.from_connection_string(text, table.table_name, retry_total=0) as client:
            client.create_entity(entity(partition))
            assert client.get_entity(partition, "r")["RowKey"] == "r"

    def test_in_the_url(self, signer: Signer, table: TableClient, partition: str) -> None:
        sas = signer.account_sas("o", "ra")
        with TableClient.from_table_url(f"{table.url}/{table.table_name}?{sas}", retry_total=0) as client:
            client.create_entity(entity(partition))

    async def test_async_client(self, signer: Signer, table: TableClient, partition: str) -> None:
        credential = AzureSasCredential(signer.account_sas("o", "ra"))
        async with AsyncTableClient(signer.server.endpoint, table.table_name, credential=credential) as client:
            await client.create_entity(entity(partition))
            assert (await client.get_entity(partition, "r"))["RowKey"] == "r"
