"""What tables, properties and keys may be called."""

import pytest

from rowkey.errors import (
    InvalidInput,
    InvalidResourceName,
    KeyValueTooLarge,
    OutOfRangeInput,
    PropertyNameInvalid,
    PropertyNameTooLong,
    ResourceNameOutOfRange,
)
from rowkey.model.names import verify_key_value, verify_property_name, verify_table_name


@pytest.mark.parametrize("name", ["abc", "ABC", "Table1", "a12", "x" * 63, "tables1", "mytables"])
def test_a_table_name_is_a_letter_and_then_letters_and_digits(name: str) -> None:
    verify_table_name(name)


@pytest.mark.parametrize(
    "name", ["1abc", "a-b-c", "a_b", "a b", "abc\n", "ábc", "a.b", "\u554a\u9f44x", "tables", "Tables", "TABLES", ""]
)
def test_other_table_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidResourceName):
        verify_table_name(name)


@pytest.mark.parametrize("name", ["a", "ab", "x" * 64])
def test_table_names_have_3_to_63_characters(name: str) -> None:
    with pytest.raises(ResourceNameOutOfRange):
        verify_table_name(name)


@pytest.mark.parametrize(
    "name",
    ["a", "A1", "_", "_1", "camelCase", "é", "\u554a\u9f44", "a\u0301", "a\u200d", "a_b", "\u0391", "x" * 255, "key"],
)
def test_a_property_name_is_a_csharp_identifier(name: str) -> None:
    verify_property_name(name)


@pytest.mark.parametrize("name", ["\u2167", "a\u0660", "a\u203f", "a\ufeff", "\U00010400", "\u0133"])
def test_a_property_name_may_be_one_that_only_the_fifth_edition_of_xml_has(name: str) -> None:
    verify_property_name(name)


@pytest.mark.parametrize("name", ["\u00aa", "\u00b5", "\u00ba", "a\u00aa", "a\u00ad", "a\u200b", "a\u2054", "a\u2060"])
@pytest.mark.parametrize("may_have_hyphens", [False, True])
def test_an_identifier_that_is_no_name_in_xml_is_refused(name: str, may_have_hyphens: bool) -> None:
    with pytest.raises(PropertyNameInvalid):
        verify_property_name(name, may_have_hyphens=may_have_hyphens)


@pytest.mark.parametrize(
    "name", ["", "1a", "a b", "a-b", "a.b", "a@b", "odata.etag", "a\n", "a\x00", "\u0301a", "a\ue000", "a!", "€", "x'"]
)
def test_other_property_names_are_refused(name: str) -> None:
    with pytest.raises(PropertyNameInvalid):
        verify_property_name(name)


@pytest.mark.parametrize("name", ["x" * 256, "\U00010400" * 128, "-" * 300])
def test_property_names_of_more_than_255_units_are_too_long(name: str) -> None:
    with pytest.raises(PropertyNameTooLong):
        verify_property_name(name)


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            " ",
            "a",
            "a b",
            "%",
            "%2F",
            "+",
            "'",
            '"',
            ",",
            ":",
            "@",
            "=",
            "&",
            "<>",
            "[]",
            "{}",
            "~",
            "-",
            "!",
            "$",
        ),
        *("é", "\u00a0", "\u554a", "\ufffe", "\uffff", "\ue000", "\U0001f600", "k" * 512, "\U0001f600" * 256),
    ],
)
def test_a_key_may_be_nearly_any_text(value: str) -> None:
    verify_key_value("RowKey", value)


@pytest.mark.parametrize("character", ["/", "\\", "#", "?", "\x00", "\t", "\n", "\x1f", "\x7f", "\x80", "\x85", "\x9f"])
def test_some_characters_are_forbidden_in_keys(character: str) -> None:
    with pytest.raises(OutOfRangeInput, match="The 'PartitionKey' parameter of value"):
        verify_key_value("PartitionKey", f"a{character}b")


@pytest.mark.parametrize("value", ["k" * 513, "\U0001f600" * 257, "a" + "\U0001f600" * 256, "/" * 600])
def test_keys_have_at_most_512_units(value: str) -> None:
    with pytest.raises(KeyValueTooLarge):
        verify_key_value("RowKey", value)


def test_a_lone_surrogate_is_no_text() -> None:
    with pytest.raises(InvalidInput):
        verify_key_value("RowKey", "a\ud800")
