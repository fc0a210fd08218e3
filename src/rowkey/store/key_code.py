r"""The key code: strings as bytes whose order is the order of results.

Databases compare bytes; the service orders keys by UTF-16 code units. So a string is stored as a sequence of runs:
printable ASCII stands for itself, one byte a character; anything else switches to UTF-16BE units by a mark that sorts
where that unit does (0x1F below the printable characters, 0x7F above them), and the next printable character, written
as a unit, switches back:

    "a\u00e9b"  ->  61 | 7F 00E9 0062

Real keys contain no control characters; U+0000, which bounds of ranges use as "just after", is coded as U+0001 and so
leaves room below it for an end mark of zeros (`embedded/key_code.py`). A string of 512 units takes at most 1,280 bytes.
The code of a string that begins another one begins the other's code, so it sorts before it without an end mark too.
"""

_BELOW, _ABOVE = 0x1F, 0x7F
_FIRST_PRINTABLE, _LAST_PRINTABLE = 0x20, 0x7E

AFTER_ALL = b"\x80"
"""Bytes after the codes of all strings."""


def code_of(text: str) -> bytes:
    """The code of a string."""
    return text.encode("ascii") if text.isascii() and text.isprintable() else write_string(text)[0]


def text_of(code: bytes) -> str:
    """The string that `code_of` coded."""
    return read_string(code, 0)[0]


def write_string(text: str) -> tuple[bytes, bool]:
    """The code of a string, and whether it ends in units."""
    out = bytearray()
    is_wide = False
    units = text.encode("utf-16-be", "surrogatepass")
    for position in range(0, len(units), 2):
        unit = units[position] << 8 | units[position + 1]
        is_printable = _FIRST_PRINTABLE <= unit <= _LAST_PRINTABLE
        if not is_wide:
            if is_printable:
                out.append(unit)
                continue
            out.append(_BELOW if unit < _FIRST_PRINTABLE else _ABOVE)
        out += (unit or 1).to_bytes(2, "big")
        is_wide = not is_printable
    return bytes(out), is_wide


def read_string(code: bytes, position: int) -> tuple[str, int]:
    """The string that begins at `position`, and where what follows its end mark begins."""
    units = bytearray()
    is_wide = False
    while position < len(code):
        if is_wide:
            unit = code[position] << 8 | code[position + 1]
            position += 2
            if unit == 0:
                break
            is_wide = not _FIRST_PRINTABLE <= unit <= _LAST_PRINTABLE
        else:
            unit = code[position]
            position += 1
            if unit == 0:
                break
            if unit in (_BELOW, _ABOVE):
                is_wide = True
                continue
        units += unit.to_bytes(2, "big")
    return units.decode("utf-16-be", "surrogatepass"), position
