"""Tables in JSON."""

from collections.abc import Sequence

from rowkey.payload.json_entity import metadata_suffix
from rowkey.payload.views import TableView
from rowkey.wire.media import Format


def write_table(name: str, view: TableView) -> bytes:
    """One table as the body of an answer."""
    entry = _show(name, view)
    if view.format is not Format.NO_METADATA:
        entry = (
            f'{{"odata.metadata":"{view.base}/$metadata#Tables/@Element{metadata_suffix(view.select_text)}",{entry[1:]}'
        )
    return entry.encode("utf-8")


def write_tables(names: Sequence[str], view: TableView) -> bytes:
    """A list of tables as the body of an answer."""
    value = f'"value":[{",".join(_show(name, view) for name in names)}]'
    if view.format is Format.NO_METADATA:
        return f"{{{value}}}".encode()
    return f'{{"odata.metadata":"{view.base}/$metadata#Tables{metadata_suffix(view.select_text)}",{value}}}'.encode()


def _show(name: str, view: TableView) -> str:
    if view.format is not Format.FULL_METADATA:
        return f'{{"TableName":"{name}"}}'
    link = f"Tables('{name}')"
    return (
        f'{{"odata.type":"{view.account}.Tables","odata.id":"{view.base}/{link}",'
        f'"odata.editLink":"{link}","TableName":"{name}"}}'
    )
