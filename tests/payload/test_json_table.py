"""Tables in JSON."""

from __future__ import annotations

import json

import pytest

from rowkey.payload.json_table import write_table, write_tables
from rowkey.payload.views import TableView
from rowkey.wire.media import Format

BASE = "https://contoso.table.core.windows.net"
METADATA = f'"odata.metadata":"{BASE}/$metadata#Tables'
FULL = (
    f'"odata.type":"contoso.Tables","odata.id":"{BASE}/Tables(\'Orders\')","odata.editLink":"Tables(\'Orders\')",'
    '"TableName":"Orders"'
)


def view(level: Format, select_text: str | None = None) -> TableView:
    return TableView(level, BASE, "contoso", 0, select_text)


@pytest.mark.parametrize(
    ("level", "select", "expected"),
    [
        (Format.NO_METADATA, None, '{"TableName":"Orders"}'),
        (Format.NO_METADATA, "TableName", '{"TableName":"Orders"}'),
        (Format.MINIMAL_METADATA, None, f'{{{METADATA}/@Element","TableName":"Orders"}}'),
        (
            Format.MINIMAL_METADATA,
            "TableName, x",
            f'{{{METADATA}/@Element&$select=TableName,%20x","TableName":"Orders"}}',
        ),
        (Format.FULL_METADATA, None, f'{{{METADATA}/@Element",{FULL}}}'),
    ],
)
def test_one_table(level: Format, select: str | None, expected: str) -> None:
    assert write_table("Orders", view(level, select)).decode() == expected


@pytest.mark.parametrize(
    ("level", "select", "expected"),
    [
        (Format.NO_METADATA, None, '{"value":[{"TableName":"Orders"},{"TableName":"Orders"}]}'),
        (Format.MINIMAL_METADATA, None, f'{{{METADATA}","value":[{{"TableName":"Orders"}},{{"TableName":"Orders"}}]}}'),
        (
            Format.MINIMAL_METADATA,
            "",
            f'{{{METADATA}&$select=","value":[{{"TableName":"Orders"}},{{"TableName":"Orders"}}]}}',
        ),
        (Format.FULL_METADATA, None, f'{{{METADATA}","value":[{{{FULL}}},{{{FULL}}}]}}'),
    ],
)
def test_list(level: Format, select: str | None, expected: str) -> None:
    assert write_tables(["Orders", "Orders"], view(level, select)).decode() == expected


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (Format.NO_METADATA, '{"value":[]}'),
        (Format.MINIMAL_METADATA, f'{{{METADATA}","value":[]}}'),
        (Format.FULL_METADATA, f'{{{METADATA}","value":[]}}'),
    ],
)
def test_empty_list(level: Format, expected: str) -> None:
    assert write_tables([], view(level)).decode() == expected


@pytest.mark.parametrize("select", ['Table"Name', "é", "a\\b"])
def test_selection_is_escaped(select: str) -> None:
    """The option's text may hold what JSON must escape, and output is pure ASCII; entities are written so."""
    body = write_table("Orders", view(Format.MINIMAL_METADATA, select))
    assert body.isascii()
    assert json.loads(body)["odata.metadata"] == f"{BASE}/$metadata#Tables/@Element&$select={select}"
