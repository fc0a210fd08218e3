"""The mark of the write-ahead log: how much of it is needed, noted beside it.

SQLite reads its log after a crash up to the first frame whose checksum is wrong, and takes that for the end: for a
commit that the crash cut short. A frame that was damaged later looks the same, and what stood behind it, confirmed
writes, would be gone without a word. So after each commit the number of frames that the log has is noted in a file of
its own, and whoever opens the database compares.

    ROWKEY 5f3c9a1e00d271b4 0000000417 9c1d03aa

The file is never synced: it costs 2 us a commit. It is written after the log was synced, so what it says is never more
than what the log had on disk; after a power cut it may say less, or speak of a log that was begun anew meanwhile (which
has other salts, and is not judged by it). The log is begun anew only when all of it is in the database, and then the
mark says that nothing of it is needed.
"""

import logging
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from zlib import crc32

log = logging.getLogger(__name__)

MARK_NAME = "rowkey.mark"
_HEADER_BYTES = 32
_MAGIC = (0x377F0682, 0x377F0683)
"""How a log begins: with checksums of little or of big endian words, https://www.sqlite.org/fileformat2.html#walformat"""

ByteOrder = Literal["<", ">"]
Sums = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Needed:
    """The frames of the log with these salts that hold confirmed writes."""

    salts: bytes
    frames: int


class LogMark:
    """The mark of the log beside `database`, kept by the process that writes."""

    def __init__(self, database: Path) -> None:
        self._log = log_of(database)
        self._descriptor = os.open(database.parent / MARK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        self._salts: bytes | None = None

    def put(self, frames: int) -> None:
        """A commit is on disk, and the log has so many frames now."""
        if self._salts is None:
            self._salts = read_salts(self._log)
        if self._salts is not None:
            self._write(Needed(self._salts, frames))

    def clear(self) -> None:
        """All of the log is in the database, so the next commit may begin it anew."""
        self.look_again()
        self._write(Needed(bytes(8), 0))

    def look_again(self) -> None:
        """The log may have been begun anew by the next commit."""
        self._salts = None

    def close(self) -> None:
        os.close(self._descriptor)

    def _write(self, needed: Needed) -> None:
        try:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, format_mark(needed))
        except OSError as error:  # the mark says less than it could, which is safe
            log.warning("the mark of the log cannot be written: %s", error)


def log_of(database: Path) -> Path:
    """The write-ahead log of a database."""
    return database.with_name(database.name + "-wal")


def missing_frames(database: Path, frames: int) -> int:
    """How many frames that are needed the log of a database lacks, where SQLite found `frames` in it."""
    needed = read_mark(database.parent / MARK_NAME)
    if needed is None or needed.frames <= frames:
        return 0
    salts = read_salts(log_of(database))
    return needed.frames - frames if salts is None or salts == needed.salts else 0


def read_salts(log_file: Path) -> bytes | None:
    """The two salts in the header of a log; None where there is no log or its header is damaged."""
    try:
        with log_file.open("rb") as file:
            header = log_header(file.read(_HEADER_BYTES))
    except OSError:
        return None
    return None if header is None else header[1]


def log_header(log_bytes: bytes) -> tuple[ByteOrder, bytes, Sums] | None:
    """The byte order of a log's checksums, its salts, and the checksum of its header; None where that is damaged."""
    header = log_bytes[:_HEADER_BYTES]
    if len(header) < _HEADER_BYTES or int.from_bytes(header[:4], "big") not in _MAGIC:
        return None
    order: ByteOrder = ">" if header[3] & 1 else "<"
    sums = sum_words(order, header[:24], (0, 0))
    return (order, header[16:24], sums) if struct.pack(">2I", *sums) == header[24:] else None


def sum_words(order: ByteOrder, data: bytes, sums: Sums) -> Sums:
    """The checksum that SQLite has in its logs, and the checksum VFS on its pages, going on from `sums`."""
    first, second = sums
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for one, other in zip(words, words, strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second


def format_mark(needed: Needed) -> bytes:
    """The line of a mark; all have the same length."""
    line = b"ROWKEY %b %010d " % (needed.salts.hex().encode(), needed.frames)
    return line + b"%08x\n" % crc32(line)


def read_mark(path: Path) -> Needed | None:
    """What a mark says; None where there is none or it cannot be understood."""
    try:
        line = path.read_bytes()
        name, salts, frames, _ = line.split()
        needed = Needed(bytes.fromhex(salts.decode()), int(frames))
    except (OSError, ValueError):
        return None
    return needed if name == b"ROWKEY" and line == format_mark(needed) else None
