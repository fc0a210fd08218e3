"""Set Table Service Properties: PUT /?restype=service&comp=properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import InvalidXmlDocument, MissingRequiredHeader
from rowkey.operations.set_table_service_properties import SetTableServiceProperties
from tests.operations.conftest import ACCOUNT

if TYPE_CHECKING:
    from tests.operations.conftest import Client

PROPERTIES = "/?restype=service&comp=properties"
XML = {"Accept": "application/xml", "Content-Type": "application/xml"}
OFF = "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>"
LOGGING = f"<Logging><Version>1.0</Version><Read>true</Read><Write>true</Write><Delete>true</Delete>{OFF}</Logging>"
METRICS = f"<Version>1.0</Version><Enabled>false</Enabled>{OFF}"


def body(*sections: str) -> bytes:
    """A body with these sections."""
    return f"<StorageServiceProperties>{''.join(sections)}</StorageServiceProperties>".encode()


class TestDecode:
    def test_sections(self, client: Client) -> None:
        expected = {"Logging": LOGGING, "Cors": "<Cors />"}
        assert client.decode("PUT", PROPERTIES, body("<Cors/>", LOGGING), XML) == SetTableServiceProperties(expected)

    def test_older_versions_send_another_document(self, client: Client) -> None:
        headers = {**XML, "x-ms-version": "2012-02-12"}
        sent = body(LOGGING, f"<Metrics>{METRICS}</Metrics>")
        expected = {"Logging": LOGGING, "HourMetrics": f"<HourMetrics>{METRICS}</HourMetrics>"}
        assert client.decode("PUT", PROPERTIES, sent, headers) == SetTableServiceProperties(expected)

    @pytest.mark.parametrize("sent", [b"", b"no XML", body("<Logging />")])
    def test_documents_that_are_none(self, client: Client, sent: bytes) -> None:
        with pytest.raises(InvalidXmlDocument):
            client.decode("PUT", PROPERTIES, sent, XML)

    @pytest.mark.parametrize("version", [None, "2009-07-17"])
    def test_versions_without_it(self, client: Client, version: str | None) -> None:
        with pytest.raises(MissingRequiredHeader):
            client.decode("PUT", PROPERTIES, body(), {**XML, "x-ms-version": version})


class TestRun:
    @pytest.mark.parametrize("accept", ["application/xml", "*/*", "application/json", None])
    @pytest.mark.parametrize("content_type", ["application/xml", "application/atom+xml", None])
    async def test_accepted_with_any_media_type(self, client: Client, accept: str | None, content_type: str) -> None:
        """Recorded: 202, without a body and without a Content-Type."""
        headers = {"Accept": accept, "Content-Type": content_type}
        response = await client.ask("PUT", PROPERTIES, body(LOGGING), headers)
        assert (response.status, response.body) == (202, b"")
        assert [name for name, _ in response.headers] == ["x-ms-request-id", "Server", "x-ms-version", "Date"]
        assert await client.store.get_properties(ACCOUNT) == {"Logging": LOGGING}

    async def test_sections_that_are_not_sent_stay(self, client: Client) -> None:
        await client.ask("PUT", PROPERTIES, body(LOGGING, "<Cors />"), XML)
        metrics = f"<MinuteMetrics>{METRICS}</MinuteMetrics>"
        await client.ask("PUT", PROPERTIES, body(metrics), XML)
        kept = {"Logging": LOGGING, "Cors": "<Cors />", "MinuteMetrics": metrics}
        assert await client.store.get_properties(ACCOUNT) == kept

    async def test_refused_body_changes_nothing(self, client: Client) -> None:
        response = await client.ask("PUT", PROPERTIES, body(LOGGING, "<Cors>text</Cors>"), XML)
        assert (response.status, response.phrase) == (400, "XML specified is not syntactically valid.")
        assert response.header("x-ms-error-code") == "InvalidXmlDocument"
        assert await client.store.get_properties(ACCOUNT) == {}

    async def test_no_writing_on_the_secondary(self, client: Client) -> None:
        path = f"http://{ACCOUNT}-secondary.table.local{PROPERTIES}"
        response = await client.ask("PUT", path, body(LOGGING), XML)
        assert (response.status, response.header("x-ms-error-code")) == (403, "InsufficientAccountPermissions")
