"""What may be done, and the value that says who may do it.

Every operation names the one right that it needs; every way to authenticate makes a grant, which is asked once for
each operation, also for those inside a batch.
"""

from abc import ABC, abstractmethod
from enum import Enum
from typing import ClassVar

from rowkey.errors import AuthorizationFailure, ServiceError
from rowkey.model.key_range import KeyRange


class Right(Enum):
    """The right to do something, in the terms that all kinds of authorisation can be expressed in."""

    READ_SERVICE = "read the service's properties and statistics"
    WRITE_SERVICE = "change the service's properties"
    LIST_TABLES = "see which tables there are"
    CREATE_TABLE = "create a table"
    DELETE_TABLE = "delete a table"
    ACCESS_POLICIES = "read and change a table's stored access policies"
    INDEXES = "see and change a table's indexes"
    QUERY = "read entities"
    INSERT = "add an entity"
    CHANGE = "update or merge an entity that exists"
    UPSERT = "add an entity, or change the one that exists"
    DELETE = "delete an entity"
    TRANSACT = "send a batch; each operation in it is asked about by itself"
    PREFLIGHT = "ask which requests of other origins are allowed"

    __hash__ = object.__hash__  # members are singletons; Enum's own is a call in Python for each look-up


class Grant(ABC):
    """What an authenticated request may do.

    `kind` says how it was authenticated: "authenticated" (with an account key), "sas", "bearer" or "anonymous".
    `key_range` bounds the entities that may be touched, None where all may be.
    """

    __slots__ = ()

    kind: ClassVar[str]
    key_range: KeyRange | None = None

    @abstractmethod
    def permit(self, right: Right, table: str) -> None:
        """Raise the ServiceError that refuses the right; `table` is the name as addressed, empty for none."""

    def outside(self) -> ServiceError:
        """What refuses an entity outside of `key_range`."""
        return AuthorizationFailure()
