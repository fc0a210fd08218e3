"""Entities in Atom: how they are written, and that any comes back as it went in."""

from __future__ import annotations

import base64
import math
import random
import re
import uuid
from xml.etree.ElementTree import Element

import pytest

from rowkey.model.datetimes import TICKS_MAX, format_datetime, parse_datetime
from rowkey.model.entity import Key, compose_entity
from rowkey.payload.atom_entity import write_entry, write_feed
from rowkey.payload.atom_input import read_entry
from rowkey.payload.properties import read_entity, read_new_entity
from rowkey.payload.views import EntityView
from rowkey.payload.xml_input import parse_xml
from rowkey.wire.media import Format

VERSION = "2012-02-12"
BASE = "https://contoso.table.core.windows.net"
ATOM = "{http://www.w3.org/2005/Atom}"
DATA = "{http://schemas.microsoft.com/ado/2007/08/dataservices}"
METADATA = "{http://schemas.microsoft.com/ado/2007/08/dataservices/metadata}"
TIME = parse_datetime("2012-05-04T10:00:00.1234567Z")
NOW = parse_datetime("2012-05-04T10:00:03.9Z")
LAYOUTS = (Format.INDENTED_ATOM, Format.ATOM)


def view(*select: str, base: str = BASE, wanted: Format = Format.INDENTED_ATOM) -> EntityView:
    return EntityView(wanted, base, "contoso", "Orders", NOW, select or None)


def text_of(properties: dict[str, object], key: Key = Key("eu", "1")) -> str:
    """The wire text of an entity with these properties."""
    return compose_entity(key, TIME, read_entity(properties, "2019-02-02")).text


def properties_of(body: bytes) -> list[Element]:
    """The properties of an entry."""
    found = parse_xml(body).find(f"{ATOM}content/{METADATA}properties")
    assert found is not None
    return list(found)


