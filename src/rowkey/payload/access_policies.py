"""The XML of stored access policies: the body of Set Table ACL, and the canonical text, which Get Table ACL answers.

    <SignedIdentifiers>
      <SignedIdentifier><Id/><AccessPolicy><Start/><Expiry/><Permission/></AccessPolicy></SignedIdentifier>
    </SignedIdentifiers>

Children come in any order, and all but Id may be missing (recorded); the canonical text has the recorded order, and is
what a table keeps. An element that is empty is as good as missing, since a signature cannot tell the two apart either.
"""

from collections.abc import Iterable
from functools import lru_cache
from xml.etree.ElementTree import Element

from rowkey.errors import InvalidXmlDocument
from rowkey.model.access_policy import AccessPolicy, is_permission, parse_access_time
from rowkey.model.datetimes import format_datetime_padded
from rowkey.model.edm import utf16_length
from rowkey.model.limits import ACCESS_POLICIES_MAX, ACCESS_POLICY_ID_UNITS_MAX
from rowkey.payload.xml_elements import read_children, read_list, read_root, read_text
from rowkey.payload.xml_output import escape_text

_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def read_policies(text: bytes | str) -> tuple[AccessPolicy, ...]:
    """The policies of a body, or of canonical text; none for an empty one. Raises InvalidXmlDocument."""
    if isinstance(text, str):
        return _read_canonical(text)
    if not text.strip():
        return ()
    root = read_root(text, "SignedIdentifiers")
    elements = read_list(root, "SignedIdentifier", length_max=ACCESS_POLICIES_MAX)
    policies = tuple(_read_policy(element) for element in elements)
    if len({policy.identifier for policy in policies}) < len(policies):
        raise InvalidXmlDocument
    return policies


@lru_cache(maxsize=256)
def _read_canonical(text: str) -> tuple[AccessPolicy, ...]:
    """Stored text is read for every request whose signature names a policy, and seldom changes."""
    return read_policies(text.encode())


def _read_policy(element: Element) -> AccessPolicy:
    children = read_children(element, optional=("Id", "AccessPolicy"))
    identifier = _text(children.get("Id"))
    if identifier is None or utf16_length(identifier) > ACCESS_POLICY_ID_UNITS_MAX:
        raise InvalidXmlDocument
    policy = children.get("AccessPolicy")
    fields = {} if policy is None else read_children(policy, optional=("Start", "Expiry", "Permission"))
    permission = (_text(fields.get("Permission")) or "").strip() or None
    if permission is not None and not is_permission(permission):
        raise InvalidXmlDocument
    return AccessPolicy(identifier, _time(fields.get("Start")), _time(fields.get("Expiry")), permission)


def _text(element: Element | None) -> str | None:
    """The text of an element without children, None for no text."""
    return None if element is None else read_text(element) or None


def _time(element: Element | None) -> int | None:
    text = (_text(element) or "").strip()
    try:
        return parse_access_time(text) if text else None
    except ValueError:
        raise InvalidXmlDocument from None


def write_policies(policies: Iterable[AccessPolicy]) -> str:
    """The canonical text of policies, without byte order mark."""
    written = "".join(_write_policy(policy) for policy in policies)
    if not written:
        return f"{_DECLARATION}<SignedIdentifiers />"
    return f"{_DECLARATION}<SignedIdentifiers>{written}</SignedIdentifiers>"


def _write_policy(policy: AccessPolicy) -> str:
    fields = ""
    if policy.start is not None:
        fields += f"<Start>{format_datetime_padded(policy.start)}</Start>"
    if policy.expiry is not None:
        fields += f"<Expiry>{format_datetime_padded(policy.expiry)}</Expiry>"
    if policy.permission is not None:
        fields += f"<Permission>{policy.permission}</Permission>"
    if fields:
        fields = f"<AccessPolicy>{fields}</AccessPolicy>"
    return f"<SignedIdentifier><Id>{escape_text(policy.identifier)}</Id>{fields}</SignedIdentifier>"
