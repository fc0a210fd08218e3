"""Checksums: one on each page of the database file, and one beside each entity.

SQLite itself has none on the pages of a database. Its checksum VFS (https://www.sqlite.org/cksumvfs.html), which comes
with apsw as a loadable extension, keeps eight bytes at the end of each page, writes them when a page goes to the file,
and verifies them when one is read: a page that is damaged is an error (`SQLITE_IOERR_DATA`), never an answer. It is
C, and costs about 1 us for each page that is not in memory.

A page's checksum does not say which page it is, and another program may have written the file without it. So each
entity has a CRC-32 of its own, over its key and its text; `rowkey check` and `rowkey salvage` go by it, and so does
the check of small files at open (`check.py`).
"""

from functools import cache
from zlib import crc32

import apsw
import apsw.sqlite_extra

from rowkey.store.embedded.folder import FolderError

PAGE_CHECKSUM_BYTES = 8
"""What the checksum VFS reserves at the end of a page; it does nothing where another number is reserved."""


@cache
def load_page_checksums() -> None:
    """Let connections that are opened from now on write and verify checksums of pages; raises FolderError."""
    connection = apsw.Connection(":memory:")
    try:
        apsw.sqlite_extra.load(connection, "cksumvfs")
    except (LookupError, apsw.sqlite_extra.NotAvailable, apsw.Error) as error:
        raise FolderError(
            f"SQLite's checksums of pages are not available: {error}. "
            "Install apsw as it is published on PyPI, which has them."
        ) from None
    finally:
        connection.close()


def entity_checksum(code: bytes, text: str) -> int:
    """The checksum of an entity with this key code and this wire text, which is ASCII."""
    return crc32(text.encode("ascii"), crc32(code))
