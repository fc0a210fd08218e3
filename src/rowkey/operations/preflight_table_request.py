"""Preflight Table Request: OPTIONS with any path, by which a browser asks what a page of another origin may do.

It carries no credentials, and what it addresses need not exist.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rowkey.errors import CorsPreflightFailure, InvalidHeaderValue, Layer
from rowkey.model.cors import CorsRule
from rowkey.model.rights import Right
from rowkey.operations.operation import Operation
from rowkey.payload.service_properties import read_cors
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.cors import allowed_origin, allows_headers, find_rule
from rowkey.wire.request import Response

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


@dataclass(slots=True)
class PreflightTableRequest(Operation):
    """The origin, the method and the names of the headers of the request that the browser would send."""

    right = Right.PREFLIGHT

    origin: str
    method: str
    headers: Sequence[str]

    @classmethod
    def decode(cls, call: Call) -> Self:
        sent = call.request.headers
        origin, method = sent.get("origin", "").strip(), sent.get("access-control-request-method", "").strip()
        if not origin or not method:
            raise InvalidHeaderValue("A required CORS header is not present.")
        names = [name.strip() for name in sent.get("access-control-request-headers", "").split(",") if name.strip()]
        if not all(map(_TOKEN.fullmatch, [method, *names])):
            raise InvalidHeaderValue
        return cls(origin, method, names)

    async def run(self, store: Store, account: str) -> CorsRule:
        """The rule that allows the request; raises CorsPreflightFailure."""
        sections = await store.get_properties(account)
        rules = read_cors(sections["Cors"]) if "Cors" in sections else ()
        rule = find_rule(rules, self.origin, self.method)
        if rule is None or not allows_headers(rule, self.headers):
            raise CorsPreflightFailure
        return rule

    def respond(self, call: Call, result: CorsRule) -> Response:
        origin = allowed_origin(result, self.origin)
        headers = [("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Methods", self.method)]
        if self.headers:
            headers.append(("Access-Control-Allow-Headers", ",".join(self.headers)))
        headers.append(("Access-Control-Max-Age", str(result.max_age_seconds)))
        headers.append(("Access-Control-Allow-Credentials", "true"))
        if origin != "*":
            headers.append(("Vary", "Origin"))
        return Response(200, headers, layer=Layer.FRONT_END)
