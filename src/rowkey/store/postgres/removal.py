"""Removing what is left of deleted tables, some entities at a time.

A table is deleted by a change of its segments' state; its entities go later, in steps that are short enough to leave
the database to others. Each front end looks now and then, and after it has deleted a table itself; two that are at work
on one segment remove nothing twice. The segment itself stays for an hour, so that a write which was on its way when the
table was deleted, and has landed after it, is removed too.
"""

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rowkey.errors import ServiceError
from rowkey.store.key_code import AFTER_ALL
from rowkey.store.postgres import statements

if TYPE_CHECKING:
    from rowkey.store.postgres.lane import Job, Lane

log = logging.getLogger(__name__)

_LOOK_SECONDS = 300.0
_STEP_ENTITIES = 2000
_PAUSE_SECONDS = 0.05


class Removal:
    """Removes in the background, over connections that the pages of clients have too."""

    def __init__(self, lane: "Lane") -> None:
        self._lane = lane
        self._is_asked = asyncio.Event()
        self._task = asyncio.create_task(self._keep_removing(), name="rowkey-removal")

    def begin_soon(self) -> None:
        """A table was deleted."""
        self._is_asked.set()

    async def close(self) -> None:
        """Stop; what is left is removed another time."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _keep_removing(self) -> None:
        while True:
            timer = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._is_asked.set)
            await self._is_asked.wait()
            timer.cancel()
            self._is_asked.clear()
            try:
                await self._remove_all()
            except ServiceError as error:
                log.info("removing what is left of deleted tables is put off: %s", error)

    async def _remove_all(self) -> None:
        while segments := await self._run(statements.LIST_REMOVED):
            for segment, was_empty in segments:
                await self._remove_entities(segment)
                await self._run(statements.FORGET_SEGMENT if was_empty else statements.NOTE_EMPTY, segment)

    async def _remove_entities(self, segment: int) -> None:
        start = (b"", b"")
        while True:
            following = await self._run(statements.KEY_AFTER, segment, *start, _STEP_ENTITIES)
            end = (following[0][0], following[0][1]) if following else (AFTER_ALL, b"")
            await self._run(statements.REMOVE_ENTITIES, segment, *start, *end)
            if not following:
                return
            start = end
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _run(self, sql: str, *arguments: object) -> Any:
        """Run a statement, again if its outcome is not known: nothing here does harm twice."""
        job: Job = lambda session: session.read(sql, *arguments)  # noqa: E731 - typed
        return await self._lane.submit(job)
