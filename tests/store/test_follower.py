"""A store whose writes another process makes keeps the contract of `store/interface.py`; here both ends are in one."""

import asyncio
import socket
from collections.abc import AsyncIterator, Coroutine, Sequence
from pathlib import Path
from typing import TypeVar

import orjson
import pytest
from hypothesis import settings

from rowkey.errors import ResourceNotFound, ServiceError, TableNotFound, UpdateConditionNotSatisfied
from rowkey.model.entity import Entity, Key, compose_entity
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.checked import CheckedStore
from rowkey.store.embedded import link as link_module
from rowkey.store.embedded.changes import CATALOGUE, COMMITS, Changes
from rowkey.store.embedded.desk import Desk
from rowkey.store.embedded.folder import DATABASE_NAME
from rowkey.store.embedded.follower import FollowerStore
from rowkey.store.embedded.frames import (
    Call,
    FrameReader,
    pack_entities,
    pack_error,
    pack_writes,
    unpack_entities,
    unpack_error,
    unpack_writes,
    write_frame,
)
from rowkey.store.embedded.link import Link
from rowkey.store.embedded.reader import open_reader
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.store.interface import OutcomeUnknown, Store, StoreUnavailable, Table
from rowkey.store.testing import FixedClock, StoreConformance
from rowkey.store.testing.machine import ReopeningStoreMachine
from rowkey.store.testing.samples import ACCOUNT, insert, int32, merge, replace, scan_page

T = TypeVar("T")

SECONDS_MAX = 10.0


async def connect(link: Link, desk: Desk) -> None:
    """Make a link between two ends."""
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    await loop.create_unix_connection(lambda: desk, sock=theirs)
    await loop.create_unix_connection(link.end, sock=ours)


async def follow(leader: EmbeddedStore, folder: Path, changes: Changes) -> FollowerStore:
    """Another store of the folder, as another process has it."""
    link = Link()
    await connect(link, Desk(leader, forget=lambda _: None))
    return FollowerStore(folder / DATABASE_NAME, changes, link)


class Pair(FollowerStore):
    """A follower whose writer is closed with it."""

    leader: EmbeddedStore

    async def close(self) -> None:
        await super().close()
        await self.leader.close()


class TestFollowerStore(StoreConformance):
    @pytest.fixture
    async def store(self, tmp_path: Path, clock: FixedClock) -> AsyncIterator[Store]:
        changes = Changes.shared()
        leader = EmbeddedStore.open(tmp_path, now=clock, changes=changes)
        follower = await follow(leader, tmp_path, changes)
        yield CheckedStore(follower)
        await follower.close()
        await leader.close()


class FollowerStoreMachine(ReopeningStoreMachine):
    async def open_store(self, folder: Path) -> Store:
        changes, link = Changes.shared(), Link()
        leader = EmbeddedStore.open(folder / "data", changes=changes)
        await connect(link, Desk(leader, forget=lambda _: None))
        pair = Pair(folder / "data" / DATABASE_NAME, changes, link)
        pair.leader = leader
        return CheckedStore(pair)


TestFollowerStoreMachine = FollowerStoreMachine.TestCase
TestFollowerStoreMachine.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


# ---------------------------------------------------------------- what is read is never older than what was answered


async def test_reads_of_a_turn_share_a_transaction_until_something_is_committed(tmp_path: Path) -> None:
    """The request of a client may come in the same turn as its answer from another process left there."""
    changes = Changes.shared()
    leader = EmbeddedStore.open(tmp_path, changes=changes)
    follower = await follow(leader, tmp_path, changes)
    table = await follower.create_table(ACCOUNT, "things")
    await follower.write(table, [insert("p", "r", N=int32(1))])
    other = open_reader(tmp_path / DATABASE_NAME, cache_kib=100)
    other.pragma("query_only", False)

    def number() -> int:
        """What a read without a turn of the loop shows."""
        text = at_once(follower.get(table, Key("p", "r")))
        assert text is not None
        return int(orjson.loads(text)["N"])

    assert number() == 1
    other.execute("UPDATE entity SET body = jsonb_set(body, '$.N', 2)")
    assert number() == 1  # nobody was answered yet
    changes.counters[COMMITS] += 1
    assert number() == 2
    other.close()
    await follower.close()
    await leader.close()


