"""Entities in Atom, made of their wire text."""

from functools import lru_cache

from rowkey.model.edm import EdmType
from rowkey.model.entity import WireMember, etag_of, split_entities, unescape, wire_members
from rowkey.model.shape import select_members
from rowkey.payload.atom_document import Document, Entry, write_entry_document, write_feed_document
from rowkey.payload.views import EntityView, entity_link
from rowkey.payload.xml_input import XmlNotReadable, parse_xml
from rowkey.payload.xml_output import escape_text
from rowkey.wire.media import Format


def write_entry(text: str, view: EntityView) -> bytes:
    """One entity as the body of an answer."""
    return write_entry_document(_document(view), _show(text, view))


def write_feed(texts: str, view: EntityView) -> bytes:
    """Entities (wire texts joined by commas) as the body of an answer."""
    return write_feed_document(_document(view), (_show(text, view) for text in split_entities(texts)))


def _document(view: EntityView) -> Document:
    return Document(view.base, view.account, view.table, view.now, view.format is Format.INDENTED_ATOM)


def _show(text: str, view: EntityView) -> Entry:
    """One entity's wire text as an entry."""
    _, *members = wire_members(text)
    link = entity_link(view.table, unescape(members[0].value[1:-1]), unescape(members[1].value[1:-1]))
    shown = members if view.select is None else select_members(members, view.select)
    return Entry(link, etag_of(text), [_write_property(member) for member in shown])


def _write_property(member: WireMember) -> str:
    """One property as an element; strings need no type."""
    name, edm_type, value, _ = member
    if "\\" in name:
        name = _write_name(name)
    if edm_type is None and value[0] == '"' and name != "Timestamp":
        text = unescape(value[1:-1])
        space = ' xml:space="preserve"' if text != text.strip() else ""
        return f"<d:{name}{space}>{escape_text(text)}</d:{name}>"
    if value == "null":
        return f'<d:{name} m:null="true" />'
    edm_type = edm_type or _type_of(name, value)
    return f'<d:{name} m:type="{edm_type}">{_SPELLINGS.get(value) or _write_plain(value)}</d:{name}>'


def _type_of(name: str, value: str) -> str:
    """The type of a value that has no annotation and is no string, but for Timestamp."""
    if name == "Timestamp":
        return EdmType.DATETIME
    if value in ("true", "false"):
        return EdmType.BOOLEAN
    return EdmType.INT32 if value.lstrip("-").isdigit() else EdmType.DOUBLE


_SPELLINGS = {'"Infinity"': "INF", '"-Infinity"': "-INF"}
"""Values that XML spells in another way."""


def _write_plain(value: str) -> str:
    """Any other value; whole doubles have a point in JSON only, where there is no type beside them."""
    return value[1:-1] if value[0] == '"' else value.removesuffix(".0")


@lru_cache(maxsize=256)
def _write_name(name: str) -> str:
    """The name of a property beyond ASCII, as JSON has it, as that of an element.

    Identifiers may have characters that names in XML must not have; those are written `_x2167_`, as .NET does.
    """
    text = unescape(name)
    first = text[0] if _is_name(text[0]) else _escape_character(text[0])
    return first + "".join(c if _is_name(f"_{c}") else _escape_character(c) for c in text[1:])


def _is_name(text: str) -> bool:
    try:
        parse_xml(f"<{text}/>".encode())
    except XmlNotReadable:
        return False
    return True


def _escape_character(character: str) -> str:
    return f"_x{ord(character):04X}_"