class TestEntries:
    def test_to_the_byte(self) -> None:
        text = text_of({"Qty": 3, "Name": "a<b"}, Key("O'Neil", "a b"))
        link = "Orders(PartitionKey='O''Neil',RowKey='a%20b')"
        lines = (
            '<?xml version="1.0" encoding="utf-8" standalone="yes"?>',
            f'<entry xml:base="{BASE}/" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"'
            ' xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"'
            " m:etag=\"W/&quot;datetime'2012-05-04T10%3A00%3A00.1234567Z'&quot;\""
            ' xmlns="http://www.w3.org/2005/Atom">',
            f"  <id>{BASE}/{link}</id>",
            '  <title type="text"></title>',
            "  <updated>2012-05-04T10:00:03Z</updated>",
            "  <author>",
            "    <name />",
            "  </author>",
            f'  <link rel="edit" title="Orders" href="{link}" />',
            '  <category term="contoso.Orders"'
            ' scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme" />',
            '  <content type="application/xml">',
            "    <m:properties>",
            "      <d:PartitionKey>O'Neil</d:PartitionKey>",
            "      <d:RowKey>a b</d:RowKey>",
            '      <d:Timestamp m:type="Edm.DateTime">2012-05-04T10:00:00.1234567Z</d:Timestamp>',
            '      <d:Qty m:type="Edm.Int32">3</d:Qty>',
            "      <d:Name>a&lt;b</d:Name>",
            "    </m:properties>",
            "  </content>",
            "</entry>",
        )
        assert write_entry(text, view()).decode() == "\r\n".join(lines)

    def test_length_that_the_documents_of_2008_state(self) -> None:
        """Their example has ten properties, and these lengths; the answer's is given as 5D6 in hexadecimal."""
        lengths = {"Address": 13, "City": 6, "CompanyName": 19, "ContactName": 12, "ContactTitle": 20, "Country": 7}
        lengths |= {"CustomerID": 5, "Fax": 11, "Phone": 11, "PostalCode": 5}
        members = {name: f'"{name}":"{"x" * length}"' for name, length in lengths.items()}
        time = parse_datetime("2008-11-10T16:43:09.274Z")
        text = compose_entity(Key("Customers", "ALFKI"), time, members).text
        base = "http://oakleaf.table.core.windows.net"
        shown = EntityView(Format.INDENTED_ATOM, base, "oakleaf", "CustomerTable", time)
        assert len(write_entry(text, shown)) == 0x5D6

    @pytest.mark.parametrize(
        ("properties", "element"),
        [
            ({"A": "text"}, "<d:A>text</d:A>"),
            ({"A": ""}, "<d:A></d:A>"),
            ({"A": "null"}, "<d:A>null</d:A>"),
            ({"A": "5"}, "<d:A>5</d:A>"),
            ({"A": 'é "😀" &\\'}, '<d:A>é "😀" &amp;\\</d:A>'),
            ({"A": " a"}, '<d:A xml:space="preserve"> a</d:A>'),
            ({"A": "\n"}, '<d:A xml:space="preserve">\n</d:A>'),
            ({"A": "a\r\nb"}, "<d:A>a&#xD;\nb</d:A>"),
            ({"A": "\x00\x1f\ufffe"}, None),
            ({"A": True}, '<d:A m:type="Edm.Boolean">true</d:A>'),
            ({"A": False}, '<d:A m:type="Edm.Boolean">false</d:A>'),
            ({"A": -7}, '<d:A m:type="Edm.Int32">-7</d:A>'),
            ({"A": 1.5}, '<d:A m:type="Edm.Double">1.5</d:A>'),
            ({"A": 5.0}, '<d:A m:type="Edm.Double">5</d:A>'),
            ({"A": -0.0}, '<d:A m:type="Edm.Double">-0</d:A>'),
            ({"A": 1e22}, '<d:A m:type="Edm.Double">1E+22</d:A>'),
            ({"A": "NaN", "A@odata.type": "Edm.Double"}, '<d:A m:type="Edm.Double">NaN</d:A>'),
            ({"A": "Infinity", "A@odata.type": "Edm.Double"}, '<d:A m:type="Edm.Double">INF</d:A>'),
            ({"A": "-Infinity", "A@odata.type": "Edm.Double"}, '<d:A m:type="Edm.Double">-INF</d:A>'),
            ({"A": "Infinity"}, "<d:A>Infinity</d:A>"),
            ({"A": "255", "A@odata.type": "Edm.Int64"}, '<d:A m:type="Edm.Int64">255</d:A>'),
            ({"A": "AQ==", "A@odata.type": "Edm.Binary"}, '<d:A m:type="Edm.Binary">AQ==</d:A>'),
            ({"A": "", "A@odata.type": "Edm.Binary"}, '<d:A m:type="Edm.Binary"></d:A>'),
            ({"A": "2012-05-04", "A@odata.type": "Edm.DateTime"}, None),
            ({"啊_1": 5}, '<d:啊_1 m:type="Edm.Int32">5</d:啊_1>'),
            ({"timestamp": "x"}, "<d:timestamp>x</d:timestamp>"),
        ],
    )
    def test_properties(self, properties: dict[str, object], element: str | None) -> None:
        body = write_entry(text_of(properties), view()).decode()
        last = body.split("\r\n      ")[-1].removesuffix("\r\n    </m:properties>\r\n  </content>\r\n</entry>")
        expected = {
            "2012-05-04": '<d:A m:type="Edm.DateTime">2012-05-04T00:00:00Z</d:A>',
            "\x00\x1f\ufffe": "<d:A>\ufffd\ufffd\ufffd</d:A>",
        }.get(str(properties.get("A")), element)
        assert last == expected

    def test_lone_surrogate_cannot_be_shown(self) -> None:
        """No reader lets one in; should one be stored all the same, its entity can still be read."""
        text = compose_entity(Key("eu", "1"), TIME, {"A": r'"A":"\ud83d"'}).text
        assert properties_of(write_entry(text, view()))[-1].text == "\ufffd"

    @pytest.mark.parametrize(("name", "element"), [("Ⅷ", "_x2167_"), ("aⅧ", "a_x2167_"), ("x̄", "x̄"), ("_é", "_é")])
    def test_names_that_xml_does_not_have(self, name: str, element: str) -> None:
        body = write_entry(text_of({name: 1}), view())
        assert [found.tag for found in properties_of(body)[3:]] == [DATA + element]

    def test_selection(self) -> None:
        body = write_entry(text_of({"B": 2, "A": 1}), view("Nope", "B", "Timestamp", "RowKey")).decode()
        assert body.split("\r\n      ")[1:] == [
            "<d:RowKey>1</d:RowKey>",
            '<d:Timestamp m:type="Edm.DateTime">2012-05-04T10:00:00.1234567Z</d:Timestamp>',
            '<d:B m:type="Edm.Int32">2</d:B>',
            '<d:Nope m:null="true" />\r\n    </m:properties>\r\n  </content>\r\n</entry>',
        ]
        assert " m:etag=" in body
        assert "Orders(PartitionKey='eu',RowKey='1')" in body

    def test_address_is_escaped(self) -> None:
        """A Host header may have characters that XML has other uses for."""
        root = parse_xml(write_entry(text_of({}), view(base="http://a&b'c")))
        assert root.get("{http://www.w3.org/XML/1998/namespace}base") == "http://a&b'c/"
        assert root.findtext(f"{ATOM}id") == "http://a&b'c/Orders(PartitionKey='eu',RowKey='1')"


