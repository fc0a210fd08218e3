"""Shared access signatures of both kinds: what is signed, what is refused, and what the log says about it."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.auth.sas import read_sas
from rowkey.auth.sas_fields import SasFields
from rowkey.errors import AuthenticationFailed
from rowkey.model.access_policy import AccessPolicy
from rowkey.model.datetimes import parse_datetime
from tests.auth.conftest import ACCOUNT_FIELDS, CONTOSO_KEY, EXPIRY, START, TABLE_FIELDS, tampered, verify
from tests.auth.sas_vectors import ALL, VECTORS, Vector

PLAUSIBLE = (
    "r",
    "t",
    "sco",
    "2019-02-02",
    "2014-02-14",
    EXPIRY,
    "0001-01-01",
    "9999-12-31T23:59Z",
    "1.2.3.4-5.6.7.8",
    "https",
)
MORE_POLICIES = (AccessPolicy("writers", None, parse_datetime(EXPIRY), "raud"),)
TAMPERED = [
    pytest.param(vector, options, id=f"{name} {tamper}")
    for name, vector in VECTORS.items()
    for tamper, options in tampered(vector.options).items()
]


@pytest.mark.parametrize("vector", ALL)
class TestVectors:
    def test_right_signature_is_accepted(self, vector: Vector) -> None:
        grant = verify(vector.options, vector.policies, account=vector.account)
        assert grant.kind == "sas"

    def test_what_it_names(self, vector: Vector) -> None:
        sas = read_sas(vector.options)
        assert (sas.table, sas.policy) == (vector.options.get("tn", ""), vector.options.get("si", ""))

    def test_either_key_signs(self, vector: Vector) -> None:
        key = CONTOSO_KEY if vector.account == "contoso" else None
        if key is not None:
            verify(vector.options, vector.policies, keys=[key, b"second"])
            verify(vector.options, vector.policies, keys=[b"first", key])
        with pytest.raises(AuthenticationFailed):
            verify(vector.options, vector.policies, account=vector.account, keys=[b"first", b"second"])

    def test_signature_for_another_account_is_refused(self, vector: Vector) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(vector.options, vector.policies, account="another", keys=[CONTOSO_KEY])

    def test_each_character_of_the_signature_counts(self, vector: Vector) -> None:
        signature = vector.options["sig"]
        for position, character in enumerate(signature):
            for other in {"A", "B", "+", "/", "=", " ", character.swapcase()} - {character}:
                changed = signature[:position] + other + signature[position + 1 :]
                with pytest.raises(AuthenticationFailed):
                    verify({**vector.options, "sig": changed}, vector.policies, account=vector.account)

    @pytest.mark.parametrize("signature", ["", "=", "A", "A" * 100_000, "\u043f\u043e\u0434\u043f\u0438\u0441\u044c"])
    def test_text_that_is_no_signature(self, vector: Vector, signature: str) -> None:
        with pytest.raises(AuthenticationFailed):
            verify({**vector.options, "sig": signature}, vector.policies, account=vector.account)

    def test_no_signature(self, vector: Vector) -> None:
        options = {name: value for name, value in vector.options.items() if name != "sig"}
        with pytest.raises(AuthenticationFailed):
            verify(options, vector.policies, account=vector.account)

    def test_signature_in_another_spelling(self, vector: Vector) -> None:
        """Base64 of the same bytes: without padding, with a line feed, in the alphabet of URLs."""
        signature = vector.options["sig"]
        for spelling in (signature.rstrip("="), signature + "\n", signature + "=", " " + signature):
            with pytest.raises(AuthenticationFailed):
                verify({**vector.options, "sig": spelling}, vector.policies, account=vector.account)


@pytest.mark.parametrize(("vector", "options"), TAMPERED)
def test_tampered_field_is_refused(vector: Vector, options: dict[str, str]) -> None:
    with pytest.raises(AuthenticationFailed):
        verify(options, (*vector.policies, *MORE_POLICIES), account=vector.account)


def test_there_are_many_tampered_fields() -> None:
    assert len(TAMPERED) > 700


@pytest.mark.parametrize("vector", ALL)
@pytest.mark.parametrize("name", ["timeout", "$filter", "comp", "restype", "api-version", "sr", "rscc", "x"])
def test_other_options_are_not_signed(vector: Vector, name: str) -> None:
    verify({**vector.options, name: "x"}, vector.policies, account=vector.account)


@pytest.mark.parametrize("vector", ALL)
@pytest.mark.parametrize("name", TABLE_FIELDS + ACCOUNT_FIELDS)
def test_empty_field_is_an_absent_one(vector: Vector, name: str) -> None:
    if name not in vector.options:
        with_empty = verify({**vector.options, name: ""}, vector.policies, account=vector.account)
        without = verify(vector.options, vector.policies, account=vector.account)
        assert with_empty.key_range == without.key_range


@pytest.mark.parametrize("vector", ALL)
@pytest.mark.parametrize(
    "name", ["skoid", "sktid", "skt", "ske", "sks", "skv", "skdutid", "sduoid", "saoid", "suoid", "scid"]
)
@pytest.mark.parametrize("value", ["", "x"])
def test_user_delegation_is_refused(vector: Vector, name: str, value: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(AuthenticationFailed):
        verify({**vector.options, name: value}, vector.policies, account=vector.account)
    assert "user delegation key" in caplog.text


@given(options=st.dictionaries(st.sampled_from(SasFields._fields), st.text() | st.sampled_from(PLAUSIBLE)))
def test_strangers_options_are_refused_and_nothing_worse(options: dict[str, str]) -> None:
    with pytest.raises(AuthenticationFailed):
        verify(options)


class TestLog:
    """It tells an operator what to do, and nobody a secret."""

    def messages(self, caplog: pytest.LogCaptureFixture) -> list[str]:
        assert {record.levelno for record in caplog.records} == {logging.WARNING}
        return [record.getMessage() for record in caplog.records]

    def test_what_the_server_signed(self, caplog: pytest.LogCaptureFixture) -> None:
        options = {**VECTORS["TABLE"].options, "sig": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U="}
        with pytest.raises(AuthenticationFailed):
            verify(options)
        (message,) = self.messages(caplog)
        assert (
            r"'raud\n2026-08-01T00:00:00Z\n2026-09-01T00:00:00Z\n/table/contoso/orders\n\n203.0.113.0-203.0.113.255\n"
            r"https\n2019-02-02\na\n1\nm\n9'" in message
        )
        assert options["sig"] not in message
        assert VECTORS["TABLE"].options["sig"] not in message

    @pytest.mark.parametrize(
        ("now", "text"),
        [
            (parse_datetime(EXPIRY), "it expired at 2026-09-01T00:00:00Z, and this server's clock says"),
            (parse_datetime(START) - 1, "it is valid from 2026-08-01T00:00:00Z on, and this server's clock says"),
        ],
    )
    def test_time(self, now: int, text: str, caplog: pytest.LogCaptureFixture) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(VECTORS["TABLE"].options, now=now)
        (message,) = self.messages(caplog)
        assert text in message

    def test_nothing_is_logged_for_what_is_accepted(self, caplog: pytest.LogCaptureFixture) -> None:
        verify(VECTORS["TABLE"].options)
        assert not caplog.records
