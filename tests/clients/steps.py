"""Clients that run in environments of their own: their scripts, the steps of these, and how each step went.

A step is declared in its script, with what it proves, and read from there: no list of steps exists besides the scripts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.clients.environments import node_environment, python_environment
from tests.conftest import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Server

HERE = Path(__file__).parent
SCRIPT_SECONDS_MAX = 120

# `@step("Get Entity", "Atom", "Shared Key")` above `def an_entity_comes_back():` in Python, and in JavaScript
# `step("Get Entity", "JSON", "Shared Key", "an_entity_comes_back", async () => {`.
_PYTHON_STEP = re.compile(r'^@step\("([\w ]+)", "(\w+)", "([\w ]+)"\)\s+def (\w+)\(\)', re.MULTILINE)
_NODE_STEP = re.compile(r'^step\("([\w ]+)", "(\w+)", "([\w ]+)", "(\w+)",', re.MULTILINE)


class Step(NamedTuple):
    """One thing that a client does, and what is shown if it succeeds, in the words of the REST reference."""

    operation: str
    format: str
    authorisation: str
    name: str


@dataclass(frozen=True, slots=True)
class Client:
    """A client: package and version, what its environment is made from, and the scripts that drive it."""

    name: str
    requirements: Path
    scripts: tuple[Path, ...]

    def steps(self) -> list[Step]:
        """What the scripts declare, in their order."""
        return [step for script in self.scripts for step in read_steps(script)]

    def interpreter(self) -> tuple[str, dict[str, str]]:
        """The program that runs the scripts and what its environment must say, installed if need be."""
        if self.requirements.is_dir():
            return "node", {"NODE_PATH": str(node_environment(self.requirements) / "node_modules")}
        return str(python_environment(self.requirements)), {}


def client(name: str, requirements: str, *scripts: str) -> Client:
    """A client, by the names of its files."""
    return Client(name, HERE / "requirements" / requirements, tuple(HERE / "scripts" / script for script in scripts))


# The one that takes the longest comes first: the others fit in beside it.
CLIENTS = (
    client("azure-cli 2.91.0", "azure-cli-2.91.0.txt", "az.py"),
    client("azure 0.8.4", "azure-0.8.4.txt", "atom_tables.py"),
    client("azure 0.11.1", "azure-0.11.1.txt", "atom_tables.py", "atom_access.py"),
    client("azure-storage 0.20.3", "azure-storage-0.20.3.txt", "atom_tables.py", "atom_access.py"),
    client("azure-storage 0.33.0", "azure-storage-0.33.0.txt", "json_tables.py", "json_access.py"),
    client("azure-storage 0.36.0", "azure-storage-0.36.0.txt", "json_tables.py", "json_access.py"),
    client("azure-cosmosdb-table 1.0.6", "azure-cosmosdb-table-1.0.6.txt", "json_tables.py", "json_access.py"),
    client("azure-storage 2.10.7 (JavaScript)", "azure-storage-2.10.7", "js_tables.cjs", "js_access.cjs"),
)


def read_steps(script: Path) -> list[Step]:
    """The steps that a script declares."""
    pattern = _PYTHON_STEP if script.suffix == ".py" else _NODE_STEP
    return [Step(*found.groups()) for found in pattern.finditer(script.read_text(encoding="utf-8"))]


def do_steps(client: Client, folder: Path, target: Server | None) -> dict[str, str | None]:
    """Let a client do all of its steps, and tell for each what went wrong, or None.

    It has a server of its own, since it sets what belongs to an account; unless there is a `target`.
    Raises `Unavailable` where the client cannot be had.
    """
    interpreter, environment = client.interpreter()
    report: dict[str, str | None] = {}
    with nullcontext(target) if target else _own_server(folder) as server:
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


@contextmanager
def _own_server(folder: Path) -> Iterator[Server]:
    """A server on an empty folder."""
    process = ServerProcess(folder)
    process.start()
    try:
        yield process.server
    finally:
        process.stop()


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
