"""What the processes of one server tell each other of changes: two counters in memory that they share.

The process that writes counts up after a commit and before anybody is answered for it. Another that finds the counters
as they were when its read transaction began therefore knows that nothing was answered since: it may go on reading in
it, and trust what it remembers of the catalogue. A look takes 0.03 us; asking SQLite (`PRAGMA data_version`) takes 0.8
within a transaction and 1.8 outside.
"""

import mmap
from typing import Self

COMMITS, CATALOGUE = 0, 1
"""Which counter is which, in `Changes.counters`: of commits, and of those that changed tables or settings."""


class Changes:
    """The counters; the processes that share them come from one that made them before it forked."""

    def __init__(self, memory: memoryview) -> None:
        self.counters = memory.cast("Q")

    @classmethod
    def shared(cls) -> Self:
        """Counters that are shared with the processes to be forked from this one."""
        return cls(memoryview(mmap.mmap(-1, 16)))

    def publish(self, catalogue: int) -> None:
        """There was a commit, after which the catalogue has this number; for the one process that writes.

        The number of the commit comes last: whoever sees the new one sees the catalogue's too.
        """
        self.counters[CATALOGUE] = catalogue
        self.counters[COMMITS] += 1
