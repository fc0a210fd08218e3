"""What analytics calls the operations, and which of the three kinds of logging each belongs to.

The names are those of the reference ("Storage Analytics logged operations and status messages"), and where it has none,
of the same form. A request that fails before its operation is known is recorded as `Unknown`, as the service does
(Windows Azure Storage team blog, 2011-08-03: Storage Metrics).
"""

from enum import Enum
from typing import NamedTuple


class LogKind(Enum):
    """What the `Logging` section switches on or off one by one."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"

    __hash__ = object.__hash__  # members are singletons; Enum's own is a call in Python for each look-up


class OperationName(NamedTuple):
    """An operation as analytics knows it."""

    name: str
    kind: LogKind


_NAMES = {
    # operation            recorded as
    "QueryTables": ("QueryTables", LogKind.READ),
    "GetTable": ("QueryTable", LogKind.READ),
    "CreateTable": ("CreateTable", LogKind.WRITE),
    "TableBelowTable": ("InsertEntity", LogKind.WRITE),
    "DeleteTable": ("DeleteTable", LogKind.DELETE),
    "QueryEntities": ("QueryEntities", LogKind.READ),
    "GetEntity": ("QueryEntity", LogKind.READ),
    "InsertEntity": ("InsertEntity", LogKind.WRITE),
    "UpdateEntity": ("UpdateEntity", LogKind.WRITE),
    "MergeEntity": ("MergeEntity", LogKind.WRITE),
    "InsertOrReplaceEntity": ("InsertOrReplaceEntity", LogKind.WRITE),
    "InsertOrMergeEntity": ("InsertOrMergeEntity", LogKind.WRITE),
    "DeleteEntity": ("DeleteEntity", LogKind.DELETE),
    "EntityGroupTransaction": ("EntityGroupTransaction", LogKind.WRITE),
    "GetTableServiceProperties": ("GetTableServiceProperties", LogKind.READ),
    "SetTableServiceProperties": ("SetTableServiceProperties", LogKind.WRITE),
    "GetTableServiceStats": ("GetTableServiceStats", LogKind.READ),
    "GetTableACL": ("GetTableACL", LogKind.READ),
    "SetTableACL": ("SetTableACL", LogKind.WRITE),
    "PreflightTableRequest": ("TablePreflightRequest", LogKind.READ),
    "GetServiceDocument": ("GetServiceDocument", LogKind.READ),
    "GetMetadata": ("GetMetadata", LogKind.READ),
}
OPERATION_NAMES = {operation: OperationName(*name) for operation, name in _NAMES.items()}
"""By the name of the operation's class."""

_UNKNOWN = {kind: OperationName("Unknown", kind) for kind in LogKind}
_KINDS_OF_METHODS = {
    "GET": LogKind.READ,
    "HEAD": LogKind.READ,
    "OPTIONS": LogKind.READ,
    "DELETE": LogKind.DELETE,
}


def name_operation(operation: type | None, method: str) -> OperationName:
    """The name of an operation's class; of a request by `method` that did not come to one, for None."""
    if operation is not None:
        name = OPERATION_NAMES.get(operation.__name__)
        if name is not None:
            return name
    return _UNKNOWN[_KINDS_OF_METHODS.get(method, LogKind.WRITE)]
