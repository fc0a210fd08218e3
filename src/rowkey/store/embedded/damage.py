"""What an error of SQLite means: a file that is not as it was written, or something that may pass."""

import logging
from pathlib import Path

import apsw

from rowkey.errors import ServiceError
from rowkey.store.embedded.folder import FULL
from rowkey.store.interface import StoreDamaged, StoreUnavailable

log = logging.getLogger(__name__)


def unreadable(database: Path, error: apsw.Error) -> ServiceError:
    """What is raised where a read failed, after the log has been told of the file and the reason."""
    if is_damage(error):
        log.error("%s is damaged: %s. `rowkey check` says where", database, explain(error))
        return StoreDamaged()
    log.error("%s cannot be read: %s", database, explain(error))
    return StoreUnavailable()


def is_damage(error: apsw.Error) -> bool:
    """Whether an error says that a file is not as it was written; others may pass, as when a disk is full."""
    if isinstance(error, apsw.IOError):
        return _is_of_checksum(error)
    # A body that is no JSONB is an SQLError.
    return isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.SQLError)


def is_full(error: BaseException) -> bool:
    """Whether an error says that a disk has no room."""
    if isinstance(error, OSError):
        return error.errno in FULL
    return isinstance(error, apsw.FullError) or _is_of_log_index(error)


def explain(error: apsw.Error) -> str:
    """An error of SQLite in a few words."""
    if _is_of_log_index(error):
        return "there is no room for rowkey.db-shm, the index of its log"
    if _is_of_checksum(error):
        return "a page is not as it was written, its checksum says"
    return f"{type(error).__name__}: {error}"


def _is_of_log_index(error: BaseException) -> bool:
    """Whether SQLite could not make the index of the log as large as it has to be."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE


def _is_of_checksum(error: apsw.Error) -> bool:
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA
