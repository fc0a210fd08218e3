"""A whole session of the API's first version, as a client of that year held it, with a running server.

No x-ms-version, Shared Key Lite, Atom both ways. The order of the steps is that of the documents of 2008: make a
table, make it again, list, insert, page through, merge, replace, delete an entity, delete the table.
"""

from __future__ import annotations

import base64
import hmac
import re
import uuid
from dataclasses import dataclass, field
from email.utils import formatdate
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from xml.etree.ElementTree import fromstring

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.conftest import Server

ATOM = "{http://www.w3.org/2005/Atom}"
NAMESPACES = (
    'xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"'
    ' xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"'
)
DECLARATION = '<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n'
SCHEME = "http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"
ERROR = (
    "\ufeff" + DECLARATION + '<error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">\r\n'
    '  <code>{}</code>\r\n  <message xml:lang="en-US">{}</message>\r\n</error>'
)
CONTENT_TYPE = "application/atom+xml;charset=utf-8"
ETAG = re.compile(r"W/\"datetime'(\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d(?:\.\d{1,7})?Z)'\"")
STALE = "W/\"datetime'2008-11-10T00%3A53%3A39.2200295Z'\""
PLANETS = ["Earth", "Jupiter", "Mars", "Mercury", "Neptune", "Saturn", "Uranus", "Venus"]


@dataclass
class Answer:
    """What came back: `headers` by lower-case name."""

    status: int
    reason: str
    headers: dict[str, str]
    body: str


@dataclass
class Client:
    """Asks as the .NET client of 2008 did."""

    server: Server
    table: str = field(default_factory=lambda: f"Planets{uuid.uuid4().hex}")

    @property
    def base(self) -> str:
        return self.server.endpoint

    def ask(self, method: str, path: str, properties: str | None = None, **headers: str) -> Answer:
        """The answer to a request for a path below the account, with an entry of these properties as its body."""
        body = b"" if properties is None else entry(properties).encode()
        address = urlsplit(self.server.endpoint)
        target = address.path + path
        connection = HTTPConnection(address.hostname or "", address.port, timeout=30)
        try:
            connection.request(method, target, body or None, self._headers(target, body) | with_hyphens(headers))
            response = connection.getresponse()
            given = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, response.reason, given, response.read().decode())
        finally:
            connection.close()

    def _headers(self, target: str, body: bytes) -> dict[str, str]:
        date = formatdate(usegmt=True)
        resource = f"/{self.server.account}{target.partition('?')[0]}"
        digest = hmac.digest(base64.b64decode(self.server.key), f"{date}\n{resource}".encode(), "sha256")
        headers = {
            "User-Agent": "Microsoft ADO.NET Data Services",
            "x-ms-date": date,
            "Authorization": f"SharedKeyLite {self.server.account}:{base64.b64encode(digest).decode()}",
            "Accept": "application/atom+xml,application/xml",
            "Accept-Charset": "UTF-8",
            "DataServiceVersion": "1.0;NetFx",
            "MaxDataServiceVersion": "1.0;NetFx",
        }
        if body:
            headers |= {"Content-Type": "application/atom+xml", "Expect": "100-continue"}
        return headers

    def insert(self, row_key: str, more: str = "") -> Answer:
        return self.ask("POST", f"/{self.table}", f"{more}{keys('Sun', row_key)}")

    def entity(self, row_key: str) -> str:
        return f"/{self.table}(PartitionKey='Sun',RowKey='{row_key}')"

    def row_keys(self, options: str = "") -> tuple[list[str], Answer]:
        """The row keys of a page."""
        answer = self.ask("GET", f"/{self.table}(){options}")
        return re.findall(r"<d:RowKey>(.*?)</d:RowKey>", answer.body), answer


