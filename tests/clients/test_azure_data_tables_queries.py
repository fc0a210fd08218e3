"""Queries: filters, selections, pages and order, through the azure-data-tables package."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from azure.core.exceptions import HttpResponseError
from azure.data.tables import EdmType, EntityProperty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from azure.data.tables import TableClient, TableEntity, TableServiceClient

BORN = datetime(1973, 10, 4, tzinfo=UTC)
GUIDS = [UUID(int=number) for number in range(5)]


@pytest.fixture(scope="module")
def people(service: TableServiceClient) -> Iterator[TableClient]:
    """Five entities in each of the partitions `a` and `b`; every type is there, `Nick` only in some."""
    table = service.create_table_if_not_exists("people" + UUID(int=7).hex)
    for partition in "ab":
        table.submit_transaction(
            [
                (
                    "upsert",
                    {
                        "PartitionKey": partition,
                        "RowKey": f"{number}",
                        "Name": ["Ada", "Ben", "Cyd", "Dan", "O'Neil"][number],
                        "Age": 20 + number,
                        "Large": EntityProperty(2**53 + number, EdmType.INT64),
                        "Ratio": number / 2,
                        "Married": number % 2 == 0,
                        "Birthday": BORN.replace(day=4 + number),
                        "Id": GUIDS[number],
                        "Raw": bytes([number, 255]),
                        **({"Nick": "x"} if number == 2 else {}),
                    },
                )
                for number in range(5)
            ]
        )
    yield table
    table.delete_table()


def keys(entities: Iterator[TableEntity]) -> str:
    """The keys of some entities in short: `a0 a1 b0`."""
    return " ".join(entity["PartitionKey"] + entity["RowKey"] for entity in entities)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "a0 a1 a2 a3 a4 b0 b1 b2 b3 b4"),
        ("PartitionKey eq 'a'", "a0 a1 a2 a3 a4"),
        ("PartitionKey eq 'a' and RowKey eq '3'", "a3"),
        ("PartitionKey eq 'a' and RowKey ge '1' and RowKey lt '3'", "a1 a2"),
        ("RowKey eq '0'", "a0 b0"),
        ("PartitionKey gt 'a'", "b0 b1 b2 b3 b4"),
        ("PartitionKey gt 'b' or RowKey le '0'", "a0 b0"),
        ("(PartitionKey eq 'a' and RowKey eq '4') or (PartitionKey eq 'b' and RowKey eq '0')", "a4 b0"),
        ("RowKey eq '0' or RowKey eq '1' and PartitionKey eq 'b'", "a0 b0 b1"),
        ("not (PartitionKey eq 'a')", "b0 b1 b2 b3 b4"),
        ("PartitionKey eq 'a' and Name eq 'Ben'", "a1"),
        ("PartitionKey eq 'a' and Name eq 'ben'", ""),
        ("PartitionKey eq 'a' and Name eq 'O''Neil'", "a4"),
        ("PartitionKey eq 'a' and Name ge 'C' and Name lt 'D'", "a2"),
        ("PartitionKey eq 'a' and Age eq 23", "a3"),
        ("PartitionKey eq 'a' and 23 lt Age", "a4"),
        ("PartitionKey eq 'a' and Age ne 20", "a1 a2 a3 a4"),
        ("PartitionKey eq 'a' and (Age lt 21 or Age gt 23)", "a0 a4"),
        ("PartitionKey eq 'a' and Large eq 9007199254740993L", "a1"),
        ("PartitionKey eq 'a' and Large gt 9007199254740994L", "a3 a4"),
        ("PartitionKey eq 'a' and Ratio eq 0.5", "a1"),
        ("PartitionKey eq 'a' and Ratio ge 1.5", "a3 a4"),
        ("PartitionKey eq 'a' and Married eq true", "a0 a2 a4"),
        ("PartitionKey eq 'a' and Married", "a0 a2 a4"),
        ("PartitionKey eq 'a' and not Married", "a1 a3"),
        ("PartitionKey eq 'a' and Birthday gt datetime'1973-10-06T00:00:00Z'", "a3 a4"),
        ("PartitionKey eq 'a' and Birthday eq datetime'1973-10-05T02:00:00+02:00'", "a1"),
        ("PartitionKey eq 'a' and Id eq guid'00000000-0000-0000-0000-000000000003'", "a3"),
        ("PartitionKey eq 'a' and Raw eq X'02ff'", "a2"),
        ("PartitionKey eq 'a' and Raw eq binary'02FF'", "a2"),
        ("Nick eq 'x'", "a2 b2"),
        ("Nick ne 'y'", "a2 b2"),
        ("Unknown eq 'x'", ""),
        ("Timestamp gt datetime'2020-01-01T00:00:00Z' and RowKey eq '1'", "a1 b1"),
        ("Timestamp lt datetime'2020-01-01T00:00:00Z'", ""),
    ],
)
def test_a_filter_finds(people: TableClient, query: str, expected: str) -> None:
    assert keys(people.query_entities(query)) == expected


@pytest.mark.parametrize(
    ("query", "value", "expected"),
    [
        ("Name eq @value", "O'Neil", "a4 b4"),
        ("Age ge @value", 24, "a4 b4"),
        ("Large eq @value", 2**53 + 2, "a2 b2"),
        ("Ratio lt @value", 0.5, "a0 b0"),
        ("Married eq @value", False, "a1 a3 b1 b3"),
        ("Birthday eq @value", BORN, "a0 b0"),
        ("Id eq @value", GUIDS[1], "a1 b1"),
        ("Raw eq @value", b"\x03\xff", "a3 b3"),
    ],
)
def test_the_clients_own_literals_are_understood(people: TableClient, query: str, value: Any, expected: str) -> None:
    assert keys(people.query_entities(query, parameters={"value": value})) == expected


def test_a_long_filter_is_answered(people: TableClient) -> None:
    """Fifteen comparisons are documented as the limit; the service takes far more, and clients send them."""
    query = " or ".join(f"RowKey eq '{number}'" for number in range(4, 120))
    assert keys(people.query_entities(query)) == "a4 b4"


@pytest.mark.parametrize("query", ["aaa bbb ccc", "Name eq", "Name eq 'open", "Name eq null", "(Age gt 1", "Age = 1"])
def test_a_filter_that_cannot_be_read_is_refused(people: TableClient, query: str) -> None:
    with pytest.raises(HttpResponseError, match="InvalidInput") as refused:
        list(people.query_entities(query))
    assert refused.value.status_code == 400


def test_a_syntax_error_is_told_as_the_service_does(people: TableClient) -> None:
    with pytest.raises(HttpResponseError, match="Syntax error at position 7 in 'aaa bbb ccc'"):
        list(people.query_entities("aaa bbb ccc"))


def test_select_returns_what_is_named_and_none_for_what_is_missing(people: TableClient) -> None:
    entities = list(people.query_entities("PartitionKey eq 'a'", select=["RowKey", "Nick", "Age"]))
    assert [dict(entity) for entity in entities][1:3] == [
        {"RowKey": "1", "Age": 21, "Nick": None},
        {"RowKey": "2", "Age": 22, "Nick": "x"},
    ]
    assert all(entity.metadata["etag"] for entity in entities)


def test_select_of_one_entity(people: TableClient) -> None:
    """System properties come only when named; an unknown name is null. Recorded of the service."""
    assert dict(people.get_entity("a", "1", select=["Name", "xyz"])) == {"Name": "Ben", "xyz": None}
    assert dict(people.get_entity("a", "1", select="PartitionKey")) == {"PartitionKey": "a"}
    assert set(people.get_entity("a", "1", select=["*"])) >= {"PartitionKey", "RowKey", "Name", "Raw"}


def test_a_filter_may_name_what_is_not_selected(people: TableClient) -> None:
    (entity,) = people.query_entities("PartitionKey eq 'b' and Age eq 23", select=["Name"])
    assert dict(entity) == {"Name": "Dan"}


def test_pages_have_the_size_asked_for(people: TableClient) -> None:
    pages = [keys(page) for page in people.list_entities(results_per_page=4).by_page()]
    assert pages == ["a0 a1 a2 a3", "a4 b0 b1 b2", "b3 b4"]


def test_a_page_that_ends_with_the_last_entity_has_no_successor(people: TableClient) -> None:
    pages = [keys(page) for page in people.list_entities(results_per_page=5).by_page()]
    assert pages == ["a0 a1 a2 a3 a4", "b0 b1 b2 b3 b4"]


def test_pages_of_a_filter_hold_every_match_once(people: TableClient) -> None:
    """A page may be short, or empty, as long as a token follows; what counts is the whole."""
    pages = [list(page) for page in people.query_entities("Married eq true", results_per_page=1).by_page()]
    assert keys(entity for page in pages for entity in page) == "a0 a2 a4 b0 b2 b4"
    assert max(len(page) for page in pages) == 1


def test_a_continuation_token_goes_on_in_another_query(people: TableClient) -> None:
    first: Any = people.query_entities("RowKey ge '1'", results_per_page=3).by_page()
    assert keys(next(first)) == "a1 a2 a3"
    token = first.continuation_token
    rest = people.query_entities("RowKey ge '1'", results_per_page=3).by_page(continuation_token=token)
    assert [keys(page) for page in rest] == ["a4 b1 b2", "b3 b4"]


def test_a_token_outlives_the_entity_it_points_to(table: TableClient, partition: str) -> None:
    for row_key in "123456":
        table.create_entity({"PartitionKey": partition, "RowKey": row_key})
    pages: Any = table.query_entities(f"PartitionKey eq '{partition}'", results_per_page=2).by_page()
    assert [entity["RowKey"] for entity in next(pages)] == ["1", "2"]
    table.delete_entity(partition, "3")
    rest = table.query_entities(f"PartitionKey eq '{partition}'", results_per_page=2).by_page(pages.continuation_token)
    assert [entity["RowKey"] for page in rest for entity in page] == ["4", "5", "6"]


@pytest.mark.parametrize("size", [0, -1, 1001])
def test_a_page_size_out_of_range_is_refused(people: TableClient, size: int) -> None:
    with pytest.raises(HttpResponseError) as refused:
        next(people.list_entities(results_per_page=size).by_page())
    assert refused.value.status_code == 400


def test_a_page_ends_at_a_thousand_entities(table: TableClient, partition: str) -> None:
    for start in range(0, 1100, 100):
        table.submit_transaction(
            [("create", {"PartitionKey": partition, "RowKey": f"{number:04}"}) for number in range(start, start + 100)]
        )
    pages = [list(page) for page in table.query_entities(f"PartitionKey eq '{partition}'").by_page()]
    assert [len(page) for page in pages] == [1000, 100]
    assert [entity["RowKey"] for page in pages for entity in page] == [f"{number:04}" for number in range(1100)]


def test_large_entities_make_more_pages(table: TableClient, partition: str) -> None:
    """Forty entities of half a mebibyte do not fit one answer comfortably; every one must arrive all the same."""
    large = {f"P{number}": b"x" * 64 * 1024 for number in range(8)}
    for number in range(40):
        table.create_entity({"PartitionKey": partition, "RowKey": f"{number:02}", **large})
    found = [(entity["RowKey"], len(entity)) for entity in table.query_entities(f"PartitionKey eq '{partition}'")]
    assert found == [(f"{number:02}", 10) for number in range(40)]


def test_keys_are_ordered_by_utf_16_units(table: TableClient, partition: str) -> None:
    """Emoji are surrogate pairs, which come before the full-width letters; in UTF-8 they would come after."""
    in_order = ["", " ", "!", "0", "10", "9", "A", "a", "aa", "b", "~", "ä", "啊", "😀", "Ａ"]
    for row_key in reversed(in_order):
        table.create_entity({"PartitionKey": partition, "RowKey": row_key})
    found = [entity["RowKey"] for entity in table.query_entities("PartitionKey eq @key", parameters={"key": partition})]
    assert found == in_order


def test_an_empty_table_lists_nothing(service: TableServiceClient, table_name: str) -> None:
    assert list(service.create_table(table_name).list_entities()) == []
