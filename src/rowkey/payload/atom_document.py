"""Entries and feeds in Atom, around the properties that they hold.

Two blanks for each level and CRLF at the ends of lines: so written, the answers in the reference of 2008 have the
lengths that their headers state, an entry of 1494 bytes and a feed of 1036.
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


class Document(NamedTuple):
    """What all entries of one answer share: the account's URL, its name, their set, and the time in ticks."""

    base: str
    account: str
    set_name: str
    now: int


class Entry(NamedTuple):
    """One entry: where it is below the account, its ETag if it has one, and its properties as elements."""

    link: str
    etag: str | None
    properties: Sequence[str]


def write_entry_document(document: Document, entry: Entry) -> bytes:
    """One entry as the body of an answer."""
    etag = "" if entry.etag is None else f' m:etag="{escape_attribute(entry.etag)}"'
    start = f'<entry xml:base="{escape_attribute(document.base)}/" {_DATA} {_METADATA}{etag} {_ATOM}>'
    return f"{_DECLARATION}\r\n{start}{_write_content(document, entry, '')}".encode()


def write_feed_document(document: Document, entries: Iterable[Entry]) -> bytes:
    """A feed as the body of an answer; one without entries must have an author of its own (RFC 4287, 4.1.1)."""
    head = (
        _DECLARATION,
        f'<feed xml:base="{escape_attribute(document.base)}/" {_DATA} {_METADATA} {_ATOM}>',
        f'  <title type="text">{document.set_name}</title>',
        f"  <id>{escape_text(document.base)}/{document.set_name}</id>",
        f"  <updated>{_format_second(document.now)}</updated>",
        f'  <link rel="self" title="{document.set_name}" href="{document.set_name}" />',
    )
    texts = [_write_feed_entry(document, entry) for entry in entries]
    author = "" if texts else "\r\n  <author>\r\n    <name />\r\n  </author>"
    return "".join(("\r\n".join(head), author, *texts, "\r\n</feed>")).encode()


def _write_feed_entry(document: Document, entry: Entry) -> str:
    etag = "" if entry.etag is None else f' m:etag="{escape_attribute(entry.etag)}"'
    return f"\r\n  <entry{etag}>{_write_content(document, entry, '  ')}"


def _write_content(document: Document, entry: Entry, margin: str) -> str:
    """What follows the start tag of an entry that stands at this margin."""
    line = f"\r\n{margin}"
    name, link = document.set_name, entry.link
    properties = f"{line}      ".join(entry.properties)
    return (
        f"{line}  <id>{escape_text(document.base)}/{link}</id>"
        f'{line}  <title type="text"></title>'
        f"{line}  <updated>{_format_second(document.now)}</updated>"
        f"{line}  <author>{line}    <name />{line}  </author>"
        f'{line}  <link rel="edit" title="{name}" href="{link}" />'
        f'{line}  <category term="{document.account}.{name}" scheme="{_SCHEME}" />'
        f'{line}  <content type="application/xml">{line}    <m:properties>'
        f"{line}      {properties}"
        f"{line}    </m:properties>{line}  </content>{line}</entry>"
    )


def _format_second(ticks: int) -> str:
    """The time of an answer, in whole seconds."""
    return format_datetime(ticks - ticks % TICKS_PER_SECOND)
