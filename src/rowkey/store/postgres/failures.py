"""What an error of the database means: did anything happen, and is the connection still good?

An error that the server sends while it keeps the connection has undone the transaction, so nothing happened; some are
worth another attempt. When the connection ends in the midst of a write, nobody knows: the commit may have been made and
only its answer been lost. Neither is a write ever cancelled: one that waits for its standby and is cancelled is told
success, with a warning, while it is on one disk only.

A coordinator of Citus says with the same codes that it has lost a connection to another node, and keeps ours. Nothing
happened there either where that connection was not even made: a statement is sent over one that is open (Citus 13,
`ConnectionStateMachine` in `adaptive_executor.c`). But a call that it has handed on is committed by the other node, and
when it is cancelled while it waits for that, it knows no more than we do.
"""

import re

import asyncpg

RACED, CONDITION_FAILED, SEGMENT_GONE = "RK003", "RK001", "RK002"
"""What the function `rowkey.write` raises."""

_TRANSIENT = frozenset({"40001", "40P01", "55P03", "57014", "57P03"})
"""Serialisation failure, deadlock, lock not available, cancelled, cannot connect now."""
_TRANSIENT_CLASSES = ("53",)
"""Insufficient resources: too many connections, a full disk."""
_LOST = ("08", "57P01", "57P02", "57P04")
_STALE = frozenset({"25006", "25P02", "26000"})
"""Read-only transaction (after a failover, of what was the primary), a transaction that was left aborted, a prepared
statement that the server has no more."""
_FATAL = frozenset({"FATAL", "PANIC"})
_UNREACHED = re.compile(
    "could not establish any connections to the node "
    "|connection to the remote node .* failed with the following error: "
    '(connection to server at ".*" .*failed: |could not translate host name )'
)
"""What Citus says of a node that it could not connect to; libpq says the second half, of nothing but connecting."""
_SHARD_HAS_MOVED = re.compile(r'could not find valid entry for shard |relation ".*_\d{6,}" does not exist')
"""What Citus says while it moves a shard, and a node that has given one away: shards are numbered from 102008 on."""
_SAID_BY_NODE = "while executing command on "
"""What Citus adds to the context of an error that another node has sent."""
IN_DOUBT = frozenset({"01000", "57P01", "57P02"})
"""Warnings after which a write is on this server's disk, and perhaps on no other."""

ERRORS = asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError
"""What the database, or the way to it, may raise."""


class SegmentGone(Exception):
    """The segment that a statement names is not live: look the table up again."""


def is_lost(error: BaseException) -> bool:
    """Whether a connection has ended, so that nobody knows what became of a write that was sent over it."""
    if isinstance(error, asyncpg.PostgresError):
        state, text = str(error.sqlstate), str(error.args[0])
        # Citus has no better code than XX000 where a result is cut short.
        has_ended = state.startswith(_LOST) or (state == "XX000" and "connection" in text)
        return has_ended and not _UNREACHED.match(text)
    if isinstance(error, ValueError):  # an argument that asyncpg cannot send
        return False
    return isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError | OSError)


def is_cancelled_in_doubt(error: asyncpg.PostgresError) -> bool:
    """Whether a coordinator of Citus was cancelled itself, rather than the node that it has handed a write to."""
    return error.sqlstate == "57014" and _SAID_BY_NODE not in (error.context or "")


def is_transient(error: BaseException) -> bool:
    """Whether the server has undone the transaction for a reason that may be gone with the next attempt."""
    if not isinstance(error, asyncpg.PostgresError):
        return False
    state, text = str(error.sqlstate), str(error.args[0])
    return (
        _is_stale(error)
        or state in _TRANSIENT
        or state.startswith(_TRANSIENT_CLASSES)
        or _UNREACHED.match(text) is not None
        or _SHARD_HAS_MOVED.match(text) is not None
    )


def needs_reconnect(error: BaseException) -> bool:
    """Whether the next attempt wants a new connection."""
    if isinstance(error, asyncpg.PostgresError):
        return error.severity_en in _FATAL or _is_stale(error)
    return is_lost(error)


def _is_stale(error: asyncpg.PostgresError) -> bool:
    """Whether it is this connection alone that cannot do what it is asked for."""
    return error.sqlstate in _STALE or isinstance(error, asyncpg.InvalidCachedStatementError)
