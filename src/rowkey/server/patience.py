"""How long a connection waits for the same thing."""

import math
from enum import Enum

from rowkey.server.limits import Limits


class Phase(Enum):
    """What a connection waits for."""

    IDLE = "the next request"
    HEAD = "the rest of a head"
    BODY = "the rest of a body"
    HANDLING = "the service"
    WRITING = "the client to read"
    LINGERING = "the client to end"


class Patience:
    """What is left of it; each phase begins with as much as `limits` gives it, and bytes that move bring some back."""

    __slots__ = ("_allowances", "_bytes_per_second", "_left", "_moved", "_waits_for")

    def __init__(self, limits: Limits) -> None:
        self._allowances = {
            Phase.IDLE: limits.idle_seconds,
            Phase.HEAD: limits.head_seconds,
            Phase.BODY: limits.body_seconds,
            Phase.HANDLING: limits.slow_seconds,
            Phase.WRITING: limits.reader_seconds,
            Phase.LINGERING: limits.linger_seconds,
        }
        self._bytes_per_second = limits.bytes_per_second_min
        self._waits_for = Phase.IDLE, 0
        self._left = limits.idle_seconds
        self._moved = 0

    def runs_out(self, phase: Phase, answered: int, moved: int, seconds: float) -> bool:
        """Whether it has run out now, `seconds` after the last time; said once.

        The phase is the same one still if no request has been `answered` meanwhile; `moved` grows with each byte.
        """
        allowance = self._allowances[phase]
        if (phase, answered) != self._waits_for:
            self._waits_for, self._left = (phase, answered), allowance
        elif self._left < math.inf:
            progress = max(0, moved - self._moved) / self._bytes_per_second
            self._left = min(self._left + progress, allowance) - seconds
        self._moved = moved
        if self._left > 0:
            return False
        self._left = math.inf
        return True
