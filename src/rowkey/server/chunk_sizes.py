"""The sizes of a chunked body's chunks, which llhttp reads and does not tell.

Without them, a chunk that claims to have more bytes than may be taken would be waited for until the client's time is
up. llhttp decides what is well formed; what this class cannot read it leaves to that.
"""

import re

from rowkey.errors import RequestBodyTooLarge

_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}(?![0-9A-Fa-f])")
_LINE_BYTES_MAX = 64
"""Of the line with a size, what is kept; extensions follow the size."""


class ChunkSizes:
    """Follows the chunks of one body, of which `left` bytes may come."""

    __slots__ = ("_awaited", "_left", "_line", "is_over")

    def __init__(self, left: int) -> None:
        self._left = left
        self._awaited = 0
        self._line = b""
        self.is_over = False
        """The last chunk has come; trailers follow."""

    def pass_over(self, data: bytes) -> int:
        """How many of these bytes belong to chunks; raises RequestBodyTooLarge at a size that is more than may come."""
        position = 0
        while position < len(data) and not self.is_over:
            if self._awaited:
                passed = min(self._awaited, len(data) - position)
                self._awaited -= passed
                position += passed
                continue
            start, position = position, data.find(b"\n", position) + 1 or len(data)
            self._line = (self._line + data[start:position])[:_LINE_BYTES_MAX]
            if data[position - 1] == ord("\n"):
                self._begin(_SIZE.match(self._line))
                self._line = b""
        return position

    def _begin(self, match: re.Match[bytes] | None) -> None:
        size = 0 if match is None else int(match[0], 16)
        if size > self._left:
            raise RequestBodyTooLarge
        self._left -= size
        self._awaited = size + len(b"\r\n")
        self.is_over = not size
