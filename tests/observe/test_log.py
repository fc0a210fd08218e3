"""The log, as a person and as a machine sees it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import logging
from rowkey.observe.log import set_up_log
set_up_log({level!r}, {form!r})
log = logging.getLogger("rowkey.somewhere")
log.info("it is %s", "so")
log.error("it is not")
{more}
"""


def written(level: str, form: str, more: str = "") -> list[str]:
    """What a program logs whose standard error is no terminal."""
    program = PROGRAM.format(level=level, form=form, more=more)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == ""
    return result.stderr.splitlines()


@pytest.mark.parametrize(("level", "count"), [("info", 2), ("error", 1)])
def test_text_has_time_level_logger_and_message(level: str, count: int) -> None:
    lines = written(level, "text")
    assert len(lines) == count
    assert lines[-1].endswith(" ERROR rowkey.somewhere: it is not")
    assert lines[-1][:2] == "20"


@pytest.mark.parametrize("form", ["json", "auto"])
def test_json_has_the_same_in_members(form: str) -> None:
    lines = [json.loads(line) for line in written("info", form)]
    assert [line["message"] for line in lines] == ["it is so", "it is not"]
    assert lines[0].keys() == {"time", "level", "logger", "message"}
    assert lines[1]["level"] == "error"
    assert lines[1]["logger"] == "rowkey.somewhere"
    assert lines[1]["time"].endswith("+00:00")


@pytest.mark.parametrize("form", ["text", "json"])
def test_nobody_makes_up_lines(form: str) -> None:
    (line,) = written("warning", form, r"""log.setLevel("CRITICAL"); log.critical("a\n\r\x1b[2J\x85\u2028b")""")[1:]
    assert r"a\n\r" in line
    assert line.isprintable()


def test_a_traceback_follows_its_line() -> None:
    lines = written("critical", "text", "log.critical('oh', exc_info=ValueError('no'))")
    assert lines[0].endswith(": oh")
    assert lines[1:] == ["ValueError: no"]


def test_a_traceback_is_a_member() -> None:
    (line,) = written("critical", "json", "log.critical('oh', exc_info=ValueError('no'))")
    assert json.loads(line)["traceback"] == "ValueError: no"


def test_fields_of_a_record_are_members() -> None:
    (line,) = written("critical", "json", "log.critical('oh', extra={'fields': {'status': 200}})")
    assert json.loads(line)["status"] == 200
