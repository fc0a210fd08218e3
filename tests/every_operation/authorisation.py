"""Kinds of authorisation, and what the service refuses each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.wire.request import Request
from tests.auth.conftest import account_sas, table_sas
from tests.every_operation.service import LIMITS
from tests.requests import ACCOUNT, add_sas, sign

if TYPE_CHECKING:
    from tests.every_operation.operations import Operation

BEARER_SINCE = "2017-11-09"


def with_table_sas(request: Request, _token: str) -> Request:
    version = request.headers["x-ms-version"]
    return add_sas(request, table_sas(ACCOUNT, sv=version, tn="Orders", sp="raud", **LIMITS))


def with_policy(request: Request, _token: str) -> Request:
    return add_sas(request, table_sas(ACCOUNT, sv=request.headers["x-ms-version"], tn="Orders", si="everything"))


def with_account_sas(request: Request, _token: str) -> Request:
    version = request.headers["x-ms-version"]
    return add_sas(request, account_sas(ACCOUNT, sv=version, ss="t", srt="sco", sp="rwdlacu", **LIMITS))


def with_token(request: Request, token: str) -> Request:
    return replace(request, headers={**request.headers, "authorization": f"Bearer {token}"}, is_secure=True)


KINDS: dict[str, Callable[[Request, str], Request]] = {
    "Shared Key": lambda request, _token: sign(request, "SharedKey"),
    "Shared Key Lite": lambda request, _token: sign(request, "SharedKeyLite"),
    "table SAS": with_table_sas,
    "SAS by policy": with_policy,
    "account SAS": with_account_sas,
    "bearer token": with_token,
    "anonymous": lambda request, _token: request,
}


def refusal(operation: Operation, kind: str, version: str) -> tuple[int, str] | None:
    """What the service refuses this kind of authorisation with, None where it can be granted the operation."""
    if kind == "anonymous" and operation.name != "Preflight Table Request":
        return (401, "NoAuthenticationInformation") if version >= BEARER_SINCE else (403, "AuthenticationFailed")
    if kind in ("table SAS", "SAS by policy") and not operation.is_on_entities:
        return 403, "AuthorizationFailure"
    if operation.name in ("Get Table ACL", "Set Table ACL"):
        return {"account SAS": (403, "AuthorizationFailure"), "bearer token": (404, "ResourceNotFound")}.get(kind)
    if operation.name == "Table Below Table":
        return 400, "PropertiesNeedValue" if operation.method == "POST" else "InvalidInput"
    return None
