"""The Prefer header."""

from __future__ import annotations

import pytest

from rowkey.wire.prefer import read_preference
from rowkey.wire.request import Request
from rowkey.wire.version import Version


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
    assert read_preference(asking(value), Version(None, "2019-02-02")) == preference


@pytest.mark.parametrize(("version", "preference"), [("2012-02-12", None), ("2013-08-15", "return-no-content")])
def test_preference_came_with_json(version: str, preference: str | None) -> None:
    assert read_preference(asking("return-no-content"), Version(version, version)) == preference


def asking(value: str | None) -> Request:
    """A request with this Prefer header."""
    return Request("POST", "/", {} if value is None else {"prefer": value})
