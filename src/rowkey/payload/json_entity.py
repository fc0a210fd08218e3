"""Entities in JSON: wire text to the three metadata levels.

The stored wire text (`model/entity.py`) is the minimal level; the others take away from it or add to it.
"""

import re

from rowkey.model.entity import json_string, split_entities, unescape, wire_members
from rowkey.payload.views import EntityView, entity_link, select_members
from rowkey.wire.media import Format

_ANNOTATION = "@odata.type"


def write_entry(text: str, view: EntityView) -> bytes:
    """One entity as the body of an answer."""
    entry = _show(text, view)
    if view.format is Format.NO_METADATA:
        return entry.encode("ascii")
    return f'{{"odata.metadata":"{_metadata_url(view)}/@Element{metadata_suffix(view.select_text)}",{entry[1:]}'.encode(
        "ascii"
    )


def write_feed(texts: str, view: EntityView) -> bytes:
    """Entities (wire texts joined by commas) as the body of an answer."""
    if view.select is None and view.format is Format.MINIMAL_METADATA:
        entries = texts
    elif view.select is None and view.format is Format.NO_METADATA:
        entries = _without_control(texts)
    else:
        entries = ",".join(_show(text, view) for text in split_entities(texts))
    if view.format is Format.NO_METADATA:
        return f'{{"value":[{entries}]}}'.encode("ascii")
    return (
        f'{{"odata.metadata":"{_metadata_url(view)}{metadata_suffix(view.select_text)}","value":[{entries}]}}'.encode(
            "ascii"
        )
    )


def _metadata_url(view: EntityView) -> str:
    return f"{view.base}/$metadata#{view.table}"


def metadata_suffix(select_text: str | None) -> str:
    """What `$select` adds to odata.metadata: its text, decoded but for blanks, which are %20 (recorded)."""
    if select_text is None:
        return ""
    return "&$select=" + json_string(select_text.replace(" ", "%20"))[1:-1]


_ETAG = re.compile(r'\{"odata\.etag":"[^,]*",')
_ANNOTATION_MARK = f'{_ANNOTATION}":"Edm.'
"""Ends the name of every annotation. It holds raw quotes, which stand only around names and strings, so it cannot be
part of one; and what it annotates always follows, so a comma does."""


def _without_control(texts: str) -> str:
    """Wire texts without ETags and annotations, as a whole: a page has thousands of them."""
    first, *others = _ETAG.sub("{", texts).split(_ANNOTATION_MARK)
    if not others:
        return first
    kept = [first[: first.rindex('"')]]
    kept += [part[part.index(",") + 1 : part.rindex('"')] for part in others[:-1]]
    kept.append(others[-1][others[-1].index(",") + 1 :])
    return "".join(kept)


def _show(text: str, view: EntityView) -> str:
    """One entity's wire text as this view shows it, without odata.metadata."""
    if view.select is None and view.format is Format.MINIMAL_METADATA:
        return text
    if view.select is None and view.format is Format.NO_METADATA:
        return _without_control(text)
    etag, *members = wire_members(text)
    shown = members if view.select is None else select_members(members, view.select)
    if view.format is Format.NO_METADATA:
        return "{" + ",".join(f'"{member.name}":{member.value}' for member in shown) + "}"
    if view.format is Format.MINIMAL_METADATA:
        return f"{{{','.join([etag.text, *(member.text for member in shown)])}}}"
    link = entity_link(view.table, unescape(members[0].value[1:-1]), unescape(members[1].value[1:-1]))
    texts = [
        f'"odata.type":"{view.account}.{view.table}"',
        f'"odata.id":"{view.base}/{link}"',
        etag.text,
        f'"odata.editLink":"{link}"',
    ]
    for member in shown:
        if member.name == "Timestamp" and member.value != "null":
            texts.append('"Timestamp@odata.type":"Edm.DateTime"')
        texts.append(member.text)
    return f"{{{','.join(texts)}}}"
