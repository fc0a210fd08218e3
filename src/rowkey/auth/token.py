"""JSON Web Tokens (RFC 7519): is this one signed by its issuer, is it for us, and is it valid now?

    token -> header: algorithm and kid -> key -> signature -> claims: issuer, audience, times -> Claims

The signature is PyJWT's affair, with public-key algorithms only, and of these with those that the key is for: `none`,
and the HMACs that would take a public key for a secret, do not exist here (RFC 8725, 2.1 and 3.1). The claims are
checked here, because the time is an argument, and because Entra ID calls itself by two names.
"""

import binascii
import logging
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK, PyJWS, PyJWTError

from rowkey.auth.bearer import RESOURCE, TOKEN_LENGTH_MAX

log = logging.getLogger(__name__)

LEEWAY_SECONDS = 60
"""How far the issuer's clock may be from ours. PyJWT: 0; Microsoft's libraries: 300, where their tokens begin 300 s
before they are issued, so that the beginning needs no leeway; 60 is for the end, and for issuers that do not do so."""
RSA_BITS_MIN = 2048
KEYS_MAX = 200
"""Entra ID has about ten."""

_RSA_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_EC_ALGORITHMS = {"P-256": ("ES256",), "P-384": ("ES384",), "P-521": ("ES512",)}
_JWS = PyJWS(algorithms=[*_RSA_ALGORITHMS, "ES256", "ES384", "ES512"], options={"enforce_minimum_key_length": True})

_CLOUDS = ("windows.net", "chinacloudapi.cn", "usgovcloudapi.net", "cloudapi.de")
"""What the addresses of accounts end in."""
_APPLICATION_IDS = ("e406a681-f3d4-42a8-90b6-c2b029497af1",)
"""Azure Storage, as an application of Entra ID: what some of its tokens have as audience."""


class TokenRefused(Exception):
    """A token is not accepted; the text says why, for the log. It holds nothing of the token but its key's id."""


class UnknownKey(TokenRefused):
    """The token names a key that is not known, or not yet."""


class KeysNotReadable(Exception):
    """A set of keys or an issuer's metadata make no sense; the text says why."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a token says, as far as it matters here; times are Unix times."""

    expires: float
    roles: tuple[str, ...]
    principals: tuple[str, ...]
    is_delegate_allowed: bool


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One public key, and what it may be used with."""

    key: EllipticCurvePublicKey | RSAPublicKey
    algorithms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Issuer:
    """Who issues tokens: under which names, with which keys, and where a client gets them."""

    names: frozenset[str]
    authorization_uri: str
    keys: Mapping[str, SigningKey]


# ---------------------------------------------------------------- tokens


def verify_token(token: str, issuer: Issuer, account: str, now: float) -> Claims:
    """What a token says that `issuer` has signed, for `account`, valid at `now`; raises TokenRefused."""
    key = _find_key(_read_header(token), issuer.keys)
    try:
        payload: bytes = _JWS.decode(token, key.key, algorithms=key.algorithms)
    except PyJWTError as error:
        raise TokenRefused(f"its signature is not good: {error}") from None
    claims = _read_object(payload, "claims")
    if str(claims.get("iss")) not in issuer.names:
        raise TokenRefused(f"its issuer is {_show(claims.get('iss'))}, not {' or '.join(sorted(issuer.names))}")
    return _verify_claims(claims, account, now)


def verify_unsigned(token: str, account: str, now: float) -> Claims:
    """What a token says that looks like one of Entra ID; whoever made it. Raises TokenRefused."""
    _read_header(token)
    try:
        payload: bytes = _JWS.decode(token, options={"verify_signature": False})
    except PyJWTError as error:
        raise TokenRefused(f"it is not a token: {error}") from None
    claims = _read_object(payload, "claims")
    if entra_tenant(_DOUBLED_SLASH.sub("/", str(claims.get("iss")))) is None:
        raise TokenRefused(f"its issuer is {_show(claims.get('iss'))}, which is not Entra ID")
    return _verify_claims(claims, account, now)


_DOUBLED_SLASH = re.compile("(?<!:)//+")
"""Tools that make such tokens join the issuer's address and the tenant carelessly, and Azurite lets them."""


def _read_header(token: str) -> dict[str, Any]:
    """The header, read before anything that takes longer."""
    if len(token) > TOKEN_LENGTH_MAX:
        raise TokenRefused(f"it is longer than {TOKEN_LENGTH_MAX} characters")
    if token.count(".") != 2:
        raise TokenRefused("it is not a JSON Web Token: it has no three parts")
    text = token.partition(".")[0]
    try:
        return _read_object(urlsafe_b64decode(text + "=" * (-len(text) % 4)), "header")
    except (binascii.Error, ValueError):
        raise TokenRefused("its header is not base64") from None


