"""Accounts as text, and connection strings."""

from __future__ import annotations

import pytest

from rowkey.config import (
    DEVELOPMENT_ACCOUNT,
    EVERYBODY_ELSE,
    Role,
    Settings,
    Tls,
    connection_string,
    is_loopback,
    parse_account,
    parse_issuer,
    parse_role,
    parse_store,
)


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
        ("localhost", "http://127.0.0.1:5/devstoreaccount1"),
    ],
)
def test_connection_string(host: str, endpoint: str) -> None:
    assert connection_string(Settings(host=host), DEVELOPMENT_ACCOUNT, 5) == (
        "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
        "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
        f"TableEndpoint={endpoint};"
    )


def test_connection_string_by_tls() -> None:
    text = connection_string(Settings(host="::", tls=Tls()), DEVELOPMENT_ACCOUNT, 5)
    assert text.startswith("DefaultEndpointsProtocol=https;AccountName=devstoreaccount1;")
    assert text.endswith(";TableEndpoint=https://[::1]:5/devstoreaccount1;")


@pytest.mark.parametrize(
    "text",
    [
        "https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0",
        "https://login.microsoftonline.com/contoso.onmicrosoft.com/v2.0",
        "https://sts.windows.net/11111111-2222-3333-4444-555555555555/",
        "https://here:8443/realms/common",
        "http://127.0.0.1:8080/realms/x",
        "http://localhost",
        "http://[::1]:5/",
    ],
)
def test_issuers(text: str) -> None:
    assert parse_issuer(text) == text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not the URL"),
        ("here", "not the URL"),
        ("https://", "not the URL"),
        ("https:///path", "not the URL"),
        ("https://here:port", "not the URL"),
        ("ftp://here", "not the URL"),
        ("https://here/?a", "not the URL"),
        ("https://here/#a", "not the URL"),
        ("https://a:b@here/", "not the URL"),
        ("https://here/a b", "not the URL"),
        ("https://here/a,b", "not the URL"),
        ('https://here/"', "not the URL"),
        ("https://here/\r\nX: y", "not the URL"),
        ("https://h\u00e9re", "not the URL"),
        ("http://here", "must be an https URL"),
        ("http://127.0.0.1.example.com", "must be an https URL"),
        ("http://localhost.example.com", "must be an https URL"),
        ("https://login.microsoftonline.com/common/v2.0", "name your own tenant"),
        ("https://login.microsoftonline.com/organizations", "name your own tenant"),
        ("https://login.microsoftonline.us/consumers/", "name your own tenant"),
    ],
)
def test_bad_issuer_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_issuer(text)


def test_roles() -> None:
    assert parse_role("reader") == (EVERYBODY_ELSE, Role.READER)
    assert parse_role("aaaa-bbbb=contributor") == ("aaaa-bbbb", Role.CONTRIBUTOR)
    assert parse_role("a=b=none") == ("a=b", Role.NONE)
    for text in ("", "king", "a=", "a=king", "=reader", " =reader"):
        with pytest.raises(ValueError):
            parse_role(text)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://",
        "postgres://u@db1,db2:5433/rowkey?target_session_attrs=read-write",
        "postgresql://u:a%2Fb%40c%3Ad@[::1]:5432/rowkey",
        "postgresql://%2Frun%2Fpostgresql/rowkey?user=u@server",
    ],
)
def test_stores(text: str) -> None:
    assert parse_store(text) == text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("mysql://u:secret@host/db", "not the URL of a database"),
        ("postgresql://u@host:secret/db", "port that is no number"),
        ("postgresql://u@host:5432,other:secret/db", "port that is no number"),
        ("postgresql://u:sec/ret@host/db", "%2F for /"),
        ("postgresql://u:12/secret@host/db", "%2F for /"),
        ("postgresql://u:sec?ret@host/db", "PGPASSWORD"),
        ("postgresql://u:12?secret@host/db", "cannot be read"),
        ("postgresql://u:p@secret@host/db", "more than one @"),
        ("postgresql://u:[secret@host/db", "cannot be read"),
        ("postgresql://u:secret\u2100@host/db", "cannot be read"),
    ],
)
def test_bad_store_is_refused_without_showing_a_password(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        parse_store(text)
    assert "sec" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("localhost", True),
        ("::1", True),
        ("", False),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.1", False),
        ("127.0.0.1.example.com", False),
        ("127.0.0", False),
    ],
)
def test_addresses_of_this_machine(host: str, is_local: bool) -> None:
    assert is_loopback(host) is is_local
