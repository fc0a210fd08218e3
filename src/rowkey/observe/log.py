"""The log of the process: lines for people, on standard error."""

import logging
import sys


def set_up_log(level: str) -> None:
    """Write everything from `level` up to standard error, one line each: time, level, logger, message.

    What is logged carries no keys, no signatures and no property values; that is up to those who log.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
