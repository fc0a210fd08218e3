"""The data folder: made, checked, and held by one owner at a time.

DIR/rowkey.db       the SQLite database, with rowkey.db-wal and rowkey.db-shm while in use
DIR/rowkey.mark     how much of the log holds confirmed writes (`mark.py`)
DIR/rowkey.lock     locked by the process that owns the folder; its process id is inside
DIR/logs/           the request log, where storage analytics is asked for one
DIR/tls/            the certificate that the server made for itself, and its key, with `--tls auto`

A process that the owner forks has the lock in common with it: `flock` goes with the open file, not with the process.
So the folder is free when the last of them has ended, and whoever wants it waits a moment for workers whose owner was
killed.
"""

import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rowkey.store.embedded.mark import MARK_NAME, log_of

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

DATABASE_NAME = "rowkey.db"
LOCK_NAME = "rowkey.lock"
_LOCKED_OFFSET = 1 << 30
"""Where Windows locks a byte: away from the process id, which others want to read."""
_ORPHANS_SECONDS_MAX = 5.0
"""For the workers of an owner that is no more; they end as soon as they notice."""
_POLL_SECONDS = 0.05
FULL = (errno.ENOSPC, errno.EDQUOT)
"""What the system says of a disk, or of a user's share of it, that has no room."""
_ELSEWHERE = "name another folder (for a server: --data)"


class FolderError(Exception):
    """The folder cannot be used; the message says why and what to do."""


class FolderDamaged(FolderError):
    """What is in the folder is not as it was written, or not all there."""


def verify_begun(path: Path) -> None:
    """Raise FolderError where no server has kept data that can be read; nothing is made there, not even a lock."""
    database = path / DATABASE_NAME
    try:
        if not stat.S_ISDIR(path.stat().st_mode):
            raise NotADirectoryError
        sizes = [_size_of(file) for file in (database, log_of(database), path / MARK_NAME)]
        if not may_use(database, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(database))
    except (FileNotFoundError, NotADirectoryError):
        raise FolderError(f"{path} is not a folder.") from None
    except PermissionError as error:
        raise _unreadable(error) from None
    if not any(sizes):
        what = f"There is no {DATABASE_NAME} in {path}" if sizes[0] is None else f"{DATABASE_NAME} in {path} is empty"
        raise FolderError(f"{what}, so there are no data. Name a folder that a server has kept data in.")


def _unreadable(error: OSError) -> FolderError:
    return FolderError(f"{error.filename} cannot be read: {error.strerror}. Run it as the user who runs the server.")


def verify_name(path: Path) -> None:
    """Raise FolderError for a name that SQLite cannot be given."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise FolderError(
            f"The name {os.fsencode(path)!r} is not UTF-8, as names have to be for SQLite. Rename it, or name another."
        ) from None


def may_use(path: Path, mode: int) -> bool:
    """Whether this user has the rights of `mode` (`os.R_OK`, `os.W_OK`) to a file or folder, or it is not there.

    It is asked for, not tried: to close a file that SQLite has open elsewhere in the process would end SQLite's locks.
    """
    return not os.access(path, os.F_OK) or os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def sync(path: Path) -> None:
    """Make a file, or the names of the files in a folder, durable; not on Windows, where a folder cannot be opened."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def kept_from_servers(path: Path) -> Iterator[None]:
    """A folder that no server runs on meanwhile, and that need not be writable; raises FolderError."""
    try:
        descriptor = os.open(path / LOCK_NAME, os.O_RDONLY)
    except FileNotFoundError:  # there never was one
        yield
        return
    except OSError as error:
        raise _unreadable(error) from None
    try:
        try:
            _lock(descriptor)
        except OSError:
            raise FolderError(f"The data folder {path} is in use. Try again, or stop the server first.") from None
        yield
    finally:
        os.close(descriptor)


class DataFolder:
    """A data folder that this process owns until `release`, and those that it forks until they end, too."""

    def __init__(self, path: Path) -> None:
        """Make the folder if need be and take it; raises FolderError."""
        self.path = path
        verify_name(path)
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except NotADirectoryError:
            raise FolderError(f"{path} is not a folder: {_ELSEWHERE}.") from None
        except FileExistsError:
            raise FolderError(f"{path} is a file, not a folder: {_ELSEWHERE}.") from None
        except OSError as error:
            is_lock = error.filename == str(path / LOCK_NAME) and os.access(error.filename, os.F_OK)
            what = error.filename if is_lock else f"The data folder {path}"
            right = "Give this user the right to write it, run this as the user whose it is"
            remedy = "Make room on its disk" if error.errno in FULL else right
            raise FolderError(f"{what} cannot be written: {error.strerror}. {remedy}, or {_ELSEWHERE}.") from None
        try:
            _lock_when_free(descriptor)
        except OSError:
            owner = _read_owner(descriptor)
            os.close(descriptor)
            what = f"another Rowkey process{f' (pid {owner})' if owner else ''}"
            if owner and not _is_running(owner):
                what = f"the workers of a Rowkey process that has ended (pid {owner})"
            raise FolderError(
                f"The data folder {path} is in use by {what}. Stop that one first, or {_ELSEWHERE}."
            ) from None
        with suppress(OSError):  # the process id is for messages: a disk that is full does not keep reads from clients
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, f"{os.getpid()}\n".encode("ascii"))
        self._descriptor = descriptor
        self._owner = os.getpid()

    @property
    def database(self) -> Path:
        """The file of the database."""
        return self.path / DATABASE_NAME

    @property
    def mark(self) -> Path:
        """The mark of the database's log."""
        return self.path / MARK_NAME

    @property
    def files(self) -> list[Path]:
        """Where the files are, or would be, that make up the database."""
        return [self.database, log_of(self.database), self.database.with_name(f"{DATABASE_NAME}-shm"), self.mark]

    def sync(self) -> None:
        """Make the names of its files durable."""
        sync(self.path)

    def release(self) -> None:
        """Let another process have the folder. The lock goes with the descriptor; the file stays."""
        if os.getpid() == self._owner:
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def _size_of(file: Path) -> int | None:
    """None where there is no such file."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return None


def _lock_when_free(descriptor: int) -> None:
    """Take the lock file, or raise OSError: at once, but for a folder whose owner has left nothing but workers."""
    deadline = time.monotonic() + _ORPHANS_SECONDS_MAX
    while True:
        try:
            _lock(descriptor)
            return
        except OSError:
            owner = _read_owner(descriptor)
            if not owner or _is_running(owner) or time.monotonic() > deadline:
                raise
        # When the lock is free a worker's sockets may still be closing; after this pause they are closed, too.
        time.sleep(_POLL_SECONDS)


def _read_owner(descriptor: int) -> int:
    """The process id in the lock file, 0 where there is none."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    text = os.read(descriptor, 32).strip()
    return int(text) if text.isdigit() else 0


def _is_running(process: int) -> bool:
    """Whether there is a process with this id; on Windows, where the lock never outlives its owner, always yes."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # another user's
    return True


def _lock(descriptor: int) -> None:
    """Take the lock file, or raise OSError at once; the lock goes with the descriptor."""
    if sys.platform == "win32":
        os.lseek(descriptor, _LOCKED_OFFSET, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