def _find_key(header: dict[str, Any], keys: Mapping[str, SigningKey]) -> SigningKey:
    """The key that a header names; without a name the issuer's only key."""
    kid = header.get("kid")
    if kid is None and len(keys) == 1:
        key = next(iter(keys.values()))
    elif isinstance(kid, str) and kid in keys:
        key = keys[kid]
    else:
        raise UnknownKey(f"it is signed with the key {_show(kid)}, which its issuer does not have")
    if header.get("alg") not in key.algorithms:
        raise TokenRefused(f"its algorithm is {_show(header.get('alg'))}, not {' or '.join(key.algorithms)}")
    return key


def _verify_claims(claims: dict[str, Any], account: str, now: float) -> Claims:
    if not _audiences(account) & set(_texts(claims.get("aud"))):
        raise TokenRefused(f"its audience is {_show(claims.get('aud'))}, not {RESOURCE}")
    expires = _read_time(claims, "exp")
    if expires is None:
        raise TokenRefused("it does not say when it expires")
    if now >= expires + LEEWAY_SECONDS:
        raise TokenRefused(f"it has expired {now - expires:.0f} seconds ago")
    begins = _read_time(claims, "nbf")
    if begins is not None and now < begins - LEEWAY_SECONDS:
        raise TokenRefused(f"it becomes valid only in {begins - now:.0f} seconds")
    return Claims(
        expires=expires + LEEWAY_SECONDS,
        roles=tuple(_texts(claims.get("roles"))),
        principals=tuple(_texts([claims.get("oid"), claims.get("sub")])) + tuple(_texts(claims.get("groups"))),
        is_delegate_allowed="scp" not in claims or "user_impersonation" in _words(claims["scp"]),
    )


def _audiences(account: str) -> set[str]:
    """Whom a token may be for: the service, or this account."""
    hosts = RESOURCE, *(f"https://{account}.table.core.{cloud}" for cloud in _CLOUDS)
    return {*_APPLICATION_IDS, *hosts, *(f"{host}/" for host in hosts)}


def _read_time(claims: dict[str, Any], name: str) -> float | None:
    """A NumericDate (RFC 7519, 2)."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TokenRefused(f"its claim {name} is not a time")
    return float(value)


def _words(value: object) -> Iterator[str]:
    """Scopes: a text with blanks between them, or a list."""
    for text in _texts(value):
        yield from text.split()


def _texts(value: object) -> Iterator[str]:
    """The texts of a claim that is one or a list of them."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and text:
            yield text


def _read_object(data: bytes, part: str) -> dict[str, Any]:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise TokenRefused(f"its {part} cannot be read as a JSON object")
    return value


def _show(value: object) -> str:
    """A claim for the log: a stranger's text, so it is kept short and on one line."""
    return repr(value)[:200]


# ---------------------------------------------------------------- keys


def read_issuer(name: str, key_set: bytes, metadata: bytes | None = None) -> Issuer:
    """An issuer of this name with the keys of a JWK set (RFC 7517), as its metadata describe it, where there are some.

    Raises KeysNotReadable where no key is left, or where the metadata are another issuer's.
    """
    described = read_metadata(name, metadata) if metadata is not None else {}
    names = frozenset(_spellings(described.get("issuer", name)))
    keys = dict(_read_keys(key_set, names))
    if not keys:
        raise KeysNotReadable("there is no key to verify signatures with: RSA of 2048 bits or more, or P-256 to P-521")
    return Issuer(names, authorization_uri(name, described.get("authorization_endpoint")), keys)


def read_metadata(name: str, text: bytes) -> dict[str, str]:
    """What an issuer says of itself (OpenID Connect Discovery, 4.2): `issuer`, `jwks_uri`, `authorization_endpoint`.

    An issuer must go by the name that it was asked for (4.3). Entra ID is excepted, which answers for a tenant's domain
    with the tenant's id, and at the addresses of one of its versions with the name of the other.
    """
    try:
        value = orjson.loads(text)
        said = {field: str(value[field]) for field in ("issuer", "jwks_uri")}
        if isinstance(endpoint := value.get("authorization_endpoint"), str):
            said["authorization_endpoint"] = endpoint
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise KeysNotReadable("the metadata are not those of an OpenID Connect issuer") from None
    issuer = said["issuer"]
    if "{" in issuer:
        raise KeysNotReadable(f"the issuer {issuer} issues tokens to everybody: name your own tenant instead")
    is_entra = entra_tenant(issuer) is not None and urlsplit(name).hostname in _ENTRA_HOSTS
    if issuer.rstrip("/") != name.rstrip("/") and not is_entra:
        raise KeysNotReadable(f"the issuer calls itself {issuer}, and not {name}")
    return said


