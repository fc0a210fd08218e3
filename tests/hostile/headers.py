"""Headers that say nothing, or too much."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from tests.hostile.case import ENTITY, JSON, Case

if TYPE_CHECKING:
    from collections.abc import Mapping


def change(headers: Mapping[str, str], code: str, status: int = 400, method: str = "PUT") -> Case:
    """A good change of an entity that is there, with one bad header."""
    return Case(method, ENTITY, b'{"A":1}', {**JSON, **headers}, status, code)


def read(headers: Mapping[str, str], code: str, status: int = 400) -> Case:
    """A good query with one bad header."""
    return Case("GET", "/Hostile()", b"", {**JSON, **headers}, status, code)


def stranger(authorization: str, code: str = "AuthenticationFailed", status: int = 403) -> Case:
    """A query with this Authorization header."""
    headers = {**JSON, "Authorization": authorization, "x-ms-date": "Mon, 03 Aug 2026 10:15:30 GMT"}
    return Case("GET", "/Hostile()", b"", headers, status, code, is_signed=False)


HEADERS = {
    **{
        f"If-Match: {etag[:20]}": change({"If-Match": etag}, "InvalidInput")
        for etag in ("nonsense", '"0x5B168C7B6E589D2"', '""', "W/", 'W/"', "W/x", 'W/"a", W/"b"', "*, *", "**", "")
    },
    "a weak etag of another form": change({"If-Match": 'W/"0x5B168C7B6E589D2"'}, "ConditionNotMet", 412),
    "an etag of a bad time": change({"If-Match": "W/\"datetime'x'\""}, "ConditionNotMet", 412),
    "an etag of doubled quotes": change(
        {"If-Match": "W/\"datetime''2026-08-03T10%3A15%3A30.5Z''\""}, "ConditionNotMet", 412
    ),
    "an etag of another time": change(
        {"If-Match": "W/\"datetime'2001-08-03T10%3A15%3A30.5Z'\""}, "UpdateConditionNotSatisfied", 412
    ),
    "a deletion with an etag of another time": change(
        {"If-Match": "W/\"datetime'2001-08-03T10%3A15%3A30.5Z'\""}, "UpdateConditionNotSatisfied", 412, "DELETE"
    ),
    "an etag of 10,000 characters": change({"If-Match": "x" * 10_000}, "InvalidInput"),
    "If-None-Match on PUT": change({"If-None-Match": "*"}, "InvalidInput"),
    "If-None-Match on MERGE": change({"If-None-Match": "*"}, "InvalidInput", method="MERGE"),
    "If-None-Match on DELETE": change({"If-None-Match": "*"}, "InvalidInput", method="DELETE"),
    "both conditions": change({"If-Match": "*", "If-None-Match": "*"}, "InvalidInput"),
    **{
        f"Content-Type: {kind}": change({"Content-Type": kind}, "MediaTypeNotSupported", 415)
        for kind in ("text/plain", "text/html", "image/png", "multipart/form-data; boundary=x", "json", ";;;", "*")
    },
    "a body in Atom": change({"Content-Type": "application/atom+xml"}, "AtomFormatNotSupported", 415),
    "a body in XML": change({"Content-Type": "application/xml"}, "", 415),
    **{
        f"Accept: {accept}": read({"Accept": accept}, code, 415)
        for accept, code in (
            ("text/html", "MediaTypeNotSupported"),
            ("application/json;odata=verbose", "JsonVerboseFormatNotSupported"),
            ("application/json;odata=much", "MediaTypeNotSupported"),
            ("application/atom+xml", "AtomFormatNotSupported"),
            ("application/atom+xml,application/xml", "AtomFormatNotSupported"),
            ("application/json;q=0", ""),
            (",;,=;", ""),
            ("", "AtomFormatNotSupported"),
        )
    },
    **{
        f"x-ms-version: {version[:20]}": read({"x-ms-version": version}, "InvalidHeaderValue")
        for version in (
            "12.0.0b1",
            "2019-2-2",
            "2019-13-45",
            "2019-02-02T00:00:00Z",
            "20190202",
            "latest",
            "2019-02-02 x",
            "9" * 5000,
        )
    },
    "a body in JSON for a version without it": change({"x-ms-version": "2012-02-12"}, "JsonFormatNotSupported", 415),
    "Content-MD5 of another body": change({"Content-MD5": base64.b64encode(bytes(16)).decode()}, "Md5Mismatch"),
    "Content-MD5 that is too short": change({"Content-MD5": "AAAA"}, "InvalidMd5"),
    "Content-MD5 that is no base64": change({"Content-MD5": "###"}, "InvalidMd5"),
    "Content-MD5 in Cyrillic": change({"Content-MD5": "абв"}, "InvalidMd5"),
    "X-HTTP-Method in a PUT": change({"X-HTTP-Method": "MERGE"}, "XMethodNotUsingPost"),
    "X-HTTP-Method of nonsense": change({"X-HTTP-Method": "FROB"}, "XMethodIncorrectValue", method="POST"),
    "X-HTTP-Method that is empty": change({"X-HTTP-Method": ""}, "XMethodIncorrectValue", method="POST"),
    "X-HTTP-Method twice": change({"X-HTTP-Method": "PUT, PUT"}, "XMethodIncorrectCount", method="POST"),
    "a date that is none": read({"x-ms-date": "yesterday"}, "AuthenticationFailed", 403),
    "a date in 1970": read({"x-ms-date": "Thu, 01 Jan 1970 00:00:00 GMT"}, "AuthenticationFailed", 403),
    "a date in 9999": read({"x-ms-date": "Fri, 31 Dec 9999 23:59:59 GMT"}, "AuthenticationFailed", 403),
    "a date beyond all calendars": read({"x-ms-date": "Mon, 99 Aug 99999 99:99:99 GMT"}, "AuthenticationFailed", 403),
    "a date with an unheard-of zone": read(
        {"x-ms-date": "Mon, 03 Aug 2026 10:15:30 +9999999999"}, "AuthenticationFailed", 403
    ),
    "an empty date": Case(
        "GET", "/Hostile()", b"", {**JSON, "x-ms-date": ""}, 403, "AuthenticationFailed", is_signed=False
    ),
    "no Authorization": Case("GET", "/Hostile()", b"", JSON, 403, "AuthenticationFailed", is_signed=False),
    "an empty Authorization": stranger("", "", 0),
    "one word": stranger("SharedKey", "InvalidAuthenticationInfo", 400),
    "a scheme without an account": stranger("SharedKey :AAAA"),
    "no signature": stranger("SharedKey devstoreaccount1", ""),
    "an empty signature": stranger("SharedKey devstoreaccount1:"),
    "a signature that is no base64": stranger("SharedKey devstoreaccount1:!!!"),
    "a signature in Cyrillic": stranger("SharedKey devstoreaccount1:подпись"),
    "a signature of nothing": stranger("SharedKey devstoreaccount1:" + "A" * 43 + "="),
    "a signature of 20,000 characters": stranger("SharedKey devstoreaccount1:" + "A" * 20_000),
    "another account's signature": stranger("SharedKey somebodyelse:" + "A" * 43 + "="),
    "an account with a line end's escape": stranger("SharedKey dev\\nstore:AAAA"),
    "Lite without a signature": stranger("SharedKeyLite devstoreaccount1:"),
    "Basic": stranger("Basic dXNlcjpwYXNz"),
    "Bearer": stranger("Bearer eyJhbGciOiJub25lIn0.e30."),
    "Digest": stranger('Digest username="a", realm="b"'),
    "colons": stranger("::::", "InvalidAuthenticationInfo", 400),
    "a host that is none": Case("GET", "/Hostile()", b"", {**JSON, "Host": "a b<c>"}, 400, ""),
    "an empty host": Case("GET", "/Hostile()", b"", {**JSON, "Host": ""}, 400, "HostInformationNotPresent"),
    "a preflight without anything": Case("OPTIONS", "/Hostile", status=0, is_signed=False),
}
