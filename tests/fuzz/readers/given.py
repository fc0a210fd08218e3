"""What readers are given beside strangers' bytes: the account, the time, a version, the limits of a server."""

from __future__ import annotations

from rowkey.auth.shared_key import SigningKey
from rowkey.config import DEVELOPMENT_ACCOUNT
from rowkey.model.datetimes import parse_datetime
from rowkey.server.limits import Limits

ACCOUNT = DEVELOPMENT_ACCOUNT.name
ACCOUNTS = frozenset({ACCOUNT})
KEYS = {ACCOUNT: [SigningKey(key) for key in DEVELOPMENT_ACCOUNT.keys]}
NOW = parse_datetime("2026-08-03T10:15:30Z")
UNIX_NOW = 1_785_752_130.0
NEWEST = "2019-02-02"
LIMITS = Limits(head_bytes_max=4096, target_bytes_max=2048, headers_max=40, body_bytes_max=8192)