class TestLaterVersions:
    """Nothing stands between elements, and they have another order; the properties are the same."""

    def test_to_the_byte(self) -> None:
        text = text_of({"Qty": 3, "Name": "a<b"}, Key("O'Neil", "a b"))
        link = "Orders(PartitionKey='O''Neil',RowKey='a%20b')"
        assert write_entry(text, view(wanted=Format.ATOM)).decode() == (
            '<?xml version="1.0" encoding="utf-8"?>'
            f'<entry xml:base="{BASE}/" xmlns="http://www.w3.org/2005/Atom"'
            ' xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"'
            ' xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"'
            " m:etag=\"W/&quot;datetime'2012-05-04T10%3A00%3A00.1234567Z'&quot;\">"
            f"<id>{BASE}/{link}</id>"
            '<category term="contoso.Orders" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme" />'
            f'<link rel="edit" title="Orders" href="{link}" />'
            "<title /><updated>2012-05-04T10:00:03Z</updated><author><name /></author>"
            '<content type="application/xml"><m:properties><d:PartitionKey>O\'Neil</d:PartitionKey>'
            "<d:RowKey>a b</d:RowKey>"
            '<d:Timestamp m:type="Edm.DateTime">2012-05-04T10:00:00.1234567Z</d:Timestamp>'
            '<d:Qty m:type="Edm.Int32">3</d:Qty><d:Name>a&lt;b</d:Name></m:properties></content></entry>'
        )

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_feed(self, count: int) -> None:
        text = text_of({"A": 1, "B": "b"})
        entry = write_entry(text, view(wanted=Format.ATOM)).decode()
        _, start, children = re.split(r"<entry |(?=<id>)", entry)
        namespaces, etag = start.removesuffix(">").split(" m:etag=")
        entries = f"<entry m:etag={etag}>{children}" * count or "<author><name /></author>"
        assert write_feed(",".join([text] * count), view(wanted=Format.ATOM)).decode() == (
            f'<?xml version="1.0" encoding="utf-8"?><feed {namespaces}><id>{BASE}/Orders</id>'
            '<title type="text">Orders</title><updated>2012-05-04T10:00:03Z</updated>'
            f'<link rel="self" title="Orders" href="Orders" />{entries}</feed>'
        )

    @pytest.mark.parametrize("select", [(), ("A", "Nope")])
    def test_layouts_have_the_same_elements(self, select: tuple[str, ...]) -> None:
        text = text_of({"A": 1, "B": "b"})
        both = [parse_xml(write_entry(text, view(*select, wanted=wanted))) for wanted in LAYOUTS]
        one, other = (sorted((e.tag, (e.text or "").strip(), sorted(e.items())) for e in root.iter()) for root in both)
        assert [element for element in one if element[0] != f"{ATOM}title"] == [
            element for element in other if element[0] != f"{ATOM}title"
        ]


