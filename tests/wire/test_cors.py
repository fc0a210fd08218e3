"""Cross-origin requests: which rule counts, and what an answer says of it."""

from __future__ import annotations

import pytest

from rowkey.errors import Layer
from rowkey.model.cors import CorsRule
from rowkey.wire.cors import add_cors_headers, allowed_origin, allows_headers, find_rule
from rowkey.wire.request import Request, Response

PAGE = "https://page.contoso.com"
FOR_ALL = CorsRule(("*",), ("GET", "PUT"), (), ("ETag",), 60)
FOR_PAGE = CorsRule((PAGE,), ("GET", "PUT"), (), ("ETag",), 60)
FOR_OTHERS = CorsRule(("https://others.com",), ("GET",), (), ("ETag",), 60)
FOR_POST = CorsRule(("*",), ("POST",), (), ("ETag",), 60)

Headers = dict[str, str]


def added(
    rules: list[CorsRule],
    origin: str | None,
    method: str = "GET",
    headers: list[tuple[str, str]] | None = None,
    layer: Layer = Layer.ENGINE,
) -> Headers:
    """What is added to an answer."""
    request = Request(method, "/", {} if origin is None else {"origin": origin})
    before = headers or []
    response = Response(200, [*before], layer=layer)
    add_cors_headers(request, response, rules)
    assert response.headers[: len(before)] == before
    return dict(response.headers[len(before) :])


VARY = {"Vary": "Origin"}
FOR_ALL_SAYS = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag"}
FOR_PAGE_SAYS = {
    "Vary": "Origin",
    "Access-Control-Allow-Origin": PAGE,
    "Access-Control-Expose-Headers": "ETag",
    "Access-Control-Allow-Credentials": "true",
}


class TestTheReferencesTable:
    """What GET and HEAD are answered, from the page on CORS support; the rows without an origin are recorded too."""

    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    @pytest.mark.parametrize(
        ("origin", "rules", "expected"),
        [
            (None, [], {}),
            (None, [FOR_PAGE], VARY),
            (None, [FOR_POST], VARY),
            (None, [FOR_ALL], FOR_ALL_SAYS),
            (None, [FOR_PAGE, FOR_ALL], FOR_ALL_SAYS),
            (PAGE, [], {}),
            (PAGE, [FOR_PAGE], FOR_PAGE_SAYS),
            (PAGE, [FOR_PAGE, FOR_ALL], FOR_PAGE_SAYS),
            (PAGE, [FOR_OTHERS], VARY),
            (PAGE, [FOR_POST], VARY),
            (PAGE, [FOR_ALL], FOR_ALL_SAYS),
            (PAGE, [FOR_ALL, FOR_PAGE], FOR_ALL_SAYS),
        ],
    )
    def test_rows(self, method: str, origin: str | None, rules: list[CorsRule], expected: Headers) -> None:
        rules = [rule._replace(methods=(*rule.methods, method)) if "GET" in rule.methods else rule for rule in rules]
        assert added(rules, origin, method) == expected

    @pytest.mark.parametrize("method", ["POST", "PUT", "MERGE", "PATCH", "DELETE"])
    def test_other_methods_say_nothing_without_an_origin(self, method: str) -> None:
        rule = FOR_ALL._replace(methods=(method,))
        assert added([rule], None, method) == {}
        assert added([rule], PAGE, method) == FOR_ALL_SAYS

    def test_a_preflight_has_its_own(self) -> None:
        assert added([FOR_ALL._replace(methods=("OPTIONS",))], PAGE, "OPTIONS") == {}


# ---------------------------------------------------------------- which rule


class TestFindRule:
    def test_the_first_of_origin_and_method_is_the_rule(self) -> None:
        """Whatever its headers are: later rules are not tried."""
        first, second = FOR_PAGE._replace(allowed_headers=("x-a",)), FOR_PAGE._replace(allowed_headers=("*",))
        assert find_rule([FOR_OTHERS, FOR_POST, first, second], PAGE, "PUT") is first

    def test_none_fits(self) -> None:
        assert find_rule([FOR_PAGE], PAGE, "DELETE") is None
        assert find_rule([FOR_PAGE], "https://others.com", "GET") is None
        assert find_rule([], PAGE, "GET") is None

    @pytest.mark.parametrize(
        ("member", "origin"),
        [
            (PAGE, PAGE),
            ("*", PAGE),
            ("*", "null"),
            ("null", "null"),
            ("www.xyz.com", "www.xyz.com"),
            ("https://*.contoso.com", PAGE),
            ("https://*.contoso.com", "https://a.b-1.contoso.com"),
            ("http://*.contoso.com:8080", "http://a.contoso.com:8080"),
        ],
    )
    def test_origins_that_a_member_means(self, member: str, origin: str) -> None:
        assert find_rule([FOR_PAGE._replace(origins=("https://x.com", member))], origin, "GET") is not None

    @pytest.mark.parametrize(
        ("member", "origin"),
        [
            (PAGE, "https://Page.contoso.com"),
            (PAGE, "http://page.contoso.com"),
            (PAGE, PAGE + ":443"),
            (PAGE, PAGE + "/"),
            ("https://*.contoso.com", "https://contoso.com"),
            ("https://*.contoso.com", "https://.contoso.com"),
            ("https://*.contoso.com", "http://a.contoso.com"),
            ("https://*.contoso.com", "https://acontoso.com"),
            ("https://*.contoso.com", "https://a.contoso.com:81"),
            ("https://*.contoso.com", "https://a.contoso.com.evil.org"),
            ("https://*.contoso.com", "https://evil.org/.contoso.com"),
            ("https://*.contoso.com", "https://evil.org:1@x.contoso.com"),
            ("https://page.*.com", PAGE),
            ("null", PAGE),
        ],
    )
    def test_origins_that_it_does_not_mean(self, member: str, origin: str) -> None:
        """Letter by letter, in this case too (the reference)."""
        assert find_rule([FOR_PAGE._replace(origins=(member,))], origin, "GET") is None

    def test_without_an_origin_only_a_rule_for_all_is_found(self) -> None:
        assert find_rule([FOR_PAGE, FOR_ALL], None, "GET") is FOR_ALL
        assert find_rule([FOR_PAGE], None, "GET") is None


