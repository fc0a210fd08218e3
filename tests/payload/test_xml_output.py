"""Text in XML that the service writes."""

from __future__ import annotations

import pytest

from rowkey.payload.xml_input import parse_xml
from rowkey.payload.xml_output import escape_attribute, escape_text

# Text, and what a reader gets of it.
TEXTS = [
    ("", ""),
    ("plain", "plain"),
    ("<a> & ]]>", "<a> & ]]>"),
    ("\t\n\r\n\r", "\t\n\r\n\r"),
    ("é 😀 \x7f\x85\u2028", "é 😀 \x7f\x85\u2028"),
    ("\x00\x08\x0b\x0c\x0e\x1f", "\ufffd" * 6),
    ("\ufffe\uffff\ud800\udfff", "\ufffd" * 4),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_text_is_read_back(text: str, expected: str) -> None:
    assert (parse_xml(f"<a>{escape_text(text)}</a>".encode()).text or "") == expected


@pytest.mark.parametrize("text", ["", "plain", "<a b='c'> & \"d\"", "é 😀"])
def test_attribute_is_read_back(text: str) -> None:
    assert parse_xml(f'<a b="{escape_attribute(text)}" />'.encode()).attrib == {"b": text}
