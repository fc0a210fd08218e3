"""A service in this process with something to lose, and what it answers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import NamedTuple

from rowkey.config import Settings
from rowkey.model.access_policy import AccessPolicy
from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Key
from rowkey.model.key_range import WHOLE_TABLE
from rowkey.payload.access_policies import write_policies
from rowkey.service import Service
from rowkey.store.interface import Scan
from rowkey.store.memory.store import MemoryStore
from rowkey.wire.request import Request, Response
from tests.authorisation.operations import ON_ENTITIES, request_for
from tests.authorisation.signatures import EXPIRY, KINDS, START
from tests.requests import ACCOUNT


class Answer(NamedTuple):
    """Status and, for an error, code; of the part where a batch has one."""

    status: int
    code: str = ""


class Bench:
    """A service with the table Orders and one entity in it."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.service = Service(Settings(data=None), self.store)

    async def fill(self, *keys: Key) -> Bench:
        """Make the table, its policies and entities with these keys."""
        table = await self.store.create_table(ACCOUNT, "Orders")
        await self.store.create_table(ACCOUNT, "Customers")
        start, expiry = parse_datetime(START), parse_datetime(EXPIRY)
        policies = [AccessPolicy("readers", start, expiry, "raud"), AccessPolicy("writers", start, expiry, "raud")]
        await self.store.set_policies(table, write_policies(policies))
        owner = KINDS["SharedKey"]
        for key in keys:
            body = json.dumps({"PartitionKey": key.partition_key, "RowKey": key.row_key}).encode()
            request = request_for(replace(ON_ENTITIES["Insert Entity"], body=body))
            assert (await self.service.handle(owner.sign(request))).status == 201
        return self

    async def ask(self, request: Request) -> Answer:
        """The answer to a request."""
        return read_answer(await self.service.handle(request))

    async def contents(self) -> object:
        """Everything that is stored."""
        tables = await self.store.list_tables(ACCOUNT, "", 100)
        scan = Scan([WHOLE_TABLE], bytes_max=10**9, seconds_max=10)
        return [
            (table, await self.store.get_policies(table), await self.store.scan(table, scan)) for table in tables
        ], await self.store.get_properties(ACCOUNT)


def read_answer(response: Response) -> Answer:
    """What an answer says; that of a batch is its only, or last, part's."""
    body = response.body
    status = response.status
    if status == 202 and body.startswith(b"--batch"):
        status = int(re.findall(rb"\r\nHTTP/1\.1 (\d{3}) ", body)[-1])
    code = re.search(rb'"code":"(\w+)"|<(?:m:)?code>(\w+)<', body) if status >= 400 else None
    return Answer(status, (code[1] or code[2]).decode() if code else "")
