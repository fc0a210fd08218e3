"""Shared access signatures of both kinds: what is signed, what is refused, and what the log says about it.

The first vector of each kind was made with the official Python package, and so was POLICY; the others by the documented
construction.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.auth.sas import read_sas
from rowkey.auth.sas_fields import SasFields
from rowkey.errors import AuthenticationFailed
from rowkey.model.access_policy import AccessPolicy
from rowkey.model.datetimes import TICKS_PER_SECOND, parse_datetime
from tests.auth.conftest import (
    ACCOUNT_FIELDS,
    CONTOSO_KEY,
    EXPIRY,
    NOW,
    START,
    TABLE_FIELDS,
    account_sas,
    query_of,
    table_sas,
    tampered,
    verify,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Vector(NamedTuple):
    """A signature that is known to be right."""

    options: dict[str, str]
    account: str = "contoso"
    policies: Sequence[AccessPolicy] = ()

    @property
    def is_for_table(self) -> bool:
        """Whether it is for a table, and not for an account."""
        return "tn" in self.options


READERS = AccessPolicy("readers", parse_datetime(START), parse_datetime(EXPIRY), "r")
VECTORS = {
    "TABLE": Vector(
        {
            "st": START,
            "se": EXPIRY,
            "sp": "raud",
            "sip": "203.0.113.0-203.0.113.255",
            "spr": "https",
            "sv": "2019-02-02",
            "tn": "Orders",
            "spk": "a",
            "srk": "1",
            "epk": "m",
            "erk": "9",
            "sig": "gLfqNQnf8SW0622KLO+R19mnnbT4kzo17VY1T+6ZXso=",
        }
    ),
    "POLICY": Vector(
        {
            "sv": "2019-02-02",
            "si": "readers",
            "tn": "Orders",
            "sig": "jmhW/S4fw77fqt8YmxH8NCGdjlQ20GtEiNDsHOjM4AU=",
        },
        "devstoreaccount1",
        (READERS,),
    ),
    "TABLE-least": Vector(
        {
            "sp": "r",
            "se": EXPIRY,
            "sv": "2019-02-02",
            "tn": "Orders",
            "sig": "GP5YBsuDnMWb0biNkPGr3GW4p3CQXWOIxCBat31UbX0=",
        }
    ),
    "TABLE-2014-02-14": Vector(
        {
            "sp": "raud",
            "st": START,
            "se": EXPIRY,
            "sv": "2014-02-14",
            "tn": "Orders",
            "sig": "9/dr+lfG7Q96WMAu8HAxc1eeOumE0rynx/Dxf6EmjPc=",
        }
    ),
    "TABLE-2012-02-12": Vector(
        {
            "sp": "raud",
            "st": START,
            "se": EXPIRY,
            "sv": "2012-02-12",
            "tn": "Orders",
            "sig": "IKHBR+jrHvTtBFjQ2cbGorQejUDbAFt8pIX2GP8pVfI=",
        }
    ),
    "TABLE-azure-0.11.1": Vector(  # made with this package
        {
            "st": "2026-08-01",
            "se": "2026-09-01",
            "sp": "raud",
            "sv": "2014-02-14",
            "tn": "Orders",
            "sig": "UjKgfOjWnpUXQ9DdhBlGNNgdZIDkjI1tFHrUcjkeexY=",
        },
        "devstoreaccount1",
    ),
    "ACCOUNT": Vector(
        {
            "st": START,
            "se": EXPIRY,
            "sp": "rwdlacu",
            "spr": "https",
            "sv": "2019-02-02",
            "ss": "t",
            "srt": "so",
            "sig": "F21sjJXuGlGaV8iK/9aLQEqqzBjr7JMcnUSNLAia3As=",
        }
    ),
    "ACCOUNT-2020-12-06": Vector(
        {
            "sp": "r",
            "ss": "t",
            "srt": "sco",
            "se": EXPIRY,
            "sv": "2020-12-06",
            "sig": "PJRossUpF+ERyZxE8/gT1xAVrFP2MmLTZQICi9gF2ss=",
        }
    ),
}
# Of the versions between, and with every field: made by this test's own construction.
TABLE_WITH_ALL = {
    "sp": "raud",
    "st": START,
    "se": EXPIRY,
    "tn": "Orders",
    "spk": "a",
    "srk": "1",
    "epk": "m",
    "erk": "9",
}
ACCOUNT_WITH_ALL = {"sp": "rl", "ss": "bqtf", "srt": "sco", "st": START, "se": EXPIRY}
ORIGIN = {"sip": "203.0.113.7", "spr": "https,http"}
VECTORS |= {
    f"TABLE-{version}": Vector(table_sas(sv=version, **TABLE_WITH_ALL, **(ORIGIN if version >= "2015-04-05" else {})))
    for version in ("2013-08-15", "2015-02-20", "2015-02-21", "2015-04-04", "2015-04-05", "2017-04-17", "2099-12-31")
}
VECTORS |= {
    f"ACCOUNT-{version}": Vector(
        account_sas(sv=version, **ACCOUNT_WITH_ALL, **ORIGIN, **({"ses": "scope"} if version >= "2020-12-07" else {}))
    )
    for version in ("2015-04-05", "2020-12-05", "2020-12-07", "2099-12-31")
}
ALL = [pytest.param(vector, id=name) for name, vector in VECTORS.items()]

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


BUILDERS: dict[str, Callable[..., dict[str, str]]] = {"table": table_sas, "account": account_sas}
LEAST = {
    "table": {"sp": "r", "se": EXPIRY, "sv": "2019-02-02", "tn": "Orders"},
    "account": {"sp": "r", "se": EXPIRY, "sv": "2019-02-02", "ss": "t", "srt": "o"},
}


@pytest.mark.parametrize("kind", BUILDERS)
class TestFields:
    """Signatures that are right, over fields that may be wrong."""

    @pytest.mark.parametrize("value", ["203.0.113.7", "203.0.113.0-203.0.113.255", "203.0.113.7-203.0.113.7"])
    def test_sources(self, kind: str, value: str) -> None:
        verify(BUILDERS[kind](**{**LEAST[kind], "sip": value}))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(
                ("sv", version)
                for version in ("", "x", "2019-2-2", "2019-02-30", "20190202", "2019-02-02 ", "1999-01-01")
            ),
            *(("sv", version) for version in ("2011-08-18", "2019-02-02T00:00:00Z", "\u0662\u0660\u0661\u0669-02-02")),
            *(("spr", value) for value in ("http", "http,https", "HTTPS", "https,", "https, http", "ftp")),
            *(("sip", value) for value in ("x", "1.2.3", "1.2.3.4-", "-1.2.3.4", "1.2.3.4-1.2.3.3", "1.2.3.4,1.2.3.5")),
            *(
                ("sip", value)
                for value in ("1.2.3.0/24", "01.2.3.4", "1.2.3.4-::1", "::2-::1", "1.2.3.4-1.2.3.5-1.2.3.6")
            ),
            *(("st", value) for value in ("x", "2026-08-01T00:00:00", "2026-02-30", "1600-01-01", "2026-08-01 00:00Z")),
            *(("se", value) for value in ("x", "2026-09-01T00:00:00", "2026-02-30", "1600-01-01", "", "31.12.2026")),
            *(("sp", value) for value in ("", "R", "r ", "r,a", "1", "\u0433")),
            *((name, "a\nb") for name in ("sp", "st", "se", "sip", "spr", "sv")),
        ],
    )
    def test_malformed_field_is_refused(
        self, kind: str, name: str, value: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(BUILDERS[kind](**{**LEAST[kind], name: value}))
        assert len(caplog.records) == 1
        assert "does not match" not in caplog.text

    @pytest.mark.parametrize(
        "text",
        [
            *("2026-09-01", "2026-09-01T00:00Z", "2026-09-01T00:00:00Z", "2026-09-01T00:00:00.0Z"),
            *("2026-09-01T00:00:00.0000000Z", "2026-09-01T02:00:00+02:00", "2026-08-31T16:00-08:00"),
        ],
    )
    def test_times_are_signed_as_sent(self, kind: str, text: str) -> None:
        """In any form, each of which means the same moment."""
        expiry = parse_datetime(EXPIRY)
        options = BUILDERS[kind](**{**LEAST[kind], "se": text})
        verify(options, now=expiry - 1)
        with pytest.raises(AuthenticationFailed):
            verify(options, now=expiry)
        with pytest.raises(AuthenticationFailed):
            verify({**options, "se": EXPIRY if text != EXPIRY else "2026-09-01"}, now=expiry - 1)

    def test_start_is_inclusive_and_expiry_is_not(self, kind: str) -> None:
        options = BUILDERS[kind](**{**LEAST[kind], "st": START})
        for now in (parse_datetime(START), NOW, parse_datetime(EXPIRY) - 1):
            verify(options, now=now)
        for now in (parse_datetime(START) - 1, parse_datetime(EXPIRY), parse_datetime(EXPIRY) + TICKS_PER_SECOND):
            with pytest.raises(AuthenticationFailed):
                verify(options, now=now)

    def test_the_clock_is_looked_at_each_time(self, kind: str) -> None:
        """A signature is parsed once, and nothing else about it is remembered."""
        options = BUILDERS[kind](**LEAST[kind])
        verify(options)
        with pytest.raises(AuthenticationFailed):
            verify(options, now=parse_datetime(EXPIRY))
        verify(options)
        with pytest.raises(AuthenticationFailed):
            verify(options, keys=[b"another"])

    def test_options_are_signed_as_utf_8(self, kind: str) -> None:
        """Also where Latin-1 could encode them; `ses` and `spk` may hold any text."""
        name = "ses" if kind == "account" else "spk"
        for text in ("caf\u00e9", "\u554a", "\U0001f600", "a+b c%20&=", "\x7f\x9f\u2028"):
            verify(BUILDERS[kind](**{**LEAST[kind], "sv": "2020-12-06", name: text}))


class TestKind:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"sig": "x"},
            {"sv": "2019-02-02", "sig": "x", "se": EXPIRY, "sp": "r"},
            {"sv": "2019-02-02", "sig": "x", "se": EXPIRY, "sp": "r", "tn": "", "ss": "", "srt": ""},
            {"sv": "2019-02-02", "sig": "x", "se": EXPIRY, "sp": "r", "TN": "Orders"},
        ],
    )
    def test_neither_kind(self, options: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
        with pytest.raises(AuthenticationFailed):
            read_sas(options)
        assert "neither tn" in caplog.text

    @pytest.mark.parametrize("name", ["ss", "srt", "ses"])
    def test_table_signature_with_field_of_an_account(self, name: str, caplog: pytest.LogCaptureFixture) -> None:
        with pytest.raises(AuthenticationFailed):
            verify({**table_sas(**LEAST["table"]), name: "t"})
        assert "for accounts" in caplog.text

    @pytest.mark.parametrize("name", ["tn", "si", "spk", "srk", "epk", "erk"])
    def test_account_signature_with_field_of_a_table(self, name: str) -> None:
        with pytest.raises(AuthenticationFailed):
            verify({**account_sas(**LEAST["account"]), name: "x"})

    def test_line_feeds_cannot_move_a_value_into_another_field(self) -> None:
        """Whoever has a key may be led to sign a key range with a line feed; it must not become another signature."""
        least = {"sp": "r", "se": EXPIRY, "tn": "Orders"}
        wanted = table_sas(**least, sv="2019-02-02", spk="2015-03-01", srk="a", epk="b", erk="c\nd")
        moved = table_sas(**least, si="\n\n\n2019-02-02", sv="2015-03-01", spk="a", srk="b", epk="c", erk="d")
        assert wanted["sig"] == moved["sig"]
        for options in (wanted, moved):
            with pytest.raises(AuthenticationFailed):
                verify(options, (AccessPolicy(options.get("si", "")),))

    def test_the_last_of_two_values_is_signed_and_obeyed(self) -> None:
        query = query_of(table_sas(**LEAST["table"]))
        assert verify(f"sp=raud&spk=z&spk=&{query}").key_range is None
        for more in ("sp=raud", "sp=", "tn=Customers", "sig=x", "spk=a"):
            with pytest.raises(AuthenticationFailed):
                verify(f"{query}&{more}")


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
