"""Cross-origin resource sharing: which programs in browsers may use the service."""

from typing import NamedTuple


class CorsRule(NamedTuple):
    """A rule of the service properties: `*` is every origin or header, and a header may end with it.

    `max_age_seconds` is how long a browser may remember what the rule allows.
    """

    origins: tuple[str, ...]
    methods: tuple[str, ...]
    allowed_headers: tuple[str, ...]
    exposed_headers: tuple[str, ...]
    max_age_seconds: int
