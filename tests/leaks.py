"""What no log may have: every log of every server that the tests start is looked through, and every line of our own.

`LeakWatch` sees what is logged in the process of the tests, `leaks` reads the log of another process.
"""

from __future__ import annotations

import logging
import re

_PATTERNS = {
    "a signature of a URL": re.compile(
        r"(?:[?&\s\"']|%26|%3F)(?:s|%73)(?:i|%69)(?:g|%67)(?:=|%3D)(?!XXXXX)[^&\s\"']", re.IGNORECASE
    ),
    "an Authorization header": re.compile(r"SharedKey(?:Lite)? +\w+:[A-Za-z0-9+/]{20}", re.IGNORECASE),
    "a bearer token": re.compile(r"Bearer +[A-Za-z0-9_-]{8,}\.|\bey[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}"),
}
_ANNOUNCEMENT = "Connection string: "
"""A line on standard output for whoever starts a server with keys of the command line; no line of the log."""


def leaks(text: str, keys: tuple[str, ...] = ()) -> list[str]:
    """The lines of a log that have a signature, a token or one of these keys, each with what it has."""
    found = []
    for line in text.splitlines():
        if line.startswith(_ANNOUNCEMENT):
            continue
        found += [f"{what}: {line}" for what, pattern in _PATTERNS.items() if pattern.search(line)]
        found += [f"an account key: {line}" for key in keys if key in line]
    return found


class LeakWatch(logging.Handler):
    """Looks at everything that is logged."""

    def __init__(self, *keys: str) -> None:
        super().__init__()
        self._keys = keys
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Look at one line."""
        if record.name.startswith("rowkey"):
            self.found += leaks(record.getMessage(), self._keys)
