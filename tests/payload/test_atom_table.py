"""Tables in Atom."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowkey.model.datetimes import parse_datetime
from rowkey.payload.atom_input import read_entry
from rowkey.payload.atom_table import write_table, write_tables
from rowkey.payload.properties import read_table_name
from rowkey.payload.views import TableView
from rowkey.wire.media import Format

BASE = "https://contoso.table.core.windows.net"
NAMESPACES = (
    'xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"'
    ' xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns="http://www.w3.org/2005/Atom"'
)
DECLARATION = '<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n'
ENTRY = (
    f"  <id>{BASE}/Tables('Orders')</id>",
    '  <title type="text"></title>',
    "  <updated>2012-05-04T10:00:03Z</updated>",
    "  <author>",
    "    <name />",
    "  </author>",
    '  <link rel="edit" title="Tables" href="Tables(\'Orders\')" />',
    '  <category term="contoso.Tables" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme" />',
    '  <content type="application/xml">',
    "    <m:properties>",
    "      <d:TableName>Orders</d:TableName>",
    "    </m:properties>",
    "  </content>",
    "</entry>",
)


def view(base: str = BASE, account: str = "contoso") -> TableView:
    return TableView(Format.INDENTED_ATOM, base, account, parse_datetime("2012-05-04T10:00:03.25Z"))


def test_one_table() -> None:
    start = f'<entry xml:base="{BASE}/" {NAMESPACES}>'
    assert write_table("Orders", view()).decode() == DECLARATION + "\r\n".join([start, *ENTRY])


def test_list() -> None:
    head = (
        f'<feed xml:base="{BASE}/" {NAMESPACES}>',
        '  <title type="text">Tables</title>',
        f"  <id>{BASE}/Tables</id>",
        "  <updated>2012-05-04T10:00:03Z</updated>",
        '  <link rel="self" title="Tables" href="Tables" />',
    )
    entry = ["<entry>", *ENTRY]
    lines = [*head, *(f"  {line}" for line in entry), "</feed>"]
    assert write_tables(["Orders"], view()).decode() == DECLARATION + "\r\n".join(lines)
    two = write_tables(["Orders", "Parts"], view()).decode()
    assert two.count("<entry>") == 2
    assert two.count("Tables('Parts')") == 2


def test_length_that_the_documents_of_2008_state() -> None:
    shown = view("http://oakleaf.table.core.windows.net", "oakleaf")
    assert len(write_tables(["CustomerTable"], shown)) == 1036


def test_empty_list_as_captured() -> None:
    """Version 2011-08-18, in 2013: the author stands before the link."""
    lines = (
        f'<feed xml:base="{BASE}/" {NAMESPACES}>',
        '  <title type="text">Tables</title>',
        f"  <id>{BASE}/Tables</id>",
        "  <updated>2012-05-04T10:00:03Z</updated>",
        "  <author>",
        "    <name />",
        "  </author>",
        '  <link rel="self" title="Tables" href="Tables" />',
        "</feed>",
    )
    assert write_tables([], view()).decode() == DECLARATION + "\r\n".join(lines)


LATER = (
    '<?xml version="1.0" encoding="utf-8"?>',
    f'xml:base="{BASE}/" xmlns="http://www.w3.org/2005/Atom"'
    ' xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"'
    ' xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">',
    f"<id>{BASE}/Tables('Orders')</id>"
    '<category term="contoso.Tables" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme" />'
    '<link rel="edit" title="Tables" href="Tables(\'Orders\')" /><title /><updated>2012-05-04T10:00:03Z</updated>'
    '<author><name /></author><content type="application/xml">'
    "<m:properties><d:TableName>Orders</d:TableName></m:properties></content></entry>",
)


@pytest.mark.parametrize("wanted", [Format.UNTYPED_ATOM, Format.ATOM])
class TestLaterVersions:
    def test_one_table_as_captured(self, wanted: Format) -> None:
        """Version 2015-04-05, in 2017."""
        declaration, attributes, children = LATER
        body = write_table("Orders", replace(view(), format=wanted))
        assert body.decode() == f"{declaration}<entry {attributes}{children}"

    @pytest.mark.parametrize("count", [0, 1, 2])
    def test_list(self, wanted: Format, count: int) -> None:
        declaration, attributes, children = LATER
        body = write_tables(["Orders"] * count, replace(view(), format=wanted))
        entries = f"<entry>{children}" * count or "<author><name /></author>"
        assert body.decode() == (
            f'{declaration}<feed {attributes}<id>{BASE}/Tables</id><title type="text">Tables</title>'
            f'<updated>2012-05-04T10:00:03Z</updated><link rel="self" title="Tables" href="Tables" />{entries}</feed>'
        )


def test_what_is_written_is_read() -> None:
    assert read_table_name(read_entry(write_table("Orders", view()))) == "Orders"
