"""Entries and feeds in Atom, around the properties that they hold.

The first version indents: with two blanks for each level and CRLF at the ends of lines, the answers in the documents of
2008 have the lengths that are stated there, an entry of 1494 bytes and a feed of 1036. Later ones cannot have done so,
since a client of version 2012-02-12 that is known to have worked (azure 0.8.4 for Python) takes whatever stands between
properties for a property. For them nothing stands between elements.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rowkey.model.datetimes import TICKS_PER_SECOND, format_datetime
from rowkey.payload.xml_output import escape_attribute, escape_text

_DECLARATION = '<?xml version="1.0" encoding="utf-8" standalone="yes"?>'
_DATA = 'xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"'
_METADATA = 'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"'
_ATOM = 'xmlns="http://www.w3.org/2005/Atom"'
_SCHEME = "http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"

_INDENTED = tuple("\r\n" + "  " * level for level in range(6))
_COMPACT = ("",) * 6
"""What stands before an element, by its level."""


class Document(NamedTuple):
    """What all entries of one answer share: the account's URL, its name, their set, the time in ticks, the layout."""

    base: str
    account: str
    set_name: str
    now: int
    is_indented: bool


class Entry(NamedTuple):
    """One entry: where it is below the account, its ETag if it has one, and its properties as elements."""

    link: str
    etag: str | None
    properties: Sequence[str]


def write_entry_document(document: Document, entry: Entry) -> bytes:
    """One entry as the body of an answer."""
    breaks = _breaks(document)
    start = f'entry xml:base="{escape_attribute(document.base)}/" {_DATA} {_METADATA}{_etag(entry)} {_ATOM}'
    return f"{_DECLARATION}{breaks[0]}<{start}>{_write_content(document, entry, breaks)}".encode()


def write_feed_document(document: Document, entries: Iterable[Entry]) -> bytes:
    """A feed as the body of an answer; one without entries must have an author of its own (RFC 4287, 4.1.1)."""
    breaks = _breaks(document)
    line, inner = breaks[:2]
    name = document.set_name
    head = (
        f'{_DECLARATION}{line}<feed xml:base="{escape_attribute(document.base)}/" {_DATA} {_METADATA} {_ATOM}>'
        f'{inner}<title type="text">{name}</title>'
        f"{inner}<id>{escape_text(document.base)}/{name}</id>"
        f"{inner}<updated>{_format_second(document.now)}</updated>"
        f'{inner}<link rel="self" title="{name}" href="{name}" />'
    )
    texts = [f"{inner}<entry{_etag(entry)}>{_write_content(document, entry, breaks[1:])}" for entry in entries]
    author = "" if texts else f"{inner}<author>{breaks[2]}<name />{inner}</author>"
    return "".join((head, author, *texts, f"{line}</feed>")).encode()


def _breaks(document: Document) -> Sequence[str]:
    return _INDENTED if document.is_indented else _COMPACT


def _etag(entry: Entry) -> str:
    return "" if entry.etag is None else f' m:etag="{escape_attribute(entry.etag)}"'


def _write_content(document: Document, entry: Entry, breaks: Sequence[str]) -> str:
    """What follows the start tag of an entry; `breaks` begin with the one before that."""
    line, first, second, third, *_ = breaks
    name, link = document.set_name, entry.link
    properties = "".join(third + element for element in entry.properties)
    return (
        f"{first}<id>{escape_text(document.base)}/{link}</id>"
        f'{first}<title type="text"></title>'
        f"{first}<updated>{_format_second(document.now)}</updated>"
        f"{first}<author>{second}<name />{first}</author>"
        f'{first}<link rel="edit" title="{name}" href="{link}" />'
        f'{first}<category term="{document.account}.{name}" scheme="{_SCHEME}" />'
        f'{first}<content type="application/xml">{second}<m:properties>{properties}{second}</m:properties>'
        f"{first}</content>{line}</entry>"
    )


def _format_second(ticks: int) -> str:
    """The time of an answer, in whole seconds."""
    return format_datetime(ticks - ticks % TICKS_PER_SECOND)
