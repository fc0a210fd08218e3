"""The texts of a range, in a shape that SQLite makes while it gathers them, as far as it can.

A page has a thousand entities. To leave something out of each, SQLite needs a twentieth of the time that gathering it
takes, without the interpreter's lock; Python needs twice that time, with it.
"""

import re

import apsw

from rowkey.model.entity import json_string
from rowkey.model.shape import ANNOTATION, ANNOTATION_MARK, Shape, in_order, shape_texts, without_control
from rowkey.store.embedded import statements

_ASCII_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ANNOTATED = re.compile(rf'"([A-Za-z_][A-Za-z0-9_]*){re.escape(ANNOTATION_MARK)}', re.ASCII)
_ETAG_PATH = '$."odata.etag"'
_NAMES_MAX = 20
"""Selected properties, or annotations of a table, that SQLite looks for; the rest is left to Python."""
_TABLES_MAX = 1000


class Gatherer:
    """Gathers for all threads; it remembers which annotations it has met in a table."""

    def __init__(self) -> None:
        self._annotations: dict[bytes, tuple[str, ...]] = {}

    def gather(self, connection: apsw.Connection, prefix: bytes, start: bytes, last: bytes, shape: Shape) -> str:
        """The entities of the table with this prefix from `start` to `last`, in the shape, joined by commas."""
        if shape.names is not None:
            return self._select(connection, start, last, shape.names, shape)
        if shape.has_control:
            return _gather(connection, start, last)
        paths = self._annotations.get(prefix, ())
        sql = statements.gather_without(1 + len(paths))
        text: str = connection.execute(sql, (_ETAG_PATH, *paths, start, last)).get[1:-1]
        if ANNOTATION_MARK in text:
            self._remember(prefix, text)
            text = without_control(text)
        return text

    def _select(
        self, connection: apsw.Connection, start: bytes, last: bytes, names: tuple[str, ...], shape: Shape
    ) -> str:
        if len(names) > _NAMES_MAX or not all(map(_ASCII_NAME.fullmatch, names)):
            return shape_texts(_gather(connection, start, last), shape)
        sql = statements.gather_members(in_order(names), has_control=shape.has_control)
        text: str = connection.execute(sql, (start, last)).get
        return text

    def _remember(self, prefix: bytes, text: str) -> None:
        paths = [f"$.{json_string(name + ANNOTATION)}" for name in dict.fromkeys(_ANNOTATED.findall(text))]
        known = self._annotations.get(prefix, ())
        if prefix not in self._annotations and len(self._annotations) >= _TABLES_MAX:
            self._annotations.clear()
        self._annotations[prefix] = (*known, *(path for path in paths if path not in known))[:_NAMES_MAX]


def _gather(connection: apsw.Connection, start: bytes, last: bytes) -> str:
    text: str = connection.execute(statements.GATHER, (start, last)).get[1:-1]
    return text
