"""Shared access signatures for a table: what they permit, to which keys, and what a stored access policy adds."""

from __future__ import annotations

from itertools import combinations

import pytest

from rowkey.errors import (
    AuthenticationFailed,
    AuthorizationFailure,
    AuthorizationPermissionMismatch,
    AuthorizationProtocolMismatch,
    AuthorizationSourceIPMismatch,
    ResourceNotFound,
    ServiceError,
)
from rowkey.model.access_policy import AccessPolicy
from rowkey.model.datetimes import parse_datetime
from rowkey.model.entity import Key
from rowkey.model.key_range import KeyRange, key_order
from rowkey.model.rights import Right
from tests.auth.conftest import EXPIRY, NOW, START, refusal, table_sas, verify

VERSIONS = ("2012-02-12", "2013-08-15", "2014-02-14", "2015-02-21", "2015-04-05", "2019-02-02", "2099-12-31")
OLD = VERSIONS[:4]

# "Create a service SAS", permissions for a table: the letters that each right needs, None where none will do.
NEEDED = {
    Right.QUERY: "r",
    Right.INSERT: "a",
    Right.CHANGE: "u",
    Right.UPSERT: "au",
    Right.DELETE: "d",
    Right.TRANSACT: "",
    Right.LIST_TABLES: None,
    Right.CREATE_TABLE: None,
    Right.DELETE_TABLE: None,
    Right.READ_SERVICE: None,
    Right.WRITE_SERVICE: None,
    Right.ACCESS_POLICIES: None,
    Right.INDEXES: None,
    Right.PREFLIGHT: None,
}
LETTERS = ["".join(letters) for count in range(1, 5) for letters in combinations("raud", count)]


def fields(version: str = "2019-02-02", **others: str) -> dict[str, str]:
    """A signature for everything in Orders, or with other fields; an empty one is left out."""
    wanted = {"sp": "raud", "se": EXPIRY, "sv": version, "tn": "Orders"} | others
    return table_sas(**{name: value for name, value in wanted.items() if value})


class TestPermissions:
    def test_every_right_is_in_the_table(self) -> None:
        assert NEEDED.keys() == set(Right)

    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize("letters", LETTERS)
    @pytest.mark.parametrize("right", Right)
    def test_permission(self, right: Right, letters: str, version: str) -> None:
        needed = NEEDED[right]
        expected: type[ServiceError] | None = None
        if needed is None:
            expected = AuthorizationFailure
        elif not set(needed) <= set(letters):
            expected = AuthorizationPermissionMismatch
        if expected is not None and version in OLD:
            expected = ResourceNotFound
        assert refusal(verify(fields(version, sp=letters)), right) is expected

    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize("table", ["Customers", "Order", "Orders2", "", "tables", "\u00d6rders"])
    def test_other_tables(self, table: str, version: str) -> None:
        grant = verify(fields(version))
        expected = ResourceNotFound if version in OLD else AuthorizationFailure
        for right in NEEDED:
            assert refusal(grant, right, table) is (None if right is Right.TRANSACT else expected)

    @pytest.mark.parametrize("signed", ["Orders", "orders", "ORDERS", "oRdErS"])
    @pytest.mark.parametrize("addressed", ["Orders", "orders", "ORDERS", "OrDeRs"])
    def test_letter_case_of_the_table_does_not_count(self, signed: str, addressed: str) -> None:
        """Neither when it is signed (recorded: upper case) nor when it is addressed."""
        grant = verify({**fields(), "tn": signed})
        assert refusal(grant, Right.QUERY, addressed) is None

    @pytest.mark.parametrize("letters", ["ar", "dr", "rar", "rr", "raudr", "urad", "rx", "rw", "rl"])
    def test_letters_out_of_order_or_unknown(self, letters: str, caplog: pytest.LogCaptureFixture) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(fields(sp=letters))
        assert "letters of 'raud' in this order" in caplog.text


