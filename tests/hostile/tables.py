"""Tables that cannot be made."""

from __future__ import annotations

import json

from tests.hostile.case import JSON, Case


def create(body: str, code: str, status: int = 400) -> Case:
    """A Create Table with this body."""
    return Case("POST", "/Tables", body.encode(), JSON, status, code)


def create_named(name: str, code: str = "InvalidResourceName") -> Case:
    """A Create Table with this name."""
    return create(json.dumps({"TableName": name}), code)


TABLES = {
    "a table without a body": create("", "InvalidInput"),
    "a table in a list": create('["abc"]', "InvalidInput"),
    "a table without a name": create("{}", "PropertiesNeedValue"),
    "a table called null": create('{"TableName":null}', "PropertiesNeedValue"),
    "a table with a number for a name": create('{"TableName":123}', "InvalidInput"),
    "a table with a list for a name": create('{"TableName":["abc"]}', "InvalidInput"),
    "a table with two names": create('{"TableName":"abc","TableName":"abd"}', "DuplicatePropertiesSpecified"),
    "a table with an empty name": create_named("", ""),
    "a name of two letters": create_named("ab", "OutOfRangeInput"),
    "a name of 64 letters": create_named("a" * 64, "OutOfRangeInput"),
    "a name of a million letters": create_named("a" * 1_000_000, "OutOfRangeInput"),
    "a table name with a dash": create_named("ab-cd"),
    "a table name with an underline": create_named("ab_cd"),
    "a table name that begins with a digit": create_named("1abc"),
    "a table name with a blank": create_named("abc "),
    "a table name with a line end": create_named("abc\n"),
    "a table name with NUL": create_named("abc\0"),
    "a table name with a quote": create_named("ab'cd"),
    "a table name with a path": create_named("../../etc/passwd"),
    "a table name in Chinese": create_named("啊齄丂"),
    "a table name with a Kelvin sign": create_named("abc\u212a"),
    "a table name with a dotless i": create_named("abcı"),
    "a table name with half a surrogate pair": create('{"TableName":"abc\\ud800"}', ""),
    "the reserved name": create_named("tables"),
    "the reserved name in capitals": create_named("TABLES"),
    "an analytics table": create_named("$MetricsHourPrimaryTransactionsTable"),
    "a table that is there": create('{"TableName":"HOSTILE"}', "TableAlreadyExists", 409),
    "the deletion of a table that is not there": Case(
        "DELETE", "/Tables('Nowhere')", status=404, code="ResourceNotFound"
    ),
    "the deletion of a table without a name": Case("DELETE", "/Tables('')", status=404, code="ResourceNotFound"),
    "the deletion of a table with If-Match": Case(
        "DELETE", "/Tables('Hostile')", headers={"If-Match": "*"}, code="InvalidInput"
    ),
    "the deletion of all tables": Case("DELETE", "/Tables", status=405, code="MethodNotAllowed"),
    "a table of strange name": Case("GET", "/Tables('%00%01')", headers=JSON, status=404, code="ResourceNotFound"),
}
