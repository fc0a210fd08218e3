"""Queries that cannot be understood, or not be answered in time if they were."""

from __future__ import annotations

from urllib.parse import quote

from tests.hostile.case import ENTITY, JSON, Case


def query(option: str, code: str = "InvalidInput", status: int = 400, path: str = "/Hostile()") -> Case:
    """A query with these options, percent-encoded already."""
    return Case("GET", f"{path}?{option}", headers=JSON, status=status, code=code)


def query_filter(text: str, code: str = "InvalidInput", status: int = 400) -> Case:
    """A query with this filter."""
    return query("$filter=" + quote(text, safe=""), code, status)


FILTERS = {
    f"filter {text[:30]}": query_filter(text)
    for text in (
        "aaa bbb ccc",
        "A eq",
        "eq 'x'",
        "A eq eq 'x'",
        "A eq 'x' and",
        "and A eq 'x'",
        "A eq 'x' or or B eq 1",
        "A = 'x'",
        "A == 'x'",
        "A != 1",
        "A < 1",
        "A & B",
        "A eq 'x",
        "A eq x'",
        'A eq "x"',
        "A eq null",
        "A eq datetime'x'",
        "A eq 'x' -- comment",
        "A eq 1 /* x */",
        "length(",
        "A add",
        "A eq datetime'2026-02-30T00:00:00Z'",
        "A eq datetime'0000-01-01'",
        "A eq datetime'",
        "A eq guid'x'",
        "A eq guid''",
        "A eq X'0'",
        "A eq X'zz'",
        "A eq binary'x'",
        "A eq time'x'",
        "A eq 1.5m",
        "A eq 1.5f",
        "A eq datetimeoffset'2026-01-01T00:00:00Z'",
        "A eq B",
        "1 eq 1",
        "'a' eq 'a'",
        "1",
        "'a'",
        "A eq 99999999999999999999",
        "A eq 9223372036854775808L",
        "A eq 1e999",
        "A eq 1.",
        "A eq 1e",
        "A eq 0x10",
        "A eq +1",
        "A eq ١",
        "(A eq 1",
        "A eq 1)",
        "()",
        "((",
        "))",
        "not",
        "not not",
        "A eq not B",
        "A eq (B eq 1)",
        "A EQ 'x'",
        "A eq 'x' AND B eq 1",
        "A eq 'x' B eq 1",
        "A in ('x')",
        "A has 'x'",
        "A eq 1;DROP TABLE x",
        "A eq 'x\0",
        "\0",
        "\ufffe eq 1",
        "😀 eq 1",
        "$it eq 1",
        "@p eq 1",
        "A..B eq 1",
        "A eq true false",
        "{A} eq 1",
        "[A] eq 1",
        "A[0] eq 1",
        "A eq {1}",
        "`A` eq 1",
        "datetime'2026-01-01' A",
        "NaN",
        "INF",
        "1 and 2",
        "A and 1",
        "not 'x'",
        "A eq 'a''",
        "'",
    )
}
NOT_IMPLEMENTED = {
    f"filter {text}": query_filter(text, "NotImplemented", 501)
    for text in (
        "startswith(A,'x')",
        "substringof('x',A)",
        "length(A) eq 1",
        "tolower(A) eq 'x'",
        "A add 1 eq 2",
        "A sub 1 eq 2",
        "A mul 2 eq 2",
        "A div 2 eq 2",
        "A mod 2 eq 0",
        "A/B eq 1",
        "year(A) eq 2026",
    )
}
LARGE_FILTERS = {
    "5,000 open parentheses": query_filter("(" * 5000),
    "5,000 parentheses": query_filter("(" * 5000 + "A eq 1" + ")" * 5000),
    "2,000 nested groups": query_filter("(A eq 1 and (B eq 1 or " * 900 + "A eq 1" + "))" * 900),
    "4,000 nots": query_filter("not " * 4000),
    "4,000 quotes": query_filter("A eq '" + "'" * 4002),
    "a number of 10,000 digits": query_filter("A eq " + "9" * 10_000),
    "10,000 digits after the point": query_filter("A eq 0." + "9" * 10_000 + "x"),
    "a name of 10,000 characters": query_filter("A" * 10_000 + " eq"),
    "10,000 blanks": query_filter("A" + " " * 10_000 + "eq"),
    "a filter too long for a URL": query_filter("A eq 1 and " * 6000, "", 431),
}
OPTIONS = {
    **{
        f"$top={text}": query(f"$top={text}")
        for text in ("0", "-1", "1001", "x", "1.5", "1e2", "9" * 60, "1%2C2", "%EF%BC%91")
    },
    **{
        f"$select={text}": query(f"$select={text}")
        for text in (
            "a%20b",
            "1a",
            "a,,b",
            ",",
            ",a",
            "a-b",
            "a%2Fb",
            "%00",
            "['age,%20sex']",
            "a%20as%20b",
            "count(*)",
            "a" * 256,
        )
    },
    "$select of 256 names": query("$select=" + ",".join(f"a{n}" for n in range(256))),
    "a bad $select at an address": query("$select=a%20b", path=ENTITY),
    "a bad filter on tables": query("$filter=TableName%20eq", path="/Tables"),
    "a bad $top on tables": query("$top=0", path="/Tables"),
    "$filter twice": query("$filter=A%20eq%201&$filter=A%20eq%201"),
    "$top twice": query("$top=1&%24top=1"),
    "an option that is no UTF-8": query("$filter=%FF%FE"),
    "an option that is half a surrogate pair": query("$filter=A%20eq%20'%ED%A0%80'"),
    "a name of an option that is no UTF-8": query("%FF=1"),
    **{
        option: query(f"{option}=1", "NotImplemented", 501)
        for option in ("$orderby", "$skip", "$inlinecount", "$expand", "$skiptoken", "$search", "$", "$Filter", "$TOP")
    },
    **{f"timeout={text}": query(f"timeout={text}", "InvalidQueryParameterValue") for text in ("x", "-1", "1.5", "")},
    "$format=xml": query("$format=xml", "MediaTypeNotSupported", 415),
    "$format=atom": query("$format=atom", "AtomFormatNotSupported", 415),
    "$format of verbose JSON": query("$format=application/json;odata=verbose", "JsonVerboseFormatNotSupported", 415),
    "$format of no level": query("$format=application/json;odata=much", "MediaTypeNotSupported", 415),
}
TOKENS = {
    **{
        f"NextPartitionKey={token}": query(f"NextPartitionKey={token}&NextRowKey=1!4!cGs-")
        for token in (
            "1!",
            "1!!",
            "1!4",
            "1!4!",
            "1!4!cGs",
            "1!5!cGs--",
            "1!x!cGs-",
            "1!-4!cGs-",
            "1!4!cGs=",
            "1!4!c Gs",
            "1!4!%C3%A9",
            "1!3!cGs",
            "1!4!____",
            "1!4!7aCA",
            "1!1000000000!cGs-",
            "1!4!cGs-x",
            "1!0!x",
        )
    },
    "a row key's token": query("NextPartitionKey=1!4!cGs-&NextRowKey=1!4!"),
    "a table's token": query("NextTableName=1!4!x", path="/Tables"),
    "a table's token that is no UTF-8": query("NextTableName=1!4!____", path="/Tables"),
    "both kinds of tokens": query("$ct=p/r&NextPartitionKey=1!4!cGs-"),
    "both kinds of tokens on tables": query("$ct=p&NextTableName=p", path="/Tables"),
}
