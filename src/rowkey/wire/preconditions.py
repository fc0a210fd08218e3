"""If-Match and If-None-Match, the only conditional headers of the service (RFC 9110 section 13, and its own rules)."""

import re

from rowkey.errors import InvalidCondition, InvalidETag, MissingRequiredHeader
from rowkey.model.datetimes import TICKS_MIN, parse_datetime
from rowkey.model.writes import Condition
from rowkey.wire.request import Request

_WEAK_ETAG = re.compile(r'[Ww]/"([^"]*)"')
_DATETIME_ETAG = re.compile(r"datetime'([^']+)'")


def read_condition(request: Request) -> Condition | int:
    """The condition that If-Match states, Condition.ANY where it is absent.

    Raises InvalidCondition for If-None-Match, which no entity operation takes, and InvalidETag for a malformed one.
    """
    if_match = request.headers.get("if-match")
    if "if-none-match" in request.headers:
        if if_match is not None:
            raise InvalidCondition(
                "Both If-Match and If-None-Match HTTP headers cannot be specified at the same time. "
                "Please specify either one of the headers or none of them."
            )
        method = request.headers.get("x-http-method", request.method).strip().upper()
        raise InvalidCondition(f"If-None-Match HTTP header cannot be specified for {method} operations.")
    return Condition.ANY if if_match is None else parse_etag(if_match)


def require_condition(request: Request) -> Condition | int:
    """As `read_condition`, for operations that must have an If-Match."""
    condition = read_condition(request)
    if condition is Condition.ANY:
        raise MissingRequiredHeader
    return condition


def refuse_conditions(request: Request) -> None:
    """Raise if a condition is stated for something that has no ETag: a table."""
    if "if-match" in request.headers or "if-none-match" in request.headers:
        raise InvalidCondition(
            "If-Match or If-None-Match headers cannot be specified "
            "if the target type does not have etag properties defined."
        )


def parse_etag(text: str) -> Condition | int:
    """The condition that one ETag states.

    `*` asks for existence, the datetime form for that timestamp; a weak ETag of another form matches nothing and is
    answered 412 ConditionNotMet; strong, unquoted and listed ones are malformed (all but the strong one recorded).
    """
    if text == "*":
        return Condition.EXISTS
    weak = _WEAK_ETAG.fullmatch(text)
    if weak is None:
        raise InvalidETag(text)
    time = _DATETIME_ETAG.fullmatch(weak[1])
    if time is None:
        return Condition.UNMEETABLE
    try:
        ticks = parse_datetime(time[1].replace("%3A", ":").replace("%3a", ":"), ticks_min=TICKS_MIN)
    except ValueError:
        return Condition.UNMEETABLE
    return max(0, ticks)  # nothing was written so early
