"""The explorer in a browser: what its buttons do, seen in the page and, through the Python client, in the table."""

from __future__ import annotations

import csv
import io
import json
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables import EdmType, EntityProperty, TableSasPermissions, UpdateMode, generate_table_sas

from tests.browser import ELSEWHERE, needs_browser, open_tab

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from azure.data.tables import TableClient, TableServiceClient

    from tests.browser import Tab
    from tests.conftest import Server

pytestmark = needs_browser

ROWS = "document.querySelectorAll('#results tbody tr')"
OWNER = uuid.UUID("c9da6455-213d-42c9-9a79-3e9149a57833")


class Explorer:
    """The page, as somebody uses it who can see and click."""

    def __init__(self, tab: Tab, server: Server, downloads: Path) -> None:
        self.tab = tab
        self.origin = server.endpoint.rpartition("/")[0]
        self._server = server
        self._downloads = downloads

    async def open(self, address: str = "") -> None:
        """Load the page, where nobody has signed in yet."""
        url = f"{self.origin}/explorer{address}"
        await self.tab.call("Page.navigate", url="about:blank")
        await self.tab.call("Page.navigate", url=url)
        await self.tab.wait(f"location.href === {json.dumps(url)} && document.activeElement?.id === 'connection'")

    async def sign_in(self, text: str | None = None) -> None:
        await self.write("connection", self._server.connection_string if text is None else text)
        await self.click("#sign-in [type=submit]")

    async def click(self, selector: str) -> None:
        await self.tab.run(f"document.querySelector({json.dumps(selector)}).click()")

    async def write(self, identity: str, text: str) -> None:
        """Write into a field, as by hand."""
        await self.tab.run(f"document.getElementById({json.dumps(identity)}).focus()")
        await self.tab.run("document.activeElement.select()")
        await self.tab.call("Input.insertText", text=text)

    async def add_property(self, name: str, edm_type: str, text: str) -> None:
        await self.click("#add-property")
        values = json.dumps([name, edm_type, text])
        await self.tab.run(
            f"""{{
                const row = document.getElementById('properties').lastChild;
                ['name', 'type', 'value'].forEach((part, i) => row.querySelector('.' + part).value = {values}[i]);
            }}"""
        )

    async def open_entity(self, row_key: str) -> None:
        """Click on the row of an entity."""
        find = f"[...{ROWS}].find((row) => row.children[1].textContent === {json.dumps(row_key)})"
        await self.tab.wait(find)
        await self.tab.run(f"{find}.click()")
        await self.tab.wait("document.getElementById('entity').open")

    async def see(self, identity: str, text: str) -> None:
        """Wait until an element shows a text."""
        shown = f"document.getElementById({json.dumps(identity)})"
        await self.tab.wait(f"!{shown}.hidden && {shown}.textContent.includes({json.dumps(text)})")

    async def rows(self) -> list[list[str]]:
        """The texts of the table of results, without its head."""
        rows: list[list[str]] = await self.tab.run(
            f"[...{ROWS}].map((row) => [...row.children].map((cell) => cell.textContent))"
        )
        return rows

    async def downloaded(self, name: str) -> str:
        """The content of a file that the page has made."""
        for _ in range(1000):
            if (file := self._downloads / name).exists():
                return file.read_text("utf-8")
            await self.tab.run("new Promise((done) => setTimeout(done, 20))")
        pytest.fail(f"{name} was not downloaded")


@pytest.fixture
async def explorer(server: Server, tmp_path: Path) -> AsyncIterator[Explorer]:
    """The page, loaded; in the end nothing in it may have gone wrong but what the test has made to."""
    async with open_tab(tmp_path) as tab:
        explorer = Explorer(tab, server, tmp_path)
        await explorer.open()
        yield explorer
        problems = [problem for problem in tab.problems if "Failed to load resource" not in problem]
        assert not problems


@pytest.fixture
def table(service: TableServiceClient, table_name: str) -> Iterator[TableClient]:
    """A table that the test need not delete."""
    yield service.create_table(table_name)
    service.delete_table(table_name)


