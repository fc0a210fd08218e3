"""The `rowkey check`, `rowkey salvage` and `rowkey backup` commands: a data folder is looked at, rescued, copied.

Exit codes: 0 where nothing is wrong or lost, 1 where the command could not be carried out, 3 where something is.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from rowkey.store.embedded.backup import back_up
from rowkey.store.embedded.check import find_all
from rowkey.store.embedded.database import open_to_look
from rowkey.store.embedded.folder import DATABASE_NAME, DataFolder, FolderDamaged, FolderError, verify_begun
from rowkey.store.embedded.salvage import salvage

FAILURE_EXIT_CODE = 1
FOUND_EXIT_CODE = 3
_FINDINGS_MAX = 1000


def run_command(options: argparse.Namespace) -> int:
    """Run one of the commands and return its exit code."""
    try:
        if options.command == "check":
            return _check(options.folder)
        if options.command == "salvage":
            return _salvage(options.folder, options.new_folder)
        return _backup(options.folder, options.file)
    except (FolderError, OSError) as error:
        print(f"rowkey: {error}", file=sys.stderr)
        return FAILURE_EXIT_CODE


def _check(path: Path) -> int:
    verify_begun(path)
    folder = DataFolder(path)
    count = 0
    try:
        for finding in _findings(folder):
            count += 1
            print(finding)
            if count == _FINDINGS_MAX:
                print("... and perhaps more")
                break
    finally:
        folder.release()
    if count:
        print(
            f"{folder.database} is damaged: restore a backup, or salvage what is intact: rowkey salvage {path} NEWDIR"
        )
        return FOUND_EXIT_CODE
    print(f"{folder.database} is sound.")
    return 0


def _findings(folder: DataFolder) -> Iterator[str]:
    try:
        connection = open_to_look(folder)
    except FolderDamaged as error:
        yield str(error)
        return
    try:
        yield from find_all(connection)
    finally:
        connection.close()


def _salvage(path: Path, new_path: Path) -> int:
    verify_begun(path)
    if new_path.exists() and new_path.samefile(path):
        raise FolderError(f"{path} cannot be salvaged into itself. Name a folder that is new.")
    old = DataFolder(path)
    try:
        new = DataFolder(new_path)
        try:
            outcome = salvage(old, new)
        finally:
            new.release()
    finally:
        old.release()
    for loss in outcome.losses:
        print(f"lost: {loss}")
    print(f"{new_path} has {outcome.tables} tables with {outcome.entities} entities.")
    return FOUND_EXIT_CODE if outcome.losses else 0


def _backup(path: Path, file: Path) -> int:
    verify_begun(path)
    back_up(path / DATABASE_NAME, file)
    print(f"{file} is a copy of {path / DATABASE_NAME}.")
    return 0
