"""Entities in JSON: wire text to the three metadata levels.

The stored wire text (`model/entity.py`) is the minimal level; the others take away from it or add to it.
"""

from rowkey.model.entity import json_string, split_entities, split_head, unescape, wire_members
from rowkey.model.shape import select_members, shape_text
from rowkey.payload.views import EntityView, entity_link, shape_of
from rowkey.wire.media import Format


def write_entry(text: str, view: EntityView) -> bytes:
    """One entity as the body of an answer."""
    is_full = view.format is Format.FULL_METADATA
    entry = _show_in_full(text, view) if is_full else shape_text(text, shape_of(view.format, view.select))
    if view.format is Format.NO_METADATA:
        return entry.encode("ascii")
    return f'{{"odata.metadata":"{_metadata_url(view)}/@Element{metadata_suffix(view.select_text)}",{entry[1:]}'.encode(
        "ascii"
    )


def write_feed(texts: str, view: EntityView) -> bytes:
    """Entities (wire texts in the view's shape, joined by commas) as the body of an answer."""
    if view.format is Format.NO_METADATA:
        return f'{{"value":[{texts}]}}'.encode("ascii")
    if view.format is not Format.MINIMAL_METADATA:
        texts = ",".join(_show_in_full(text, view) for text in split_entities(texts))
    url = f"{_metadata_url(view)}{metadata_suffix(view.select_text)}"
    return f'{{"odata.metadata":"{url}","value":[{texts}]}}'.encode("ascii")


def _metadata_url(view: EntityView) -> str:
    return f"{view.base}/$metadata#{view.table}"


def metadata_suffix(select_text: str | None) -> str:
    """What `$select` adds to odata.metadata: its text, decoded but for blanks, which are %20 (recorded)."""
    if select_text is None:
        return ""
    return "&$select=" + json_string(select_text.replace(" ", "%20"))[1:-1]


def _show_in_full(text: str, view: EntityView) -> str:
    """One entity's wire text with full metadata, but for odata.metadata."""
    etag, partition_key, row_key, rest = split_head(text)
    link = entity_link(view.table, unescape(partition_key[1:-1]), unescape(row_key[1:-1]))
    if view.select is None:
        shown = f'"PartitionKey":{partition_key},"RowKey":{row_key},{_TIMESTAMP_TYPE},{rest[:-1]}'
    else:
        members = select_members(wire_members(text)[1:], view.select)
        shown = ",".join(
            f"{_TIMESTAMP_TYPE},{member.text}" if member.name == "Timestamp" else member.text for member in members
        )
    return (
        f'{{"odata.type":"{view.account}.{view.table}","odata.id":"{view.base}/{link}",{etag},"odata.editLink":"{link}"'
        f"{',' if shown else ''}{shown}}}"
    )


_TIMESTAMP_TYPE = '"Timestamp@odata.type":"Edm.DateTime"'
