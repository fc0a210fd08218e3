"""Stored access policies as XML. Forms that are marked as recorded were sent to, or came from, the service itself."""

from __future__ import annotations

import pytest

from rowkey.errors import InvalidXmlDocument
from rowkey.model.access_policy import AccessPolicy
from rowkey.model.datetimes import parse_datetime
from rowkey.payload.access_policies import read_policies, write_policies

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'
START = parse_datetime("2011-10-11T00:00:00Z")
EXPIRY = parse_datetime("2021-06-09T10:11:12.0120000Z")


def document(*identifiers: str) -> str:
    """A body with these signed identifiers, without declaration."""
    return f"<SignedIdentifiers>{''.join(identifiers)}</SignedIdentifiers>"


def identifier(name: str, policy: str = "") -> str:
    """One signed identifier."""
    return f"<SignedIdentifier><Id>{name}</Id>{policy}</SignedIdentifier>"


def policy(fields: str) -> str:
    """The access policy `p` with these fields, as a body."""
    return document(identifier("p", f"<AccessPolicy>{fields}</AccessPolicy>"))


# Canonical text (recorded): read and written.
CANONICAL = [
    ("<SignedIdentifiers />", ()),
    (document(identifier("empty")), (AccessPolicy("empty"),)),
    (policy("<Start>2011-10-11T00:00:00.0000000Z</Start>"), (AccessPolicy("p", START),)),
    (policy("<Expiry>2021-06-09T10:11:12.0120000Z</Expiry>"), (AccessPolicy("p", None, EXPIRY),)),
    (policy("<Permission>r</Permission>"), (AccessPolicy("p", None, None, "r"),)),
    (
        policy(
            "<Start>2011-10-11T00:00:00.0000000Z</Start><Expiry>2021-06-09T10:11:12.0120000Z</Expiry>"
            "<Permission>raud</Permission>"
        ),
        (AccessPolicy("p", START, EXPIRY, "raud"),),
    ),
    (
        document(*(identifier(name) for name in ("z", "a", "\u00e9\u554a\U0001f600", "5", "x" * 64))),
        tuple(AccessPolicy(name) for name in ("z", "a", "\u00e9\u554a\U0001f600", "5", "x" * 64)),
    ),
    (document(identifier("&lt;&amp;&gt;'\"")), (AccessPolicy("<&>'\""),)),
    (document(identifier(" a b ")), (AccessPolicy(" a b "),)),
    (document(identifier("a&#xD;\n\tb")), (AccessPolicy("a\r\n\tb"),)),
]


@pytest.mark.parametrize(("text", "policies"), CANONICAL)
def test_canonical_text(text: str, policies: tuple[AccessPolicy, ...]) -> None:
    assert write_policies(policies) == DECLARATION + text
    assert read_policies(DECLARATION + text) == policies
    assert read_policies((DECLARATION + text).encode()) == policies
    assert read_policies(b"\xef\xbb\xbf" + (DECLARATION + text).encode()) == policies


