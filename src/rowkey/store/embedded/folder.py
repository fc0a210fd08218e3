"""The data folder: made, checked, and held by one owner at a time.

DIR/rowkey.db       the SQLite database, with rowkey.db-wal and rowkey.db-shm while in use
DIR/rowkey.lock     locked by the process that owns the folder; its process id is inside
"""

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

DATABASE_NAME = "rowkey.db"
LOCK_NAME = "rowkey.lock"
_LOCKED_OFFSET = 1 << 30
"""Where Windows locks a byte: away from the process id, which others want to read."""


class FolderError(Exception):
    """The folder cannot be used; the message says why and what to do."""


class DataFolder:
    """A data folder that this process owns until `release`."""

    def __init__(self, path: Path) -> None:
        """Make the folder if need be and take it; raises FolderError."""
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except NotADirectoryError:
            raise FolderError(f"{path} is not a folder. Name another one with --data.") from None
        except FileExistsError:
            raise FolderError(f"{path} is a file, not a folder. Name another one with --data.") from None
        except OSError as error:
            raise FolderError(
                f"The data folder {path} cannot be written: {error.strerror}. "
                "Give this user the right to write it, or name another one with --data."
            ) from None
        try:
            _lock(descriptor)
        except OSError:
            owner = os.read(descriptor, 32).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise FolderError(
                f"The data folder {path} is in use by another Rowkey process{f' (pid {owner})' if owner else ''}. "
                "Stop that one first, or name another folder with --data."
            ) from None
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"{os.getpid()}\n".encode("ascii"))
        self._descriptor = descriptor

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
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def _lock(descriptor: int) -> None:
    """Take the lock file, or raise OSError at once; the lock goes with the descriptor."""
    if sys.platform == "win32":
        os.lseek(descriptor, _LOCKED_OFFSET, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
