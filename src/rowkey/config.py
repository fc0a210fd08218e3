"""What the server is told when it starts: where it listens, where it keeps its data, whose data it is."""

import base64
import binascii
import re
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"
PORT = 10002
"""Where every emulator of the service listens, and what `UseDevelopmentStorage=true` means to the SDKs."""
DATA = Path("rowkey-data")

_NAME = re.compile(r"[a-z0-9]{3,24}")


@dataclass(frozen=True, slots=True)
class Account:
    """A storage account; `keys` are its primary and secondary key, decoded.

    `is_secret` says that the keys came by a way that keeps them to ourselves, a file or the environment: nothing that
    the server prints may have them.
    """

    name: str
    keys: tuple[bytes, ...] = field(repr=False)
    is_secret: bool = field(default=False, compare=False)


DEVELOPMENT_ACCOUNT = Account(
    "devstoreaccount1",
    (base64.b64decode("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="),),
)
"""The account of every emulator, with its published key."""
ACCOUNTS_VARIABLE = "ROWKEY_ACCOUNTS"
"""The environment's accounts, written as for Azurite's `AZURITE_ACCOUNTS`: `name:key[:key2];...`"""


@dataclass(frozen=True, slots=True)
class Tls:
    """The server's certificate with its chain, and the private key to it, both in PEM; None: the server makes them."""

    certificate: Path | None = None
    key: Path | None = None


class Role(Enum):
    """What a bearer may do; `rowkey.auth.roles` has the details."""

    NONE = "none"
    READER = "reader"
    CONTRIBUTOR = "contributor"
    OWNER = "owner"


EVERYBODY_ELSE = ""
"""In `Bearer.roles`: who has no role of their own, and whose token names none."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whose bearer tokens are accepted, and what they allow.

    `issuer` is the URL of an OpenID Connect issuer; None accepts whatever says that it comes from Entra ID, without a
    look at its signature. `keys` is a file with the issuer's public keys, None to fetch them. `roles` says who has
    which role, by object id (or `sub`) or group.
    """

    issuer: str | None
    keys: Path | None = None
    roles: Mapping[str, Role] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one server.

    `data` is the folder of its store, or beside a database (`store`, a URL) that of logs and certificates; None for
    none.
    """

    host: str = HOST
    port: int = PORT
    data: Path | None = DATA
    store: str | None = field(default=None, repr=False)
    accounts: Mapping[str, Account] = field(default_factory=lambda: {DEVELOPMENT_ACCOUNT.name: DEVELOPMENT_ACCOUNT})
    tls: Tls | None = None
    bearer: Bearer | None = None
    workers: int = 1
    """Processes that answer requests."""
    compress: bool = False
    """Whether large answers are compressed for clients that take it."""
    auto_index: bool = False
    """Whether tables are given indexes for filters that look at many entities again and again."""
    explorer: bool = True
    """Whether there is a page for people, at `/explorer`."""
    log_requests: bool = False
    slow_seconds: float | None = None
    """Requests that take longer are logged as warnings."""
    metrics_port: int | None = None
    """Where this machine alone can read figures and the server's health."""
    drain_seconds: float = 0.0
    """How long a server that is told to stop goes on as before, but for saying that it is not ready."""


def parse_account(text: str) -> Account:
    """Read `NAME:KEY` or `NAME:KEY:KEY2`, the keys in base64; raises ValueError, without repeating a key."""
    name, *keys = text.split(":")
    if not _NAME.fullmatch(name):
        raise ValueError(f"The account name {name!r} must be 3 to 24 lower-case letters and digits.")
    if not 1 <= len(keys) <= 2:
        raise ValueError(f"The account {name!r} must be given with one or two keys, as {name}:KEY or {name}:KEY:KEY2.")
    return Account(name, tuple(_parse_key(key, name) for key in keys))


