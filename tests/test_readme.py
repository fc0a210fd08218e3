"""The README does not promise what is not so: its code prints what it says, its links lead somewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import ServerProcess

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
NPM_PACKAGES = ROOT / "tests" / "clients" / "js"


def snippet(language: str) -> tuple[str, str]:
    """The first block of code in a language, and the block of output that follows it."""
    found = re.search(rf"```{language}\n(.*?)```\n\n```text\n(.*?)```\n", README, re.DOTALL)
    assert found, f"no block of {language} with its output"
    return found[1], found[2]


def run(command: list[str], cwd: Path) -> str:
    """What a command prints."""
    process = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


def run_python(own_server: ServerProcess, folder: Path) -> str:
    """What the Python code prints; only the address is not the README's."""
    code, _ = snippet("python")
    address = "http://127.0.0.1:10002/devstoreaccount1"
    assert address in code
    return run([sys.executable, "-c", code.replace(address, own_server.server.endpoint)], folder)


def test_the_python_code_prints_what_is_shown(own_server: ServerProcess, tmp_path: Path) -> None:
    _, output = snippet("python")
    assert run_python(own_server, tmp_path) == output


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
@pytest.mark.skipif(not (NPM_PACKAGES / "node_modules").is_dir(), reason="the npm packages are not installed")
def test_the_javascript_code_prints_what_is_shown(own_server: ServerProcess, tmp_path: Path) -> None:
    run_python(own_server, tmp_path)
    code, output = snippet("js")
    assert '"UseDevelopmentStorage=true"' in code
    code = code.replace("UseDevelopmentStorage=true", own_server.server.connection_string)
    assert run(["node", "--input-type=module", "--eval", code], NPM_PACKAGES) == output


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/dependencies.md"])
def test_links_within_the_repository_lead_somewhere(document: str) -> None:
    path = ROOT / document
    for link in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
        if not link.startswith("https://"):
            assert (path.parent / link).exists(), link


def test_the_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for recipe in set(re.findall(r"^make (\w+)", README, re.MULTILINE)):
        assert re.search(rf"^{recipe}:", makefile, re.MULTILINE), recipe
