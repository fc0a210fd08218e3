"""The `rowkey db` commands: a database for `rowkey serve --store` is made, upgraded, looked at and filled."""

import argparse
import asyncio
import sys

from rowkey.config import describe_store, parse_store


def run_command(options: argparse.Namespace) -> int:
    """Run one of the commands and return its exit code."""
    try:
        from rowkey.store.postgres.schema import DatabaseError
    except ModuleNotFoundError as error:
        return _fail(f"this needs {error.name}, which is not installed: pip install rowkey[postgres]")
    try:
        if options.action == "copy":
            return asyncio.run(_copy(options.source, options.target))
        print(asyncio.run(_change_schema(options)))
    except (ValueError, DatabaseError) as error:
        return _fail(str(error))
    return 0


async def _change_schema(options: argparse.Namespace) -> str:
    """Do what is asked for, and say what is there now."""
    from rowkey.store.postgres import schema

    url = parse_store(options.url)
    if options.action == "init":
        await schema.init(url, is_sharded=options.citus)
    elif options.action == "upgrade":
        await schema.upgrade(url)
    return f"{describe_store(url)} has {(await schema.read_status(url)).text}."


def _fail(message: str) -> int:
    print(f"rowkey: {message}", file=sys.stderr)
    return 1
