"""Copying everything from one store to another, with the timestamps that it has: ETags stay what clients know.

An archive is a store laid open for this: nothing else uses it meanwhile. The verbs of a store give every write a time
of its own, so an archive has ways around them, which nothing else may use (`embedded/archive.py`,
`postgres/archive.py`).

Entities come in the order of their keys, so the last key in the target says where a copy that was interrupted goes on.
A table is the copy's own where it was created at the same tick as the source's; another one of its name is an error.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from rowkey.model.entity import Key

CHUNK_ENTITIES = 500
"""Entities that are copied at once: 500 MiB, if all are as large as can be."""


class TransferError(Exception):
    """The copy cannot be made, or is not what it should be; the text says why and what to do."""


class ArchivedTable(NamedTuple):
    """A table with all that belongs to it but its entities; `created` in ticks."""

    account: str
    name: str
    created: int
    policies: str
    indexes: tuple[str, ...]


class ArchivedEntity(NamedTuple):
    """An entity as it is stored."""

    key: Key
    timestamp: int
    text: str


class Archive(Protocol):
    """A store laid open. The source needs the reading verbs, the target all of them."""

    async def read_tables(self) -> Sequence[ArchivedTable]:
        """All tables of all accounts, in order."""

    async def read_properties(self) -> Sequence[tuple[str, str, str]]:
        """The service properties of all accounts: account, section, text."""

    async def read_entities(self, table: ArchivedTable, after: Key | None, limit: int) -> Sequence[ArchivedEntity]:
        """Some entities after a key, or the first ones, in order; fewer than asked for only at the end."""

    async def last_key(self, table: ArchivedTable) -> Key | None:
        """The key of the last entity."""

    async def add_table(self, table: ArchivedTable) -> None:
        """Have this table, with its policies and indexes; raises TransferError where another one has its name."""

    async def put_properties(self, sections: Sequence[tuple[str, str, str]]) -> None:
        """Have these service properties."""

    async def add_entities(self, table: ArchivedTable, entities: Sequence[ArchivedEntity]) -> None:
        """Have these entities, all or none, on disk when it returns; those that are there stay."""

    async def close(self) -> None:
        """Let go of everything."""


@dataclass(slots=True)
class Contents:
    """How many entities a table has, and the digest of their wire texts in order."""

    entities: int = 0
    digest: str = ""


Report = Callable[[str, int], None]
"""Is told of progress: the table, and how many of its entities have been copied so far."""


async def copy(source: Archive, target: Archive, report: Report) -> dict[ArchivedTable, Contents]:
    """Copy all tables and settings, and compare; raises TransferError.

    Whatever the target has besides stays. It may be called again after it was interrupted.
    """
    tables = await source.read_tables()
    await target.put_properties(await source.read_properties())
    copied: dict[ArchivedTable, Contents] = {}
    for table in tables:
        await target.add_table(table)
        await _copy_entities(source, target, table, report)
        copied[table] = await _compare(source, target, table)
    return copied


async def _copy_entities(source: Archive, target: Archive, table: ArchivedTable, report: Report) -> None:
    done = 0
    async for entities in _chunks(source, table, await target.last_key(table)):
        await target.add_entities(table, entities)
        done += len(entities)
        report(f"{table.account}/{table.name}", done)


async def _compare(source: Archive, target: Archive, table: ArchivedTable) -> Contents:
    wanted, found = await _summarize(source, table), await _summarize(target, table)
    if wanted != found:
        raise TransferError(
            f"The copy of {table.account}/{table.name} differs: {found.entities:,} entities instead of "
            f"{wanted.entities:,}, or other texts. Something has written to one of the two meanwhile, or since a copy "
            "that was interrupted: stop all servers, delete the table in the target, and copy again."
        )
    return wanted


async def _summarize(archive: Archive, table: ArchivedTable) -> Contents:
    count, digest = 0, hashlib.sha256()
    async for entities in _chunks(archive, table, None):
        count += len(entities)
        for entity in entities:
            digest.update(b"%d %b\n" % (entity.timestamp, entity.text.encode("ascii")))
    return Contents(count, digest.hexdigest())


async def _chunks(archive: Archive, table: ArchivedTable, after: Key | None) -> AsyncIterator[Sequence[ArchivedEntity]]:
    while entities := await archive.read_entities(table, after, CHUNK_ENTITIES):
        yield entities
        after = entities[-1].key
