"""The `rowkey index` commands: ask a running server, over HTTP and with an account's key, for its indexes.

They are operations of the server's like any other (`operations/add_index.py` and its kin), so the commands work from
any machine that reaches it, and need nothing of the data folder.
"""

import argparse
import base64
import json
import os
import sys
from collections.abc import Iterator, Sequence
from email.utils import formatdate
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from rowkey.auth.shared_key import SigningKey
from rowkey.config import DEVELOPMENT_ACCOUNT, HOST, PORT

FAILURE_EXIT_CODE = 1
USAGE_EXIT_CODE = 2
CONNECTION_STRING_VARIABLE = "AZURE_STORAGE_CONNECTION_STRING"
"""Where the `az` command looks for it, too."""
_VERSION = "2019-02-02"
_SECONDS_MAX = 60
_VERBS = {"GET": "list", "PUT": "add", "DELETE": "drop"}


class CommandError(Exception):
    """What was asked for was not done; the text says why, and what to do."""


class Endpoint(NamedTuple):
    """An account's tables: the URL without a slash at the end, and the credentials."""

    url: str
    account: str
    key: bytes


def run_command(options: argparse.Namespace) -> int:
    """Run one of the commands and return its exit code."""
    text = options.connection_string or os.environ.get(CONNECTION_STRING_VARIABLE, "")
    try:
        client = _Client(parse_connection_string(text) if text else _DEVELOPMENT)
    except ValueError as error:
        print(f"rowkey: {error}", file=sys.stderr)
        return USAGE_EXIT_CODE
    try:
        if options.action == "list":
            _print_indexes(client, [options.table] if options.table else list(client.tables()))
        elif options.action == "add":
            is_new = client.ask("PUT", options.table, options.property).status == 202
            what = "is being built" if is_new else "is there already"
            print(f"The index of {options.table} on {options.property} {what}: rowkey index list {options.table}")
        else:
            client.ask("DELETE", options.table, options.property)
            print(f"The index of {options.table} on {options.property} is dropped.")
    except CommandError as error:
        print(f"rowkey: {error}", file=sys.stderr)
        return FAILURE_EXIT_CODE
    return 0


def parse_connection_string(text: str) -> Endpoint:
    """The endpoint that an SDK would use; raises ValueError, without repeating a key."""
    parts = {
        name.strip().lower(): value.strip() for name, _, value in (item.partition("=") for item in text.split(";"))
    }
    if parts.get("usedevelopmentstorage", "").lower() == "true":
        return _DEVELOPMENT
    account, key = parts.get("accountname", ""), parts.get("accountkey", "")
    if not account or not key:
        raise ValueError("The connection string has no AccountName or no AccountKey, and both are needed.")
    suffix = parts.get("endpointsuffix", "core.windows.net")
    url = parts.get("tableendpoint") or f"{parts.get('defaultendpointsprotocol', 'https')}://{account}.table.{suffix}"
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"The TableEndpoint {url!r} is not the URL of a server, as in http://127.0.0.1:{PORT}/name.")
    try:
        return Endpoint(url.rstrip("/"), account, base64.b64decode(key, validate=True))
    except ValueError:
        raise ValueError("The AccountKey of the connection string is not base64.") from None


_DEVELOPMENT = Endpoint(
    f"http://{HOST}:{PORT}/{DEVELOPMENT_ACCOUNT.name}", DEVELOPMENT_ACCOUNT.name, DEVELOPMENT_ACCOUNT.keys[0]
)


class _Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class _Client:
    """Asks one account's tables."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._key = SigningKey(endpoint.key)

    def tables(self) -> Iterator[str]:
        """The names of all tables."""
        options = ""
        while True:
            answer = self._send("GET", "/Tables", options, "list the tables")
            for table in json.loads(answer.body)["value"]:
                yield table["TableName"]
            following = answer.headers.get("x-ms-continuation-nexttablename")
            if not following:
                return
            options = urlencode({"NextTableName": following})

    def indexes(self, table: str) -> list[dict[str, Any]]:
        """The indexes of a table."""
        found: list[dict[str, Any]] = json.loads(self.ask("GET", table).body)["indexes"]
        return found

    def ask(self, method: str, table: str, name: str | None = None) -> _Answer:
        """The answer about a table's indexes, or its index on one property."""
        named = {} if name is None else {"property": name}
        what = f"{_VERBS[method]} the " + (f"indexes of {table}" if name is None else f"index of {table} on {name}")
        return self._send(method, f"/{quote(table, safe='')}", urlencode({"comp": "indexes", **named}), what)

    def _send(self, method: str, path: str, query: str, what: str) -> _Answer:
        url = urlsplit(self._endpoint.url + path)
        date = formatdate(usegmt=True)
        comp = "?comp=indexes" if query.startswith("comp=") else ""
        text = f"{method}\n\n\n{date}\n/{self._endpoint.account}{url.path}{comp}"
        signature = base64.b64encode(self._key.sign(text)).decode("ascii")
        headers = {
            "x-ms-date": date,
            "x-ms-version": _VERSION,
            "Accept": "application/json;odata=nometadata",
            "Authorization": f"SharedKey {self._endpoint.account}:{signature}",
        }
        connection = (HTTPSConnection if url.scheme == "https" else HTTPConnection)(url.netloc, timeout=_SECONDS_MAX)
        try:
            connection.request(method, f"{url.path}?{query}" if query else url.path, headers=headers)
            response = connection.getresponse()
            body = response.read()
        except (OSError, HTTPException) as error:
            raise CommandError(
                f"No answer from {self._endpoint.url}: {error}. Start the server, or say where it is with "
                f"--connection-string or {CONNECTION_STRING_VARIABLE}."
            ) from None
        finally:
            connection.close()
        if response.status >= 300:
            raise CommandError(f"{self._endpoint.url} refused to {what}: {_explain(response, body)}")
        return _Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def _explain(response: HTTPResponse, body: bytes) -> str:
    """What an answer says of why it is no success."""
    try:
        error = json.loads(body)["odata.error"]
        message = str(error["message"]["value"]).splitlines()[0]
        return f"{error['code']}: {message}"
    except (ValueError, LookupError, TypeError):
        return f"{response.status} {response.reason}"


def _print_indexes(client: _Client, tables: Sequence[str]) -> None:
    rows = [("TABLE", "PROPERTY", "STATE", "ENTRIES")]
    for table in tables:
        rows += [
            (table, str(index["property"]), str(index["state"]), f"{index['entries']:,}")
            for index in client.indexes(table)
        ]
    if len(rows) == 1:
        print("There are no indexes.")
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for table, name, state, entries in rows:
        print(f"{table:{widths[0]}}  {name:{widths[1]}}  {state:{widths[2]}}  {entries:>{widths[3]}}")
