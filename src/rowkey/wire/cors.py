"""Cross-origin resource sharing: which rule a request of another origin falls under, and what its answer says.

A rule is chosen by origin and method alone, the first that fits (the reference's "CORS support" page); whether its
headers fit as well is asked of that rule only, and only in a preflight. An answer is never refused for want of a rule:
the browser keeps it from the page when it lacks the headers.
"""

from collections.abc import Iterable, Iterator, Sequence

from rowkey.errors import Layer
from rowkey.model.cors import CorsRule
from rowkey.wire.request import Request, Response

_SENT_WITHOUT_ORIGIN = frozenset({"GET", "HEAD"})
"""Their answers may be kept by caches, so they say what other origins may do although nobody asked (recorded)."""

_EXPOSED_ORDER = {
    name: place
    for place, name in enumerate(
        (
            "x-ms-request-id",
            "x-ms-client-request-id",
            "Server",
            "x-ms-version",
            "X-Content-Type-Options",
            "Cache-Control",
            "x-ms-continuation-NextPartitionKey",
            "x-ms-continuation-NextRowKey",
            "x-ms-continuation-NextTableName",
            "ETag",
        )
    )
}
"""The recorded order of names that a rule with `*` exposes; others of an answer follow, then those below."""
_EXPOSED_LAST = ("Content-Length", "Date", "Transfer-Encoding")
"""In every such list, with or without a body, chunked or not."""


def find_rule(rules: Iterable[CorsRule], origin: str | None, method: str) -> CorsRule | None:
    """The first rule for this origin and method; without an origin only one for all origins is."""
    return next((rule for rule in rules if method in rule.methods and _has_origin(rule, origin)), None)


def _has_origin(rule: CorsRule, origin: str | None) -> bool:
    """Whether the rule names the origin: letter by letter, or as a subdomain of `https://*.contoso.com`."""
    if "*" in rule.origins:
        return True
    return origin is not None and any(member == origin or _is_subdomain(member, origin) for member in rule.origins)


def _is_subdomain(member: str, origin: str) -> bool:
    scheme, separator, domain = member.partition("://*.")
    if not separator or not origin.startswith(f"{scheme}://") or not origin.endswith(f".{domain}"):
        return False
    labels = origin[len(scheme) + 3 : -len(domain) - 1]
    return labels != "" and labels.replace("-", "").replace(".", "").isalnum()


def allows_headers(rule: CorsRule, names: Iterable[str]) -> bool:
    """Whether a request may have headers of these names, in any letter case."""
    return all(any(_is_named(name, member) for member in rule.allowed_headers) for name in names)


def _is_named(name: str, member: str) -> bool:
    """Whether a member of a list of headers means this name; a member may end with `*`, or be nothing else."""
    if member.endswith("*"):
        return name.lower().startswith(member[:-1].lower())
    return name.lower() == member.lower()


def allowed_origin(rule: CorsRule, origin: str) -> str:
    """What Access-Control-Allow-Origin says."""
    return "*" if "*" in rule.origins else origin


def add_cors_headers(request: Request, response: Response, rules: Sequence[CorsRule]) -> None:
    """Add to a finished answer, a success or an error, what the account's rules say of it.

    The table of the reference for GET and HEAD, which goes for other methods where they name an origin. A preflight
    is an operation of its own, and has its headers.
    """
    origin = request.headers.get("origin")
    if not rules or request.method == "OPTIONS" or (origin is None and request.method not in _SENT_WITHOUT_ORIGIN):
        return
    rule = find_rule(rules, origin, request.method)
    if rule is None:
        response.headers.append(("Vary", "Origin"))
        return
    exposed = ",".join(_exposed_headers(rule, response))
    is_for_all = "*" in rule.origins
    if not is_for_all:
        response.headers.append(("Vary", "Origin"))
    response.headers.append(("Access-Control-Allow-Origin", allowed_origin(rule, origin or "*")))
    if exposed:
        response.headers.append(("Access-Control-Expose-Headers", exposed))
    if not is_for_all:
        response.headers.append(("Access-Control-Allow-Credentials", "true"))


def _exposed_headers(rule: CorsRule, response: Response) -> Iterator[str]:
    """The names that a page may read: literal ones always, those of a prefix where the answer has them (recorded)."""
    if "*" in rule.exposed_headers:
        yield from _all_headers(response)
        return
    names = [name for name, _ in response.headers]
    for member in rule.exposed_headers:
        if member.endswith("*"):
            yield from (name for name in names if _is_named(name, member))
        else:
            yield member


def _all_headers(response: Response) -> list[str]:
    names = [name for name, _ in response.headers if name not in _EXPOSED_LAST]
    if response.layer is not Layer.ENGINE and response.layer is not Layer.LIBRARY:
        names = [name for name in names if name != "Content-Type"]  # the front end leaves it out (recorded)
    return [*sorted(names, key=lambda name: _EXPOSED_ORDER.get(name, len(_EXPOSED_ORDER))), *_EXPOSED_LAST]
