"""Request bodies in Atom: an entry as its properties by name, in the form that JSON has them.

Only what stands in `content/m:properties` counts; the rest of an entry may be empty, missing or wrong. Elements are
known by their namespaces, whatever the prefixes.
"""

from xml.etree.ElementTree import Element

from rowkey.errors import DuplicatePropertiesSpecified, InvalidInput, PropertyNameInvalid
from rowkey.model.edm import EdmType
from rowkey.payload.properties import Properties
from rowkey.payload.xml_input import XmlNotReadable, parse_xml

# The reference's samples say https, which no client sends.
_ATOM = ("{http://www.w3.org/2005/Atom}", "{https://www.w3.org/2005/Atom}")
_DATA = "{http://schemas.microsoft.com/ado/2007/08/dataservices}"
_METADATA = "{http://schemas.microsoft.com/ado/2007/08/dataservices/metadata}"
_TRUE = ("true", "1")
_BLANKS = " \t\r\n"


def read_entry(body: bytes) -> Properties:
    """The properties of an Atom entry.

    A property without a type is a string, one with `m:null` is null. Raises InvalidInput for a body that is no entry,
    PropertyNameInvalid, DuplicatePropertiesSpecified.
    """
    try:
        root = parse_xml(body)
    except XmlNotReadable:
        raise InvalidInput from None
    properties: Properties = {}
    for element in _find_properties(root):
        name = element.tag.removeprefix(_DATA)
        if name == element.tag:
            continue  # not of the namespace of data
        if name in properties:
            raise DuplicatePropertiesSpecified
        if "." in name:
            raise PropertyNameInvalid  # in JSON, such names are not data
        edm_type = element.get(f"{_METADATA}type", EdmType.STRING)
        if element.get(f"{_METADATA}null", "").strip(_BLANKS) in _TRUE:
            properties[name] = None
        else:
            properties[name] = _read_value(element, edm_type)
        if edm_type != EdmType.STRING:
            properties[f"{name}@odata.type"] = edm_type
    return properties


def _find_properties(root: Element) -> Element:
    for namespace in _ATOM:
        if root.tag == f"{namespace}entry":
            found = root.findall(f"{namespace}content/{_METADATA}properties")
            if len(found) == 1:
                return found[0]
    raise InvalidInput


def _read_value(element: Element, edm_type: str) -> str:
    """The text of a value as JSON spells it. White space is part of strings, and around other values nothing."""
    if len(element):
        raise InvalidInput
    text = element.text or ""
    if edm_type == EdmType.STRING:
        return text
    if edm_type == EdmType.BINARY:
        return "".join(text.split())
    text = text.strip(_BLANKS)
    return _SPELLINGS.get((edm_type, text), text)


_SPELLINGS: dict[tuple[str, str], str] = {
    (EdmType.BOOLEAN, "1"): "true",
    (EdmType.BOOLEAN, "0"): "false",
    (EdmType.DOUBLE, "INF"): "Infinity",
    (EdmType.DOUBLE, "-INF"): "-Infinity",
}
"""Values that XML spells in another way."""
