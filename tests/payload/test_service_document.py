"""The service document and the metadata document."""

from __future__ import annotations

import json

import pytest

from rowkey.payload.service_document import write_metadata, write_service_document
from rowkey.payload.xml_input import parse_xml
from rowkey.wire.media import Format

BASE = "https://contoso.table.core.windows.net"
APP = "{http://www.w3.org/2007/app}"
EDM = "{http://schemas.microsoft.com/ado/2006/04/edm}"


@pytest.mark.parametrize("level", [Format.MINIMAL_METADATA, Format.FULL_METADATA])
def test_json(level: Format) -> None:
    assert json.loads(write_service_document(level, BASE)) == {
        "odata.metadata": f"{BASE}/$metadata",
        "value": [{"name": "Tables", "url": "Tables"}],
    }


def test_json_without_metadata() -> None:
    assert write_service_document(Format.NO_METADATA, BASE) == b'{"value":[{"name":"Tables","url":"Tables"}]}'


def test_atom() -> None:
    root = parse_xml(write_service_document(Format.ATOM, BASE))
    assert root.tag == f"{APP}service"
    assert root.get("{http://www.w3.org/XML/1998/namespace}base") == f"{BASE}/"
    assert [found.get("href") for found in root.findall(f"{APP}workspace/{APP}collection")] == ["Tables"]


def test_metadata() -> None:
    body = write_metadata("contoso", ["Orders", "Parts"])
    assert b'<Schema Namespace="contoso" ' in body
    assert (
        b'<EntityType Name="Orders" OpenType="true"><Key><PropertyRef Name="PartitionKey" />'
        b'<PropertyRef Name="RowKey" /></Key><Property Name="PartitionKey" Type="Edm.String" Nullable="false" />'
        b'<Property Name="RowKey" Type="Edm.String" Nullable="false" />'
        b'<Property Name="Timestamp" Type="Edm.DateTime" Nullable="false" /></EntityType>'
    ) in body
    root = parse_xml(body)
    assert [found.get("Name") for found in root.iter(f"{EDM}EntityType")] == ["Tables", "Orders", "Parts"]
    assert [(found.get("Name"), found.get("EntityType")) for found in root.iter(f"{EDM}EntitySet")] == [
        ("Tables", "contoso.Tables"),
        ("Orders", "contoso.Orders"),
        ("Parts", "contoso.Parts"),
    ]


def test_metadata_of_an_account_without_tables() -> None:
    assert len(list(parse_xml(write_metadata("contoso", [])).iter(f"{EDM}EntitySet"))) == 1
