"""The `rowkey db` commands: a database for `rowkey serve --store` is made, upgraded, looked at and filled."""

import argparse
import asyncio
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

from rowkey.config import describe_lack, describe_store, is_store, parse_store
from rowkey.store.transfer import Archive, TransferError, copy

FAILURE_EXIT_CODE = 1
USAGE_EXIT_CODE = 2
_REPORT_SECONDS = 2.0


def run_command(options: argparse.Namespace) -> int:
    """Run one of the commands and return its exit code."""
    try:
        from rowkey.store.embedded.folder import FolderError
        from rowkey.store.postgres.schema import DatabaseError
    except ModuleNotFoundError as error:
        return _fail(f"this {describe_lack(error.name)}", FAILURE_EXIT_CODE)
    try:
        _verify_places(options)
    except ValueError as error:
        return _fail(str(error), USAGE_EXIT_CODE)
    try:
        if options.action == "copy":
            asyncio.run(_copy(options.source, options.target))
        else:
            print(asyncio.run(_change_schema(options)))
    except (OSError, DatabaseError, FolderError, TransferError) as error:
        return _fail(str(error), FAILURE_EXIT_CODE)
    return 0


def _verify_places(options: argparse.Namespace) -> None:
    """Raise ValueError where the command names no database, or the same folder twice."""
    if options.action != "copy":
        parse_store(options.url)
        return
    for place in (options.source, options.target):
        if is_store(place):
            parse_store(place)
    if not is_store(options.source) and Path(options.source).resolve() == Path(options.target).resolve():
        raise ValueError(f"{options.source} cannot be copied into itself. Name another target.")


async def _change_schema(options: argparse.Namespace) -> str:
    """Do what is asked for, and say what is there now."""
    from rowkey.store.postgres import schema

    url = options.url
    if options.action == "init":
        await schema.init(url, is_sharded=options.citus)
    elif options.action == "upgrade":
        await schema.upgrade(url)
    return f"{describe_store(url)} has {(await schema.read_status(url)).text}."


async def _copy(source: str, target: str) -> None:
    """Copy, say how far it is, and what was compared in the end."""
    async with AsyncExitStack() as stack:
        old = await _open_archive(source, is_new=False)
        stack.push_async_callback(old.close)
        new = await _open_archive(target, is_new=True)
        stack.push_async_callback(new.close)
        reported = time.monotonic()

        def report(table: str, entities: int) -> None:
            nonlocal reported
            if time.monotonic() > reported + _REPORT_SECONDS:
                reported = time.monotonic()
                print(f"{table}: {entities:,} entities so far", file=sys.stderr, flush=True)

        copied = await copy(old, new, report)
    for table, contents in copied.items():
        print(f"{table.account}/{table.name}: {contents.entities:,} entities, SHA-256 {contents.digest}")
    total = sum(contents.entities for contents in copied.values())
    print(f"{len(copied):,} tables with {total:,} entities are the same in both.")


async def _open_archive(place: str, *, is_new: bool) -> Archive:
    """A database where the place is a URL, else a data folder."""
    if is_store(place):
        from rowkey.store.postgres.archive import DatabaseArchive

        return await DatabaseArchive.open(place)
    from rowkey.store.embedded.archive import FolderArchive

    return FolderArchive.open(Path(place), is_new=is_new)


def _fail(message: str, code: int) -> int:
    print(f"rowkey: {message}", file=sys.stderr)
    return code
