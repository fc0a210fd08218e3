"""Insert Entity: POST /Table."""

from dataclasses import dataclass
from typing import Self

from rowkey.model.entity import Entity
from rowkey.model.names import verify_key_value
from rowkey.model.rights import Right
from rowkey.model.writes import Condition, Mode, Write, verify_limits
from rowkey.operations.entity_write import EntityWrite
from rowkey.payload.answer_body import write_entry
from rowkey.payload.properties import read_new_entity
from rowkey.payload.request_body import read_properties
from rowkey.payload.views import EntityView, entity_link
from rowkey.wire.call import Call
from rowkey.wire.media import Format, body_format, content_type
from rowkey.wire.prefer import RETURN_NO_CONTENT, read_preference
from rowkey.wire.request import Response


@dataclass(slots=True)
class InsertEntity(EntityWrite):
    """`format` is how the entity is returned, None where the client prefers that it is not."""

    right = Right.INSERT

    preference: str | None
    format: Format | None

    @classmethod
    def decode(cls, call: Call) -> Self:
        preference = read_preference(call.request, call.version)
        wanted = None if preference == RETURN_NO_CONTENT else body_format(call.format)
        date = call.version.date
        key, members = read_new_entity(read_properties(call.request, date), date)
        verify_key_value("PartitionKey", key.partition_key)
        verify_key_value("RowKey", key.row_key)
        verify_limits(key, members, len(call.request.body))
        return cls(call.resource.table, Write(Mode.SET, key, members, Condition.ABSENT), preference, wanted)

    def respond(self, call: Call, result: Entity) -> Response:
        base = call.address.base
        url = f"{base}/{entity_link(self.table, *self.write.key)}"
        headers = [("Preference-Applied", self.preference)] if self.preference else []
        headers.append(("Location", url))
        if self.format is None:
            return Response(204, [*headers, ("DataServiceId", url), ("ETag", result.etag)])
        body = write_entry(result.text, EntityView(self.format, base, call.address.account, self.table, call.now))
        return Response(201, [("Content-Type", content_type(self.format)), *headers, ("ETag", result.etag)], body)
