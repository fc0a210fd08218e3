"""The watch over the logs sees what it is there for, and nothing else."""

from __future__ import annotations

import logging

import pytest

from tests.conftest import DEVELOPMENT_KEY
from tests.leaks import LeakWatch, leaks


@pytest.mark.parametrize(
    "line",
    [
        "refused: /Orders?sv=2019&sig=abc%3D",
        "refused: sig=abc",
        "https://here/Orders?%73ig=abc",
        "?sv=2019%26sig%3Dabc",
        '{"message": "?SIG=abc"}',
        "Authorization: SharedKey devstoreaccount1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "sharedkeylite devstoreaccount1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "Bearer eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.abc",
        "the token eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.abc",
        f"key {DEVELOPMENT_KEY}",
    ],
)
def test_leaks_are_seen(line: str) -> None:
    assert leaks(f"before\n{line}\nafter", (DEVELOPMENT_KEY,))


@pytest.mark.parametrize(
    "line",
    [
        "refused: /Orders?sv=2019&sig=XXXXX&se=2020",
        "refused: Authorization is neither SharedKey nor SharedKeyLite account:signature",
        "refused: the request is signed for account 'a' and addressed to 'b'",
        "refused: a bearer token: it is signed with the key 'made up'",
        "design=new",
        f"Connection string: DefaultEndpointsProtocol=http;AccountKey={DEVELOPMENT_KEY};",
    ],
)
def test_other_lines_pass(line: str) -> None:
    assert not leaks(line, (DEVELOPMENT_KEY,))


def test_the_process_of_the_tests_is_watched() -> None:
    watch = LeakWatch()
    logger = logging.getLogger("rowkey.test")
    logger.addHandler(watch)
    logger.propagate = False
    try:
        logger.warning("refused: %s", "?sig=abc")
    finally:
        logger.removeHandler(watch)
    assert len(watch.found) == 1
