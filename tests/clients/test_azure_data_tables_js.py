"""The @azure/data-tables package for JavaScript: runs the tests in `js/` against our server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Server, ServerProcess, TokenIssuer

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
    run_tests(
        "data-tables.test.mjs",
        {
            "ROWKEY_TEST_ENDPOINT": server.endpoint,
            "ROWKEY_TEST_ACCOUNT": server.account,
            "ROWKEY_TEST_KEY": server.key,
            "ROWKEY_TEST_CONNECTION_STRING": server.connection_string,
        },
    )


@needs_node
@needs_packages
def test_the_javascript_client_comes_with_tokens(
    own_server_with: Callable[..., ServerProcess], issuer: TokenIssuer, tmp_path: Path
) -> None:
    """By TLS, with a certificate that it was told to trust; its first token is for something else."""
    process = own_server_with("--tls", "auto", "--oidc", issuer.url, "--oidc-role", "contributor")
    run_tests(
        "entra.test.mjs",
        {
            "NODE_EXTRA_CA_CERTS": str(tmp_path / "data" / "tls" / "cert.pem"),
            "ROWKEY_TEST_ENDPOINT": process.server.endpoint,
            "ROWKEY_TEST_TENANT": issuer.tenant,
            "ROWKEY_TEST_TOKENS": json.dumps([issuer.token(aud="https://vault.azure.net"), issuer.token()]),
        },
    )


def run_tests(file: str, variables: dict[str, str]) -> None:
    """Run one of the files in `js/`, which takes what it needs from these variables."""
    run = subprocess.run(
        ["node", "--test", "--test-reporter=spec", file],
        cwd=JS,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert run.returncode == 0, run.stdout
