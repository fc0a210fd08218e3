"""Batches as a client writes them, and what is in their answers.

What goes in has the form that today's Python SDK sends, unless a test says otherwise.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from rowkey.config import DEVELOPMENT_ACCOUNT
from rowkey.wire.request import Request, Response
from tests.operations.conftest import entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.operations.conftest import Client

ACCOUNT = "devstoreaccount1"
BASE = f"http://127.0.0.1:10002/{ACCOUNT}"
JSON = "application/json;odata=minimalmetadata;streaming=true;charset=utf-8"
TABLE_MISSING = "The table specified does not exist."
RESOURCE_MISSING = "The specified resource does not exist."
EXISTS = "The specified entity already exists."
CHANGED = "The update condition specified in the request was not satisfied."
NOT_ALLOWED = "The requested method is not allowed on the specified resource."
NEED_VALUE = "The values are not specified for all properties in the entity."
NOT_VALID = "One of the request inputs is not valid."
OLD_ETAG = "W/\"datetime'2012-05-04T10%3A00%3A00Z'\""
NO_CONTENT = {"Prefer": "return-no-content"}
ANY = {"If-Match": "*"}


# ---------------------------------------------------------------- what goes in


def part(
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    *,
    url: str | None = None,
    mime: str = "",
) -> str:
    """One operation as a part, without its delimiter; `mime` are further headers of the part."""
    given = {"Accept": "application/json;odata=minimalmetadata", **(headers or {})}
    if body is not None:
        given = {"Content-Type": "application/json", **given}
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return (
        f"Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n{mime}\r\n"
        f"{method} {BASE + path if url is None else url} HTTP/1.1\r\n{lines}\r\n{text}\r\n"
    )


def insert(row_key: str, headers: Mapping[str, str] | None = None, partition_key: str = "eu", **more: object) -> str:
    """An Insert Entity."""
    return part("POST", "/Orders", {"PartitionKey": partition_key, "RowKey": row_key, **more}, headers)


def entity(row_key: str) -> str:
    """The path of an entity."""
    return f"/Orders(PartitionKey='eu',RowKey='{row_key}')"


def delete(row_key: str, headers: Mapping[str, str] | None = None) -> str:
    """A Delete Entity."""
    return part("DELETE", entity(row_key), None, {**ANY, **(headers or {})})


def change_set(*parts: str) -> str:
    """A batch of one change set."""
    content = "".join(f"--changeset_c\r\n{item}" for item in parts)
    head = "--batch_b\r\nContent-Type: multipart/mixed; boundary=changeset_c\r\n\r\n"
    return f"{head}{content}--changeset_c--\r\n--batch_b--\r\n"


def query(item: str) -> str:
    """A batch of one query."""
    return f"--batch_b\r\n{item}--batch_b--\r\n"


async def ask(client: Client, body: str, headers: Mapping[str, str | None] | None = None) -> Response:
    """Send a batch."""
    kind = {"Content-Type": "multipart/mixed; boundary=batch_b", "Accept": "application/json"}
    return await client.ask("POST", "/$batch", body.encode(), {**kind, **(headers or {})})


def atom_part(
    method: str, path: str, properties: str | None = None, headers: Mapping[str, str] | None = None, *, mime: str = ""
) -> str:
    """One operation in Atom; without Accept, as the old Python clients send it."""
    given = dict(headers or {})
    text = ""
    if properties is not None:
        given = {"Content-Type": "application/atom+xml;type=entry", **given}
        text = entry(properties).decode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return (
        f"Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n{mime}\r\n"
        f"{method} {BASE + path} HTTP/1.1\r\n{lines}\r\n{text}\r\n"
    )


def atom_insert(row_key: str, headers: Mapping[str, str] | None = None) -> str:
    """An Insert Entity in Atom."""
    keys = f"<d:PartitionKey>eu</d:PartitionKey><d:RowKey>{row_key}</d:RowKey>"
    return atom_part("POST", "/Orders", f'{keys}<d:Qty m:type="Edm.Int32">3</d:Qty>', headers)


def root_batch(body: str) -> Request:
    """A batch posted to `/$batch` at the root, signed as the old Python client does."""
    date, content_type = formatdate(usegmt=True), "multipart/mixed; boundary=batch_b"
    text = f"POST\n\n{content_type}\n{date}\n/{ACCOUNT}/$batch"
    signature = base64.b64encode(hmac.digest(DEVELOPMENT_ACCOUNT.keys[0], text.encode(), "sha256")).decode()
    headers: dict[str, Any] = {
        "host": "127.0.0.1:10002",
        "x-ms-version": "2014-02-14",
        "x-ms-date": date,
        "content-type": content_type,
        "authorization": f"SharedKey {ACCOUNT}:{signature}",
    }
    return Request("POST", "/$batch", headers, body.encode())


# ---------------------------------------------------------------- what comes out

_GUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_HEAD = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
_CHANGE_SET = re.compile(
    rf"--(?P<batch>batchresponse_{_GUID})\r\n"
    rf"Content-Type: multipart/mixed; boundary=(?P<set>changesetresponse_{_GUID})\r\n\r\n"
    r"(?P<parts>(?:--(?P=set)\r\n.*?)?)--(?P=set)--\r\n--(?P=batch)--\r\n",
    re.DOTALL,
)
_QUERY = re.compile(rf"--(?P<batch>batchresponse_{_GUID})\r\n(?P<part>.*)--(?P=batch)--\r\n", re.DOTALL)
_ERROR = re.compile(
    r'\{"odata\.error":\{"code":"(?P<code>\w+)","message":\{"lang":"en-US","value":"(?P<text>.*)'
    rf'\\nRequestId:{_GUID}\\nTime:\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{7}}Z"}}\}}\}}'
)


def answers(response: Response) -> list[str]:
    """The answers in a change set's answer, each from its status line to its end; checks everything around them."""
    assert response.status == 202, response.body
    match = _CHANGE_SET.fullmatch(response.body.decode())
    assert match is not None, response.body
    assert response.header("Content-Type") == f"multipart/mixed; boundary={match['batch']}"
    parts = match["parts"].split(f"--{match['set']}\r\n")[1:]
    assert all(item.startswith(_HEAD) for item in parts)
    return [item.removeprefix(_HEAD) for item in parts]


