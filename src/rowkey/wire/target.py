"""The request target: whose account, which resource, which options.

Two addressing styles share every port. Host style names the account in the first label of the host
(`account.anything/Orders`), path style in the first segment of the path (`/account/Orders`); `-secondary` after the
name asks for the secondary. A host whose first label is a known account is host style, any other is path style.
"""

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, unquote_to_bytes

from rowkey.errors import (
    HostInformationNotPresent,
    InvalidInput,
    InvalidPath,
    InvalidQuery,
    InvalidQueryParameterValue,
    InvalidResourceName,
    InvalidUri,
    Layer,
    RequestUrlFailedToParse,
    ResourceNotFound,
)
from rowkey.model.entity import Key
from rowkey.wire.request import Request

SECONDARY = "-secondary"

_ABSOLUTE_FORM = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*)(.*)", re.DOTALL)
_HOST = re.compile(r"[A-Za-z0-9._~%!$&'()*+,;=:\[\]-]+")


class Address(NamedTuple):
    """A request target taken apart.

    `base` is the account's URL as the client addressed it, without a slash at the end; `path` is what follows it and
    `signed_path` the whole path, both still percent-encoded and beginning with a slash.
    """

    account: str
    is_secondary: bool
    is_path_style: bool
    base: str
    signed_path: str
    path: str
    query: str


def read_address(request: Request, accounts: frozenset[str], *, signer: str | None = None) -> Address:
    """Take a request's target apart.

    `signer` is the account that the Authorization header names: old clients post batches to `/$batch` at the root in
    path style and name the account only there. Raises HostInformationNotPresent, RequestUrlFailedToParse, and
    ResourceNotFound for an account that is not served here.
    """
    target = request.target
    host = request.headers.get("host", "")
    if target[:1] != "/":
        absolute = _ABSOLUTE_FORM.fullmatch(target)
        if absolute is None:
            raise RequestUrlFailedToParse
        host, target = absolute[1], absolute[2] if absolute[2].startswith("/") else "/" + absolute[2]
    path, _, query = target.partition("?")
    account, is_secondary, root = _read_host(host, request.is_secure, accounts)
    if account is not None:
        return Address(account, is_secondary, False, root, path, path, query)
    segment, slash, rest = path[1:].partition("/")
    base = f"{root}/{segment}"
    if segment in accounts:
        return Address(segment, False, True, base, path, "/" + rest, query)
    account = segment.removesuffix(SECONDARY)
    if account in accounts:
        if rest == account or rest.startswith(account + "/"):
            # The Python SDK addresses the secondary of an emulator as /account-secondary/account/...
            rest = rest[len(account) + 1 :]
        return Address(account, True, True, base, path, "/" + rest, query)
    if signer is not None and signer in accounts and not slash and segment.startswith("$"):
        return Address(signer, False, True, f"{root}/{signer}", path, path, query)
    raise ResourceNotFound(layer=Layer.FRONT_END)


@lru_cache(maxsize=256)
def _read_host(host: str, is_secure: bool, accounts: frozenset[str]) -> tuple[str | None, bool, str]:
    """The account that a host names, None in path style, whether it names the secondary, and the URL of the host.

    The scheme's own port is left out of the URL (recorded: old clients in JavaScript always send it).
    """
    if not host:
        raise HostInformationNotPresent
    if not _HOST.fullmatch(host):
        raise InvalidUri
    label = host.partition(".")[0].lower()
    account = label.removesuffix(SECONDARY)
    root = f"https://{host.removesuffix(':443')}" if is_secure else f"http://{host.removesuffix(':80')}"
    return (account, label != account, root) if account in accounts else (None, False, root)


class ResourceKind(Enum):
    """What a path below the account names."""

    SERVICE = "/"
    SERVICE_PROPERTIES = "/?restype=service&comp=properties"
    SERVICE_STATS = "/?restype=service&comp=stats"
    METADATA = "/$metadata"
    BATCH = "/$batch"
    TABLES = "/Tables"
    TABLE = "/Tables('name')"
    ENTITIES = "/name"
    ENTITY = "/name(keys)"
    TABLE_ACL = "/name?comp=acl"
    TABLE_INDEXES = "/name?comp=indexes"
    BATCH_BELOW_TABLE = "/name/$batch"
    TABLES_BELOW_TABLE = "/name/Tables"
    KEYS_BELOW_TABLE = "/name/Tables('x')"

    __hash__ = object.__hash__  # members are singletons; Enum's own is a call in Python for each look-up


class Resource(NamedTuple):
    """A resource of an account; `table` is the name as addressed."""

    kind: ResourceKind
    table: str = ""
    key: Key = Key("", "")


_QUOTED = r"'([^']*(?:''[^']*)*)'"
_ENTITY = re.compile(
    rf"/([^/()']+)\( *(PartitionKey|RowKey) *= *{_QUOTED} *, *(PartitionKey|RowKey) *= *{_QUOTED} *\)/?", re.DOTALL
)
_TABLE = re.compile(rf"/Tables\( *(?:TableName *= *)?{_QUOTED} *\)/?", re.IGNORECASE | re.DOTALL)
_SET = re.compile(r"/([^/()']+)(?:\( *\))?/?")
_BELOW_TABLE = re.compile(rf"/([^/()']+)/(\$batch|[^/()']+(\( *(?:{_QUOTED} *)?\))?)/?", re.DOTALL)
_NAME_WITH_SLASHES = re.compile(r"/[^/()']+//+(?:\(.*\))?", re.DOTALL)
_WITH_KEYS = re.compile(r"/[^/()']+\(.*\)?/?", re.DOTALL)

