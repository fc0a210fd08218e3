"""Thousands of requests that are nearly right: each kind of signature, each operation, one thing changed.

A tampered request must be refused with the code that the service answers, and must leave everything as it was; the same
request untampered must pass, or be refused for what its signature does not permit. The service runs in this process, on
a store in memory.
"""

from __future__ import annotations

import pytest

from rowkey.model.entity import Key
from tests.authorisation.operations import OPERATIONS, Operation, request_for
from tests.authorisation.service import Answer, Bench
from tests.authorisation.signatures import KINDS, Kind

CASES = [
    (kind, name, tamper)
    for kind, value in KINDS.items()
    for name, operation in OPERATIONS.items()
    for tamper, _ in value.tamper(value.sign(request_for(operation)))
]


def test_there_are_thousands_of_cases() -> None:
    assert len(CASES) >= 2000
    assert len(set(CASES)) == len(CASES)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("kind", KINDS)
class TestEveryOperation:
    async def test_untampered_request_passes_or_is_refused_for_what_it_asks(self, kind: str, name: str) -> None:
        bench = await Bench().fill(Key("p", "r"))
        before = await bench.contents()
        wanted = expected(KINDS[kind], OPERATIONS[name])
        assert await bench.ask(KINDS[kind].sign(request_for(OPERATIONS[name]))) == wanted
        if wanted.code:
            assert await bench.contents() == before

    async def test_each_tampered_request_is_refused_and_changes_nothing(self, kind: str, name: str) -> None:
        bench = await Bench().fill(Key("p", "r"))
        before = await bench.contents()
        request = KINDS[kind].sign(request_for(OPERATIONS[name]))
        for tamper, changed in KINDS[kind].tamper(request):
            assert await bench.ask(changed) == (403, "AuthenticationFailed"), tamper
        assert await bench.contents() == before


def expected(kind: Kind, operation: Operation) -> Answer:
    """The answer to an untampered request."""
    if operation.right in kind.rights:
        return Answer((operation.inner or operation).status)
    return Answer(404, "ResourceNotFound") if kind.is_old else Answer(403, "AuthorizationFailure")
