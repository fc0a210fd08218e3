"""Keys of the embedded store: one string of bytes for the table and both keys, in the order of results.

    table (4 bytes, big endian) | PartitionKey | end mark | RowKey

Both keys are in the key code (`store/key_code.py`). The end mark is a zero, of one byte or as a unit, whichever the
string ends in; nothing in the code of a string is below it.
"""

from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange
from rowkey.store.key_code import read_string, write_string

TABLE_BYTES = 4


def table_prefix(identity: int) -> bytes:
    """What the codes of all keys of a table begin with."""
    return identity.to_bytes(TABLE_BYTES, "big")


def write_key(prefix: bytes, key: Key) -> bytes:
    """The code of a key of the table with this prefix."""
    partition_key, row_key = key
    if partition_key.isascii() and partition_key.isprintable():
        head = b"%b%b\0" % (prefix, partition_key.encode("ascii"))
    else:
        code, is_wide = write_string(partition_key)
        head = prefix + code + (b"\0\0" if is_wide else b"\0")
    if row_key.isascii() and row_key.isprintable():
        return head + row_key.encode("ascii")
    return head + write_string(row_key)[0]


def write_range(prefix: bytes, key_range: KeyRange) -> tuple[bytes, bytes]:
    """The codes from which and before which the keys of a range stand."""
    start, end = key_range
    return write_key(prefix, start), write_key(prefix, end) if end is not None else after_table(prefix)


def after_table(prefix: bytes) -> bytes:
    """A code after all keys of the table and before those of the next."""
    return (int.from_bytes(prefix, "big") + 1).to_bytes(TABLE_BYTES, "big")


def read_key(code: bytes) -> Key:
    """The key that `write_key` coded."""
    partition_key, position = read_string(code, TABLE_BYTES)
    row_key, _ = read_string(code, position)
    return Key(partition_key, row_key)
