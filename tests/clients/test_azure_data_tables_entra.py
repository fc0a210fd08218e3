"""Bearer tokens through the azure-data-tables package, over TLS, with an issuer that stands for Microsoft Entra ID.

The client believes that it talks to Azure: it sends the token to https only, and asks for one of another tenant when a
challenge says so.
"""

from __future__ import annotations

import http.client
import ssl
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceNotFoundError,
    ServiceRequestError,
)
from azure.data.tables import TableServiceClient, TableTransactionError
from azure.data.tables._authentication import _HttpChallenge
from azure.data.tables.aio import TableServiceClient as AsyncTableServiceClient

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Server, ServerProcess, TokenIssuer

WRITER, READER = "aaaaaaaa-0000-0000-0000-000000000001", "aaaaaaaa-0000-0000-0000-000000000002"
ENTITY = {"PartitionKey": "p", "RowKey": "r", "N": 1}


# On Python 3.13 the package itself does this when it reads an error in XML.
ignores_elements_truth = pytest.mark.filterwarnings("ignore:Testing an element's truth value:DeprecationWarning")


@dataclass
class Credential:
    """What azure-identity makes, but for how it gets its tokens: one after the other, the last one again and again."""

    tokens: list[str]
    asked: list[tuple[tuple[str, ...], str | None]] = field(default_factory=list)

    def get_token(self, *scopes: str, tenant_id: str | None = None, **_options: Any) -> AccessToken:
        """The next token."""
        self.asked.append((scopes, tenant_id))
        token = self.tokens.pop(0) if len(self.tokens) > 1 else self.tokens[0]
        return AccessToken(token, int(time.time()) + 3600)


class AsyncCredential(Credential):
    """The same for the asynchronous clients."""

    async def get_token(self, *scopes: str, **options: Any) -> AccessToken:  # type: ignore[override]
        """The next token."""
        return super().get_token(*scopes, **options)

    async def close(self) -> None:
        """Nothing to close."""

    async def __aenter__(self) -> AsyncCredential:
        return self

    async def __aexit__(self, *_error: object) -> None:
        pass


CHALLENGED = "2020-12-06"
"""A version in which the service challenges a token that it does not accept."""


@dataclass(frozen=True)
class Azure:
    """A server that knows the issuer, and what a client has to trust."""

    server: Server
    certificate: Path

    def connect(self, *tokens: str) -> TableServiceClient:
        """A client with these tokens."""
        return self.connect_with(Credential(list(tokens)))

    def connect_with(self, credential: Credential) -> TableServiceClient:
        """A client with this credential."""
        return TableServiceClient(
            self.server.endpoint,
            credential=credential,
            connection_verify=str(self.certificate),
            retry_total=0,
            api_version=CHALLENGED,
        )


@pytest.fixture
def azure(own_server_with: Callable[..., ServerProcess], issuer: TokenIssuer, tmp_path: Path) -> Azure:
    """One writer, one reader, and nobody else."""
    process = own_server_with(
        *("--tls", "auto", "--oidc", issuer.url),
        *("--oidc-role", f"{WRITER}=contributor", "--oidc-role", f"{READER}=reader"),
    )
    return Azure(process.server, tmp_path / "data" / "tls" / "cert.pem")


def test_writer_writes_and_reads(azure: Azure, issuer: TokenIssuer) -> None:
    credential = Credential([issuer.token(oid=WRITER)])
    with azure.connect_with(credential) as service:
        table = service.create_table("Orders")
        table.create_entity(ENTITY)
        table.upsert_entity(ENTITY | {"N": 2})
        assert table.get_entity("p", "r")["N"] == 2
        assert [entity["N"] for entity in table.query_entities("N eq 2")] == [2]
        assert [item.name for item in service.list_tables()] == ["Orders"]
        table.delete_entity(ENTITY)
        service.delete_table("Orders")
    assert credential.asked == [(("https://storage.azure.com/.default",), None)]


def test_reader_reads_and_does_not_write(azure: Azure, issuer: TokenIssuer) -> None:
    with azure.connect(issuer.token(oid=WRITER)) as service:
        service.create_table("Orders").create_entity(ENTITY)
    with azure.connect(issuer.token(oid=READER, sub=READER)) as service:
        table = service.get_table_client("Orders")
        assert table.get_entity("p", "r")["N"] == 1
        assert [item.name for item in service.list_tables()] == ["Orders"]
        for write in (
            lambda: table.create_entity(ENTITY | {"RowKey": "s"}),
            lambda: table.update_entity(ENTITY),
            lambda: table.upsert_entity(ENTITY),
            lambda: table.delete_entity(ENTITY),
            lambda: service.create_table("Others"),
            lambda: service.delete_table("Orders"),
        ):
            with pytest.raises(HttpResponseError, match="using this permission") as refused:
                write()
            assert refused.value.response is not None
            assert refused.value.response.status_code == 403
            assert '"AuthorizationPermissionMismatch"' in refused.value.response.text()
        assert table.get_entity("p", "r")["N"] == 1


