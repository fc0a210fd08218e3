"""What request bodies say, in whatever format: properties by name to the members of an entity, or to a table's name.

Properties come as JSON has them, in the order sent: `{"Big": "255", "Big@odata.type": "Edm.Int64"}`. Reading follows
the service's leniency: annotations before or after their property, numbers and booleans as strings where the
annotation says so, null as absent, `odata.*` and Timestamp ignored.
"""

import base64
import binascii
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from rowkey.errors import (
    BodyNotReadable,
    InvalidInput,
    OutOfRangeInput,
    PrimaryKeyPropertyIsInvalidType,
    PropertiesNeedValue,
    PropertyValueTooLarge,
    TooManyProperties,
)
from rowkey.model.datetimes import DateOutOfRange, respell_datetime
from rowkey.model.edm import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    EdmType,
    format_double,
    parse_double,
    parse_guid,
    parse_integer,
    utf16_length,
)
from rowkey.model.entity import SYSTEM_NAMES, Key, json_string
from rowkey.model.limits import BINARY_BYTES_MAX, PROPERTIES_MAX, STRING_UNITS_MAX
from rowkey.model.names import verify_property_name
from rowkey.wire.version import NO_HYPHENS_SINCE

Properties = dict[str, Any]
"""What a body holds; `read_properties` (`request_body.py`) makes it."""

_ANNOTATION = "@odata.type"


def read_new_entity(properties: Properties, version_date: str) -> tuple[Key, dict[str, str]]:
    """The key and the members of an entity to be inserted; raises as `read_entity`, and for keys that are not there."""
    key = Key(_read_key(properties, "PartitionKey"), _read_key(properties, "RowKey"))
    return key, read_entity(properties, version_date)


def read_entity(properties: Properties, version_date: str) -> dict[str, str]:
    """The members of an entity, in the order sent; raises the service's errors for names and values.

    Keys are not looked at: where an entity has an address, that names them (recorded).
    """
    members: dict[str, str] = {}
    for name, text, annotation, annotated in _plan(tuple(properties), version_date < NO_HYPHENS_SINCE):
        value = properties[name]
        if value is None:
            continue
        edm_type = None if annotation is None else properties[annotation]
        if edm_type is None:
            write = _UNTYPED_WRITERS.get(type(value))
            if write is None:
                raise InvalidInput
            members[name] = text + write(value)
        else:
            try:
                write, is_annotated = _WRITERS[edm_type]
                value_text = write(value)
            except (KeyError, ValueError, TypeError):
                raise BodyNotReadable from None
            if is_annotated or (value_text[0] == '"' and edm_type == EdmType.DOUBLE):
                members[name] = f'{annotated}"{edm_type}",{text}{value_text}'
            else:
                members[name] = text + value_text
    return members


class _Planned(NamedTuple):
    """A custom property to read: its name, its name as JSON text with the colon, and the same of what annotates it."""

    name: str
    text: str
    annotation: str | None
    annotation_text: str


_NAMES_MAX = 4 * (PROPERTIES_MAX + 4)
"""Names in a body, null properties and annotations included, beyond which it is not looked at closely."""


@lru_cache(maxsize=128)
def _plan(names: tuple[str, ...], may_have_hyphens: bool) -> tuple[_Planned, ...]:
    """What to read of an object with these names, in this order; clients send the same few shapes all the time.

    Keys and Timestamp, annotations and other control information are not custom properties.
    """
    if len(names) > _NAMES_MAX:
        raise TooManyProperties
    annotations = frozenset(name for name in names if name.endswith(_ANNOTATION))
    planned = []
    for name in names:
        if name in SYSTEM_NAMES or name.startswith("odata.") or name.endswith(_ANNOTATION):
            continue
        verify_property_name(name, may_have_hyphens=may_have_hyphens)
        annotation = name + _ANNOTATION
        planned.append(
            _Planned(
                name,
                json_string(name) + ":",
                annotation if annotation in annotations else None,
                json_string(annotation) + ":",
            )
        )
    return tuple(planned)


def read_table_name(properties: Properties) -> str:
    """The TableName of a table to be created; an empty one is none."""
    name = properties.get("TableName")
    if name is None or name == "":
        raise PropertiesNeedValue
    if not isinstance(name, str):
        raise InvalidInput
    return name


def _read_key(properties: Properties, name: str) -> str:
    value = properties.get(name)
    if value is None:
        raise PropertiesNeedValue
    edm_type = properties.get(name + _ANNOTATION)
    if not isinstance(value, str) or (edm_type is not None and edm_type != EdmType.STRING):
        raise PrimaryKeyPropertyIsInvalidType
    return value


def _write_integer(value: int) -> str:
    """A JSON integer without annotation, which is an Int32."""
    if INT32_MIN <= value <= INT32_MAX:
        return str(value)
    raise InvalidInput


def _write_string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    if 2 * len(value) > STRING_UNITS_MAX and utf16_length(value) > STRING_UNITS_MAX:
        raise PropertyValueTooLarge
    return json_string(value)


def _write_boolean(value: Any) -> str:
    if isinstance(value, str):
        value = {"true": True, "false": False}[value.lower()] if value.lower() in ("true", "false") else value
    if not isinstance(value, bool):
        raise TypeError
    return "true" if value else "false"


def _write_int32(value: Any) -> str:
    return str(_integer(value, INT32_MIN, INT32_MAX))


def _write_int64(value: Any) -> str:
    return f'"{_integer(value, INT64_MIN, INT64_MAX)}"'


def _integer(value: Any, lowest: int, highest: int) -> int:
    if isinstance(value, str):
        return parse_integer(value, lowest, highest)
    if type(value) is not int or not lowest <= value <= highest:
        raise ValueError
    return value


_SPECIAL_DOUBLES = {name: f'"{name}"' for name in ("NaN", "Infinity", "-Infinity")}


def _write_double(value: Any) -> str:
    if type(value) is float:
        return format_double(value)
    if isinstance(value, str):
        return _SPECIAL_DOUBLES.get(value) or format_double(parse_double(value))
    if type(value) is not int:
        raise TypeError
    return format_double(float(value))


def _write_datetime(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    try:
        return f'"{respell_datetime(value)}"'
    except DateOutOfRange:
        raise OutOfRangeInput from None


def _write_guid(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return f'"{parse_guid(value)}"'


def _write_binary(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    try:
        content = base64.b64decode(value, validate=True)
    except binascii.Error:
        raise ValueError from None
    if len(content) > BINARY_BYTES_MAX:
        raise PropertyValueTooLarge
    text = base64.b64encode(content).decode("ascii")
    if len(text) != len(value):  # the decoder does not mind more padding than there should be
        raise ValueError
    return f'"{text}"'


_WRITERS: dict[str, tuple[Callable[[Any], str], bool]] = {
    EdmType.STRING: (_write_string, False),
    EdmType.BOOLEAN: (_write_boolean, False),
    EdmType.INT32: (_write_int32, False),
    EdmType.INT64: (_write_int64, True),
    EdmType.DOUBLE: (_write_double, False),
    EdmType.DATETIME: (_write_datetime, True),
    EdmType.GUID: (_write_guid, True),
    EdmType.BINARY: (_write_binary, True),
}
"""What writes the text of an annotated value, and whether that needs its annotation always; a double needs it only
where it is a JSON string."""
_UNTYPED_WRITERS: dict[type, Callable[[Any], str]] = {
    str: _write_string,
    bool: _write_boolean,
    int: _write_integer,
    float: format_double,
}
