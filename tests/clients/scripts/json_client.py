"""The client of the scripts `json_*.py`: azure-storage 0.33.0 and 0.36.0 and azure-cosmosdb-table 1.0.6.

They are the same client at three ages, and speak JSON. Each script has a table of its own.
"""

# ruff: noqa: F401 - what the client has at different places in its life is imported here for the scripts

from __future__ import annotations

import runner
from azure.common import AzureConflictHttpError as Conflict
from azure.common import AzureHttpError as Refused
from azure.common import AzureMissingResourceHttpError as Missing
from runner import contains, new_name, raised

try:
    from azure.cosmosdb.table import (
        AzureBatchOperationError,
        EdmType,
        EntityProperty,
        TableBatch,
        TablePayloadFormat,
        TablePermissions,
        TableService,
    )
    from azure.cosmosdb.table.common.models import (
        AccessPolicy,
        AccountPermissions,
        CorsRule,
        Logging,
        Metrics,
        ResourceTypes,
        RetentionPolicy,
    )

    QUOTE = "'"
except ImportError:
    from azure.storage import (
        AccessPolicy,
        AccountPermissions,
        CorsRule,
        Logging,
        Metrics,
        ResourceTypes,
        RetentionPolicy,
    )
    from azure.storage.table import (
        AzureBatchOperationError,
        EdmType,
        EntityProperty,
        TableBatch,
        TablePayloadFormat,
        TablePermissions,
        TableService,
    )

    QUOTE = "''"  # the older ones leave it to the caller to double a quote in the key of an entity to get


def without_retries(service):
    """A service that shows a failure at once."""
    service.retry = lambda context: None
    return service


service = without_retries(TableService(connection_string=runner.CONNECTION_STRING))
in_host = without_retries(
    TableService(
        runner.ACCOUNT,
        runner.KEY,
        protocol=runner.PROTOCOL,
        endpoint_suffix=runner.HOST_BASE.removeprefix(".table").lstrip("."),
    )
)

TABLE = new_name()
service.create_table(TABLE, fail_on_exist=True)


def properties_of(found):
    """What an entity has besides what the server adds to it."""
    return {name: value for name, value in found.items() if name not in ("etag", "Timestamp")}


def stored(partition, row="r"):
    """The properties of an entity that is there."""
    return properties_of(service.get_entity(TABLE, partition, row))


def gone(partition, row="r"):
    """Fail unless there is no such entity."""
    contains(str(raised(Missing, service.get_entity, TABLE, partition, row)), "ResourceNotFound")


def of_partition(partition):
    """The properties of all entities of a partition."""
    return [properties_of(each) for each in service.query_entities(TABLE, f"PartitionKey eq '{partition}'")]
