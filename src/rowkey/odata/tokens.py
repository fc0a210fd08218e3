"""Continuation tokens: where the next page begins, for the client to send back.

    1!{n}!{payload}     version 1; n characters of payload; payload = base64 of the UTF-8 text, = + / written - * _

`-` for `=` is recorded (187 of 187 tokens); no recorded token has one of the other two characters, and ours keep them
out of headers and URLs. A token names the first entity of the next page, or a position before it: it stays valid
whatever is inserted or deleted.

NextTableName carries the lower-case name, U+0001 and the table's creation time as 16 hexadecimal digits (recorded).
"""

import re
from base64 import b64decode, b64encode
from typing import Final

from rowkey.errors import InvalidInput

_TOKEN = re.compile(r"1!([0-9]{1,9})!([0-9A-Za-z*_]*+-{0,2})")
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_TO_TOKEN: Final = str.maketrans("=+/", "-*_")
_FROM_TOKEN: Final = str.maketrans("-*_", "=+/")


def write_token(text: str) -> str:
    """The token of a key."""
    payload = b64encode(text.encode()).decode("ascii").translate(_TO_TOKEN)
    return f"1!{len(payload)}!{payload}"


def read_token(token: str) -> str:
    """The key of a token; text that is no token is a plain key, InvalidInput for a token that is damaged.

    Plain keys are what clients of 2008 send back: the reference of that time shows raw keys in the headers.
    """
    if not token.startswith("1!"):
        return token
    match = _TOKEN.fullmatch(token)
    if match is None or int(match[1]) != len(match[2]):
        raise InvalidInput
    try:
        return b64decode(match[2].translate(_FROM_TOKEN), validate=True).decode()
    except ValueError:
        raise InvalidInput from None


def write_plain_or_token(text: str) -> str:
    """As requests without x-ms-version get it: the key itself where a header can carry it unmistakably."""
    return text if _PLAIN.fullmatch(text) and not text.startswith("1!") else write_token(text)


def write_table_token(name: str, created_ticks: int) -> str:
    """The token of a table."""
    return write_token(f"{name.lower()}\x01{created_ticks:016x}")


def read_table_token(token: str) -> str:
    """The lower-case name at which the listing goes on; with or without the creation time."""
    return read_token(token).partition("\x01")[0].lower()
