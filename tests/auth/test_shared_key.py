"""Shared Key and Shared Key Lite: who signed what, and what the log says of those who did not."""

from __future__ import annotations

import base64
import hmac
import logging
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rowkey.auth.shared_key import SigningKey, read_signer
from rowkey.errors import AuthenticationFailed, InvalidAuthenticationInfo
from rowkey.wire.request import Request
from tests.auth.conftest import CONTOSO_KEY, sign
from tests.auth.shared_key_vectors import DATE, NOW, SIGNED, VECTORS, Vector, request_of, signed, verify


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
        request.headers["authorization"] = f"SharedKeyLite devstoreaccount1:{sign(text, 'devstoreaccount1')}"
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


class TestLog:
    """The author of a client can compare what was signed, and nobody can learn a secret."""

    @pytest.mark.parametrize("scheme", ["SharedKey", "SharedKeyLite"])
    def test_string_to_sign_is_logged_without_secrets(self, caplog: pytest.LogCaptureFixture, scheme: str) -> None:
        signature = sign("something else", "contoso")
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
            ("Basic c2VjcmV0c2lnbmF0dXJl", "SharedKey"),
            ("bearer c2VjcmV0c2lnbmF0dXJl", "no issuer is named: --oidc"),
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
