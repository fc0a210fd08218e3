"""What the documents of access policies and service properties have in common: children that are known, each once.

Whatever is wrong with one, the answer is InvalidXmlDocument (recorded; the reference's finer codes were never seen).
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from rowkey.errors import InvalidXmlDocument
from rowkey.payload.xml_input import XmlNotReadable, parse_xml


def read_root(body: bytes, name: str) -> Element:
    """The root of a document, which has this name; raises InvalidXmlDocument."""
    try:
        root = parse_xml(body)
    except XmlNotReadable:
        raise InvalidXmlDocument from None
    if root.tag != name:
        raise InvalidXmlDocument
    return root


def read_children(
    element: Element, *, required: Sequence[str] = (), optional: Sequence[str] = ()
) -> dict[str, Element]:
    """The children by name, in any order: all required ones, perhaps optional ones, and no others."""
    children = {child.tag: child for child in element}
    if len(children) < len(element) or not set(required) <= children.keys() <= {*required, *optional}:
        raise InvalidXmlDocument
    _verify_no_text(element)
    return children


def read_list(element: Element, name: str, *, length_max: int) -> Sequence[Element]:
    """The children, which all have one name; raises InvalidXmlDocument, also for too many."""
    if len(element) > length_max or any(child.tag != name for child in element):
        raise InvalidXmlDocument
    _verify_no_text(element)
    return list(element)


def read_text(element: Element) -> str:
    """The text of an element without children."""
    if len(element):
        raise InvalidXmlDocument
    return element.text or ""


def _verify_no_text(element: Element) -> None:
    """Raise InvalidXmlDocument where there is text beside the element's children."""
    if (element.text or "").strip() or any((child.tail or "").strip() for child in element):
        raise InvalidXmlDocument
