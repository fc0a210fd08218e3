"""From a filter to the parts of indexes worth reading.

A *probe* is a span of values of one index. A set of probes stands for all entities that have an entry in one of them:
it is of use to a filter if the filter is certainly false for every other entity. A comparison with an indexed property
has such a set, an `and` has those of its operands, of which any will do, and an `or` has one where each of its operands
has one. A missing property makes a comparison false, so entities without the property need no entry; for the same
reason there is nothing for `not`.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rowkey.model.edm import EdmType
from rowkey.odata.ast import And, BooleanProperty, Comparison, Constant, Filter, Or
from rowkey.store.embedded.value_code import Span, intersect, spans_of

PROBES_MAX = 256
"""A longer list of values is read without an index."""


class Probe(NamedTuple):
    """The entries of the index with this number whose values are in the span."""

    number: int
    span: Span


Probes = tuple[Probe, ...]


def probes_of(predicate: Filter, indexes: Mapping[str, int]) -> list[Probes]:
    """The sets of probes that are of use to a filter, the most promising first; `indexes` are by property."""
    if not indexes:
        return []
    return sorted((probes for probes in _probes(predicate, indexes) if len(probes) <= PROBES_MAX), key=_breadth)


def is_of_points(probes: Probes) -> bool:
    """Whether each of the probes is for one code: its entries are in the order of their keys."""
    return all(probe.span.low == probe.span.high for probe in probes)


def _probes(predicate: Filter, indexes: Mapping[str, int]) -> list[Probes]:
    match predicate:
        case Comparison() | BooleanProperty():
            return _conjunction((predicate,), indexes)
        case And(operands):
            return _conjunction(operands, indexes)
        case Or(operands):
            return _disjunction(operands, indexes)
        case _:
            return []


def _conjunction(operands: Iterable[Filter], indexes: Mapping[str, int]) -> list[Probes]:
    """Comparisons of one property bound each other: `A ge 1 and A lt 9` is one span."""
    found: list[Probes] = []
    spans: dict[str, tuple[Span, ...]] = {}
    for operand in operands:
        if isinstance(operand, BooleanProperty):
            operand = Comparison(operand.name, "eq", _TRUE)
        if not isinstance(operand, Comparison):
            found += _probes(operand, indexes)
        elif operand.name in indexes and (own := spans_of(operand)) is not None:
            spans[operand.name] = intersect(spans[operand.name], own) if operand.name in spans else own
    return found + [tuple(Probe(indexes[name], span) for span in own) for name, own in spans.items()]


_TRUE = Constant(EdmType.BOOLEAN, True)


def _disjunction(operands: Iterable[Filter], indexes: Mapping[str, int]) -> list[Probes]:
    found: set[Probe] = set()
    for operand in operands:
        alternatives = _probes(operand, indexes)
        if not alternatives:
            return []
        found.update(min(alternatives, key=_breadth))
    return [tuple(sorted(found))]


def _breadth(probes: Iterable[Probe]) -> int:
    """A guess before anything is read: points first, then spans within a type, then those over several."""
    widths = (0 if low == high else 1 if low[:1] == high[:1] else 2 for _, (low, high) in probes)
    return max(widths, default=0)
