"""Whose tokens the tests are about."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

from rowkey.auth.token import (
    Issuer,
    read_issuer,
)
from rowkey.model.rights import Right

if TYPE_CHECKING:
    from tests.conftest import TokenIssuer


ACCOUNT = "contoso"
VERSION = "2020-12-06"
TENANT = "11111111-2222-3333-4444-555555555555"
V1 = f"https://sts.windows.net/{TENANT}/"
V2 = f"https://login.microsoftonline.com/{TENANT}/v2.0"
PERSON = "aaaaaaaa-0000-0000-0000-000000000001"
READER = {Right.LIST_TABLES, Right.QUERY}
CONTRIBUTOR = READER | {
    *(Right.CREATE_TABLE, Right.DELETE_TABLE, Right.INSERT, Right.CHANGE, Right.UPSERT, Right.DELETE),
}


def known(issuer: TokenIssuer, name: str | None = None) -> Issuer:
    """The issuer as the server knows it."""
    return read_issuer(name or issuer.url, json.dumps(issuer.key_set()).encode())


def part(value: object) -> str:
    """A part of a token."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
