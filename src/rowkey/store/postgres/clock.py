"""The clock of one front end: ticks that only grow, and that catch up with those of others."""

from collections.abc import Callable


class Clock:
    """Hands out times, each after all before it, whatever `now` says."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._latest = 0

    def tick(self) -> int:
        """The time, or just after the one handed out last."""
        self._latest = max(self._now(), self._latest + 1)
        return self._latest

    def advance(self, ticks: int) -> None:
        """Another front end was seen to be at `ticks`: hand out later ones from now on."""
        self._latest = max(self._latest, ticks)
