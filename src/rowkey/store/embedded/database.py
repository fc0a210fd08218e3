"""The database file: opened, made or brought to today's format, and refused where it is damaged.

Damage must be found before anything is answered from it. What is looked at, and where it is found otherwise:

* a database that is missing or empty where there was one, and a log that lacks confirmed writes (`mark.py`): at open;
* a damaged page: whenever it is read (`checksums.py`);
* pages that are whole but not where they belong, and all else that `check.py` finds: at open, as long as the file is
  small enough to be read in a fraction of a second, else by `rowkey check`.
"""

import logging
import os
from pathlib import Path

import apsw

from rowkey.store.embedded import statements
from rowkey.store.embedded.check import find_damage
from rowkey.store.embedded.checksums import PAGE_CHECKSUM_BYTES, entity_checksum, load_page_checksums
from rowkey.store.embedded.damage import explain, is_damage, is_full
from rowkey.store.embedded.folder import (
    DataFolder,
    FolderDamaged,
    FolderError,
    may_use,
)
from rowkey.store.embedded.mark import LogMark, log_of, missing_frames

log = logging.getLogger(__name__)

CHECKED_AT_OPEN_BYTES_MAX = 24 * 1024 * 1024
"""The largest database that is checked whole when it is opened: about 0.1 s."""

WHAT_TO_DO = (
    "`rowkey check` says what is damaged, and `rowkey salvage` brings what is not into a new folder "
    "(docs/how-to/repair.md)."
)


def open_database(folder: DataFolder) -> apsw.Connection:
    """The writing connection of a folder's database, which is made or checked; raises FolderError.

    Its log stays when it is closed, but for `fold_and_close` or who does the same.
    """
    load_page_checksums()
    _verify_writable(folder)
    _verify_present(folder)
    try:
        connection = _open(folder)
        if not _has_page_checksums(connection):
            connection = _add_page_checksums(folder, connection)
    except apsw.Error as error:
        raise unopened(folder.database, error) from error
    return connection


def fold_and_close(folder: DataFolder, connection: apsw.Connection) -> None:
    """Close what `open_database` has opened, with its log folded into it; where that fails the log stays."""
    try:
        pages, folded = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        if folded == pages:
            mark = LogMark(folder.database)
            mark.clear()
            mark.close()
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    except apsw.Error as error:
        log.warning("folding the log into the database failed: %s", explain(error))
    finally:
        connection.close()


def unopened(database: Path, error: apsw.Error) -> FolderError:
    """What is raised where a database could not be opened."""
    if is_damage(error):
        return FolderDamaged(f"{database} is damaged: {explain(error)}. {WHAT_TO_DO}")
    remedy = " Its disk is full: make room there, 1 MiB or more, and try again." if is_full(error) else ""
    return FolderError(f"{database} cannot be opened: {explain(error)}.{remedy}")


def open_to_look(folder: DataFolder) -> apsw.Connection:
    """A connection that changes nothing, to a database of today's format with all of its log; raises FolderError."""
    load_page_checksums()
    _verify_present(folder)
    connection = None
    try:
        try:
            connection = open_to_read(folder.database)
        except apsw.Error as error:
            if not is_complete_without_log(folder.database, error):
                raise
            connection = open_alone(folder.database)
        _verify_log(folder, connection)
        form = read_format(folder.database, connection)
        if form != statements.FORMAT:
            raise FolderError(
                f"{folder.database} has format {form}. Start a server on it once, which brings it to today's."
            )
    except (apsw.Error, FolderError) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, FolderError):
            raise
        kind = FolderDamaged if is_damage(error) else FolderError
        raise kind(f"{folder.database} cannot be read: {explain(error)}.") from error
    return connection


def open_to_read(database: Path) -> apsw.Connection:
    """A connection that changes nothing, beside a server or not; raises apsw.Error."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def is_complete_without_log(database: Path, error: apsw.Error) -> bool:
    """Whether a database that could not be opened to read can be read alone: without files that cannot be made."""
    log_file = log_of(database)
    return not is_damage(error) and not (log_file.exists() and log_file.stat().st_size)


def open_alone(database: Path) -> apsw.Connection:
    """A connection that reads a database which has no log, and which nobody writes meanwhile; it makes no files."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"{database.absolute().as_uri()}?immutable=1", flags=flags)


def _verify_writable(folder: DataFolder) -> None:
    """Raise where this user lacks a right that a server needs: SQLite would find out with the first write."""
    for path in (folder.path, *folder.files):
        if not may_use(path, os.R_OK | os.W_OK):
            raise FolderError(
                f"{path} cannot be written: Permission denied. Give this user the right to it: chown USER {path}"
            )


