"""The `rowkey export` and `rowkey import` commands: tables as files of JSON lines, from any server and to any server.

A line is an entity as the service shows it with minimal metadata, without its ETag:

    {"PartitionKey":"p","RowKey":"r","Timestamp":"...","Big@odata.type":"Edm.Int64","Big":"255"}

Both commands are clients of the REST API, so they move tables between Rowkey, the service and an emulator. What is
imported replaces entities of the same keys, so an import that was interrupted may simply be run again.
"""

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from rowkey.client import Answer, Client, CommandError, explain, run_with_client
from rowkey.errors import ServiceError
from rowkey.model.edm import INT32_MAX, INT32_MIN
from rowkey.model.limits import BATCH_OPERATIONS_MAX
from rowkey.model.names import verify_table_name

SUFFIX = ".jsonl"
_BATCH_BYTES_MAX = 3 * 1024 * 1024
"""Below the 4 MiB of a batch, whose parts have heads, too."""
_BOUNDARY, _CHANGE_SET = "batch_rowkey", "changeset_rowkey"
_STATUS = re.compile(rb"^HTTP/1\.1 (\d{3})", re.MULTILINE)


class Line(NamedTuple):
    """An entity to import: the number of its line, its keys, and what is sent of it."""

    number: int
    partition_key: str
    row_key: str
    body: bytes


def run_command(options: argparse.Namespace) -> int:
    """Run one of the commands and return its exit code."""
    return run_with_client(options.connection_string, lambda client: _run(client, options))


def _run(client: Client, options: argparse.Namespace) -> None:
    if options.command == "export":
        _export(client, options.folder, options.tables, options.filter)
    else:
        files = {file: options.table or file.stem for file in _find_files(options.paths)}
        for table in files.values():
            _verify_name(table, ": say which it is with --table.")
        for file, table in files.items():
            _import(client, file, table)


def _verify_name(table: str, end: str) -> None:
    """Raise CommandError for what no table can be called: it becomes the name of a file, and a part of URLs."""
    try:
        verify_table_name(table)
    except ServiceError:
        raise CommandError(f"{table!r} is not the name of a table{end}") from None


# ---------------------------------------------------------------- out


