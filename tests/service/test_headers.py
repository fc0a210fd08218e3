"""What all answers of a layer share."""

from __future__ import annotations

import json
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import pytest

from rowkey import __version__
from tests.service.asking import ENTITY, FAILED, GUID, ask, code_of, names_of

if TYPE_CHECKING:
    from rowkey.service import Service


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

    @pytest.mark.parametrize("query", ["$top=1&$top=1", "$filter=%FF", "%FF=1"])
    async def test_error_of_the_query_as_a_whole(self, service: Service, query: str) -> None:
        response = await ask(service, "GET", f"/account/Orders?{query}")
        assert (response.status, code_of(response), response.phrase) == (400, "InvalidInput", None)
        assert response.header("X-Content-Type-Options") == "nosniff"
        assert response.header("x-ms-version") == "2019-02-02"

    @pytest.mark.parametrize(
        ("target", "headers", "code"),
        [
            ("/account/Orders?comp=acl", {"content-md5": "?"}, "InvalidMd5"),
            ("/account/Missing?comp=acl", {}, "TableNotFound"),
            ("/account/?restype=service&comp=properties", {"content-md5": "?"}, "InvalidMd5"),
        ],
    )
    async def test_every_error_of_the_front_ends_own_addresses_is_its(
        self, service: Service, target: str, headers: dict[str, str], code: str
    ) -> None:
        response = await ask(service, "GET", target, {"accept": "*/*", **headers})
        assert (code_of(response), response.header("x-ms-error-code")) == (code, code)
        assert response.header("Content-Type") == "application/xml"
        assert b"<m:error " in response.body
        for absent in ("Cache-Control", "X-Content-Type-Options"):
            assert response.header(absent) is None

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

    @pytest.mark.parametrize("version", ["2009-09-19", "2013-08-15", "2019-02-02", "2999-01-01"])
    async def test_version_is_echoed(self, service: Service, version: str) -> None:
        response = await ask(service, "GET", "/account/Tables", {"x-ms-version": version, "accept": "*/*"})
        assert (response.status, response.header("x-ms-version")) == (200, version)

    @pytest.mark.parametrize(("version", "sent"), [("2012-02-12", None), ("2013-08-15", "nosniff")])
    async def test_nosniff_came_with_json(self, service: Service, version: str, sent: str | None) -> None:
        response = await ask(service, "GET", "/account/Tables", {"x-ms-version": version, "accept": "*/*"})
        assert (response.status, response.header("X-Content-Type-Options")) == (200, sent)

    async def test_version_was_not_echoed_at_first(self, service: Service) -> None:
        response = await ask(service, "GET", "/account/Tables", {"x-ms-version": "2009-04-14", "accept": "*/*"})
        assert (response.status, response.header("x-ms-version")) == (200, None)

    async def test_no_code_in_a_header_where_no_version_was_stated(self, service: Service) -> None:
        response = await ask(service, "GET", ENTITY, {"x-ms-version": None}, key=b"wrong")
        assert (code_of(response), response.header("x-ms-error-code")) == ("AuthenticationFailed", None)

    @pytest.mark.parametrize(
        ("target", "headers", "preference"),
        [
            ("/account/Orders", {}, "return-no-content"),
            ("/account/Tables", {}, "return-no-content"),
            ("/account/Tables", {"x-ms-version": "12.0.0b1"}, None),
            ("/account/Tables", {"x-ms-version": "2012-02-12", "accept": "*/*"}, None),
            ("/account/$batch", {}, None),
        ],
    )
    async def test_preference_on_errors(
        self, service: Service, target: str, headers: dict[str, str], preference: str | None
    ) -> None:
        """Recorded for inserts; what has no such preference has none to apply."""
        response = await ask(service, "POST", target, {"prefer": "return-no-content", **headers}, b"nonsense")
        assert response.status in (400, 415)
        assert response.header("Preference-Applied") == preference

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
