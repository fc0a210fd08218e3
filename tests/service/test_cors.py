"""What pages of other origins may see of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.wire.request import Request
from tests.service.asking import ENTITY, ask, names_of

if TYPE_CHECKING:
    from rowkey.service import Service


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
