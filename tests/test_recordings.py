"""The server answers what the real service was recorded to answer.

The recordings are not part of this repository. ROWKEY_RECORDINGS names a folder with `corpus/`, one JSON file for each
recorded test, and `replay.py`, which sends the recorded requests to a server and compares status, code, body and
headers. It makes shared access signatures anew, and sends requests that came with a bearer token with a Shared Key.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import ServerProcess

NOT_YET_IN_FORCE = "the service shows the properties that were set before, as it may for 30 seconds"
POLICY_EXPIRED = "the stored access policy that the recorded signature names has expired since"
ENTITIES_FROM_BEFORE = "the entities were inserted by a test that was recorded before it, and its account begins empty"
OTHER_TABLE = "the DataServiceId names another table than the request: only the latter was made anonymous"
KNOWN = {
    "aztables-go-yaml__TestServiceClient_Storage_TestGetStatistics": (
        "the service refuses stats on the primary; in path style they are answered here, on purpose"
    ),
    "aztables-go-yaml__TestServiceClient_Storage_TestSetProperties": NOT_YET_IN_FORCE,
    "azure-table-python-2020__test_table.test_create_properties": NOT_YET_IN_FORCE,
    "data-tables-python__test_table.test_create_properties": NOT_YET_IN_FORCE,
    "storage-python__test_storage_table.test_table_service_retention_single_set": (
        "the properties that are shown were set before the recording began"
    ),
    "data-tables-python__test_table_entity.test_sas_signed_identifier__2019-02-02": POLICY_EXPIRED,
    "data-tables-python__test_table_entity.test_sas_signed_identifier__2019-07-07": POLICY_EXPIRED,
    "data-tables-python__test_table_entity_async.test_sas_signed_identifier__2019-02-02": POLICY_EXPIRED,
    **{
        f"data-tables-js__{where}_batch_operations_should_send_a_set_of_{what}": ENTITIES_FROM_BEFORE
        for where in ("browsers", "node")
        for what in (
            "delete_batch_operations",
            "update_batch_operations",
            "update_batch_operations_with_options",
        )
    },
    **{f"azure-cli__test_storage_table_main_scenario{'x' * number}": OTHER_TABLE for number in range(6)},
    "azure-cli__test_storage_table_list_paging": "the recorded request body is a Python literal, b'...', and no JSON",
    "storage-python__test_table.test_list_tables_with_marker__2017-04-17": (
        "the spelling of the first tables is not in the recording, so the replay creates them in another"
    ),
}
REPLAY_SECONDS_MAX = 300


@pytest.fixture
def recordings() -> Path:
    """The folder of the recordings."""
    folder = os.environ.get("ROWKEY_RECORDINGS")
    if not folder:
        pytest.skip("ROWKEY_RECORDINGS does not name a folder with the recordings (corpus/) and their replay.py")
    return Path(folder)


def test_recorded_exchanges_are_answered_as_recorded(
    recordings: Path, own_server: ServerProcess, tmp_path: Path
) -> None:
    """At the highest level: headers, the order of JSON properties and the spelling of numbers count."""
    asked = [path.stem for path in (recordings / "corpus").glob("*.json")]
    outcomes = replay(recordings, asked, own_server, tmp_path)

    assert sorted(outcomes) == sorted(asked)
    failed = {name for name, outcome in outcomes.items() if outcome == "fail"}
    assert failed == KNOWN.keys() & outcomes.keys()
    # A recording of which a part cannot be judged is skipped; those are few, or the replay itself does not work.
    passed = [name for name, outcome in outcomes.items() if outcome == "pass"]
    assert len(passed) > 0.9 * len(outcomes)


def replay(recordings: Path, names: list[str], process: ServerProcess, folder: Path) -> dict[str, str]:
    """Send these recordings to a server; pass, fail or skip by the name of each."""
    choice, report = folder / "choice.json", folder / "report.json"
    choice.write_text(json.dumps({"public": names}))
    server = process.server
    command = [
        *(sys.executable, str(recordings / "replay.py"), server.endpoint),
        *("--account", server.account, "--key", server.key, "--corpus", str(recordings / "corpus")),
        *("--split", str(choice), "--level", "full", "--strict", "--quiet", "--report", str(report)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=REPLAY_SECONDS_MAX, check=False)
    assert report.exists(), done.stderr
    results: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["results"]
    return {result["name"]: result["outcome"]["full"] for result in results}
