"""The schema in the database: made, upgraded, and known before anything is served.

    rowkey db init URL [--citus]    rowkey db upgrade URL    rowkey db status URL

The version in the database counts the migrations that have been made; a server serves the newest one and no other.
"""

import asyncio
import logging
import time
from typing import NamedTuple

import asyncpg

from rowkey.config import describe_store
from rowkey.store.postgres import definitions, statements
from rowkey.store.postgres.failures import ERRORS, is_lost, is_transient
from rowkey.store.postgres.session import Connection, connect

log = logging.getLogger(__name__)

_REMIND_SECONDS = 30.0
_ATTEMPT_SECONDS = 0.5


class DatabaseError(Exception):
    """The database cannot be used; the message says why and what to do."""


class Status(NamedTuple):
    """The version of the schema in a database, None where there is none, and whether Citus spreads it."""

    version: int | None
    is_sharded: bool

    @property
    def text(self) -> str:
        """For people."""
        if self.version is None:
            return "no schema of Rowkey's: make one with `rowkey db init URL`"
        spread = ", sharded by Citus" if self.is_sharded else ""
        if self.version == definitions.VERSION:
            return f"schema version {self.version}{spread}, the one that this version of Rowkey serves"
        what = "run `rowkey db upgrade URL`" if self.version < definitions.VERSION else "install a newer Rowkey"
        return f"schema version {self.version}{spread}, and this version of Rowkey serves {definitions.VERSION}: {what}"


async def read_status(url: str) -> Status:
    """What is in the database; raises DatabaseError."""
    connection = await open_connection(url)
    try:
        return await _read_status(connection)
    except ERRORS as error:
        raise DatabaseError(f"{describe_store(url)} cannot be read: {explain(error)}.") from error
    finally:
        await connection.close()


async def init(url: str, *, is_sharded: bool) -> None:
    """Make the schema; raises DatabaseError, also where there is one."""
    await _migrate(url, is_sharded=is_sharded, is_new=True)


async def upgrade(url: str) -> Status:
    """Bring the schema to the newest version; returns what it was. Raises DatabaseError."""
    return await _migrate(url, is_sharded=False, is_new=False)


async def _migrate(url: str, *, is_sharded: bool, is_new: bool) -> Status:
    connection = await open_connection(url)
    try:
        if is_sharded or (await _read_status(connection)).is_sharded:
            await _prepare_nodes(connection, url)
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(hashtext('rowkey.schema_version'))")
            status = await _read_status(connection)
            if is_new and status.version is not None:
                raise DatabaseError(f"{describe_store(url)} has a schema already: {status.text}.")
            if not is_new:
                if status.version is None or status.version > definitions.VERSION:
                    raise DatabaseError(f"{describe_store(url)} has {status.text}.")
                is_sharded = status.is_sharded
            for version in range((status.version or 0) + 1, definitions.VERSION + 1):
                await connection.execute(definitions.MIGRATIONS[version])
                if is_sharded:
                    await connection.execute(definitions.SHARDING[version])
            await connection.execute(
                definitions.SET_VERSION.format(version=definitions.VERSION, is_sharded=str(is_sharded).lower())
            )
            return status
    except ERRORS as error:
        advice = _RIGHTS if is_new and isinstance(error, asyncpg.InsufficientPrivilegeError) else ""
        raise DatabaseError(f"{describe_store(url)} cannot be changed: {explain(error)}.{advice}") from error
    finally:
        await connection.close()


async def _prepare_nodes(connection: Connection, url: str) -> None:
    """See to it that Citus has nodes for the data, and what sessions on them begin with; raises DatabaseError."""
    has_citus = await connection.fetchval(definitions.HAS_CITUS)
    if not has_citus or not await connection.fetchval(definitions.COUNT_NODES):
        why = "no node for the data" if has_citus else "no extension citus"
        raise DatabaseError(
            f"{describe_store(url)} has {why}: create the extension in this database of every node, then call "
            "citus_set_coordinator_host here, and citus_add_node for each worker; to have all data on this node, call "
            "citus_set_node_property with 'shouldhaveshards' instead (docs/how-to/scale.md)."
        )
    for node, port, result in await connection.fetch(definitions.ON_WORKERS, statements.SESSIONS_OF_NODE):
        why = " ".join(result.split()).rstrip(".")
        raise DatabaseError(f"{describe_store(url)} has a node {node}:{port} that cannot be set up: {why}.")


async def open_connection(url: str) -> Connection:
    """A connection, now or not at all; raises DatabaseError."""
    try:
        return await connect(url)
    except Exception as error:
        raise _not_opened(url, error) from error


async def wait_for_schema(url: str) -> Status:
    """Wait until there is a database, and see to it that it has the schema that is served here.

    Raises DatabaseError where waiting is no use: nobody may log in, there is no such database, or its schema is not
    known here.
    """
    reminded = 0.0
    while True:
        try:
            connection = await connect(url)
            try:
                status = await _read_status(connection)
            finally:
                await connection.close()
        except Exception as error:
            if not _may_pass(error):
                raise _not_opened(url, error) from error
            if not reminded or time.monotonic() > reminded + _REMIND_SECONDS:
                reminded = time.monotonic()
                log.warning("waiting for the database %s: %s", describe_store(url), explain(error))
            await asyncio.sleep(_ATTEMPT_SECONDS)
            continue
        if status.version != definitions.VERSION:
            raise DatabaseError(f"{describe_store(url)} has {status.text}.")
        return status


def _may_pass(error: Exception) -> bool:
    """Whether a database that could not be reached may be there later."""
    return is_transient(error) or is_lost(error)


def _not_opened(url: str, error: Exception) -> DatabaseError:
    """Why a database cannot be opened, and what to do where that is known."""
    text, advice = explain(error), ""
    if isinstance(error, asyncpg.InvalidCatalogNameError):
        advice = " Make it with: createdb --owner USER NAME"
    elif isinstance(error, asyncpg.InvalidAuthorizationSpecificationError) and "does not exist" in text:
        advice = " Make it with: createuser --pwprompt USER"
    elif isinstance(error, OSError) and "SSL" not in text:
        advice = " Start it, or look at host and port."
    return DatabaseError(f"{describe_store(url)} cannot be opened: {text}.{advice}")


_RIGHTS = " Its owner must do this, or: GRANT CREATE ON DATABASE NAME TO USER"


def explain(error: BaseException) -> str:
    """An error of the database's, in one line."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


async def _read_status(connection: Connection) -> Status:
    if not await connection.fetchval(definitions.FIND_VERSION):
        return Status(None, False)
    row = await connection.fetchrow(definitions.GET_VERSION)
    return Status(None, False) if row is None else Status(row["version"], row["is_sharded"])
