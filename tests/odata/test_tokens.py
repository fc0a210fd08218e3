"""Continuation tokens: the recorded ones, and any key through a token and back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidInput
from rowkey.odata.tokens import read_table_token, read_token, write_plain_or_token, write_table_token, write_token

TOKENS = [
    ("Smith", "1!8!U21pdGg-"),  # reference
    ("Ben999", "1!8!QmVuOTk5"),  # reference
    ("Ben1898", "1!12!QmVuMTg5OA--"),  # reference
    ("pk", "1!4!cGs-"),  # recorded
    ("002", "1!4!MDAy"),  # recorded
    ("", "1!0!"),
    ("\xff\xfe", "1!8!w7_Dvg--"),
    (">>>", "1!4!Pj4*"),
]

MALFORMED = [
    *("1!", "1!4", "1!4!", "1!4!cGs", "1!3!cGs-", "1!4!cGs=", "1!4!c s-", "1!x!cGs-", "1!-4!cGs-", "1!4!cGs-x"),
    *("1!5!cGs--", "1!1!c", "1!4!gICA", "1!4!-cGs", "1!\u0664!cGs-", "1!4!cGs-\n"),
]


@pytest.mark.parametrize(("text", "token"), TOKENS)
def test_a_key_is_a_token_and_back(text: str, token: str) -> None:
    assert write_token(text) == token
    assert read_token(token) == text


@given(st.text())
def test_any_key_survives_and_fits_a_header_and_a_url(text: str) -> None:
    assert read_token(write_token(text)) == text
    assert re.fullmatch(r"[0-9A-Za-z!*_-]+", write_token(text))
    assert read_token(write_plain_or_token(text)) == text
    assert re.fullmatch(r"[ -~]+", write_plain_or_token(text))


@pytest.mark.parametrize("token", MALFORMED)
def test_a_damaged_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidInput):
        read_token(token)


@pytest.mark.parametrize("text", ["", "Customers", "1", "2!4!cGs-", "é", "a b", "!"])
def test_what_is_no_token_is_the_key_itself(text: str) -> None:
    assert read_token(text) == text


@pytest.mark.parametrize("text", ["Customers", "BONAP", "a b", "!~", "1", "1 !"])
def test_clients_of_2008_get_the_key_itself(text: str) -> None:
    assert write_plain_or_token(text) == text


@pytest.mark.parametrize("text", ["", " a", "a ", "é", "a\n", "a\tb", "\x7f", "1!a", "1!4!cGs-"])
def test_clients_of_2008_get_a_token_where_the_key_could_be_mistaken(text: str) -> None:
    assert write_plain_or_token(text) == write_token(text)


def test_a_table_token_carries_the_lower_case_name_and_the_time_of_creation() -> None:
    """Recorded."""
    token = "1!36!bXl0YWJsZTIBMDFkNmQ1NjM0M2I4Zjg3OA--"
    assert write_table_token("MyTable2", 0x01D6D56343B8F878) == token
    assert read_table_token(token) == "mytable2"


@pytest.mark.parametrize("token", ["MyTable", "mytable", write_token("MyTable"), write_table_token("mytable", 0)])
def test_a_table_token_is_read_with_or_without_the_time(token: str) -> None:
    assert read_table_token(token) == "mytable"