class TestOrigin:
    @pytest.mark.parametrize("right", Right)
    def test_https_only(self, right: Right) -> None:
        """Before anything else is asked, also for a batch, whatever it holds."""
        options = fields(spr="https", sip="198.51.100.1", sp="r")
        assert refusal(verify(options, is_secure=False), right) is AuthorizationProtocolMismatch

    @pytest.mark.parametrize("protocol", ["", "https,http"])
    @pytest.mark.parametrize("is_secure", [True, False])
    def test_both_protocols(self, protocol: str, is_secure: bool) -> None:
        assert refusal(verify(fields(spr=protocol), is_secure=is_secure), Right.QUERY) is None

    @pytest.mark.parametrize("right", Right)
    def test_other_source(self, right: Right) -> None:
        options = fields(sip="198.51.100.1", sp="r")
        assert refusal(verify(options), right, "Customers") is AuthorizationSourceIPMismatch

    @pytest.mark.parametrize(
        ("sources", "peer", "is_allowed"),
        [
            ("203.0.113.7", "203.0.113.7:1", True),
            ("203.0.113.7", "203.0.113.8:1", False),
            ("203.0.113.7-203.0.113.9", "203.0.113.6:1", False),
            ("203.0.113.7-203.0.113.9", "203.0.113.7:1", True),
            ("203.0.113.7-203.0.113.9", "203.0.113.8:65535", True),
            ("203.0.113.7-203.0.113.9", "203.0.113.9:1", True),
            ("203.0.113.7-203.0.113.9", "203.0.113.10:1", False),
            ("9.255.255.255-10.0.0.1", "10.0.0.0:1", True),
            ("0.0.0.0-255.255.255.255", "127.0.0.1:1", True),
            ("0.0.0.0-255.255.255.255", "[::1]:1", False),
            ("203.0.113.7", "[::ffff:203.0.113.7]:1", True),
            ("203.0.113.7", "[::ffff:203.0.113.8]:1", False),
            ("2001:db8::1", "[2001:db8::1]:1", True),
            ("2001:db8::-2001:db8::ffff", "[2001:db8::42]:1", True),
            ("2001:db8::-2001:db8::ffff", "[2001:db8::1:0]:1", False),
            ("2001:db8::-2001:db8::ffff", "32.1.13.184:1", False),
            ("fe80::1", "[fe80::1%eth0]:1", True),
            ("203.0.113.7", "", False),
            ("203.0.113.7", "203.0.113.7", False),
            ("203.0.113.7", "localhost:1", False),
        ],
    )
    def test_source(self, sources: str, peer: str, is_allowed: bool) -> None:
        grant = verify(fields(sip=sources), peer=peer)
        assert refusal(grant, Right.QUERY) is (None if is_allowed else AuthorizationSourceIPMismatch)

    def test_the_refusal_names_the_source(self, caplog: pytest.LogCaptureFixture) -> None:
        with pytest.raises(AuthorizationSourceIPMismatch, match=r"using this source IP 203\.0\.113\.7\.$"):
            verify(fields(sip="198.51.100.1")).permit(Right.QUERY, "Orders")
        assert "Behind a proxy that is the proxy's address." in caplog.text

    @pytest.mark.parametrize("version", OLD)
    @pytest.mark.parametrize("field", [{"sip": "203.0.113.7"}, {"spr": "https"}])
    def test_older_versions_do_not_sign_them(self, version: str, field: dict[str, str]) -> None:
        """So anybody could take them away again, and who has added them relies on them in vain."""
        with pytest.raises(AuthenticationFailed):
            verify(fields(version, **field))


# What is allowed, in the order of results, by UTF-16 code units: a surrogate pair sorts before U+E000.
KEYS = [
    Key(partition, row)
    for partition in ("", "a", "a0", "b", "b\uffff", "c", "\ud7ff", "\U0001f600", "\ue000", "\uffff")
    for row in ("", "0", "1", "10", "\U0001f600", "\ue000")
]


