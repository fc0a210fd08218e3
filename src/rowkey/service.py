"""The spine: one request becomes one answer, from top to bottom.

    Request -> address, version -> grant -> Call -> route -> permit -> options -> decode -> run -> respond -> Response

The order of the checks is the service's own. What all answers of a layer share is added at the end.
"""

import asyncio
import base64
import hashlib
import itertools
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache

from rowkey.auth.bearer import BEARER_SINCE, BearerAuthority
from rowkey.auth.grants import ANONYMOUS, OWNER
from rowkey.auth.sas import read_sas
from rowkey.auth.shared_key import SigningKey, read_signer, verify_shared_key
from rowkey.config import Settings
from rowkey.errors import (
    InsufficientAccountPermissions,
    InternalError,
    InvalidMd5,
    Layer,
    Md5Mismatch,
    ServiceError,
    TableNotFound,
    XMethodIncorrectCount,
    XMethodIncorrectValue,
    XMethodNotUsingPost,
)
from rowkey.model.access_policy import AccessPolicy
from rowkey.model.datetimes import now_ticks
from rowkey.model.rights import Grant
from rowkey.observe.analytics import Analytics
from rowkey.observe.transaction import Transaction
from rowkey.odata.options import read_timeout, verify_options
from rowkey.operations.operation import Operation
from rowkey.operations.recording import transaction_of
from rowkey.payload.access_policies import read_policies
from rowkey.payload.error_body import write_error
from rowkey.payload.service_properties import read_cors
from rowkey.router import READ_METHODS, route
from rowkey.store.interface import NO_SECTIONS, Store
from rowkey.wire.call import Call
from rowkey.wire.common_headers import common_headers
from rowkey.wire.compression import AT_ONCE_BYTES_MAX, compress, negotiate, replace_body
from rowkey.wire.cors import add_cors_headers
from rowkey.wire.prefer import read_preference
from rowkey.wire.request import Request, Response
from rowkey.wire.target import (
    ACCOUNT_ROOT,
    SECONDARY,
    Address,
    ResourceKind,
    read_address,
    read_component,
    read_options,
    read_resource,
    verify_query,
    without_signature,
)
from rowkey.wire.terms import Terms, fallback_terms, read_part_terms, read_terms
from rowkey.wire.version import ERROR_CODE_HEADER_SINCE, Version, choose_version

log = logging.getLogger(__name__)

Page = Callable[[Request], Awaitable[Response | None]]
"""Answers requests for something beside the accounts; None for any other."""

_TUNNELLED = frozenset({"MERGE", "PUT", "DELETE", "PATCH"})
_MADE_BY_POST = frozenset({ResourceKind.TABLES, ResourceKind.ENTITIES})