ACCOUNT_ROOT = Resource(ResourceKind.SERVICE)
_FIXED = {
    "/": ACCOUNT_ROOT,
    "/$batch": Resource(ResourceKind.BATCH),
    "/$metadata": Resource(ResourceKind.METADATA),
}


def read_resource(path: str) -> Resource:
    """The resource that an address's `path` names.

    Raises InvalidPath for text that looks like keys but is none (also a slash within a key), InvalidResourceName for a
    table whose name ends in slashes (asserted by a client suite), and the front end's ResourceNotFound for a path that
    names nothing (recorded: `/(retry)`).
    """
    if "%" in path:
        try:
            path = unquote_to_bytes(path).decode("utf-8")
        except UnicodeDecodeError:
            raise RequestUrlFailedToParse from None
    fixed = _FIXED.get(path)
    if fixed is not None:
        return fixed
    if "(" in path:
        entity = _ENTITY.fullmatch(path)
        if entity is not None:
            return _read_entity(*entity.groups())
        table = _TABLE.fullmatch(path)
        if table is not None:
            return Resource(ResourceKind.TABLE, table[1].replace("''", "'"))
    entity_set = _SET.fullmatch(path)
    if entity_set is not None:
        name = entity_set[1]
        return _TABLES if name.lower() == "tables" else Resource(ResourceKind.ENTITIES, name)
    below = _BELOW_TABLE.fullmatch(path)
    if below is not None:
        # A client that was given a table's URL as the account's (recorded by the SDKs' own tests).
        if below[2] == "$batch":
            return Resource(ResourceKind.BATCH_BELOW_TABLE, below[1])
        has_keys = below[4] is not None
        return Resource(ResourceKind.KEYS_BELOW_TABLE if has_keys else ResourceKind.TABLES_BELOW_TABLE, below[1])
    if _NAME_WITH_SLASHES.fullmatch(path):
        raise InvalidResourceName
    if _WITH_KEYS.fullmatch(path):
        raise InvalidPath
    raise ResourceNotFound(layer=Layer.FRONT_END)


_TABLES = Resource(ResourceKind.TABLES)


def read_component(resource: Resource, comp: str, restype: str | None) -> Resource:
    """The part of a resource that the options `comp` and `restype` name; raises InvalidQueryParameterValue."""
    restype = None if restype is None else restype.lower()
    kind = _COMPONENTS.get((resource.kind, restype, comp.lower()))
    if kind is None:
        raise InvalidQueryParameterValue
    return resource._replace(kind=kind)


_COMPONENTS = {
    (ResourceKind.SERVICE, "service", "properties"): ResourceKind.SERVICE_PROPERTIES,
    (ResourceKind.SERVICE, "service", "stats"): ResourceKind.SERVICE_STATS,
    (ResourceKind.ENTITIES, None, "acl"): ResourceKind.TABLE_ACL,
    (ResourceKind.ENTITIES, None, "indexes"): ResourceKind.TABLE_INDEXES,
}


def _read_entity(table: str, first_name: str, first: str, second_name: str, second: str) -> Resource:
    if first_name == second_name or "/" in first or "/" in second:
        raise InvalidPath
    if "''" in first or "''" in second:
        first, second = first.replace("''", "'"), second.replace("''", "'")
    key = Key(first, second) if first_name == "PartitionKey" else Key(second, first)
    return Resource(ResourceKind.ENTITY, table, key)


def read_options(query: str) -> dict[str, str]:
    """The query options by name, decoded as UTF-8, `+` as a blank; of an option that is repeated the last.

    Raises nothing: whoever asks is told what is wrong with the query (`verify_query`) when it is known who asks.
    """
    return dict(_read_query(query)[0]) if query else {}


def verify_query(query: str) -> None:
    """Raise InvalidInput for a query that is not UTF-8, and InvalidQuery for a system option that is repeated."""
    fault = _read_query(query)[1]
    if fault is not None:
        raise fault(layer=Layer.LIBRARY)


@lru_cache(maxsize=512)
def _read_query(query: str) -> tuple[dict[str, str], type[InvalidInput] | None]:
    """The options, and the first fault."""
    options: dict[str, str] = {}
    fault: type[InvalidInput] | None = None
    for item in query.split("&"):
        encoded_name, _, encoded_value = item.partition("=")
        try:
            name, value = _unquote_plus(encoded_name), _unquote_plus(encoded_value)
        except UnicodeDecodeError:
            fault = fault or InvalidInput
            continue
        if name in options and name.startswith("$"):
            fault = fault or InvalidQuery
        options[name] = value
    return options, fault


def _unquote_plus(text: str) -> str:
    if "+" in text:
        text = text.replace("+", " ")
    return unquote_to_bytes(text).decode("utf-8") if "%" in text else text


def without_signature(url: str) -> str:
    """A URL as it may be logged: `sig` of a shared access signature is written as the service logs it, `XXXXX`."""
    path, mark, query = url.partition("?")
    return path + mark + "&".join(map(_hide_signature, query.split("&"))) if mark else url


def _hide_signature(item: str) -> str:
    name, equals, _ = item.partition("=")
    return f"{name}=XXXXX" if equals and unquote(name) == "sig" else item


def quote_key(value: str) -> str:
    """A key as it stands in a URL that the service writes: strictly percent-encoded, the quote doubled (recorded)."""
    if _PLAIN_KEY.fullmatch(value):
        return value
    return _NOT_UNRESERVED.sub(_escape, value)


_PLAIN_KEY = re.compile(r"[A-Za-z0-9._~-]*", re.ASCII)
_NOT_UNRESERVED = re.compile(r"[^A-Za-z0-9._~-]", re.ASCII)


def _escape(match: re.Match[str]) -> str:
    if match[0] == "'":
        return "''"
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8"))
