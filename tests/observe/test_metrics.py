"""Counters and the entity that shows them."""

from __future__ import annotations

import orjson
import pytest

from rowkey.model.entity import Key, compose_entity
from rowkey.observe.metrics import COUNTER_NAMES, Counters
from tests.observe.samples import MILLISECOND, NOON

# The columns of a table that was exported in 2011, in its order.
EXPORTED = [
    "TotalRequests",
    "TotalBillableRequests",
    "TotalIngress",
    "TotalEgress",
    "Availability",
    "AverageE2ELatency",
    "AverageServerLatency",
    "PercentSuccess",
    "PercentThrottlingError",
    "PercentTimeoutError",
    "PercentServerOtherError",
    "PercentClientOtherError",
    "PercentAuthorizationError",
    "PercentNetworkError",
    "Success",
    "AnonymousSuccess",
    "SASSuccess",
    "ThrottlingError",
    "AnonymousThrottlingError",
    "SASThrottlingError",
    "ClientTimeoutError",
    "AnonymousClientTimeoutError",
    "SASClientTimeoutError",
    "ServerTimeoutError",
    "AnonymousServerTimeoutError",
    "SASServerTimeoutError",
    "ClientOtherError",
    "AnonymousClientOtherError",
    "SASClientOtherError",
    "ServerOtherError",
    "AnonymousServerOtherError",
    "SASServerOtherError",
    "AuthorizationError",
    "AnonymousAuthorizationError",
    "SASAuthorizationError",
    "NetworkError",
    "AnonymousNetworkError",
    "SASNetworkError",
]


def counters(ingress: int = 0, egress: int = 0, ticks: int = 0, **counts: int) -> Counters:
    result = Counters()
    result.counts.update(counts)
    result.ingress, result.egress, result.ticks = ingress, egress, ticks
    return result


def shown(value: Counters) -> dict[str, object]:
    """The entity's properties by name."""
    text = compose_entity(Key("20260301T1200", "user;All"), NOON, value.members()).text
    entity: dict[str, object] = orjson.loads(text)
    return entity


def test_columns_have_the_documented_names_types_and_order() -> None:
    members = Counters().members()
    assert list(members) == EXPORTED
    entity = shown(Counters())
    doubles = [name for name in EXPORTED if name.startswith(("Availability", "Average", "Percent"))]
    for name in EXPORTED:
        if name in doubles:
            assert isinstance(entity[name], float)
        else:
            assert (entity[f"{name}@odata.type"], entity[name]) == ("Edm.Int64", "0")


def test_the_documented_example() -> None:
    """The Azure documentation's example of minute metrics: five queries, one read, one update in one minute."""
    whole = counters(2694, 45951, 719 * MILLISECOND, Success=5)
    whole.add(counters(538, 633, 3 * MILLISECOND, Success=1))
    whole.add(counters(771, 217, 9 * MILLISECOND, Success=1))
    entity = shown(whole)
    assert (entity["TotalRequests"], entity["TotalBillableRequests"]) == ("7", "7")
    assert (entity["TotalIngress"], entity["TotalEgress"]) == ("4003", "46801")
    assert (entity["Availability"], entity["PercentSuccess"]) == (100.0, 100.0)
    assert entity["AverageE2ELatency"] == pytest.approx(104.4286, abs=1e-4)


def test_throttled_and_refused_anonymous_requests_do_not_count_for_availability() -> None:
    entity = shown(
        counters(
            Success=6,
            SASClientOtherError=1,
            ServerOtherError=1,
            ServerTimeoutError=1,
            SASAuthorizationError=1,
            ThrottlingError=5,
            AnonymousAuthorizationError=5,
        )
    )
    assert (entity["TotalRequests"], entity["TotalBillableRequests"]) == ("20", "8")
    assert entity["Availability"] == 80.0
    assert (entity["PercentSuccess"], entity["PercentThrottlingError"]) == (30.0, 25.0)
    assert (entity["PercentTimeoutError"], entity["PercentServerOtherError"]) == (5.0, 5.0)
    assert (entity["PercentClientOtherError"], entity["PercentAuthorizationError"]) == (5.0, 30.0)


def test_percentages_join_all_who_asked_and_both_kinds_of_time_out() -> None:
    entity = shown(
        counters(
            SASSuccess=1,
            AnonymousSuccess=1,
            ClientTimeoutError=1,
            SASServerTimeoutError=1,
            NetworkError=3,
            SASNetworkError=1,
        )
    )
    assert (entity["PercentSuccess"], entity["PercentTimeoutError"], entity["PercentNetworkError"]) == (
        25.0,
        25.0,
        50.0,
    )


def test_nothing_asked_is_nothing_failed() -> None:
    entity = shown(Counters())
    assert (entity["Availability"], entity["PercentSuccess"], entity["AverageE2ELatency"]) == (100.0, 0.0, 0.0)


def test_an_entity_tells_all_that_was_counted() -> None:
    """Exactly, also the sum of times, of which it shows the average: nothing is lost by adding to what is stored."""
    value = counters(123, 456, 7_777_777, **{name: 3 * number + 1 for number, name in enumerate(COUNTER_NAMES)})
    text = compose_entity(Key("20260301T1200", "user;All"), NOON, value.members()).text
    read = Counters.of_entity(text)
    assert (read.counts, read.ingress, read.egress, read.ticks) == (value.counts, 123, 456, 7_777_777)


def test_counters_that_only_grew_may_contain_others() -> None:
    small, large = counters(10, 10, Success=2), counters(10, 20, Success=2, NetworkError=1)
    assert small.is_part_of(large)
    assert small.is_part_of(small)
    assert not large.is_part_of(small)
    assert not counters(11, 0).is_part_of(large)
