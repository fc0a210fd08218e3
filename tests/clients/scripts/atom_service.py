"""Service properties, through the clients of `atom_client.py`."""

from __future__ import annotations

from atom_client import service
from runner import equal, run, step


@step("Set Table Service Properties", "XML", "Shared Key")
def logging_and_metrics_are_kept():
    wanted = service.get_table_service_properties()
    metrics = getattr(wanted, "hour_metrics", None) or wanted.metrics  # 0.8.4 knows no others
    wanted.logging.read, wanted.logging.write, wanted.logging.delete = True, False, True
    wanted.logging.retention_policy.enabled, wanted.logging.retention_policy.days = True, 5
    metrics.enabled, metrics.include_apis = True, True
    metrics.retention_policy.enabled, metrics.retention_policy.days = True, 7
    service.set_table_service_properties(wanted)
    found = service.get_table_service_properties()
    metrics = getattr(found, "hour_metrics", None) or found.metrics
    equal((found.logging.read, found.logging.write, found.logging.delete), (True, False, True))
    equal((found.logging.retention_policy.enabled, found.logging.retention_policy.days), (True, 5))
    equal((metrics.enabled, metrics.include_apis), (True, "true"))
    equal((metrics.retention_policy.enabled, metrics.retention_policy.days), (True, 7))


@step("Get Table Service Properties", "XML", "Shared Key")
def logging_and_metrics_are_there():
    found = service.get_table_service_properties()
    equal(found.logging.version, "1.0")
    equal((getattr(found, "hour_metrics", None) or found.metrics).version, "1.0")
    if hasattr(found, "minute_metrics"):
        equal(found.minute_metrics.version, "1.0")


if __name__ == "__main__":
    run()
