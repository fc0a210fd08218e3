"""Environments for clients that cannot live in ours: exact versions each, built when first asked for, then kept.

They are in `.clients/` at the root of the checkout, under a name that changes with what is in them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CACHE = Path(__file__).parents[2] / ".clients"
INSTALL_SECONDS_MAX = 280

# azure 0.8.4 and 0.11.1 are the only ones without a wheel. The tool that builds theirs is pinned like all else.
BUILT_FROM_SOURCE = "azure"
BUILD_CONSTRAINTS = Path(__file__).parent / "requirements" / "build.txt"

# How pip and npm say that the registry does not have a package, and not that something else went wrong.
NOT_THERE = ("No matching distribution found", "code E404", "code ETARGET")


class Unavailable(Exception):
    """An environment cannot be had here; the message says why."""


def python_environment(requirements: Path) -> Path:
    """The Python of an environment with exactly what a file of requirements lists."""

    def build(folder: Path) -> None:
        venv.create(folder, with_pip=False)
        install = [
            *(sys.executable, "-m", "pip", "--python", str(_python_of(folder)), "--disable-pip-version-check"),
            *("install", "--quiet", "--no-compile", "--no-deps", "--only-binary=:all:"),
            *(f"--no-binary={BUILT_FROM_SOURCE}", "--requirement", str(requirements)),
        ]
        # Older versions of pip know only the first of the two for what a build needs.
        constraints = dict.fromkeys(("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT"), str(BUILD_CONSTRAINTS))
        _install(install, constraints)

    return _python_of(_cached(requirements.stem, [requirements, BUILD_CONSTRAINTS], build))


def node_environment(package: Path) -> Path:
    """A folder whose `node_modules` has exactly what the lock file of a package lists."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise Unavailable("Node.js is not installed, or npm is not")
    _verify_version(node, package)
    files = [package / name for name in (".npmrc", "package.json", "package-lock.json")]

    def build(folder: Path) -> None:
        for file in files:
            shutil.copy(file, folder)
        _install([npm, "ci", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts"], {})

    return _cached(package.name, files, build)


def _verify_version(node: str, package: Path) -> None:
    """Raise `Unavailable` unless Node.js is as new as the package says that it must be (`"node": ">=20"`)."""
    wanted = json.loads((package / "package.json").read_text(encoding="utf-8")).get("engines", {}).get("node", ">=0")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < int(wanted.removeprefix(">=")):
        raise Unavailable(f"Node.js {wanted} is needed, and there is {version}")


def _python_of(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _cached(name: str, files: Sequence[Path], build: Callable[[Path], None]) -> Path:
    """The folder that `build` filled, now or at an earlier time when the files and Python were the same.

    It gets its name when it is whole, so that a run that ends half way, or two runs at once, do no harm.
    """
    digest = hashlib.sha256(sys.version.encode())
    for file in files:
        digest.update(file.read_bytes())
    folder = CACHE / f"{name}-{digest.hexdigest()[:12]}"
    if not folder.exists():
        CACHE.mkdir(exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f"{name}-unfinished-", dir=CACHE))
        try:
            build(unfinished)
            unfinished.rename(folder)
        except OSError:
            if not folder.exists():  # otherwise another run was quicker
                raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def _install(command: Sequence[str], environment: dict[str, str]) -> None:
    """Run an installer; what it prints is told if it fails."""
    run = subprocess.run(
        command,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=INSTALL_SECONDS_MAX,
        check=False,
    )
    if run.returncode != 0:
        missing = next((line for line in run.stdout.splitlines() if any(text in line for text in NOT_THERE)), None)
        if missing is None:
            raise RuntimeError(f"{' '.join(command)} failed:\n{run.stdout}")
        raise Unavailable(missing.strip())
