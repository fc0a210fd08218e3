"""The query options beside `$filter`: `$select`, `$top`, `timeout`, and what is not known.

Source: the pages on querying entities and on setting timeouts. Values come decoded; None is an option that is absent.
"""

from collections.abc import Iterable
from typing import Final

from rowkey.errors import (
    InvalidQuery,
    InvalidQueryParameterValue,
    NotImplementedOnResource,
    PropertyNameInvalid,
    PropertyNameTooLong,
)
from rowkey.model.edm import parse_integer, utf16_length
from rowkey.model.limits import PAGE_ITEMS_MAX, SELECT_NAMES_MAX
from rowkey.model.names import verify_property_name
from rowkey.wire.version import SELECT_SINCE

TIMEOUT_SECONDS_MAX = 30
"""The documented maximum and default of an operation; more is cut to it."""

_KNOWN: Final = frozenset({"$filter", "$select", "$top", "$format", "$ct"})


def verify_options(names: Iterable[str]) -> None:
    """Raise NotImplementedOnResource for a system query option that the service has not; others are ignored."""
    for name in names:
        if name.startswith("$") and name not in _KNOWN:
            raise NotImplementedOnResource


def read_top(text: str | None) -> int:
    """The page size asked for: 1 to 1000, which is also the default; InvalidQuery otherwise.

    Answers to 0 differ: the API description allows it, a client's tests against the live service expect 400.
    """
    if text is None:
        return PAGE_ITEMS_MAX
    try:
        return parse_integer(text, 1, PAGE_ITEMS_MAX)
    except ValueError:
        raise InvalidQuery from None


def read_select(text: str | None, version_date: str) -> tuple[str, ...] | None:
    """The names asked for, each once, in order; None for all. Raises InvalidQuery, also in versions without `$select`.

    Blanks around commas and a comma at the end are accepted (recorded), as is an empty value for all (recorded).
    """
    if text is None or not text.strip():
        return None
    if version_date < SELECT_SINCE:
        raise InvalidQuery
    parts = text.split(",")
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    names: dict[str, None] = {}
    position = 0
    for part in parts:
        name = part.strip()
        if name != "*":
            _verify_name(name, text, position + len(part) - len(part.lstrip()))
        names[name] = None
        position += len(part) + 1
    if "*" in names:
        return None
    if len(names) > SELECT_NAMES_MAX:
        raise InvalidQuery
    return tuple(names)


def _verify_name(name: str, text: str, position: int) -> None:
    """Raise as the service does for `['age, sex']`: "An identifier was expected at position 0." (recorded)."""
    try:
        verify_property_name(name)
    except PropertyNameTooLong:
        raise InvalidQuery from None
    except PropertyNameInvalid:
        raise InvalidQuery(f"An identifier was expected at position {utf16_length(text[:position])}.") from None


def read_timeout(text: str | None) -> float:
    """The seconds that the client gives an operation, at most 30; 0 gives as much as there is."""
    if text is None:
        return float(TIMEOUT_SECONDS_MAX)
    try:
        seconds = parse_integer(text, 0, 10**39)
    except ValueError:
        raise InvalidQueryParameterValue from None
    return float(min(seconds or TIMEOUT_SECONDS_MAX, TIMEOUT_SECONDS_MAX))
