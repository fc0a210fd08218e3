"""Shared Key and Shared Key Lite: who signed what, and when.

The vectors were made with the official Python package (the Lite column by the documented construction, checked against
the official JavaScript package); K and L are signatures that other clients had logged.
"""

from __future__ import annotations

import base64
import hmac
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from rowkey.auth.shared_key import SigningKey, read_signer, verify_shared_key
from rowkey.errors import AuthenticationFailed, InvalidAuthenticationInfo
from rowkey.wire.request import Request
from rowkey.wire.target import read_address, read_options

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTOSO_KEY = bytes(range(64))
DEVELOPMENT_KEY = base64.b64decode(
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
DATE = "Mon, 03 Aug 2026 10:15:30 GMT"
NOW = datetime(2026, 8, 3, 10, 15, 30, tzinfo=UTC).timestamp()
KEYS = {"contoso": (CONTOSO_KEY,), "devstoreaccount1": (DEVELOPMENT_KEY,)}
CONTOSO = "contoso.table.core.windows.net"
LOCAL = "127.0.0.1:10002"


@dataclass(frozen=True)
class Vector:
    """A request, and the two signatures that are right for it."""

    method: str
    host: str
    target: str
    headers: Mapping[str, str]
    shared_key: str | None
    lite: str | None
    account: str = "contoso"
    date: str = DATE


VECTORS = {
    "A": Vector(
        "GET",
        CONTOSO,
        "/Tables",
        {},
        "1/hJSGekpRNzRdj7DUsHUBviQgknBzgjK8SQn2LWNyw=",
        "AlWRNkX/v0ogFAlej2pPLzlkP2ebrbflKXvd3iYC9Xk=",
    ),
    "B": Vector(
        "POST",
        CONTOSO,
        "/Orders",
        {"content-type": "application/json;odata=nometadata"},
        "lYfnrwugmaVlrSGPSp8cHQdEu69OJyVvEtpGy348Hgc=",
        "rNgvJmSOyvVMKiF1heTBbj2uPPdRvWJvcNHVN+CiIgs=",
    ),
    "C": Vector(
        "GET",
        CONTOSO,
        "/Orders()?$filter=PartitionKey%20eq%20'eu'&$top=5",
        {},
        "x7lviZhS2wk+7f+AUrvtG+Xd65TWUIyIN/Vjm5KpE88=",
        "pgDMkx9oHiKFCrUus0AO4yWY98iJXljU+yFrb45xHsE=",
    ),
    "D": Vector(
        "PUT",
        CONTOSO,
        "/Orders?comp=acl&timeout=20",
        {"content-type": "application/xml"},
        "vQQBVpy6V1U/VX0Irke8zMZhck9oer53Rml4f2E26n8=",
        "5TgyTOwnQ93AQIMDvQsX6BTKiNYb49Hfuj+x4JfKBRk=",
    ),
    "E": Vector(
        "PUT",
        CONTOSO,
        "/?restype=service&comp=properties",
        {"content-type": "application/xml"},
        "hTbDjmcjc84aHhNVRZa23B/IcLiz/01MTOeYWtK9vCU=",
        "DS7TKHDSZ91a6nPzL/SX/PXdxU2e3AUxTEzF8elcRAQ=",
    ),
    "F": Vector(
        "PATCH",
        CONTOSO,
        "/Orders(PartitionKey='eu',RowKey='caf%C3%A9%20%27%271%27%27')",
        {"content-type": "application/json"},
        "8ezoxo+shFvHWMx8bTCT21h1EXlDEk8xzg4qo3JIi/o=",
        "VdquNcHtHp5kC1rdh17/ii4DeLRG53vTaX5MJQs83cU=",
    ),
    "G": Vector(
        "GET",
        LOCAL,
        "/devstoreaccount1/Tables",
        {},
        "kZPlgs/ubkJnP4s4iSvywRiXJc2iCnk8PnK388ewtgE=",
        "naVJT1sZX4qKSh99q1eUfWsAQYb186caP6CK5p9YVJs=",
        "devstoreaccount1",
    ),
    "H": Vector(
        "POST",
        LOCAL,
        "/devstoreaccount1/$batch",
        {"content-type": "multipart/mixed; boundary=batch_1"},
        "+uzjbfngkslQEPdYQOGiNek1joO80EO23cqOfG7ZdFs=",
        "lKM3AbDJ7xw3QG22lgXBfS+xKJnJP5urq8K3giY3XEM=",
        "devstoreaccount1",
    ),
    "I": Vector(
        "GET",
        "contoso-secondary.table.core.windows.net",
        "/?restype=service&comp=stats",
        {},
        "CZmsGxv7WzUsyu58TnfAYP2rSWVUGV351NfFpB1EOUs=",
        "V04VgYWnSF7puFRHhE6KLDf68ZRU934ALvPk9SQpO9M=",
    ),
    "J": Vector(
        "GET",
        LOCAL,
        "/devstoreaccount1-secondary/?restype=service&comp=stats",
        {},
        "ghfQuH3RVE3Br7kICh3+PyzxnDsHwmvh02azaHR6RYM=",
        "25iTXxJ7NjXvxT3aVJr3+VqGidpjqpokRaTGNdvuRu0=",
        "devstoreaccount1",
    ),
    "K": Vector(
        "GET",
        LOCAL,
        "/devstoreaccount1/Todo?comp=acl",
        {"content-type": ""},
        "sUNi3ygCN1YCaUfjbsOZHy5ypoJMR7o6m1w0ods6Aiw=",
        None,
        "devstoreaccount1",
        "Thu, 24 Feb 2022 15:34:17 GMT",
    ),
    "L": Vector(
        "GET",
        LOCAL,
        "/devstoreaccount1/ArchiveStreamsTable()",
        {},
        None,
        "qfkZCLgrpopRpOwmPHNKfkG5lacg9vMF4/cxkUj2TU8=",
        "devstoreaccount1",
        "Wed, 29 Mar 2023 13:05:49 GMT",
    ),
}
SIGNED = [
    pytest.param(vector, scheme, signature, id=f"{name}-{scheme}")
    for name, vector in VECTORS.items()
    for scheme, signature in (("SharedKey", vector.shared_key), ("SharedKeyLite", vector.lite))
    if signature is not None
]


def request_of(vector: Vector, authorization: str | None) -> Request:
    """The request of a vector."""
    headers = {"host": vector.host, "x-ms-date": vector.date, **vector.headers}
    if authorization is not None:
        headers["authorization"] = authorization
    return Request(vector.method, vector.target, headers)


def verify(request: Request, keys: Mapping[str, tuple[bytes, ...]] = KEYS, now: float | None = None) -> None:
    """Raise unless the request is signed with one of the keys; `now` is the moment of its date if not given."""
    address = read_address(request, frozenset(keys))
    comp = read_options(address.query).get("comp")
    if now is None:
        now = (
            datetime.strptime(request.headers["x-ms-date"], "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC).timestamp()
        )
    signing_keys = {account: [SigningKey(key) for key in pair] for account, pair in keys.items()}
    verify_shared_key(request, address, comp, signing_keys, now)


def sign(text: str, key: bytes = CONTOSO_KEY) -> str:
    """The signature of a string."""
    return base64.b64encode(hmac.digest(key, text.encode(), "sha256")).decode()


def lite(resource: str, date: str, account: str = "contoso") -> str:
    """The Authorization header of Shared Key Lite."""
    return f"SharedKeyLite {account}:" + sign(f"{date}\n{resource}", KEYS[account][0])


def signed(signed_path: str, *, target: str | None = None, host: str = CONTOSO, account: str = "contoso") -> Request:
    """A GET whose client signed `signed_path`, and which arrived with `target`."""
    headers = {"host": host, "x-ms-date": DATE}
    headers["authorization"] = lite(f"/{account}{signed_path}", DATE, account)
    return Request("GET", target or signed_path, headers)


def put(name: str, old: str, new: str) -> Callable[[Request], None]:
    """Replaces something in a header."""

    def tamper(request: Request) -> None:
        request.headers[name] = re.sub(old, new, request.headers.get(name, ""), count=1)

    return tamper


def readdress(old: str, new: str) -> Callable[[Request], None]:
    """Replaces something in the target."""

    def tamper(request: Request) -> None:
        request.target = re.sub(old, new, request.target, count=1)

    return tamper


def change_method(request: Request) -> None:
    """Asks for something else."""
    request.method = "DELETE"


def change_comp(request: Request) -> None:
    """Adds the one option that is signed, or another value of it; the last one counts."""
    request.target += ("&" if "?" in request.target else "?") + "comp=x"


def exchange_scheme(request: Request) -> None:
    """Claims that the signature is of the other scheme."""
    scheme, _, rest = request.headers["authorization"].partition(" ")
    request.headers["authorization"] = ("SharedKey " if scheme == "SharedKeyLite" else "SharedKeyLite ") + rest


def swap_case(request: Request) -> None:
    """Base64 is sensitive to letter case."""
    credentials, _, signature = request.headers["authorization"].rpartition(":")
    request.headers["authorization"] = f"{credentials}:{signature.swapcase()}"


TAMPERS: dict[str, Callable[[Request], None]] = {
    "method": change_method,
    "Content-Type": put("content-type", "$", "x"),
    "Content-MD5": put("content-md5", "$", "x"),
    "date": put("x-ms-date", r":\d\d GMT", ":00 GMT"),
    "longer path": readdress(r"(\?|$)", r"x\1"),
    "slash": readdress(r"(\?|$)", r"/\1"),
    "comp": change_comp,
    "scheme": exchange_scheme,
    "first character": put("authorization", r":(.)", r":/\1"),
    "no padding": put("authorization", "=$", ""),
    "letter case": swap_case,
}
NOT_SIGNED_BY_LITE = {"method", "Content-Type", "Content-MD5"}


class TestSigningKey:
    @pytest.mark.parametrize("length", [1, 32, 63, 64, 65, 200])
    @pytest.mark.parametrize("text", ["", "GET\n\n\n", "é啊😀", "x" * 10_000])
    def test_signs_as_the_standard_library_does(self, length: int, text: str) -> None:
        key = bytes(range(length))
        expected = hmac.digest(key, text.encode(), "sha256")
        signing_key = SigningKey(key)
        assert (signing_key.sign(text), signing_key.sign(text)) == (expected, expected)


class TestVectors:
    @pytest.mark.parametrize(("vector", "scheme", "signature"), SIGNED)
    def test_right_signature_is_accepted(self, vector: Vector, scheme: str, signature: str) -> None:
        verify(request_of(vector, f"{scheme} {vector.account}:{signature}"))

    @pytest.mark.parametrize(("vector", "scheme", "signature"), SIGNED)
    def test_date_header_stands_in_for_x_ms_date(self, vector: Vector, scheme: str, signature: str) -> None:
        request = request_of(vector, f"{scheme} {vector.account}:{signature}")
        moment = datetime.strptime(vector.date, "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC).timestamp()
        request.headers["date"] = request.headers.pop("x-ms-date")
        verify(request, now=moment)

    @pytest.mark.parametrize(("vector", "scheme", "signature"), SIGNED)
    def test_x_ms_date_wins(self, vector: Vector, scheme: str, signature: str) -> None:
        request = request_of(vector, f"{scheme} {vector.account}:{signature}")
        request.headers["date"] = "Thu, 01 Jan 1970 00:00:00 GMT"
        verify(request)

    @pytest.mark.parametrize(("vector", "scheme", "signature"), SIGNED)
    @pytest.mark.parametrize("tamper", TAMPERS)
    def test_tampered_request_is_refused(self, vector: Vector, scheme: str, signature: str, tamper: str) -> None:
        request = request_of(vector, f"{scheme} {vector.account}:{signature}")
        TAMPERS[tamper](request)
        if scheme == "SharedKeyLite" and tamper in NOT_SIGNED_BY_LITE:
            verify(request)
        else:
            with pytest.raises(AuthenticationFailed):
                verify(request)

    @pytest.mark.parametrize(("vector", "scheme", "signature"), SIGNED)
    def test_another_key_is_refused(self, vector: Vector, scheme: str, signature: str) -> None:
        request = request_of(vector, f"{scheme} {vector.account}:{signature}")
        with pytest.raises(AuthenticationFailed):
            verify(request, {vector.account: (b"another key",)})

    def test_other_options_are_not_signed(self) -> None:
        vector = VECTORS["A"]
        for query in ("?timeout=30", "?$filter=true&restype=service", "?x=comp=acl"):
            request = request_of(
                replace(vector, target=vector.target + query), f"SharedKey contoso:{vector.shared_key}"
            )
            verify(request)


class TestAccount:
    def test_both_keys_are_accepted(self) -> None:
        vector = VECTORS["A"]
        request = request_of(vector, f"SharedKey contoso:{vector.shared_key}")
        verify(request, {"contoso": (CONTOSO_KEY, b"second")})
        verify(request, {"contoso": (b"first", CONTOSO_KEY)})
        with pytest.raises(AuthenticationFailed):
            verify(request, {"contoso": (b"first", b"second")})

    @pytest.mark.parametrize("account", ["devstoreaccount1", "nobody", "", "Contoso", "contoso-secondary"])
    def test_signature_for_another_account_is_refused(self, account: str) -> None:
        vector = VECTORS["A"]
        with pytest.raises((AuthenticationFailed, InvalidAuthenticationInfo)):
            verify(request_of(vector, f"SharedKey {account}:{vector.shared_key}"))

    def test_right_key_for_the_wrong_account_is_refused(self) -> None:
        """Both accounts are served here; the one that is addressed counts."""
        text = f"{DATE}\n/devstoreaccount1/Tables"
        request = signed("/Tables")
        request.headers["authorization"] = f"SharedKeyLite devstoreaccount1:{sign(text, DEVELOPMENT_KEY)}"
        with pytest.raises(AuthenticationFailed):
            verify(request)

    @pytest.mark.parametrize(
        ("authorization", "signer"),
        [
            ("SharedKey contoso:AAAA", "contoso"),
            ("SharedKeyLite  contoso :AAAA", "contoso"),
            ("Bearer contoso:AAAA", None),
            ("SharedKey", None),
            ("", None),
        ],
    )
    def test_signer(self, authorization: str, signer: str | None) -> None:
        found = read_signer(Request("POST", "/$batch", {"authorization": authorization}))
        assert found == signer


class TestHeader:
    @pytest.mark.parametrize("scheme", ["SharedKey", "sharedkey", "SHAREDKEY", "sharedKey"])
    def test_scheme_in_any_letter_case(self, scheme: str) -> None:
        verify(request_of(VECTORS["A"], f"{scheme} contoso:{VECTORS['A'].shared_key}"))

    @pytest.mark.parametrize("scheme", ["SharedKeyLite", "sharedkeylite"])
    def test_lite_in_any_letter_case(self, scheme: str) -> None:
        verify(request_of(VECTORS["A"], f"{scheme} contoso:{VECTORS['A'].lite}"))

    @pytest.mark.parametrize(
        ("authorization", "error"),
        [
            (None, AuthenticationFailed),
            ("SharedKey", InvalidAuthenticationInfo),
            ("nonsense", InvalidAuthenticationInfo),
            ("contoso:AAAA", InvalidAuthenticationInfo),
            ("SharedKey contoso", AuthenticationFailed),
            ("SharedKey contoso:", AuthenticationFailed),
            ("SharedKey contoso:AAAA", AuthenticationFailed),
            ("SharedKey contoso:###", AuthenticationFailed),
            ("SharedKey contoso:подпись", AuthenticationFailed),
            ("SharedKey contoso:" + "A" * 100_000, AuthenticationFailed),
            ("Basic dXNlcjpwYXNz", AuthenticationFailed),
            ("Bearer e30.e30.", AuthenticationFailed),
        ],
    )
    def test_malformed_header(
        self, authorization: str | None, error: type[AuthenticationFailed | InvalidAuthenticationInfo]
    ) -> None:
        with pytest.raises(error):
            verify(request_of(VECTORS["A"], authorization))


class TestClock:
    @pytest.mark.parametrize("seconds", [0, 899, 900, -899, -900])
    def test_fifteen_minutes_are_tolerated(self, seconds: int) -> None:
        verify(request_of(VECTORS["A"], f"SharedKey contoso:{VECTORS['A'].shared_key}"), now=NOW + seconds)

    @pytest.mark.parametrize("seconds", [901, -901, 86_400, -86_400, 10**9])
    def test_more_is_not(self, seconds: int) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(request_of(VECTORS["A"], f"SharedKey contoso:{VECTORS['A'].shared_key}"), now=NOW + seconds)

    @pytest.mark.parametrize(
        "date",
        [
            "Mon, 03 Aug 2026 10:15:30 GMT",
            "Mon, 3 Aug 2026 10:15:30 GMT",
            "Monday, 03-Aug-26 10:15:30 GMT",
            "Mon Aug  3 10:15:30 2026",
        ],
    )
    def test_forms_of_dates(self, date: str) -> None:
        request = request_of(VECTORS["A"], None)
        request.headers |= {
            "x-ms-date": date,
            "authorization": lite("/contoso/Tables", date),
        }
        verify(request, now=NOW)

    def test_a_form_that_names_no_zone_is_in_gmt_wherever_the_server_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        date = "Tue Aug  4 10:15:30 2026"
        request = request_of(VECTORS["A"], None)
        request.headers |= {"x-ms-date": date, "authorization": lite("/contoso/Tables", date)}
        with monkeypatch.context() as changes:
            changes.setenv("TZ", "America/New_York")
            time.tzset()
            try:
                verify(request, now=NOW + 86_400)
            finally:
                changes.undo()
                time.tzset()

    @pytest.mark.parametrize(
        "date", ["", "yesterday", "2026-08-03T10:15:30Z", "Mon, 33 Aug 2026 10:15:30 GMT", "1785752130"]
    )
    def test_what_is_no_date_is_refused_however_well_signed(self, date: str) -> None:
        request = request_of(VECTORS["A"], None)
        request.headers |= {
            "x-ms-date": date,
            "authorization": lite("/contoso/Tables", date),
        }
        with pytest.raises(AuthenticationFailed):
            verify(request, now=NOW)

    def test_now_is_within_the_limits(self) -> None:
        date = formatdate(usegmt=True)
        verify(request_of(replace(VECTORS["A"], date=date), lite("/contoso/Tables", date)))


class TestSpellings:
    """HTTP libraries and proxies decode and encode what clients signed."""

    @pytest.mark.parametrize(
        ("signed_path", "target"),
        [
            ("/Orders(PartitionKey='~',RowKey='a-b._c')", "/Orders(PartitionKey='%7E',RowKey='a%2Db%2E%5Fc')"),
            ("/Orders(PartitionKey='a',RowKey='b')", "/Orders%28PartitionKey%3D%27a%27%2CRowKey%3D%27b%27%29"),
            ("/Orders%28PartitionKey%3D%27a%27%2CRowKey%3D%27b%27%29", "/Orders(PartitionKey='a',RowKey='b')"),
            (
                "/Orders(PartitionKey='a$b!c*d:e@f',RowKey='')",
                "/Orders(PartitionKey='a%24b%21c%2Ad%3Ae%40f',RowKey='')",
            ),
            ("/Orders(PartitionKey='%41',RowKey='')", "/Orders(PartitionKey='%41',RowKey='')"),
        ],
    )
    def test_other_spelling_of_the_same_path(self, signed_path: str, target: str) -> None:
        verify(signed(signed_path, target=target), now=NOW)

    @pytest.mark.parametrize(
        ("signed_path", "target"),
        [
            ("/Orders(PartitionKey='a',RowKey='b')", "/Orders(PartitionKey='a',RowKey='c')"),
            ("/Orders(PartitionKey='a',RowKey='b')", "/Orders(PartitionKey='b',RowKey='a')"),
            ("/Orders(PartitionKey='a',RowKey='')", "/Orders(PartitionKey='A',RowKey='')"),
            ("/Orders", "/Orders2"),
            ("/orders", "/Orders"),
            ("/Orders(PartitionKey='a/b',RowKey='')", "/Orders(PartitionKey='a%2Fb',RowKey='')"),
            ("/Orders(PartitionKey='%2525',RowKey='')", "/Orders(PartitionKey='%25',RowKey='')"),
        ],
    )
    def test_other_path(self, signed_path: str, target: str) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(signed(signed_path, target=target), now=NOW)

    @pytest.mark.parametrize(
        "signed_path",
        ["/devstoreaccount1-secondary/Tables", "/devstoreaccount1/Tables"],
        ids=["with the suffix, as the Python SDK", "without, as the service"],
    )
    def test_secondary_in_path_style(self, signed_path: str) -> None:
        request = signed(
            signed_path, target="/devstoreaccount1-secondary/Tables", host=LOCAL, account="devstoreaccount1"
        )
        verify(request, now=NOW)

    def test_secondary_with_the_account_twice(self) -> None:
        """What the Python SDK makes of an emulator's URL."""
        path = "/devstoreaccount1-secondary/devstoreaccount1/Tables"
        verify(signed(path, host=LOCAL, account="devstoreaccount1"), now=NOW)

    def test_secondary_signature_is_not_one_for_the_primary(self) -> None:
        request = signed(
            "/devstoreaccount1-secondary/Tables",
            target="/devstoreaccount1/Tables",
            host=LOCAL,
            account="devstoreaccount1",
        )
        with pytest.raises(AuthenticationFailed):
            verify(request, now=NOW)


class TestLog:
    """The author of a client can compare what was signed, and nobody can learn a secret."""

    @pytest.mark.parametrize("scheme", ["SharedKey", "SharedKeyLite"])
    def test_string_to_sign_is_logged_without_secrets(self, caplog: pytest.LogCaptureFixture, scheme: str) -> None:
        signature = sign("something else")
        request = request_of(VECTORS["F"], f"{scheme} contoso:{signature}")
        with caplog.at_level(logging.DEBUG), pytest.raises(AuthenticationFailed):
            verify(request)
        head = "PATCH\n\napplication/json\n" if scheme == "SharedKey" else ""
        text = f"{head}{DATE}\n/contoso{VECTORS['F'].target}"
        assert repr(text) in caplog.text
        right = VECTORS["F"].shared_key if scheme == "SharedKey" else VECTORS["F"].lite
        for secret in (signature, right or "", base64.b64encode(CONTOSO_KEY).decode(), repr(CONTOSO_KEY)):
            assert secret not in caplog.text

    @pytest.mark.parametrize(
        ("authorization", "word"),
        [
            ("SharedKey nobody:c2VjcmV0c2lnbmF0dXJl", "'nobody'"),
            ("Bearer c2VjcmV0c2lnbmF0dXJl", "SharedKey"),
            ("SharedKey contoso c2VjcmV0c2lnbmF0dXJl", "account:signature"),
        ],
    )
    def test_other_refusals_say_why(self, caplog: pytest.LogCaptureFixture, authorization: str, word: str) -> None:
        with caplog.at_level(logging.DEBUG), pytest.raises(AuthenticationFailed):
            verify(request_of(VECTORS["A"], authorization))
        assert word in caplog.text
        assert "c2VjcmV0c2lnbmF0dXJl" not in caplog.text

    @pytest.mark.parametrize("seconds", [901, -901])
    def test_wrong_clock_is_named(self, caplog: pytest.LogCaptureFixture, seconds: int) -> None:
        request = request_of(VECTORS["A"], f"SharedKey contoso:{VECTORS['A'].shared_key}")
        with caplog.at_level(logging.DEBUG), pytest.raises(AuthenticationFailed):
            verify(request, now=NOW + seconds)
        assert DATE in caplog.text
        assert "clock" in caplog.text
        assert (VECTORS["A"].shared_key or "") not in caplog.text

    def test_accepted_request_logs_nothing(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.DEBUG):
            verify(request_of(VECTORS["A"], f"SharedKey contoso:{VECTORS['A'].shared_key}"))
        assert not caplog.records