@pytest.mark.parametrize(
    ("allowed", "names", "expected"),
    [
        ((), (), True),
        ((), ("x-a",), False),
        (("x-a",), ("X-A",), True),
        (("x-a",), ("x-a", "x-b"), False),
        (("x-ms-*",), ("X-MS-Date", "x-ms-version"), True),
        (("x-ms-*",), ("x-m", "x-ms-date"), False),
        (("x-ms-*", "accept"), ("Accept", "x-ms-date"), True),
        (("*",), ("anything", "at-all"), True),
    ],
)
def test_headers_that_a_request_may_have(allowed: tuple[str, ...], names: tuple[str, ...], expected: bool) -> None:
    assert allows_headers(FOR_PAGE._replace(allowed_headers=allowed), names) is expected


def test_the_origin_that_is_answered() -> None:
    assert allowed_origin(FOR_ALL, PAGE) == "*"
    assert allowed_origin(FOR_PAGE, PAGE) == PAGE
    assert allowed_origin(FOR_PAGE._replace(origins=(PAGE, "*")), PAGE) == "*"


# ---------------------------------------------------------------- what a page may read

ENGINE = [
    ("x-ms-request-id", "1"),
    ("x-ms-client-request-id", "2"),
    ("Server", "S"),
    ("x-ms-version", "2019-02-02"),
    ("X-Content-Type-Options", "nosniff"),
    ("Cache-Control", "no-cache"),
    ("Date", "D"),
    ("Content-Type", "application/json"),
]
FRONT_END = [*ENGINE[:4], ("Date", "D"), ("Content-Type", "application/xml")]
SHARED = "x-ms-request-id,x-ms-client-request-id,Server,x-ms-version"


def exposed(headers: list[tuple[str, str]], layer: Layer = Layer.ENGINE, names: tuple[str, ...] = ("*",)) -> str | None:
    """What a rule that exposes these names says of an answer with these headers."""
    return added([FOR_ALL._replace(exposed_headers=names)], PAGE, headers=headers, layer=layer).get(
        "Access-Control-Expose-Headers"
    )


class TestExposedHeaders:
    """All lists are recorded but the last two."""

    def test_all_of_a_query(self) -> None:
        expected = "X-Content-Type-Options,Cache-Control,Content-Type,Content-Length,Date,Transfer-Encoding"
        assert exposed(ENGINE) == f"{SHARED},{expected}"

    def test_all_of_an_entity(self) -> None:
        headers = [*ENGINE, ("ETag", "W/\"datetime'...'\"")]
        expected = "X-Content-Type-Options,Cache-Control,ETag,Content-Type,Content-Length,Date,Transfer-Encoding"
        assert exposed(headers) == f"{SHARED},{expected}"

    def test_all_of_a_page_that_is_not_the_last(self) -> None:
        keys = "x-ms-continuation-NextPartitionKey,x-ms-continuation-NextRowKey"
        headers = [*ENGINE, *((name, "1") for name in keys.split(","))]
        expected = f"X-Content-Type-Options,Cache-Control,{keys},Content-Type,Content-Length,Date,Transfer-Encoding"
        assert exposed(headers) == f"{SHARED},{expected}"

    def test_all_of_the_front_end(self) -> None:
        assert exposed(FRONT_END, Layer.FRONT_END) == f"{SHARED},Content-Length,Date,Transfer-Encoding"

    def test_what_is_not_there_is_not_named(self) -> None:
        headers = [header for header in FRONT_END if header[0] != "x-ms-client-request-id"]
        expected = "x-ms-request-id,Server,x-ms-version,Content-Length,Date,Transfer-Encoding"
        assert exposed(headers, Layer.FRONT_END) == expected

    def test_literal_names_always_and_a_prefix_for_what_is_there(self) -> None:
        assert exposed(FRONT_END, Layer.FRONT_END, ("x-ms-meta-customheader", "x-ms-meta-data*")) == (
            "x-ms-meta-customheader"
        )
        assert exposed(ENGINE, names=("ETag", "X-MS-*")) == "ETag,x-ms-request-id,x-ms-client-request-id,x-ms-version"

    def test_nothing(self) -> None:
        assert exposed(ENGINE, names=()) is None
        assert exposed(ENGINE, names=("x-ms-meta-*",)) is None

    def test_all_of_an_insert_and_of_an_error(self) -> None:
        headers = [*ENGINE[:-1], ("Location", "L"), ("ETag", "E"), ("Preference-Applied", "return-no-content")]
        expected = "ETag,Location,Preference-Applied,Content-Length,Date,Transfer-Encoding"
        assert exposed(headers) == f"{SHARED},X-Content-Type-Options,Cache-Control,{expected}"
        headers = [*FRONT_END, ("x-ms-error-code", "TableNotFound")]
        expected = f"{SHARED},x-ms-error-code,Content-Length,Date,Transfer-Encoding"
        assert exposed(headers, Layer.FRONT_END) == expected
