"""XML documents: what is read, and what is refused before it costs anything."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from rowkey.payload.xml_input import XmlNotReadable, parse_xml

MEBIBYTE = 1024 * 1024


def test_names_carry_their_namespace_whatever_the_prefix() -> None:
    root = parse_xml(b"<x:a xmlns:x='urn:one' x:k='1' l='2'><b xmlns='urn:two'>text</b></x:a>")
    assert root.tag == "{urn:one}a"
    assert root.attrib == {"{urn:one}k": "1", "l": "2"}
    assert [(child.tag, child.text) for child in root] == [("{urn:two}b", "text")]


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\xef\xbb\xbf",
        b"<?xml version='1.0'?>",
        b"<?xml version='1.0' encoding='utf-8'?>\r\n",
        b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n',
        b'\xef\xbb\xbf<?xml version="1.0" encoding="us-ascii"?>',
        b"<?xml version='1.0'?><!-- remark --><?instruction?>",
    ],
)
def test_mark_and_declaration_may_be_there(head: bytes) -> None:
    assert parse_xml(head + "<a>é</a>".encode()).text == "é"


def test_text_is_kept_as_it_is() -> None:
    root = parse_xml(b"<a> &lt;&amp;&#x1F600;<![CDATA[<!DOCTYPE b>]]><!-- left out --> \r\n</a>")
    assert root.text == " <&\U0001f600<!DOCTYPE b> \n"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  ",
        b"no markup",
        b"\xef\xbb\xbf",
        b"<a>",
        b"<a></b>",
        b"<a/><a/>",
        b"<a b='1' b='2'/>",
        b"<x:a/>",
        b"<a>&nbsp;</a>",
        b"<a>\x00</a>",
        b"<a>\x0b</a>",
        b"<a>&#0;</a>",
        b"<a>&#xD800;</a>",
        b"<a>\xff</a>",
        b"<a>\xed\xa0\x80</a>",
        b"<a>\xc0\xbc</a>",
        "<a/>".encode("utf-16"),
        "<a/>".encode("utf-16-le"),
        "<a/>".encode("utf-16-be"),
        b"<?xml version='1.0' encoding='utf-16'?><a/>",
        b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>",
        b"<?xml version='1.0' encoding='utf-7'?><a/>",
    ],
)
def test_what_is_no_xml_in_utf_8_is_refused(body: bytes) -> None:
    with pytest.raises(XmlNotReadable):
        parse_xml(body)


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE a><a/>",
        b"<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/a.dtd'><a/>",
        b"<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>",
        b"<!DOCTYPE a [<!ENTITY e 'x'><!ENTITY f '&e;&e;&e;'>]><a>&f;</a>",
        b"<!DOCTYPE a [<!ATTLIST a b CDATA 'default'>]><a/>",
    ],
)
def test_document_types_are_refused(body: bytes) -> None:
    with pytest.raises(XmlNotReadable, match="document types"):
        parse_xml(body)


def fill(head: bytes, unit: bytes, tail: bytes = b"") -> bytes:
    """4 MiB: the largest body that the server takes."""
    return head + unit * ((4 * MEBIBYTE - len(head) - len(tail)) // len(unit)) + tail


BOMBS = {
    "elements": fill(b"<a>", b"<b/>", b"</a>"),
    "depth": fill(b"", b"<b>"),
    "attributes": b"<a" + b"".join(b' a%d=""' % i for i in range(300_000)) + b"/>",
    "many attributes": b"<a>" + (b"<b" + b"".join(b' a%d=""' % i for i in range(100)) + b"/>") * 4000 + b"</a>",
    "namespaces": b"<a" + b"".join(b' xmlns:a%d="u"' % i for i in range(200_000)) + b"/>",
    "long names": b"<a xmlns='%s'>" % (b"u" * 15_000) + b"".join(b"<b%d/>" % i for i in range(4000)) + b"</a>",
    "a comment": fill(b"<a><!--", b"x", b"--></a>"),
    "an open tag": fill(b"<a b='", b"x"),
    "a declaration": fill(b"<?xml version='1.0'", b" encoding", b"?><a/>"),
    "a document type": fill(b"<!DOCTYPE a [<!ENTITY b '", b"x", b"'>]><a>&b;</a>"),
}


@pytest.mark.parametrize("body", BOMBS.values(), ids=BOMBS)
def test_bombs_are_refused_at_once(body: bytes) -> None:
    started = time.perf_counter()
    with pytest.raises(XmlNotReadable):
        parse_xml(body)
    assert time.perf_counter() - started < 1


LARGE = {
    "newlines": fill(b"<a>", b"\n", b"</a>"),
    "references": fill(b"<a>", b"&lt;", b"</a>"),
    "emoji": fill(b"<a>", "\U0001f600".encode(), b"</a>"),
    "wide text": fill(b"<a>" + "\U0001f600".encode(), b"x", b"</a>"),
    "comments": fill(b"<a>", b"<!---->", b"</a>"),
    "sections": fill(b"<a>", b"<![CDATA[]]>", b"</a>"),
    "blanks": fill(b"<a/>", b" "),
}


@pytest.mark.parametrize("body", LARGE.values(), ids=LARGE)
def test_long_text_is_read_in_little_time_and_space(body: bytes) -> None:
    tracemalloc.start()
    try:
        parse_xml(body)
        started = time.perf_counter()
        parse_xml(body)
        assert time.perf_counter() - started < 2
        assert tracemalloc.get_traced_memory()[1] < 48 * MEBIBYTE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", range(16_370, 16_400))
def test_a_slice_may_end_anywhere(size: int) -> None:
    root = parse_xml(b"<a>" + b"x" * size + "<é k='1'>&amp;😀</é>".encode() + b"y" * 20_000 + b"</a>")
    assert root.text == "x" * size
    assert root[0].attrib == {"k": "1"}
    assert root[0].text == "&😀"
    assert root[0].tail == "y" * 20_000
