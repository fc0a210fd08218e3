"""On which terms a request is answered: by which version of the protocol, in which format."""

from functools import lru_cache
from typing import NamedTuple

from rowkey.wire.media import Format, read_format
from rowkey.wire.version import NEWEST, Version, read_version, verify_data_service_version


class Terms(NamedTuple):
    """What x-ms-version, Accept and `$format` say."""

    version: Version
    format: Format


@lru_cache(maxsize=256)
def read_terms(
    version: str | None, accept: str | None, format_option: str | None, data_service_version: str | None = None
) -> Terms:
    """The terms of a request; clients send the same few combinations all the time.

    `data_service_version` is MaxDataServiceVersion, or DataServiceVersion where that is not sent. Raises
    InvalidHeaderValue for a version of either kind that cannot be read, and for two that do not go together.
    """
    protocol = read_version(version, accept)
    if data_service_version is not None:
        verify_data_service_version(data_service_version, protocol.date)
    return Terms(protocol, read_format(accept, format_option, protocol.date))


def fallback_terms(accept: str | None) -> Terms:
    """The terms of an answer to a request whose own cannot be read."""
    return Terms(Version(None, NEWEST), read_format(accept, None, NEWEST))
