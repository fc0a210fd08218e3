"""On which terms a request is answered: by which version of the protocol, in which format."""

from functools import lru_cache
from typing import NamedTuple

from rowkey.wire.media import Format, read_format
from rowkey.wire.version import NEWEST, Version, read_version


class Terms(NamedTuple):
    """What x-ms-version, Accept and `$format` say."""

    version: Version
    format: Format


@lru_cache(maxsize=1024)
def read_terms(version: str | None, accept: str | None, format_option: str | None) -> Terms:
    """The terms of a request; raises InvalidHeaderValue. Clients send the same few combinations all the time."""
    protocol = read_version(version, accept)
    return Terms(protocol, read_format(accept, format_option, protocol.date))


def fallback_terms(accept: str | None) -> Terms:
    """The terms of an answer to a request whose own cannot be read."""
    return Terms(Version(None, NEWEST), read_format(accept, None, NEWEST))