async def test_an_entity_that_goes_with_its_table_is_no_entity_that_was_never_there(tmp_path: Path) -> None:
    """Between the look at the catalogue and the read the table is deleted, and its entities are."""
    changes = Changes.shared()
    leader = EmbeddedStore.open(tmp_path, changes=changes)
    follower = await follow(leader, tmp_path, changes)
    table = await follower.create_table(ACCOUNT, "things")
    assert at_once(follower.get(table, Key("p", "r"))) is None
    other = open_reader(tmp_path / DATABASE_NAME, cache_kib=100)
    other.pragma("query_only", False)
    other.execute("UPDATE table_of_account SET is_deleted = 1")
    other.close()
    changes.counters[CATALOGUE] += 1  # and the commit's number follows while the entity is read
    prefix = follower._live_prefix

    def live_prefix(table: Table) -> bytes:
        found = prefix(table)
        changes.counters[COMMITS] += 1
        return found

    follower._live_prefix = live_prefix  # type: ignore[method-assign]
    with pytest.raises(TableNotFound):
        at_once(follower.get(table, Key("p", "r")))
    await follower.close()
    await leader.close()


def at_once(verb: Coroutine[None, None, T]) -> T:
    """What a verb returns that does not suspend."""
    try:
        verb.send(None)
    except StopIteration as finished:
        result: T = finished.value
        return result
    pytest.fail("the verb suspended")


async def test_changes_of_the_leader_and_of_others_are_seen_by_all(tmp_path: Path) -> None:
    changes = Changes.shared()
    leader = EmbeddedStore.open(tmp_path, changes=changes)
    first, second = await follow(leader, tmp_path, changes), await follow(leader, tmp_path, changes)
    stores: list[Store] = [leader, first, second]
    for position in range(30):
        one, other, third = (stores[(position + shift) % 3] for shift in range(3))
        table = await one.create_table(ACCOUNT, "things")
        assert await other.find_table(ACCOUNT, "THINGS") == await third.find_table(ACCOUNT, "things") == table
        assert list(await other.list_tables(ACCOUNT, "", 10)) == [table]
        await other.write(table, [insert("p", "r", N=int32(1))])
        assert (await third.get(table, Key("p", "r"))) == (await one.get(table, Key("p", "r"))) is not None
        assert (await scan_page(third, table)).count == 1
        await third.set_policies(table, f"text {position}")
        assert await one.get_policies(table) == await other.get_policies(table) == f"text {position}"
        await one.set_properties(ACCOUNT, {"Cors": f"rules {position}"})
        assert (
            await other.get_properties(ACCOUNT) == await third.get_properties(ACCOUNT) == {"Cors": f"rules {position}"}
        )
        await other.delete_table(ACCOUNT, "things")
        assert await one.find_table(ACCOUNT, "things") is await third.find_table(ACCOUNT, "things") is None
        for store in stores:
            with pytest.raises(TableNotFound):
                await store.get(table, Key("p", "r"))
    await first.close()
    await second.close()
    await leader.close()


async def test_a_new_leader_is_followed_without_a_gap(tmp_path: Path) -> None:
    """The one before may have committed without having said so."""
    changes = Changes.shared()
    leader = EmbeddedStore.open(tmp_path, changes=changes)
    follower = await follow(leader, tmp_path, changes)
    table = await follower.create_table(ACCOUNT, "things")
    sections = await follower.get_properties(ACCOUNT)
    before = changes.counters[COMMITS], changes.counters[CATALOGUE]
    await leader.close()
    leader = EmbeddedStore.open(tmp_path, changes=changes)
    assert (changes.counters[COMMITS], changes.counters[CATALOGUE]) > before
    assert changes.counters[CATALOGUE] > before[1]
    assert await follower.find_table(ACCOUNT, "things") == table
    assert await follower.get_properties(ACCOUNT) is sections  # nothing was set
    await follower.close()
    await leader.close()


async def test_bounds_of_tables_need_not_be_names(tmp_path: Path) -> None:
    changes = Changes.shared()
    leader = EmbeddedStore.open(tmp_path, changes=changes)
    follower = await follow(leader, tmp_path, changes)
    for name in ("a", "b", "z9", "$Metrics"):
        await leader.create_table(ACCOUNT, name)
    for start in ("", "a", "a\0", "b\x7f", "a\ud800", "z\u00e9", "z9", "\U0001f600", "{", "A"):
        assert await follower.list_tables(ACCOUNT, start, 10) == await leader.list_tables(ACCOUNT, start, 10), start
        assert await follower.find_table(ACCOUNT, start) == await leader.find_table(ACCOUNT, start)
    await follower.close()
    await leader.close()


# ---------------------------------------------------------------- the link


