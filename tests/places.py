"""Places that keep less than one would like: a disk that is soon full, a folder that is somebody else's."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOBODY = 65534


@contextmanager
def small_disk(place: Path, kib: int) -> Iterator[Path]:
    """A file system of this size, where this user may mount one."""
    place.mkdir()
    try:
        _mount(place, f"size={kib}k")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root may mount a small file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def enlarge(disk: Path, kib: int) -> None:
    """Let a small disk have this size."""
    _mount(disk, f"remount,size={kib}k")


def _mount(place: Path, options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True, capture_output=True)


def leave_no_room(disk: Path) -> Path:
    """Fill a disk to its last byte; returns the file that is in the way."""
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(65536))
    return ballast


@contextmanager
def without_privileges(place: Path) -> Iterator[None]:
    """Be a user to whom the modes of files apply, and whom all in the place belongs to: with root they do not count."""
    if os.geteuid() != 0:
        yield
        return
    for path in (place, *place.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
