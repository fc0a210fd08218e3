"""An operation on tables with a table's URL taken for the account's: POST /Table/Tables, DELETE /Table/Tables('name').

The service looks for the first table, and reads the rest as an insert of an entity without keys, or as an entity with
too few of them (asserted by client suites).
"""

from dataclasses import dataclass
from typing import NoReturn, Self

from rowkey.errors import InvalidInput, PropertiesNeedValue, ServiceError
from rowkey.model.rights import Right
from rowkey.operations.operation import Operation, require_table
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.request import Response
from rowkey.wire.target import ResourceKind


@dataclass(slots=True)
class TableBelowTable(Operation):
    """Always refused, by the reason that comes first."""

    right = Right.INSERT

    table: str
    refusal: ServiceError

    @classmethod
    def decode(cls, call: Call) -> Self:
        table = call.resource.table
        if call.resource.kind is ResourceKind.TABLES_BELOW_TABLE:
            return cls(table, PropertiesNeedValue())
        text = "The number of keys specified in the URI does not match number of key properties for the resource"
        return cls(table, InvalidInput(f"{text} '{table}'."))

    async def run(self, store: Store, account: str) -> NoReturn:
        await require_table(store, account, self.table)
        raise self.refusal

    def respond(self, call: Call, result: NoReturn) -> Response:
        raise AssertionError("refused before")