class TestFeeds:
    def test_to_the_byte(self) -> None:
        texts = ",".join([text_of({"Qty": 3}), text_of({"Name": "x"}, Key("eu", "2"))])
        head = (
            '<?xml version="1.0" encoding="utf-8" standalone="yes"?>',
            f'<feed xml:base="{BASE}/" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"'
            ' xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"'
            ' xmlns="http://www.w3.org/2005/Atom">',
            '  <title type="text">Orders</title>',
            f"  <id>{BASE}/Orders</id>",
            "  <updated>2012-05-04T10:00:03Z</updated>",
            '  <link rel="self" title="Orders" href="Orders" />',
        )
        entries = [
            line
            for row_key, element in (("1", '<d:Qty m:type="Edm.Int32">3</d:Qty>'), ("2", "<d:Name>x</d:Name>"))
            for line in (
                "  <entry m:etag=\"W/&quot;datetime'2012-05-04T10%3A00%3A00.1234567Z'&quot;\">",
                f"    <id>{BASE}/Orders(PartitionKey='eu',RowKey='{row_key}')</id>",
                '    <title type="text"></title>',
                "    <updated>2012-05-04T10:00:03Z</updated>",
                "    <author>",
                "      <name />",
                "    </author>",
                f'    <link rel="edit" title="Orders" href="Orders(PartitionKey=\'eu\',RowKey=\'{row_key}\')" />',
                '    <category term="contoso.Orders"'
                ' scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme" />',
                '    <content type="application/xml">',
                "      <m:properties>",
                "        <d:PartitionKey>eu</d:PartitionKey>",
                f"        <d:RowKey>{row_key}</d:RowKey>",
                '        <d:Timestamp m:type="Edm.DateTime">2012-05-04T10:00:00.1234567Z</d:Timestamp>',
                f"        {element}",
                "      </m:properties>",
                "    </content>",
                "  </entry>",
            )
        ]
        assert write_feed(texts, view()).decode() == "\r\n".join([*head, *entries, "</feed>"])

    def test_without_entries(self) -> None:
        body = write_feed("", view())
        link = b'  <link rel="self" title="Orders" href="Orders" />'
        assert body.endswith(b"Z</updated>\r\n  <author>\r\n    <name />\r\n  </author>\r\n%b\r\n</feed>" % link)
        assert parse_xml(body).findall(f"{ATOM}entry") == []

    def test_selection(self) -> None:
        body = write_feed(",".join([text_of({"A": 1}), text_of({"B": 2})]), view("A"))
        assert body.count(b'<d:A m:type="Edm.Int32">1</d:A>') == 1
        assert body.count(b'<d:A m:null="true" />') == 1
        assert b"<d:B" not in body


# ---------------------------------------------------------------- round trips


def random_text(chance: random.Random) -> str:
    """Text that XML can hold, of characters that are easily lost."""
    characters = " \t\n\r&<>\"'\\/]a0é啊😀\x7f\x85\u2028\ufffd\U0010ffff"
    return "".join(chance.choices(characters, k=chance.randrange(12)))


def random_double(chance: random.Random) -> object:
    number = chance.choice([0.0, 5.0, 1e15, 0.1 + 0.2, math.ldexp(chance.random(), chance.randrange(-1070, 1020))])
    return chance.choice([number, -number, "NaN", "Infinity", "-Infinity"])


def random_property(chance: random.Random) -> tuple[object, str | None]:
    """A value and its type; None where JSON needs none."""
    edm_type = chance.choice([None, "Int32", "Boolean", "Double", "Int64", "DateTime", "Guid", "Binary"])
    match edm_type:
        case None:
            return random_text(chance), None
        case "Int32":
            return chance.randrange(-(2**31), 2**31), None
        case "Boolean":
            return chance.random() < 0.5, None
        case "Double":
            return random_double(chance), "Edm.Double"
        case "Int64":
            return str(chance.randrange(-(2**63), 2**63)), "Edm.Int64"
        case "DateTime":
            return format_datetime(chance.randrange(TICKS_MAX)), "Edm.DateTime"
        case "Guid":
            return str(uuid.UUID(int=chance.getrandbits(128))), "Edm.Guid"
    return base64.b64encode(chance.randbytes(chance.randrange(9))).decode(), "Edm.Binary"


@pytest.mark.parametrize("seed", range(200))
def test_what_came_as_json_comes_back_through_atom(seed: int) -> None:
    chance = random.Random(seed)
    key = Key(*(chance.choice(["", "p", "O'Neil", "a b&<c>", "é啊😀", " "]) for _ in range(2)))
    properties: dict[str, object] = {}
    for name in chance.sample(["A", "b", "_", "啊", "Name", "a1", "É", "timestamp"], k=chance.randrange(8)):
        value, edm_type = random_property(chance)
        properties |= {name: value} if edm_type is None else {name: value, f"{name}@odata.type": edm_type}
    members = read_entity(properties, "2019-02-02")
    text = compose_entity(key, TIME, members).text

    for wanted in LAYOUTS:
        read_key, read_members = read_new_entity(read_entry(write_entry(text, view(wanted=wanted))), VERSION)
        assert (read_key, read_members) == (key, members)
        assert list(read_members) == list(members)
        feed = parse_xml(write_feed(",".join([text] * 3), view(wanted=wanted)))
        assert len(feed.findall(f"{ATOM}entry")) == 3
