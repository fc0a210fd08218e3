"""The Prefer header: whether an insert answers with what it stored."""

from rowkey.wire.request import Request
from rowkey.wire.version import PREFER_SINCE, Version

RETURN_CONTENT = "return-content"
RETURN_NO_CONTENT = "return-no-content"


def read_preference(request: Request, version: Version) -> str | None:
    """RETURN_CONTENT or RETURN_NO_CONTENT where the request states one of them, else None; so in older versions."""
    value = request.headers.get("prefer")
    if value is None or version.date < PREFER_SINCE:
        return None
    for item in value.lower().split(","):
        if item.strip() in (RETURN_CONTENT, RETURN_NO_CONTENT):
            return item.strip()
    return None
