"""Service properties and statistics, through the clients of `json_client.py`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from json_client import CorsRule, Logging, Metrics, Refused, RetentionPolicy, in_host, service
from runner import contains, equal, raised, run, step


def on(days):
    """A retention policy that is on."""
    return RetentionPolicy(True, days)


def retention(of):
    """Whether something is kept, and for how long."""
    return of.retention_policy.enabled, of.retention_policy.days


@step("Set Table Service Properties", "XML", "Shared Key")
def logging_is_kept():
    service.set_table_service_properties(logging=Logging(delete=True, read=False, write=True, retention_policy=on(5)))
    found = service.get_table_service_properties().logging
    equal((found.version, found.delete, found.read, found.write), ("1.0", True, False, True))
    equal(retention(found), (True, 5))


@step("Set Table Service Properties", "XML", "Shared Key")
def metrics_are_kept():
    service.set_table_service_properties(
        hour_metrics=Metrics(enabled=True, include_apis=True, retention_policy=on(7)),
        minute_metrics=Metrics(enabled=True, include_apis=False),
    )
    found = service.get_table_service_properties()
    equal((found.hour_metrics.enabled, found.hour_metrics.include_apis), (True, True))
    equal(retention(found.hour_metrics), (True, 7))
    equal((found.minute_metrics.enabled, found.minute_metrics.include_apis), (True, False))
    equal(retention(found.minute_metrics), (False, None))


@step("Set Table Service Properties", "XML", "Shared Key")
def cors_rules_are_kept_and_taken_away():
    rule = CorsRule(
        allowed_origins=["http://www.contoso.example", "http://www.fabrikam.example"],
        allowed_methods=["GET", "PUT"],
        max_age_in_seconds=500,
        exposed_headers=["x-ms-meta-data*", "x-ms-meta-source*", "x-ms-meta-abc"],
        allowed_headers=["x-ms-meta-data*", "x-ms-meta-xyz"],
    )
    service.set_table_service_properties(cors=[rule, CorsRule(["*"], ["GET"])])
    found = service.get_table_service_properties().cors
    equal([sorted(each.allowed_origins) for each in found], [sorted(rule.allowed_origins), ["*"]])
    equal([each.allowed_methods for each in found], [["GET", "PUT"], ["GET"]])
    equal([each.max_age_in_seconds for each in found], [500, 0])
    equal([sorted(each.exposed_headers) for each in found], [sorted(rule.exposed_headers), []])
    equal([sorted(each.allowed_headers) for each in found], [sorted(rule.allowed_headers), []])
    service.set_table_service_properties(cors=[])
    equal(service.get_table_service_properties().cors, [])


@step("Set Table Service Properties", "XML", "Shared Key")
def what_is_not_set_stays():
    service.set_table_service_properties(
        logging=Logging(read=True), cors=[CorsRule(["http://www.contoso.example"], ["GET"])]
    )
    service.set_table_service_properties(minute_metrics=Metrics(enabled=False))
    found = service.get_table_service_properties()
    equal((found.logging.read, found.minute_metrics.enabled, len(found.cors)), (True, False, 1))


@step("Set Table Service Properties", "XML", "Shared Key")
def too_long_a_retention_is_refused():
    error = raised(Refused, service.set_table_service_properties, logging=Logging(retention_policy=on(366)))
    equal(error.status_code, 400)
    contains(str(error), "InvalidXmlDocument")


@step("Get Table Service Properties", "XML", "Shared Key")
def properties_of_the_service_are_there():
    for found in (service.get_table_service_properties(), in_host.get_table_service_properties()):
        equal((found.logging.version, found.hour_metrics.version, found.minute_metrics.version), ("1.0",) * 3)
        equal(type(found.cors), list)


@step("Get Table Service Stats", "XML", "Shared Key")
def the_secondary_tells_that_it_is_live():
    found = in_host.get_table_service_stats().geo_replication
    equal(found.status, "live")
    equal(abs(found.last_sync_time - datetime.now(UTC)) < timedelta(minutes=5), True)


if __name__ == "__main__":
    run()
