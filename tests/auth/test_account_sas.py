"""Shared access signatures for an account: what they permit."""

from __future__ import annotations

from itertools import combinations

import pytest

from rowkey.errors import (
    AuthenticationFailed,
    AuthorizationFailure,
    AuthorizationPermissionMismatch,
    AuthorizationProtocolMismatch,
    AuthorizationResourceTypeMismatch,
    AuthorizationServiceMismatch,
    AuthorizationSourceIPMismatch,
    ServiceError,
)
from rowkey.model.rights import Right
from tests.auth.conftest import EXPIRY, account_sas, refusal, verify

# "Create an account SAS", permissions by operation: resource type, and groups of letters of which one is enough.
NEEDED = {
    Right.READ_SERVICE: ("s", ["r"]),
    Right.WRITE_SERVICE: ("s", ["w"]),
    Right.LIST_TABLES: ("c", ["l"]),
    Right.CREATE_TABLE: ("c", ["c", "w"]),
    Right.DELETE_TABLE: ("c", ["d"]),
    Right.QUERY: ("o", ["r"]),
    Right.INSERT: ("o", ["a"]),
    Right.CHANGE: ("o", ["u"]),
    Right.UPSERT: ("o", ["au"]),
    Right.DELETE: ("o", ["d"]),
}
NEVER = {Right.ACCESS_POLICIES, Right.INDEXES, Right.PREFLIGHT}
RESOURCE_TYPES = ["".join(types) for count in range(1, 4) for types in combinations("sco", count)]
LETTERS = ["".join(letters) for count in range(1, 8) for letters in combinations("rwdlacu", count)]


def fields(**others: str) -> dict[str, str]:
    """A signature for everything in tables, or with other fields."""
    return account_sas(**{"sp": "rwdlacu", "ss": "t", "srt": "sco", "se": EXPIRY, "sv": "2019-02-02"} | others)


class TestPermissions:
    def test_every_right_is_in_the_table(self) -> None:
        assert NEEDED.keys() | NEVER | {Right.TRANSACT} == set(Right)

    @pytest.mark.parametrize("resource_types", RESOURCE_TYPES)
    @pytest.mark.parametrize("right", NEEDED)
    def test_permission(self, right: Right, resource_types: str) -> None:
        """For each of the 127 sets of letters."""
        resource_type, groups = NEEDED[right]
        for letters in LETTERS:
            expected: type[ServiceError] | None = None
            if resource_type not in resource_types:
                expected = AuthorizationResourceTypeMismatch
            elif not any(set(group) <= set(letters) for group in groups):
                expected = AuthorizationPermissionMismatch
            assert refusal(verify(fields(sp=letters, srt=resource_types)), right) is expected, letters

    @pytest.mark.parametrize("right", sorted(NEVER, key=str))
    def test_what_no_signature_permits(self, right: Right) -> None:
        assert refusal(verify(fields()), right) is AuthorizationFailure

    @pytest.mark.parametrize("resource_types", RESOURCE_TYPES)
    @pytest.mark.parametrize("letters", ["r", "d", "rwdlacu"])
    def test_a_batch_needs_no_letters(self, letters: str, resource_types: str) -> None:
        """Each operation in it is asked about."""
        assert refusal(verify(fields(sp=letters, srt=resource_types)), Right.TRANSACT, "") is None

    @pytest.mark.parametrize("right", Right)
    @pytest.mark.parametrize("services", ["b", "bfq"])
    def test_other_services(self, services: str, right: Right) -> None:
        """Also for a batch, and before resource types and permissions."""
        assert refusal(verify(fields(ss=services, srt="s", sp="l")), right) is AuthorizationServiceMismatch

    @pytest.mark.parametrize("services", ["t", "bfqt", "tb", "bqtf", "tt"])
    def test_services_in_any_order(self, services: str) -> None:
        assert refusal(verify(fields(ss=services)), Right.QUERY) is None

    @pytest.mark.parametrize("letters", ["ucaldwr", "rr", "raudwlcxytfmeopi", "rp"])
    def test_letters_in_any_order_also_unknown_ones(self, letters: str) -> None:
        """A user of the service found that the order does not matter (azure-rest-api-specs issue 20141)."""
        assert refusal(verify(fields(sp=letters)), Right.QUERY) is None

    @pytest.mark.parametrize("table", ["Orders", "customers", ""])
    def test_all_tables(self, table: str) -> None:
        assert refusal(verify(fields()), Right.QUERY, table) is None

    def test_objects_alone_are_enough_for_queries(self) -> None:
        """Recorded; another emulator asks for `c` too."""
        assert refusal(verify(fields(srt="o", sp="r")), Right.QUERY) is None

    def test_no_bounds(self) -> None:
        assert verify(fields()).key_range is None


class TestOrigin:
    @pytest.mark.parametrize("right", Right)
    def test_protocol_comes_first(self, right: Right) -> None:
        grant = verify(fields(spr="https", sip="198.51.100.1", ss="b"), is_secure=False)
        assert refusal(grant, right) is AuthorizationProtocolMismatch

    @pytest.mark.parametrize("right", Right)
    def test_source_comes_second(self, right: Right) -> None:
        assert refusal(verify(fields(sip="198.51.100.1", ss="b")), right) is AuthorizationSourceIPMismatch

    @pytest.mark.parametrize("is_secure", [True, False])
    def test_both_protocols(self, is_secure: bool) -> None:
        assert refusal(verify(fields(spr="https,http"), is_secure=is_secure), Right.QUERY) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("ss", value) for value in ("", "x", "T", "t ", "t,b", "tx")),
        *(("srt", value) for value in ("", "x", "O", "o ", "s,c,o", "ob")),
        *(("sv", value) for value in ("2015-04-04", "2015-02-21", "2012-02-12")),
        ("ses", "scope"),
    ],
)
def test_malformed_field_is_refused(name: str, value: str, caplog: pytest.LogCaptureFixture) -> None:
    """Also an encryption scope in a version that does not sign it."""
    with pytest.raises(AuthenticationFailed):
        verify(fields(**{name: value}))
    assert "does not match" not in caplog.text


@pytest.mark.parametrize("version", ["2020-12-06", "2021-01-01", "2026-02-06"])
@pytest.mark.parametrize("scope", ["", "scope"])
def test_encryption_scope_is_signed_and_means_nothing(version: str, scope: str) -> None:
    options = fields(sv=version, ses=scope)
    assert refusal(verify(options), Right.QUERY) is None
    with pytest.raises(AuthenticationFailed):
        verify({**options, "ses": "another"})
