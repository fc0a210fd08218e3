"""Create Table with a table's URL taken for the account's: POST /Table/Tables.

The service reads it as an insert of an entity without keys, and looks for the table first (asserted by client suites).
"""

from dataclasses import dataclass
from typing import NoReturn, Self

from rowkey.errors import PropertiesNeedValue
from rowkey.model.rights import Right
from rowkey.operations.operation import Operation, require_table
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.request import Response


@dataclass(slots=True)
class CreateTableBelowTable(Operation):
    """Always refused, by the reason that comes first."""

    right = Right.INSERT

    table: str

    @classmethod
    def decode(cls, call: Call) -> Self:
        return cls(call.resource.table)

    async def run(self, store: Store, account: str) -> NoReturn:
        await require_table(store, account, self.table)
        raise PropertiesNeedValue

    def respond(self, call: Call, result: NoReturn) -> Response:
        raise AssertionError("refused before")
