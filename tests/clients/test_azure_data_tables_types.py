"""Every Edm type at its limits, and what is too large, through the azure-data-tables package."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from azure.core.exceptions import HttpResponseError
from azure.data.tables import EdmType, EntityProperty, TableClient, UpdateMode

INT64 = EdmType.INT64
STRING_LENGTH_MAX = 32 * 1024
BINARY_LENGTH_MAX = 64 * 1024
GUID = UUID("c9da6455-213d-42c9-9a79-3e9149a57833")

VALUES = [
    *("", "Marker", "O'Neil", '"quoted"', "\\", "/", "\t\r\n\x00\x1f\x7f", "  ", "<b>&amp;</b>", "\u2028", "\ufeff"),
    *("啊齄丂狛狜", "😀 emoji", "ñ" * STRING_LENGTH_MAX, "😀" * (STRING_LENGTH_MAX // 2)),
    *(True, False),
    *(0, 1, -1, 2**31 - 1, -(2**31)),
    *(EntityProperty(0, INT64), EntityProperty(2**63 - 1, INT64), EntityProperty(-(2**63), INT64)),
    *(EntityProperty(2**53 + 1, INT64), EntityProperty(-1, INT64)),
    *(0.0, 5.0, -5.0, 0.1 + 0.2, 1 / 3, 123.45, 1e15, 1e16, 1e22, 123456789012345680.0, 1e-5, 0.0001, 5e-324),
    *(2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, math.inf, -math.inf),
    *(datetime(2008, 7, 10, tzinfo=UTC), datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC)),
    *(datetime(1601, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
    *(GUID, UUID(int=0), UUID(int=2**128 - 1)),
    *(b"", b"\x00\xff", bytes(range(256)), b"b" * BINARY_LENGTH_MAX),
]


def short(value: object) -> str:
    """A test's name for a value."""
    return ascii(value)[:30]


@pytest.mark.parametrize("value", VALUES, ids=short)
def test_a_value_comes_back_with_its_type(table: TableClient, partition: str, value: Any) -> None:
    """Read alone, in a query, and after an update of another property: all the ways a value is read and written."""
    table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": value})
    alone = table.get_entity(partition, "r")["Value"]
    table.update_entity({"PartitionKey": partition, "RowKey": "r", "Other": 1}, UpdateMode.MERGE)
    (entity,) = table.query_entities("PartitionKey eq @key", parameters={"key": partition})
    for found in (alone, entity["Value"]):
        assert found == value
        assert isinstance(found, type(value))


def test_not_a_number_comes_back(table: TableClient, partition: str) -> None:
    table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": math.nan})
    assert math.isnan(table.get_entity(partition, "r")["Value"])


def test_a_datetime_keeps_its_ticks(table: TableClient, partition: str) -> None:
    """Python's datetime has microseconds, the service 100 ns; trailing zeros of the fraction are dropped."""
    entity = {
        "PartitionKey": partition,
        "RowKey": "r",
        "Latest": EntityProperty("9999-12-31T23:59:59.9999999Z", EdmType.DATETIME),
        "Tick": EntityProperty("2008-07-10T00:00:00.0000001Z", EdmType.DATETIME),
        "Zeros": EntityProperty("2008-07-10T00:00:00.2830000Z", EdmType.DATETIME),
        "Whole": EntityProperty("2008-07-10T00:00:00.0000000Z", EdmType.DATETIME),
    }
    table.create_entity(entity)
    found: dict[str, Any] = table.get_entity(partition, "r")
    assert found["Latest"].tables_service_value == "9999-12-31T23:59:59.9999999Z"
    assert found["Tick"].tables_service_value == "2008-07-10T00:00:00.0000001Z"
    assert found["Zeros"].tables_service_value == "2008-07-10T00:00:00.283Z"
    assert found["Whole"].tables_service_value == "2008-07-10T00:00:00Z"


