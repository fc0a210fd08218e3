"""Requests that have been answered, for the tests of analytics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.model.datetimes import parse_datetime
from rowkey.observe.operation_names import OPERATION_NAMES
from rowkey.observe.transaction import Outcome, Part, Transaction
from rowkey.wire.request import Request, Response

if TYPE_CHECKING:
    from collections.abc import Iterable

ACCOUNT = "sally"
NOON = parse_datetime("2026-03-01T12:00:00Z")
MILLISECOND = 10_000
SECOND = 1000 * MILLISECOND
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def metrics_section(name: str, *, is_enabled: bool = True, include_apis: bool = True, days: int | None = None) -> str:
    """The text of HourMetrics or MinuteMetrics."""
    apis = f"<IncludeAPIs>{str(include_apis).lower()}</IncludeAPIs>" if is_enabled else ""
    enabled = f"<Version>1.0</Version><Enabled>{str(is_enabled).lower()}</Enabled>"
    return f"<{name}>{enabled}{apis}{retention(days)}</{name}>"


def logging_section(*, read: bool = True, write: bool = True, delete: bool = True, days: int | None = None) -> str:
    """The text of Logging."""
    kinds = {"Read": read, "Write": write, "Delete": delete}
    written = "".join(f"<{name}>{str(value).lower()}</{name}>" for name, value in kinds.items())
    return f"<Logging><Version>1.0</Version>{written}{retention(days)}</Logging>"


def retention(days: int | None) -> str:
    """The text of RetentionPolicy."""
    inner = "<Enabled>false</Enabled>" if days is None else f"<Enabled>true</Enabled><Days>{days}</Days>"
    return f"<RetentionPolicy>{inner}</RetentionPolicy>"


def transaction(
    operation: str = "GetEntity",
    *,
    started: int = NOON,
    duration: int = 5 * MILLISECOND,
    outcome: Outcome = Outcome.SUCCESS,
    grant_kind: str = "authenticated",
    is_secondary: bool = False,
    request: Request | None = None,
    response: Response | None = None,
    parts: Iterable[Part] | None = None,
) -> Transaction:
    """A request that took 100 + 10 bytes there and 200 + 20 bytes back."""
    name = OPERATION_NAMES[operation]
    return Transaction(
        ACCOUNT,
        is_secondary,
        name,
        grant_kind,
        outcome,
        request or Request("GET", "/Orders", {"host": "sally.table.example.com"}, b"x" * 10, peer="10.0.0.7:1234"),
        response or Response(200, [], b"x" * 20),
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        started,
        duration,
        100,
        200,
        20,
        lambda: [Part(name.name, "/sally/Orders", "")] if parts is None else parts,
    )
