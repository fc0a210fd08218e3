"""The writing process's end of a link: takes the verbs of another process and answers each when it is done.

Writes go straight to the writer, where they meet those of the other links and of this process's own clients: one group,
one sync. The verdicts of a group leave in one frame.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, cast

from rowkey.errors import ServiceError
from rowkey.model.entity import Entity
from rowkey.model.writes import Write
from rowkey.store.embedded.frames import Answer, FrameReader, pack_entities, pack_error, unpack_writes, write_frame
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import Table

log = logging.getLogger(__name__)


class Desk(asyncio.Protocol):
    """Serves one link; `forget` is called when it has ended."""

    def __init__(self, store: EmbeddedStore, *, forget: "Callable[[Desk], None]") -> None:
        self._store = store
        self._forget = forget
        self._loop = asyncio.get_running_loop()
        self._frames = FrameReader()
        self._transport: asyncio.WriteTransport | None = None
        self._answers: list[Answer] = []
        self._running: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._forget(self)

    def data_received(self, data: bytes) -> None:
        for number, verb, arguments in self._frames.feed(data):
            if verb == "write":
                table, packed = arguments
                writes = unpack_writes(packed)
                self._store.submit_write(Table(*table), writes, _WriteVerdict(self, number, writes))
            else:
                task = self._loop.create_task(self._run(number, _VERBS[verb](self._store, *arguments)))
                self._running.add(task)
                task.add_done_callback(self._running.discard)

    async def _run(self, number: int, verb: Coroutine[Any, Any, Any]) -> None:
        try:
            result = await verb
        except Exception as error:
            self.refuse(number, error)
        else:
            self.answer((number, result, None))

    def answer(self, answer: Answer) -> None:
        """Send an answer with the others of this turn."""
        if not self._answers:
            self._loop.call_soon(self._flush)
        self._answers.append(answer)

    def refuse(self, number: int, error: Exception) -> None:
        """Send an error with the other answers of this turn."""
        if not isinstance(error, ServiceError):
            log.error("a change that another process asked for failed", exc_info=error)
        self.answer((number, None, pack_error(error)))

    def _flush(self) -> None:
        answers, self._answers = self._answers, []
        if self._transport is not None:
            self._transport.write(write_frame(answers))


class _WriteVerdict:
    """Stands where a future would: who waits is in another process."""

    __slots__ = ("_desk", "_number", "_writes")

    def __init__(self, desk: Desk, number: int, writes: Sequence[Write]) -> None:
        self._desk = desk
        self._number = number
        self._writes = writes

    def done(self) -> bool:
        return False

    def set_result(self, entities: Sequence[Entity | None], /) -> None:
        self._desk.answer((self._number, pack_entities(self._writes, entities), None))

    def set_exception(self, exception: Exception, /) -> None:
        self._desk.refuse(self._number, exception)


async def _create_table(store: EmbeddedStore, account: str, name: str) -> tuple[Any, ...]:
    return tuple(await store.create_table(account, name))


async def _set_policies(store: EmbeddedStore, table: tuple[Any, ...], text: str) -> None:
    await store.set_policies(Table(*table), text)


async def _add_index(store: EmbeddedStore, table: tuple[Any, ...], name: str) -> bool:
    return await store.add_index(Table(*table), name)


async def _drop_index(store: EmbeddedStore, table: tuple[Any, ...], name: str) -> None:
    await store.drop_index(Table(*table), name)


_VERBS: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {
    "ask_for_trouble": EmbeddedStore.ask_for_trouble,
    "create_table": _create_table,
    "delete_table": EmbeddedStore.delete_table,
    "add_index": _add_index,
    "drop_index": _drop_index,
    "set_policies": _set_policies,
    "set_properties": EmbeddedStore.set_properties,
}
"""What is asked of the process that writes, but for writes; results are plain data."""
