"""A client of one account's tables on a running server, for the commands that need one.

It speaks the REST API alone, so what it asks may be Rowkey, the service itself, or another emulator.
"""

import base64
import json
import os
import ssl
import sys
import time
from collections.abc import Callable, Collection, Iterator
from email.utils import formatdate
from http.client import BadStatusLine, HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode, urlsplit

from rowkey.auth.shared_key import SigningKey
from rowkey.config import DEVELOPMENT_ACCOUNT, HOST, PORT

FAILURE_EXIT_CODE = 1
USAGE_EXIT_CODE = 2
CONNECTION_STRING_VARIABLE = "AZURE_STORAGE_CONNECTION_STRING"
"""Where the `az` command looks for it, too."""
_VERSION = "2019-02-02"
_SECONDS_MAX = 60
_BUSY = frozenset({408, 429, 500, 502, 503, 504})
_PAUSES = (1.0, 2.0, 4.0)
"""Seconds to wait before a busy server is asked again."""
_UNTRUSTED = frozenset({18, 19, 20, 21})
"""What OpenSSL says of a certificate that nobody known vouches for; others have expired, or have another name."""
_T = TypeVar("_T")


class CommandError(Exception):
    """What was asked for was not done; the text says why, and what to do."""


class Endpoint(NamedTuple):
    """An account's tables: the URL without a slash at the end, and the credentials."""

    url: str
    account: str
    key: bytes = b""
    signature: str = ""
    """A shared access signature, where there is no key."""


class Answer(NamedTuple):
    """An answer that is a success; `headers` have lower-case names."""

    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """Asks one account's tables, over one connection that is kept."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._key = SigningKey(endpoint.key)
        self._connection: HTTPConnection | None = None

    @property
    def url(self) -> str:
        """The account's, without a slash at the end."""
        return self._endpoint.url

    def close(self) -> None:
        """Close the connection; a later request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def tables(self) -> Iterator[str]:
        """The names of all tables."""
        options = ""
        while True:
            answer = self.send("GET", "/Tables", options, what="list the tables")
            yield from self.read(answer, lambda body: [str(table["TableName"]) for table in body["value"]])
            following = answer.headers.get("x-ms-continuation-nexttablename")
            if not following:
                return
            options = urlencode({"NextTableName": following})

    def read(self, answer: Answer, read: Callable[[Any], _T]) -> _T:
        """What `read` makes of the JSON of an answer; raises CommandError where it is another's."""
        try:
            return read(json.loads(answer.body))
        except (ValueError, LookupError, TypeError):
            raise CommandError(f"What answers at {self.url} is no Rowkey: start one, or {_ELSEWHERE}") from None

    def send(
        self,
        method: str,
        path: str,
        query: str = "",
        *,
        what: str,
        body: bytes | None = None,
        content_type: str = "application/json",
        accepted: Collection[str] = (),
    ) -> Answer:
        """The answer to a request for `path` below the account; errors with a code in `accepted` are answers, too.

        A request is sent again where the server has closed the connection meanwhile or is busy, so it must be one that
        may be done twice. Raises CommandError, in which `what` says what was asked for.
        """
        url = urlsplit(self.url + path)
        options = "&".join(filter(None, (query, self._endpoint.signature)))
        target = f"{url.path}?{options}" if options else url.path
        resource = f"{url.path}?comp=indexes" if query.startswith("comp=indexes") else url.path
        pauses = list(_PAUSES)
        while True:
            headers = self._sign(method, resource, None if body is None else content_type)
            answer, reason = self._exchange(method, target, body, headers)
            if answer.status < 300:
                return answer
            code, text = explain(answer.body)
            if code in accepted:
                return answer
            if answer.status not in _BUSY or not pauses:
                break
            time.sleep(pauses.pop(0))
        said = f"{code}: {text}" if code else f"{answer.status} {reason}."
        if code == "AuthenticationFailed":
            said += " Compare AccountKey and the two clocks; the server's log says which."
        if code == "ResourceNotFound" and method != "DELETE":
            said += f" The server has no account {self._endpoint.account}."
        raise CommandError(f"{self.url} refused to {what}: {said}")

    def _sign(self, method: str, resource: str, content_type: str | None) -> dict[str, str]:
        """The headers of a request, with its Shared Key if there is one."""
        date = formatdate(usegmt=True)
        headers = {"x-ms-date": date, "x-ms-version": _VERSION, "Accept": "application/json;odata=minimalmetadata"}
        if content_type is not None:
            headers["Content-Type"] = content_type
        if self._endpoint.key:
            text = f"{method}\n\n{content_type or ''}\n{date}\n/{self._endpoint.account}{resource}"
            signature = base64.b64encode(self._key.sign(text)).decode("ascii")
            headers["Authorization"] = f"SharedKey {self._endpoint.account}:{signature}"
        return headers

    def _exchange(self, method: str, target: str, body: bytes | None, headers: dict[str, str]) -> tuple[Answer, str]:
        """An answer of whatever status, and its reason phrase."""
        while True:
            is_new = self._connection is None
            connection = self._connection = self._connection or self._connect()
            try:
                connection.request(method, target, body, headers)
                response = connection.getresponse()
                content = response.read()
            except (OSError, HTTPException) as error:
                self.close()
                if not is_new:
                    continue
                advice = _advise(error, urlsplit(self.url).scheme)
                raise CommandError(f"No answer from {self.url}: {error}. {advice}".rstrip()) from None
            answered = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, answered, content), response.reason

    def _connect(self) -> HTTPConnection:
        url = urlsplit(self.url)
        kind, port = (HTTPSConnection, 443) if url.scheme == "https" else (HTTPConnection, 80)
        return kind(url.hostname or "", url.port or port, timeout=_SECONDS_MAX)


