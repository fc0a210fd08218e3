"""What the server is told when it starts: where it listens, where it keeps its data, whose data it is."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HOST = "127.0.0.1"
PORT = 10002
"""Where every emulator of the service listens, and what `UseDevelopmentStorage=true` means to the SDKs."""
DATA = Path("rowkey-data")

_NAME = re.compile(r"[a-z0-9]{3,24}")


@dataclass(frozen=True, slots=True)
class Account:
    """A storage account; `keys` are its primary and secondary key, decoded."""

    name: str
    keys: tuple[bytes, ...] = field(repr=False)


DEVELOPMENT_ACCOUNT = Account(
    "devstoreaccount1",
    (base64.b64decode("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="),),
)
"""The account of every emulator, with its published key."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one server; `data` is the folder of its store, None for a store in memory."""

    host: str = HOST
    port: int = PORT
    data: Path | None = DATA
    accounts: Mapping[str, Account] = field(default_factory=lambda: {DEVELOPMENT_ACCOUNT.name: DEVELOPMENT_ACCOUNT})


def parse_account(text: str) -> Account:
    """Read `NAME:KEY` or `NAME:KEY:KEY2`, the keys in base64; raises ValueError, without repeating a key."""
    name, *keys = text.split(":")
    if not _NAME.fullmatch(name):
        raise ValueError(f"The account name {name!r} must be 3 to 24 lower-case letters and digits.")
    if not 1 <= len(keys) <= 2:
        raise ValueError(f"The account {name!r} must be given with one or two keys, as {name}:KEY or {name}:KEY:KEY2.")
    return Account(name, tuple(_parse_key(key, name) for key in keys))


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


def connection_string(settings: Settings, account: Account, port: int) -> str:
    """What an SDK on this machine is given to use `account`; `port` is the one that was chosen for port 0."""
    key = base64.b64encode(account.keys[0]).decode()
    endpoint = f"{format_url(_reachable(settings.host), port)}/{account.name}"
    return f"DefaultEndpointsProtocol=http;AccountName={account.name};AccountKey={key};TableEndpoint={endpoint};"


def format_url(host: str, port: int) -> str:
    """`http://host:port`, with the brackets of an IPv6 address."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _reachable(host: str) -> str:
    """An address to connect to, where a server listens on all of them."""
    return {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
