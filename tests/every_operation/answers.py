"""What an answer must show, and what a write must leave behind."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from rowkey.wire.request import Response
from tests.every_operation.formats import IN_XML_OF_ATOM, Payload, code_of, read
from tests.every_operation.service import Bench

if TYPE_CHECKING:
    from collections.abc import Mapping

Check = Callable[[Bench, Payload, Response], Awaitable[None]]


def shows(*expected: Mapping[str, str]) -> Check:
    """The answer has entities or tables with these properties, and no others."""

    async def check(bench: Bench, payload: Payload, response: Response) -> None:
        found = read(payload, response)
        assert [{name: value for name, value in one.items() if name != "Timestamp"} for one in found] == [*expected]

    return check


def leaves(path: str, expected: Mapping[str, str] | None) -> Check:
    """The answer is empty, and at that path there is now what is expected, in the same format, or nothing."""

    async def check(bench: Bench, payload: Payload, response: Response) -> None:
        assert response.body == b""
        found = await bench.ask_as_owner("GET", path, payload)
        if expected is None:
            assert (found.status, code_of(payload, found)) == (404, "ResourceNotFound")
        else:
            await shows(expected)(bench, payload, found)

    return check


def has_in_xml(name: str, text: str) -> Check:
    """The answer is XML, with an element of this name and text."""

    async def check(bench: Bench, payload: Payload, response: Response) -> None:
        assert (response.header("Content-Type") or "").startswith("application/xml")
        elements = ElementTree.fromstring(response.body.removeprefix(b"\xef\xbb\xbf")).iter()
        assert (name, text) in [(element.tag.rpartition("}")[2], element.text) for element in elements]

    return check


def leaves_in_xml(path: str, name: str, text: str) -> Check:
    """The answer is empty, and at that path there is now a document with an element of this name and text."""

    async def check(bench: Bench, payload: Payload, response: Response) -> None:
        assert response.body == b""
        await has_in_xml(name, text)(bench, payload, await bench.ask_as_owner("GET", path, payload))

    return check


def shows_parts(*parts: tuple[int, Check]) -> Check:
    """The answer has these parts, of these statuses, which show what they must."""

    async def check(bench: Bench, payload: Payload, response: Response) -> None:
        assert (response.header("Content-Type") or "").startswith("multipart/mixed; boundary=batchresponse_")
        found = response.body.split(b"\r\nHTTP/1.1 ")[1:]
        for (status, check_part), text in zip(parts, found, strict=True):
            head, _, body = text.partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")
            headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]
            inner = Response(int(lines[0][:3]), headers, body.partition(b"\r\n--")[0])
            assert inner.status == status
            await check_part(bench, payload, inner)

    return check


async def names_the_collection_of_tables(bench: Bench, payload: Payload, response: Response) -> None:
    if payload is IN_XML_OF_ATOM:
        await has_in_xml("title", "Tables")(bench, payload, response)
    else:
        assert response.header("Content-Type") == payload.answered
        body = json.loads(response.body)
        assert body["value"] == [{"name": "Tables", "url": "Tables"}]
        assert ("odata.metadata" in body) is ("nometadata" not in payload.accept)


async def names_the_table(bench: Bench, payload: Payload, response: Response) -> None:
    assert (response.header("Content-Type") or "").startswith("application/xml")
    names = [element.get("Name") for element in ElementTree.fromstring(response.body).iter()]
    assert "Orders" in names


async def allows_the_origin(bench: Bench, payload: Payload, response: Response) -> None:
    assert response.body == b""
    assert response.header("Access-Control-Allow-Origin") == "*"