def run_with_client(connection_string: str | None, work: Callable[[Client], None]) -> int:
    """Do the work of a command, tell what goes wrong, and return the exit code.

    The client is that of the account which the connection string names, else the environment; without either it is that
    of the development account.
    """
    text = connection_string or os.environ.get(CONNECTION_STRING_VARIABLE, "")
    try:
        client = Client(parse_connection_string(text) if text else _DEVELOPMENT)
    except ValueError as error:
        print(f"rowkey: {error}", file=sys.stderr)
        return USAGE_EXIT_CODE
    try:
        work(client)
    except (CommandError, OSError) as error:
        text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
        print(f"rowkey: {text}", file=sys.stderr)
        return FAILURE_EXIT_CODE
    finally:
        client.close()
    return 0


def parse_connection_string(text: str) -> Endpoint:
    """The endpoint that an SDK would use; raises ValueError, without repeating a key."""
    parts = {
        name.strip().lower(): value.strip() for name, _, value in (item.partition("=") for item in text.split(";"))
    }
    if parts.get("usedevelopmentstorage", "").lower() == "true":
        return _DEVELOPMENT
    account, key = parts.get("accountname", ""), parts.get("accountkey", "")
    signature, endpoint = parts.get("sharedaccesssignature", "").removeprefix("?"), parts.get("tableendpoint", "")
    if signature and endpoint and not key:
        if not _is_url(endpoint) or not (signature.isascii() and signature.isprintable() and " " not in signature):
            raise ValueError("The TableEndpoint and the SharedAccessSignature are not what a client can ask with.")
        return Endpoint(endpoint.rstrip("/"), account, signature=signature)
    if not account or not key:
        raise ValueError(
            "The connection string has neither AccountName and AccountKey nor TableEndpoint and SharedAccessSignature."
        )
    if not (account.isascii() and account.isprintable()):
        raise ValueError(f"The AccountName {account!r} is not that of an account: lower-case letters and digits.")
    suffix = parts.get("endpointsuffix", "core.windows.net")
    url = parts.get("tableendpoint") or f"{parts.get('defaultendpointsprotocol', 'https')}://{account}.table.{suffix}"
    if not _is_url(url):
        raise ValueError(f"The TableEndpoint {url!r} is not the URL of a server, as in http://127.0.0.1:{PORT}/name.")
    try:
        return Endpoint(url.rstrip("/"), account, base64.b64decode(key, validate=True))
    except ValueError:
        raise ValueError("The AccountKey of the connection string is not base64.") from None


def _is_url(text: str) -> bool:
    """Whether a server can be asked at this URL."""
    try:
        url = urlsplit(text)
        host = (url.hostname or "").encode("idna")
        is_port = url.port is None or url.port > 0
    except ValueError:
        return False
    is_text = text.isascii() and text.isprintable() and not set(text) & set(" ?#")
    return url.scheme in ("http", "https") and bool(host) and is_port and is_text


_DEVELOPMENT = Endpoint(
    f"http://{HOST}:{PORT}/{DEVELOPMENT_ACCOUNT.name}", DEVELOPMENT_ACCOUNT.name, DEVELOPMENT_ACCOUNT.keys[0]
)

_ELSEWHERE = f"say where it is with --connection-string or {CONNECTION_STRING_VARIABLE}."


def _advise(error: Exception, scheme: str) -> str:
    """What to do where there is no answer."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return "Trust its certificate: SSL_CERT_FILE=DIR/tls/cert.pem" if error.verify_code in _UNTRUSTED else ""
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return "The server speaks http: write http:// into the TableEndpoint."
    if isinstance(error, ConnectionResetError | BadStatusLine) and scheme == "http":
        return "Perhaps the server speaks https: write https:// into the TableEndpoint."
    return f"Start the server, or {_ELSEWHERE}"


def explain(body: bytes) -> tuple[str, str]:
    """The code and the message of an answer that is no success, empty where it has none."""
    try:
        error = json.loads(body)["odata.error"]
        return str(error["code"]), str(error["message"]["value"]).splitlines()[0]
    except (ValueError, LookupError, TypeError):
        return "", ""
