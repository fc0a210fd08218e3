"""The fields of shared access signatures: what each may say, and which belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.auth.sas import read_sas
from rowkey.errors import AuthenticationFailed
from rowkey.model.access_policy import AccessPolicy
from rowkey.model.datetimes import TICKS_PER_SECOND, parse_datetime
from tests.auth.conftest import EXPIRY, NOW, START, account_sas, query_of, table_sas, verify

if TYPE_CHECKING:
    from collections.abc import Callable


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
