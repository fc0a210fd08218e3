"""Query Tables: GET /Tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from rowkey.model.rights import Right
from rowkey.observe.metrics_tables import FIRST_LISTED
from rowkey.odata.continuation import read_table_start, write_table_continuation
from rowkey.odata.evaluator import compile_filter
from rowkey.odata.options import read_select, read_top
from rowkey.odata.parser import parse_filter
from rowkey.operations.operation import Operation
from rowkey.payload.answer_body import write_tables
from rowkey.payload.views import TableView
from rowkey.store.interface import Store, Table
from rowkey.wire.call import Call
from rowkey.wire.media import Format, body_format, content_type
from rowkey.wire.request import Response

_LISTED_AT_ONCE = 1000


@dataclass(slots=True)
class QueryTables(Operation):
    """One page of an account's tables from the lower-cased name `start` on."""

    right = Right.LIST_TABLES

    matches: Callable[[Mapping[str, Any]], bool] | None
    start: str
    top: int
    format: Format

    @classmethod
    def decode(cls, call: Call) -> Self:
        options = call.options
        wanted = body_format(call.format)
        text = options.get("$filter", "")
        matches = compile_filter(parse_filter(text)) if text.strip() else None
        read_select(options.get("$select"), call.version.date)
        return cls(matches, read_table_start(options), read_top(options.get("$top")), wanted)

    async def run(self, store: Store, account: str) -> tuple[list[Table], Table | None]:
        """The tables of the page, and the one that the next page begins with."""
        page: list[Table] = []
        start = max(self.start, FIRST_LISTED)
        while True:
            listed = await store.list_tables(account, start, _LISTED_AT_ONCE)
            for table in listed:
                if self.matches is None or self.matches({"TableName": table.name}):
                    if len(page) == self.top:
                        return page, table
                    page.append(table)
            if len(listed) < _LISTED_AT_ONCE:
                return page, None
            start = listed[-1].name.lower() + "\0"

    def respond(self, call: Call, result: tuple[list[Table], Table | None]) -> Response:
        tables, following = result
        view = TableView(self.format, call.address.base, call.address.account, call.now, call.options.get("$select"))
        headers = [("Content-Type", content_type(self.format, is_feed=True))]
        if following is not None:
            token = write_table_continuation(following.name, following.created, call.version)
            headers.insert(0, ("x-ms-continuation-NextTableName", token))
        return Response(200, headers, write_tables([table.name for table in tables], view))
