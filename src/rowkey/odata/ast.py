"""The tree of a `$filter` expression.

Chains of one operator are flat (`a and b and c` is one And of three), so depth is that of real alternation.
"""

from dataclasses import dataclass

from rowkey.model.edm import EdmType

ConstantValue = str | int | float | bool | bytes
"""How constants are held: DateTime as ticks (int, negative before 1601), Guid as lower-case text, Binary as bytes."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal with its Edm type."""

    edm_type: EdmType
    value: ConstantValue


@dataclass(frozen=True, slots=True)
class Comparison:
    """`name operator constant`; one written the other way round is turned."""

    name: str
    operator: str
    """eq, ne, lt, le, gt or ge."""
    constant: Constant


@dataclass(frozen=True, slots=True)
class BooleanProperty:
    """A property standing alone as a condition."""

    name: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """`true` or `false` standing alone as a condition."""

    value: bool


@dataclass(frozen=True, slots=True)
class Not:
    """True where its operand is false; never directly around another Not."""

    operand: "Filter"


@dataclass(frozen=True, slots=True)
class And:
    """True where all operands are: two or more, none of them an And."""

    operands: "tuple[Filter, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """True where one operand is: two or more, none of them an Or."""

    operands: "tuple[Filter, ...]"


Filter = Comparison | BooleanProperty | Fixed | Not | And | Or