async def test_a_table_from_its_creation_to_its_deletion(
    explorer: Explorer, service: TableServiceClient, table_name: str
) -> None:
    await explorer.sign_in()
    await explorer.see("account", "devstoreaccount1")
    await explorer.write("new-table", table_name)
    await explorer.click("#create-table [type=submit]")
    await explorer.see("table-name", table_name)
    await explorer.see("status", "0 entities")

    await explorer.click("#new-entity")
    await explorer.write("partition-key", "eu ü")
    await explorer.write("row-key", "it's 1%")
    values = [
        ("Text", "String", "two\nlines <b>"),
        ("value", "String", "a property like any other"),
        ("Small", "Int32", "-7"),
        ("Large", "Int64", "9007199254740993"),
        ("Whole", "Double", "1.0"),
        ("Wide", "Double", "1e300"),
        ("Active", "Boolean", "true"),
        ("When", "DateTime", "2026-08-03T10:15:30.1234567Z"),
        ("Owner", "Guid", str(OWNER)),
        ("Data", "Binary", "AP8="),
    ]
    for value in values:
        await explorer.add_property(*value)
    await explorer.click("#save")
    await explorer.see("status", "1 entity")
    client = service.get_table_client(table_name)
    entity = client.get_entity("eu ü", "it's 1%")
    assert dict(entity) == {
        "PartitionKey": "eu ü",
        "RowKey": "it's 1%",
        "Text": "two\nlines <b>",
        "value": "a property like any other",
        "Small": -7,
        "Large": EntityProperty(9007199254740993, EdmType.INT64),
        "Whole": 1.0,
        "Wide": 1e300,
        "Active": True,
        "When": datetime(2026, 8, 3, 10, 15, 30, 123456, tzinfo=UTC),
        "Owner": OWNER,
        "Data": b"\0\xff",
    }
    assert isinstance(entity["Whole"], float)

    client.update_entity(entity | {"Text": "line\r\nends\rof all\nkinds"})
    entity = client.get_entity("eu ü", "it's 1%")
    await explorer.open_entity("it's 1%")  # what is saved again unchanged is what it was, and has the type that it had
    names = "[...document.querySelectorAll('#properties .name')]"
    small = f"{names}.find((name) => name.value === 'Small').closest('tr')"
    await explorer.tab.run(f"{small}.querySelector('.value').value = '8'")
    await explorer.click("#save")
    await explorer.tab.wait("!document.getElementById('entity').open")
    changed = client.get_entity("eu ü", "it's 1%")
    assert dict(changed) == dict(entity) | {"Small": 8}
    assert isinstance(changed["Whole"], float)
    assert changed.metadata["etag"] != entity.metadata["etag"]

    await explorer.open_entity("it's 1%")
    await explorer.click("#duplicate")
    await explorer.write("row-key", "2")
    await explorer.click("#save")
    await explorer.see("status", "2 entities")
    await explorer.write("filter", "RowKey eq '2' and Whole eq 1.0")
    await explorer.click("#query [type=submit]")
    await explorer.see("status", "1 entity")
    assert [row[1] for row in await explorer.rows()] == ["2"]
    await explorer.open_entity("2")
    await explorer.click("#delete-entity")
    await explorer.see("status", "0 entities")
    assert [entity["RowKey"] for entity in client.list_entities()] == ["it's 1%"]

    await explorer.click("#delete-table")
    await explorer.write("confirmation", "another")
    await explorer.click("#confirm [type=submit]")
    await explorer.see("deletion-problem", "This is not the name of the table.")
    await explorer.write("confirmation", table_name)
    await explorer.click("#confirm [type=submit]")
    await explorer.tab.wait("document.getElementById('table').hidden")
    assert table_name not in [table.name for table in service.list_tables()]


async def test_pages_and_downloads(explorer: Explorer, table: TableClient) -> None:
    entities: list[dict[str, Any]] = [
        {"PartitionKey": "p", "RowKey": f"{number:04}", "Price": number / 2, "Text": '=1,"2"\n'}
        for number in range(150)
    ]
    entities[149]["Later"] = EntityProperty(7, EdmType.INT64)
    for start in (0, 100):
        table.submit_transaction([("create", entity) for entity in entities[start : start + 100]])

    await explorer.open(f"#{table.table_name}?Price%20ge%201.0")
    await explorer.sign_in()
    await explorer.see("status", "100 entities, and there are more")
    await explorer.tab.run("['first', 'second'].forEach(() => document.getElementById('more').click())")
    await explorer.see("status", "148 entities (")
    rows = await explorer.rows()
    assert [row[1] for row in rows] == [f"{number:04}" for number in range(2, 150)]
    assert rows[-1][3:] == ["74.5", '=1,"2"\n', "7"]

    await explorer.click("#download-json")
    lines = (await explorer.downloaded(f"{table.table_name}.jsonl")).splitlines()
    shown = [json.loads(line) for line in lines]
    assert [(entity["RowKey"], entity["Price"]) for entity in shown] == [
        (entity["RowKey"], entity["Price"]) for entity in entities[2:]
    ]
    assert '"Price":1.0,' in lines[0]
    assert '"Later@odata.type":"Edm.Int64","Later":"7"' in lines[-1]
    await explorer.click("#download-csv")
    text = await explorer.downloaded(f"{table.table_name}.csv")
    assert text[0] == "\ufeff"  # by which spreadsheets know UTF-8
    head, *body = csv.reader(io.StringIO(text[1:], newline=""))
    assert head == ["PartitionKey", "RowKey", "Timestamp", "Price", "Text", "Later"]
    assert [[row[1], *row[3:]] for row in body] == [
        [entity["RowKey"], str(entity["Price"]), '=1,"2"\n', "7" if "Later" in entity else ""]
        for entity in entities[2:]
    ]