class Service:
    """Answers requests for the accounts of `settings` from `store`; without `bearer` no token is accepted."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        *,
        bearer: BearerAuthority | None = None,
        analytics: Analytics | None = None,
        pages: Sequence[Page] = (),
        observers: Sequence[Callable[[Transaction], None]] = (),
    ) -> None:
        """`pages` answer where a target names no account, the first that knows it; `observers` are told of every
        request that was answered, but for those.
        """
        self._store = store
        self._is_compressing = settings.compress
        self._analytics = analytics
        self._pages = pages
        self._observers = observers
        self._bearer = bearer
        self._keys = {account.name: [SigningKey(key) for key in account.keys] for account in settings.accounts.values()}
        self._accounts = frozenset(self._keys)
        start = secrets.token_hex(10)
        self._id_prefix = f"{start[:8]}-{start[8:12]}-{start[12:16]}-{start[16:20]}-"
        self._ids = itertools.count(1)

    async def handle(self, request: Request) -> Response:
        """The answer to a request; never raises but for cancellation."""
        request_id, now, terms = f"{self._id_prefix}{next(self._ids):012x}", now_ticks(), None
        properties = NO_SECTIONS
        address = grant = call = operation = result = failure = None
        options: dict[str, str] = {}
        headers = request.headers
        try:
            signer = read_signer(request) if request.target[1:2] == "$" else None
            address = read_address(request, self._accounts, signer=signer)
            properties = await self._store.get_properties(address.account)
            if address.query:
                options = read_options(address.query)
            version = headers.get("x-ms-version")
            terms = read_terms(
                choose_version(version, options) if "sig" in options and "authorization" not in headers else version,
                headers.get("accept"),
                options.get("$format"),
                headers.get("dataserviceversion"),
                headers.get("maxdataserviceversion"),
            )
            grant = await self._authenticate(request, address, options, terms.version, now)
            call = self._open(request, address, options, terms, grant, request_id, now)
            operation = _decode(call)
            try:
                result = await operation.run(self._store, address.account)
            except TableNotFound:  # a store that others use too may have remembered one that was made anew since
                result = await operation.run(self._store, address.account)
            response = operation.respond(call, result)
            response.headers = common_headers(request, terms.version, request_id, response.layer) + response.headers
        except ServiceError as error:
            failure = type(error)
            if address is None:
                for answer in self._pages:
                    page = await answer(request)
                    if page is not None:
                        return page
            if "comp" in options and error.layer in (Layer.ENGINE, Layer.LIBRARY):
                error.layer = Layer.FRONT_END  # which alone looks after these addresses
            response = _refuse(error, request, terms, request_id, now, call)
        except Exception:
            failure = InternalError
            log.exception("request %s failed: %s %s", request_id, request.method, without_signature(request.target))
            response = _refuse(InternalError(), request, terms, request_id, now)
        if "Cors" in properties:
            add_cors_headers(request, response, read_cors(properties["Cors"]))
        if self._is_compressing and negotiate(request, response):
            body = response.body
            is_small = len(body) <= AT_ONCE_BYTES_MAX
            replace_body(response, compress(body) if is_small else await asyncio.to_thread(compress, body))
        is_recorded = False
        if self._analytics is not None and address is not None:
            properties_now = await self._store.get_properties(address.account)
            is_recorded = self._analytics.is_on(address.account, properties_now)
        if is_recorded or self._observers:
            transaction = transaction_of(
                request,
                response,
                request_id=request_id,
                started=now,
                ended=now_ticks(),
                address=address,
                grant=grant,
                call=call,
                operation=operation or _asked_for(call),
                result=result,
                error=failure,
            )
            if is_recorded and self._analytics is not None:
                self._analytics.record(transaction)
            for observe in self._observers:
                observe(transaction)
        return response

    async def _authenticate(
        self, request: Request, address: Address, options: Mapping[str, str], version: Version, now: int
    ) -> Grant:
        """What the request's credentials allow: those of Authorization, or of a signature in the query, or none."""
        if request.method == "OPTIONS":
            return ANONYMOUS
        authorization = request.headers.get("authorization")
        if authorization is None and "sig" in options:
            return await self._authenticate_sas(request, address, options, now)
        if self._bearer is not None:
            if authorization is None:
                if (version.text or "") >= BEARER_SINCE:
                    raise self._bearer.challenge()
            elif authorization[:7].lower() == "bearer ":
                token = authorization[7:].strip()
                named = version.text or ""
                return await self._bearer.authenticate(token, address.account, named, request.is_secure)
        verify_shared_key(request, address, options.get("comp"), self._keys, time.time())
        return OWNER

    async def _authenticate_sas(
        self, request: Request, address: Address, options: Mapping[str, str], now: int
    ) -> Grant:
        """What a shared access signature allows; a stored policy that it names is looked up for each request."""
        sas = read_sas(options)
        policies: Sequence[AccessPolicy] = ()
        if sas.policy:
            policies = await self._stored_policies(address.account, sas.table)
        keys = self._keys[address.account]
        return sas.verify(address.account, keys, policies, now=now, peer=request.peer, is_secure=request.is_secure)

    async def _stored_policies(self, account: str, name: str) -> Sequence[AccessPolicy]:
        """The stored access policies of the table of that name, as they are now."""
        while (table := await self._store.find_table(account, name)) is not None:
            try:
                return read_policies(await self._store.get_policies(table))
            except TableNotFound:  # deleted by another process, and perhaps made anew: found no second time
                continue
        return ()

    def refuse(self, error: ServiceError, request: Request | None = None) -> Response:
        """The answer to bytes that never became a request, or to one whose body was refused unread."""
        request_id, now = f"{self._id_prefix}{next(self._ids):012x}", now_ticks()
        request = request or Request("", "", {})
        response = _refuse(error, request, None, request_id, now)
        if self._observers:
            transaction = transaction_of(
                request, response, request_id=request_id, started=now, ended=now, error=type(error)
            )
            for observe in self._observers:
                observe(transaction)
        return response

    def _open(
        self,
        request: Request,
        address: Address,
        options: dict[str, str],
        terms: Terms,
        grant: Grant,
        request_id: str,
        now: int,
    ) -> Call:
        """A request as a call: its resource, its method after X-HTTP-Method, its options."""
        headers = request.headers
        method = _read_method(request) if "x-http-method" in headers else request.method
        resource = ACCOUNT_ROOT if method == "OPTIONS" else read_resource(address.path)
        if address.is_secondary and method not in READ_METHODS and resource.kind is not ResourceKind.BATCH:
            raise InsufficientAccountPermissions
        if "content-md5" in headers:
            _verify_md5(request)
        if "comp" in options and method != "OPTIONS":
            resource = read_component(resource, options["comp"], options.get("restype"))
        return Call(
            request, method, address, resource, options, *terms, grant, request_id, now, self._open_part, _decode
        )

    def _open_part(self, outer: Call, request: Request) -> Call:
        """The call that a part of a batch makes: only the path and query of its URL count, whatever its host."""
        address, options = _read_part_target(request.target, outer.address)
        terms = read_part_terms(outer.version, request.headers.get("accept"), options.get("$format"))
        return self._open(request, address, options, terms, outer.grant, outer.request_id, outer.now)


