"""The data folder: made, checked, and held by one owner at a time.

DIR/rowkey.db       the SQLite database, with rowkey.db-wal and rowkey.db-shm while in use
DIR/rowkey.lock     locked by the process that owns the folder; its process id is inside

A process that the owner forks has the lock in common with it: `flock` goes with the open file, not with the process.
So the folder is free when the last of them has ended, and whoever wants it waits a moment for workers whose owner was
killed.
"""

import os
import sys
import time
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
_ELSEWHERE = "name another folder (for a server: --data)"


class FolderError(Exception):
    """The folder cannot be used; the message says why and what to do."""


class FolderDamaged(FolderError):
    """What is in the folder is not as it was written, or not all there."""


def verify_begun(path: Path) -> None:
    """Raise FolderError where no server has kept data; nothing is made there, not even a lock."""
    if not path.is_dir():
        raise FolderError(f"{path} is not a folder.")
    database = path / DATABASE_NAME
    if not any(file.exists() and file.stat().st_size for file in (database, log_of(database), path / MARK_NAME)):
        what = f"{DATABASE_NAME} in {path} is empty" if database.exists() else f"There is no {DATABASE_NAME} in {path}"
        raise FolderError(f"{what}, so there are no data. Name a folder that a server has kept data in.")


class DataFolder:
    """A data folder that this process owns until `release`, and those that it forks until they end, too."""

    def __init__(self, path: Path) -> None:
        """Make the folder if need be and take it; raises FolderError."""
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except NotADirectoryError:
            raise FolderError(f"{path} is not a folder: {_ELSEWHERE}.") from None
        except FileExistsError:
            raise FolderError(f"{path} is a file, not a folder: {_ELSEWHERE}.") from None
        except OSError as error:
            raise FolderError(
                f"The data folder {path} cannot be written: {error.strerror}. "
                f"Give this user the right to write it, or {_ELSEWHERE}."
            ) from None
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
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"{os.getpid()}\n".encode("ascii"))
        self._descriptor = descriptor
        self._owner = os.getpid()

    @property
    def database(self) -> Path:
        """The file of the database."""
        return self.path / DATABASE_NAME

    def sync(self) -> None:
        """Make the names of files in the folder durable, where a folder can be opened for that."""
        if sys.platform == "win32":
            return
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def release(self) -> None:
        """Let another process have the folder. The lock goes with the descriptor; the file stays."""
        if os.getpid() == self._owner:
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


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
