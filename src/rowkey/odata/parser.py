"""`$filter` text to a tree.

    filter     = disjunct { "or" disjunct }            precedence, tightest first: comparison, not, and, or
    disjunct   = condition { "and" condition }
    condition  = { "not" } ( comparison | property | "true" | "false" | "(" filter ")" )
    comparison = operand ("eq" | "ne" | "lt" | "le" | "gt" | "ge") operand

Clients nest deeply: .NET's LINQ writes `((((a or b) or c) or d) ...)` with as many parentheses as there are terms. So
there is no recursion: every open parenthesis has a group on a list, and a chain of one operator is collected flat
through any number of parentheses. Time is linear in the length of the text but for a factor logarithmic in nesting.

Keywords are lower-case and known by their place, so a property may be called `eq` or `and`. One side of a comparison
is a property, the other a constant, in either order.

The OData library in the service parses the whole text before it asks what the parts mean. So a type fault, as in
`1 eq 1` or `a eq null`, is noted and raised at the end: `a eq b c`, where quotes were forgotten, is a syntax error; and
so is `length(a`, although the service has no functions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rowkey.errors import InvalidQuery, NotImplementedOnResource
from rowkey.model.edm import EdmType
from rowkey.odata.ast import And, BooleanProperty, Comparison, Constant, Filter, Fixed, Not, Or
from rowkey.odata.lexer import CLOSE_EXPECTED, EXPRESSION_EXPECTED, SYNTAX_ERROR, Token, lex, query_error

FILTER_LENGTH_MAX = 65_536
"""Ours. The documented 15 comparisons are not enforced by the service, and clients send far more; URLs have a bound."""
PARENTHESES_MAX = 2_000
"""Ours: parentheses open at once."""
DEPTH_MAX = 100
"""Ours: levels of the flattened tree. Whatever walks it by recursion, as `==` and `repr` do, stays far from Python's
own limit."""

TURNED: Final = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
"""The comparison that says the same with its sides exchanged."""
_ARITHMETIC: Final = frozenset({"add", "sub", "mul", "div", "mod"})


def parse_filter(text: str) -> Filter:
    """The tree of a filter.

    Raises InvalidQuery for what is not one, NotImplementedOnResource for functions, arithmetic and property paths,
    which OData has and the service has not.
    """
    if len(text) > FILTER_LENGTH_MAX:
        raise InvalidQuery
    outer: list[_Group] = []
    group = _Group()
    value: _Value | None = None  # what was just read; None where an operand is due
    after_name = False  # what comes next may show that the name was a function's, or a path's
    deepest = 0
    tokens = lex(text)
    for token in tokens:
        kind = token.kind
        if value is None:
            if kind == "open":
                outer.append(group)
                group = _Group()
                deepest = max(deepest, len(outer))
                if deepest > PARENTHESES_MAX:
                    raise InvalidQuery
            elif token.value == "not":
                group.negate()
            elif kind == "minus":
                raise _beyond(token, tokens, text, len(outer))
            else:
                value = group.operand(_read_operand(token, text))
        elif kind == "word" and token.value in _AFTER_OPERAND:
            group.operator_after(value, str(token.value))
            value = None
        elif kind == "close" and outer:
            value = group.close(value)
            outer[-1].is_sound &= group.is_sound
            group = outer.pop()
            value = group.operand(value)
        elif kind == "end" and not outer:
            result = _freeze(group.condition(group.close(value)))
            if not group.is_sound:
                raise InvalidQuery
            if 3 * deepest + 3 > DEPTH_MAX:  # one parenthesis adds an Or, an And and a Not at most
                _verify_depth(result)
            return result
        elif (kind in ("open", "slash") and after_name) or token.value in _ARITHMETIC:
            raise _beyond(token, tokens, text, len(outer))
        else:
            raise _unexpected(token, text, nested=bool(outer))
        after_name = kind == "word"
    raise AssertionError("the last token is the end")


_AFTER_OPERAND: Final = frozenset({"and", "or", *TURNED})


def _read_operand(token: Token, text: str) -> "Constant | BooleanProperty | None":
    """A constant or a name; None for a literal that is no constant here."""
    if isinstance(token.value, Constant):
        return token.value
    if token.kind == "word":
        return BooleanProperty(token.value)
    if token.kind == "misfit":
        return None
    raise query_error(EXPRESSION_EXPECTED, text, token.start)


def _unexpected(token: Token, text: str, *, nested: bool) -> InvalidQuery:
    """What to raise where an operator, a closing parenthesis or the end should stand."""
    if nested:
        return query_error(CLOSE_EXPECTED, text, token.start)
    return query_error(SYNTAX_ERROR, text, token.end)


def _beyond(token: Token, rest: Iterator[Token], text: str, depth: int) -> InvalidQuery | NotImplementedOnResource:
    """What to raise at a token that begins what OData has and the service has not, in `depth` open parentheses.

    NotImplementedOnResource, if what follows is an expression as OData has it; else it is a syntax error still.
    """
    is_due, may_close, after_name = True, token.kind == "open", False  # an operand is due, or the end of a call
    depth += token.kind == "open"
    for following in rest:
        kind = following.kind
        if is_due and kind == "open":
            depth, may_close = depth + 1, False
        elif is_due and kind in ("minus", "word", "literal", "misfit"):
            is_due = kind == "minus" or following.value == "not"
            may_close, after_name = False, kind == "word"
        elif is_due and not (kind == "close" and may_close):
            return query_error(EXPRESSION_EXPECTED, text, following.start)
        elif kind == "close" and depth:
            depth, is_due, after_name = depth - 1, False, True  # a property of what a function returns may follow
        elif (kind == "word" and (following.value in _AFTER_OPERAND or following.value in _ARITHMETIC)) or (
            kind == "comma" and depth
        ):
            is_due = True
        elif kind in ("slash", "open") and after_name:
            is_due, may_close, depth = True, kind == "open", depth + (kind == "open")
        elif kind == "end" and not depth:
            return NotImplementedOnResource()
        else:
            return _unexpected(following, text, nested=bool(depth))
    raise AssertionError("the last token is the end")


def _verify_depth(tree: Filter) -> None:
    level: list[Filter] = [tree]
    for _ in range(DEPTH_MAX):
        below: list[Filter] = []
        for node in level:
            if isinstance(node, And | Or):
                below.extend(node.operands)
            elif isinstance(node, Not):
                below.append(node.operand)
        if not below:
            return
        level = below
    raise InvalidQuery


@dataclass(slots=True)
class _Chain:
    """An And or Or that may still grow; its operands are finished."""

    kind: type[And] | type[Or]
    operands: list[Filter]


_Value = Constant | Filter | _Chain
"""What stands between operators; a BooleanProperty may yet become the side of a comparison."""


class _Group:
    """What was read since one opening parenthesis, or since the beginning."""

    __slots__ = ("conjuncts", "disjuncts", "is_sound", "left", "negated", "operator")

    def __init__(self) -> None:
        self.disjuncts: list[Filter] = []
        self.conjuncts: list[Filter] = []
        self.negated = False
        self.left: _Value | None = None
        self.operator = ""
        self.is_sound = True
        """Whether there was no type fault; with one, the tree means nothing."""

    def negate(self) -> None:
        if self.left is not None:
            self.is_sound = False
        self.negated = not self.negated

    def operand(self, value: _Value | None) -> _Value:
        """`value`, or the comparison whose right side it is."""
        left, self.left = self.left, None
        if left is None and value is not None:
            return value
        if isinstance(left, BooleanProperty) and isinstance(value, Constant):
            return Comparison(left.name, self.operator, value)
        if isinstance(left, Constant) and isinstance(value, BooleanProperty):
            return Comparison(value.name, TURNED[self.operator], left)
        self.is_sound = False
        return Fixed(False)

    def operator_after(self, value: _Value, operator: str) -> None:
        if operator == "and":
            self.conjuncts = _join(And, self.conjuncts, self.condition(value))
        elif operator == "or":
            self.end_conjuncts(value)
        else:
            self.left, self.operator = value, operator

    def end_conjuncts(self, value: _Value) -> None:
        term = self.condition(value)
        if self.conjuncts:
            term = _Chain(And, _join(And, self.conjuncts, term))
            self.conjuncts = []
        self.disjuncts = _join(Or, self.disjuncts, term)

    def condition(self, value: _Value) -> "Filter | _Chain":
        """`value` as a condition, with the `not` in front of it."""
        if isinstance(value, Constant):
            if value.edm_type is not EdmType.BOOLEAN:
                self.is_sound = False
            value = Fixed(bool(value.value))
        if not self.negated:
            return value
        self.negated = False
        return value.operand if isinstance(value, Not) else Not(_freeze(value))

    def close(self, value: _Value) -> _Value:
        """The whole group, `value` being the last of it; a value alone stays what it is, as in `('a') eq (Name)`."""
        if self.disjuncts:
            self.end_conjuncts(value)
            return _Chain(Or, self.disjuncts)
        if self.conjuncts:
            return _Chain(And, _join(And, self.conjuncts, self.condition(value)))
        return self.condition(value) if self.negated else value


def _join(kind: type[And] | type[Or], terms: list[Filter], term: Filter | _Chain) -> list[Filter]:
    """`terms` and one more, flat; of two lists the longer is kept, so that nesting costs no repeated copying."""
    if isinstance(term, And | Or):
        term = _Chain(type(term), list(term.operands))
    if not isinstance(term, _Chain) or term.kind is not kind:
        terms.append(_freeze(term))
        return terms
    if len(terms) < len(term.operands):
        term.operands[:0] = terms
        return term.operands
    terms.extend(term.operands)
    return terms


def _freeze(value: Filter | _Chain) -> Filter:
    return value.kind(tuple(value.operands)) if isinstance(value, _Chain) else value
