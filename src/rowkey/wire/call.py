"""A request whose address, version and wishes have been read: what operations decode from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rowkey.model.rights import Grant
from rowkey.wire.media import Format
from rowkey.wire.request import Request
from rowkey.wire.target import Address, Resource
from rowkey.wire.version import Version


@dataclass(slots=True)
class Call:
    """One request on its way to an operation.

    `method` is what is asked for, after X-HTTP-Method; `options` are the decoded query options; `grant` is what whoever
    asks may do; `now` is in ticks.
    The last two fields are for batches: `open_part` makes the call of a part, `decode` routes and decodes a call.
    """

    request: Request
    method: str
    address: Address
    resource: Resource
    options: dict[str, str]
    version: Version
    format: Format
    grant: Grant
    request_id: str
    now: int
    open_part: "Callable[[Call, Request], Call]"
    decode: "Callable[[Call], Any]"
