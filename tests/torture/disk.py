"""A disk that can lose power and that can fail: a file system for SQLite, made of a real one and a notebook.

`Disk` stands between SQLite and the real files (`apsw.VFS`). Everything reaches the real files at once, so that SQLite
works as ever; what a power cut would leave is noted beside them. A disk promises no more than this:

* what was written before a sync of its file is there;
* of what was written since, any sectors may be there and any may not, in any order;
* a name is there once its folder was synced, and one that was removed may come back until then.

`after_power_cut` makes a folder of one of the states that this allows.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from rowkey.store.embedded.checksums import load_page_checksums
from rowkey.store.embedded.folder import DataFolder

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

SECTOR = 512
_FAILURES = {
    "open": apsw.SQLITE_CANTOPEN,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "delete": apsw.SQLITE_IOERR_DELETE,
    "sync-folder": apsw.SQLITE_IOERR_DIR_FSYNC,
}
"""What SQLite says when a call fails."""
_LOGS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL


def failure(call: str) -> Exception:
    """The error of a call that fails, as SQLite knows it."""
    return apsw.exception_for(_FAILURES[call])


class _Inode:
    """A file without its name: what is surely on the disk, and the changes that may be."""

    def __init__(self) -> None:
        self.synced = b""
        self.pending: list[tuple[int, bytes] | int] = []
        """Bytes written at an offset, or a length to which the file was cut."""


class Disk:
    """The disk under a folder, from the beginning of its life; `before` is asked before each call to it.

    `before(call, name)` is told of each call by its name (`_FAILURES`), and may raise its `failure`.
    """

    def __init__(self, before: Callable[[str, str], None] | None = None) -> None:
        self.before = before or (lambda _call, _name: None)
        self._files: dict[str, _Inode] = {}
        self._names_synced: dict[str, _Inode] = {}

    # ------------------------------------------------------------ noting

    def opened(self, name: str) -> None:
        """A file is open; it may be new."""
        self._files.setdefault(name, _Inode())

    def written(self, name: str, offset: int, data: bytes) -> None:
        self._files[name].pending.append((offset, data))

    def truncated(self, name: str, size: int) -> None:
        self._files[name].pending.append(size)

    def synced(self, name: str) -> None:
        file = self._files[name]
        file.synced = _apply(file.synced, file.pending)
        file.pending.clear()

    def not_synced(self, name: str) -> None:
        """A sync failed: programs still see what they wrote, and the disk will never have it.

        So it is on Linux, where the pages count as clean after the error, and a later sync succeeds without them.
        """
        self._files[name].pending.clear()

    def deleted(self, name: str) -> None:
        self._files.pop(name, None)

    def folder_synced(self) -> None:
        self._names_synced = dict(self._files)

    # ------------------------------------------------------------ losing power

    def what_is_synced(self, folder: Path) -> None:
        """Fill an empty folder with what is surely left if the power went now."""
        for name, file in self._names_synced.items():
            (folder / name).write_bytes(file.synced)

    def after_power_cut(self, folder: Path, chance: random.Random) -> None:
        """Fill an empty folder with what may be left if the power went now."""
        for name in sorted({*self._files, *self._names_synced}):
            now, before = self._files.get(name), self._names_synced.get(name)
            file = now if now is before or chance.random() < 0.5 else before
            if file is not None:
                (folder / name).write_bytes(_some_of(file, chance))


def _apply(content: bytes, changes: list[tuple[int, bytes] | int]) -> bytes:
    image = bytearray(content)
    for change in changes:
        if isinstance(change, int):
            del image[change:]
            image.extend(bytes(change - len(image)))
        else:
            offset, data = change
            image.extend(bytes(max(0, offset - len(image))))
            image[offset : offset + len(data)] = data
    return bytes(image)


def _some_of(file: _Inode, chance: random.Random) -> bytes:
    """The file with some sectors of what was not synced: none, all, or any."""
    fate = chance.random()
    if fate < 0.2:
        return file.synced
    if fate < 0.4:
        return _apply(file.synced, file.pending)
    sectors: list[tuple[int, bytes] | int] = []
    for change in file.pending:
        if isinstance(change, int):
            sectors.append(change)
            continue
        offset, data = change
        while data:
            size = SECTOR - offset % SECTOR
            sectors.append((offset, data[:size]))
            offset, data = offset + size, data[size:]
    kept = [sector for sector in sectors if chance.random() < 0.6]
    if fate < 0.7:
        chance.shuffle(kept)
    return _apply(file.synced, kept)


# ---------------------------------------------------------------- between SQLite and the files


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, path: str | apsw.URIFilename, flags: list[int], base: str) -> None:
        self._path = Path(path if isinstance(path, str) else path.filename())
        self._name = self._path.name
        self._disk = disk
        self._is_log = bool(flags[0] & _LOGS)
        self._is_named = False
        disk.before("open", self._name)
        super().__init__(base, path, flags)
        disk.opened(self._name)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.before("write", self._name)
        super().xWrite(data, offset)
        # As it is in the file: the layer of checksums below has added its own.
        with self._path.open("rb") as file:
            written = os.pread(file.fileno(), len(data), offset)
        self._disk.written(self._name, offset, written)

    def xTruncate(self, size: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.before("truncate", self._name)
        super().xTruncate(size)
        self._disk.truncated(self._name, size)

    def xSync(self, _flags: int) -> None:  # noqa: N802 - SQLite's name
        try:
            self._disk.before("sync", self._name)
        except Exception:
            self._disk.not_synced(self._name)
            raise
        self._disk.synced(self._name)  # the real file need not be, which saves most of the time
        if self._is_log and not self._is_named:
            # SQLite syncs the folder with the first sync of a new journal or log (unixSync, UNIXFILE_DIRSYNC).
            self._is_named = True
            self._disk.folder_synced()


class _FileSystem(apsw.VFS):
    def __init__(self, name: str, disk: Disk, base: str) -> None:
        self._disk = disk
        self._base = base
        super().__init__(name, base)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        if name is None:  # a temporary file
            return apsw.VFSFile(self._base, name, flags)
        return _File(self._disk, name, flags, self._base)

    def xDelete(self, filename: str, sync_folder: bool) -> None:  # noqa: N802 - SQLite's name
        self._disk.before("delete", Path(filename).name)
        super().xDelete(filename, sync_folder)
        self._disk.deleted(Path(filename).name)
        if sync_folder:
            self._disk.folder_synced()


@contextmanager
def mounted(disk: Disk) -> Iterator[None]:
    """Let all databases that are opened meanwhile be on this disk."""
    load_page_checksums()
    sync = DataFolder.sync

    def noted_sync(folder: DataFolder) -> None:
        disk.before("sync-folder", folder.path.name)
        disk.folder_synced()

    file_system = _FileSystem("torture", disk, "cksmvfs")
    apsw.set_default_vfs("torture")
    DataFolder.sync = noted_sync  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        DataFolder.sync = sync  # type: ignore[method-assign]
        apsw.set_default_vfs("cksmvfs")
        file_system.unregister()
