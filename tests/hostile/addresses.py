"""Addresses that name nothing, and methods that they do not have."""

from __future__ import annotations

from tests.hostile.case import ENTITY, JSON, Case


def get(path: str, code: str = "InvalidInput", status: int = 400) -> Case:
    """A GET of this path."""
    return Case("GET", path, headers=JSON, status=status, code=code)


def elsewhere(target: str, code: str = "", status: int = 404, method: str = "GET") -> Case:
    """A request whose target is not below the account."""
    return Case(method, "", headers=JSON, status=status, code=code, target=target)


ADDRESSES = {
    "a key with a slash": get("/Hostile(PartitionKey='a/b',RowKey='r')"),
    "a key with an encoded slash": get("/Hostile(PartitionKey='p',RowKey='a%2Fb')"),
    "one key": get("/Hostile(PartitionKey='p')"),
    "the other key alone": get("/Hostile(RowKey='r')"),
    "a value without a name": get("/Hostile('p')"),
    "two values without names": get("/Hostile('p','r')"),
    "the same key twice": get("/Hostile(PartitionKey='p',PartitionKey='p')"),
    "three keys": get("/Hostile(PartitionKey='p',RowKey='r',Other='o')"),
    "keys in lower case": get("/Hostile(partitionkey='p',rowkey='r')"),
    "keys in double quotes": get('/Hostile(PartitionKey="p",RowKey="r")'.replace('"', "%22")),
    "keys without quotes": get("/Hostile(PartitionKey=p,RowKey=r)"),
    "a key that is a number": get("/Hostile(PartitionKey=1,RowKey='r')"),
    "a quote that is not doubled": get("/Hostile(PartitionKey='a'b',RowKey='r')"),
    "a quote without an end": get("/Hostile(PartitionKey='p,RowKey='r')"),
    "no comma between keys": get("/Hostile(PartitionKey='p'RowKey='r')"),
    "no closing parenthesis": get("/Hostile(PartitionKey='p',RowKey='r'"),
    "something after the keys": get("/Hostile(PartitionKey='p',RowKey='r')x"),
    "a property of an entity": get("/Hostile(PartitionKey='p',RowKey='r')/A"),
    "10,000 quotes": get("/Hostile(PartitionKey='" + "'" * 10_000 + ",RowKey='r')"),
    "10,000 parentheses": get("/Hostile" + "(" * 10_000, ""),
    "nested parentheses": get("/Hostile" + "()" * 1000, ""),
    "no closing parenthesis after a table": get("/Hostile("),
    "a key that is no UTF-8": get("/Hostile(PartitionKey='%FF',RowKey='r')", "RequestUrlFailedToParse"),
    "a key that is half a surrogate pair": get(
        "/Hostile(PartitionKey='%ED%A0%80',RowKey='r')", "RequestUrlFailedToParse"
    ),
    "a path of one parenthesis": get("/%28retry%29", "ResourceNotFound", 404),
    "an unknown $ resource": get("/$unknown", ""),
    "a path below a path": get("/Hostile/a/b/c", "ResourceNotFound", 404),
    "slashes": get("//////", "", 404),
    "dots": get("/../../etc/passwd", "", 404),
    "encoded dots": get("/%2e%2e/%2e%2e/etc/passwd", "", 404),
    "a table with NUL": get("/%00", ""),
    "a table that is not there": get("/Nowhere()", "TableNotFound", 404),
    "an entity of a table that is not there": get("/Nowhere(PartitionKey='p',RowKey='r')", "TableNotFound", 404),
    "an entity that is not there": get("/Hostile(PartitionKey='p',RowKey='not')", "ResourceNotFound", 404),
    "an entity whose key cannot be": get("/Hostile(PartitionKey='%00',RowKey='r')", "", 0),
    "an entity whose key is too long": get(f"/Hostile(PartitionKey='{'k' * 10_000}',RowKey='r')", "", 0),
    "another account": elsewhere("/somebodyelse/Tables", "ResourceNotFound"),
    "no account": elsewhere("/", "ResourceNotFound"),
    "no account before a table": elsewhere("/Tables", "ResourceNotFound"),
    "an account in capitals": elsewhere("/DEVSTOREACCOUNT1/Tables", ""),
    "an account with another suffix": elsewhere("/devstoreaccount1-tertiary/Tables", ""),
    "a suffix without an account": elsewhere("/-secondary/Tables", ""),
    "a query alone": elsewhere("/?restype=service", ""),
    "an asterisk": elsewhere("*", "", 400, "OPTIONS"),
    "another scheme": elsewhere("ftp://elsewhere/", "", 404),
    "an absolute target without a path": elsewhere("http://elsewhere", "", 404),
    "an absolute target without a host": elsewhere("http:///devstoreaccount1/Tables", "", 400),
    "a write to the secondary": elsewhere(
        "/devstoreaccount1-secondary/Tables", "InsufficientAccountPermissions", 403, "POST"
    ),
    "a deletion on the secondary": elsewhere(
        "/devstoreaccount1-secondary/devstoreaccount1/Tables('Hostile')",
        "InsufficientAccountPermissions",
        403,
        "DELETE",
    ),
}
METHODS = {
    f"{method} {path}": Case(method, path, b"{}", {**JSON, "If-Match": "*"}, status, code)
    for method, path, status, code in (
        ("PUT", "/Tables", 405, "MethodNotAllowed"),
        ("MERGE", "/Tables", 405, "MethodNotAllowed"),
        ("POST", "/Tables('Hostile')", 405, "MethodNotAllowed"),
        ("PATCH", "/Tables('Hostile')", 405, "MethodNotAllowed"),
        ("PUT", "/Hostile", 405, "MethodNotAllowed"),
        ("DELETE", "/Hostile", 405, "MethodNotAllowed"),
        ("POST", ENTITY, 405, "MethodNotAllowed"),
        ("GET", "/$batch", 405, "MethodNotAllowed"),
        ("DELETE", "/$batch", 405, "MethodNotAllowed"),
        ("POST", "/$metadata", 405, "MethodNotAllowed"),
        ("POST", "/", 405, "MethodNotAllowed"),
        ("DELETE", "/", 405, "MethodNotAllowed"),
        ("TRACE", "/Tables", 400, "InvalidHttpVerb"),
        ("PROPFIND", "/Tables", 400, "InvalidHttpVerb"),
        ("PURGE", ENTITY, 400, "InvalidHttpVerb"),
        ("DELETE", "/Hostile/Tables('x')", 400, "InvalidInput"),
        ("POST", "/Hostile/$batch", 415, "MediaTypeNotSupported"),
        ("POST", "/Hostile/Tables", 400, "PropertiesNeedValue"),
        ("POST", "/Nowhere/Tables", 404, "TableNotFound"),
    )
}