async def test_what_goes_wrong_is_said(explorer: Explorer, table: TableClient, server: Server) -> None:
    script = "<img src=x onerror=document.title=1>"
    table.create_entity({"PartitionKey": script, "RowKey": "' ", "Text": script, "Zero": "\x00n1"})
    for text, said in [
        ("nonsense", "no AccountName"),
        ("AccountName=devstoreaccount1", "neither AccountKey nor SharedAccessSignature"),
        ("AccountName=devstoreaccount1;AccountKey=?", "not Base64"),
        ("https://[/?sig=x", "not the URL of a server"),
        ("AccountName=devstoreaccount1;AccountKey=AAAA", "AuthenticationFailed: "),
        ("AccountName=missing;AccountKey=AAAA", "ResourceNotFound: "),
    ]:
        await explorer.sign_in(text)
        await explorer.see("problem", said)
    await explorer.sign_in()
    await explorer.tab.run(f"void (location.hash = {json.dumps(table.table_name)})")
    await explorer.tab.wait(f"{ROWS}.length === 1")
    ((partition_key, _row_key, _timestamp, *texts),) = await explorer.rows()
    assert (partition_key, texts) == (script, [script, "\x00n1"])
    assert await explorer.tab.run("document.title") == "Rowkey explorer"

    await explorer.write("filter", "Text eq")
    await explorer.click("#query [type=submit]")
    await explorer.see("problem", "InvalidInput: ")
    await explorer.write("filter", "")
    await explorer.click("#query [type=submit]")
    await explorer.tab.wait(f"{ROWS}.length === 1")
    await explorer.tab.run(f"{ROWS}[0].click()")
    await explorer.tab.wait("document.getElementById('entity').open")
    table.upsert_entity({"PartitionKey": script, "RowKey": "' ", "Text": "theirs"}, UpdateMode.REPLACE)
    for button in ("#save", "#delete-entity"):
        await explorer.click(button)
        await explorer.see("entity-problem", "UpdateConditionNotSatisfied: Somebody else has changed it")
    assert [entity["Text"] for entity in table.list_entities()] == ["theirs"]
    await explorer.add_property("Text", "String", "twice")
    await explorer.click("#save")
    await explorer.see("entity-problem", "There are two properties called Text.")

    await explorer.click("#close-entity")
    await explorer.click("#sign-out")
    await explorer.tab.wait("document.activeElement?.id === 'connection'")
    assert await explorer.tab.run("sessionStorage.length + localStorage.length + document.cookie.length") == 0


async def test_a_signature_for_one_table_shows_that_table(
    explorer: Explorer, table: TableClient, server: Server
) -> None:
    table.create_entity({"PartitionKey": "p", "RowKey": "r"})
    credential = AzureNamedKeyCredential(server.account, server.key)
    permission = TableSasPermissions(read=True)
    expiry = datetime(2099, 1, 1, tzinfo=UTC)
    signature = generate_table_sas(credential, table.table_name, permission=permission, expiry=expiry)
    await explorer.sign_in(f"{server.endpoint}/{table.table_name}?{signature}")
    await explorer.see("tables", table.table_name)
    await explorer.click("#tables a")
    await explorer.see("status", "1 entity")
    await explorer.open_entity("r")
    await explorer.click("#delete-entity")
    await explorer.see("entity-problem", "AuthorizationPermissionMismatch: ")


async def test_a_dialog_belongs_to_the_table_that_it_was_opened_for(
    explorer: Explorer, table: TableClient, service: TableServiceClient
) -> None:
    other = service.create_table(f"{table.table_name}x")
    await explorer.sign_in()
    for name in (table.table_name, other.table_name):
        await explorer.tab.run(f"void (location.hash = {json.dumps(name)})")
        await explorer.tab.wait(f"document.getElementById('table-name').textContent === {json.dumps(name)}")
    for is_changed in (False, True):
        await explorer.click("#new-entity")
        if is_changed:
            await explorer.write("row-key", "r")
        for kind in ("rawKeyDown", "keyUp"):
            await explorer.tab.call("Input.dispatchKeyEvent", type=kind, key="Escape", windowsVirtualKeyCode=27)
        await explorer.tab.wait(f"document.getElementById('entity').open === {json.dumps(is_changed)}")
    await explorer.see("entity-problem", "What has been changed is not saved")
    await explorer.tab.run("history.back()")
    await explorer.see("table-name", table.table_name)
    await explorer.tab.wait("!document.getElementById('entity').open")
    await explorer.tab.run("void (location.hash = '')")
    await explorer.tab.wait("document.getElementById('table').hidden")
    service.delete_table(other.table_name)


async def test_a_page_from_another_machine_says_why_it_cannot_sign(explorer: Explorer) -> None:
    explorer.origin = explorer.origin.replace("127.0.0.1", ELSEWHERE)
    await explorer.open()
    await explorer.sign_in()
    await explorer.see("problem", "Start the server with --tls auto, or sign in with a shared access signature.")
