"""What path was signed: spellings of it, and that of the secondary."""

from __future__ import annotations

import pytest

from rowkey.errors import AuthenticationFailed
from tests.auth.shared_key_vectors import LOCAL, NOW, signed, verify


class TestSpellings:
    """HTTP libraries and proxies decode and encode what clients signed."""

    @pytest.mark.parametrize(
        ("signed_path", "target"),
        [
            ("/Orders(PartitionKey='~',RowKey='a-b._c')", "/Orders(PartitionKey='%7E',RowKey='a%2Db%2E%5Fc')"),
            ("/Orders(PartitionKey='a',RowKey='b')", "/Orders%28PartitionKey%3D%27a%27%2CRowKey%3D%27b%27%29"),
            ("/Orders%28PartitionKey%3D%27a%27%2CRowKey%3D%27b%27%29", "/Orders(PartitionKey='a',RowKey='b')"),
            (
                "/Orders(PartitionKey='a$b!c*d:e@f',RowKey='')",
                "/Orders(PartitionKey='a%24b%21c%2Ad%3Ae%40f',RowKey='')",
            ),
            ("/Orders(PartitionKey='%41',RowKey='')", "/Orders(PartitionKey='%41',RowKey='')"),
        ],
    )
    def test_other_spelling_of_the_same_path(self, signed_path: str, target: str) -> None:
        verify(signed(signed_path, target=target), now=NOW)

    @pytest.mark.parametrize(
        ("signed_path", "target"),
        [
            ("/Orders(PartitionKey='a',RowKey='b')", "/Orders(PartitionKey='a',RowKey='c')"),
            ("/Orders(PartitionKey='a',RowKey='b')", "/Orders(PartitionKey='b',RowKey='a')"),
            ("/Orders(PartitionKey='a',RowKey='')", "/Orders(PartitionKey='A',RowKey='')"),
            ("/Orders", "/Orders2"),
            ("/orders", "/Orders"),
            ("/Orders(PartitionKey='a/b',RowKey='')", "/Orders(PartitionKey='a%2Fb',RowKey='')"),
            ("/Orders(PartitionKey='%2525',RowKey='')", "/Orders(PartitionKey='%25',RowKey='')"),
        ],
    )
    def test_other_path(self, signed_path: str, target: str) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(signed(signed_path, target=target), now=NOW)

    @pytest.mark.parametrize(
        "signed_path",
        ["/devstoreaccount1-secondary/Tables", "/devstoreaccount1/Tables"],
        ids=["with the suffix, as the Python SDK", "without, as the service"],
    )
    def test_secondary_in_path_style(self, signed_path: str) -> None:
        request = signed(
            signed_path, target="/devstoreaccount1-secondary/Tables", host=LOCAL, account="devstoreaccount1"
        )
        verify(request, now=NOW)

    def test_secondary_with_the_account_twice(self) -> None:
        """What the Python SDK makes of an emulator's URL."""
        path = "/devstoreaccount1-secondary/devstoreaccount1/Tables"
        verify(signed(path, host=LOCAL, account="devstoreaccount1"), now=NOW)

    def test_secondary_signature_is_not_one_for_the_primary(self) -> None:
        request = signed(
            "/devstoreaccount1-secondary/Tables",
            target="/devstoreaccount1/Tables",
            host=LOCAL,
            account="devstoreaccount1",
        )
        with pytest.raises(AuthenticationFailed):
            verify(request, now=NOW)
