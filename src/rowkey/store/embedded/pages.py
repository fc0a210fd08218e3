"""The pages of a database file, read without SQLite: for what is left when SQLite cannot.

https://www.sqlite.org/fileformat2.html says what a page is. `Pages` shows each as the last commit left it, from the
log or from the file; `table_rows` finds the rows in a leaf of a table, with what they have on overflow pages. Whether a
row is as it was written is for the caller to say, by its checksum.

The checksum of a frame of the log goes on from that of the frame before it, and SQLite ends at the first that is wrong.
But the frame before has it written down, so each can be told by these two alone. Where the mark does not say that the
log ends there, what stands behind such a frame is taken, too: the newest of each page. Between two commits a page may
then be as it was before, so what the pages say together is in doubt.
"""

import struct
import sys
from collections.abc import Iterator
from copy import copy
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rowkey.store.embedded.checksums import PAGE_CHECKSUM_BYTES
from rowkey.store.embedded.mark import MARK_NAME, ByteOrder, Needed, log_header, log_of, read_mark, sum_words

_TABLE_LEAF = 0x0D
_HEADER_BYTES = 100
_PAGE_BYTES = 4096
_FRAME_HEADER_BYTES = 24
_LOG_HEADER_BYTES = 32

Value = int | float | bytes | str | None


class Pages:
    """The pages of a database and its log, numbered from 1; a file that is missing counts as empty."""

    def __init__(self, database: Path) -> None:
        self._file: BinaryIO = database.open("rb") if database.exists() else BytesIO()
        self.count = self._file.seek(0, 2) // _PAGE_BYTES
        self._log: dict[int, bytes] = {}
        self._behind: set[int] = set()
        self._doubtful: dict[int, bytes] = {}
        self.lost_frames = 0
        """Of the log's frames that hold confirmed writes, how many are not as they were written, or not there."""
        log = log_of(database)
        self._read_log(log.read_bytes() if log.exists() else b"", read_mark(database.parent / MARK_NAME))

    @property
    def is_in_doubt(self) -> bool:
        """Whether there are pages from behind damage in the log."""
        return bool(self._behind or self._doubtful)

    @property
    def are_known_to_sqlite(self) -> bool:
        """Whether SQLite finds these pages, too: there is a file, and nothing behind damage in the log."""
        return not self.is_in_doubt and self._file.seek(0, 2) > 0

    def views(self) -> Iterator["Pages"]:
        """These pages; and, where frames of the log are damaged, those with their newest content, damaged or not."""
        yield self
        if self._doubtful:
            other = copy(self)
            other._log = {**self._log, **self._doubtful}
            yield other

    def write(self, file: Path) -> None:
        """Write all pages to a file, which SQLite can read as far as they fit together."""
        with file.open("wb") as target:
            for number in range(1, self.count + 1):
                page = self.read(number)
                if number in self._log:  # where pages have no checksums of their own
                    content = page[:-PAGE_CHECKSUM_BYTES]
                    page = content + struct.pack("<2I", *sum_words("<", content, (0, 0)))
                target.write(page.ljust(_PAGE_BYTES, b"\0"))
            if self.is_trusted(1):  # SQLite wants as many as it says; the others are lost
                target.truncate(max(self.count, int.from_bytes(self.read(1)[28:32], "big")) * _PAGE_BYTES)

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
            if 8 + 4 * count > _PAGE_BYTES:
                return None
            numbers.update(struct.unpack(f">{count}I", page[8 : 8 + 4 * count]))
        # What was written behind damage may have been free before.
        return numbers - self._behind if len(numbers) == expected else None

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

    def _read_log(self, log: bytes, needed: Needed | None) -> None:
        """Take the commits that SQLite finds, and what is needed behind them."""
        frames = list(_read_frames(log))
        header = log_header(log)
        if header is not None:
            salts = header[1]
        elif needed is not None:
            salts = needed.salts
        else:
            salts = next((frame.salts for frame in frames if frame.is_right), b"")
        end = 0
        if header is not None:
            for position, frame in enumerate(frames, 1):
                if not frame.is_right or frame.salts != salts:
                    break
                if frame.size:  # a commit
                    end, self.count = position, frame.size
        self._log = {frame.number: frame.page for frame in frames[:end]}
        last = end
        if needed is not None and needed.salts == salts:
            last = max(end, needed.frames)
            if last == end:
                return
        for position, frame in enumerate(frames, 1):
            if frame.size and frame.salts == salts:
                last = max(last, position)
        self.lost_frames = last - end
        for frame in frames[end:last]:
            if frame.salts == salts:
                self._take(frame)

    def _take(self, frame: "_Frame") -> None:
        """Take a frame that stands behind damage, or is damaged."""
        if frame.is_right:
            self.lost_frames -= 1
            self.count = max(self.count, frame.number, frame.size)
            self._behind.add(frame.number)
            self._log[frame.number] = frame.page
            self._doubtful.pop(frame.number, None)
        else:
            self._doubtful[frame.number] = frame.page


class _Frame(NamedTuple):
    """A frame of a log: a page as a transaction left it."""

    number: int
    size: int
    """Of the database, in pages, where the frame is a commit's last; else 0."""
    salts: bytes
    page: bytes
    is_right: bool
    """Whether its checksum goes on from the one that is written in the frame before it."""


def _read_frames(log: bytes) -> Iterator[_Frame]:
    """The frames of a log, those of older logs behind its end included."""
    header = log_header(log)
    order: ByteOrder = header[0] if header is not None else "<" if sys.byteorder == "little" else ">"
    before = log[_LOG_HEADER_BYTES - 8 : _LOG_HEADER_BYTES]
    size = _FRAME_HEADER_BYTES + _PAGE_BYTES
    for start in range(_LOG_HEADER_BYTES, len(log) - size + 1, size):
        head, page = log[start : start + _FRAME_HEADER_BYTES], log[start + _FRAME_HEADER_BYTES : start + size]
        first, second = struct.unpack(">2I", before)
        before = head[16:]
        sums = sum_words(order, page, sum_words(order, head[:8], (first, second)))
        number, pages = struct.unpack(">2I", head[:8])
        yield _Frame(number, pages, head[8:16], page, struct.pack(">2I", *sums) == before)


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
