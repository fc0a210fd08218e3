"""The client of the scripts `atom_*.py`: azure 0.8.4 and 0.11.1 and azure-storage 0.20.3, which speak Atom only.

Their `TableService` has nearly the same methods. It writes keys into URLs as they are, so that a caller doubles quotes.
Each script has a table of its own.
"""

# ruff: noqa: F401 - what the client has at different places in its life is imported here for the scripts

from __future__ import annotations

import runner
from runner import entity, new_name, raised

try:  # azure-storage
    from azure.common import AzureConflictHttpError as Conflict
    from azure.common import AzureHttpError as Refused
    from azure.common import AzureMissingResourceHttpError as Missing
    from azure.storage import AzureBatchOperationError as BatchRefused
    from azure.storage.table import EntityProperty, TableService
except ImportError:  # azure
    from azure import WindowsAzureBatchOperationError as BatchRefused
    from azure import WindowsAzureConflictError as Conflict
    from azure import WindowsAzureError as Refused
    from azure import WindowsAzureMissingResourceError as Missing
    from azure.storage import EntityProperty, TableService

service = TableService(runner.ACCOUNT, runner.KEY, runner.PROTOCOL, runner.HOST_BASE)

TABLE = new_name()
service.create_table(TABLE, fail_on_exist=True)


def insert(partition, row="r", **properties):
    """Insert an entity, and return the etag that the answer told."""
    return service.insert_entity(TABLE, entity(partition, row, **properties)).etag


def properties_of(found):
    """What an entity has besides what the server adds to it."""
    return {name: value for name, value in vars(found).items() if name not in ("etag", "Timestamp")}


def stored(partition, row="r"):
    """The properties of an entity that is there."""
    return properties_of(service.get_entity(TABLE, partition, row))


def gone(partition, row="r"):
    """Fail unless there is no such entity."""
    raised(Missing, service.get_entity, TABLE, partition, row)
