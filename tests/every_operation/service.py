"""A service in this process that has everything an operation may ask for."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from rowkey.auth.authority import KnownIssuer, TokenAuthority
from rowkey.auth.token import read_issuer
from rowkey.config import EVERYBODY_ELSE, Bearer, Role, Settings
from rowkey.service import Service
from rowkey.store.memory.store import MemoryStore
from rowkey.wire.request import Request, Response
from tests.conftest import TokenIssuer
from tests.every_operation.formats import IN_XML, JSON, Payload
from tests.requests import ACCOUNT, HOST, sign

NOW = datetime.now(UTC)
LIMITS = {"st": f"{NOW - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}", "se": f"{NOW + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"}

KEY = {"PartitionKey": "p", "RowKey": "r"}

SIGNED_IDENTIFIERS = (
    "<SignedIdentifiers><SignedIdentifier><Id>{name}</Id><AccessPolicy>"
    f"<Start>{LIMITS['st']}</Start><Expiry>{LIMITS['se']}</Expiry><Permission>raud</Permission>"
    "</AccessPolicy></SignedIdentifier></SignedIdentifiers>"
)
SERVICE_PROPERTIES = (
    "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>{origin}</AllowedOrigins>"
    "<AllowedMethods>GET</AllowedMethods><AllowedHeaders /><ExposedHeaders /><MaxAgeInSeconds>60</MaxAgeInSeconds>"
    "</CorsRule></Cors></StorageServiceProperties>"
)


class Bench:
    """A service with the table Orders, an entity, a stored access policy and a CORS rule; and an issuer of tokens."""

    def __init__(self, issuer: TokenIssuer) -> None:
        settings = Bearer(issuer.url, roles={EVERYBODY_ELSE: Role.OWNER})
        known = KnownIssuer(read_issuer(issuer.url, json.dumps(issuer.key_set()).encode()))
        self.service = Service(Settings(data=None), MemoryStore(), bearer=TokenAuthority(settings, known))
        self.token = issuer.token()

    async def fill(self) -> None:
        """Put everything in, as the owner."""
        everything = SIGNED_IDENTIFIERS.format(name="everything")
        for method, path, payload, body in (
            ("POST", "/Tables", JSON[0], JSON[0].write({"TableName": "Orders"})),
            ("POST", "/Orders", JSON[0], JSON[0].write({**KEY, "Name": "Ada", "City": "Ur"})),
            ("PUT", "/Orders?comp=acl", IN_XML, everything.encode()),
            ("PUT", "/?restype=service&comp=properties", IN_XML, SERVICE_PROPERTIES.format(origin="*").encode()),
        ):
            assert (await self.ask_as_owner(method, path, payload, body)).status < 300

    async def ask_as_owner(self, method: str, path: str, payload: Payload, body: bytes = b"") -> Response:
        """The answer to a request with the account's key."""
        return await self.service.handle(sign(make_request(method, f"/{ACCOUNT}{path}", payload, body), "SharedKey"))


def make_request(method: str, target: str, payload: Payload, body: bytes) -> Request:
    """A request for an answer of this format, without credentials."""
    headers = {"host": HOST, "x-ms-version": payload.version, "accept": payload.accept}
    return Request(method, target, headers | ({"content-type": payload.content_type} if body else {}), body)
