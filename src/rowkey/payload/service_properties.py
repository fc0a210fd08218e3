"""The XML of service properties, as Set Table Service Properties sends it and Get Table Service Properties answers it.

    <StorageServiceProperties>
      <Logging><Version/><Read/><Write/><Delete/><RetentionPolicy><Enabled/><Days/></RetentionPolicy></Logging>
      <HourMetrics><Version/><Enabled/><IncludeAPIs/><RetentionPolicy/></HourMetrics>
      <MinuteMetrics/>
      <Cors>
        <CorsRule><AllowedMethods/><AllowedOrigins/><AllowedHeaders/><ExposedHeaders/><MaxAgeInSeconds/></CorsRule>
      </Cors>
    </StorageServiceProperties>

The four elements below the root are the *sections*. A body may have any of them; each is kept as the text that is
shown, in the recorded order. Versions before 2013-08-15 know Logging and Metrics, which is HourMetrics, and send both.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from xml.etree.ElementTree import Element

from rowkey.errors import InvalidXmlDocument
from rowkey.model.cors import CorsRule
from rowkey.model.limits import (
    CORS_HEADERS_MAX,
    CORS_MEMBER_LENGTH_MAX,
    CORS_ORIGINS_MAX,
    CORS_PREFIXES_MAX,
    CORS_RULES_MAX,
    CORS_TEXT_LENGTH_MAX,
    RETENTION_DAYS_MAX,
)
from rowkey.model.service_properties import Logging, Metrics
from rowkey.payload.xml_elements import read_children, read_list, read_root, read_text
from rowkey.payload.xml_input import parse_xml
from rowkey.payload.xml_output import escape_text
from rowkey.wire.version import CORS_SINCE

_ROOT = "StorageServiceProperties"
_ANALYTICS_VERSION = "1.0"
_METHODS = frozenset({"DELETE", "GET", "HEAD", "MERGE", "OPTIONS", "PATCH", "POST", "PUT"})
_ORIGIN = re.compile(r"[!-+\--~]+")
"""Any visible ASCII but the comma, which separates: the service takes `www.xyz.com` too (recorded)."""
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'+.^_`|~-]+\*?|\*")
_NUMBER = re.compile(r"[0-9]{1,10}")
_NUMBER_MAX = 2**31 - 1


def read_properties(body: bytes, version_date: str) -> dict[str, str]:
    """The sections of a body as the texts to be kept; raises InvalidXmlDocument."""
    root = read_root(body, _ROOT)
    if version_date < CORS_SINCE:
        elements = read_children(root, required=("Logging", "Metrics"))
        elements["HourMetrics"] = elements.pop("Metrics")
    else:
        elements = read_children(root, optional=tuple(_SECTIONS))
    return {name: _SECTIONS[name](element) for name, element in elements.items()}


def write_properties(sections: Mapping[str, str], version_date: str) -> str:
    """The whole document, without byte order mark; sections that were never set have their defaults."""
    texts = {**DEFAULTS, **sections}
    if version_date < CORS_SINCE:
        shown = texts["Logging"] + write_metrics("Metrics", read_metrics(texts["HourMetrics"]))
    else:
        shown = "".join(texts[name] for name in _SECTIONS)
    return f'<?xml version="1.0" encoding="utf-8"?><{_ROOT}>{shown}</{_ROOT}>'


# ---------------------------------------------------------------- logging and metrics


@lru_cache(maxsize=64)
def read_logging(text: str) -> Logging:
    """The value of a Logging section's text."""
    return _read_logging(parse_xml(text.encode()))


def _read_logging(element: Element) -> Logging:
    children = read_children(element, required=("Version", "Read", "Write", "Delete", "RetentionPolicy"))
    _verify_version(children["Version"])
    read, write, delete = (_boolean(children[name]) for name in ("Read", "Write", "Delete"))
    return Logging(read, write, delete, _read_retention(children["RetentionPolicy"]))


def write_logging(logging: Logging) -> str:
    """The text of a Logging section."""
    kinds = (("Read", logging.read), ("Write", logging.write), ("Delete", logging.delete))
    written = "".join(f"<{name}>{_lower(value)}</{name}>" for name, value in kinds)
    version = f"<Version>{_ANALYTICS_VERSION}</Version>"
    return f"<Logging>{version}{written}{_write_retention(logging.retention_days)}</Logging>"


@lru_cache(maxsize=64)
def read_metrics(text: str) -> Metrics:
    """The value of the text of HourMetrics or MinuteMetrics."""
    return _read_metrics(parse_xml(text.encode()))


def _read_metrics(element: Element) -> Metrics:
    children = read_children(element, required=("Version", "Enabled", "RetentionPolicy"), optional=("IncludeAPIs",))
    _verify_version(children["Version"])
    is_enabled = _boolean(children["Enabled"])
    if is_enabled and "IncludeAPIs" not in children:
        raise InvalidXmlDocument
    include_apis = is_enabled and _boolean(children["IncludeAPIs"])
    return Metrics(is_enabled, include_apis, _read_retention(children["RetentionPolicy"]))


def write_metrics(name: str, metrics: Metrics) -> str:
    """The text of a section of metrics; `IncludeAPIs` is shown only where they are enabled (recorded)."""
    apis = f"<IncludeAPIs>{_lower(metrics.include_apis)}</IncludeAPIs>" if metrics.is_enabled else ""
    enabled = f"<Version>{_ANALYTICS_VERSION}</Version><Enabled>{_lower(metrics.is_enabled)}</Enabled>"
    return f"<{name}>{enabled}{apis}{_write_retention(metrics.retention_days)}</{name}>"