# Bodies that mean the same as canonical ones.
ACCEPTED = {
    "nothing": (b"", ()),
    "blanks": (b" \r\n\t", ()),
    "single quotes": (b"<?xml version='1.0' encoding='utf-8'?>\n<SignedIdentifiers />", ()),
    "an empty element in two tags": (b"<SignedIdentifiers></SignedIdentifiers>", ()),
    "namespaces of .NET": (
        b'<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        b' xmlns:xsd="http://www.w3.org/2001/XMLSchema" />',
        (),
    ),
    "policy first (recorded)": (
        b"<SignedIdentifiers><SignedIdentifier><AccessPolicy><Permission>r</Permission><Expiry>2021-06-09T10:11:12.012Z"
        b"</Expiry><Start>2011-10-11</Start></AccessPolicy><Id>p</Id></SignedIdentifier></SignedIdentifiers>",
        (AccessPolicy("p", START, EXPIRY, "r"),),
    ),
    "an empty policy (recorded)": (document(identifier("p", "<AccessPolicy />")).encode(), (AccessPolicy("p"),)),
    "an empty policy in two tags": (policy("").encode(), (AccessPolicy("p"),)),
    "empty fields": (policy("<Start /><Expiry></Expiry><Permission> </Permission>").encode(), (AccessPolicy("p"),)),
    "a date alone (recorded)": (policy("<Start>2011-10-11</Start>").encode(), (AccessPolicy("p", START),)),
    "no seconds (recorded)": (policy("<Start>2011-10-11T00:00Z</Start>").encode(), (AccessPolicy("p", START),)),
    "an offset": (policy("<Start>2011-10-11T02:00:00+02:00</Start>").encode(), (AccessPolicy("p", START),)),
    "indented": (
        b"\xef\xbb\xbf<?xml version='1.0'?>\r\n<SignedIdentifiers>\r\n  <SignedIdentifier>\r\n    <Id>p</Id>\r\n"
        b"    <AccessPolicy>\r\n      <Start>\r\n2011-10-11\r\n</Start>\r\n    </AccessPolicy>\r\n"
        b"  </SignedIdentifier>\r\n  <!-- no more -->\r\n</SignedIdentifiers>\r\n",
        (AccessPolicy("p", START),),
    ),
    "letter case counts": (document(identifier("a"), identifier("A")).encode(), (AccessPolicy("a"), AccessPolicy("A"))),
    "surrogate pairs count twice": (
        document(identifier("\U0001f600" * 32)).encode(),
        (AccessPolicy("\U0001f600" * 32),),
    ),
    "CDATA": (document(identifier("<![CDATA[<p>]]>")).encode(), (AccessPolicy("<p>"),)),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    body, policies = ACCEPTED[name]
    assert read_policies(body) == policies
    assert read_policies(write_policies(policies)) == policies


REFUSED = {
    "no XML": "x",
    "not closed": "<SignedIdentifiers>",
    "blanks before the declaration": f" {DECLARATION}<SignedIdentifiers />",
    "document type": "<!DOCTYPE x><SignedIdentifiers />",
    "entity": document(identifier("&x;")),
    "UTF-16": '<?xml version="1.0" encoding="utf-16"?><SignedIdentifiers />',
    "another root": "<SignedIdentifier />",
    "letter case of the root": "<signedIdentifiers />",
    "namespace": '<SignedIdentifiers xmlns="urn:x" />',
    "another child": document("<x />"),
    "text": document("x"),
    "text after": document(identifier("p") + "x"),
    "six": document(*(identifier(str(number)) for number in range(6))),
    "the same twice": document(identifier("p"), identifier("p")),
    "no Id": document("<SignedIdentifier />"),
    "empty Id": document(identifier("")),
    "two Ids": document("<SignedIdentifier><Id>p</Id><Id>p</Id></SignedIdentifier>"),
    "element in Id": document(identifier("<b>p</b>")),
    "long Id": document(identifier("x" * 65)),
    "long Id in UTF-16": document(identifier("\U0001f600" * 32 + "x")),
    "two policies": document(identifier("p", "<AccessPolicy /><AccessPolicy />")),
    "unknown child": document(identifier("p", "<Policy />")),
    "text in identifier": document("<SignedIdentifier>x<Id>p</Id></SignedIdentifier>"),
    "unknown field": policy("<StartPk>a</StartPk>"),
    "text in policy": policy("r"),
    "two fields": policy("<Permission>r</Permission><Permission>r</Permission>"),
    "element in field": policy("<Permission><b>r</b></Permission>"),
    "unknown letter": policy("<Permission>rw</Permission>"),
    "other order": policy("<Permission>ar</Permission>"),
    "repeated letter": policy("<Permission>rr</Permission>"),
    "upper case": policy("<Permission>R</Permission>"),
    "no date": policy("<Start>today</Start>"),
    "no such date": policy("<Expiry>2021-02-30</Expiry>"),
    "no zone": policy("<Start>2021-06-09T10:11:12</Start>"),
    "eight digits": policy("<Start>2021-06-09T10:11:12.12345678Z</Start>"),
    "before 1601": policy("<Start>1600-12-31</Start>"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(InvalidXmlDocument):
        read_policies(REFUSED[name].encode())


@pytest.mark.parametrize(
    "body", [b"\xff\xfe<\x00", b"\xff", document(identifier("\ud800")).encode("utf-8", "surrogatepass")]
)
def test_bytes_that_are_no_utf_8(body: bytes) -> None:
    with pytest.raises(InvalidXmlDocument):
        read_policies(body)


@pytest.mark.parametrize("count", range(6))
def test_up_to_five_policies_in_their_order(count: int) -> None:
    names = tuple(AccessPolicy(f"p{9 - number}") for number in range(count))
    assert read_policies(write_policies(names)) == names


def test_stored_text_is_read_once() -> None:
    """It is read for every request whose signature names a policy."""
    text = write_policies([AccessPolicy("once", START)])
    assert read_policies(text) is read_policies(str(text.encode(), "utf-8"))
