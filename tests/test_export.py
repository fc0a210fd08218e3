"""`rowkey export` and `rowkey import`, from a running server and to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables import EdmType, EntityProperty, TableSasPermissions, TableServiceClient, generate_table_sas

from tests.conftest import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from azure.data.tables import TableClient

    from tests.conftest import Server, ServerProcess


def run(*arguments: object, server: Server | str) -> tuple[int, str, str]:
    """Run a command to its end: exit code, output, errors."""
    text = server if isinstance(server, str) else server.connection_string
    command = [sys.executable, "-m", "rowkey", *map(str, arguments)]
    environment = {**os.environ, "AZURE_STORAGE_CONNECTION_STRING": text}
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)
    return result.returncode, result.stdout, result.stderr


@pytest.fixture
def service(own_server: ServerProcess) -> Iterator[TableServiceClient]:
    """A client of a server without tables."""
    with TableServiceClient.from_connection_string(own_server.server.connection_string) as service:
        yield service


def contents(table: TableClient) -> list[dict[str, Any]]:
    """The entities of a table, with the types of all values."""
    return [{name: (type(value), value) for name, value in entity.items()} for entity in table.list_entities()]


def test_tables_come_back_as_they_were(service: TableServiceClient, own_server: ServerProcess, tmp_path: Path) -> None:
    server = own_server.server
    orders, others = service.create_table("Orders"), service.create_table("Others")
    orders.create_entity(
        {
            "PartitionKey": "it's ü",
            "RowKey": "50% \U0001f600",
            "Text": 'two\nlines "\x00\u2028',
            "Small": -7,
            "Large": EntityProperty(2**53 + 1, EdmType.INT64),
            "Whole": 1.0,
            "Wide": 1e300,
            "None": float("nan"),
            "Active": True,
            "When": datetime(1601, 1, 1, 0, 0, 0, 123456, tzinfo=UTC),
            "Owner": uuid.UUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
            "Data": b"\0\xff",
        }
    )
    for first in range(0, 1200, 100):  # more than a page, and partitions of more and of less than a batch
        writes = [{"PartitionKey": str(first // 400), "RowKey": f"{first + number:04}"} for number in range(100)]
        others.submit_transaction([("create", entity) for entity in writes])
    before = {table.table_name: contents(table) for table in (orders, others)}
    before["Orders"][0]["None"] = ()  # NaN is not even itself

    folder = tmp_path / "tables"
    code, output, errors = run("export", folder, server=server)
    assert (code, errors) == (0, "")
    assert output.splitlines() == [
        f"Orders: 1 entities in {folder}/Orders.jsonl",
        f"Others: 1,200 entities in {folder}/Others.jsonl",
    ]
    assert sorted(file.name for file in folder.iterdir()) == ["Orders.jsonl", "Others.jsonl"]
    (line,) = (folder / "Orders.jsonl").read_text().splitlines()
    assert '"Whole":1.0,' in line
    assert '"Large@odata.type":"Edm.Int64","Large":"9007199254740993"' in line

    for name in before:
        service.delete_table(name)
    assert run("import", folder, server=server)[0] == 0
    assert run("import", folder / "Others.jsonl", server=server)[0] == 0  # once more changes nothing
    after = {table.table_name: contents(table) for table in (orders, others)}
    assert str(after["Orders"][0].pop("None")) == "(<class 'float'>, nan)"
    before["Orders"][0].pop("None")
    assert after == before


def test_some_entities_and_another_name(service: TableServiceClient, own_server: ServerProcess, tmp_path: Path) -> None:
    table = service.create_table("Orders")
    for number in range(5):
        table.create_entity({"PartitionKey": "p", "RowKey": str(number), "Total": number})
    server = own_server.server
    permission = TableSasPermissions(read=True)
    credential = AzureNamedKeyCredential(server.account, server.key)
    expiry = datetime(2099, 1, 1, tzinfo=UTC)
    signature = generate_table_sas(credential, "Orders", permission=permission, expiry=expiry)
    reader = f"TableEndpoint={server.endpoint};SharedAccessSignature={signature}"
    assert run("export", tmp_path, "orders", "orders", "--filter", "Total ge 3", server=reader)[0] == 0
    file = tmp_path / "orders.jsonl"
    assert [json.loads(line)["Total"] for line in file.read_text().splitlines()] == [3, 4]
    with file.open("a") as lines:  # the same entity again: the last counts
        lines.write('\n{"PartitionKey":"p","RowKey":"4","Total":5,"Timestamp":"2001-01-01T00:00:00Z"}\n')
        lines.write('{"PartitionKey":"p","RowKey":"5","Total":123456789012345680}\n')  # a double, as Azurite shows it
    code, output, _ = run("import", file, "--table", "Copies", server=server)
    assert (code, output) == (0, f"Copies: 4 entities from {file}\n")
    totals = [entity["Total"] for entity in service.get_table_client("Copies").list_entities()]
    assert list(map(repr, totals)) == ["3", "5", "1.2345678901234568e+17"]


def test_what_cannot_be_done_is_explained(
    service: TableServiceClient, own_server: ServerProcess, tmp_path: Path
) -> None:
    server = own_server.server
    service.create_table("Orders")
    file = tmp_path / "Orders.jsonl"
    fine = '{"PartitionKey":"p","RowKey":"1"}\n{"PartitionKey":"p","RowKey":"2"}\n'

    for text, said in [
        ("nonsense\n", "line 3: this is not an entity in JSON"),
        ("[" * 100_000, "line 3: this is not an entity in JSON"),
        ('{"PartitionKey":"p"}\n', "line 3: this is not an entity in JSON"),
        ('{"PartitionKey":"p","RowKey":3}\n', "line 3: this is not an entity in JSON"),
        ('{"PartitionKey":"p","RowKey":"\\ud800"}\n', "line 3: this is not an entity in JSON"),
        ('{"PartitionKey":"p","RowKey":"3","a-b":1}\n', "line 3: PropertyNameInvalid: The property name is invalid."),
        ('{"PartitionKey":"p","RowKey":"3","A@odata.type":"Edm.Int32","A":"x"}\n', "line 3: InvalidInput: "),
    ]:
        file.write_text(fine + text)
        code, output, errors = run("import", file, server=server)
        assert (code, output) == (1, "")
        assert errors.startswith(f"rowkey: {file}, {said}")
    for arguments, said in [
        (("export", tmp_path), f"{file} is there already: name another folder."),
        (("export", tmp_path / "new", "Missing"), "TableNotFound: "),
        (("export", tmp_path / "new", "Orders", "--filter", "x eq"), "InvalidInput: "),
        (("export", tmp_path / "new", "../Orders"), "'../Orders' is not the name of a table."),
        (("export", file), f"{file}: File exists"),
        (("import", tmp_path / "missing.jsonl"), "missing.jsonl: No such file or directory"),
        (("import", tmp_path / "new"), "has no files whose names end in .jsonl."),
        (("import", file, "--table", "a/b"), "'a/b' is not the name of a table"),
    ]:
        code, _, errors = run(*arguments, server=server)
        assert code == 1, arguments
        assert said in errors
    assert not list((tmp_path / "new").iterdir())  # nothing half done
    assert [table.name for table in service.list_tables()] == ["Orders"]
    assert run("export", tmp_path, server="nonsense")[0] == 2
    nobody = f"AccountName=a;AccountKey=a2V5;TableEndpoint=http://127.0.0.1:{free_port()}/a"
    code, _, errors = run("export", tmp_path, server=nobody)
    assert code == 1
    assert "No answer from" in errors
