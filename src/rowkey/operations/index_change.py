"""What adding and dropping an index have in common: a table and the property that the query names."""

from dataclasses import dataclass
from typing import Self

from rowkey.errors import InvalidInput, InvalidQueryParameterValue
from rowkey.model.names import verify_property_name
from rowkey.model.rights import Right
from rowkey.operations.operation import Operation
from rowkey.wire.call import Call


@dataclass(slots=True)
class IndexChange(Operation):
    """A change of the index of `table` on the property `name`."""

    right = Right.INDEXES

    table: str
    name: str

    @classmethod
    def decode(cls, call: Call) -> Self:
        name = call.options.get("property")
        if not name:
            raise InvalidQueryParameterValue
        verify_property_name(name, may_have_hyphens=True)
        if name == "PartitionKey":
            raise InvalidInput("Entities are in the order of their PartitionKey, which needs no index.")
        return cls(call.resource.table, name)
