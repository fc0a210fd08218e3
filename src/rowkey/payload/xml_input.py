"""XML of strangers, read by expat: small trees of elements, at a cost that is bounded whatever the body holds.

A document type declaration is refused where it begins, so there are no entities but XML's own five, and nothing is
fetched. Elements, their depth, their attributes and names are counted as they come; the parser is fed in slices, so
that one tag cannot pile up attributes that nobody has counted. Text is handed over by the kilobyte, not by the line.
"""

import re
from collections.abc import Mapping
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ExpatError, ParserCreate

_ELEMENTS_MAX = 4096
_DEPTH_MAX = 64
_ATTRIBUTES_MAX = 32
_NAME_LENGTH_MAX = 1024
"""Of an element or attribute with its namespace."""
_TOKEN_BYTES_MAX = 16 * 1024
"""Of one tag, comment or instruction."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DECLARED_ENCODING = re.compile(rb"""<\?xml[^>?]*?\sencoding\s*=\s*["']([^"'>?]*)["']""")
_ENCODINGS = (b"utf-8", b"us-ascii", b"ascii")


class XmlNotReadable(ValueError):
    """Text that is no XML, or more of it than any document of this service has."""


def parse_xml(body: bytes) -> Element:
    """The root of an XML document in UTF-8, with or without byte order mark and declaration.

    Names are spelled `{namespace}name`; comments and instructions are left out. Raises XmlNotReadable.
    """
    content = body.removeprefix(_BYTE_ORDER_MARK)
    declared = _DECLARED_ENCODING.match(content, 0, _TOKEN_BYTES_MAX)
    if b"\0" in content or (declared is not None and declared[1].lower() not in _ENCODINGS):  # NUL: UTF-16
        raise XmlNotReadable("only UTF-8 is read")
    builder = _Builder()
    parser = ParserCreate("utf-8", "}")
    parser.buffer_text = True
    parser.buffer_size = _TOKEN_BYTES_MAX
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        for start in range(0, len(content), _TOKEN_BYTES_MAX):
            parser.Parse(content[start : start + _TOKEN_BYTES_MAX], False)
            if start - parser.CurrentByteIndex > _TOKEN_BYTES_MAX:
                raise XmlNotReadable("a tag is too long")
        parser.Parse(b"", True)
    except ExpatError as error:
        raise XmlNotReadable(str(error)) from None
    return builder.close()


class _Builder:
    """Makes a tree of what expat reports, and counts."""

    def __init__(self) -> None:
        self._tree = TreeBuilder()
        self._elements = 0
        self._depth = 0
        self.data = self._tree.data
        self.close = self._tree.close

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._elements += 1
        self._depth += 1
        if self._elements > _ELEMENTS_MAX or self._depth > _DEPTH_MAX or len(attributes) > _ATTRIBUTES_MAX:
            raise XmlNotReadable("too many elements or attributes, or too deep")
        spelled = {_spell(attribute): value for attribute, value in attributes.items()} if attributes else {}
        self._tree.start(_spell(name), spelled)

    def end(self, name: str) -> None:
        self._depth -= 1
        self._tree.end(_spell(name))


def _spell(name: str) -> str:
    """A name as ElementTree spells it; expat writes `namespace}name`."""
    if len(name) > _NAME_LENGTH_MAX:
        raise XmlNotReadable("a name is too long")
    return "{" + name if "}" in name else name


def _refuse_doctype(*_: object) -> None:
    raise XmlNotReadable("document types are not read")
