"""Formats of payloads: how they are asked for, written and read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from rowkey.wire.request import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

MODERN, LAST_WITH_ATOM = "2019-02-02", "2015-07-08"


@dataclass(frozen=True)
class Payload:
    """A format: how it is asked for, and its Content-Type in answers and in requests."""

    name: str
    accept: str
    answered: str
    content_type: str
    version: str = MODERN

    def write(self, properties: Mapping[str, str]) -> bytes:
        """A body with these properties."""
        if self.name != "Atom":
            return json.dumps(properties).encode()
        elements = "".join(f"<d:{name}>{value}</d:{name}>" for name, value in properties.items())
        return (
            f'<entry xmlns="{ATOM}" xmlns:d="{DATA}" xmlns:m="{METADATA}"><content type="application/xml">'
            f"<m:properties>{elements}</m:properties></content></entry>"
        ).encode()


ATOM = "http://www.w3.org/2005/Atom"
DATA = "http://schemas.microsoft.com/ado/2007/08/dataservices"
METADATA = f"{DATA}/metadata"


def in_json(level: str) -> Payload:
    """JSON with metadata of some level."""
    kind = f"application/json;odata={level}metadata"
    return Payload(f"JSON {level} metadata", kind, f"{kind};streaming=true;charset=utf-8", "application/json")


JSON = tuple(in_json(level) for level in ("no", "minimal", "full"))
IN_ATOM = Payload(
    *("Atom", "application/atom+xml", "application/atom+xml;type={};charset=utf-8", "application/atom+xml"),
    LAST_WITH_ATOM,
)
IN_XML = Payload("XML", "application/xml", "application/xml", "application/xml")
ODATA = (*JSON, IN_ATOM)

IN_XML_OF_ATOM = replace(IN_XML, accept="application/atom+xml,application/xml", version=LAST_WITH_ATOM)
NO_BODY = replace(JSON[0], name="no body")


def read(payload: Payload, response: Response) -> list[dict[str, str]]:
    """The entities or tables in an answer, which must have the format and the metadata that were asked for."""
    if payload is IN_ATOM:
        root = ElementTree.fromstring(response.body)
        assert response.header("Content-Type") == payload.answered.format(root.tag.removeprefix(f"{{{ATOM}}}"))
        found = root.iter(f"{{{METADATA}}}properties")
        return [{element.tag.removeprefix(f"{{{DATA}}}"): element.text or "" for element in one} for one in found]
    assert response.header("Content-Type") == payload.answered
    body = json.loads(response.body)
    items: list[dict[str, str]] = body.get("value", [body])
    assert ("odata.metadata" in body) is ("nometadata" not in payload.accept)
    assert all(("odata.type" in item) is ("fullmetadata" in payload.accept) for item in items)
    return [{name: value for name, value in item.items() if "odata." not in name} for item in items]


def code_of(payload: Payload, response: Response) -> str:
    """The code of an error, which must have the format that was asked for."""
    kind = "application/xml" if payload in (IN_ATOM, IN_XML, IN_XML_OF_ATOM) else "application/json"
    assert (response.header("Content-Type") or "").startswith(kind)
    found = re.search(rb'"code":"(\w+)"|<(?:\w+:)?[Cc]ode>(\w+)<', response.body)
    assert found is not None
    return (found[1] or found[2]).decode()
