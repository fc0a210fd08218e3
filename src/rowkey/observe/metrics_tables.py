"""The tables of metrics: ordinary tables of the store, with names that nobody else can give.

Reference: "Storage Analytics metrics table schema". They are never listed, and requests can only read them; once made
they stay, whatever the service properties say later.
"""

from collections.abc import Mapping

from rowkey.errors import TableAlreadyExists
from rowkey.model.datetimes import TICKS_PER_SECOND, format_datetime
from rowkey.model.service_properties import Logging, Metrics
from rowkey.payload.service_properties import read_logging, read_metrics
from rowkey.store.interface import Store, Table

HOUR_TABLES = ("$MetricsHourPrimaryTransactionsTable", "$MetricsHourSecondaryTransactionsTable")
"""For requests to the primary, and for those to the secondary."""
MINUTE_TABLES = ("$MetricsMinutePrimaryTransactionsTable", "$MetricsMinuteSecondaryTransactionsTable")

_OLD_NAMES = {"$metricstransactionstable": HOUR_TABLES[0]}
"""What the table of hours was called before 2013-08-15, "while these names are still supported"."""

FIRST_LISTED = "%"
"""What all names of tables that are listed come after: the character after `$`."""

TICKS_PER_MINUTE = 60 * TICKS_PER_SECOND
TICKS_PER_HOUR = 60 * TICKS_PER_MINUTE


def logging_of(sections: Mapping[str, str]) -> Logging:
    """What an account's service properties say about the log."""
    text = sections.get("Logging")
    return Logging() if text is None else read_logging(text)


def hour_metrics_of(sections: Mapping[str, str]) -> Metrics:
    """What they say about metrics of hours."""
    text = sections.get("HourMetrics")
    return Metrics() if text is None else read_metrics(text)


def minute_metrics_of(sections: Mapping[str, str]) -> Metrics:
    """What they say about metrics of minutes."""
    text = sections.get("MinuteMetrics")
    return Metrics() if text is None else read_metrics(text)


async def ensure_metrics_tables(store: Store, account: str, sections: Mapping[str, str]) -> None:
    """Make the tables that metrics need which these sections of service properties switch on."""
    names: list[str] = []
    if hour_metrics_of(sections).is_enabled:
        names += HOUR_TABLES
    if minute_metrics_of(sections).is_enabled:
        names += MINUTE_TABLES
    for name in names:
        await require_metrics_table(store, account, name)


async def require_metrics_table(store: Store, account: str, name: str) -> Table:
    """The table of that name, made if need be."""
    while True:
        table = await store.find_table(account, name)
        if table is not None:
            return table
        try:
            return await store.create_table(account, name)
        except TableAlreadyExists:  # made by another process in this moment
            continue


async def find_renamed_table(store: Store, account: str, name: str) -> Table | None:
    """The table that an old name means."""
    current = _OLD_NAMES.get(name.lower())
    return None if current is None else await store.find_table(account, current)


def partition_key_of(ticks: int) -> str:
    """The partition key of the period that begins at `ticks`: `20140522T1100`."""
    return format_datetime(ticks)[:16].translate(_WITHOUT_SIGNS)


_WITHOUT_SIGNS = str.maketrans("", "", "-:")
