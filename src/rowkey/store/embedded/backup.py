"""A copy of a database in a single file, made beside a server or without one."""

from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from rowkey.store.embedded.checksums import load_page_checksums
from rowkey.store.embedded.damage import explain, is_full
from rowkey.store.embedded.database import is_complete_without_log, open_alone, open_to_read, read_format, unopened
from rowkey.store.embedded.folder import DATABASE_NAME, FolderError, kept_from_servers, sync, verify_name


def back_up(database: Path, file: Path) -> None:
    """Write one moment of a database to a new file, also while it is served; raises FolderError.

    The file gets its name when it is complete, so nothing that was cut short can be taken for a copy.
    """
    verify_name(database)
    verify_name(file)
    load_page_checksums()
    if not database.exists() or file.exists():
        raise FolderError(f"{file} is there already." if file.exists() else f"{database} does not exist.")
    try:
        with TemporaryDirectory(prefix="rowkey-backup-", dir=file.parent) as place:
            made = Path(place) / DATABASE_NAME
            _copy(database, made)
            sync(made)
            made.rename(file)
        with suppress(OSError):  # there are disks of other machines that cannot
            sync(file.parent)
    except (apsw.Error, OSError) as error:
        if is_full(error):
            raise FolderError(
                f"{file} was not made: the disk of {file.parent.absolute()} is full. "
                "Make room there, or name a file on another disk."
            ) from error
        if isinstance(error, OSError):
            raise FolderError(f"{file} cannot be made: {error.strerror}.") from error
        raise FolderError(f"{database} cannot be copied to {file}: {explain(error)}.") from error


def _copy(database: Path, file: Path) -> None:
    """Write one moment of a database to a new file."""

    def write(connection: apsw.Connection) -> None:
        with closing(connection):
            read_format(database, connection)
            connection.execute("VACUUM INTO ?", (str(file),))

    try:
        connection = open_to_read(database)
    except apsw.Error as error:
        if not is_complete_without_log(database, error):
            raise unopened(database, error) from error
        with kept_from_servers(database.parent):
            write(open_alone(database))
    else:
        write(connection)
