"""On which terms a request is answered: by which version of the protocol, in which format."""

from functools import lru_cache
from typing import NamedTuple

from rowkey.wire.media import Format, read_format
from rowkey.wire.version import (
    JSON_ONLY_SINCE,
    NEWEST,
    Version,
    read_data_service_version,
    read_version,
)


class Terms(NamedTuple):
    """What x-ms-version, Accept, `$format` and the headers of OData's versions say."""

    version: Version
    format: Format


@lru_cache(maxsize=256)
def read_terms(
    version: str | None,
    accept: str | None,
    format_option: str | None,
    data_service_version: str | None = None,
    data_service_version_max: str | None = None,
) -> Terms:
    """The terms of a request; clients send the same few combinations all the time.

    Raises InvalidHeaderValue for a version of either kind that cannot be read, and for two that do not go together.
    """
    protocol = read_version(version, accept)
    odata = read_data_service_version(data_service_version, data_service_version_max, protocol.date)
    if odata < 3 and protocol.date < JSON_ONLY_SINCE:
        format_option = None  # `$format` came with OData 3.0 (reference); today's clients are not held to it
    return Terms(protocol, read_format(accept, format_option, protocol.date))


def read_part_terms(version: Version, accept: str | None, format_option: str | None) -> Terms:
    """The terms of a part of a batch: its own, and minimal JSON where they name nothing.

    The versions that had Atom need no such rule: there it is what nothing named means.
    """
    terms = read_terms(version.text, accept, format_option)
    if version.date < JSON_ONLY_SINCE or terms.format not in (Format.NOTHING_NAMED, Format.ANY):
        return terms
    return Terms(terms.version, Format.MINIMAL_METADATA)


def fallback_terms(accept: str | None) -> Terms:
    """The terms of an answer to a request whose own cannot be read: it may have stated a version."""
    return Terms(Version("", NEWEST), read_format(accept, None, NEWEST))