def with_hyphens(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def entry(properties: str) -> str:
    return (
        f'{DECLARATION}<entry {NAMESPACES} xmlns="http://www.w3.org/2005/Atom">\r\n'
        "  <title />\r\n  <updated>2008-11-10T16:06:02.1557288Z</updated>\r\n"
        "  <author>\r\n    <name />\r\n  </author>\r\n  <id />\r\n"
        f'  <content type="application/xml">\r\n    <m:properties>\r\n      {properties}\r\n'
        "    </m:properties>\r\n  </content>\r\n</entry>"
    )


def keys(partition_key: str, row_key: str) -> str:
    return f"<d:PartitionKey>{partition_key}</d:PartitionKey><d:RowKey>{row_key}</d:RowKey>"


def updated_in(answer: Answer) -> str:
    """The time of the answer, in whole seconds, which stands in it once for each thing that was updated."""
    (time,) = set(re.findall(r"<updated>(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)</updated>", answer.body))
    return str(time)


def verify_common(answer: Answer) -> None:
    """What all answers to the first clients have, and what came only later."""
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["server"].startswith("Rowkey/")
    assert re.fullmatch(r"[0-9a-f-]{36}", answer.headers["x-ms-request-id"])
    assert answer.headers["date"].endswith(" GMT")
    later = {"x-ms-version", "x-content-type-options", "dataserviceversion", "x-ms-error-code", "preference-applied"}
    assert not later & answer.headers.keys()


def verify_refused(answer: Answer, status: int, code: str, text: str) -> None:
    """An error: the message is the reason phrase, and in the body it stands alone."""
    verify_common(answer)
    assert (answer.status, answer.reason) == (status, text)
    assert answer.headers["content-type"] == "application/xml"
    assert answer.body == ERROR.format(code, text)


def verify_no_content(answer: Answer) -> None:
    verify_common(answer)
    assert (answer.status, answer.headers["content-length"], answer.body) == (204, "0", "")
    assert "content-type" not in answer.headers


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """A client with a table of its own."""
    client = Client(server)
    assert client.ask("POST", "/Tables", f"<d:TableName>{client.table}</d:TableName>").status == 201
    yield client
    client.ask("DELETE", f"/Tables('{client.table}')")


def test_tables(server: Server) -> None:
    client = Client(server)
    name, base = client.table, client.base
    new_table = f"<d:TableName>{name}</d:TableName>"

    made = client.ask("POST", "/Tables", new_table)
    verify_common(made)
    assert (made.status, made.reason) == (201, "Created")
    assert made.headers["content-type"] == CONTENT_TYPE
    assert made.headers["location"] == f"{base}/Tables('{name}')"
    assert "etag" not in made.headers
    lines = [
        f"<id>{base}/Tables('{name}')</id>",
        '<title type="text"></title>',
        f"<updated>{updated_in(made)}</updated>",
        "<author>",
        "  <name />",
        "</author>",
        f'<link rel="edit" title="Tables" href="Tables(\'{name}\')" />',
        f'<category term="{server.account}.Tables" scheme="{SCHEME}" />',
        '<content type="application/xml">',
        "  <m:properties>",
        f"    {new_table}",
        "  </m:properties>",
        "</content>",
    ]
    body = "".join(f"\r\n  {line}" for line in lines)
    start = f'<entry xml:base="{base}/" {NAMESPACES} xmlns="http://www.w3.org/2005/Atom">'
    assert made.body == f"{DECLARATION}{start}{body}\r\n</entry>"

    again = client.ask("POST", "/Tables", new_table)
    verify_refused(again, 409, "TableAlreadyExists", "The table specified already exists.")

    listed = client.ask("GET", "/Tables()")
    verify_common(listed)
    assert (listed.status, listed.headers["content-type"]) == (200, CONTENT_TYPE)
    assert listed.body.startswith(
        f'{DECLARATION}<feed xml:base="{base}/" {NAMESPACES} xmlns="http://www.w3.org/2005/Atom">\r\n'
        '  <title type="text">Tables</title>\r\n'
        f"  <id>{base}/Tables</id>\r\n"
        f"  <updated>{updated_in(listed)}</updated>\r\n"
        '  <link rel="self" title="Tables" href="Tables" />\r\n  <entry>\r\n'
    )
    shown = "".join(f"\r\n    {line}" for line in lines).replace(updated_in(made), updated_in(listed))
    assert f"  <entry>{shown}\r\n  </entry>\r\n" in listed.body
    assert fromstring(listed.body.encode()).tag == f"{ATOM}feed"

    verify_no_content(client.ask("DELETE", f"/Tables('{name}')", Content_Type="application/atom+xml"))
    gone = client.ask("DELETE", f"/Tables('{name}')")
    verify_refused(gone, 404, "ResourceNotFound", "The specified resource does not exist.")


def test_insert(client: Client) -> None:
    """Keys among the other properties, a null and a Timestamp that do not count; what comes back leads to it again."""
    answer = client.ask(
        "POST",
        f"/{client.table}",
        '<d:Name>Mars &amp; moons</d:Name><d:Moons m:type="Edm.Int32">2</d:Moons>'
        "<d:PartitionKey>Sun</d:PartitionKey>"
        '<d:Rings m:null="true" />'
        "<d:RowKey>O'Mars 4</d:RowKey>"
        '<d:Seen m:type="Edm.DateTime">1659-11-28T00:00:00</d:Seen>'
        '<d:Timestamp m:type="Edm.DateTime">0001-01-01T00:00:00</d:Timestamp>',
    )
    verify_common(answer)
    assert (answer.status, answer.reason, answer.headers["content-type"]) == (201, "Created", CONTENT_TYPE)
    link = f"{client.table}(PartitionKey='Sun',RowKey='O''Mars%204')"
    assert answer.headers["location"] == f"{client.base}/{link}"
    stamp = ETAG.fullmatch(answer.headers["etag"])
    assert stamp is not None
    start = (
        f'<entry xml:base="{client.base}/" {NAMESPACES} m:etag="{answer.headers["etag"].replace(chr(34), "&quot;")}"'
        ' xmlns="http://www.w3.org/2005/Atom">'
    )
    lines = [
        DECLARATION.strip(),
        start,
        f"  <id>{client.base}/{link}</id>",
        '  <title type="text"></title>',
        f"  <updated>{updated_in(answer)}</updated>",
        "  <author>",
        "    <name />",
        "  </author>",
        f'  <link rel="edit" title="{client.table}" href="{link}" />',
        f'  <category term="{client.server.account}.{client.table}" scheme="{SCHEME}" />',
        '  <content type="application/xml">',
        "    <m:properties>",
        "      <d:PartitionKey>Sun</d:PartitionKey>",
        "      <d:RowKey>O'Mars 4</d:RowKey>",
        f'      <d:Timestamp m:type="Edm.DateTime">{stamp[1].replace("%3A", ":")}</d:Timestamp>',
        "      <d:Name>Mars &amp; moons</d:Name>",
        '      <d:Moons m:type="Edm.Int32">2</d:Moons>',
        '      <d:Seen m:type="Edm.DateTime">1659-11-28T00:00:00Z</d:Seen>',
        "    </m:properties>",
        "  </content>",
        "</entry>",
    ]
    assert answer.body == "\r\n".join(lines)

    read = client.ask("GET", answer.headers["location"].removeprefix(client.base))
    verify_common(read)
    assert (read.status, read.headers["etag"]) == (200, answer.headers["etag"])
    assert read.body.replace(updated_in(read), updated_in(answer)) == answer.body


def test_pages(client: Client) -> None:
    """The token is the next entity's keys as they are, and takes one there in either form."""
    for name in PLANETS:
        assert client.insert(name).status == 201

    names, first = client.row_keys("?$top=3")
    verify_common(first)
    assert names == PLANETS[:3]
    assert first.headers["content-type"] == CONTENT_TYPE
    assert first.headers["x-ms-continuation-nextpartitionkey"] == "Sun"
    assert first.headers["x-ms-continuation-nextrowkey"] == "Mercury"
    names, second = client.row_keys("?$top=3&NextPartitionKey=Sun&NextRowKey=Mercury")
    assert names == PLANETS[3:6]
    assert second.headers["x-ms-continuation-nextrowkey"] == "Uranus"
    names, last = client.row_keys("?$top=3&$ct=Sun/Uranus")
    assert names == PLANETS[6:]
    assert not [name for name in last.headers if name.startswith("x-ms-continuation")]

    names, found = client.row_keys("?$filter=(RowKey%20ge%20'M')%20and%20(RowKey%20lt%20'N')")
    assert (found.status, names) == (200, ["Mars", "Mercury"])
    self_link = f'<link rel="self" title="{client.table}" href="{client.table}" />'
    assert f"<id>{client.base}/{client.table}</id>" in found.body
    assert self_link in found.body
    assert found.body.count(' m:etag="W/&quot;datetime') == 2


def test_merge_replace_and_delete(client: Client) -> None:
    """All with the ETag of what was there; a client of this version cannot go without."""
    inserted = client.insert("Mars", '<d:Name>Mars</d:Name><d:Moons m:type="Edm.Int32">1</d:Moons>')
    path, time = client.entity("Mars"), "<d:Timestamp>2008-11-10T16:43:09.274Z</d:Timestamp>"
    change = f'{time}<d:Moons m:type="Edm.Int32">2</d:Moons><d:Name m:null="true" />{keys("Sun", "Mars")}'

    merged = client.ask("MERGE", path, change, If_Match=inserted.headers["etag"])
    verify_no_content(merged)
    assert ETAG.fullmatch(merged.headers["etag"])
    assert merged.headers["etag"] != inserted.headers["etag"]
    assert "<d:Name>Mars</d:Name>" in client.ask("GET", path).body

    stale = client.ask("MERGE", path, change, If_Match=inserted.headers["etag"])
    text = "The update condition specified in the request was not satisfied."
    verify_refused(stale, 412, "UpdateConditionNotSatisfied", text)
    mandatory = "An HTTP header that's mandatory for this request is not specified."
    for method in ("PUT", "MERGE"):
        verify_refused(client.ask(method, path, change), 400, "MissingRequiredHeader", mandatory)

    replaced = client.ask("PUT", path, change, If_Match=merged.headers["etag"])
    verify_no_content(replaced)
    body = client.ask("GET", path).body
    assert '<d:Moons m:type="Edm.Int32">2</d:Moons>' in body
    assert "<d:Name" not in body
    assert f'<d:Timestamp m:type="Edm.DateTime">{replaced.headers["etag"][12:-2].replace("%3A", ":")}<' in body

    verify_refused(client.ask("DELETE", path), 400, "MissingRequiredHeader", mandatory)
    refused = client.ask("DELETE", path, If_Match=STALE, Content_Type="application/atom+xml")
    verify_refused(refused, 412, "UpdateConditionNotSatisfied", text)
    deleted = client.ask("DELETE", path, If_Match=replaced.headers["etag"], Content_Type="application/atom+xml")
    verify_no_content(deleted)
    assert "etag" not in deleted.headers
    gone = client.ask("GET", path)
    verify_refused(gone, 404, "ResourceNotFound", "The specified resource does not exist.")


def test_what_came_later_is_not_there(client: Client) -> None:
    client.insert("Mars")
    assert client.row_keys("?$select=RowKey")[1].status == 400
    preferred = client.ask("POST", f"/{client.table}", keys("Sun", "Venus"), Prefer="return-no-content")
    verify_common(preferred)
    assert preferred.status == 201
    in_json = client.ask("POST", f"/{client.table}", "", Content_Type="application/json")
    verify_refused(in_json, 415, "JsonFormatNotSupported", "JSON format is not supported.")
    batch = client.ask("POST", "/$batch", "", Content_Type="multipart/mixed; boundary=b")
    assert (batch.status, "MissingRequiredHeader" in batch.body) == (400, True)


def test_names_with_hyphens(client: Client) -> None:
    answer = client.insert("Mars", '<d:first-seen m:type="Edm.Int32">1659</d:first-seen>')
    assert '<d:first-seen m:type="Edm.Int32">1659</d:first-seen>' in answer.body


@pytest.mark.parametrize(
    ("properties", "code", "text"),
    [
        ("<d:Name>Mars</d:Moons>", "InvalidInput", "One of the request inputs is not valid."),
        ("&moons;", "InvalidInput", "One of the request inputs is not valid."),
        ("", "PropertiesNeedValue", "The values are not specified for all properties in the entity."),
        (
            f'{keys("Sun", "Mars")}<d:Moons m:type="Edm.Int32">two</d:Moons>',
            "InvalidInput",
            "An error occurred while processing this request.",
        ),
        (
            f"{keys('Sun', 'Mars')}<d:A>1</d:A><d:A>2</d:A>",
            "DuplicatePropertiesSpecified",
            "A property is specified more than one time.",
        ),
    ],
)
def test_entries_that_are_refused(client: Client, properties: str, code: str, text: str) -> None:
    verify_refused(client.ask("POST", f"/{client.table}", properties), 400, code, text)
    assert client.row_keys()[0] == []
