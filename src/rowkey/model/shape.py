"""What of an entity's wire text an answer shows: all of it, or without control information, or the selected properties.

A store gathers pages in a shape; `shape_text` is the definition of what it must come to.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rowkey.model.entity import WireMember, json_string, ordinal, split_entities, unescape, wire_members


class Shape(NamedTuple):
    """`has_control`: with ETag and annotations; `names`: the selected properties (`$select`), None for all."""

    has_control: bool = True
    names: tuple[str, ...] | None = None


WHOLE = Shape()
"""The wire text as it is stored."""

ANNOTATION = "@odata.type"
ANNOTATION_MARK = f'{ANNOTATION}":"Edm.'
"""Ends the name of every annotation. It holds raw quotes, which stand only around names and strings, so it cannot be
part of one; and what it annotates always follows, so a comma does."""

_SYSTEM_ORDER = ("PartitionKey", "RowKey", "Timestamp")
_ETAG = re.compile(r'\{"odata\.etag":"[^,]*",')


def shape_texts(texts: str, shape: Shape) -> str:
    """Entities (wire texts joined by commas) in a shape."""
    if shape.names is None:
        return texts if shape.has_control else without_control(texts)
    return ",".join(shape_text(text, shape) for text in split_entities(texts))


def shape_text(text: str, shape: Shape) -> str:
    """One entity's wire text in a shape."""
    if shape.names is None:
        return text if shape.has_control else _without_annotations("{" + text[text.index(",") + 1 :])
    etag, *members = wire_members(text)
    shown = select_members(members, shape.names)
    if shape.has_control:
        return f"{{{','.join([etag.text, *(member.text for member in shown)])}}}"
    return "{" + ",".join(f'"{member.name}":{member.value}' for member in shown) + "}"


def without_control(texts: str) -> str:
    """Wire texts without ETags and annotations, as a whole: a page has thousands of them."""
    return _without_annotations(_ETAG.sub("{", texts))


def _without_annotations(texts: str) -> str:
    first, *others = texts.split(ANNOTATION_MARK)
    if not others:
        return first
    kept = [first[: first.rindex('"')]]
    kept += [part[part.index(",") + 1 : part.rindex('"')] for part in others[:-1]]
    kept.append(others[-1][others[-1].index(",") + 1 :])
    return "".join(kept)


def in_order(names: Sequence[str]) -> list[str]:
    """Selected names as they are shown: system ones first, the others by ordinal name (recorded)."""
    ordered = [name for name in _SYSTEM_ORDER if name in names]
    return ordered + sorted((name for name in names if name not in _SYSTEM_ORDER), key=ordinal)


def select_members(members: Sequence[WireMember], names: Sequence[str]) -> list[WireMember]:
    """The selected properties only, in order, missing ones null (recorded)."""
    present = {unescape(member.name): member for member in members}
    return [present.get(name) or _missing(json_string(name)) for name in in_order(names)]


def _missing(name_text: str) -> WireMember:
    return WireMember(name_text[1:-1], None, "null", f"{name_text}:null")
