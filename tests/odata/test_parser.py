"""The grammar of `$filter`: trees, refusals with their positions, and texts made to hurt."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowkey.errors import InvalidQuery, NotImplementedOnResource
from rowkey.model.edm import EdmType
from rowkey.odata.ast import And, BooleanProperty, Comparison, Constant, Filter, Fixed, Not, Or
from rowkey.odata.evaluator import compile_filter
from rowkey.odata.parser import DEPTH_MAX, FILTER_LENGTH_MAX, PARENTHESES_MAX, parse_filter
from rowkey.odata.planner import plan_query
from rowkey.odata.printer import print_filter


def string(name: str, operator: str, value: str) -> Comparison:
    return Comparison(name, operator, Constant(EdmType.STRING, value))


def number(name: str, operator: str, value: int) -> Comparison:
    return Comparison(name, operator, Constant(EdmType.INT32, value))


A, B, C, D = (BooleanProperty(name) for name in "abcd")

TREES = [
    ("a", A),
    ("true", Fixed(True)),
    ("false", Fixed(False)),
    ("Name eq 'x'", string("Name", "eq", "x")),
    ("a ne 1", number("a", "ne", 1)),
    ("a lt 1", number("a", "lt", 1)),
    ("a le 1", number("a", "le", 1)),
    ("a gt 1", number("a", "gt", 1)),
    ("a ge 1", number("a", "ge", 1)),
    ("not (a)", Not(A)),
    ("a and b", And((A, B))),
    ("a or b", Or((A, B))),
    ("a or b and c", Or((A, And((B, C))))),
    ("a and b or c", Or((And((A, B)), C))),
    ("(a or b) and c", And((Or((A, B)), C))),
    ("not (a) and b", And((Not(A), B))),
    ("not (a and b)", Not(And((A, B)))),
    ("a and b and c and d", And((A, B, C, D))),
    ("eq eq 1 and and or or", Or((And((number("eq", "eq", 1), BooleanProperty("and"))), BooleanProperty("or")))),
]
"""Texts as the printer writes them, and their trees."""

OTHER_SPELLINGS = [
    ("  a  ", A),
    ("((a))", A),
    ("1 lt a", number("a", "gt", 1)),
    ("1 le a", number("a", "ge", 1)),
    ("1 gt a", number("a", "lt", 1)),
    ("1 ge a", number("a", "le", 1)),
    ("1 eq a", number("a", "eq", 1)),
    ("1 ne a", number("a", "ne", 1)),
    ("(a) eq (1)", number("a", "eq", 1)),
    ("(1) eq ((a))", number("a", "eq", 1)),
    ("not a", Not(A)),
    ("not(a)", Not(A)),
    ("not not a", A),
    ("not (not (a or b)) or c", Or((A, B, C))),
    ("not a eq 1", Not(number("a", "eq", 1))),
    ("not a and b", And((Not(A), B))),
    ("not true", Not(Fixed(True))),
    ("(true)", Fixed(True)),
    (
        "((PartitionKey eq 'a') and (RowKey ge 'b'))",
        And((string("PartitionKey", "eq", "a"), string("RowKey", "ge", "b"))),
    ),
    ("((a or b) or c) or d", Or((A, B, C, D))),
    ("a or (b or (c or d))", Or((A, B, C, D))),
    ("(a and b) and (c and d)", And((A, B, C, D))),
    ("(a or b and c) or d", Or((A, And((B, C)), D))),
    ("(a)and(b)", And((A, B))),
]

REFUSALS = [
    ("aaa bbb ccc", "Syntax error at position 7 in 'aaa bbb ccc'."),  # recorded
    ("42 42", "Syntax error at position 5 in '42 42'."),
    ("a AND b", "Syntax error at position 5 in 'a AND b'."),
    ("a eq 1 b", "Syntax error at position 8 in 'a eq 1 b'."),
    ("a)", "Syntax error at position 2 in 'a)'."),
    ("a in ('x')", "Syntax error at position 4 in 'a in ('x')'."),
    ("é eq '\U0001f600' x", "Syntax error at position 11 in 'é eq '\U0001f600' x'."),
    ("aaa bbb 'c", "Syntax error at position 7 in 'aaa bbb 'c'."),
    (" aaa bbb ccc ", "Syntax error at position 8 in ' aaa bbb ccc '."),
    ("a eq b c", "Syntax error at position 8 in 'a eq b c'."),
    ("a eq b 'c'", "Syntax error at position 10 in 'a eq b 'c''."),
    ("a eq null c", "Syntax error at position 11 in 'a eq null c'."),
    ("1 eq 1)", "Syntax error at position 7 in '1 eq 1)'."),
    ("", "Expression expected at position 0 in ''."),
    ("a eq", "Expression expected at position 4 in 'a eq'."),
    ("a and ", "Expression expected at position 6 in 'a and '."),
    ("()", "Expression expected at position 1 in '()'."),
    ("1 eq 1 and", "Expression expected at position 10 in '1 eq 1 and'."),
    ("5 eq 5 eq", "Expression expected at position 9 in '5 eq 5 eq'."),
    ("a eq not", "Expression expected at position 8 in 'a eq not'."),
    ("1.5m or ", "Expression expected at position 8 in '1.5m or '."),
    ("(", "Expression expected at position 1 in '('."),
    (",", "Expression expected at position 0 in ','."),
    ("/", "Expression expected at position 0 in '/'."),
    ("a eq )", "Expression expected at position 5 in 'a eq )'."),
    ("(42", "')' or operator expected at position 3 in '(42'."),
    ("(')'", "')' or operator expected at position 4 in '(')''."),
    ("(a eq b", "')' or operator expected at position 7 in '(a eq b'."),
    ("'a' and (b eq c d)", "')' or operator expected at position 16 in ''a' and (b eq c d)'."),
    ("(a b)", "')' or operator expected at position 3 in '(a b)'."),
    ("a eq b'", "There is an unterminated string literal at position 7 in 'a eq b''."),
    ("a eq null or b eq X'", "There is an unterminated literal at position 20 in 'a eq null or b eq X''."),
    ("a eq 'x", "There is an unterminated string literal at position 7 in 'a eq 'x'."),
]

DEFAULT = "One of the request inputs is not valid."
MEANINGLESS = [
    "1",
    "'a'",
    "a and 1",
    "not 'a'",
    "a eq b",
    "1 eq 1",
    "a eq null",
    "a eq 1 eq true",
    "(a and b) eq true",
    "a eq (b and c)",
    "a eq not b",
    "a eq 1 eq b",
    "1.5m lt a",
    "null",
    "(null)",
    "null eq null",
    "not (a eq b) and c",
    "a or (b and (1 eq 1)) or c",
    "a eq datetime'2008'",
    "a eq guid''",
]

NOT_IMPLEMENTED = [
    "startswith(Name, 'a')",
    "substringof('a', Name)",
    "length(Name) eq 3",
    "a and endswith(Name,'a') eq true",
    "Age add 1 eq 2",
    "Age mod 2 eq 0",
    "Address/City eq 'x'",
    "-Age eq 1",
    "Age eq - 1",
    "Name eq tolower('A')",
    "Age eq length(Name)",
    "Name eq concat('a', 'b')",
    "5 eq length(Name)",
    "(Name eq trim(Name))",
    "Age eq Other add 1",
    "Age eq Other/Age",
    "Age eq 4 add 1",
    "Age eq -Age",
    "now() eq a",
    "f(g(a, -1), not b) and (c eq 1 or d) eq (true)",
    "f(a)/b eq 1",
    "Age eq --5",
    "Age eq - 5 and (a or b)",
]
BEYOND_AND_MALFORMED = {
    "length(": "Expression expected at position 7 in 'length('.",
    "length(a": "')' or operator expected at position 8 in 'length(a'.",
    "length(a))": "Syntax error at position 10 in 'length(a))'.",
    "(length(a)": "')' or operator expected at position 10 in '(length(a)'.",
    "f(a,) eq 1": "Expression expected at position 4 in 'f(a,) eq 1'.",
    "f(a b) eq 1": "')' or operator expected at position 4 in 'f(a b) eq 1'.",
    "a add": "Expression expected at position 5 in 'a add'.",
    "a eq 5 mod": "Expression expected at position 10 in 'a eq 5 mod'.",
    "a/": "Expression expected at position 2 in 'a/'.",
    "a//b eq 1": "Expression expected at position 2 in 'a//b eq 1'.",
    "-": "Expression expected at position 1 in '-'.",
    "a eq -": "Expression expected at position 6 in 'a eq -'.",
    "a eq 'x' --": "Syntax error at position 10 in 'a eq 'x' --'.",
    "a eq 'x' -- comment": "Syntax error at position 10 in 'a eq 'x' -- comment'.",
    "a eq 1 /b": "Syntax error at position 8 in 'a eq 1 /b'.",
    "f(a) 'x'": "Syntax error at position 8 in 'f(a) 'x''.",
    "f(a) eq 'x": "There is an unterminated string literal at position 10 in 'f(a) eq 'x'.",
}


@pytest.mark.parametrize(("text", "tree"), TREES)
def test_a_text_is_a_tree_and_back(text: str, tree: Filter) -> None:
    assert parse_filter(text) == tree
    assert print_filter(tree) == text


@pytest.mark.parametrize(("text", "tree"), OTHER_SPELLINGS)
def test_other_spellings_are_the_same_tree(text: str, tree: Filter) -> None:
    assert parse_filter(text) == tree


@pytest.mark.parametrize(("text", "message"), REFUSALS)
def test_a_syntax_error_is_reported_with_its_position(text: str, message: str) -> None:
    with pytest.raises(InvalidQuery) as refusal:
        parse_filter(text)
    assert refusal.value.text == message


@pytest.mark.parametrize("text", BEYOND_AND_MALFORMED)
def test_what_the_service_has_not_must_be_well_formed_too(text: str) -> None:
    with pytest.raises(InvalidQuery) as refusal:
        parse_filter(text)
    assert refusal.value.text == BEYOND_AND_MALFORMED[text]


@pytest.mark.parametrize("text", MEANINGLESS)
def test_well_formed_nonsense_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuery) as refusal:
        parse_filter(text)
    assert refusal.value.text == DEFAULT


@pytest.mark.parametrize("text", NOT_IMPLEMENTED)
def test_what_the_service_has_not_is_not_implemented(text: str) -> None:
    with pytest.raises(NotImplementedOnResource):
        parse_filter(text)


@pytest.mark.parametrize("joint", ["and", "or"])
def test_a_thousand_levels_of_parentheses_are_accepted(joint: str) -> None:
    """.NET's LINQ nests as deep as there are terms."""
    count = 1_500
    text = "(" * count + "(k0 eq 0)" + "".join(f" {joint} (k{n} eq {n}))" for n in range(1, count + 1))
    tree = parse_filter(text)
    assert tree == (And if joint == "and" else Or)(tuple(number(f"k{n}", "eq", n) for n in range(count + 1)))


