"""Clients from 2014 to today, each doing what it can do, the older ones in environments of their own.

Their scripts are in `scripts/`; every step of a script is a test here. What else `azure-data-tables` and
`@azure/data-tables` are held to has files of its own.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.clients.environments import Unavailable
from tests.clients.steps import BEARER, CLIENTS, Client, Step, do_steps
from tests.compatibility import AUTHORISATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from concurrent.futures import Future

OPERATIONS = {
    "Query Tables",
    "Create Table",
    "Delete Table",
    "Get Table ACL",
    "Set Table ACL",
    "Get Table Service Properties",
    "Set Table Service Properties",
    "Get Table Service Stats",
    "Query Entities",
    "Get Entity",
    "Insert Entity",
    "Update Entity",
    "Merge Entity",
    "Insert Or Replace Entity",
    "Insert Or Merge Entity",
    "Delete Entity",
    "Entity Group Transaction",
}
FORMATS = {"Atom", "JSON", "XML"}

STEPS = [
    pytest.param(
        client,
        step,
        id=f"{client.name}: {step.name}",
        marks=pytest.mark.proves(
            client=client.name,
            operation=step.operation,
            format=step.format,
            authorisation=step.authorisation,
            state=step.state,
        ),
    )
    for client in CLIENTS
    for step in client.steps()
]


@pytest.fixture(scope="session")
def reports(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Future[dict[str, str | None]]]]:
    """How the steps of each client went.

    All clients that the chosen tests ask for begin with the first test, two at a time: installing waits for the
    network, and each has a server of its own.
    """
    target = request.getfixturevalue("server") if request.config.getoption("--target") else None
    chosen = {item.callspec.params.get("client") for item in request.session.items if hasattr(item, "callspec")}
    with ThreadPoolExecutor(max_workers=1 if target else 2) as pool:
        yield {
            client.name: pool.submit(do_steps, client, tmp_path_factory.mktemp("client"), target)
            for client in CLIENTS
            if client in chosen
        }
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize(("client", "step"), STEPS)
def test_a_client_is_served(
    request: pytest.FixtureRequest,
    reports: Mapping[str, Future[dict[str, str | None]]],
    client: Client,
    step: Step,
) -> None:
    if step.authorisation == BEARER and request.config.getoption("--target"):
        pytest.skip("a --target does not know who issues these tokens")
    try:
        failure = reports[client.name].result()[step.name]
    except Unavailable as reason:
        pytest.skip(f"{client.name} cannot be installed: {reason}")
    if failure is not None:
        pytest.fail(failure, pytrace=False)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_what_a_script_declares_can_be_looked_up(client: Client) -> None:
    """Names of steps are told apart, and operations bear the names of the REST reference."""
    steps = client.steps()
    assert len({step.name for step in steps}) == len(steps)
    assert {step.operation for step in steps} <= OPERATIONS
    assert {step.format for step in steps} <= FORMATS
    assert {step.authorisation for step in steps} <= AUTHORISATIONS.keys()
