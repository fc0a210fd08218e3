"""The Prefer header."""

from __future__ import annotations

import pytest

from rowkey.wire.prefer import read_preference
from rowkey.wire.request import Request


@pytest.mark.parametrize(
    ("value", "preference"),
    [
        (None, None),
        ("", None),
        ("return-content", "return-content"),
        ("return-no-content", "return-no-content"),
        ("Return-No-Content", "return-no-content"),
        (" return-no-content ", "return-no-content"),
        ("respond-async, return-content", "return-content"),
        ("return-no-content, return-content", "return-no-content"),
        ("return=minimal", None),
        ("nonsense", None),
    ],
)
def test_preference(value: str | None, preference: str | None) -> None:
    assert read_preference(Request("POST", "/", {} if value is None else {"prefer": value})) == preference