class SilentDesk(Desk):
    """Takes calls and does nothing."""

    def __init__(self) -> None:
        self.has_calls = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        pass

    def data_received(self, data: bytes) -> None:
        self.has_calls.set()


async def test_what_a_dead_writer_was_given_may_have_happened_and_the_rest_waits_for_the_next(tmp_path: Path) -> None:
    link, silent = Link(), SilentDesk()
    await connect(link, silent)
    given = [link.call("create_table", (ACCOUNT, f"t{number}")) for number in range(3)]
    await silent.has_calls.wait()
    assert isinstance(silent.transport, asyncio.Transport)
    silent.transport.abort()
    for future in given:
        with pytest.raises(OutcomeUnknown):
            await future
    waiting = link.call("create_table", (ACCOUNT, "later"))
    leader = EmbeddedStore.open(tmp_path)
    await connect(link, Desk(leader, forget=lambda _: None))
    async with asyncio.timeout(SECONDS_MAX):
        assert (await waiting)[:2] == (ACCOUNT, "later")
    assert [table.name for table in await leader.list_tables(ACCOUNT, "", 10)] == ["later"]
    await link.close()
    await leader.close()


async def test_without_a_writer_changes_are_refused_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "ABSENCE_SECONDS_MAX", 0.05)
    link = Link()
    with pytest.raises(StoreUnavailable):
        await link.call("create_table", (ACCOUNT, "things"))
    with pytest.raises(StoreUnavailable):
        link.call("create_table", (ACCOUNT, "things"))
    await link.close()


async def test_calls_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "CALLS_MAX", 3)
    link = Link()
    calls = [link.call("create_table", (ACCOUNT, "things")) for _ in range(3)]
    with pytest.raises(StoreUnavailable):
        link.call("create_table", (ACCOUNT, "things"))
    for call in calls:
        call.cancel()


async def test_large_transactions_pass_while_the_writer_is_slow(tmp_path: Path) -> None:
    """More than the sockets hold, so both ends have to wait for each other."""
    changes = Changes.shared()
    leader = EmbeddedStore.open(tmp_path, changes=changes)
    follower = await follow(leader, tmp_path, changes)
    table = await follower.create_table(ACCOUNT, "things")
    text = {"Text": '"Text":"' + "x" * 60_000 + '"'}
    writes = [
        [Write(Mode.MERGE, Key(f"{part}", f"{row:02}"), text, Condition.ANY) for row in range(50)] for part in range(8)
    ]
    async with asyncio.timeout(60):
        results = await asyncio.gather(*(follower.write(table, one) for one in writes))
    assert [len(entities) for entities in results] == [50] * 8
    assert all(entity is not None and len(entity.text) > 60_000 for entities in results for entity in entities)
    await follower.close()
    await leader.close()


# ---------------------------------------------------------------- frames


def test_frames_come_out_of_any_pieces() -> None:
    messages: list[list[Call]] = [
        [(1, "write", ("\ud800", 2**63, b"x" * 300))],
        [],
        [(2, "x", ()), (3, "y", (None, {"a": "b"}))],
    ]
    stream = b"".join(write_frame(one) for one in messages)
    wanted = [message for one in messages for message in one]
    for size in (1, 2, 3, 4, 5, 7, 100, len(stream)):
        reader = FrameReader()
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert [message for piece in pieces for message in reader.feed(piece)] == wanted


def test_writes_and_their_entities_come_back() -> None:
    writes = [
        insert("p\ud800", "\U0001f600", N=int32(1)),
        replace("p", "r", N=int32(2)),
        merge("p", "m", N=int32(3)),
        Write(Mode.DELETE, Key("p", "d"), {}, 7),
        Write(Mode.SET, Key("p", "u"), {}, Condition.UNMEETABLE),
    ]
    assert unpack_writes(pack_writes(writes)) == writes
    entities: Sequence[Entity | None] = [
        None if write.mode is Mode.DELETE else compose_entity(write.key, 134168400001234567, write.members)
        for write in writes
    ]
    assert unpack_entities(writes, pack_entities(writes, entities)) == entities


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (UpdateConditionNotSatisfied(index=3), UpdateConditionNotSatisfied),
        (ResourceNotFound(), ResourceNotFound),
        (StoreUnavailable(), StoreUnavailable),
        (ValueError("a fault of ours"), OutcomeUnknown),
    ],
)
def test_errors_come_back(error: Exception, wanted: type[ServiceError]) -> None:
    back = unpack_error(pack_error(error))
    assert type(back) is wanted
    assert back.index == getattr(error, "index", None)
