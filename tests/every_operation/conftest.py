"""An issuer of tokens; and assertions beside the tests say what they saw, as those in tests do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import TokenIssuer

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.register_assert_rewrite("tests.every_operation.answers", "tests.every_operation.formats")


@pytest.fixture(scope="module")
def token_issuer() -> Iterator[TokenIssuer]:
    """One issuer for all tests."""
    issuer = TokenIssuer()
    yield issuer
    issuer.close()
