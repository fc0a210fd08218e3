"""The spine: the order of the checks, and what all answers of a layer share."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import re
import time
import tracemalloc
from email.utils import formatdate, parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from rowkey import __version__
from rowkey.config import Account, Settings
from rowkey.errors import AuthenticationFailed, InvalidHttpVerb, RequestBodyTooLarge
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore
from rowkey.wire.request import Request, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = {"account": (b"first", b"second"), "other": (b"third",)}
GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
COMMON = {"host": "here", "x-ms-version": "2019-02-02", "accept": "application/json"}
FAILED = (
    "Server failed to authenticate the request. "
    "Make sure the value of Authorization header is formed correctly including the signature."
)
ENTITY = "/account/Orders(PartitionKey='p',RowKey='r')"


@pytest.fixture
async def service() -> Service:
    """A service of two accounts, each with a table."""
    store = MemoryStore()
    for name in KEYS:
        await store.create_table(name, "Orders")
    return Service(Settings(data=None, accounts={name: Account(name, keys) for name, keys in KEYS.items()}), store)


def request_to(
    method: str,
    target: str,
    headers: Mapping[str, str | None] | None = None,
    body: bytes = b"",
    *,
    account: str = "account",
    key: bytes = b"first",
) -> Request:
    """A signed request; a header that is None is not sent."""
    kind = {"content-type": "application/json"} if body else {}
    sent = {name: value for name, value in {**COMMON, **kind, **(headers or {})}.items() if value is not None}
    date = formatdate(usegmt=True)
    path, _, query = target.partition("?")
    comp = re.search(r"(?:^|&)comp=([^&]*)", query)
    resource = f"/{account}{path}" + (f"?comp={comp[1]}" if comp else "")
    signature = base64.b64encode(hmac.digest(key, f"{date}\n{resource}".encode(), "sha256")).decode()
    return Request(
        method, target, {"x-ms-date": date, "authorization": f"SharedKeyLite {account}:{signature}", **sent}, body
    )


async def ask(service: Service, method: str, target: str, *arguments: Any, **options: Any) -> Response:
    return await service.handle(request_to(method, target, *arguments, **options))


def code_of(response: Response) -> str:
    """The code of a JSON or XML error."""
    match = re.search(rb'"code":"(\w+)"|<(?:m:)?code>(\w+)<', response.body)
    assert match is not None, response.body
    return (match[1] or match[2]).decode()


def names_of(response: Response) -> list[str]:
    return [name for name, _ in response.headers]


class TestHeaders:
    async def test_success(self, service: Service) -> None:
        response = await ask(service, "GET", "/account/Tables")
        assert response.status == 200
        assert response.header("Cache-Control") == "no-cache"
        assert response.header("X-Content-Type-Options") == "nosniff"
        assert response.header("x-ms-version") == "2019-02-02"
        assert response.header("Server") == f"Rowkey/{__version__}"
        assert GUID.fullmatch(response.header("x-ms-request-id") or "")
        assert parsedate_to_datetime(response.header("Date") or "").year >= 2026
        assert response.header("DataServiceVersion") is None
        assert len(names_of(response)) == len({name.lower() for name in names_of(response)})

    @pytest.mark.parametrize(
        ("target", "headers", "code"),
        [
            (ENTITY, {}, "ResourceNotFound"),
            ("/account/Orders", {"accept": None}, "AtomFormatNotSupported"),
        ],
    )
    async def test_error_of_the_engine(
        self, service: Service, target: str, headers: dict[str, str | None], code: str
    ) -> None:
        response = await ask(service, "GET", target, headers)
        assert code_of(response) == code
        assert response.header("Cache-Control") == "no-cache"
        assert response.header("X-Content-Type-Options") == "nosniff"
        assert response.header("x-ms-version") == "2019-02-02"
        assert response.header("x-ms-error-code") is None
        assert response.phrase is None

    async def test_error_before_a_table_is_touched(self, service: Service) -> None:
        response = await ask(service, "GET", "/account/Orders?$filter=aaa%20bbb")
        assert (response.status, code_of(response)) == (400, "InvalidInput")
        assert response.header("Cache-Control") is None
        assert response.header("X-Content-Type-Options") == "nosniff"
        assert response.header("x-ms-version") == "2019-02-02"
        assert response.header("x-ms-error-code") is None

    @pytest.mark.parametrize(
        ("accept", "content_type", "start"),
        [
            ("application/json", "application/json", b'{"odata.error":{"code":"AuthenticationFailed"'),
            ("application/json;odata=nometadata", "application/json", b'{"odata.error"'),
            ("*/*", "application/xml", b'<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m='),
            (None, "application/xml", b'<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m='),
        ],
    )
    @pytest.mark.parametrize("target", [ENTITY, "/account/$batch", "/account/Tables"])
    async def test_error_of_authentication(
        self, service: Service, target: str, accept: str | None, content_type: str, start: bytes
    ) -> None:
        """Recorded, 15 of 15: not even x-ms-version."""
        response = await ask(service, "PUT", target, {"accept": accept}, b"{}", key=b"wrong")
        assert response.status == 403
        assert FAILED.encode() in response.body
        assert response.header("x-ms-error-code") == "AuthenticationFailed"
        assert response.header("Content-Type") == content_type
        assert response.body.startswith(start)
        for absent in ("Cache-Control", "X-Content-Type-Options", "x-ms-version", "Preference-Applied"):
            assert response.header(absent) is None

    @pytest.mark.parametrize(
        ("target", "status", "text"),
        [
            ("/nobody/Tables", 404, "The specified resource does not exist."),
            ("/account/(retry)", 404, "The specified resource does not exist."),
            (
                "/account/Tables?timeout=x",
                400,
                "Value for one of the query parameters specified in the request URI is invalid.",
            ),
        ],
    )
    async def test_message_of_the_front_end_is_the_reason_phrase(
        self, service: Service, target: str, status: int, text: str
    ) -> None:
        response = await ask(service, "GET", target)
        assert (response.status, response.phrase) == (status, text)

    @pytest.mark.parametrize(("version", "code"), [("2016-05-31", None), ("2017-07-29", "AuthenticationFailed")])
    async def test_code_in_a_header_came_in_2017(self, service: Service, version: str, code: str | None) -> None:
        response = await ask(service, "GET", ENTITY, {"x-ms-version": version}, key=b"wrong")
        assert response.header("x-ms-error-code") == code

    async def test_bad_version(self, service: Service) -> None:
        """Recorded: a form of its own, and hardly a header."""
        response = await ask(service, "GET", ENTITY, {"x-ms-version": "12.0.0b1"})
        assert (response.status, response.header("Content-Type")) == (400, "application/xml")
        assert response.body.startswith(
            b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n<error'
        )
        for absent in ("Cache-Control", "X-Content-Type-Options", "x-ms-version", "x-ms-error-code"):
            assert response.header(absent) is None

    @pytest.mark.parametrize("version", ["2013-08-15", "2019-02-02", "2999-01-01"])
    async def test_version_is_echoed(self, service: Service, version: str) -> None:
        response = await ask(service, "GET", "/account/Tables", {"x-ms-version": version})
        assert (response.status, response.header("x-ms-version")) == (200, version)

    async def test_client_of_2008(self, service: Service) -> None:
        """No version came, so none is sent, and no nosniff; the message is the reason phrase."""
        headers = {"x-ms-version": None, "accept": "application/atom+xml,application/xml", "if-match": "*"}
        response = await ask(service, "DELETE", ENTITY, headers)
        assert (response.status, response.phrase) == (404, "The specified resource does not exist.")
        assert response.header("x-ms-version") is None
        assert response.header("X-Content-Type-Options") is None
        assert response.header("Cache-Control") == "no-cache"
        assert b"RequestId" not in response.body
        assert response.body.startswith(
            b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n<error '
        )

    @pytest.mark.parametrize(
        ("version", "request_id", "is_echoed"),
        [
            ("2019-02-02", "abc", True),
            ("2019-07-07", "x" * 1024, True),
            ("2018-03-28", "abc", False),
            ("2019-02-02", "x" * 1025, False),
            ("2019-02-02", "é", False),
            ("2019-02-02", "a\tb", False),
        ],
    )
    @pytest.mark.parametrize("target", ["/account/Tables", ENTITY, "/account/Orders?$top=0"])
    async def test_client_request_id(
        self, service: Service, target: str, version: str, request_id: str, is_echoed: bool
    ) -> None:
        """Recorded: from 2019-02-02 on, on successes and errors; up to 2018-03-28 never."""
        headers = {"x-ms-version": version, "x-ms-client-request-id": request_id}
        response = await ask(service, "GET", target, headers)
        assert response.header("x-ms-client-request-id") == (request_id if is_echoed else None)

    async def test_client_request_id_of_a_stranger(self, service: Service) -> None:
        response = await ask(service, "GET", ENTITY, {"x-ms-client-request-id": "abc"}, key=b"wrong")
        assert response.header("x-ms-client-request-id") == "abc"

    async def test_request_ids_differ(self, service: Service) -> None:
        answers = [await ask(service, "GET", "/account/Tables") for _ in range(50)]
        assert len({response.header("x-ms-request-id") for response in answers}) == 50

    async def test_request_id_is_in_the_message(self, service: Service) -> None:
        response = await ask(service, "GET", ENTITY)
        message = json.loads(response.body)["odata.error"]["message"]["value"]
        assert f"\nRequestId:{response.header('x-ms-request-id')}\nTime:20" in message


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
            ("POST", "/$batch"),
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


class TestOrderOfChecks:
    """What is refused first where several things are wrong."""

    async def test_version_before_signature(self, service: Service) -> None:
        response = await ask(service, "GET", ENTITY, {"x-ms-version": "nonsense"}, key=b"wrong")
        assert code_of(response) == "InvalidHeaderValue"

    async def test_account_before_version(self, service: Service) -> None:
        response = await ask(service, "GET", "/nobody/Tables", {"x-ms-version": "nonsense"})
        assert code_of(response) == "ResourceNotFound"

    @pytest.mark.parametrize("target", ["/account/(retry)", "/account/Orders(nonsense)", "/account/Tables?$top=0"])
    async def test_signature_before_everything_else(self, service: Service, target: str) -> None:
        assert code_of(await ask(service, "PUT", target, {}, b"nonsense", key=b"wrong")) == "AuthenticationFailed"

    async def test_format_before_options(self, service: Service) -> None:
        response = await ask(service, "GET", "/account/Orders?$top=0", {"accept": "text/html"})
        assert response.status == 415

    async def test_options_before_the_table(self, service: Service) -> None:
        assert code_of(await ask(service, "GET", "/account/Nowhere?$top=0")) == "InvalidInput"

    async def test_body_before_the_table(self, service: Service) -> None:
        assert code_of(await ask(service, "POST", "/account/Nowhere", {}, b"{}")) == "PropertiesNeedValue"

    async def test_table_before_the_entity(self, service: Service) -> None:
        target = ENTITY.replace("Orders", "Nowhere")
        response = await ask(service, "PUT", target, {"if-match": 'W/"0x1"'}, b"{}")
        assert code_of(response) == "TableNotFound"


class TestTunnel:
    @pytest.mark.parametrize("method", ["PUT", "MERGE", "PATCH", "merge", " PATCH "])
    async def test_method_in_a_header(self, service: Service, method: str) -> None:
        assert (await ask(service, "POST", ENTITY, {"x-http-method": method}, b'{"A":1}')).status == 204
        assert (await ask(service, "POST", ENTITY, {"x-http-method": "DELETE", "if-match": "*"})).status == 204

    @pytest.mark.parametrize(
        ("method", "tunnelled", "code"),
        [
            ("POST", "GET", "XMethodIncorrectValue"),
            ("POST", "POST", "XMethodIncorrectValue"),
            ("POST", "FROB", "XMethodIncorrectValue"),
            ("POST", "", "XMethodIncorrectValue"),
            ("POST", "PUT, PUT", "XMethodIncorrectCount"),
            ("PUT", "MERGE", "XMethodNotUsingPost"),
            ("GET", "DELETE", "XMethodNotUsingPost"),
        ],
    )
    async def test_bad_header(self, service: Service, method: str, tunnelled: str, code: str) -> None:
        response = await ask(service, method, ENTITY, {"x-http-method": tunnelled}, b"{}")
        assert (response.status, code_of(response)) == (400, code)


class TestOptions:
    @pytest.mark.parametrize("timeout", ["1", "30", "90", "0", "999999999999"])
    async def test_timeout(self, service: Service, timeout: str) -> None:
        assert (await ask(service, "GET", f"/account/Tables?timeout={timeout}")).status == 200

    @pytest.mark.parametrize("timeout", ["-1", "x", "1.5", ""])
    @pytest.mark.parametrize("accept", ["application/json", None])
    async def test_bad_timeout(self, service: Service, timeout: str, accept: str | None) -> None:
        response = await ask(service, "GET", f"/account/Tables?timeout={timeout}", {"accept": accept})
        assert (response.status, code_of(response)) == (400, "InvalidQueryParameterValue")
        assert response.header("x-ms-error-code") == "InvalidQueryParameterValue"

    @pytest.mark.parametrize("option", ["$orderby", "$skip", "$anything"])
    async def test_unknown_system_option(self, service: Service, option: str) -> None:
        response = await ask(service, "GET", f"/account/Tables?{option}=1")
        assert (response.status, code_of(response)) == (501, "NotImplemented")

    async def test_unknown_option_is_ignored(self, service: Service) -> None:
        assert (await ask(service, "GET", "/account/Tables?sv=2019&x=1&orderby=y")).status == 200

    @pytest.mark.parametrize(
        "headers",
        [
            {"dataserviceversion": "3.0;NetFx", "maxdataserviceversion": "3.0;NetFx"},
            {"dataserviceversion": "3.0;"},
            {"maxdataserviceversion": "2.0"},
            {"dataserviceversion": "1.0"},
        ],
    )
    async def test_odata_versions(self, service: Service, headers: dict[str, str]) -> None:
        assert (await ask(service, "GET", "/account/Tables", headers)).status == 200

    @pytest.mark.parametrize(
        "headers",
        [
            {"dataserviceversion": "nonsense"},
            {"maxdataserviceversion": "4"},
            {"dataserviceversion": "3.0", "x-ms-version": "2009-09-19"},
        ],
    )
    async def test_odata_versions_that_are_refused(self, service: Service, headers: dict[str, str]) -> None:
        response = await ask(service, "GET", "/account/Tables", headers)
        assert (response.status, code_of(response)) == (400, "InvalidHeaderValue")


class TestContentMd5:
    BODY = b'{"PartitionKey":"p","RowKey":"r"}'

    async def test_right(self, service: Service) -> None:
        stated = base64.b64encode(hashlib.md5(self.BODY, usedforsecurity=False).digest()).decode()
        assert (await ask(service, "POST", "/account/Orders", {"content-md5": stated}, self.BODY)).status == 201

    @pytest.mark.parametrize(
        ("stated", "code"),
        [
            (base64.b64encode(bytes(16)).decode(), "Md5Mismatch"),
            ("AAAA", "InvalidMd5"),
            ("###", "InvalidMd5"),
            ("", "InvalidMd5"),
            ("é", "InvalidMd5"),
        ],
    )
    async def test_wrong(self, service: Service, stated: str, code: str) -> None:
        response = await ask(service, "POST", "/account/Orders", {"content-md5": stated}, self.BODY)
        assert (response.status, code_of(response)) == (400, code)
        assert (await ask(service, "GET", ENTITY)).status == 404


async def test_nothing_large_is_kept_of_a_batch(service: Service) -> None:
    """The target of a part may be as long as the batch; kept in a cache it would be memory for good."""
    kind = {"content-type": "multipart/mixed; boundary=b"}
    tracemalloc.start()
    try:
        for number in range(20):
            target = f"/account/Orders()?x={number}" + "x" * 500_000
            body = f"--b\r\nContent-Type: application/http\r\n\r\nGET {target} HTTP/1.1\r\n\r\n\r\n--b--\r\n"
            assert (await ask(service, "POST", "/account/$batch", kind, body.encode())).status in (202, 400)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000


async def test_time_of_a_long_selection_in_a_batch_is_linear(service: Service) -> None:
    """Nothing bounds the target of a part; at 4 MiB this takes more than a minute, and nobody else is served."""
    target = f"{ENTITY}?$select={'a,' * 200_000}a"
    body = f"--b\r\nContent-Type: application/http\r\n\r\nGET {target} HTTP/1.1\r\n\r\n\r\n--b--\r\n"
    begun = time.process_time()
    await ask(service, "POST", "/account/$batch", {"content-type": "multipart/mixed; boundary=b"}, body.encode())
    assert time.process_time() - begun < 0.3


class TestCors:
    """What the account's rules say is added to every answer, whichever part of the service made it."""

    RULES = (
        b"<StorageServiceProperties><Cors><CorsRule><AllowedMethods>GET,POST</AllowedMethods>"
        b"<AllowedOrigins>https://page.com</AllowedOrigins><AllowedHeaders>*</AllowedHeaders>"
        b"<ExposedHeaders>ETag</ExposedHeaders><MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule></Cors>"
        b"</StorageServiceProperties>"
    )
    ADDED = ("Vary", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Allow-Credentials")

    @pytest.fixture(autouse=True)
    async def rules(self, service: Service) -> None:
        """The account has a rule; the other account has none."""
        kind = {"content-type": "application/xml"}
        properties = "/account/?restype=service&comp=properties"
        assert (await ask(service, "PUT", properties, kind, self.RULES)).status == 202

    @pytest.mark.parametrize(
        ("target", "changes", "status"),
        [
            ("/account/Tables", {}, 200),
            ("/account/?restype=service&comp=properties", {}, 200),
            (ENTITY, {}, 404),
            ("/account/Orders()?$filter=%21", {}, 400),
            ("/account/Missing?comp=acl", {}, 404),
            ("/account/Tables", {"authorization": "SharedKeyLite account:bm9uZQ=="}, 403),
            ("/account/no/such/path", {}, 404),
        ],
    )
    async def test_answers_of_all_layers(
        self, service: Service, target: str, changes: dict[str, str | None], status: int
    ) -> None:
        response = await ask(service, "GET", target, {"origin": "https://page.com", **changes})
        assert response.status == status
        assert names_of(response)[-4:] == list(self.ADDED)

    async def test_get_without_an_origin(self, service: Service) -> None:
        response = await ask(service, "GET", "/account/Tables")
        assert names_of(response)[-1] == "Vary"

    async def test_post_without_an_origin(self, service: Service) -> None:
        response = await ask(service, "POST", "/account/Tables", {}, b'{"TableName":"Things"}')
        assert response.status == 201
        assert not {*names_of(response)} & {*self.ADDED}

    async def test_account_without_rules(self, service: Service) -> None:
        options = {"account": "other", "key": b"third"}
        response = await ask(service, "GET", "/other/Tables", {"origin": "https://page.com"}, **options)
        assert response.status == 200
        assert not {*names_of(response)} & {*self.ADDED}

    async def test_preflight_has_its_own(self, service: Service) -> None:
        asked = {"host": "here", "origin": "https://page.com", "access-control-request-method": "POST"}
        response = await service.handle(Request("OPTIONS", "/account/Orders", asked))
        assert response.status == 200
        assert names_of(response).count("Access-Control-Allow-Origin") == names_of(response).count("Vary") == 1

    async def test_rules_that_are_taken_back(self, service: Service) -> None:
        body = b"<StorageServiceProperties><Cors /></StorageServiceProperties>"
        await ask(service, "PUT", "/account/?restype=service&comp=properties", {}, body)
        assert not {*names_of(await ask(service, "GET", "/account/Tables"))} & {*self.ADDED}


class BrokenStore(MemoryStore):
    """A store that fails in a way that it has not promised."""

    async def find_table(self, account: str, name: str) -> NoReturn:
        raise ZeroDivisionError("a secret about the inside")


class TestTrouble:
    async def test_unknown_exception_is_one_500_without_details(self, caplog: pytest.LogCaptureFixture) -> None:
        service = Service(Settings(data=None, accounts={"account": Account("account", (b"first",))}), BrokenStore())
        with caplog.at_level(logging.ERROR):
            response = await ask(service, "GET", ENTITY)
        assert (response.status, code_of(response)) == (500, "InternalError")
        message = json.loads(response.body)["odata.error"]["message"]["value"]
        assert message.startswith("The server encountered an internal error. Please retry the request.\nRequestId:")
        assert b"secret" not in response.body
        assert b"ZeroDivision" not in response.body
        (record,) = caplog.records
        assert (response.header("x-ms-request-id") or "?") in record.getMessage()
        assert "a secret about the inside" in caplog.text

    @pytest.mark.parametrize("error", [InvalidHttpVerb(), RequestBodyTooLarge(), AuthenticationFailed()])
    async def test_bytes_that_never_became_a_request(
        self, service: Service, error: InvalidHttpVerb | RequestBodyTooLarge | AuthenticationFailed
    ) -> None:
        response = service.refuse(error)
        assert (response.status, code_of(response)) == (error.status, error.code)
        assert GUID.fullmatch(response.header("x-ms-request-id") or "")
        assert response.header("Date")
