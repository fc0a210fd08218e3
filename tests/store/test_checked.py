"""The wrapper of stores fails on what the interface does not promise: every check is made to fire."""

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest

from rowkey.errors import EntityAlreadyExists, InvalidInput, ServiceError, TableAlreadyExists, TableNotFound
from rowkey.model.entity import Entity, Key, compose_entity
from rowkey.model.key_range import FIRST_KEY, WHOLE_TABLE, KeyRange
from rowkey.model.writes import Condition, Mode, Write
from rowkey.store.checked import CheckedStore, split_page, verify_wire_text
from rowkey.store.interface import NO_SECTIONS, Index, OutcomeUnknown, Page, Scan, StoreUnavailable, Table
from rowkey.store.testing.samples import delete, insert, int32, scan_page

TABLE = Table("account", "Things", 1, 1)
A = compose_entity(Key("p", "a"), 1_000, {})
B = compose_entity(Key("p", "b"), 1_000, {"N": '"N":1'})


class ScriptedStore:
    """Answers every verb as it was told, right or wrong."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    async def create_table(self, account: str, name: str) -> Any:
        return self._say()

    async def delete_table(self, account: str, name: str) -> None:
        self._say()

    async def find_table(self, account: str, name: str) -> Any:
        return self._say()

    async def list_tables(self, account: str, start: str, limit: int) -> Any:
        return self._say()

    async def get(self, table: Table, key: Key) -> Any:
        return self._say()

    async def write(self, table: Table, writes: Sequence[Write]) -> Any:
        return self._say()

    async def scan(self, table: Table, scan: Scan) -> Any:
        return self._say()

    async def get_policies(self, table: Table) -> Any:
        return self._say()

    async def set_policies(self, table: Table, text: str) -> None:
        self._say()

    async def add_index(self, table: Table, name: str) -> Any:
        return self._say()

    async def drop_index(self, table: Table, name: str) -> None:
        self._say()

    async def list_indexes(self, table: Table) -> Any:
        return self._say()

    async def get_properties(self, account: str) -> Any:
        return self._say()

    async def set_properties(self, account: str, sections: Mapping[str, str]) -> None:
        self._say()

    async def close(self) -> None:
        self._say()

    def _say(self) -> Any:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


class MeddlingStore(ScriptedStore):
    """Modifies what it is given."""

    async def write(self, table: Table, writes: Sequence[Write]) -> Any:
        writes[0].members = {}
        return [B]

    async def set_properties(self, account: str, sections: Any) -> None:
        sections.clear()


class HesitantStore(ScriptedStore):
    """Takes a moment to think, and makes its answer anew each time."""

    async def get_properties(self, account: str) -> Any:
        if self._say():
            await asyncio.sleep(0)
        return MappingProxyType({})


def checked(answer: object) -> CheckedStore:
    return CheckedStore(ScriptedStore(answer))


async def test_right_answers_pass() -> None:
    assert await checked(TABLE).create_table("account", "Things") == TABLE
    assert await checked(TABLE).find_table("account", "tHINGS") == TABLE
    assert await checked(None).find_table("account", "things") is None
    assert await checked([TABLE]).list_tables("account", "things", 1) == [TABLE]
    assert await checked(B.text).get(TABLE, Key("p", "b")) == B.text
    assert await checked([None, B]).write(TABLE, [delete("p", "a"), insert("p", "b", N=int32(1))]) == [None, B]
    page = Page(f"{A.text},{B.text}", 2, Key("p", "b\0"))
    assert await scan_page(checked(page), TABLE) == page
    await checked(None).delete_table("account", "things")
    assert await checked("policies").get_policies(TABLE) == "policies"
    await checked(None).set_policies(TABLE, "policies")
    await checked(True).add_index(TABLE, "A")
    await checked(None).drop_index(TABLE, "A")
    await checked([Index("A", True, 1), Index("a", False, 0)]).list_indexes(TABLE)
    assert await checked(NO_SECTIONS).get_properties("account") is NO_SECTIONS
    await checked(None).set_properties("account", {"Cors": "rules"})
    await checked(None).close()


@pytest.mark.parametrize("error", [StoreUnavailable(), TableNotFound(), EntityAlreadyExists(index=0), OutcomeUnknown()])
async def test_promised_errors_pass(error: ServiceError) -> None:
    with pytest.raises(type(error)):
        await checked(error).write(TABLE, [insert("p", "b")])


@pytest.mark.parametrize("error", [InvalidInput(), ValueError(), TimeoutError(), TableAlreadyExists(), ServiceError()])
async def test_other_errors_do_not(error: Exception) -> None:
    with pytest.raises(AssertionError, match="does not promise"):
        await checked(error).write(TABLE, [insert("p", "b")])
    with pytest.raises(AssertionError, match="does not promise"):
        await checked(error).get(TABLE, Key("p", "b"))
    with pytest.raises(AssertionError, match="does not promise"):
        await scan_page(checked(error), TABLE)
    with pytest.raises(AssertionError, match="does not promise"):
        await checked(error).list_tables("account", "", 1)
    with pytest.raises(AssertionError, match="does not promise"):
        await checked(error).close()


async def test_a_read_has_no_unknown_outcome() -> None:
    with pytest.raises(AssertionError, match="does not promise"):
        await checked(OutcomeUnknown()).get(TABLE, Key("p", "b"))


@pytest.mark.parametrize("index", [None, -1, 1])
async def test_a_refused_write_names_the_failure(index: int | None) -> None:
    with pytest.raises(AssertionError):
        await checked(EntityAlreadyExists(index=index)).write(TABLE, [insert("p", "b")])


@pytest.mark.parametrize(
    "results",
    [
        [],
        [B, B],
        [None],
        [A],
        [Entity(1_001, B.text)],
        [compose_entity(Key("p", "b"), 1_000, {})],
        [compose_entity(Key("p", "b"), 1_000, {"N": '"N":2'})],
        [compose_entity(Key("p", "b"), 1_000, {"N": '"N":1', "M": '"M":1'})],
    ],
)
async def test_results_are_what_was_written(results: list[Entity | None]) -> None:
    with pytest.raises(AssertionError):
        await checked(results).write(TABLE, [insert("p", "b", N=int32(1))])


async def test_a_deletion_returns_nothing() -> None:
    with pytest.raises(AssertionError):
        await checked([B]).write(TABLE, [delete("p", "b")])


async def test_a_timestamp_passes_the_one_in_the_condition() -> None:
    with pytest.raises(AssertionError, match="did not grow"):
        await checked([B]).write(TABLE, [Write(Mode.MERGE, Key("p", "b"), {}, 1_000)])


async def test_arguments_are_left_alone() -> None:
    with pytest.raises(AssertionError, match="modified"):
        await CheckedStore(MeddlingStore(None)).write(TABLE, [insert("p", "b", N=int32(1))])
    with pytest.raises(AssertionError, match="modified"):
        await CheckedStore(MeddlingStore(None)).set_properties("account", {"Cors": "rules"})


async def test_indexes_come_in_the_order_of_their_names() -> None:
    with pytest.raises(AssertionError):
        await checked([Index("b", True, 1), Index("a", True, 1)]).list_indexes(TABLE)


async def test_settings_are_texts() -> None:
    with pytest.raises(AssertionError):
        await checked(None).get_policies(TABLE)


async def test_properties_are_there_at_once_and_the_same_object() -> None:
    with pytest.raises(AssertionError, match="suspended"):
        await CheckedStore(HesitantStore(True)).get_properties("account")
    with pytest.raises(AssertionError, match="not the same object"):
        await CheckedStore(HesitantStore(False)).get_properties("account")
    with pytest.raises(AssertionError, match="modify"):
        await checked({}).get_properties("account")


@pytest.mark.parametrize(
    "writes",
    [
        [insert("p", "a"), insert("q", "a")],
        [insert("p", "a"), delete("p", "a")],
        [Write(Mode.SET, Key("p", "a"), {}, Condition.ANY)] * 2,
    ],
)
async def test_callers_write_different_entities_of_one_partition(writes: list[Write]) -> None:
    with pytest.raises(AssertionError):
        await checked([A, A]).write(TABLE, writes)


@pytest.mark.parametrize(
    "tables",
    [
        [TABLE, TABLE],
        [Table("account", "b", 2, 1), Table("account", "a", 3, 1)],
        [Table("other", "things", 2, 1)],
        [Table("account", "alpha", 2, 1)],
        [Table("account", f"table{number}", number, 1) for number in range(4)],
    ],
)
async def test_tables_come_in_order_and_within_the_limit(tables: list[Table]) -> None:
    with pytest.raises(AssertionError):
        await checked(tables).list_tables("account", "b", 3)


async def test_a_found_table_is_the_one_asked_for() -> None:
    with pytest.raises(AssertionError):
        await checked(TABLE).find_table("account", "other")
    with pytest.raises(AssertionError):
        await checked(TABLE).create_table("account", "things")


async def test_the_entity_that_is_got_is_the_one_asked_for() -> None:
    with pytest.raises(AssertionError):
        await checked(A.text).get(TABLE, Key("p", "b"))


@pytest.mark.parametrize(
    "page",
    [
        Page(f"{B.text},{A.text}", 2, None),
        Page(f"{A.text},{A.text}", 2, None),
        Page(f"{A.text},{B.text}", 1, None),
        Page(f"{A.text}{B.text}", 2, None),
        Page(f"{A.text},{B.text},", 2, None),
        Page(f"{A.text}, {B.text}", 2, None),
        Page(f"[{A.text}]", 1, None),
        Page(A.text[:-1], 1, None),
        Page(",".join([A.text, B.text, compose_entity(Key("p", "c"), 1_000, {}).text]), 3, None),
        Page(compose_entity(Key("p", "z"), 1_000, {}).text, 1, None),
        Page(B.text, 1, Key("p", "b")),
        Page(B.text, 1, Key("p", "a")),
        Page("", 0, FIRST_KEY),
    ],
)
async def test_pages_are_in_order_and_within_ranges_and_limit(page: Page) -> None:
    with pytest.raises(AssertionError):
        await scan_page(checked(page), TABLE, [KeyRange(FIRST_KEY, Key("p", "d"))], limit=2)


async def test_a_scan_of_nothing_does_not_go_on() -> None:
    with pytest.raises(AssertionError):
        await scan_page(checked(Page("", 0, Key("p", "a"))), TABLE, [])


@pytest.mark.parametrize(
    "ranges",
    [
        [KeyRange(Key("b", ""), Key("a", ""))],
        [KeyRange(Key("b", ""), Key("c", "")), KeyRange(Key("a", ""), Key("b", ""))],
        [KeyRange(Key("a", ""), Key("c", "")), KeyRange(Key("b", ""), None)],
        [WHOLE_TABLE, KeyRange(Key("b", ""), None)],
    ],
)
async def test_callers_give_ascending_disjoint_ranges(ranges: list[KeyRange]) -> None:
    with pytest.raises(AssertionError):
        await scan_page(checked(Page("", 0, None)), TABLE, ranges)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        B.text.replace('"N":1', '"N": 1'),
        B.text.replace('"N":1', '"N":"é"'),
        B.text.replace("00.0001Z", "00.0002Z", 1),
        B.text.replace('"PartitionKey":"p","RowKey":"b"', '"RowKey":"b","PartitionKey":"p"'),
    ],
)
def test_wire_text_has_one_spelling(text: str) -> None:
    with pytest.raises(AssertionError):
        verify_wire_text(text)


def test_a_page_is_split_where_its_entities_were_joined() -> None:
    assert split_page("") == []
    assert split_page(A.text) == [A.text]
    assert split_page(f"{A.text},{B.text}") == [A.text, B.text]
