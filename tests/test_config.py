"""Accounts as text, and connection strings."""

from __future__ import annotations

import pytest

from rowkey.config import DEVELOPMENT_ACCOUNT, Settings, connection_string, parse_account


def test_account_has_one_or_two_keys() -> None:
    assert parse_account("abc:a2V5").keys == (b"key",)
    assert parse_account("abc:a2V5:a2V5Mg==").keys == (b"key", b"key2")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "3 to 24"),
        ("ab:a2V5", "3 to 24"),
        ("Abc:a2V5", "3 to 24"),
        ("a-c:a2V5", "3 to 24"),
        (f"{'a' * 25}:a2V5", "3 to 24"),
        ("abc", "one or two keys"),
        ("abc:a2V5:a2V5:a2V5", "one or two keys"),
        ("abc:", "not base64"),
        ("abc:secret!", "not base64"),
        ("abc:a2V", "not base64"),
        ("abc:a2V5:é", "not base64"),
    ],
)
def test_bad_account_is_refused_without_showing_the_key(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        parse_account(text)
    assert "secret" not in str(caught.value)


def test_keys_are_not_shown() -> None:
    assert "key" not in repr(parse_account("abc:a2V5"))


@pytest.mark.parametrize(
    ("host", "endpoint"),
    [
        ("127.0.0.1", "http://127.0.0.1:5/devstoreaccount1"),
        ("0.0.0.0", "http://127.0.0.1:5/devstoreaccount1"),
        ("::", "http://[::1]:5/devstoreaccount1"),
        ("::1", "http://[::1]:5/devstoreaccount1"),
        ("localhost", "http://localhost:5/devstoreaccount1"),
    ],
)
def test_connection_string(host: str, endpoint: str) -> None:
    assert connection_string(Settings(host=host), DEVELOPMENT_ACCOUNT, 5) == (
        "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
        "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
        f"TableEndpoint={endpoint};"
    )
