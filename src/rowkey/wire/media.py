"""Which payload format a request asks for (`Accept`, `$format`), and which one its body has (`Content-Type`)."""

import re
from enum import Enum
from functools import lru_cache

from rowkey.errors import (
    AtomFormatNotSupported,
    JsonFormatNotSupported,
    JsonVerboseFormatNotSupported,
    MediaTypeNotSupported,
    ServiceError,
)
from rowkey.wire.version import COMPACT_ATOM_SINCE, JSON_ONLY_SINCE, JSON_SINCE


class Format(Enum):
    """What the client wants to read. The first three are the metadata levels of JSON."""

    NO_METADATA = "nometadata"
    MINIMAL_METADATA = "minimalmetadata"
    FULL_METADATA = "fullmetadata"
    ATOM = "atom"
    UNTYPED_ATOM = "atom, before OData 3.0 told entries from feeds"
    INDENTED_ATOM = "atom, as the first versions wrote it"
    ANY = "*/*"
    NOTHING_NAMED = "nothing named"
    LATE_ATOM = "Atom, by a version that no longer has it"
    EARLY_JSON = "JSON, by a version that has none yet"
    VERBOSE_JSON = "verbose"
    UNKNOWN = "unknown"

    __hash__ = object.__hash__  # members are singletons; Enum's own is a call in Python for each look-up

    @property
    def is_json(self) -> bool:
        """Whether bodies, errors too, are in JSON."""
        return self in _LEVELS_OF_JSON


_LEVELS_OF_JSON = frozenset({Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA})

_CONTENT_TYPES = {
    level: f"application/json;odata={level.value};streaming=true;charset=utf-8" for level in _LEVELS_OF_JSON
} | {
    Format.ATOM: "application/atom+xml;type=entry;charset=utf-8",
    Format.UNTYPED_ATOM: "application/atom+xml;charset=utf-8",
    Format.INDENTED_ATOM: "application/atom+xml;charset=utf-8",
}
_CONTENT_TYPES_OF_FEEDS = _CONTENT_TYPES | {Format.ATOM: "application/atom+xml;type=feed;charset=utf-8"}

_REFUSED: dict[Format, type[ServiceError]] = {
    Format.LATE_ATOM: AtomFormatNotSupported,
    Format.NOTHING_NAMED: AtomFormatNotSupported,  # Atom is the default that this version no longer has
    Format.EARLY_JSON: JsonFormatNotSupported,
    Format.VERBOSE_JSON: JsonVerboseFormatNotSupported,
    Format.UNKNOWN: MediaTypeNotSupported,
}


def content_type(body: Format, *, is_feed: bool = False) -> str:
    """The Content-Type of an answer in JSON of some level, without blanks as recorded, or in Atom.

    Atom of the versions that have OData 3.0 says what it is, whatever OData version the client speaks (captured: an
    entry of 2015-04-05 for a MaxDataServiceVersion of 2.0); that of the versions before does not (captured 2008-2013).
    """
    return (_CONTENT_TYPES_OF_FEEDS if is_feed else _CONTENT_TYPES)[body]


def body_format(wanted: Format) -> Format:
    """The format of a 2xx body, a level of JSON or Atom; raises 415 where what is wanted cannot be had.

    To be asked only for answers that have a body: the others need no acceptable format (recorded).
    """
    if wanted in _CONTENT_TYPES:
        return wanted
    if wanted is Format.ANY:
        return Format.MINIMAL_METADATA
    raise _REFUSED[wanted]


def read_format(accept: str | None, format_option: str | None, version_date: str) -> Format:
    """The format asked for by an Accept header and a `$format` option, which wins."""
    if format_option:
        named = _SHORT_NAMES.get(format_option.lower(), format_option)
        return _best([_classify(named)], version_date)
    if accept is None or not accept.strip():
        return _in_version(Format.NOTHING_NAMED, version_date)
    ranges = [(_quality(item), _classify(item)) for item in accept.split(",") if item.strip()]
    ranges.sort(key=lambda pair: -pair[0])
    return _best([wanted for quality, wanted in ranges if quality > 0], version_date)


@lru_cache(maxsize=128)
def read_body_format(content_type: str | None, version_date: str) -> Format:
    """The format of a request body of this Content-Type, Atom or some level of JSON; raises 415 for any other.

    The level means nothing here, and the text is UTF-8: other charsets are refused, like other types. A body of no
    type is what the version's clients wrote before they could choose: Atom until there was JSON.
    """
    if not content_type:
        return Format.ATOM if version_date < JSON_SINCE else Format.MINIMAL_METADATA
    media_type, parameters = _split(content_type)
    kind = _BODIES.get(media_type)
    if kind is None or parameters.get("charset", "utf-8") not in _CHARSETS:
        raise MediaTypeNotSupported
    refused = _REFUSED.get(_in_version(kind, version_date))
    if refused is not None:
        raise refused
    return kind


def _best(wanted: list[Format], version_date: str) -> Format:
    """The first format named that can be had; if there is none, one that says why."""
    named = [_in_version(item, version_date) for item in wanted]
    for item in named:
        if item not in _REFUSED:
            return item
    return next((item for item in named if item is not Format.UNKNOWN), Format.UNKNOWN)


def _in_version(wanted: Format, version_date: str) -> Format:
    """What a format is to a version: Atom alone, both with Atom as the default, JSON alone."""
    if version_date >= JSON_ONLY_SINCE:
        return Format.LATE_ATOM if wanted is Format.ATOM else wanted
    if wanted in (Format.ATOM, Format.ANY, Format.NOTHING_NAMED):
        if version_date >= JSON_SINCE:
            return Format.ATOM
        return Format.UNTYPED_ATOM if version_date >= COMPACT_ATOM_SINCE else Format.INDENTED_ATOM
    return Format.EARLY_JSON if wanted in _LEVELS_OF_JSON and version_date < JSON_SINCE else wanted


@lru_cache(maxsize=1024)
def _classify(item: str) -> Format:
    """The format that one media range names."""
    media_type, parameters = _split(item)
    wanted = _RANGES.get(media_type, Format.UNKNOWN)
    if wanted is Format.MINIMAL_METADATA and "odata" in parameters:
        return _LEVELS.get(parameters["odata"], Format.UNKNOWN)
    return wanted


def _split(item: str) -> tuple[str, dict[str, str]]:
    """A media type and its parameters, which may stand in any order, with any blanks, in any letter case."""
    media_type, *parameters = item.lower().split(";")
    pairs = (parameter.partition("=") for parameter in parameters)
    return media_type.strip(), {name.strip(): value.strip().strip('"') for name, _, value in pairs}


_BODIES = {"application/json": Format.MINIMAL_METADATA} | dict.fromkeys(
    ("application/atom+xml", "application/xml", "text/xml"), Format.ATOM
)
_RANGES = _BODIES | {"application/*": Format.MINIMAL_METADATA, "*/*": Format.ANY}
_SHORT_NAMES = {"json": "application/json", "atom": "application/atom+xml"}
_CHARSETS = ("utf-8", "utf8", "us-ascii")
_LEVELS = {level.value: level for level in (*_LEVELS_OF_JSON, Format.VERBOSE_JSON)}

_QUALITY = re.compile(r";\s*q\s*=\s*([01](?:\.\d{0,3})?)", re.IGNORECASE)


def _quality(item: str) -> float:
    match = _QUALITY.search(item)
    return float(match[1]) if match else 1.0
