"""The azure-data-tables package on what is not data: access policies, service properties, stats."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.data.tables import (
    TableAccessPolicy,
    TableAnalyticsLogging,
    TableCorsRule,
    TableMetrics,
    TableRetentionPolicy,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from azure.data.tables import TableServiceClient

START, EXPIRY = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2039, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def properties_as_they_were(service: TableServiceClient) -> Iterator[None]:
    """Other tests find the account as it was."""
    yield
    off = TableMetrics(enabled=False, retention_policy=TableRetentionPolicy(enabled=False))
    service.set_service_properties(
        analytics_logging=TableAnalyticsLogging(), hour_metrics=off, minute_metrics=off, cors=[]
    )


def test_access_policies_come_back(service: TableServiceClient, table_name: str) -> None:
    with service.create_table(table_name) as table:
        assert table.get_table_access_policy() == {}
        policy = TableAccessPolicy(start=START, expiry=EXPIRY, permission="raud")
        table.set_table_access_policy({"full": policy, "empty": None, "r": TableAccessPolicy(permission="r")})

        policies = table.get_table_access_policy()

        assert list(policies) == ["full", "empty", "r"]
        full, empty, read = policies.values()
        assert full is not None
        assert read is not None
        assert (full.start, full.expiry, full.permission) == (START, EXPIRY, "raud")
        assert empty is None
        assert (read.start, read.permission) == (None, "r")
        table.set_table_access_policy({})
        assert table.get_table_access_policy() == {}
        table.delete_table()
        with pytest.raises(ResourceNotFoundError):
            table.get_table_access_policy()


def test_more_than_five_policies_are_refused(service: TableServiceClient, table_name: str) -> None:
    """The client makes a ValueError of InvalidXmlDocument."""
    with service.create_table(table_name) as table, pytest.raises(ValueError, match="Too many access policies"):
        table.set_table_access_policy({str(number): None for number in range(6)})
    service.delete_table(table_name)


def test_properties_come_back_and_the_others_stay(service: TableServiceClient) -> None:
    week = TableRetentionPolicy(enabled=True, days=7)
    service.set_service_properties(
        analytics_logging=TableAnalyticsLogging(read=True, write=True, delete=True, retention_policy=week),
        minute_metrics=TableMetrics(enabled=True, include_apis=True, retention_policy=week),
    )
    service.set_service_properties(cors=[TableCorsRule(["*"], ["GET"], exposed_headers=["x-ms-*", "ETag"])])

    properties: dict[str, Any] = service.get_service_properties()

    logging = properties["analytics_logging"]
    assert (logging.read, logging.write, logging.delete, logging.retention_policy.days) == (True, True, True, 7)
    assert properties["minute_metrics"].include_apis is True
    assert properties["hour_metrics"].enabled is False
    (rule,) = properties["cors"]
    assert (rule.allowed_origins, rule.allowed_methods) == (["*"], ["GET"])
    assert rule.exposed_headers == ["ETag", "x-ms-*"]


def test_stats_of_the_secondary(service: TableServiceClient) -> None:
    """The client asks its secondary endpoint, `/account-secondary/account`."""
    stats: dict[str, Any] = service.get_service_stats()
    replication = stats["geo_replication"]
    assert replication["status"] == "live"
    assert abs(replication["last_sync_time"] - datetime.now(UTC)).total_seconds() < 60
