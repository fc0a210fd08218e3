"""The Python client is served from a PostgreSQL database as from a folder: its tests once more, over that store.

`pytest tests/clients tests/test_recordings.py --store postgresql` runs the others too, and the recordings.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import find_programs

TESTS = [
    "test_azure_data_tables.py",
    "test_azure_data_tables_async.py",
    "test_azure_data_tables_queries.py",
    "test_azure_data_tables_sas.py",
    "test_azure_data_tables_service.py",
    "test_azure_data_tables_transactions.py",
    "test_azure_data_tables_types.py",
    "test_durability.py",
]
SECONDS_MAX = 280


def test_the_python_client_is_served_over_postgresql(request: pytest.FixtureRequest) -> None:
    if find_programs() is None:
        pytest.skip("PostgreSQL is not installed: on Debian and Ubuntu, apt-get install postgresql")
    if request.config.getoption("--store") or request.config.getoption("--target"):
        pytest.skip("this run has a store of its own choice")
    here = Path(__file__).parent
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--store", "postgresql", *TESTS],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert run.returncode == 0, run.stdout
