"""Request bodies in Atom: what is read of an entry, and what is refused."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from rowkey.errors import (
    BodyNotReadable,
    DuplicatePropertiesSpecified,
    InvalidInput,
    OutOfRangeInput,
    PrimaryKeyPropertyIsInvalidType,
    PropertiesNeedValue,
    PropertyNameInvalid,
    PropertyNameTooLong,
    PropertyValueTooLarge,
    TooManyProperties,
)
from rowkey.model.entity import Key
from rowkey.payload.atom_input import read_entry
from rowkey.payload.properties import read_entity, read_new_entity

if TYPE_CHECKING:
    from rowkey.errors import ServiceError

VERSION = "2012-02-12"
ATOM = "http://www.w3.org/2005/Atom"
DATA = "http://schemas.microsoft.com/ado/2007/08/dataservices"
METADATA = f"{DATA}/metadata"
KEYS = "<d:PartitionKey>p</d:PartitionKey><d:RowKey>r</d:RowKey>"
GUID = "c9da6455-213d-42c9-9a79-3e9149a57833"


def entry(properties: str, before: str = "<title /><id />", atom: str = ATOM) -> bytes:
    """An entry with these properties, as the first clients sent it."""
    return (
        '<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n'
        f'<entry xmlns:d="{DATA}" xmlns:m="{METADATA}" xmlns="{atom}">\r\n  {before}\r\n'
        f'  <content type="application/xml">\r\n    <m:properties>\r\n      {properties}\r\n'
        "    </m:properties>\r\n  </content>\r\n</entry>"
    ).encode()


def read(properties: str) -> dict[str, str]:
    """The custom properties of an entry with these properties."""
    return read_entity(read_entry(entry(properties)), VERSION)


def typed(edm_type: str, value: str) -> str:
    """A property A of this type."""
    return f'<d:A m:type="{edm_type}">{value}</d:A>'


# Type, text, and what is stored of it.
TYPED = [
    ("Edm.String", "5", '"A":"5"'),
    ("Edm.Boolean", "true", '"A":true'),
    ("Edm.Boolean", "false", '"A":false'),
    ("Edm.Boolean", "1", '"A":true'),
    ("Edm.Boolean", "0", '"A":false'),
    ("Edm.Int32", "-7", '"A":-7'),
    ("Edm.Int32", "\r\n  7\t", '"A":7'),
    ("Edm.Int64", "9007199254740993", '"A@odata.type":"Edm.Int64","A":"9007199254740993"'),
    ("Edm.Double", "200.23", '"A":200.23'),
    ("Edm.Double", "5", '"A":5.0'),
    ("Edm.Double", "-0", '"A":-0.0'),
    ("Edm.Double", "-0.0", '"A":-0.0'),
    ("Edm.Double", "1E+22", '"A":1E+22'),
    ("Edm.Double", "NaN", '"A@odata.type":"Edm.Double","A":"NaN"'),
    ("Edm.Double", "INF", '"A@odata.type":"Edm.Double","A":"Infinity"'),
    ("Edm.Double", " -INF ", '"A@odata.type":"Edm.Double","A":"-Infinity"'),
    ("Edm.Double", "Infinity", '"A@odata.type":"Edm.Double","A":"Infinity"'),
    ("Edm.Double", "-Infinity", '"A@odata.type":"Edm.Double","A":"-Infinity"'),
    ("Edm.DateTime", "2008-07-10T00:00:00", '"A@odata.type":"Edm.DateTime","A":"2008-07-10T00:00:00Z"'),
    ("Edm.DateTime", "2008-07-10T00:00:00.5Z", '"A@odata.type":"Edm.DateTime","A":"2008-07-10T00:00:00.5Z"'),
    ("Edm.Guid", GUID.upper(), f'"A@odata.type":"Edm.Guid","A":"{GUID}"'),
    ("Edm.Binary", "AQIDBA==", '"A@odata.type":"Edm.Binary","A":"AQIDBA=="'),
    ("Edm.Binary", "\r\n AQID\r\n BA== ", '"A@odata.type":"Edm.Binary","A":"AQIDBA=="'),
    ("Edm.Binary", "", '"A@odata.type":"Edm.Binary","A":""'),
]


class TestValues:
    @pytest.mark.parametrize(("edm_type", "text", "stored"), TYPED)
    def test_with_a_type(self, edm_type: str, text: str, stored: str) -> None:
        assert read(typed(edm_type, text)) == {"A": stored}

    @pytest.mark.parametrize(
        ("element", "stored"),
        [
            ("<d:A>text</d:A>", '"text"'),
            ("<d:A>5</d:A>", '"5"'),
            ("<d:A></d:A>", '""'),
            ("<d:A />", '""'),
            ('<d:A xml:space="preserve">  a\tb  </d:A>', r'"  a\tb  "'),
            ("<d:A> \r\n </d:A>", r'" \n "'),
            ("<d:A>&#xD;&#xA;</d:A>", r'"\r\n"'),
            ("<d:A>&lt;b&gt; &amp;amp; &quot;</d:A>", r'"<b> &amp; \""'),
            ("<d:A><![CDATA[<b>]]> and<!-- not this --> more</d:A>", '"<b> and more"'),
            ("<d:A>café 😀</d:A>", r'"caf\u00e9 \ud83d\ude00"'),
            ('<d:A m:null="false">x</d:A>', '"x"'),
        ],
    )
    def test_without_a_type_is_a_string_in_which_blanks_count(self, element: str, stored: str) -> None:
        assert read(element) == {"A": f'"A":{stored}'}

    @pytest.mark.parametrize(
        "element",
        [
            '<d:A m:null="true" />',
            '<d:A m:null="true"></d:A>',
            '<d:A m:null="1" />',
            '<d:A m:type="Edm.Binary" m:null="true" />',
            '<d:A m:type="Edm.Foo" m:null="true" />',
            '<d:Timestamp m:type="Edm.DateTime">0001-01-01T00:00:00</d:Timestamp>',
            '<d:Timestamp m:type="Edm.DateTime">2008-11-10T16:43:09.274Z</d:Timestamp>',
            "<d:Timestamp>nonsense</d:Timestamp>",
            '<d:Timestamp m:null="true" />',
            "<A>of no namespace of data</A>",
            "<m:A>neither</m:A>",
        ],
    )
    def test_what_is_not_stored(self, element: str) -> None:
        assert read(element) == {}

    @pytest.mark.parametrize(
        ("element", "error"),
        [
            (typed("Edm.Foo", "1"), BodyNotReadable),
            (typed("", "1"), BodyNotReadable),
            (typed("edm.int32", "1"), BodyNotReadable),
            (typed("Edm.Int32", ""), BodyNotReadable),
            (typed("Edm.Int32", "1.0"), BodyNotReadable),
            (typed("Edm.Int32", "2147483648"), BodyNotReadable),
            (typed("Edm.Int64", "x"), BodyNotReadable),
            (typed("Edm.Boolean", "2"), BodyNotReadable),
            (typed("Edm.Double", "1e999"), BodyNotReadable),
            (typed("Edm.DateTime", "yesterday"), BodyNotReadable),
            (typed("Edm.DateTime", "0001-01-01T00:00:00"), OutOfRangeInput),
            (typed("Edm.Guid", "{" + GUID + "}"), BodyNotReadable),
            (typed("Edm.Binary", "###"), BodyNotReadable),
            (f"<d:A>{'x' * 32_769}</d:A>", PropertyValueTooLarge),
            (f"<d:A>{'😀' * 16_385}</d:A>", PropertyValueTooLarge),
            ("<d:A><d:B>1</d:B></d:A>", InvalidInput),
            ("<d:A>1</d:A><d:A>2</d:A>", DuplicatePropertiesSpecified),
            ('<d:A>1</d:A><d:A m:null="true" />', DuplicatePropertiesSpecified),
            ("<d:PartitionKey>p</d:PartitionKey><d:PartitionKey>p</d:PartitionKey>", DuplicatePropertiesSpecified),
            ("<d:a-b>1</d:a-b>", PropertyNameInvalid),
            ("<d:a.b>1</d:a.b>", PropertyNameInvalid),
            ("<d:odata.etag>1</d:odata.etag>", PropertyNameInvalid),
            (f"<d:{'a' * 256}>1</d:{'a' * 256}>", PropertyNameTooLong),
            ("".join(f"<d:A{number} />" for number in range(1_100)), TooManyProperties),
        ],
    )
    def test_refused(self, element: str, error: type[ServiceError]) -> None:
        with pytest.raises(error) as caught:
            read(element)
        assert type(caught.value) is error

    def test_order_is_kept(self) -> None:
        assert list(read("<d:b>1</d:b><d:a>2</d:a><d:B>3</d:B><d:_>4</d:_><d:啊>5</d:啊>")) == [
            "b",
            "a",
            "B",
            "_",
            "啊",
        ]


class TestKeys:
    @pytest.mark.parametrize(
        "properties",
        [
            KEYS,
            f"<d:Address>Obere Str. 57</d:Address>{KEYS}",
            '<d:RowKey m:type="Edm.String">r</d:RowKey><d:PartitionKey m:type="Edm.String">p</d:PartitionKey>',
        ],
    )
    def test_anywhere_among_the_properties(self, properties: str) -> None:
        key, _ = read_new_entity(read_entry(entry(properties)), VERSION)
        assert key == Key("p", "r")

    def test_empty(self) -> None:
        key, _ = read_new_entity(read_entry(entry("<d:PartitionKey /><d:RowKey></d:RowKey>")), VERSION)
        assert key == Key("", "")

    @pytest.mark.parametrize(
        ("properties", "error"),
        [
            ("", PropertiesNeedValue),
            ("<d:PartitionKey>p</d:PartitionKey>", PropertiesNeedValue),
            ('<d:PartitionKey>p</d:PartitionKey><d:RowKey m:null="true" />', PropertiesNeedValue),
            ("<d:PartitionKey>p</d:PartitionKey><RowKey>r</RowKey>", PropertiesNeedValue),
            ('<d:PartitionKey m:type="Edm.Int32">1</d:PartitionKey><d:RowKey />', PrimaryKeyPropertyIsInvalidType),
        ],
    )
    def test_refused(self, properties: str, error: type[ServiceError]) -> None:
        with pytest.raises(error):
            read_new_entity(read_entry(entry(properties)), VERSION)


class TestEntries:
    @pytest.mark.parametrize("atom", [ATOM, "https://www.w3.org/2005/Atom"])
    @pytest.mark.parametrize(
        "before",
        [
            "",
            "<title /><updated>2008-11-10T16:06:02.1557288Z</updated><author><name /></author><id />",
            '<id>http://contoso/Orders(PartitionKey="x")</id><updated>nonsense</updated>',
            "<summary><m:properties><d:A>not here</d:A></m:properties></summary>",
            '<category term="contoso.Orders" scheme="x" /><link rel="edit" href="y" /><x xmlns="z"><a/></x>',
        ],
    )
    def test_only_the_properties_count(self, before: str, atom: str) -> None:
        assert read_entry(entry("<d:A>1</d:A>", before, atom)) == {"A": "1"}

    def test_namespaces_count_and_prefixes_do_not(self) -> None:
        body = (
            f"<a:entry xmlns:a='{ATOM}'><a:content><properties xmlns='{METADATA}'>"
            f"<A xmlns='{DATA}' xmlns:x='{METADATA}' x:type='Edm.Int32'>1</A></properties></a:content></a:entry>"
        )
        assert read_entry(body.encode()) == {"A": "1", "A@odata.type": "Edm.Int32"}

    @pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
    def test_byte_order_mark(self, mark: bytes) -> None:
        assert read_entry(mark + entry("<d:A>1</d:A>")) == {"A": "1"}

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{}",
            b"<entry />",
            f"<entry xmlns='{ATOM}' />".encode(),
            f"<entry xmlns='{ATOM}'><content /></entry>".encode(),
            f"<feed xmlns='{ATOM}'><entry><content /></entry></feed>".encode(),
            entry("<d:Text>a</d:Title>"),
            entry("<e:A>1</e:A>"),
            entry("<d:A>&nbsp;</d:A>"),
            entry("<d:A>\x00</d:A>"),
            entry("<d:A>&#x1;</d:A>"),
            entry("<d:A>1</d:A>").replace(METADATA.encode(), b"urn:other"),
            entry("<d:A>1</d:A>").replace(b"</m:properties>", b"</m:properties><m:properties />"),
            entry("<d:A>1</d:A>")[:-1],
            entry("<d:A>1</d:A>").decode().encode("utf-16"),
            entry("<d:A>\xe9</d:A>").decode().encode("latin-1"),
            entry("<d:A>1</d:A>").replace(b"utf-8", b"utf-16"),
            b"<!DOCTYPE entry>" + entry("<d:A>1</d:A>").partition(b"?>")[2],
            b"<!DOCTYPE e [<!ENTITY e 'x'>]>" + entry("<d:A>&e;</d:A>").partition(b"?>")[2],
        ],
    )
    def test_refused(self, body: bytes) -> None:
        with pytest.raises(InvalidInput) as caught:
            read_entry(body)
        assert caught.value.text == "One of the request inputs is not valid."

    def test_time_is_linear(self) -> None:
        body = entry("".join(f'<d:A{number} m:type="Edm.Int64">1</d:A{number}>' for number in range(4_000)))
        begun = time.process_time()
        assert len(read_entry(body)) == 8_000
        assert time.process_time() - begun < 0.5
