"""The rules that the documents of access policies and service properties share."""

from __future__ import annotations

import pytest

from rowkey.errors import InvalidXmlDocument
from rowkey.payload.xml_elements import read_children, read_list, read_root, read_text


def test_root() -> None:
    assert read_root(b"<a><b/></a>", "a").tag == "a"
    for body in (b"<b/>", b"<a xmlns='http://b'/>", b"<A/>", b"<a>", b""):
        with pytest.raises(InvalidXmlDocument):
            read_root(body, "a")


@pytest.mark.parametrize("body", [b"<a><b/><c/></a>", b"<a>\n <c/>\r\n<b/>\t</a>", b"<a><!-- b --><b/><c/></a>"])
def test_children_in_any_order(body: bytes) -> None:
    assert read_children(read_root(body, "a"), required=["b"], optional=["c", "d"]).keys() == {"b", "c"}


@pytest.mark.parametrize(
    "body", [b"<a/>", b"<a><c/></a>", b"<a><b/><b/></a>", b"<a><b/><e/></a>", b"<a>x<b/></a>", b"<a><b/>x</a>"]
)
def test_children_that_are_not_right(body: bytes) -> None:
    with pytest.raises(InvalidXmlDocument):
        read_children(read_root(body, "a"), required=["b"], optional=["c"])


def test_list() -> None:
    assert len(read_list(read_root(b"<a> <b/> <b/> </a>", "a"), "b", length_max=2)) == 2
    assert read_list(read_root(b"<a/>", "a"), "b", length_max=2) == []
    for body in (b"<a><b/><b/><b/></a>", b"<a><c/></a>", b"<a>x</a>", b"<a><b/>x</a>"):
        with pytest.raises(InvalidXmlDocument):
            read_list(read_root(body, "a"), "b", length_max=2)


def test_text() -> None:
    assert read_text(read_root(b"<a> x&amp;<![CDATA[<]]></a>", "a")) == " x&<"
    assert read_text(read_root(b"<a/>", "a")) == ""
    with pytest.raises(InvalidXmlDocument):
        read_text(read_root(b"<a>x<b/></a>", "a"))
