"""The two grants that need no credentials to be described: everything, and next to nothing."""

from rowkey.errors import AuthenticationFailed
from rowkey.model.rights import Grant, Right


class OwnerGrant(Grant):
    """Who holds an account key may do everything."""

    kind = "authenticated"

    def permit(self, right: Right, table: str) -> None:
        """Refuse nothing."""


class AnonymousGrant(Grant):
    """Who shows no credentials may ask what other origins may do (a preflight carries none), and nothing else."""

    kind = "anonymous"

    def permit(self, right: Right, table: str) -> None:
        """Refuse all but the one right."""
        if right is not Right.PREFLIGHT:
            raise AuthenticationFailed


OWNER = OwnerGrant()
ANONYMOUS = AnonymousGrant()
