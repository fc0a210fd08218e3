"""Every operation, in every payload format, with every kind of authorisation: served, or refused as the service does.

What these tests show makes the first table of `docs/compatibility-matrix.md`. A case is left out only where the service
has no such thing: Atom ends with version 2015-12-11, and so it is asked for with 2015-07-08, the newest that signatures
for accounts and Atom have in common; bearer tokens begin with 2017-11-09 and never meet it. The service runs in this
process, on a store in memory; signatures and tokens are real.
"""

from __future__ import annotations

import pytest

from rowkey.router import ROUTES
from tests.compatibility import PLAIN_HTTP
from tests.conftest import TokenIssuer
from tests.every_operation.authorisation import BEARER_SINCE, KINDS, refusal
from tests.every_operation.formats import Payload, code_of
from tests.every_operation.operations import OPERATIONS, Operation
from tests.every_operation.service import Bench


def exists(operation: Operation, payload: Payload, kind: str) -> bool:
    """Whether there is such a case by the service's own rules."""
    if operation.name == "Preflight Table Request":
        return kind == "anonymous"
    return kind != "bearer token" or payload.version >= BEARER_SINCE


CASES = [
    pytest.param(
        operation,
        payload,
        kind,
        id=f"{operation.name} {operation.variant}, {payload.name}, {kind}".replace(" ,", ","),
        marks=pytest.mark.proves(
            client=PLAIN_HTTP,
            operation=operation.name,
            variant=operation.variant,
            format=payload.name,
            authorisation=kind,
            state="refused" if refusal(operation, kind, payload.version) else "served",
        ),
    )
    for operation in OPERATIONS
    for payload in operation.payloads
    for kind in KINDS
    if exists(operation, payload, kind)
]


@pytest.mark.parametrize(("operation", "payload", "kind"), CASES)
async def test_an_operation_is_served_or_refused_as_by_the_service(
    token_issuer: TokenIssuer, operation: Operation, payload: Payload, kind: str
) -> None:
    bench = Bench(token_issuer)
    await bench.fill()
    response = await bench.service.handle(KINDS[kind](operation.request(payload), bench.token))
    refused = refusal(operation, kind, payload.version)
    if refused is None:
        assert response.status == operation.status, response.body
        await operation.check(bench, payload, response)
    else:
        assert (response.status, code_of(payload, response)) == refused


def test_every_operation_has_its_cases() -> None:
    """None that the router knows is forgotten."""
    routed = {(route.operation.__name__, route.method) for route in ROUTES}
    assert {(operation.name.replace(" ", ""), operation.method) for operation in OPERATIONS} == routed