def test_a_datetime_of_another_zone_is_the_same_moment(table: TableClient, partition: str) -> None:
    moment = datetime(2024, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": moment})
    assert table.get_entity(partition, "r")["Value"] == moment


def test_a_datetime_before_1601_is_refused(table: TableClient, partition: str) -> None:
    value = EntityProperty("1600-12-31T23:59:59Z", EdmType.DATETIME)
    with pytest.raises(HttpResponseError, match="OutOfRangeInput"):
        table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": value})


@pytest.mark.parametrize("edm_type", [EdmType.DATETIME, EdmType.DOUBLE])
def test_a_value_that_is_none_of_its_type_is_refused(table: TableClient, partition: str, edm_type: EdmType) -> None:
    """The client passes text of these two types on unread."""
    with pytest.raises(HttpResponseError, match="InvalidInput") as refused:
        table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": EntityProperty("text", edm_type)})
    assert refused.value.status_code == 400


def test_numbers_as_text_are_read_as_their_type(table: TableClient, partition: str) -> None:
    """Older clients send numbers as strings; so does this one when told to."""
    value = EntityProperty("2.71", EdmType.DOUBLE)
    table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": value})
    assert table.get_entity(partition, "r")["Value"] == 2.71


def test_nothing_is_stored_for_none(table: TableClient, partition: str) -> None:
    table.create_entity({"PartitionKey": partition, "RowKey": "r", "Nothing": None, "Something": 1})
    assert "Nothing" not in table.get_entity(partition, "r")


def test_a_merge_with_none_keeps_the_value(table: TableClient, partition: str) -> None:
    table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": 1})
    table.update_entity({"PartitionKey": partition, "RowKey": "r", "Value": None}, UpdateMode.MERGE)
    assert table.get_entity(partition, "r")["Value"] == 1


def test_a_merge_may_change_a_type(table: TableClient, partition: str) -> None:
    table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": 1})
    table.update_entity({"PartitionKey": partition, "RowKey": "r", "Value": "one"}, UpdateMode.MERGE)
    assert table.get_entity(partition, "r")["Value"] == "one"


def test_property_names_are_kept_in_any_script_and_letter_case(table: TableClient, partition: str) -> None:
    entity = {"PartitionKey": partition, "RowKey": "r", "啊齄丂狛狜": "ꀕ", "timestamp": "mine", "_x": 1, "X" * 255: 2}
    table.create_entity(entity)
    assert dict(table.get_entity(partition, "r")) == entity


def test_a_property_name_longer_than_255_characters_is_refused(table: TableClient, partition: str) -> None:
    with pytest.raises(HttpResponseError, match="PropertyNameTooLong"):
        table.create_entity({"PartitionKey": partition, "RowKey": "r", "X" * 256: 1})


@pytest.mark.parametrize("name", ["a-b", "1a", "a b"])
def test_a_property_name_that_is_no_identifier_is_refused(table: TableClient, partition: str, name: str) -> None:
    with pytest.raises(HttpResponseError, match="PropertyNameInvalid"):
        table.create_entity({"PartitionKey": partition, "RowKey": "r", name: 1})


def test_an_entity_has_252_properties_of_its_own_and_no_more(table: TableClient, partition: str) -> None:
    full = {f"P{number}": number for number in range(252)}
    table.create_entity({"PartitionKey": partition, "RowKey": "r", **full})
    assert len(table.get_entity(partition, "r")) == 254
    with pytest.raises(HttpResponseError, match="TooManyProperties"):
        table.create_entity({"PartitionKey": partition, "RowKey": "other", **full, "P252": 252})
    with pytest.raises(HttpResponseError, match="TooManyProperties"):
        table.update_entity({"PartitionKey": partition, "RowKey": "r", "P252": 252}, UpdateMode.MERGE)


@pytest.mark.parametrize(
    "value", ["x" * (STRING_LENGTH_MAX + 1), b"x" * (BINARY_LENGTH_MAX + 1)], ids=["text", "bytes"]
)
def test_a_value_larger_than_64_kibibytes_is_refused(table: TableClient, partition: str, value: str | bytes) -> None:
    with pytest.raises(HttpResponseError, match="PropertyValueTooLarge"):
        table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": value})


def test_an_entity_has_at_most_one_mebibyte(table: TableClient, partition: str) -> None:
    """A string counts two bytes a character: fifteen of the longest fit, sixteen do not."""
    large = {f"P{number}": "x" * STRING_LENGTH_MAX for number in range(16)}
    with pytest.raises(HttpResponseError, match="EntityTooLarge"):
        table.create_entity({"PartitionKey": partition, "RowKey": "r", **large})
    del large["P15"]
    table.create_entity({"PartitionKey": partition, "RowKey": "r", **large})
    assert table.get_entity(partition, "r")["P14"] == large["P14"]


def test_a_body_larger_than_4_mebibytes_is_refused(table: TableClient, partition: str) -> None:
    huge = {f"P{number}": b"x" * BINARY_LENGTH_MAX for number in range(60)}
    with pytest.raises(HttpResponseError) as refused:
        table.create_entity({"PartitionKey": partition, "RowKey": "r", **huge})
    assert refused.value.status_code == 413
