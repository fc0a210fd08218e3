"""What an error of the database means: did anything happen, and is the connection still good?

An error that the server sends while it keeps the connection has undone the transaction, so nothing happened; some are
worth another attempt. When the connection ends in the midst of a write, nobody knows: the commit may have been made and
only its answer been lost. Neither is a write ever cancelled: one that waits for its standby and is cancelled is told
success, with a warning, while it is on one disk only.
"""

import asyncpg

RACED, CONDITION_FAILED, SEGMENT_GONE = "RK003", "RK001", "RK002"
"""What the function `rowkey.write` raises."""

_TRANSIENT = frozenset({"40001", "40P01", "55P03", "57014", "57P03", "25006", "0A000", "26000"})
"""Serialisation failure, deadlock, lock not available, cancelled, cannot connect now, read-only transaction (after a
failover, of what was the primary), and a prepared statement that the server has no more use for."""
_TRANSIENT_CLASSES = ("53",)
"""Insufficient resources: too many connections, a full disk."""
_LOST = ("08", "57P01", "57P02", "57P04")
"""The server ended the connection; Citus may speak of one between two of its nodes, and keep ours."""
_RECONNECT = frozenset({"25006", "0A000", "26000"})
_SHARD_IS_MOVING = "could not find valid entry for shard"
"""What Citus says while it moves a shard."""
IN_DOUBT = frozenset({"01000", "57P01", "57P02"})
"""Warnings after which a write is on this server's disk, and perhaps on no other."""


class SegmentGone(Exception):
    """The segment that a statement names is not live: look the table up again."""


def is_lost(error: BaseException) -> bool:
    """Whether a connection has ended, so that nobody knows what became of a write that was sent over it."""
    if isinstance(error, asyncpg.PostgresError):
        return str(error.sqlstate).startswith(_LOST)
    if isinstance(error, ValueError):  # an argument that asyncpg cannot send
        return False
    return isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError | OSError)


def is_transient(error: BaseException) -> bool:
    """Whether the server has undone the transaction for a reason that may be gone with the next attempt."""
    if not isinstance(error, asyncpg.PostgresError):
        return False
    state = str(error.sqlstate)
    return state in _TRANSIENT or state.startswith(_TRANSIENT_CLASSES) or _SHARD_IS_MOVING in str(error)


def needs_reconnect(error: BaseException) -> bool:
    """Whether the next attempt wants a new connection."""
    return is_lost(error) or (isinstance(error, asyncpg.PostgresError) and error.sqlstate in _RECONNECT)
