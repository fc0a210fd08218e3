"""Entries and feeds in Atom, around the properties that they hold.

The service has had two writers, and each is a layout here: what they write, in which order, and whether they indent.
The first indents, with two blanks for each level and CRLF at the ends of lines. Captured answers of 2009-09-19 and
2011-08-18 do, and so the answers in the documents of 2008 have the lengths that are stated there, an entry of 1494
bytes and a feed of 1036. Of the second one there is a captured entry, of 2015-04-05, and the beginning of a feed; what
these do not show is as its library, OData's own, has it. It must have been there by 2012-02-12: a client of that
version that is known to have worked (azure 0.8.4 for Python) takes whatever stands between properties for a property;
releases of it that spoke older versions skipped what is empty.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rowkey.model.datetimes import TICKS_PER_SECOND, format_datetime
from rowkey.payload.xml_output import escape_attribute, escape_text


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
    layout = _FIRST if document.is_indented else _SECOND
    return _write_entry(layout.entry_document, layout.breaks[3], entry, _shared(document)).encode()


def write_feed_document(document: Document, entries: Iterable[Entry]) -> bytes:
    """A feed as the body of an answer; one without entries must have an author of its own (RFC 4287, 4.1.1)."""
    layout = _FIRST if document.is_indented else _SECOND
    shared = _shared(document)
    texts = [_write_entry(layout.entry, layout.breaks[4], entry, shared) for entry in entries]
    start = (layout.feed if texts else layout.empty_feed).format_map(shared)
    return "".join((start, *texts, f"{layout.breaks[0]}</feed>")).encode()


def _shared(document: Document) -> dict[str, str]:
    """What stands for the names in a layout, as far as all entries have it in common."""
    return {
        "base": escape_text(document.base),
        "root": escape_attribute(document.base),
        "account": document.account,
        "set": document.set_name,
        "updated": format_datetime(document.now - document.now % TICKS_PER_SECOND),
    }


def _write_entry(template: str, line: str, entry: Entry, shared: dict[str, str]) -> str:
    etag = "" if entry.etag is None else f' m:etag="{escape_attribute(entry.etag)}"'
    properties = "".join(line + element for element in entry.properties)
    return template.format(link=entry.link, etag=etag, properties=properties, **shared)


# ---------------------------------------------------------------- layouts


class _Layout(NamedTuple):
    """The texts of one writer, with names in braces, and what it writes before an element, by its level."""

    entry_document: str
    entry: str
    feed: str
    empty_feed: str
    breaks: Sequence[str]


def _lay_out(
    declaration: str, attributes: str, *, entry: Sequence[str], feed: Sequence[str], empty: Sequence[str], indent: bool
) -> _Layout:
    """A layout of what the start tag of a root has for attributes, and of lines below an entry or a feed."""
    breaks = ["\r\n" + "  " * level if indent else "" for level in range(5)]

    def join(level: int, lines: Sequence[str]) -> str:
        return "".join(breaks[level] + (line if indent else line.lstrip()) for line in lines)

    feed_start = f'{declaration}{breaks[0]}<feed xml:base="{{root}}/" {attributes.format(etag="")}>'
    return _Layout(
        f'{declaration}{breaks[0]}<entry xml:base="{{root}}/" {attributes}>{join(1, entry)}{breaks[0]}</entry>',
        f"{breaks[1]}<entry{{etag}}>{join(2, entry)}{breaks[1]}</entry>",
        feed_start + join(1, feed),
        feed_start + join(1, empty),
        breaks,
    )


_DATA = 'xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"'
_METADATA = 'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"'
_ATOM = 'xmlns="http://www.w3.org/2005/Atom"'
_SCHEME = "http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"

_ID = "<id>{base}/{link}</id>"
_CATEGORY = f'<category term="{{account}}.{{set}}" scheme="{_SCHEME}" />'
_LINK = '<link rel="edit" title="{set}" href="{link}" />'
_UPDATED = "<updated>{updated}</updated>"
_AUTHOR = ("<author>", "  <name />", "</author>")
_CONTENT = ('<content type="application/xml">', "  <m:properties>{properties}", "  </m:properties>", "</content>")
_FEED_ID = "<id>{base}/{set}</id>"
_FEED_TITLE = '<title type="text">{set}</title>'
_FEED_LINK = '<link rel="self" title="{set}" href="{set}" />'

_FIRST = _lay_out(
    '<?xml version="1.0" encoding="utf-8" standalone="yes"?>',
    f"{_DATA} {_METADATA}{{etag}} {_ATOM}",
    entry=(_ID, '<title type="text"></title>', _UPDATED, *_AUTHOR, _LINK, _CATEGORY, *_CONTENT),
    feed=(_FEED_TITLE, _FEED_ID, _UPDATED, _FEED_LINK),
    empty=(_FEED_TITLE, _FEED_ID, _UPDATED, *_AUTHOR, _FEED_LINK),
    indent=True,
)
_SECOND = _lay_out(
    '<?xml version="1.0" encoding="utf-8"?>',
    f"{_ATOM} {_DATA} {_METADATA}{{etag}}",
    entry=(_ID, _CATEGORY, _LINK, "<title />", _UPDATED, *_AUTHOR, *_CONTENT),
    feed=(_FEED_ID, _FEED_TITLE, _UPDATED, _FEED_LINK),
    empty=(_FEED_ID, _FEED_TITLE, _UPDATED, _FEED_LINK, *_AUTHOR),
    indent=False,
)