def only_answer(response: Response) -> str:
    """The one answer in a query's answer."""
    assert response.status == 202, response.body
    match = _QUERY.fullmatch(response.body.decode())
    assert match is not None, response.body
    assert match["part"].startswith(_HEAD)
    return match["part"].removeprefix(_HEAD)


def failure(answer: str) -> tuple[str, str, str]:
    """Status line, code and text of an answer that is an error."""
    head, _, body = answer.partition("\r\n\r\n")
    match = _ERROR.fullmatch(body.removesuffix("\r\n"))
    assert match is not None, answer
    return head.partition("\r\n")[0].removeprefix("HTTP/1.1 "), match["code"], match["text"]


def headers_of(answer: str) -> list[str]:
    """The header lines of an answer."""
    return answer.partition("\r\n\r\n")[0].split("\r\n")[1:]


def etag(last_digit: int) -> str:
    """The ETag of what was written at the first moment that ends with this digit."""
    return f"W/\"datetime'2026-08-03T10%3A15%3A31.123456{last_digit}Z'\""


async def fail(client: Client, *parts: str) -> tuple[str, str, str]:
    """Send a change set that fails; status, code and text of its only answer."""
    (answer,) = answers(await ask(client, change_set(*parts)))
    return failure(answer)


async def row_keys(client: Client) -> list[str]:
    """What is stored."""
    response = await client.ask("GET", "/Orders", headers={"Accept": "application/json;odata=nometadata"})
    return [item["RowKey"] for item in json.loads(response.body)["value"]]
