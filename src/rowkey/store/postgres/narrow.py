r"""What must stand in the wire text of every entity that a `$filter` accepts, so that the database leaves out others.

PostgreSQL does not read the texts that it keeps, but it finds bytes in them, faster than they travel. Names stand in a
text as `,"Name":` and nowhere else, since quotes within strings are escaped, and a value has one spelling:

* a comparison is false for a missing property, `ne` too: the name must be there;
* a string equals a constant only where it is spelled like it;
* a Boolean property alone is true only as `true`.

An `and` needs what each of its operands needs. An `or` and a `not` need nothing that would be easy to say. The
evaluator decides about what is left.
"""

from rowkey.model.edm import EdmType
from rowkey.model.entity import json_string
from rowkey.odata.ast import And, BooleanProperty, Comparison, Filter

Needles = tuple[bytes, bytes]
"""Two pieces that must both be there; an empty one is everywhere."""


def narrow(predicate: Filter) -> Needles:
    """The two longest pieces, which are likely to leave out most."""
    found = sorted(set(_needles(predicate)), key=len, reverse=True)
    first, second, *_ = *found, "", ""
    return first.encode("ascii"), second.encode("ascii")


def _needles(predicate: Filter) -> list[str]:
    match predicate:
        case Comparison(name, operator, constant):
            mark = f",{json_string(name)}:"
            if operator == "eq" and constant.edm_type is EdmType.STRING:
                return [mark + json_string(str(constant.value))]
            return [mark]
        case BooleanProperty(name):
            return [f",{json_string(name)}:true"]
        case And(operands):
            return [needle for operand in operands for needle in _needles(operand)]
        case _:
            return []
