"""The Azure command line, `az storage`, for the scripts `az_*.py`; each has a table of its own.

The commands run one after the other in one process, through the object that `az` itself makes: as processes of their
own, each would load hundreds of modules again.
"""

from __future__ import annotations

import io
import json
import os

import runner
from runner import equal, new_name, raised

os.environ["AZURE_CONFIG_DIR"] = f"{os.environ['ROWKEY_TEST_FOLDER']}/azure"
os.environ["AZURE_CORE_COLLECT_TELEMETRY"] = "0"
os.environ["AZURE_STORAGE_CONNECTION_STRING"] = runner.CONNECTION_STRING

from azure.cli.core import get_default_cli

cli = get_default_cli()
EXPIRY = "2038-01-01T00:00:00Z"


class Failed(Exception):
    """A command ended with an exit code other than 0."""


def az(*words):
    """What a command of `az storage` answers, read from its JSON."""
    output = io.StringIO()
    try:
        code = cli.invoke(["storage", *words], out_file=output)
    except SystemExit as exit:
        code = exit.code
    if code != 0:
        raise Failed(code, str(cli.result.error))
    return json.loads(output.getvalue() or "null")


def refused(*words):
    """What a command says that ends with exit code 1."""
    code, text = raised(Failed, az, *words).args
    equal(code, 1)
    return text


def missing(*words):
    """Fail unless a command finds nothing; `az` has an exit code for that."""
    equal(raised(Failed, az, *words).args[0], 3)


def entity(*words, table=None):
    """A command of `az storage entity`."""
    return az("entity", *words, "--table-name", table or TABLE)


def insert(partition, row, *properties, **named):
    """Insert an entity, and return its etag."""
    return entity("insert", "--entity", f"PartitionKey={partition}", f"RowKey={row}", *properties, **named)["etag"]


def show(partition, row="r"):
    """An entity that is there, without what the server adds to it."""
    found = entity("show", "--partition-key", partition, "--row-key", row)
    return {name: value for name, value in found.items() if name not in ("etag", "Timestamp")}


def stored(partition, row="r", **properties):
    """What `show` returns."""
    return {"PartitionKey": partition, "RowKey": row, **properties}


def new_table():
    """A table of a step's own."""
    name = new_name()
    az("table", "create", "--name", name, "--fail-on-exist")
    return name


TABLE = new_table()
