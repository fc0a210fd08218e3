"""Stored access policies: what the shared access signatures of a table may leave to the table.

At most five belong to a table ("Set Table ACL" of the reference). A signature names one by its identifier; changing or
removing the policy acts on all signatures that name it.
"""

import re
from typing import NamedTuple

from rowkey.model.datetimes import parse_datetime


class AccessPolicy(NamedTuple):
    """A stored access policy; `start` and `expiry` in ticks, None for each field that it leaves to the signatures."""

    identifier: str
    start: int | None = None
    expiry: int | None = None
    permission: str | None = None


_PERMISSION = re.compile("(?=.)r?a?u?d?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,7})?)?(?:Z|[+-]\d\d:\d\d))?", re.ASCII)


def is_permission(text: str) -> bool:
    """Whether these are permissions on entities: letters of `raud`, in this order, each at most once.

    The order is the reference's, and every SDK writes it. In a blob container's policy the service refuses another one
    as InvalidXmlDocument (azure-sdk-for-net issue 14456).
    """
    return _PERMISSION.fullmatch(text) is not None


def parse_access_time(text: str) -> int:
    """Ticks of a start or an expiry, in policies and signatures; raises ValueError.

    The forms are the reference's: a date, or date and time with a zone, down to minutes, seconds or 7 digits of them.
    """
    if _TIME.fullmatch(text) is None:
        raise ValueError("not a date, or date and time with a zone, in ISO 8601")
    return parse_datetime(text)
