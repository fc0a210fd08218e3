"""A request that is to be refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


JSON = {"Content-Type": "application/json", "Accept": "application/json"}
ENTITY = "/Hostile(PartitionKey='p',RowKey='r')"


@dataclass(frozen=True)
class Case:
    """A request to a path below the account, and what it is refused with; an empty `code` is any."""

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 400
    code: str = ""
    target: str = ""
    """The whole target, where it is not the account's path and `path`."""
    is_signed: bool = True