class TestKeyRanges:
    def test_none(self) -> None:
        assert verify(fields()).key_range is None

    @pytest.mark.parametrize(
        ("bounds", "expected"),
        [
            ({"spk": "b"}, lambda pk, rk: pk >= "b"),
            ({"epk": "b"}, lambda pk, rk: pk <= "b"),
            ({"spk": "b", "epk": "b"}, lambda pk, rk: pk == "b"),
            ({"spk": "b", "srk": "1"}, lambda pk, rk: pk > "b" or (pk == "b" and rk >= "1")),
            ({"epk": "b", "erk": "1"}, lambda pk, rk: pk < "b" or (pk == "b" and rk <= "1")),
            ({"spk": "a", "srk": "1", "epk": "c", "erk": "1"}, lambda pk, rk: ("a", "1") <= (pk, rk) <= ("c", "1")),
            ({"spk": "b", "srk": "1", "epk": "b", "erk": "1"}, lambda pk, rk: (pk, rk) == ("b", "1")),
            ({"spk": "b", "srk": "1", "epk": "b"}, lambda pk, rk: pk == "b" and rk >= "1"),
            ({"spk": "b", "epk": "b", "erk": "1"}, lambda pk, rk: pk == "b" and rk <= "1"),
            ({"spk": "c", "epk": "a"}, lambda pk, rk: False),
            ({"spk": "b", "srk": "1", "epk": "b", "erk": "0"}, lambda pk, rk: False),
        ],
    )
    def test_inclusive_at_both_ends(self, bounds: dict[str, str], expected: object) -> None:
        assert callable(expected)
        key_range = verify(fields(**bounds)).key_range
        assert key_range is not None
        for key in KEYS:
            if max(key.partition_key, key.row_key) < "\ud7ff":  # where Python's order is that of UTF-16
                assert is_within(key_range, key) == expected(*key), key

    @pytest.mark.parametrize(
        ("bounds", "expected"),
        [
            ({"spk": "\U0001f600"}, {"\U0001f600", "\ue000", "\uffff"}),
            ({"spk": "\ue000"}, {"\ue000", "\uffff"}),
            ({"epk": "\U0001f600"}, {"", "a", "a0", "b", "b\uffff", "c", "\ud7ff", "\U0001f600"}),
            ({"spk": "\ud7ff", "epk": "\ue000"}, {"\ud7ff", "\U0001f600", "\ue000"}),
            ({"spk": "b", "epk": "b\uffff"}, {"b", "b\uffff"}),
        ],
    )
    def test_order_of_utf_16(self, bounds: dict[str, str], expected: set[str]) -> None:
        key_range = verify(fields(**bounds)).key_range
        assert key_range is not None
        assert {key.partition_key for key in KEYS if is_within(key_range, key)} == expected

    def test_row_keys_in_the_order_of_utf_16(self) -> None:
        key_range = verify(fields(spk="a", srk="10", epk="a", erk="\U0001f600")).key_range
        assert key_range is not None
        assert [key.row_key for key in KEYS if is_within(key_range, key)] == ["10", "\U0001f600"]

    @pytest.mark.parametrize("name", ["srk", "erk"])
    def test_row_key_without_partition_key_is_refused(self, name: str) -> None:
        for others in ({}, {"spk" if name == "erk" else "epk": "a"}):
            with pytest.raises(AuthenticationFailed):
                verify(fields(**{name: "1", **others}))

    @pytest.mark.parametrize("version", VERSIONS)
    def test_refusal_of_what_is_outside(self, version: str) -> None:
        refused = verify(fields(version, spk="a")).outside()
        assert type(refused) is (ResourceNotFound if version in OLD else AuthorizationFailure)

    def test_a_stored_access_policy_has_none(self) -> None:
        policy = AccessPolicy("p", None, parse_datetime(EXPIRY), "r")
        assert verify(fields(sp="", se="", si="p", spk="a"), [policy]).key_range == KeyRange(Key("a", ""), None)


def is_within(key_range: KeyRange, key: Key) -> bool:
    """Whether the half-open range has the key."""
    place = key_order(key)
    return key_order(key_range.start) <= place and (key_range.end is None or place < key_order(key_range.end))


