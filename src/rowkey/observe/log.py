"""The log of the process, on standard error: lines for people on a terminal, else a JSON object a line for machines.

Whatever strangers had a part in is kept to its line: a control character in a message is written as an escape, so that
nobody can make up lines, or move a terminal's cursor, by what he asks for.

What is logged carries no keys, no signatures and no property values; that is up to those who log, and the test suite
looks through everything that its servers have logged.
"""

import json
import logging
import re
import sys
from datetime import UTC, datetime


def set_up_log(level: str, form: str = "auto") -> None:
    """Log everything from `level` up; `form` is `text`, `json`, or `auto` for text on a terminal and else JSON."""
    is_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextFormatter() if is_text else JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


class TextFormatter(logging.Formatter):
    """Time, level, logger, message; then a traceback, if there is one, on lines of its own."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - a name of logging's
        record.message = _CONTROL.sub(_escape, record.message)
        return super().formatMessage(record)


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _escape(match: re.Match[str]) -> str:
    return repr(match[0])[1:-1]


class JsonFormatter(logging.Formatter):
    """`{"time", "level", "logger", "message"}`, with the record's own `fields` and its traceback where it has them."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)