@lru_cache(maxsize=256)
def _read_part_target(target: str, outer: Address) -> tuple[Address, dict[str, str]]:
    """The address and the options of a part's URL; inserts into one table all have the same."""
    if not target.startswith("/"):
        _, scheme, rest = target.partition("://")
        target = f"/{rest.partition('/')[2] if scheme else target}"
    path, _, query = target.partition("?")
    if outer.is_path_style:
        for segment in (f"/{outer.account}", f"/{outer.account}{SECONDARY}"):
            if path == segment or path.startswith(segment + "/"):
                path = path[len(segment) :] or "/"
                break
    return outer._replace(path=path, query=query), read_options(query) if query else {}


def _decode(call: Call) -> Operation:
    """The operation that a call asks for, if whoever asks may do it; parts of batches come this way too."""
    operation_type = route(call)
    grant = call.grant
    grant.permit(operation_type.right, call.resource.table)
    if call.address.query and call.method != "OPTIONS":
        _verify_options(call)
    operation = operation_type.decode(call)
    if grant.key_range is not None and not operation.confine(grant.key_range):
        raise grant.outside()
    return operation


def _verify_options(call: Call) -> None:
    """Raise what is wrong with the options that all operations have; OData's own mean nothing to the front end."""
    options = call.options
    read_timeout(options.get("timeout"))
    if "comp" not in options:
        verify_query(call.address.query)
        verify_options(options)


def _asked_for(call: Call | None) -> type[Operation] | None:
    """The operation of a call that could not be decoded, as far as it can be told."""
    try:
        return None if call is None else route(call)
    except ServiceError:
        return None


def _read_method(request: Request) -> str:
    """The method that X-HTTP-Method names in a POST."""
    tunnelled = request.headers["x-http-method"]
    if "," in tunnelled:
        raise XMethodIncorrectCount
    if request.method != "POST":
        raise XMethodNotUsingPost
    if tunnelled.strip().upper() not in _TUNNELLED:
        raise XMethodIncorrectValue
    return tunnelled.strip().upper()


def _verify_md5(request: Request) -> None:
    try:
        stated = base64.b64decode(request.headers["content-md5"], validate=True)
    except ValueError:
        raise InvalidMd5 from None
    if len(stated) != 16:
        raise InvalidMd5
    if stated != hashlib.md5(request.body, usedforsecurity=False).digest():
        raise Md5Mismatch


def _refuse(
    error: ServiceError, request: Request, terms: Terms | None, request_id: str, now: int, call: Call | None = None
) -> Response:
    """The answer for an error; `terms` and `call` are None where it did not get so far."""
    version, wanted = terms or _stated_terms(request)
    content_type, body = write_error(error, wanted=wanted, version=version, request_id=request_id, now=now)
    headers = common_headers(request, version, request_id, error.layer)
    is_front_end = error.layer in (Layer.FRONT_END, Layer.BARE_FRONT_END)
    if is_front_end and (version.text or "") >= ERROR_CODE_HEADER_SINCE:
        headers.append(("x-ms-error-code", error.code))
    if not is_front_end and call is not None and call.method == "POST" and call.resource.kind in _MADE_BY_POST:
        preference = read_preference(request, version)
        if preference is not None:
            headers.append(("Preference-Applied", preference))
    headers += [*error.headers, ("Content-Type", content_type)]
    # The front end puts its text there too, but says plainly that something is forbidden (asserted by a client suite).
    has_own_phrase = error.layer not in (Layer.ENGINE, Layer.LIBRARY) and error.status != 403
    phrase = error.text if has_own_phrase or version.text is None else None
    return Response(error.status, headers, body, phrase, error.layer)


def _stated_terms(request: Request) -> Terms:
    """The terms of a request that was refused before all that says them was read, or has no head that can be read."""
    headers = request.headers
    try:
        if request.method:
            return read_terms(headers.get("x-ms-version"), headers.get("accept"), None)
    except ServiceError:
        pass
    return fallback_terms(headers.get("accept"))
