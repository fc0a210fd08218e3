"""The counters of one period, and the entity of a metrics table that shows them.

Columns, types and what they are made of: "Storage Analytics metrics table schema" in the reference, with the formulas
of the Windows Azure Storage team blog, 2011-08-03 (Storage Metrics); the order of the columns is that of a table that
was exported in 2011.

    TotalBillableRequests   all but throttling, the server's own errors, and anonymous requests that were refused
    Availability            100 * billable / (all but throttling and anonymous requests that were refused)
    Average...Latency       of the successful requests, in milliseconds
    Percent...              of all requests, whoever asked; time-outs of both kinds together

What the network takes is not seen here, so the two latencies are the same. All of it can be read back from the entity:
a sum of times is the average times the number of successes, exactly, since it is a whole number of ticks.
"""

from collections.abc import Iterable
from typing import Self

import orjson

from rowkey.model.edm import EdmType, format_double
from rowkey.observe.transaction import PREFIXES, Outcome, counter_name

_KINDS = ("authenticated", "anonymous", "sas")
COUNTER_NAMES = tuple(counter_name(kind, outcome) for outcome in Outcome for kind in _KINDS)
"""The columns that count requests, in the order of the table."""

_TICKS_PER_MILLISECOND = 10_000


def _names(*outcomes: Outcome) -> tuple[str, ...]:
    return tuple(counter_name(kind, outcome) for outcome in outcomes for kind in _KINDS)


_SUCCESSES = _names(Outcome.SUCCESS)
_REFUSED_STRANGERS = PREFIXES["anonymous"] + Outcome.AUTHORIZATION_ERROR.value
_NOT_APPLICABLE = (*_names(Outcome.THROTTLING_ERROR), _REFUSED_STRANGERS)
_FAILURES = _names(Outcome.SERVER_TIMEOUT_ERROR, Outcome.SERVER_OTHER_ERROR)
_PERCENTAGES = {
    "PercentSuccess": _SUCCESSES,
    "PercentThrottlingError": _names(Outcome.THROTTLING_ERROR),
    "PercentTimeoutError": _names(Outcome.CLIENT_TIMEOUT_ERROR, Outcome.SERVER_TIMEOUT_ERROR),
    "PercentServerOtherError": _names(Outcome.SERVER_OTHER_ERROR),
    "PercentClientOtherError": _names(Outcome.CLIENT_OTHER_ERROR),
    "PercentAuthorizationError": _names(Outcome.AUTHORIZATION_ERROR),
    "PercentNetworkError": _names(Outcome.NETWORK_ERROR),
}


class Counters:
    """What was counted of some requests: how many ended how, bytes both ways, the ticks that successes took."""

    __slots__ = ("counts", "egress", "ingress", "ticks")

    def __init__(self) -> None:
        self.counts = dict.fromkeys(COUNTER_NAMES, 0)
        self.ingress = 0
        self.egress = 0
        self.ticks = 0

    @property
    def total(self) -> int:
        """Number of all requests."""
        return sum(self.counts.values())

    def add(self, other: "Counters") -> None:
        """Count the requests of `other` too."""
        for name, count in other.counts.items():
            self.counts[name] += count
        self.ingress += other.ingress
        self.egress += other.egress
        self.ticks += other.ticks

    def is_part_of(self, other: "Counters") -> bool:
        """Whether `other` may have these requests among its own: nothing that is counted here is less there."""
        return (
            all(count <= other.counts[name] for name, count in self.counts.items())
            and self.ingress <= other.ingress
            and self.egress <= other.egress
        )

    def members(self) -> dict[str, str]:
        """The properties of the entity that shows them, as members."""
        counts, total = self.counts, self.total
        not_applicable, successes = self._count(_NOT_APPLICABLE), self._count(_SUCCESSES)
        applicable = total - not_applicable
        billable = applicable - self._count(_FAILURES)
        latency = self.ticks / _TICKS_PER_MILLISECOND / successes if successes else 0.0
        whole = {
            "TotalRequests": total,
            "TotalBillableRequests": billable,
            "TotalIngress": self.ingress,
            "TotalEgress": self.egress,
        }
        parts = {
            # Nothing has failed where nothing was asked.
            "Availability": 100.0 * billable / applicable if applicable else 100.0,
            "AverageE2ELatency": latency,
            "AverageServerLatency": latency,
        }
        for name, counted in _PERCENTAGES.items():
            parts[name] = 100.0 * self._count(counted) / total if total else 0.0
        return {
            **{name: _write_int64(name, value) for name, value in whole.items()},
            **{name: f'"{name}":{format_double(value)}' for name, value in parts.items()},
            **{name: _write_int64(name, value) for name, value in counts.items()},
        }

    @classmethod
    def of_entity(cls, text: str) -> Self:
        """What an entity's wire text shows."""
        values = orjson.loads(text)
        counters = cls()
        for name in COUNTER_NAMES:
            counters.counts[name] = int(values[name])
        counters.ingress, counters.egress = int(values["TotalIngress"]), int(values["TotalEgress"])
        successes = counters._count(_SUCCESSES)
        counters.ticks = round(values["AverageE2ELatency"] * _TICKS_PER_MILLISECOND * successes)
        return counters

    def _count(self, names: Iterable[str]) -> int:
        return sum(self.counts[name] for name in names)


def _write_int64(name: str, value: int) -> str:
    return f'"{name}@odata.type":"{EdmType.INT64}","{name}":"{value}"'
