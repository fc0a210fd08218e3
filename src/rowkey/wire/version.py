"""The protocol version that a request names in x-ms-version."""

import re
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from rowkey.errors import InvalidHeaderValue

NEWEST = "9999-12-31"
"""Above every version: any well-formed date is accepted, newer ones behave as the newest known."""
OLDEST = "2008-10-27"
"""The protocol before versions had names: what a request without x-ms-version speaks."""

# What changed when, as far as this server behaves by it. Dates compare as text.
TRANSACTIONS_SINCE = "2009-04-14"
NO_HYPHENS_SINCE = "2009-04-14"
SERVICE_PROPERTIES_SINCE = "2009-09-19"
VERSION_HEADER_SINCE = "2009-09-19"
UPSERT_SINCE = "2011-08-18"
SELECT_SINCE = "2011-08-18"
ACCESS_POLICIES_SINCE = "2012-02-12"
COMPACT_ATOM_SINCE = "2012-02-12"
JSON_SINCE = "2013-08-15"
PREFER_SINCE = "2013-08-15"
CORS_SINCE = "2013-08-15"
"""With it came minute metrics, service properties that are set in part, and service stats."""
API_VERSION_SINCE = "2014-02-14"
JSON_ONLY_SINCE = "2015-12-11"
ERROR_CODE_HEADER_SINCE = "2017-07-29"
CLIENT_REQUEST_ID_SINCE = "2019-02-02"

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class Version(NamedTuple):
    """`text` is what the client sent, to be echoed (None: nothing); `date` is what the server goes by."""

    text: str | None
    date: str


def read_version(text: str | None, accept: str | None) -> Version:
    """The version of a request with these x-ms-version and Accept headers.

    A request without a version that asks for JSON cannot mean the protocol of 2008: it gets the newest.
    Raises InvalidHeaderValue for text that is not a date (recorded: "12.0.0b1").
    """
    if text is None:
        return Version(None, NEWEST if accept and "application/json" in accept.lower() else OLDEST)
    try:
        if _DATE.fullmatch(text):
            date.fromisoformat(text)
            return Version(text, text)
    except ValueError:
        pass
    raise InvalidHeaderValue


def choose_version(header: str | None, options: Mapping[str, str]) -> str | None:
    """The version of a request with a shared access signature, which names one too (`sv`).

    Signatures of versions before 2014-02-14 decide it alone; of later ones `api-version` and x-ms-version do, before
    them, unless the header names an older version than that.
    """
    signed = options.get("sv")
    if signed is None or not _DATE.fullmatch(signed):
        return header  # no such signature will be accepted
    if signed < API_VERSION_SINCE:
        return signed
    if header is not None and _DATE.fullmatch(header) and header < API_VERSION_SINCE:
        header = None
    return options.get("api-version") or header or signed


_DATA_SERVICE_VERSION = re.compile(r"\s*([1-9]\d?)\.(\d\d?)\s*(?:;.*)?", re.ASCII)
_DATA_SERVICE_VERSIONS_SINCE = {2: UPSERT_SINCE, 3: JSON_SINCE}
"""OData's versions after 1.0, none of which has a minor one, and the protocol versions that brought them."""


def read_data_service_version(stated: str | None, maximum: str | None, version_date: str) -> int:
    """The OData version that DataServiceVersion and MaxDataServiceVersion, which wins, ask for (`3.0`, `3.0;NetFx`).

    None asks for the highest that the protocol has, and so does a maximum above it (captured: 2.0 with 2009-09-19).
    Raises InvalidHeaderValue for text that is no version, and for a stated one that the protocol does not have.
    """
    highest = max((major for major, since in _DATA_SERVICE_VERSIONS_SINCE.items() if version_date >= since), default=1)
    major, minor = (highest, 0) if stated is None else _parse_data_service_version(stated)
    if major > highest or minor:
        raise InvalidHeaderValue
    return major if maximum is None else min(_parse_data_service_version(maximum)[0], highest)


def _parse_data_service_version(text: str) -> tuple[int, int]:
    match = _DATA_SERVICE_VERSION.fullmatch(text)
    if match is None:
        raise InvalidHeaderValue
    return int(match[1]), int(match[2])