def authorization_uri(name: str, endpoint: str | None = None) -> str:
    """Where clients are sent for tokens: to what the metadata say, else to where Entra ID would have it."""
    if endpoint is not None and _URL.fullmatch(endpoint):
        return endpoint
    return f"{name.rstrip('/').removesuffix('/v2.0')}/oauth2/authorize"


_URL = re.compile(r"https?://[A-Za-z0-9.\-_~:/%\[\]]+")
"""Without anything at which a client would split the challenge."""


def _read_keys(text: bytes, names: frozenset[str]) -> Iterator[tuple[str, SigningKey]]:
    """The keys that are for signatures; others of a set are passed over, as RFC 7517, 5 asks."""
    try:
        members = orjson.loads(text)["keys"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        members = None
    if not isinstance(members, list):
        raise KeysNotReadable('it is not a JWK set: a JSON object with the keys in "keys"')
    for member in members[:KEYS_MAX]:
        if isinstance(member, dict) and _is_for_signatures(member) and _is_of(member.get("issuer"), names):
            key = _read_key(member)
            if key is not None:
                yield str(member.get("kid", "")), key


def _is_for_signatures(member: dict[str, Any]) -> bool:
    return member.get("use", "sig") == "sig" and "verify" in _texts(member.get("key_ops", "verify"))


def _is_of(template: object, names: frozenset[str]) -> bool:
    """Whether a key is for one of these issuers: those of Entra ID say so, sometimes with a gap for the tenant's id."""
    if not isinstance(template, str) or template in names:
        return True
    tenants = {tenant for name in names if (tenant := entra_tenant(name))}
    return any(
        spelling in names for tenant in tenants for spelling in _spellings(template.replace("{tenantid}", tenant))
    )


def _read_key(member: dict[str, Any]) -> SigningKey | None:
    kind, curve = member.get("kty"), str(member.get("crv"))
    allowed: tuple[str, ...] = ()
    if kind == "RSA":
        allowed = _RSA_ALGORITHMS
    elif kind == "EC":
        allowed = _EC_ALGORITHMS.get(curve, ())
    if member.get("alg") is not None:
        allowed = tuple(name for name in allowed if name == member["alg"])
    if not allowed:
        return None
    public: dict[str, Any] = {name: value for name, value in member.items() if name in _PUBLIC_MEMBERS}
    try:
        key = PyJWK.from_dict(public, allowed[0]).key
    except (PyJWTError, ValueError, TypeError, KeyError):
        log.warning("the key %s is passed over: it cannot be read", _show(member.get("kid")))
        return None
    if isinstance(key, RSAPublicKey) and key.key_size < RSA_BITS_MIN:
        log.warning("the key %s is passed over: RSA keys need %d bits", _show(member.get("kid")), RSA_BITS_MIN)
        return None
    return SigningKey(key, allowed) if isinstance(key, RSAPublicKey | EllipticCurvePublicKey) else None


_PUBLIC_MEMBERS = ("kty", "n", "e", "crv", "x", "y")
"""What of a key is read. Somebody may have put the private key into the set: it stays unread."""


# ---------------------------------------------------------------- names

_ENTRA = (
    (r"https://sts\.windows\.net/{}/", r"https://login\.microsoftonline\.com/{}/v2\.0"),
    (r"https://sts\.windows\.net/{}/", r"https://login\.microsoftonline\.us/{}/v2\.0"),
    (r"https://sts\.chinacloudapi\.cn/{}/", r"https://login\.partner\.microsoftonline\.cn/{}/v2\.0"),
    (r"https://sts\.microsoftonline\.de/{}/", r"https://login\.microsoftonline\.de/{}/v2\.0"),
    (r"https://sts\.windows-ppe\.net/{}/", r"https://login\.windows-ppe\.net/{}/v2\.0"),
)
"""How Entra ID names itself in tokens of version 1 and 2. It is the resource that chooses: a client that asks the
second for a token for storage gets one of version 1, which has the first name and is signed with the same keys."""
_TENANT = r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
_ENTRA_NAMES = tuple(tuple(re.compile(name.format(_TENANT)) for name in names) for names in _ENTRA)
_ENTRA_HOSTS = {urlsplit(name.replace("\\", "")).hostname for names in _ENTRA for name in names}


def entra_tenant(name: str) -> str | None:
    """The id of the tenant that an issuer's name holds, None for an issuer that is not Entra ID."""
    for names in _ENTRA_NAMES:
        for pattern in names:
            if match := pattern.fullmatch(name):
                return match[1]
    return None


def _spellings(name: str) -> Iterator[str]:
    """All names of an issuer."""
    yield name
    for names, patterns in zip(_ENTRA, _ENTRA_NAMES, strict=True):
        for pattern in patterns:
            if match := pattern.fullmatch(name):
                yield from (other.format(match[1]).replace("\\", "") for other in names)
