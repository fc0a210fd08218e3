r"""The key code: keys as bytes whose order is the order of results.

SQLite compares blobs by bytes; the service orders keys by UTF-16 code units, PartitionKey first. So a key is stored as

    table (4 bytes, big endian) | PartitionKey | end mark | RowKey

and a string as a sequence of runs: printable ASCII stands for itself, one byte a character; anything else switches to
UTF-16BE units by a mark that sorts where that unit does (0x1F below the printable characters, 0x7F above them), and the
next printable character, written as a unit, switches back:

    "a\u00e9b"  ->  61 | 7F 00E9 0062

The end mark is a zero, of one byte or as a unit, whichever the string ends in. Real keys contain no control characters;
U+0000, which bounds of ranges use as "just after", is coded as U+0001 and so stays above the end mark. A key of 512
units takes at most 1,280 bytes.
"""

from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange

TABLE_BYTES = 4
_BELOW, _ABOVE = 0x1F, 0x7F
_FIRST_PRINTABLE, _LAST_PRINTABLE = 0x20, 0x7E


def table_prefix(identity: int) -> bytes:
    """What the codes of all keys of a table begin with."""
    return identity.to_bytes(TABLE_BYTES, "big")


def write_key(prefix: bytes, key: Key) -> bytes:
    """The code of a key of the table with this prefix."""
    partition_key, row_key = key
    if partition_key.isascii() and partition_key.isprintable():
        head = b"%b%b\0" % (prefix, partition_key.encode("ascii"))
    else:
        code, is_wide = _write_string(partition_key)
        head = prefix + code + (b"\0\0" if is_wide else b"\0")
    if row_key.isascii() and row_key.isprintable():
        return head + row_key.encode("ascii")
    return head + _write_string(row_key)[0]


def write_range(prefix: bytes, key_range: KeyRange) -> tuple[bytes, bytes]:
    """The codes from which and before which the keys of a range stand."""
    start, end = key_range
    return write_key(prefix, start), write_key(prefix, end) if end is not None else after_table(prefix)


def after_table(prefix: bytes) -> bytes:
    """A code after all keys of the table and before those of the next."""
    return (int.from_bytes(prefix, "big") + 1).to_bytes(TABLE_BYTES, "big")


def read_key(code: bytes) -> Key:
    """The key that `write_key` coded."""
    partition_key, position = _read_string(code, TABLE_BYTES)
    row_key, _ = _read_string(code, position)
    return Key(partition_key, row_key)


def _write_string(text: str) -> tuple[bytes, bool]:
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


def _read_string(code: bytes, position: int) -> tuple[str, int]:
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
