"""What tables, properties and keys may be called (data model page; error texts recorded)."""

import re
import unicodedata

from rowkey.errors import (
    InvalidInput,
    InvalidResourceName,
    KeyValueTooLarge,
    OutOfRangeInput,
    PropertyNameInvalid,
    PropertyNameTooLong,
    ResourceNameOutOfRange,
)
from rowkey.model.edm import utf16_length
from rowkey.model.limits import (
    KEY_UNITS_MAX,
    PROPERTY_NAME_UNITS_MAX,
    TABLE_NAME_LENGTH_MAX,
    TABLE_NAME_LENGTH_MIN,
)

_TABLE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*", re.ASCII)
_ASCII_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ORDINARY_KEY = re.compile(r"[ !\"$-.0->@-\[\]-~]*", re.ASCII)
_FORBIDDEN_IN_KEY = re.compile(r"[/\\#?\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_IDENTIFIER_START = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl"})
_IDENTIFIER_PART = _IDENTIFIER_START | {"Mn", "Mc", "Nd", "Pc", "Cf"}
_XML_NAME = re.compile(
    r"[0-9A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u037d\u037f-\u1fff\u200c\u200d\u203f\u2040\u2070-\u218f\u2c00-\u2fef"
    r"\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff]+"
)
"""Characters of a Name in XML 1.0, fifth edition, but for `:`, `-`, `.` and U+00B7, which no identifier has."""


def verify_table_name(name: str) -> None:
    """Raise InvalidResourceName or OutOfRangeInput unless a table may be created under this name."""
    if _TABLE_NAME.fullmatch(name) is None or name.lower() == "tables":
        raise InvalidResourceName
    if not TABLE_NAME_LENGTH_MIN <= len(name) <= TABLE_NAME_LENGTH_MAX:
        raise ResourceNameOutOfRange


def verify_property_name(name: str, *, may_have_hyphens: bool = False) -> None:
    """Raise PropertyNameTooLong or PropertyNameInvalid unless a property may have this name.

    It is a C# identifier that XML can have as a name, since names travel in XML. Within names of the first version
    there could be hyphens (both data model page).
    """
    if len(name) > PROPERTY_NAME_UNITS_MAX or utf16_length(name) > PROPERTY_NAME_UNITS_MAX:
        raise PropertyNameTooLong
    if may_have_hyphens and not name.startswith("-"):
        name = name.replace("-", "_")
    if _ASCII_IDENTIFIER.fullmatch(name):
        return
    if not name or (name[0] != "_" and unicodedata.category(name[0]) not in _IDENTIFIER_START):
        raise PropertyNameInvalid
    if any(unicodedata.category(character) not in _IDENTIFIER_PART for character in name):
        raise PropertyNameInvalid
    if _XML_NAME.fullmatch(name) is None:
        raise PropertyNameInvalid


def verify_key_value(name: str, value: str) -> None:
    """Raise unless `value` may be the PartitionKey or RowKey (`name` says which) of a stored entity."""
    if len(value) > KEY_UNITS_MAX or utf16_length(value) > KEY_UNITS_MAX:
        raise KeyValueTooLarge
    if _ORDINARY_KEY.fullmatch(value):
        return
    if _FORBIDDEN_IN_KEY.search(value):
        raise OutOfRangeInput(f"The '{name}' parameter of value '{value}' is out of range.")
    if _SURROGATE.search(value):
        raise InvalidInput