def _verify_present(folder: DataFolder) -> None:
    """Raise where there was a database and is none: SQLite would begin a new one, and remove the log of the old."""
    database = folder.database
    is_there = database.exists() and database.stat().st_size > 0
    left = [path.name for path in (folder.mark, log_of(database)) if path.exists() and path.stat().st_size]
    if not is_there and left:
        raise FolderDamaged(
            f"{database} is missing or empty, although {' and '.join(left)} of it {'is' if len(left) == 1 else 'are'} "
            "here. Restore a backup into a new folder, or remove what is left to begin anew."
        )


def _open(folder: DataFolder) -> apsw.Connection:
    connection = apsw.Connection(str(folder.database), statementcachesize=64)
    try:
        # Nobody folds a log in passing: a damaged one would be at its end, and of any other the mark would not hear.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        is_new = connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
        _verify_log(folder, connection)  # first of all: without its log a young database looks like none
        if is_new:
            connection.reserve_bytes(reserve=PAGE_CHECKSUM_BYTES)
        else:
            form = read_format(folder.database, connection)
            _verify_small(folder, connection, form)
        connection.execute(statements.WRITER_PRAGMAS).fetchall()  # a statement that returns a row waits to be read
        if is_new:
            connection.execute(f"BEGIN IMMEDIATE; {statements.SCHEMA}; COMMIT")
            folder.sync()
        elif form < statements.FORMAT:
            _upgrade(folder, connection, form)
    except BaseException:
        connection.close()
        raise
    return connection


def read_format(database: Path, connection: apsw.Connection) -> int:
    """The format of a database that is there; raises FolderError unless this version can serve it."""
    if connection.pragma("application_id") != statements.APPLICATION_ID:
        raise FolderError(f"{database} is not a Rowkey database. Name another folder (for a server: --data).")
    form: int = connection.pragma("user_version")
    if form != statements.FORMAT and form not in statements.UPGRADES:
        raise of_unknown_format(database, form)
    return form


def of_unknown_format(database: Path, form: int) -> FolderError:
    """What is raised of a database that is for another version."""
    return FolderError(
        f"{database} has format {form}, and this version of Rowkey reads format {statements.FORMAT}. "
        "Use the version that wrote it, or name another folder (for a server: --data)."
    )


def _verify_log(folder: DataFolder, connection: apsw.Connection) -> None:
    """Raise unless SQLite found all of the log that is needed."""
    frames, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
    missing = missing_frames(folder.database, max(frames, 0))
    if missing:
        raise FolderDamaged(
            f"{log_of(folder.database)} is damaged: {missing} of its pages cannot be read, and with them confirmed "
            f"writes. {WHAT_TO_DO}"
        )


def _verify_small(folder: DataFolder, connection: apsw.Connection, form: int) -> None:
    """Raise where a database that is quickly read is damaged."""
    if form == statements.FORMAT and folder.database.stat().st_size <= CHECKED_AT_OPEN_BYTES_MAX:
        damage = next(find_damage(connection), None)
        if damage is not None:
            raise FolderDamaged(f"{folder.database} is damaged: {damage}. {WHAT_TO_DO}")


def _upgrade(folder: DataFolder, connection: apsw.Connection, form: int) -> None:
    """Bring an older format to today's, in one transaction."""
    connection.create_scalar_function("entity_checksum", _checksum, 2, deterministic=True)
    steps = "".join(statements.UPGRADES[older] for older in range(form, statements.FORMAT))
    connection.execute(f"BEGIN IMMEDIATE; {steps}; COMMIT")
    connection.create_scalar_function("entity_checksum", None)
    log.info("%s had format %s and now has format %s", folder.database, form, statements.FORMAT)


def _checksum(*arguments: object) -> int:
    """`entity_checksum` for SQL."""
    code, text = arguments
    assert isinstance(code, bytes)
    assert isinstance(text, str)
    return entity_checksum(code, text)


def _has_page_checksums(connection: apsw.Connection) -> bool:
    return bool(connection.reserve_bytes() == PAGE_CHECKSUM_BYTES)


def _add_page_checksums(folder: DataFolder, connection: apsw.Connection) -> apsw.Connection:
    """Write a database anew that was made without checksums of pages, as the formats before 3 were."""
    log.info("%s is written anew with checksums", folder.database)
    connection.reserve_bytes(reserve=PAGE_CHECKSUM_BYTES)
    connection.execute("VACUUM")
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()
    return _open(folder)