def alternating(depth: int) -> str:
    """A filter whose flattened tree has this many levels."""
    text = "a"
    for level in range(depth - 1):
        text = f"(b or {text})" if level % 2 else f"(b and {text})"
    return text


def test_the_depth_of_real_alternation_is_bounded() -> None:
    parse_filter(alternating(DEPTH_MAX))
    with pytest.raises(InvalidQuery):
        parse_filter(alternating(DEPTH_MAX + 1))


@pytest.mark.parametrize(
    "text", [alternating(DEPTH_MAX), "not (a or not (a and " * 24 + "not (a or b" + "))" * 24 + ")"]
)
def test_the_deepest_tree_can_be_used_everywhere(text: str) -> None:
    tree = parse_filter(text)
    assert parse_filter(print_filter(tree)) == tree
    assert hash(tree) == hash(parse_filter(text))
    assert repr(tree)
    assert plan_query(tree).residual == tree
    assert compile_filter(tree)({"a": True, "b": True}) in (True, False)


def test_parentheses_are_bounded() -> None:
    assert parse_filter("(" * PARENTHESES_MAX + "a" + ")" * PARENTHESES_MAX) == A
    with pytest.raises(InvalidQuery):
        parse_filter("(" * (PARENTHESES_MAX + 1) + "a" + ")" * (PARENTHESES_MAX + 1))