def _export(client: Client, folder: Path, tables: Sequence[str], condition: str | None) -> None:
    """Write each table to a file of its own; a file has its name when it is complete."""
    names = list({name.lower(): name for name in tables or client.tables()}.values())
    for table in names:
        _verify_name(table, ".")
        if _file_of(folder, table).exists():
            raise CommandError(f"{_file_of(folder, table)} is there already: name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    for table in names:
        file = _file_of(folder, table)
        unfinished = file.with_suffix(".unfinished")
        count = 0
        try:
            with unfinished.open("w", encoding="ascii") as lines:
                for entity in _entities(client, table, condition):
                    lines.write(_write_line(entity))
                    count += 1
            unfinished.rename(file)
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
        finally:
            unfinished.unlink(missing_ok=True)
        print(f"{table}: {count:,} entities in {file}", flush=True)
    if not names:
        print("There are no tables.")


def _file_of(folder: Path, table: str) -> Path:
    return folder / f"{table}{SUFFIX}"


def _entities(client: Client, table: str, condition: str | None) -> Iterator[dict[str, Any]]:
    """All entities that satisfy a `$filter`, page by page."""
    wanted = {} if condition is None else {"$filter": condition}
    following: dict[str, str] = {}
    while True:
        query = urlencode({**wanted, **following}, quote_via=quote)
        answer = client.send("GET", f"/{table}()", query, what=f"show the entities of {table}")
        page: list[dict[str, Any]] = client.read(answer, lambda body: [dict(entity) for entity in body["value"]])
        yield from page
        following = {
            name: answer.headers[header]
            for name in ("NextPartitionKey", "NextRowKey")
            if (header := f"x-ms-continuation-{name.lower()}") in answer.headers
        }
        if not following:
            return


def _write_line(entity: dict[str, Any]) -> str:
    members = {name: value for name, value in entity.items() if not name.startswith("odata.")}
    return json.dumps(members, separators=(",", ":")) + "\n"


# ---------------------------------------------------------------- in


def _find_files(paths: Sequence[Path]) -> list[Path]:
    """The files that are named, and those of the folders that are."""
    files: list[Path] = []
    for path in paths:
        found = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
        if not found:
            raise CommandError(f"{path} has no files whose names end in {SUFFIX}.")
        files += found
    return files


def _import(client: Client, file: Path, table: str) -> None:
    """Insert or replace the entities of a file."""
    count = 0
    with file.open("rb") as lines:
        body = json.dumps({"TableName": table}).encode()
        client.send("POST", "/Tables", body=body, what=f"create {table}", accepted=("TableAlreadyExists",))
        for batch in _batches(file, lines):
            _send_batch(client, file, table, batch)
            count += len(batch)
    print(f"{table}: {count:,} entities from {file}", flush=True)


def _batches(file: Path, lines: Iterator[bytes]) -> Iterator[list[Line]]:
    """Lines that follow each other and may go together: of one partition, each of another entity."""
    batch: list[Line] = []
    row_keys: set[str] = set()
    size = 0
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        line = _read_line(file, number, text)
        is_full = len(batch) == BATCH_OPERATIONS_MAX or size + len(line.body) > _BATCH_BYTES_MAX
        if batch and (is_full or line.partition_key != batch[0].partition_key or line.row_key in row_keys):
            yield batch
            batch, row_keys, size = [], set(), 0
        batch.append(line)
        row_keys.add(line.row_key)
        size += len(line.body)
    if batch:
        yield batch


def _read_line(file: Path, number: int, text: bytes) -> Line:
    try:
        entity = json.loads(text)
        keys = entity["PartitionKey"], entity["RowKey"]
        "".join(keys).encode()
    except (ValueError, LookupError, TypeError, RecursionError):
        raise CommandError(
            f"{file}, line {number}: this is not an entity in JSON, with PartitionKey and RowKey."
        ) from None
    members: dict[str, Any] = {}
    for name, value in entity.items():
        if name.startswith("odata.") or name.partition("@")[0] == "Timestamp":
            continue
        if type(value) is int and not INT32_MIN <= value <= INT32_MAX and f"{name}@odata.type" not in entity:
            members[f"{name}@odata.type"] = "Edm.Double"  # Azurite writes whole doubles so
        members[name] = value
    return Line(number, *keys, json.dumps(members, separators=(",", ":")).encode())


def _send_batch(client: Client, file: Path, table: str, batch: Sequence[Line]) -> None:
    parts = [f"--{_BOUNDARY}\r\nContent-Type: multipart/mixed; boundary={_CHANGE_SET}\r\n\r\n".encode()]
    for line in batch:
        keys = [quote(key.replace("'", "''"), safe="") for key in (line.partition_key, line.row_key)]
        url = f"{client.url}/{table}(PartitionKey='{keys[0]}',RowKey='{keys[1]}')"
        head = (
            f"--{_CHANGE_SET}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
            f"PUT {url} HTTP/1.1\r\nAccept: application/json;odata=nometadata\r\nContent-Type: application/json\r\n"
            f"DataServiceVersion: 3.0\r\n\r\n"
        )
        parts += [head.encode("ascii"), line.body, b"\r\n"]
    parts.append(f"--{_CHANGE_SET}--\r\n--{_BOUNDARY}--\r\n".encode())
    answer = client.send(
        "POST",
        "/$batch",
        body=b"".join(parts),
        content_type=f"multipart/mixed; boundary={_BOUNDARY}",
        what=f"write to {table}",
    )
    _verify_batch(file, batch, answer)


def _verify_batch(file: Path, batch: Sequence[Line], answer: Answer) -> None:
    """Raise what is wrong with the operation that a batch failed at, with the number of its line."""
    statuses = [int(status) for status in _STATUS.findall(answer.body)]
    if len(statuses) == len(batch) and all(status < 300 for status in statuses):
        return
    code, text = explain(answer.body[answer.body.find(b"{") : answer.body.rfind(b"}") + 1])
    if not code:
        raise CommandError(f"{file}, line {batch[0].number} and those after it: the batch was not answered.")
    index, colon, message = text.partition(":")
    is_numbered = bool(colon) and index.isdecimal() and int(index) < len(batch)
    line = batch[int(index) if is_numbered else 0]
    raise CommandError(f"{file}, line {line.number}: {code}: {message if is_numbered else text}")
