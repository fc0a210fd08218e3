"""Atom that is no entry, and XML that is made to hurt."""

from __future__ import annotations

from tests.hostile.case import Case

ATOM = {"Content-Type": "application/atom+xml", "x-ms-version": "2014-02-14"}
ENTRY = (
    "<entry xmlns='http://www.w3.org/2005/Atom' xmlns:d='http://schemas.microsoft.com/ado/2007/08/dataservices'"
    " xmlns:m='http://schemas.microsoft.com/ado/2007/08/dataservices/metadata'><content><m:properties>{}"
    "<d:PartitionKey>p</d:PartitionKey><d:RowKey>atom</d:RowKey></m:properties></content></entry>"
)
FULL_BODY = 4 * 1024 * 1024 - 1024


def atom(body: str | bytes, code: str = "InvalidInput", path: str = "/Hostile") -> Case:
    """An insert of this document."""
    return Case("POST", path, body.encode() if isinstance(body, str) else body, ATOM, 400, code)


def atom_entry(properties: str, code: str = "InvalidInput") -> Case:
    """An insert of an entry with these properties beside good keys."""
    return atom(ENTRY.format(properties), code)


def doctype(declarations: str, properties: str = "") -> Case:
    """An insert of an entry that begins with a document type."""
    return atom(f"<!DOCTYPE entry [{declarations}]>" + ENTRY.format(properties))


ENTRIES = {
    "nothing": atom(""),
    "JSON": atom('{"PartitionKey":"p","RowKey":"r"}'),
    "no properties": atom("<entry xmlns='http://www.w3.org/2005/Atom' />"),
    "another root": atom(ENTRY.format("").replace("entry", "feed")),
    "an open entry": atom(ENTRY.format("")[:-1]),
    "UTF-16": atom(ENTRY.format("").encode("utf-16")),
    "bytes that are no UTF-8": atom(ENTRY.format("<d:A>\xff</d:A>").encode("latin-1")),
    "a declared encoding": atom("<?xml version='1.0' encoding='utf-7'?>" + ENTRY.format("")),
    "NUL": atom_entry("<d:A>\0</d:A>"),
    "a reference to NUL": atom_entry("<d:A>&#0;</d:A>"),
    "a reference to half a surrogate pair": atom_entry("<d:A>&#xD83D;</d:A>"),
    "an entity without a declaration": atom_entry("<d:A>&a;</d:A>"),
    "a declared entity": doctype("<!ENTITY a 'x'>", "<d:A>&a;</d:A>"),
    "entities of entities": doctype(
        "<!ENTITY a0 'lol'>" + "".join(f"<!ENTITY a{n + 1} '{f'&a{n};' * 10}'>" for n in range(12)), "<d:A>&a12;</d:A>"
    ),
    "an entity from a file": doctype("<!ENTITY a SYSTEM 'file:///etc/passwd'>", "<d:A>&a;</d:A>"),
    "a parameter entity from elsewhere": doctype("<!ENTITY % a SYSTEM 'http://127.0.0.1:1/x'> %a;"),
    "a large entity": doctype(f"<!ENTITY a '{'x' * 1_000_000}'>", "<d:A>&a;</d:A>"),
    "4 MiB of elements": atom("<a>" + "<b/>" * (FULL_BODY // 4) + "</a>"),
    "4 MiB of levels": atom("<b>" * (FULL_BODY // 3)),
    "4 MiB of attributes": atom("<a" + "".join(f" a{n}=''" for n in range(380_000)) + "/>"),
    "4 MiB of namespaces": atom("<a" + "".join(f" xmlns:a{n}='u'" for n in range(190_000)) + "/>"),
    "4 MiB of an open tag": atom("<a b='" + "x" * FULL_BODY),
    "4 MiB of a comment": atom("<a><!--" + "x" * FULL_BODY + "--></a>"),
    "4 MiB of references": atom_entry("<d:A>" + "&lt;" * (FULL_BODY // 4 - 200) + "</d:A>", "PropertyValueTooLarge"),
    "4 MiB of line ends": atom("<a>" + "\n" * FULL_BODY + "</a>"),
    "1,000 properties": atom_entry("".join(f"<d:A{n}>1</d:A{n}>" for n in range(1_000)), "TooManyProperties"),
    "10,000 properties": atom_entry("".join(f"<d:A{n}>1</d:A{n}>" for n in range(10_000))),
    "a property twice": atom_entry("<d:A>1</d:A><d:A>2</d:A>", "DuplicatePropertiesSpecified"),
    "elements in a property": atom_entry("<d:A><d:B /></d:A>"),
    "a name with a point": atom_entry("<d:odata.etag>1</d:odata.etag>", "PropertyNameInvalid"),
    "an unknown type": atom_entry("<d:A m:type='Edm.Foo'>1</d:A>"),
    "a value that is not of its type": atom_entry("<d:A m:type='Edm.Int32'>x</d:A>"),
    "a number of 100,000 digits": atom_entry(f"<d:A m:type='Edm.Double'>{'9' * 100_000}</d:A>"),
    "a table without a name": atom(ENTRY.format(""), "PropertiesNeedValue", "/Tables"),
}
