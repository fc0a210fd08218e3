"""What the service properties ask for besides CORS: which requests are logged and counted, and how long that stays."""

from typing import NamedTuple


class Logging(NamedTuple):
    """Which kinds of requests are logged; `retention_days` is None where the log is kept for ever."""

    read: bool = False
    write: bool = False
    delete: bool = False
    retention_days: int | None = None


class Metrics(NamedTuple):
    """Whether requests are counted, also each operation by itself; `retention_days` as with `Logging`."""

    is_enabled: bool = False
    include_apis: bool = False
    retention_days: int | None = None