ST, SE = parse_datetime(START), parse_datetime(EXPIRY)
FULL = AccessPolicy("p", ST, SE, "r")


class TestPolicies:
    @pytest.mark.parametrize(
        ("own", "policy"),
        [
            ({}, FULL),
            ({"st": START}, AccessPolicy("p", None, SE, "r")),
            ({"se": EXPIRY}, AccessPolicy("p", ST, None, "r")),
            ({"sp": "r"}, AccessPolicy("p", ST, SE)),
            ({"st": START, "se": EXPIRY}, AccessPolicy("p", None, None, "r")),
            ({"st": START, "sp": "r"}, AccessPolicy("p", None, SE)),
            ({"se": EXPIRY, "sp": "r"}, AccessPolicy("p", ST)),
            ({"st": START, "se": EXPIRY, "sp": "r"}, AccessPolicy("p")),
        ],
    )
    def test_it_supplies_what_the_signature_lacks(self, own: dict[str, str], policy: AccessPolicy) -> None:
        options = fields(**{"sp": "", "se": "", "si": "p", **own})
        grant = verify(options, [AccessPolicy("o"), policy])
        assert refusal(grant, Right.QUERY) is None
        assert refusal(grant, Right.INSERT) is AuthorizationPermissionMismatch
        for now in (ST - 1, SE):
            with pytest.raises(AuthenticationFailed):
                verify(options, [policy], now=now)

    @pytest.mark.parametrize("own", [{"st": START}, {"se": EXPIRY}, {"sp": "r"}])
    def test_a_field_in_both_is_refused(self, own: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(fields(**{"sp": "", "se": "", "si": "p", **own}), [FULL])
        assert "both in it and in the stored access policy" in caplog.text

    @pytest.mark.parametrize(
        ("own", "policy", "missing"),
        [
            ({}, AccessPolicy("p"), "se"),
            ({}, AccessPolicy("p", ST, None, "r"), "se"),
            ({}, AccessPolicy("p", ST, SE), "sp"),
            ({"se": EXPIRY}, AccessPolicy("p", ST), "sp"),
            ({"sp": "r"}, AccessPolicy("p", ST), "se"),
        ],
    )
    def test_a_field_in_neither_is_refused(
        self, own: dict[str, str], policy: AccessPolicy, missing: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(fields(**{"sp": "", "se": "", "si": "p", **own}), [policy])
        assert f"{missing} is neither in it nor in the stored access policy" in caplog.text

    @pytest.mark.parametrize("policies", [[], [AccessPolicy("P", ST, SE, "r")], [AccessPolicy("p ", ST, SE, "r")]])
    def test_unknown_policy_is_refused(self, policies: list[AccessPolicy], caplog: pytest.LogCaptureFixture) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(fields(sp="", se="", si="p"), policies)
        assert "table 'Orders' has no stored access policy 'p'" in caplog.text

    def test_policies_that_are_not_named_have_no_part(self) -> None:
        assert refusal(verify(fields(sp="r"), [AccessPolicy("p", SE, ST, "d")]), Right.QUERY) is None

    def test_changing_a_policy_acts_at_once(self) -> None:
        options = fields(sp="", se="", si="p")
        verify(options, [FULL])
        with pytest.raises(AuthenticationFailed):
            verify(options, [FULL._replace(expiry=NOW)])
        assert refusal(verify(options, [FULL._replace(permission="a")]), Right.QUERY) is AuthorizationPermissionMismatch

    def test_the_earliest_instant_is_an_instant(self) -> None:
        """It has the number 0."""
        with pytest.raises(AuthenticationFailed):
            verify(fields(sp="", se="1601-01-01", si="p"), [AccessPolicy("p", None, SE, "r")])
        verify(fields(sp="", se="", st="1601-01-01", si="p"), [AccessPolicy("p", None, SE, "r")])


@pytest.mark.parametrize("version", ["2011-08-18", "2012-02-11", "2009-09-19"])
def test_versions_before_there_were_signatures_for_tables(version: str) -> None:
    with pytest.raises(AuthenticationFailed):
        verify(fields(version))
