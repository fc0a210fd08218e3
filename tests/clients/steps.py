"""Clients that are driven by scripts: the scripts, their steps, and how each step went.

A step is declared in its script, with what it proves, and read from there: no list of steps exists besides the scripts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.clients.environments import node_environment, python_environment
from tests.conftest import ServerProcess, TokenIssuer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import Server

HERE = Path(__file__).parent
SCRIPT_SECONDS_MAX = 120

BEARER = "bearer token"
# The variables by which requests, aiohttp and Node.js are told of a certificate to trust.
TRUSTED = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")

# `@step("Get Entity", "Atom", "Shared Key")` above `def an_entity_comes_back():` in Python, and in JavaScript
# `step("Get Entity", "JSON", "Shared Key", "an_entity_comes_back", async () => {`. The third text may have several
# kinds with commas between them, each of which makes a step; `refusal` instead of `step` is for what is refused.
_PYTHON_STEP = re.compile(r'^@(step|refusal)\("([\w ]+)", "(\w+)", "([\w ,]+)"\)\s+def (\w+)\(', re.MULTILINE)
_NODE_STEP = re.compile(r'^(step|refusal)\(\s*"([\w ]+)",\s*"(\w+)",\s*"([\w ,]+)",\s*"(\w+)",', re.MULTILINE)
_STATES = {"step": "served", "refusal": "refused"}


class Step(NamedTuple):
    """One thing that a client does, and what is shown if it succeeds, in the words of the REST reference."""

    operation: str
    format: str
    authorisation: str
    name: str
    state: str = "served"


@dataclass(frozen=True, slots=True)
class Client:
    """A client: package and version, what its environment is made from (None: it is in ours), and its scripts."""

    name: str
    requirements: Path | None
    scripts: tuple[Path, ...]
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What its environment must say besides."""

    def steps(self) -> list[Step]:
        """What the scripts declare, in their order."""
        return [step for script in self.scripts for step in read_steps(script)]

    def has_tokens(self) -> bool:
        """Whether it comes with bearer tokens too."""
        return any(step.authorisation == BEARER for step in self.steps())

    def interpreter(self) -> tuple[str, dict[str, str]]:
        """The program that runs the scripts and what its environment must say, installed if need be."""
        if self.requirements is None:
            return sys.executable, {**self.variables}
        if self.requirements.is_dir():
            return "node", {**self.variables, "NODE_PATH": str(node_environment(self.requirements) / "node_modules")}
        return str(python_environment(self.requirements)), {**self.variables}


def client(name: str, requirements: str | None, *scripts: str, **variables: str) -> Client:
    """A client, by the names of its files."""
    folder = None if requirements is None else HERE / requirements
    return Client(name, folder, tuple(HERE / "scripts" / script for script in scripts), variables)


DATA_TABLES = f"azure-data-tables {version('azure-data-tables')}"
JS_DATA_TABLES = json.loads((HERE / "js" / "package.json").read_text(encoding="utf-8"))["dependencies"]

ATOM = ("atom_tables.py", "atom_entities.py", "atom_batches.py", "atom_service.py")
JSON = ("json_tables.py", "json_entities.py", "json_batches.py", "json_access.py", "json_service.py")

# The one that takes the longest comes first: the others fit in beside it.
CLIENTS = (
    client("azure-cli 2.91.0", "requirements/azure-cli-2.91.0.txt", "az_tables.py", "az_access.py"),
    client("azure 0.8.4", "requirements/azure-0.8.4.txt", *ATOM),
    client("azure 0.11.1", "requirements/azure-0.11.1.txt", *ATOM, "atom_access.py"),
    client("azure-storage 0.20.3", "requirements/azure-storage-0.20.3.txt", *ATOM, "atom_access.py"),
    client("azure-storage 0.33.0", "requirements/azure-storage-0.33.0.txt", *JSON),
    client("azure-storage 0.36.0", "requirements/azure-storage-0.36.0.txt", *JSON),
    client("azure-cosmosdb-table 1.0.6", "requirements/azure-cosmosdb-table-1.0.6.txt", *JSON),
    client("azure-storage 2.10.7 (JavaScript)", "requirements/azure-storage-2.10.7", "js_tables.cjs", "js_access.cjs"),
    client(DATA_TABLES, None, "data_tables.py"),
    client(f"{DATA_TABLES} (asynchronous)", None, "data_tables.py", ROWKEY_TEST_ASYNCHRONOUS="yes"),
    client(f"@azure/data-tables {JS_DATA_TABLES['@azure/data-tables']}", "js", "js_data_tables.cjs"),
)


def read_steps(script: Path) -> list[Step]:
    """The steps that a script declares."""
    pattern = _PYTHON_STEP if script.suffix == ".py" else _NODE_STEP
    steps = []
    for found in pattern.finditer(script.read_text(encoding="utf-8")):
        decorator, operation, payload, authorisations, name = found.groups()
        kinds = authorisations.split(", ")
        for kind in kinds:
            own_name = name if len(kinds) == 1 else f"{name}, {kind}"
            steps.append(Step(operation, payload, kind, own_name, _STATES[decorator]))
    return steps


def do_steps(client: Client, folder: Path, target: Server | None) -> dict[str, str | None]:
    """Let a client do all of its steps, and tell for each what went wrong, or None.

    It has a server of its own, since it sets what belongs to an account; unless there is a `target`.
    Raises `Unavailable` where the client cannot be had.
    """
    interpreter, environment = client.interpreter()
    report: dict[str, str | None] = {}
    with ExitStack() as stack:
        options: tuple[str, ...] = ()
        if client.has_tokens() and target is None:
            issuer = TokenIssuer()
            stack.callback(issuer.close)
            options = ("--tls", "auto", "--oidc", issuer.url, "--oidc-role", "owner")
            certificate = str(folder / "data" / "tls" / "cert.pem")
            environment |= dict.fromkeys(TRUSTED, certificate) | {"ROWKEY_TEST_TOKEN": issuer.token()}
        server = target or _start_server(stack, folder, *options)
        environment |= {
            "ROWKEY_TEST_ENDPOINT": server.endpoint,
            "ROWKEY_TEST_ACCOUNT": server.account,
            "ROWKEY_TEST_KEY": server.key,
            "ROWKEY_TEST_CONNECTION_STRING": server.connection_string,
            "ROWKEY_TEST_FOLDER": str(folder),
        }
        for script in client.scripts:
            report |= _run(interpreter, script, environment)
    return report


def _start_server(stack: ExitStack, folder: Path, *options: str) -> Server:
    """A server on an empty folder, which is stopped with the stack."""
    process = ServerProcess(folder, *options)
    process.start()
    stack.callback(process.stop)
    return process.server


def _run(interpreter: str, script: Path, environment: dict[str, str]) -> dict[str, str | None]:
    """Run a script and read its report. What it did not get to is told with all that it printed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AZURE_")}
    run = subprocess.run(
        [interpreter, str(script)],
        env=inherited | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SCRIPT_SECONDS_MAX,
        check=False,
    )
    report: dict[str, str | None] = {
        step.name: f"{script.name} ended with {run.returncode} before this step:\n{run.stderr}"
        for step in read_steps(script)
    }
    for line in run.stdout.splitlines():
        outcome = json.loads(line)
        assert outcome["name"] in report, f"{script.name} does not declare {outcome['name']}"
        report[outcome["name"]] = outcome["failure"]
    return report