def _verify_version(element: Element) -> None:
    if _text(element) != _ANALYTICS_VERSION:
        raise InvalidXmlDocument


def _read_retention(element: Element) -> int | None:
    """`Days` must be there where retention is enabled, and must not where it is not (both recorded)."""
    children = read_children(element, required=("Enabled",), optional=("Days",))
    if _boolean(children["Enabled"]) is not ("Days" in children):
        raise InvalidXmlDocument
    days = _number(children["Days"]) if "Days" in children else None
    if days is not None and not 1 <= days <= RETENTION_DAYS_MAX:
        raise InvalidXmlDocument
    return days


def _write_retention(days: int | None) -> str:
    shown = "" if days is None else f"<Days>{days}</Days>"
    return f"<RetentionPolicy><Enabled>{_lower(days is not None)}</Enabled>{shown}</RetentionPolicy>"


# ---------------------------------------------------------------- CORS


@lru_cache(maxsize=256)
def read_cors(text: str) -> tuple[CorsRule, ...]:
    """The rules of a Cors section's text."""
    return _read_cors(parse_xml(text.encode()))


def _read_cors(element: Element) -> tuple[CorsRule, ...]:
    rules = read_list(element, "CorsRule", length_max=CORS_RULES_MAX)
    if sum(len(text.strip()) for text in element.itertext()) > CORS_TEXT_LENGTH_MAX:
        raise InvalidXmlDocument
    return tuple(map(_read_rule, rules))


def _read_rule(element: Element) -> CorsRule:
    names = ("AllowedOrigins", "AllowedMethods", "AllowedHeaders", "ExposedHeaders", "MaxAgeInSeconds")
    children = read_children(element, required=names)
    origins, methods = _members(children["AllowedOrigins"]), _members(children["AllowedMethods"])
    if not origins or len(origins) > CORS_ORIGINS_MAX or not all(map(_ORIGIN.fullmatch, origins)):
        raise InvalidXmlDocument
    if not methods or not _METHODS.issuperset(methods):
        raise InvalidXmlDocument
    allowed, exposed = _headers(children["AllowedHeaders"]), _headers(children["ExposedHeaders"])
    return CorsRule(origins, methods, allowed, exposed, _number(children["MaxAgeInSeconds"]))


def _members(element: Element) -> tuple[str, ...]:
    """The members of a list that is separated by commas."""
    members = tuple(member.strip() for member in _text(element).split(",") if member.strip())
    if any(len(member) > CORS_MEMBER_LENGTH_MAX for member in members):
        raise InvalidXmlDocument
    return members


def _headers(element: Element) -> tuple[str, ...]:
    """Names of headers, the literal ones first, then those that end with `*` (recorded: so they come back)."""
    members = _members(element)
    literals = tuple(member for member in members if not member.endswith("*"))
    prefixes = tuple(member for member in members if member.endswith("*"))
    if len(literals) > CORS_HEADERS_MAX or len(prefixes) > CORS_PREFIXES_MAX:
        raise InvalidXmlDocument
    if not all(map(_HEADER.fullmatch, members)):
        raise InvalidXmlDocument
    return literals + prefixes


def write_cors(rules: Iterable[CorsRule]) -> str:
    """The text of a Cors section."""
    return _element("Cors", "".join(map(_write_rule, rules)))


def _write_rule(rule: CorsRule) -> str:
    children = (
        ("AllowedMethods", ",".join(rule.methods)),
        ("AllowedOrigins", ",".join(rule.origins)),
        ("AllowedHeaders", ",".join(rule.allowed_headers)),
        ("ExposedHeaders", ",".join(rule.exposed_headers)),
        ("MaxAgeInSeconds", str(rule.max_age_seconds)),
    )
    return _element("CorsRule", "".join(_element(name, escape_text(text)) for name, text in children))


# ---------------------------------------------------------------- values


def _text(element: Element) -> str:
    """Without the white space around it, which samples of the reference have."""
    return read_text(element).strip()


def _boolean(element: Element) -> bool:
    """In any letter case: the Python and Azure CLI clients send `True` (recorded)."""
    value = {"true": True, "false": False}.get(_text(element).lower())
    if value is None:
        raise InvalidXmlDocument
    return value


def _number(element: Element) -> int:
    text = _text(element)
    if not _NUMBER.fullmatch(text) or int(text) > _NUMBER_MAX:
        raise InvalidXmlDocument
    return int(text)


def _lower(value: bool) -> str:
    return "true" if value else "false"


def _element(name: str, content: str) -> str:
    return f"<{name}>{content}</{name}>" if content else f"<{name} />"


# ---------------------------------------------------------------- sections

_SECTIONS = {
    "Logging": lambda element: write_logging(_read_logging(element)),
    "HourMetrics": lambda element: write_metrics("HourMetrics", _read_metrics(element)),
    "MinuteMetrics": lambda element: write_metrics("MinuteMetrics", _read_metrics(element)),
    "Cors": lambda element: write_cors(_read_cors(element)),
}
"""What each section is kept as, in the order in which they are shown (recorded)."""

DEFAULTS = {
    "Logging": write_logging(Logging()),
    "HourMetrics": write_metrics("HourMetrics", Metrics()),
    "MinuteMetrics": write_metrics("MinuteMetrics", Metrics()),
    "Cors": write_cors(()),
}
"""The sections of an account that has never set any: nothing is logged, counted or allowed."""