def read_account_file(path: Path) -> list[Account]:
    """The accounts of a file, one `NAME:KEY[:KEY2]` a line, with blank lines and lines of comment after `#`.

    Raises ValueError, without repeating what may be a key.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"--account-file {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"--account-file {path} cannot be read: it is not a text file.") from None
    accounts = [
        _parse_secret(line, f"{path}, line {number},")
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not accounts:
        raise ValueError(f"--account-file {path} names no account: write NAME:KEY or NAME:KEY:KEY2, one a line.")
    return accounts


def read_account_variable(text: str) -> list[Account]:
    """The accounts of `ROWKEY_ACCOUNTS`; raises ValueError, without repeating what may be a key."""
    return [_parse_secret(item, ACCOUNTS_VARIABLE) for item in text.split(";") if item.strip()]


def _parse_secret(text: str, where: str) -> Account:
    text = text.strip()
    if not _NAME.fullmatch(text.partition(":")[0]):
        raise ValueError(f"{where} does not begin with the name of an account: 3 to 24 lower-case letters and digits.")
    return replace(parse_account(text), is_secret=True)


def is_readable_by_others(path: Path) -> bool:
    """Whether the mode of a file or folder lets others than its owner read it; Windows has no such mode."""
    return sys.platform != "win32" and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def _parse_key(text: str, account: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise ValueError(
            f"A key of the account {account!r} is not base64. Make one with: head -c 64 /dev/urandom | base64 --wrap=0"
        )
    return key


def parse_issuer(text: str) -> str:
    """Read the URL of an issuer; raises ValueError.

    What an issuer says decides who may read and write, so nobody on the way may change it: https, but on this machine.
    """
    try:
        url = urlsplit(text)
        host = url.hostname or ""
        is_url = bool(host) and (url.port is None or url.port > 0) and text.isascii() and text.isprintable()
    except ValueError:
        is_url, host = False, ""
    if not is_url or url.scheme not in ("http", "https") or set(text) & _NOT_IN_ISSUERS or "@" in url.netloc:
        raise ValueError(f"{text!r} is not the URL of an issuer, as in https://login.microsoftonline.com/TENANT/v2.0.")
    if url.scheme == "http" and not is_loopback(host):
        raise ValueError(f"The issuer {text} must be an https URL: http is only for issuers on this machine.")
    if _FOR_EVERYBODY.fullmatch(host + url.path):
        raise ValueError(f"The issuer {text} issues tokens to everybody: name your own tenant instead, by its id.")
    return text


_NOT_IN_ISSUERS = frozenset(" \"',=?#<>\\{}")
"""An issuer has no query and no fragment (OpenID Connect Discovery, 1.2); the others would break the challenge."""
_FOR_EVERYBODY = re.compile(r"login\.[a-z.]+/(common|organizations|consumers)(/.*)?")


def parse_store(text: str) -> str:
    """Read the URL of a database; raises ValueError, without repeating a password."""
    if not is_store(text):
        raise ValueError(
            "That is not the URL of a database. Write one as in postgresql://rowkey@db.example.org/rowkey."
        )
    try:
        url = urlsplit(text)
        parse_qs(url.query, strict_parsing=bool(url.query))
        hosts = url.netloc.partition("@")[2] if "@" in url.netloc else url.netloc
        ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts.split(",")]
    except ValueError:  # its text may have the password in it
        raise ValueError(f"The URL of the database cannot be read. {_PASSWORDS}") from None
    if "@" in hosts + url.path:
        raise ValueError(f"The URL of the database has more than one @. {_PASSWORDS}")
    if not all(port.isdecimal() and port.isascii() for port in ports if port):
        raise ValueError(f"The URL of the database has a port that is no number. {_PASSWORDS}")
    return text


_PASSWORDS = "In a password write %2F for /, %40 for @ and %3A for :, or give it in PGPASSWORD."


def is_store(text: str) -> bool:
    """Whether a text is the URL of a database."""
    return text.startswith(("postgresql://", "postgres://"))


def describe_store(url: str) -> str:
    """The URL of a database without its password and options."""
    place = url.partition("?")[0]
    scheme, _, rest = place.partition("://")
    user, at, hosts = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{hosts}"


def describe_lack(package: str | None) -> str:
    """That a package is not installed which databases need, and how to come by it."""
    return (
        f"needs {package}, which is not installed: in a checkout `make run` installs it, "
        "elsewhere pip install 'PATH-OF-CHECKOUT[postgres]'."
    )


def parse_role(text: str) -> tuple[str, Role]:
    """Read `ROLE` or `WHO=ROLE`: who, `EVERYBODY_ELSE` where nobody is named, and the role; raises ValueError."""
    who, equals, name = text.rpartition("=")
    try:
        role = Role(name)
    except ValueError:
        roles = ", ".join(role.value for role in Role)
        raise ValueError(f"{name!r} is not a role: choose one of {roles}.") from None
    if equals and not who.strip():
        raise ValueError(f"{text!r} names nobody: write OBJECT_ID={name}, or {name} alone for everybody else.")
    return who.strip(), role


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`, as far as its text tells."""
    return host in ("localhost", "::1") or _LOOPBACK.fullmatch(host) is not None


_LOOPBACK = re.compile(r"127(\.\d{1,3}){3}", re.ASCII)


def connection_string(settings: Settings, account: Account, port: int) -> str:
    """What an SDK on this machine is given to use `account`; `port` is the one that was chosen for port 0.

    It says `KEY` for one that is a secret.
    """
    key = "KEY" if account.is_secret else base64.b64encode(account.keys[0]).decode()
    url = format_url(settings, port, host=_reachable(settings.host))
    scheme = url.partition(":")[0]
    return (
        f"DefaultEndpointsProtocol={scheme};AccountName={account.name};AccountKey={key};"
        f"TableEndpoint={url}/{account.name};"
    )


def format_url(settings: Settings, port: int, *, host: str | None = None) -> str:
    """Where the server is, with the brackets of an IPv6 address; `host` instead of the one that it listens on."""
    host = settings.host if host is None else host
    scheme = "http" if settings.tls is None else "https"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _reachable(host: str) -> str:
    """An address to connect to, where a server listens on all of them or on this machine's.

    `azure-data-tables` takes `localhost` for Cosmos DB.
    """
    return {"": HOST, "0.0.0.0": HOST, "::": "::1", "localhost": HOST}.get(host, host)
