"""How long a signature is looked at says nothing of it: shown by what is done, as clocks show nothing here.

Every key of the account is tried, each by `hmac.compare_digest` on the whole signature, whichever key fits.
"""

from __future__ import annotations

import base64
import hmac
from typing import TYPE_CHECKING

import pytest

from rowkey.auth import sas_fields, shared_key
from rowkey.auth.shared_key import SigningKey
from rowkey.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = [SigningKey(b"first"), SigningKey(b"second")]
TEXT = "what is signed"


def signature(key: bytes) -> str:
    """A signature of the text."""
    return base64.b64encode(hmac.digest(key, TEXT.encode(), "sha256")).decode()


def shared(given: str) -> None:
    shared_key._is_signed(TEXT, given, KEYS)


def sas(given: str) -> None:
    try:
        sas_fields.verify_signature(TEXT, given, KEYS)
    except ServiceError:
        pass


@pytest.mark.parametrize("verify", [shared, sas])
@pytest.mark.parametrize(
    "given", [signature(b"first"), signature(b"second"), signature(b"third"), "", "x", "A" * 10_000]
)
def test_every_key_is_compared_in_constant_time(
    monkeypatch: pytest.MonkeyPatch, verify: Callable[[str], None], given: str
) -> None:
    compared: list[int] = []
    original = hmac.compare_digest

    def compare(left: bytes, right: bytes) -> bool:
        compared.append(len(left))
        return original(left, right)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    verify(given)
    assert compared == [44, 44] or compared == [32, 32]
