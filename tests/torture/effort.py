"""How hard to try: a little in every test run, and as much as the promises ask for with `make torture`."""

from __future__ import annotations

import os

IS_LONG = os.environ.get("ROWKEY_TORTURE", "") not in ("", "0")
SEED = int(os.environ.get("ROWKEY_SEED", "1"))
"""What everything random is made of, so that what was found can be found again."""


def rounds(short: int, long: int) -> int:
    """How often to do something."""
    return long if IS_LONG else short
