"""Set Table ACL: PUT /name?comp=acl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import InvalidXmlDocument, MediaTypeNotSupported, MissingRequiredHeader, TableNotFound
from rowkey.operations.set_table_acl import SetTableACL
from rowkey.store.interface import Store, Table
from rowkey.store.memory.store import MemoryStore
from tests.operations.conftest import ACCOUNT

if TYPE_CHECKING:
    from tests.operations.conftest import Client

ACL = "/Orders?comp=acl"
XML = {"Accept": "application/xml", "Content-Type": "application/xml"}
DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'
SENT = (
    b"<SignedIdentifiers><SignedIdentifier><AccessPolicy><Permission>r</Permission><Expiry>2024-01-01T00:00:00Z</Expiry>"
    b"<Start>2020-01-01</Start></AccessPolicy><Id>1</Id></SignedIdentifier></SignedIdentifiers>"
)
KEPT = (
    f"{DECLARATION}<SignedIdentifiers><SignedIdentifier><Id>1</Id><AccessPolicy>"
    "<Start>2020-01-01T00:00:00.0000000Z</Start><Expiry>2024-01-01T00:00:00.0000000Z</Expiry>"
    "<Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"
)
EMPTY = f"{DECLARATION}<SignedIdentifiers />"


class TestDecode:
    def test_policies_in_their_canonical_form(self, client: Client) -> None:
        assert client.decode("PUT", ACL, SENT, XML) == SetTableACL("Orders", KEPT)

    @pytest.mark.parametrize(
        "body", [b"", b"<?xml version='1.0' encoding='utf-8'?>\n<SignedIdentifiers />", b"<SignedIdentifiers/>"]
    )
    def test_no_policies(self, client: Client, body: bytes) -> None:
        """The Python clients send nothing at all (recorded), or an empty list."""
        assert client.decode("PUT", ACL, body, XML) == SetTableACL("Orders", EMPTY)

    @pytest.mark.parametrize("body", [b"no XML", b"<SignedIdentifier />", SENT.replace(b">r<", b">x<")])
    def test_documents_that_are_none(self, client: Client, body: bytes) -> None:
        with pytest.raises(InvalidXmlDocument):
            client.decode("PUT", ACL, body, XML)

    @pytest.mark.parametrize("version", [None, "2011-08-18"])
    def test_versions_without_it(self, client: Client, version: str | None) -> None:
        with pytest.raises(MissingRequiredHeader):
            client.decode("PUT", ACL, SENT, {**XML, "x-ms-version": version})

    @pytest.mark.parametrize(
        ("accept", "content_type"),
        [
            *(
                (accept, kind)
                for accept in (None, "*/*", " */* ", "")
                for kind in ("application/xml", "Application/XML")
            ),
            ("*/*", "application/xml;charset=utf-8"),
        ],
    )
    @pytest.mark.parametrize("body", [SENT, b""])
    def test_xml_of_a_client_that_does_not_ask_for_it_is_refused(
        self, client: Client, accept: str | None, content_type: str, body: bytes
    ) -> None:
        """Recorded, 3 of 3, with and without a body."""
        with pytest.raises(MediaTypeNotSupported):
            client.decode("PUT", ACL, body, {"Accept": accept, "Content-Type": content_type})

    @pytest.mark.parametrize(
        ("accept", "content_type"),
        [
            (None, None),
            ("*/*", None),
            ("application/xml", "application/xml"),
            ("application/json", "application/xml"),
            ("application/atom+xml,application/xml", "application/xml"),
            (None, "application/xml; charset=utf-8"),
            (None, "application/atom+xml"),
            ("*/*", "application/x-www-form-urlencoded"),
        ],
    )
    def test_all_other_media_types_will_do(self, client: Client, accept: str | None, content_type: str | None) -> None:
        headers = {"Accept": accept, "Content-Type": content_type}
        assert client.decode("PUT", ACL, SENT, headers) == SetTableACL("Orders", KEPT)


class TestRun:
    async def test_policies_are_replaced(self, orders: Client) -> None:
        response = await orders.ask("PUT", ACL, SENT, XML)
        assert (response.status, response.body) == (204, b"")
        assert [name for name, _ in response.headers] == ["x-ms-request-id", "Server", "x-ms-version", "Date"]
        assert (await orders.ask("GET", ACL, headers=XML)).body == b"\xef\xbb\xbf" + KEPT.encode()
        assert (await orders.ask("PUT", ACL, b"", XML)).status == 204
        assert (await orders.ask("GET", ACL, headers=XML)).body == b"\xef\xbb\xbf" + EMPTY.encode()

    async def test_refused_body_changes_nothing(self, orders: Client) -> None:
        await orders.ask("PUT", ACL, SENT, XML)
        response = await orders.ask("PUT", ACL, b"<SignedIdentifiers>", XML)
        assert (response.status, response.phrase) == (400, "XML specified is not syntactically valid.")
        assert response.header("x-ms-error-code") == "InvalidXmlDocument"
        table = await orders.store.find_table(ACCOUNT, "Orders")
        assert table is not None
        assert await orders.store.get_policies(table) == KEPT

    async def test_missing_table(self, client: Client) -> None:
        """Recorded."""
        response = await client.ask("PUT", "/Missing?comp=acl", SENT, XML)
        assert (response.status, response.phrase) == (404, "The table specified does not exist.")
        assert response.header("x-ms-error-code") == "TableNotFound"

    async def test_table_that_goes_meanwhile(self, client: Client) -> None:
        """It was there when it was looked up; the error is of the front end all the same."""
        operation = client.decode("PUT", ACL, SENT, XML)
        store: Store = ForgetfulStore()
        await store.create_table(ACCOUNT, "Orders")
        with pytest.raises(TableNotFound):
            await operation.run(store, ACCOUNT)

    async def test_no_writing_on_the_secondary(self, orders: Client) -> None:
        path = f"http://{ACCOUNT}-secondary.table.local{ACL}"
        assert (await orders.ask("PUT", path, SENT, XML)).status == 403


class ForgetfulStore(MemoryStore):
    """Deletes each table as soon as it was found."""

    async def find_table(self, account: str, name: str) -> Table | None:
        table = await super().find_table(account, name)
        await self.delete_table(account, name)
        return table
