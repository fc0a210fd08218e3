"""The `rowkey index` commands: ask a running server, over HTTP and with an account's key, for its indexes.

They are operations of the server's like any other (`operations/add_index.py` and its kin), so the commands work from
any machine that reaches it, and need nothing of the data folder.
"""

import argparse
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from rowkey.client import Answer, Client, run_with_client

_VERBS = {"GET": "list", "PUT": "add", "DELETE": "drop"}


def run_command(options: argparse.Namespace) -> int:
    """Run one of the commands and return its exit code."""
    return run_with_client(options.connection_string, lambda client: _run(client, options))


def _run(client: Client, options: argparse.Namespace) -> None:
    if options.action == "list":
        _print_indexes(client, [options.table] if options.table else list(client.tables()))
    elif options.action == "add":
        is_new = _ask(client, "PUT", options.table, options.property).status == 202
        what = "is being built" if is_new else "is there already"
        print(f"The index of {options.table} on {options.property} {what}: rowkey index list {options.table}")
    else:
        _ask(client, "DELETE", options.table, options.property)
        print(f"The index of {options.table} on {options.property} is dropped.")


def _ask(client: Client, method: str, table: str, name: str | None = None) -> Answer:
    """The answer about a table's indexes, or its index on one property."""
    named = {} if name is None else {"property": name}
    what = f"{_VERBS[method]} the " + (f"indexes of {table}" if name is None else f"index of {table} on {name}")
    return client.send(method, f"/{quote(table, safe='')}", urlencode({"comp": "indexes", **named}), what=what)


def _read_indexes(body: Any) -> list[tuple[str, str, int]]:
    """Property, state and number of entries of each index."""
    return [(str(index["property"]), str(index["state"]), int(index["entries"])) for index in body["indexes"]]


def _print_indexes(client: Client, tables: Sequence[str]) -> None:
    rows = [("TABLE", "PROPERTY", "STATE", "ENTRIES")]
    for table in tables:
        indexes = client.read(_ask(client, "GET", table), _read_indexes)
        rows += [(table, name, state, f"{entries:,}") for name, state, entries in indexes]
    if len(rows) == 1:
        print("There are no indexes.")
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for table, name, state, entries in rows:
        print(f"{table:{widths[0]}}  {name:{widths[1]}}  {state:{widths[2]}}  {entries:>{widths[3]}}")
