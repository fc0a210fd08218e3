"""Bodies of answers: entities and tables in the format of their view, which is Atom or some level of JSON."""

from collections.abc import Sequence

from rowkey.payload import atom_entity, atom_table, json_entity, json_table
from rowkey.payload.views import EntityView, TableView


def write_entry(text: str, view: EntityView) -> bytes:
    """One entity."""
    if view.format.is_json:
        return json_entity.write_entry(text, view)
    return atom_entity.write_entry(text, view)


def write_feed(texts: str, view: EntityView) -> bytes:
    """Entities, as wire texts joined by commas."""
    if view.format.is_json:
        return json_entity.write_feed(texts, view)
    return atom_entity.write_feed(texts, view)


def write_table(name: str, view: TableView) -> bytes:
    """One table."""
    if view.format.is_json:
        return json_table.write_table(name, view)
    return atom_table.write_table(name, view)


def write_tables(names: Sequence[str], view: TableView) -> bytes:
    """A list of tables."""
    if view.format.is_json:
        return json_table.write_tables(names, view)
    return atom_table.write_tables(names, view)
