"""Tables in Atom."""

from collections.abc import Sequence

from rowkey.payload.atom_document import Document, Entry, write_entry_document, write_feed_document
from rowkey.payload.views import TableView
from rowkey.wire.media import Format


def write_table(name: str, view: TableView) -> bytes:
    """One table as the body of an answer."""
    return write_entry_document(_document(view), _show(name))


def write_tables(names: Sequence[str], view: TableView) -> bytes:
    """A list of tables as the body of an answer."""
    return write_feed_document(_document(view), [_show(name) for name in names])


def _document(view: TableView) -> Document:
    return Document(view.base, view.account, "Tables", view.now, view.format is Format.INDENTED_ATOM)


def _show(name: str) -> Entry:
    return Entry(f"Tables('{name}')", None, [f"<d:TableName>{name}</d:TableName>"])
