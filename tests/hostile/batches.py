"""Batches that are none, and parts that no batch may have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.hostile.case import Case

if TYPE_CHECKING:
    from collections.abc import Iterable


def batch(body: str | bytes, code: str = "InvalidInput", status: int = 400, content_type: str = "") -> Case:
    """A batch with this body; `status` and `code` are those of the part that failed, where the answer has parts."""
    data = body if isinstance(body, bytes) else body.replace("\n", "\r\n").encode()
    headers = {"Content-Type": content_type or "multipart/mixed; boundary=b", "Accept": "application/json"}
    return Case("POST", "/$batch", data, headers, status, code)


def change_set(*requests: str) -> str:
    """A batch body with these requests as its one change set."""
    head = "--c\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\n"
    parts = "".join(f"{head}{request}\n" for request in requests)
    return f"--b\nContent-Type: multipart/mixed; boundary=c\n\n{parts}--c--\n--b--\n"


def insertion(partition_key: str, row_key: str, table: str = "Hostile") -> str:
    """A good Insert Entity as a part."""
    body = json.dumps({"PartitionKey": partition_key, "RowKey": row_key})
    return (
        f"POST /devstoreaccount1/{table} HTTP/1.1\nContent-Type: application/json\nAccept: application/json\n\n{body}"
    )


def changes_of(partition_keys: Iterable[str]) -> str:
    return change_set(*(insertion(key, f"{number}") for number, key in enumerate(partition_keys)))


ONE = insertion("p", "one")
QUERY = (
    "--b\nContent-Type: application/http\n\nGET /devstoreaccount1/Hostile(PartitionKey='p',RowKey='not') HTTP/1.1\n\n"
)
BATCHES = {
    "nothing": batch(""),
    "blank lines": batch("\n" * 1000),
    "a boundary that is not there": batch(change_set(ONE), content_type="multipart/mixed; boundary=other"),
    "no boundary": batch(change_set(ONE), content_type="multipart/mixed"),
    "an empty boundary": batch(change_set(ONE), content_type="multipart/mixed; boundary="),
    "an empty quoted boundary": batch(change_set(ONE), content_type='multipart/mixed; boundary=""'),
    "a boundary of 1,000 characters": batch(change_set(ONE), content_type="multipart/mixed; boundary=" + "b" * 1000),
    "a boundary in Cyrillic": batch(change_set(ONE), "", 0, content_type="multipart/mixed; boundary=граница"),
    "another multipart": batch(change_set(ONE), "MediaTypeNotSupported", 415, "multipart/form-data; boundary=b"),
    "a megabyte of blanks in a part's target": batch(
        change_set(f"POST /devstoreaccount1/Hostile/x({' ' * 1_000_000}x HTTP/1.1\n\n{{}}"), "", 0
    ),
    "20,000 names selected by a part": batch(
        QUERY.replace("not')", "not')?$select=" + "a," * 20_000 + "a") + "--b--\n", "", 0
    ),
    "JSON in place of a batch": batch("{}", "MediaTypeNotSupported", 415, "application/json"),
    "a batch of no type": Case(
        "POST", "/$batch", b"--b--", {"Accept": "application/json"}, 415, "MediaTypeNotSupported"
    ),
    "delimiters only": batch("--b\n--b\n--b\n--b--\n"),
    "the end only": batch("--b--\n"),
    "a part of nothing": batch("--b\n\n--b--\n"),
    "100,000 delimiters": batch("--b\n" * 100_000),
    "100,000 parts": batch("--b\n\nx\n" * 100_000),
    "a megabyte of dashes": batch("-" * 1_000_000),
    "a megabyte of almost delimiters": batch("--b-" * 250_000),
    "a megabyte of line ends": batch("--b" + "\n" * 1_000_000),
    "a megabyte of blanks": batch("--b" + " " * 1_000_000),
    "4 MiB and more": batch(b"x" * ((4 << 20) + 1), "RequestBodyTooLarge", 413),
    "a change set without a boundary": batch("--b\nContent-Type: multipart/mixed\n\n--c--\n--b--\n"),
    "a change set within a change set": batch(
        change_set("").replace("Content-Type: application/http", "Content-Type: multipart/mixed; boundary=d")
    ),
    "two change sets": batch(change_set(ONE).removesuffix("--b--\n") + change_set(insertion("p", "two"))),
    "a query beside a change set": batch(QUERY + change_set(ONE)),
    "two queries": batch(QUERY + QUERY + "--b--\n"),
    "a query in a change set": batch(
        change_set("GET /devstoreaccount1/Hostile(PartitionKey='p',RowKey='r') HTTP/1.1\n\n"), "MethodNotAllowed", 405
    ),
    "a write without a change set": batch(
        "--b\nContent-Type: application/http\n\n" + ONE + "\n--b--\n", "MethodNotAllowed", 405
    ),
    "a table in a change set": batch(
        change_set('POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\n\n{"TableName":"abc"}'),
        "MethodNotAllowed",
        405,
    ),
    "the end of a table in a change set": batch(
        change_set("DELETE /devstoreaccount1/Tables('Hostile') HTTP/1.1\n\n"), "MethodNotAllowed", 405
    ),
    "a batch in a batch": batch(
        change_set("POST /devstoreaccount1/$batch HTTP/1.1\nContent-Type: multipart/mixed; boundary=b\n\n--b--"),
        "",
        0,
    ),
    "an insert at the root": batch(change_set("POST /devstoreaccount1 HTTP/1.1\n\n{}"), "MethodNotAllowed", 405),
    "no request": batch(change_set("")),
    "a request without a version": batch(change_set("POST /devstoreaccount1/Hostile\n\n{}")),
    "a request without a target": batch(change_set("POST HTTP/1.1\n\n{}")),
    "a request of another protocol": batch(change_set("POST /devstoreaccount1/Hostile ICE/1.0\n\n{}")),
    "a request that is binary": batch(change_set("\0\1\2\3\n\n\0")),
    "a request line that is no UTF-8": batch(change_set(ONE).encode().replace(b"Hostile", b"Host\xffle")),
    "a header without a colon": batch(change_set(ONE.replace("Accept: ", "Accept "))),
    "a part's header without a colon": batch(change_set(ONE).replace("binary", "binary\nnonsense")),
    "an unknown verb in a part": batch(change_set(ONE.replace("POST", "FROB")), "InvalidHttpVerb"),
    "a verb in lower case in a part": batch(change_set(ONE.replace("POST", "post")), "InvalidHttpVerb"),
    "a body that is no JSON in a part": batch(change_set(ONE.replace("{", "")), "InvalidInput"),
    "a body of another type in a part": batch(
        change_set(ONE.replace("Type: application/json", "Type: text/plain")), "MediaTypeNotSupported", 415
    ),
    "a key with a slash in a part": batch(
        change_set("DELETE /devstoreaccount1/Hostile(PartitionKey='a/b',RowKey='r') HTTP/1.1\nIf-Match: *\n"),
        "InvalidInput",
    ),
    "a bad etag in a part": batch(
        change_set("DELETE /devstoreaccount1/Hostile(PartitionKey='p',RowKey='r') HTTP/1.1\nIf-Match: x\n"),
        "InvalidInput",
    ),
    "a target that is no URL in a part": batch(change_set(ONE.replace("/devstoreaccount1/Hostile", "::::")), "", 0),
    "an absolute target without a path in a part": batch(
        change_set(ONE.replace("/devstoreaccount1/Hostile", "http://here")), "", 0
    ),
    "a version of its own in a part": batch(change_set(ONE.replace("Accept", "x-ms-version: nonsense\nAccept")), "", 0),
    "a bad Content-MD5 in a part": batch(change_set(ONE.replace("Accept", "Content-MD5: x\nAccept")), "InvalidMd5"),
    "101 operations": batch(changes_of(["p"] * 101)),
    "10,000 operations": batch(changes_of(["p"] * 10_000)),
    "two partitions": batch(changes_of(["p", "q"]), "CommandsInBatchActOnDifferentPartitions"),
    "two tables": batch(change_set(ONE, insertion("p", "two", "Nowhere")), "InvalidInput"),
    "the same entity twice": batch(change_set(ONE, ONE), "InvalidDuplicateRow"),
    "a table that is not there in a part": batch(change_set(insertion("p", "r", "Nowhere")), "TableNotFound", 404),
    "an entity that is there in a part": batch(change_set(insertion("p", "r")), "EntityAlreadyExists", 409),
    "an entity that is not there in a part": batch(QUERY + "--b--\n", "ResourceNotFound", 404),
    "a bad filter in a part": batch(
        "--b\nContent-Type: application/http\n\nGET /devstoreaccount1/Hostile()?$filter=aaa%20bbb HTTP/1.1\n\n\n--b--\n"
    ),
    "a Content-ID with a line end": batch(
        change_set(ONE.replace("Accept", "Content-ID: 1\rX-Injected: 1\nAccept"), ONE), "", 0
    ),
    "a Content-ID in Cyrillic": batch(
        change_set(ONE.replace("Accept", "Content-ID: номер\nAccept"), ONE), "InvalidDuplicateRow"
    ),
    "a reference to another part": batch(
        change_set(ONE, "PUT $1 HTTP/1.1\nContent-Type: application/json\n\n{}"), "", 0
    ),
    "a version too old for batches": Case(
        "POST",
        "/$batch",
        b"--b--",
        {"Content-Type": "multipart/mixed; boundary=b", "x-ms-version": "2008-10-27"},
        400,
        "MissingRequiredHeader",
    ),
}
