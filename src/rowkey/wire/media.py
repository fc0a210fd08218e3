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
from rowkey.wire.version import JSON_ONLY_SINCE, JSON_SINCE


class Format(Enum):
    """What the client wants to read. The first three are the metadata levels of JSON."""

    NO_METADATA = "nometadata"
    MINIMAL_METADATA = "minimalmetadata"
    FULL_METADATA = "fullmetadata"
    ANY = "*/*"
    ATOM = "atom"
    NOTHING_NAMED = "nothing named"
    VERBOSE_JSON = "verbose"
    EARLY_JSON = "JSON, by a version that has none"
    UNKNOWN = "unknown"

    __hash__ = object.__hash__  # members are singletons; Enum's own is a call in Python for each look-up

    @property
    def is_json(self) -> bool:
        """Whether errors are answered in JSON."""
        return self in _JSON_CONTENT_TYPES


_JSON_CONTENT_TYPES = {
    level: f"application/json;odata={level.value};streaming=true;charset=utf-8"
    for level in (Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA)
}

_REFUSED: dict[Format, type[ServiceError]] = {
    Format.ATOM: AtomFormatNotSupported,
    Format.NOTHING_NAMED: AtomFormatNotSupported,  # Atom is the default that this version no longer has
    Format.VERBOSE_JSON: JsonVerboseFormatNotSupported,
    Format.EARLY_JSON: JsonFormatNotSupported,
    Format.UNKNOWN: MediaTypeNotSupported,
}


def json_content_type(level: Format) -> str:
    """The Content-Type of a JSON answer at this metadata level, without blanks as recorded."""
    return _JSON_CONTENT_TYPES[level]


def body_format(wanted: Format) -> Format:
    """The metadata level of a 2xx body; raises 415 where what is wanted cannot be had.

    To be asked only for answers that have a body: the others need no acceptable format (recorded).
    """
    if wanted in _JSON_CONTENT_TYPES:
        return wanted
    if wanted is Format.ANY:
        return Format.MINIMAL_METADATA
    raise _REFUSED[wanted]


def read_format(accept: str | None, format_option: str | None, version_date: str) -> Format:
    """The format asked for by an Accept header and a `$format` option, which wins."""
    if format_option:
        named = {"json": "application/json", "atom": "application/atom+xml"}.get(format_option, format_option)
        return _best([_classify(named)], version_date)
    if accept is None or not accept.strip():
        return Format.NOTHING_NAMED
    ranges = [(_quality(item), _classify(item)) for item in accept.split(",") if item.strip()]
    ranges.sort(key=lambda pair: -pair[0])
    return _best([wanted for quality, wanted in ranges if quality > 0], version_date)


def verify_body_type(content_type: str | None, version_date: str) -> None:
    """Raise 415 unless a request body of this Content-Type can be read as JSON."""
    kind = _classify(content_type) if content_type else Format.MINIMAL_METADATA
    if kind is Format.ATOM:
        raise AtomFormatNotSupported
    if not kind.is_json and kind is not Format.VERBOSE_JSON:
        raise MediaTypeNotSupported
    if version_date < JSON_SINCE:
        raise JsonFormatNotSupported


def _best(wanted: list[Format], version_date: str) -> Format:
    legal = [item for item in wanted if item is not Format.UNKNOWN]
    if version_date >= JSON_ONLY_SINCE:
        legal = [item for item in legal if item is not Format.ATOM] or legal
    best = legal[0] if legal else Format.UNKNOWN
    return Format.EARLY_JSON if best.is_json and version_date < JSON_SINCE else best


@lru_cache(maxsize=1024)
def _classify(item: str) -> Format:
    """The format that one media range names; its parameters may stand in any order, with any blanks."""
    media_type, *parameters = (part.strip().lower() for part in item.split(";"))
    if media_type == "*/*":
        return Format.ANY
    if media_type in ("application/atom+xml", "application/xml", "text/xml"):
        return Format.ATOM
    if media_type != "application/json" and media_type != "application/*":
        return Format.UNKNOWN
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "odata":
            return _LEVELS.get(value.strip().strip('"'), Format.UNKNOWN)
    return Format.MINIMAL_METADATA


_LEVELS = {
    level.value: level
    for level in (Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA, Format.VERBOSE_JSON)
}

_QUALITY = re.compile(r";\s*q\s*=\s*([01](?:\.\d{0,3})?)", re.IGNORECASE)


def _quality(item: str) -> float:
    match = _QUALITY.search(item)
    return float(match[1]) if match else 1.0