def test_batch_needs_the_right_of_each_operation(azure: Azure, issuer: TokenIssuer) -> None:
    operations: Any = [("create", ENTITY | {"RowKey": str(n)}) for n in range(10)]
    with azure.connect(issuer.token(oid=WRITER)) as service:
        table = service.create_table("Orders")
        assert len(table.submit_transaction(operations)) == 10
    with azure.connect(issuer.token(oid=READER, sub=READER)) as service:
        with pytest.raises((TableTransactionError, HttpResponseError), match="using this permission"):
            service.get_table_client("Orders").submit_transaction([("delete", ENTITY | {"RowKey": "0"})])
        assert len(list(service.get_table_client("Orders").list_entities())) == 10


def test_roles_of_the_token_count(azure: Azure, issuer: TokenIssuer) -> None:
    nobody = {"oid": "x", "sub": "x"}
    with azure.connect(issuer.token(**nobody, roles=["StorageTableDataContributor"])) as service:
        service.create_table("Orders")
    with azure.connect(issuer.token(**nobody)) as service:
        with pytest.raises(HttpResponseError, match="using this permission"):
            list(service.list_tables())


@ignores_elements_truth
def test_access_policies_are_not_there(azure: Azure, issuer: TokenIssuer) -> None:
    """The service was recorded to answer 404 to a bearer, whatever its role."""
    with azure.connect(issuer.token(oid=WRITER)) as service:
        table = service.create_table("Orders")
        with pytest.raises(ResourceNotFoundError, match="ResourceNotFound"):
            table.get_table_access_policy()
        with pytest.raises(ResourceNotFoundError, match="ResourceNotFound"):
            table.set_table_access_policy({})


def test_challenge_tells_the_tenant(azure: Azure, issuer: TokenIssuer) -> None:
    """The client's first token is refused; it asks for another, of the tenant that the challenge names."""
    credential = Credential([issuer.token(aud="https://vault.azure.net"), issuer.token(oid=WRITER)])
    with azure.connect_with(credential) as service:
        service.create_table("Orders")
    scope = ("https://storage.azure.com/.default",)
    assert credential.asked == [(scope, None), (scope, issuer.tenant)]


def test_request_without_credentials_is_challenged(azure: Azure, issuer: TokenIssuer) -> None:
    """In the form that the client parses; older versions get what they always got."""
    context = ssl.create_default_context(cafile=str(azure.certificate))
    host = azure.server.endpoint.removeprefix("https://").partition("/")[0]
    for version, status in (("2017-11-09", 401), ("2017-11-08", 403)):
        connection = http.client.HTTPSConnection(host, timeout=10, context=context)
        headers = {"x-ms-version": version, "Accept": "application/json"}
        connection.request("GET", f"/{azure.server.account}/Tables", headers=headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        assert response.status == status
        if status == 403:
            assert response.headers["WWW-Authenticate"] is None
            assert b'"code":"AuthenticationFailed"' in body
        else:
            challenge = _HttpChallenge(response.headers["WWW-Authenticate"])  # type: ignore[no-untyped-call]
            assert (challenge.tenant_id, challenge.resource) == (issuer.tenant, "https://storage.azure.com")
            assert response.headers["x-ms-error-code"] == "NoAuthenticationInformation"
            assert b'"code":"NoAuthenticationInformation"' in body


@pytest.mark.parametrize("changes", [{"exp": 1}, {"nbf": 1 << 40}, {"iss": "https://elsewhere"}, {"aud": "elsewhere"}])
def test_bad_token_is_refused(azure: Azure, issuer: TokenIssuer, changes: dict[str, Any]) -> None:
    with azure.connect(issuer.token(oid=WRITER, **changes)) as service:
        with pytest.raises(ClientAuthenticationError, match="InvalidAuthenticationInfo") as refused:
            service.create_table("Orders")
        assert refused.value.status_code == 401


def test_keys_still_work(azure: Azure) -> None:
    with TableServiceClient.from_connection_string(
        azure.server.connection_string, connection_verify=str(azure.certificate), retry_total=0
    ) as service:
        assert service.create_table("Orders").create_entity(ENTITY)


def test_certificate_must_be_trusted(azure: Azure) -> None:
    with TableServiceClient.from_connection_string(azure.server.connection_string, retry_total=0) as service:
        with pytest.raises(ServiceRequestError, match="CERTIFICATE_VERIFY_FAILED"):
            service.create_table("Orders")


@ignores_elements_truth
async def test_asynchronous_client(azure: Azure, issuer: TokenIssuer) -> None:
    tokens = [issuer.token(aud="https://vault.azure.net"), issuer.token(oid=WRITER)]
    service = AsyncTableServiceClient(
        azure.server.endpoint,
        credential=AsyncCredential(tokens),
        connection_verify=str(azure.certificate),
        retry_total=0,
        api_version=CHALLENGED,
    )
    async with service:
        table = await service.create_table("Orders")
        operations: Any = [("create", ENTITY | {"RowKey": str(n)}) for n in range(10)]
        assert len(await table.submit_transaction(operations)) == 10
        assert len([entity async for entity in table.list_entities()]) == 10
        with pytest.raises(ResourceNotFoundError, match="ResourceNotFound"):
            await table.get_table_access_policy()