def test_the_length_is_bounded() -> None:
    assert parse_filter("a" + " " * (FILTER_LENGTH_MAX - 1)) == A
    with pytest.raises(InvalidQuery):
        parse_filter("a" + " " * FILTER_LENGTH_MAX)


def nested(opening: str, count: int, inner: str, closing: str) -> str:
    return opening * count + inner + closing * count


LONG_CHAIN = " or ".join(["a"] * 9_000)

HOSTILE = {
    "quotes": "'" * 65_000,
    "an odd number of quotes": "'" * 65_001,
    "quotes after a name": "a eq '" + "''" * 30_000,
    "open parentheses": "(" * 65_000,
    "closed parentheses": ")" * 65_000,
    "nots": "not " * 16_000,
    "nots before a term": "not " * 16_000 + "a",
    "comparisons of nothing": "1 eq " * 13_000 + "1",
    "comparisons of nothing in parentheses": nested("(1 eq ", 1_900, "1", ") eq null"),
    "literals of no type": " or ".join(["null eq 1.5m"] * 4_000),
    "a literal without its end": "a eq X'" + "0" * 65_000,
    "nots in parentheses": nested("not (", 2_000, "a", ")"),
    "ands": "and " * 16_000,
    "names": "a " * 32_000,
    "an or chain": " or ".join(f"a eq {n}" for n in range(5_000)),
    "row keys": " or ".join(f"RowKey eq '{n}'" for n in range(3_000)),
    "other row keys": " and ".join(f"RowKey ne '{n}'" for n in range(3_000)),
    "keys": " or ".join(f"(PartitionKey eq '{n}' and RowKey ne '{n}')" for n in range(1_250)),
    "a long chain deep on the left": nested("(", 1_900, LONG_CHAIN, ") or a"),
    "a long chain deep on the right": nested("a or (", 1_900, LONG_CHAIN, ")"),
    "a long chain negated again and again": nested("not(not(", 950, LONG_CHAIN, "))"),
    "alternation": nested("a or (b and (", 900, "a", "))"),
    "products": " and ".join(
        ["(" + " or ".join(f"RowKey eq '{n}' or PartitionKey eq '{n}'" for n in range(150)) + ")"] * 9
    ),
    "digits": "a eq " + "9" * 60_000,
    "fraction digits": "a eq 1." + "9" * 60_000,
    "hexadecimal digits": "a eq X'" + "0a" * 30_000 + "'",
    "a long name": "a" * 65_000,
    "a long name of letters": "é" * 65_000,
    "blanks": " " * 65_000,
    "minuses": "-" * 65_000,
    "emoji": "\U0001f600" * 65_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_costs_little_and_never_a_recursion_error(name: str) -> None:
    """Each takes under 0.25 s on a quiet machine; the bound leaves room for a busy one, none for quadratic time."""
    started = time.process_time()
    try:
        tree = parse_filter(HOSTILE[name])
        compile_filter(tree)({"PartitionKey": "p", "RowKey": "r", "a": True})
        plan_query(tree)
        assert parse_filter(print_filter(tree)) == tree
    except (InvalidQuery, NotImplementedOnResource):
        pass
    assert time.process_time() - started < 3


WORDS = [
    *("a", "PartitionKey", "RowKey", "eq", "ne", "lt", "and", "or", "not", "true", "null", "add", "startswith"),
    *("(", ")", "'", "''", "'a'", "'b", "1", "1.5", "-", "/", ",", ".", "1L", "X'00'", "guid'", "datetime'", "é", "#"),
]


@given(st.one_of(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join), st.text(max_size=60)))
@settings(max_examples=500, deadline=None)
def test_any_text_is_a_tree_or_refused(text: str) -> None:
    try:
        tree = parse_filter(text)
    except (InvalidQuery, NotImplementedOnResource):
        return
    assert parse_filter(print_filter(tree)) == tree
