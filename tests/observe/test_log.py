"""The log, as a person sees it."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import logging
from rowkey.observe.log import set_up_log
set_up_log({level!r})
logging.getLogger("rowkey.somewhere").info("it is %s", "so")
logging.getLogger("rowkey.somewhere").error("it is not")
"""


@pytest.mark.parametrize(("level", "lines"), [("info", 2), ("error", 1)])
def test_lines_have_time_level_logger_and_message(level: str, lines: int) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(level=level)], capture_output=True, text=True, check=True
    )
    written = result.stderr.splitlines()
    assert result.stdout == ""
    assert len(written) == lines
    assert written[-1].endswith(" ERROR rowkey.somewhere: it is not")
    assert written[-1][:2] == "20"
