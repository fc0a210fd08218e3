"""The two documents about the service itself: what collections it has, and of what types they are.

Neither was recorded; their forms are those of OData 3.0 and its CSDL.
"""

from collections.abc import Iterable

from rowkey.payload.xml_output import escape_attribute
from rowkey.wire.media import Format

_DECLARATION = '<?xml version="1.0" encoding="utf-8" standalone="yes"?>'
_APP = "http://www.w3.org/2007/app"
_ATOM = "http://www.w3.org/2005/Atom"
_EDMX = "http://schemas.microsoft.com/ado/2007/06/edmx"
_EDM = "http://schemas.microsoft.com/ado/2006/04/edm"
_METADATA = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"

XML_CONTENT_TYPE = "application/xml;charset=utf-8"


def write_service_document(wanted: Format, base: str) -> bytes:
    """The collections of the account at this URL: its tables' names, under which everything else is found."""
    if wanted.is_json:
        metadata = "" if wanted is Format.NO_METADATA else f'"odata.metadata":"{base}/$metadata",'
        return f'{{{metadata}"value":[{{"name":"Tables","url":"Tables"}}]}}'.encode()
    return (
        f'{_DECLARATION}\r\n<service xml:base="{escape_attribute(base)}/" xmlns="{_APP}" xmlns:atom="{_ATOM}">'
        "<workspace><atom:title>Default</atom:title>"
        '<collection href="Tables"><atom:title>Tables</atom:title></collection></workspace></service>'
    ).encode()


def write_metadata(account: str, tables: Iterable[str]) -> bytes:
    """The types of the account's collections; of a table's entities only the system properties are known beforehand."""
    names = list(tables)
    types = "".join(f'<EntityType Name="{name}" OpenType="true">{_ENTITY_TYPE}</EntityType>' for name in names)
    sets = "".join(f'<EntitySet Name="{name}" EntityType="{account}.{name}" />' for name in ("Tables", *names))
    return (
        f'{_DECLARATION}\r\n<edmx:Edmx Version="1.0" xmlns:edmx="{_EDMX}">'
        f'<edmx:DataServices m:DataServiceVersion="1.0" xmlns:m="{_METADATA}">'
        f'<Schema Namespace="{account}" xmlns="{_EDM}">'
        f'<EntityType Name="Tables">{_TABLE_TYPE}</EntityType>{types}'
        f'<EntityContainer Name="{account}" m:IsDefaultEntityContainer="true">{sets}</EntityContainer>'
        "</Schema></edmx:DataServices></edmx:Edmx>"
    ).encode()


def _property(name: str, edm_type: str) -> str:
    return f'<Property Name="{name}" Type="{edm_type}" Nullable="false" />'


_TABLE_TYPE = '<Key><PropertyRef Name="TableName" /></Key>' + _property("TableName", "Edm.String")
_ENTITY_TYPE = (
    '<Key><PropertyRef Name="PartitionKey" /><PropertyRef Name="RowKey" /></Key>'
    + _property("PartitionKey", "Edm.String")
    + _property("RowKey", "Edm.String")
    + _property("Timestamp", "Edm.DateTime")
)
