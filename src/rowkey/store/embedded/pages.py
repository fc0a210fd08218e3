"""The pages of a database file, read without SQLite: for what is left when SQLite cannot.

https://www.sqlite.org/fileformat2.html says what a page is. `Pages` shows each as the last commit left it, from the
log or from the file; `table_rows` finds the rows in a leaf of a table, with what they have on overflow pages. Whether a
row is as it was written is for the caller to say, by its checksum.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from rowkey.store.embedded.checksums import PAGE_CHECKSUM_BYTES
from rowkey.store.embedded.mark import log_header, log_of, sum_words

_TABLE_LEAF = 0x0D
_HEADER_BYTES = 100
_PAGE_BYTES = 4096
_FRAME_HEADER_BYTES = 24
_LOG_HEADER_BYTES = 32

Value = int | float | bytes | str | None


class Pages:
    """The pages of a database and its log, numbered from 1."""

    def __init__(self, database: Path) -> None:
        self._file = database.open("rb")
        self._log: dict[int, bytes] = {}
        self.count = database.stat().st_size // _PAGE_BYTES
        if log_of(database).exists():
            self._read_log(log_of(database).read_bytes())

    def close(self) -> None:
        self._file.close()

    def read(self, number: int) -> bytes:
        """A page, or what there is of it."""
        page = self._log.get(number)
        if page is None:
            self._file.seek((number - 1) * _PAGE_BYTES)
            page = self._file.read(_PAGE_BYTES)
        return page

    def is_trusted(self, number: int) -> bool:
        """Whether a page is as it was written: its own checksum says so, or that of the log."""
        if number in self._log:
            return True
        page = self.read(number)
        content, checksum = page[:-PAGE_CHECKSUM_BYTES], page[-PAGE_CHECKSUM_BYTES:]
        return len(page) == _PAGE_BYTES and struct.pack("<2I", *sum_words("<", content, (0, 0))) == checksum

    def free(self) -> set[int] | None:
        """The numbers of pages that are free, and hold what was deleted; None where the list of them is damaged."""
        if not self.is_trusted(1):
            return None
        trunk, expected = struct.unpack(">2I", self.read(1)[32:40])
        numbers: set[int] = set()
        while trunk:
            if trunk in numbers or not self.is_trusted(trunk):
                return None
            numbers.add(trunk)
            page = self.read(trunk)
            trunk, count = struct.unpack(">2I", page[:8])
            numbers.update(struct.unpack(f">{count}I", page[8 : 8 + 4 * count]))
        return numbers if len(numbers) == expected else None

    def table_rows(self, number: int) -> Iterator[tuple[Value, ...]]:
        """The rows that a page holds, if it is a leaf of a table; those that cannot be read are passed over."""
        return (row for _, row in self.numbered_rows(number))

    def numbered_rows(self, number: int) -> Iterator[tuple[int, tuple[Value, ...]]]:
        """As above, each with its number."""
        page = self.read(number)
        start = _HEADER_BYTES if number == 1 else 0
        if len(page) < _PAGE_BYTES or page[start] != _TABLE_LEAF:
            return
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        if start + 8 + 2 * count > _PAGE_BYTES:
            return
        for position in struct.unpack(f">{count}H", page[start + 8 : start + 8 + 2 * count]):
            try:
                row, payload = self._cell(page, position)
                yield row, read_record(payload)
            except (IndexError, ValueError, struct.error):  # not a row, or no longer
                continue

    def _cell(self, page: bytes, position: int) -> tuple[int, bytes]:
        """The row's number and the payload of the cell at a position, https://www.sqlite.org/fileformat2.html#b_tree_pages."""
        size, position = read_varint(page, position)
        row, position = read_varint(page, position)
        usable = _PAGE_BYTES - PAGE_CHECKSUM_BYTES
        if size <= usable - 35:
            return row, page[position : position + size]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        if local > usable - 35:
            local = least
        parts = [page[position : position + local]]
        following = int.from_bytes(page[position + local : position + local + 4], "big")
        left = size - local
        while left > 0:
            if not 0 < following <= self.count:
                raise ValueError("a chain of overflow pages ends early")
            content = self.read(following)[:usable]
            parts.append(content[4 : 4 + left])
            left -= usable - 4
            following = int.from_bytes(content[:4], "big")
        return row, b"".join(parts)

    def _read_log(self, log: bytes) -> None:
        """Take the frames of all commits up to the first frame that is not as it was written."""
        header = log_header(log)
        if header is None:
            return
        order, salts, sums = header
        pages: dict[int, bytes] = {}
        for start in range(_LOG_HEADER_BYTES, len(log), _FRAME_HEADER_BYTES + _PAGE_BYTES):
            head = log[start : start + _FRAME_HEADER_BYTES]
            page = log[start + _FRAME_HEADER_BYTES : start + _FRAME_HEADER_BYTES + _PAGE_BYTES]
            if len(page) < _PAGE_BYTES or head[8:16] != salts:
                return
            sums = sum_words(order, page, sum_words(order, head[:8], sums))
            if struct.pack(">2I", *sums) != head[16:]:
                return
            number, size = struct.unpack(">2I", head[:8])
            pages[number] = page
            if size:  # a commit
                self._log.update(pages)
                pages.clear()
                self.count = size


def read_record(payload: bytes) -> tuple[Value, ...]:
    """The values of a row, https://www.sqlite.org/fileformat2.html#record_format; raises where it is none."""
    end, position = read_varint(payload, 0)
    kinds: list[int] = []
    while position < end:
        kind, position = read_varint(payload, position)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        size = _SIZES[kind] if kind < len(_SIZES) else (kind - 12) // 2
        content = payload[position : position + size]
        if len(content) < size:
            raise ValueError("a row ends early")
        position += size
        values.append(_read_value(kind, content))
    return tuple(values)


_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)
_REAL, _ZERO, _ONE, _FIRST_BLOB = 7, 8, 9, 12


def _read_value(kind: int, content: bytes) -> Value:
    if kind == 0:
        return None
    if kind < _REAL:
        return int.from_bytes(content, "big", signed=True)
    if kind == _REAL:
        return float(struct.unpack(">d", content)[0])
    if kind in (_ZERO, _ONE):
        return kind - _ZERO
    if kind < _FIRST_BLOB:
        raise ValueError("a value of no kind")
    return content if kind % 2 == 0 else content.decode("utf-8")


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where what follows it begins."""
    value = 0
    for _ in range(8):
        byte = data[position]
        position += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, position
    return value << 8 | data[position], position + 1
