"""What the C library does with memory that was freed.

glibc gives large blocks back to the system at once and asks for new ones for the next answer, page fault by page fault.
A page of a thousand entities passes through several blocks of a megabyte, and spent 1.7 of its 3.4 ms there; with the
thresholds below it takes 1.0 ms. What is held back is bounded by them.
"""

import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_HELD_BYTES_MAX = 32 << 20
_ARENAS_MAX = 2
"""Heaps for threads beside the first; each holds back memory of its own."""


def hold_freed_memory() -> None:
    """Keep freed memory for the next answer; without effect where the C library is not glibc."""
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for option, value in (
        (_M_TRIM_THRESHOLD, _HELD_BYTES_MAX),
        (_M_MMAP_THRESHOLD, _HELD_BYTES_MAX),
        (_M_ARENA_MAX, _ARENAS_MAX),
    ):
        set_option(option, value)
