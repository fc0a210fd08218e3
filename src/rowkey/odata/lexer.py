"""`$filter` text to tokens, literals to constants.

One regular expression tells the tokens apart; possessive quantifiers keep it linear whatever the text is. Tokens are
made one at a time, so that of two syntax errors the one is reported which the parser reaches first.

The rules are those of the filter language page and of OData 3 literals. Syntax errors have the wording and the
positions of the OData library in the service ("Syntax error at position 7 in 'aaa bbb ccc'." was recorded; the others
are that library's public resources). A position counts UTF-16 code units from 0.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from rowkey.errors import InvalidQuery, PropertyNameInvalid, PropertyNameTooLong
from rowkey.model.datetimes import TICKS_MIN, parse_datetime
from rowkey.model.edm import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    EdmType,
    parse_double,
    parse_guid,
    parse_integer,
    utf16_length,
)
from rowkey.model.names import verify_property_name
from rowkey.odata.ast import Constant

SYNTAX_ERROR: Final = "Syntax error at position {position} in '{text}'."
EXPRESSION_EXPECTED: Final = "Expression expected at position {position} in '{text}'."
CLOSE_EXPECTED: Final = "')' or operator expected at position {position} in '{text}'."
_UNTERMINATED_STRING: Final = "There is an unterminated string literal at position {position} in '{text}'."
_UNTERMINATED_LITERAL: Final = "There is an unterminated literal at position {position} in '{text}'."
_DIGIT_EXPECTED: Final = "A digit was expected at position {position} in '{text}'."
_BAD_CHARACTER: Final = "Syntax error: character '{character}' is not valid at position {position} in '{text}'."


class Token(NamedTuple):
    """One token; `kind` is word, literal, misfit, open, close, comma, slash, minus or end.

    A misfit is well-formed as a literal is, and no property has its type or value: `null`, `1.5m`, `datetime'2008'`.
    """

    kind: str
    value: str | Constant
    """The constant of a literal, the text of any other token."""
    start: int
    end: int


_IDENTIFIER = r"[A-Za-z_\x80-\U0010ffff][0-9A-Za-z_\x80-\U0010ffff]*+"
_TOKEN = re.compile(
    rf"""[ \t\r\n]*+(?:
      (?P<word>{_IDENTIFIER}(?!'))
    | (?P<typed>(?i:datetimeoffset|datetime|time|guid|binary|x)'[^']*+')
    | (?P<unfinished_literal>(?i:datetimeoffset|datetime|time|guid|binary|x)'.*+)
    | (?P<word_at_quote>{_IDENTIFIER})
    | (?P<string>'[^']*+(?:''[^']*+)*+')
    | (?P<unfinished_number>-?[0-9]++(?: \.(?![0-9]) | (?:\.[0-9]++)?+[eE][+-]?+(?![0-9]) ))
    | (?P<number>-?(?: [0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+[LlDdMmFf]? | INF(?![0-9A-Za-z_\x80-\U0010ffff]) ))
    | (?P<open>\() | (?P<close>\)) | (?P<comma>,) | (?P<slash>/) | (?P<minus>-)
    | (?P<end>\Z)
    | (?P<unfinished_string>'.*+)
    | (?P<other>.)
    )""",
    re.VERBOSE | re.DOTALL,
)

_WORD_LITERALS: Final = {
    "NaN": Constant(EdmType.DOUBLE, float("nan")),
    "INF": Constant(EdmType.DOUBLE, float("inf")),
}
_BOOLEANS: Final = {
    "true": Constant(EdmType.BOOLEAN, True),
    "false": Constant(EdmType.BOOLEAN, False),
}
"""In any letter case, as clients write them whose languages do; all other words are as they are (Azurite's suite)."""


def lex(text: str) -> Iterator[Token]:
    """The tokens of a filter, the last of kind end; raises InvalidQuery at the first that is none."""
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        start, end = match.span(kind)
        part = match[kind]
        if kind in ("word", "word_at_quote"):
            yield _read_word(part, start, end)
        elif kind in _LITERALS:
            try:
                yield Token("literal", _LITERALS[kind](part), start, end)
            except ValueError:
                yield Token("misfit", part, start, end)
        elif kind in _FAULTS:
            raise query_error(_FAULTS[kind], text, start if kind == "other" else end, character=part)
        else:
            yield Token(kind, part, start, end)
            if kind == "end":
                return


_FAULTS: Final = {
    "unfinished_string": _UNTERMINATED_STRING,
    "unfinished_literal": _UNTERMINATED_LITERAL,
    "unfinished_number": _DIGIT_EXPECTED,
    "other": _BAD_CHARACTER,
}


def query_error(message: str, text: str, position: int, character: str = "") -> InvalidQuery:
    """The refusal of a filter for what stands at `position`, an index into `text`."""
    return InvalidQuery(message.format(position=utf16_length(text[:position]), text=text, character=character))


def _read_word(word: str, start: int, end: int) -> Token:
    literal = _WORD_LITERALS.get(word) or _BOOLEANS.get(word.lower())
    if literal is not None:
        return Token("literal", literal, start, end)
    if word == "null":  # There are no null values in the data model, and the service refuses to compare with one.
        return Token("misfit", word, start, end)
    if not word.isascii():
        try:
            verify_property_name(word)
        except PropertyNameInvalid:
            raise InvalidQuery from None
        except PropertyNameTooLong:
            pass  # no entity has such a property, as none has one of so many ASCII letters
    return Token("word", word, start, end)


def _read_string(literal: str) -> Constant:
    return Constant(EdmType.STRING, literal[1:-1].replace("''", "'"))


def _read_number(literal: str) -> Constant:
    """An integer that is no Int32 is an Int64 without needing the suffix; a point or exponent makes a Double."""
    if literal == "-INF":
        return Constant(EdmType.DOUBLE, float("-inf"))
    digits, suffix = (literal[:-1], literal[-1]) if literal[-1].isalpha() else (literal, "")
    if suffix in ("L", "l"):
        return Constant(EdmType.INT64, parse_integer(digits, INT64_MIN, INT64_MAX))
    if suffix in ("D", "d") or (not suffix and not digits.lstrip("-").isdigit()):
        return Constant(EdmType.DOUBLE, parse_double(digits))
    if suffix:
        raise ValueError("no Edm.Decimal or Edm.Single here")
    value = parse_integer(digits, INT64_MIN, INT64_MAX)
    return Constant(EdmType.INT32 if INT32_MIN <= value <= INT32_MAX else EdmType.INT64, value)


def _read_typed(literal: str) -> Constant:
    prefix, _, body = literal[:-1].partition("'")
    if prefix.lower() not in _TYPED:
        raise ValueError("of a type that no property has")
    return _TYPED[prefix.lower()](body)


def _read_binary(digits: str) -> Constant:
    if _HEXADECIMAL.fullmatch(digits) is None:
        raise ValueError("not hexadecimal")
    return Constant(EdmType.BINARY, bytes.fromhex(digits))


_HEXADECIMAL = re.compile(r"(?:[0-9A-Fa-f]{2})*+")

_TYPED: Final[dict[str, Callable[[str], Constant]]] = {
    "datetime": lambda body: Constant(EdmType.DATETIME, parse_datetime(body, ticks_min=TICKS_MIN)),
    "guid": lambda body: Constant(EdmType.GUID, parse_guid(body)),
    "binary": _read_binary,
    "x": _read_binary,
}

_LITERALS: Final[dict[str, Callable[[str], Constant]]] = {
    "string": _read_string,
    "number": _read_number,
    "typed": _read_typed,
}
