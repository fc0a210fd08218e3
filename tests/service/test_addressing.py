"""Whose account a request is for, and which replica of it."""

from __future__ import annotations

import pytest

from rowkey.auth.authority import TokenAuthority
from rowkey.config import Account, Bearer, Settings
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore
from tests.service.asking import ENTITY, ask, code_of, request_to


class TestAccounts:
    @pytest.mark.parametrize("key", [b"first", b"second"])
    async def test_both_keys(self, service: Service, key: bytes) -> None:
        assert (await ask(service, "GET", "/account/Tables", key=key)).status == 200

    async def test_accounts_do_not_see_each_other(self, service: Service) -> None:
        body = b'{"PartitionKey":"p","RowKey":"r"}'
        assert (await ask(service, "POST", "/account/Orders", {}, body)).status == 201
        target = "/other/Orders(PartitionKey='p',RowKey='r')"
        assert (await ask(service, "GET", target, account="other", key=b"third")).status == 404

    @pytest.mark.parametrize(("account", "key"), [("other", b"third"), ("other", b"first"), ("account", b"third")])
    async def test_key_of_another_account(self, service: Service, account: str, key: bytes) -> None:
        response = await ask(service, "GET", "/account/Tables", account=account, key=key)
        assert (response.status, code_of(response)) == (403, "AuthenticationFailed")

    async def test_unknown_account(self, service: Service) -> None:
        response = await ask(service, "GET", "/nobody/Tables", account="nobody")
        assert (response.status, code_of(response)) == (404, "ResourceNotFound")
        assert response.header("Content-Type") == "application/json"

    async def test_no_credentials(self, service: Service) -> None:
        """Without an issuer of tokens a challenge would mislead the SDKs."""
        request = request_to("GET", "/account/Tables")
        del request.headers["authorization"]
        response = await service.handle(request)
        assert (response.status, code_of(response)) == (403, "AuthenticationFailed")
        assert response.header("WWW-Authenticate") is None

    @pytest.mark.parametrize(
        ("version", "echoed", "code"),
        [("2009-04-14", None, None), ("2014-02-14", "2014-02-14", None), ("2019-02-02",) * 2 + ("ResourceNotFound",)],
    )
    async def test_refusal_of_an_unknown_account_is_in_the_version_asked_for(
        self, service: Service, version: str, echoed: str | None, code: str | None
    ) -> None:
        headers = {"x-ms-version": version, "accept": "*/*", "x-ms-client-request-id": "abc"}
        response = await ask(service, "GET", "/nobody/Tables", headers)
        assert (response.header("x-ms-version"), response.header("x-ms-error-code")) == (echoed, code)
        assert response.header("x-ms-client-request-id") == ("abc" if code else None)
        assert b"\nRequestId:" in response.body

    @pytest.mark.parametrize(("version", "status"), [("2017-11-09", 401), ("2017-07-29", 403), (None, 403)])
    async def test_challenge_is_for_versions_with_bearer_tokens(self, version: str | None, status: int) -> None:
        settings = Settings(data=None, accounts={"account": Account("account", (b"first",))})
        service = Service(settings, MemoryStore(), bearer=TokenAuthority(Bearer(None), None))
        request = request_to("GET", "/account/Tables", {"x-ms-version": version})
        del request.headers["authorization"]
        response = await service.handle(request)
        assert response.status == status
        assert (response.header("WWW-Authenticate") is not None) is (status == 401)

    async def test_authorization_of_one_word(self, service: Service) -> None:
        response = await ask(service, "GET", "/account/Tables", {"authorization": "nonsense"})
        assert (response.status, code_of(response)) == (400, "InvalidAuthenticationInfo")

    @pytest.mark.parametrize("host", ["account.table.core.windows.net", "ACCOUNT.localhost:10002"])
    async def test_host_style(self, service: Service, host: str) -> None:
        response = await ask(service, "GET", "/Tables", {"host": host})
        assert response.status == 200
        assert f'"http://{host}/$metadata#Tables"'.encode() in response.body


class TestSecondary:
    @pytest.mark.parametrize("target", ["/account-secondary/Tables", "/account-secondary/account/Tables"])
    async def test_reads_are_served_under_its_own_address(self, service: Service, target: str) -> None:
        response = await ask(service, "GET", target)
        assert response.status == 200
        assert b'"http://here/account-secondary/$metadata#Tables"' in response.body

    async def test_host_style(self, service: Service) -> None:
        response = await ask(service, "GET", "/Tables", {"host": "account-secondary.table.core.windows.net"})
        assert b'"http://account-secondary.table.core.windows.net/$metadata#Tables"' in response.body

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("POST", "/Tables"),
            ("DELETE", "/Tables('Orders')"),
            ("POST", "/Orders"),
            ("PUT", "/Orders(PartitionKey='p',RowKey='r')"),
            ("MERGE", "/Orders(PartitionKey='p',RowKey='r')"),
            ("PATCH", "/Orders(PartitionKey='p',RowKey='r')"),
            ("DELETE", "/Orders(PartitionKey='p',RowKey='r')"),
        ],
    )
    @pytest.mark.parametrize("prefix", ["/account-secondary", "/account-secondary/account"])
    async def test_writes_are_refused(self, service: Service, prefix: str, method: str, path: str) -> None:
        response = await ask(service, method, prefix + path, {}, b"{}")
        assert (response.status, code_of(response)) == (403, "InsufficientAccountPermissions")
        assert b"Write operations are not allowed." in response.body

    async def test_tunnelled_write_is_refused(self, service: Service) -> None:
        target = "/account-secondary/Orders(PartitionKey='p',RowKey='r')"
        response = await ask(service, "POST", target, {"x-http-method": "MERGE"}, b"{}")
        assert response.status == 403

    @pytest.mark.parametrize(
        ("part", "status"), [("GET /account/Orders() HTTP/1.1", b"200 OK"), (f"DELETE {ENTITY} HTTP/1.1", b"403 ")]
    )
    async def test_batch(self, service: Service, part: str, status: bytes) -> None:
        body = f"--b\r\nContent-Type: application/http\r\n\r\n{part}\r\nIf-Match: *\r\n\r\n\r\n--b--\r\n"
        kind = {"content-type": "multipart/mixed; boundary=b"}
        response = await ask(service, "POST", "/account-secondary/$batch", kind, body.encode())
        assert (response.status, b"HTTP/1.1 " + status in response.body) == (202, True)
