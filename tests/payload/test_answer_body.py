"""Bodies of answers: the view's format decides."""

from __future__ import annotations

import pytest

from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Key, compose_entity
from rowkey.payload.answer_body import write_entry, write_feed, write_table, write_tables
from rowkey.payload.views import EntityView, TableView
from rowkey.wire.media import Format

TIME = parse_datetime("2012-05-04T10:00:00Z")
TEXT = compose_entity(Key("eu", "1"), TIME, {}).text
JSON_LEVELS = [Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA]


@pytest.mark.parametrize("wanted", [*JSON_LEVELS, Format.ATOM, Format.INDENTED_ATOM])
def test_format_of_the_view(wanted: Format) -> None:
    entities = EntityView(wanted, "http://here", "contoso", "Orders", TIME)
    tables = TableView(wanted, "http://here", "contoso", TIME)
    bodies = [
        write_entry(TEXT, entities),
        write_feed(TEXT, entities),
        write_table("Orders", tables),
        write_tables(["Orders"], tables),
    ]
    start = b"{" if wanted.is_json else b"<?xml "
    assert [body.startswith(start) for body in bodies] == [True] * 4
