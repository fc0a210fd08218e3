"""What every request is checked for, and in which order."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

import pytest

from tests.service.asking import ENTITY, ask, code_of

if TYPE_CHECKING:
    from rowkey.service import Service


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

    @pytest.mark.parametrize("query", ["$top=1&$top=2", "$filter=%FF", "x=%FF", "$orderby=A", "timeout=x"])
    async def test_signature_before_the_query(self, service: Service, query: str) -> None:
        response = await ask(service, "GET", f"/account/Orders?{query}", key=b"wrong")
        assert code_of(response) == "AuthenticationFailed"

    @pytest.mark.parametrize("query", ["$top=1&$top=2", "$orderby=A", "timeout=x"])
    async def test_method_before_the_query(self, service: Service, query: str) -> None:
        assert code_of(await ask(service, "PUT", f"/account/Orders?{query}", {}, b"{}")) == "MethodNotAllowed"

    async def test_a_signature_in_the_query_beside_another_says_nothing(self, service: Service) -> None:
        """It would have asked for a version without JSON."""
        response = await ask(service, "GET", "/account/Orders?sv=2012-02-12&sig=x")
        assert (response.status, response.header("x-ms-version")) == (200, "2019-02-02")

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

    async def test_refusals_are_those_of_the_method(self, service: Service) -> None:
        headers = {"x-http-method": "MERGE", "if-none-match": "*", "prefer": "return-no-content"}
        response = await ask(service, "POST", ENTITY, headers, b"{}")
        assert b"If-None-Match HTTP header cannot be specified for MERGE operations." in response.body
        assert response.header("Preference-Applied") is None

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
