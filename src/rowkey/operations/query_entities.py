"""Query Entities: GET /Table()."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange
from rowkey.model.limits import PAGE_SECONDS_MAX
from rowkey.model.rights import Right
from rowkey.odata.continuation import read_entity_start, write_continuation
from rowkey.odata.options import read_select, read_timeout, read_top
from rowkey.odata.parser import parse_filter
from rowkey.odata.planner import QueryPlan, clip, plan_query, within
from rowkey.operations.operation import Operation, require_table
from rowkey.payload.answer_body import write_feed
from rowkey.payload.views import EntityView, shape_of
from rowkey.store.interface import Page, Scan, Store
from rowkey.wire.call import Call
from rowkey.wire.media import Format, body_format, content_type
from rowkey.wire.request import Response


@dataclass(slots=True)
class QueryEntities(Operation):
    """One page of a query, gathered within `seconds`; `start` is where the last page ended.

    `select` None means all properties.
    """

    right = Right.QUERY

    table: str
    plan: QueryPlan
    start: Key | None
    top: int
    seconds: float
    format: Format
    select: Sequence[str] | None
    client: str = ""
    """The address that it came from; clients whose pages take long take turns."""

    @classmethod
    def decode(cls, call: Call) -> Self:
        options = call.options
        wanted = body_format(call.format)
        plan = _plan(options.get("$filter", ""))
        select = read_select(options.get("$select"), call.version.date)
        start, top = read_entity_start(options), read_top(options.get("$top"))
        seconds = min(PAGE_SECONDS_MAX, read_timeout(options.get("timeout")))
        client = call.request.peer.rpartition(":")[0]
        return cls(call.resource.table, plan, start, top, seconds, wanted, select, client)

    def confine(self, bounds: KeyRange) -> bool:
        self.plan = self.plan._replace(ranges=within(self.plan.ranges, bounds))
        return True

    async def run(self, store: Store, account: str) -> Page:
        table = await require_table(store, account, self.table)
        ranges = self.plan.ranges if self.start is None else clip(self.plan.ranges, self.start)
        scan = Scan(
            ranges,
            limit=self.top,
            seconds_max=self.seconds,
            predicate=self.plan.residual,
            shape=shape_of(self.format, self.select),
            client=self.client,
        )
        return await store.scan(table, scan)

    def respond(self, call: Call, result: Page) -> Response:
        address = call.address
        view = EntityView(
            self.format, address.base, address.account, self.table, call.now, self.select, call.options.get("$select")
        )
        headers = []
        if result.next_key is not None:
            partition_key, row_key = (write_continuation(part, call.version) for part in result.next_key)
            headers = [
                ("x-ms-continuation-NextPartitionKey", partition_key),
                ("x-ms-continuation-NextRowKey", row_key),
            ]
        headers.append(("Content-Type", content_type(self.format, is_feed=True)))
        return Response(200, headers, write_feed(result.text, view))


@lru_cache(maxsize=64)
def _plan(text: str) -> QueryPlan:
    """The plan of a `$filter`; the pages of one query ask for the same one again and again."""
    return plan_query(parse_filter(text) if text.strip() else None)
