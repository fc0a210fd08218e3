"""What a filter means: the one definition, which every store that filters by other means must agree with.

A filter is compiled into nested closures over the decoded wire text of an entity (`model/entity.py`): a mapping with
`X@odata.type` beside the properties that are not what JSON says. All that can be is decided at compile time.

* A missing property makes every comparison false, `ne` too. `not`, `and`, `or` are plain boolean logic, so
  `not (Missing eq 1)` is true.
* Int32, Int64 and Double compare by their exact mathematical value; NaN as IEEE 754 says.
* Strings compare by UTF-16 code units, Booleans false before true, Guids by their lower-case text, Binary by bytes.
* Values of different types are unequal. A String comes after a value of any other type, as the service was observed
  to order `''` after numbers and dates; other types have no order, and lt, le, gt, ge are false.
"""

import operator
from binascii import a2b_base64
from collections.abc import Callable, Mapping
from typing import Any, Final

from rowkey.model.datetimes import format_datetime
from rowkey.model.edm import EdmType
from rowkey.odata.ast import And, BooleanProperty, Comparison, Filter, Fixed, Not, Or

Values = Mapping[str, Any]
Predicate = Callable[[Values], bool]

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def compile_filter(tree: Filter) -> Predicate:
    """The filter as a function of an entity's decoded wire text, or of `{"TableName": name}` for a table."""
    match tree:
        case Comparison():
            return _COMPILERS[tree.constant.edm_type](tree)
        case BooleanProperty(name):
            return lambda values: values.get(name) is True
        case Fixed(value):
            return lambda values: value
        case Not(operand):
            return _negate(compile_filter(operand))
        case And(operands):
            return _every([compile_filter(operand) for operand in operands])
        case Or(operands):
            return _some(_alternatives(operands))


def matches(tree: Filter, values: Values) -> bool:
    """Whether one entity or table satisfies the filter; compile it to ask more than once."""
    return compile_filter(tree)(values)


def across_types(comparison: str, *, property_is_string: bool, constant_is_string: bool) -> bool:
    """The outcome of a comparison between a property and a constant whose types do not compare."""
    if comparison == "ne":
        return True
    if constant_is_string:
        return comparison in ("lt", "le")
    return property_is_string and comparison in ("gt", "ge")


def _negate(predicate: Predicate) -> Predicate:
    return lambda values: not predicate(values)


def _every(predicates: list[Predicate]) -> Predicate:
    if len(predicates) == 2:
        first, second = predicates
        return lambda values: first(values) and second(values)

    def every(values: Values) -> bool:
        for predicate in predicates:  # noqa: SIM110 - all() with a generator takes twice the time
            if not predicate(values):
                return False
        return True

    return every


def _some(predicates: list[Predicate]) -> Predicate:
    if len(predicates) == 1:
        return predicates[0]
    if len(predicates) == 2:
        first, second = predicates
        return lambda values: first(values) or second(values)

    def some(values: Values) -> bool:
        for predicate in predicates:  # noqa: SIM110 - as above
            if predicate(values):
                return True
        return False

    return some


def _alternatives(operands: tuple[Filter, ...]) -> list[Predicate]:
    """The operands of an Or; those that compare one property with strings become one look into a set.

    Clients ask for lists of keys and names in this way, hundreds at a time.
    """
    predicates: list[Predicate] = []
    texts: dict[str, set[str]] = {}
    for operand in operands:
        match operand:
            case Comparison(name, "eq", constant) if constant.edm_type is EdmType.STRING:
                texts.setdefault(name, set()).add(str(constant.value))
            case _:
                predicates.append(compile_filter(operand))
    return [_string_among(name, frozenset(wanted)) for name, wanted in texts.items()] + predicates


# ---------------------------------------------------------------- comparisons, by the type of the constant


def _annotation_of(name: str) -> tuple[str, str | None]:
    """The member that names a property's type, and the type where the member is missing (None: as JSON says)."""
    return f"{name}@odata.type", "Edm.DateTime" if name == "Timestamp" else None


def _string_among(name: str, wanted: frozenset[str]) -> Predicate:
    annotation, implied = _annotation_of(name)
    return lambda values: values.get(name) in wanted and values.get(annotation, implied) is None


