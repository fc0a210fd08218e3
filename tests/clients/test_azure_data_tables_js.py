"""The @azure/data-tables package for JavaScript: runs `js/data-tables.test.mjs` against our server."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Server

JS = Path(__file__).parent / "js"
SECONDS_MAX = 120


def node_version() -> int:
    """The major version of Node.js, 0 where there is none."""
    if shutil.which("node") is None:
        return 0
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return int(version.lstrip("v").partition(".")[0])


needs_node = pytest.mark.skipif(node_version() < 20, reason="the client needs Node.js 20 or newer")
needs_packages = pytest.mark.skipif(
    not (JS / "node_modules" / "@azure" / "data-tables").is_dir(),
    reason="the npm packages are not installed: run `npm ci` in tests/clients/js, or `make npm`",
)


@needs_node
@needs_packages
def test_the_javascript_client_is_served(server: Server) -> None:
    """All of its tests pass; what they print is shown if one does not."""
    run = subprocess.run(
        ["node", "--test", "--test-reporter=spec", "data-tables.test.mjs"],
        cwd=JS,
        env={
            **os.environ,
            "ROWKEY_TEST_ENDPOINT": server.endpoint,
            "ROWKEY_TEST_ACCOUNT": server.account,
            "ROWKEY_TEST_KEY": server.key,
            "ROWKEY_TEST_CONNECTION_STRING": server.connection_string,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert run.returncode == 0, run.stdout
