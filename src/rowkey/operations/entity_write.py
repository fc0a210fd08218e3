"""What the six entity writes have in common: a write of one entity, and an answer made of its ETag."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from rowkey.errors import MissingRequiredHeader
from rowkey.model.entity import Entity, ordinal
from rowkey.model.key_range import KeyRange
from rowkey.model.names import verify_key_value
from rowkey.model.writes import Condition, Mode, Write, verify_limits
from rowkey.operations.operation import Operation, is_within, require_table
from rowkey.payload.properties import read_entity
from rowkey.payload.request_body import read_properties
from rowkey.store.interface import Store
from rowkey.wire.call import Call
from rowkey.wire.prefer import RETURN_NO_CONTENT, read_preference
from rowkey.wire.request import Request, Response
from rowkey.wire.version import UPSERT_SINCE


@dataclass(slots=True)
class EntityWrite(Operation):
    """A write of one entity of `table`; in an entity group transaction all writes go to the store at once."""

    table: str
    write: Write

    @classmethod
    @abstractmethod
    def decode(cls, call: Call) -> Self:
        """The write that a call asks for; raises ServiceError."""

    def confine(self, bounds: KeyRange) -> bool:
        return is_within(bounds, self.write.key)

    async def run(self, store: Store, account: str) -> Entity | None:
        table = await require_table(store, account, self.table)
        return (await store.write(table, (self.write,)))[0]

    @abstractmethod
    def respond(self, call: Call, result: Any) -> Response:
        """The answer for the entity after the write, None once deleted."""


@dataclass(slots=True)
class EntityChange(EntityWrite):
    """A write of an entity at a known address, answered 204 with the new ETag."""

    preference: str | None

    def respond(self, call: Call, result: Entity) -> Response:
        headers = [("ETag", result.etag)]
        if self.preference is not None:
            # Recorded for PUT and MERGE: whatever was preferred, nothing is returned.
            headers.insert(0, ("Preference-Applied", RETURN_NO_CONTENT))
        return Response(204, headers)


def decode_change(
    call: Call, mode: Mode, read_condition: Callable[[Request], Condition | int]
) -> tuple[str, Write, str | None]:
    """The fields of an EntityChange. The keys are those of the address; any in the body are ignored (recorded).

    The body comes first, its format before all, and the condition last: that is the service's order.
    """
    members = read_entity(read_properties(call.request, call.version.date), call.version.date)
    key = call.resource.key
    verify_key_value("PartitionKey", key.partition_key)
    verify_key_value("RowKey", key.row_key)
    verify_limits(key, members, len(call.request.body))
    condition = read_condition(call.request)
    if condition is Condition.ANY and call.version.date < UPSERT_SINCE:
        raise MissingRequiredHeader
    write = Write(mode, key, {name: members[name] for name in sorted(members, key=ordinal)}, condition)
    return call.resource.table, write, read_preference(call.request, call.version)
