"""What the scripts for Python clients share. They run in the environment of their client, never in ours.

A script is a row of steps, each a function that says in its decorator what it proves::

    @step("Get Entity", "Atom", "Shared Key")
    def an_entity_comes_back_whole(): ...

One that does the same with several kinds of authorisation names them all, and is called with the name of each::

    @step("Get Entity", "JSON", "Shared Key, table SAS")
    def an_entity_comes_back_whole(kind): ...

`@refusal` is for what the service refuses as well. `run()` calls one step after the other and prints a line of JSON for
each. A failed step does not end the script.
`../steps.py` reads the decorators, starts the scripts and makes a test of every step.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from functools import partial
from urllib.parse import urlsplit
from uuid import uuid4

ENDPOINT = os.environ["ROWKEY_TEST_ENDPOINT"]
ACCOUNT = os.environ["ROWKEY_TEST_ACCOUNT"]
KEY = os.environ["ROWKEY_TEST_KEY"]
CONNECTION_STRING = os.environ["ROWKEY_TEST_CONNECTION_STRING"]

PROTOCOL = urlsplit(ENDPOINT).scheme
NETLOC = urlsplit(ENDPOINT).netloc
# What follows the account in a host name, for clients that know no other way to name it. A server that takes the
# account from the path takes it from `account.localhost` as well.
HOST_BASE = f".localhost:{urlsplit(ENDPOINT).port}" if urlsplit(ENDPOINT).path.strip("/") else NETLOC[len(ACCOUNT) :]

_steps = []


def step(operation, payload, authorisation):
    """A decorator that makes a function a step: it proves `operation` in this format and with this authorisation."""

    def register(function):
        kinds = authorisation.split(", ")
        if len(kinds) == 1:
            _steps.append((function.__name__, function))
        else:
            _steps.extend((f"{function.__name__}, {kind}", partial(function, kind)) for kind in kinds)
        return function

    return register


refusal = step  # who reads the script tells them apart by the name


def run():
    """Do all steps, and print how each went."""
    output, sys.stdout = sys.stdout, sys.stderr  # what a client prints must not come between
    for name, function in _steps:
        detail = None
        try:
            function()
        except BaseException:
            detail = traceback.format_exc()
        print(json.dumps({"name": name, "failure": detail}), file=output, flush=True)


def equal(actual, expected):
    """Fail unless both are the same, of the same type."""
    if actual != expected or type(actual) is not type(expected):
        raise AssertionError(f"got      {actual!r}\nexpected {expected!r}")


def contains(text, part):
    """Fail unless a part is within a text or a collection."""
    if part not in text:
        raise AssertionError(f"no {part!r} in {text!r}")


def raised(kind, function, *arguments, **named):
    """The error that a call ends with, which must be of this very class."""
    try:
        answer = function(*arguments, **named)
    except kind as error:
        if type(error) is not kind:
            raise
        return error
    raise AssertionError(f"no {kind.__name__}, but {answer!r}")


def new_name(prefix="t"):
    """A name for a table, or a key, that nobody else has."""
    return prefix + uuid4().hex


def entity(partition, row="r", **properties):
    """An entity as a dictionary."""
    return {"PartitionKey": partition, "RowKey": row, **properties}


def _resolve_localhost():
    """Let all names below `localhost` be this machine, as RFC 6761 says and not every resolver knows."""
    resolve = socket.getaddrinfo

    def getaddrinfo(host, *arguments, **named):
        if isinstance(host, str) and host.endswith(".localhost"):
            host = "127.0.0.1"
        return resolve(host, *arguments, **named)

    socket.getaddrinfo = getaddrinfo


_resolve_localhost()