def _compile_string(tree: Comparison) -> Predicate:
    name, text = tree.name, str(tree.constant.value)
    annotation, implied = _annotation_of(name)
    if tree.operator == "eq":
        return lambda values: values.get(name) == text and values.get(annotation, implied) is None

    compare = _COMPARE[tree.operator]
    other = across_types(tree.operator, property_is_string=False, constant_is_string=True)
    # Code points sort as code units do, except that U+E000 to U+FFFF come after the surrogates of what lies above;
    # with a constant below the surrogates that makes no difference.
    plain = tree.operator == "ne" or not text or max(text) < "\ud800"
    units = _utf16(text)

    def string(values: Values) -> bool:
        value = values.get(name)
        if type(value) is str and values.get(annotation, implied) is None:
            return compare(value, text) if plain else compare(_utf16(value), units)
        return other and value is not None

    return string


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _compile_number(tree: Comparison) -> Predicate:
    name, number = tree.name, tree.constant.value
    annotation, implied = _annotation_of(name)
    compare = _COMPARE[tree.operator]
    string = across_types(tree.operator, property_is_string=True, constant_is_string=False)
    other = across_types(tree.operator, property_is_string=False, constant_is_string=False)

    def numeric(values: Values) -> bool:
        value = values.get(name)
        kind = type(value)
        if kind is int or kind is float:
            return compare(value, number)
        if kind is not str:
            return other and value is not None
        edm_type = values.get(annotation, implied)
        if edm_type is None:
            return string
        if edm_type == "Edm.Int64":
            return compare(int(value), number)  # type: ignore[arg-type]
        if edm_type == "Edm.Double":
            return compare(float(value), number)  # type: ignore[arg-type]
        return other

    return numeric


def _compile_boolean(tree: Comparison) -> Predicate:
    name, constant = tree.name, tree.constant.value
    annotation, implied = _annotation_of(name)
    compare = _COMPARE[tree.operator]
    string = across_types(tree.operator, property_is_string=True, constant_is_string=False)
    other = across_types(tree.operator, property_is_string=False, constant_is_string=False)

    def boolean(values: Values) -> bool:
        value = values.get(name)
        if type(value) is bool:
            return compare(value, constant)
        if type(value) is str and values.get(annotation, implied) is None:
            return string
        return other and value is not None

    return boolean


def _compile_annotated(tree: Comparison, constant: Any, decode: Callable[[str], Any]) -> Predicate:
    """A constant of a type that JSON writes as an annotated string."""
    name, wanted_type = tree.name, str(tree.constant.edm_type)
    annotation, implied = _annotation_of(name)
    compare = _COMPARE[tree.operator]
    string = across_types(tree.operator, property_is_string=True, constant_is_string=False)
    other = across_types(tree.operator, property_is_string=False, constant_is_string=False)

    def annotated(values: Values) -> bool:
        value = values.get(name)
        if type(value) is not str:
            return other and value is not None
        edm_type = values.get(annotation, implied)
        if edm_type == wanted_type:
            return compare(decode(value), constant)
        return string if edm_type is None else other

    return annotated


def _compile_datetime(tree: Comparison) -> Predicate:
    # Stored dates have one spelling, trailing zeros of the fraction cut: without the Z they sort as the ticks do.
    text = format_datetime(int(tree.constant.value))
    return _compile_annotated(tree, text[:-1], operator.itemgetter(slice(-1)))


def _compile_guid(tree: Comparison) -> Predicate:
    return _compile_annotated(tree, tree.constant.value, str.lower)


def _compile_binary(tree: Comparison) -> Predicate:
    return _compile_annotated(tree, tree.constant.value, a2b_base64)


_COMPILERS: Final[dict[EdmType, Callable[[Comparison], Predicate]]] = {
    EdmType.STRING: _compile_string,
    EdmType.BINARY: _compile_binary,
    EdmType.BOOLEAN: _compile_boolean,
    EdmType.DATETIME: _compile_datetime,
    EdmType.DOUBLE: _compile_number,
    EdmType.GUID: _compile_guid,
    EdmType.INT32: _compile_number,
    EdmType.INT64: _compile_number,
}
