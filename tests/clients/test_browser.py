"""A browser, and a page of another origin in it: what CORS rules allow works, and the browser refuses the rest.

Chromium loads `browser/page.html` from an HTTP server of the test's own. The page sends requests to our server with
fetch(), signed with the account's key, and reports what the browser let it see.
"""

from __future__ import annotations

import json
import queue
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from azure.data.tables import TableCorsRule

from tests.browser import SECONDS_MAX, needs_browser, open_browser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from azure.data.tables import TableServiceClient

    from tests.conftest import Server

PAGE = Path(__file__).parent / "browser" / "page.html"

pytestmark = needs_browser

REFUSED = {"error": "TypeError"}
"""All that a page is told of an answer that is kept from it."""


@dataclass
class PageServer:
    """Serves the page and its requests, and waits for what it reports."""

    folder: Path
    server: Server
    requests: list[dict[str, Any]] = field(default_factory=list)
    answers: queue.Queue[list[dict[str, Any]]] = field(default_factory=queue.Queue)
    port: int = 0

    def origin(self, host: str = "127.0.0.1") -> str:
        """The page's origin when it is loaded from this name of the machine."""
        return f"http://{host}:{self.port}"

    def add(self, method: str, path: str, body: object = None, **headers: str) -> None:
        """Let the page send one more request; underscores in the names of headers stand for hyphens."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        common = {"x-ms-version": "2019-02-02", "Accept": "application/json;odata=nometadata"}
        content = {} if body is None else {"Content-Type": "application/json"}
        self.requests.append(
            {
                "url": self.server.endpoint + path,
                "method": method,
                "headers": {**common, **content, **given},
                "body": None if body is None else json.dumps(body),
            }
        )

    def visit(self, host: str = "127.0.0.1") -> list[dict[str, Any]]:
        """Load the page in a browser; what it saw of each answer."""
        with open_browser(self.folder, f"{self.origin(host)}/"):
            try:
                return self.answers.get(timeout=SECONDS_MAX)
            except queue.Empty:
                log = self.folder / "browser.log"
                pytest.fail(f"the page did not report:\n{log.read_text(errors='replace')}")


@pytest.fixture
def page(server: Server, tmp_path: Path) -> Iterator[PageServer]:
    """The page, not yet loaded."""
    page = PageServer(tmp_path, server)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/requests":
                given = {"account": server.account, "key": server.key, "requests": page.requests}
                self.answer(json.dumps(given).encode(), "application/json")
            else:
                self.answer(PAGE.read_bytes(), "text/html")

        def do_POST(self) -> None:
            page.answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer(b"", "text/plain")

        def answer(self, body: bytes, content_type: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    page.port = http.server_port
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield page
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def without_rules_afterwards(service: TableServiceClient) -> Iterator[None]:
    """Other tests find the account as it was."""
    yield
    service.set_service_properties(cors=[])


def rule(origin: str, *, methods: str = "GET,POST,PUT,MERGE,PATCH,DELETE", exposed: str = "ETag") -> TableCorsRule:
    """A rule that allows what the page sends, and lets it read the ETag."""
    return TableCorsRule(
        [origin],
        methods.split(","),
        allowed_headers=["Authorization", "Content-Type", "If-Match", "x-ms-*"],
        exposed_headers=[exposed],
        max_age_in_seconds=60,
    )


def test_a_page_that_is_allowed_can_do_everything(
    service: TableServiceClient, page: PageServer, table_name: str
) -> None:
    service.set_service_properties(cors=[rule("https://others.com"), rule(page.origin())])
    entity = f"/{table_name}(PartitionKey='p',RowKey='it''s')"
    page.add("POST", "/Tables", {"TableName": table_name})
    page.add("POST", f"/{table_name}", {"PartitionKey": "p", "RowKey": "it's", "Total": 1})
    page.add("GET", entity)
    page.add("MERGE", entity, {"Rest": 2}, If_Match="the last ETag")
    page.add("PATCH", entity, {"Last": 3}, If_Match="the last ETag")
    page.add("GET", f"/{table_name}()?$filter=Total eq 1")
    page.add("PUT", entity, {"Total": 4})
    page.add("DELETE", entity, If_Match="the last ETag")
    page.add("GET", entity)
    page.add("DELETE", f"/Tables('{table_name}')")

    created, inserted, read, merged, patched, queried, put, deleted, missed, dropped = page.visit()

    assert created["status"] == 201
    assert (inserted["status"], read["status"]) == (201, 200)
    assert read["headers"]["etag"] == inserted["headers"]["etag"]
    assert json.loads(read["body"])["Total"] == 1
    assert (merged["status"], patched["status"]) == (204, 204)
    (found,) = json.loads(queried["body"])["value"]
    assert (found["Total"], found["Rest"], found["Last"]) == (1, 2, 3)
    assert put["headers"]["etag"] != patched["headers"]["etag"] != merged["headers"]["etag"]
    assert deleted["status"] == 204
    assert missed["status"] == 404
    assert json.loads(missed["body"])["odata.error"]["code"] == "ResourceNotFound"
    assert dropped["status"] == 204


def test_a_page_reads_only_the_headers_that_are_exposed(
    service: TableServiceClient, page: PageServer, table_name: str
) -> None:
    service.set_service_properties(cors=[rule(page.origin())])
    service.create_table(table_name).create_entity({"PartitionKey": "p", "RowKey": "r"})
    page.add("GET", f"/{table_name}(PartitionKey='p',RowKey='r')")
    (some,) = page.visit()
    assert "etag" in some["headers"]
    assert "x-ms-request-id" not in some["headers"]

    service.set_service_properties(cors=[rule("*", exposed="*")])
    (all_,) = page.visit()
    assert {"etag", "x-ms-request-id", "x-ms-version", "cache-control"} <= all_["headers"].keys()
    service.delete_table(table_name)


@pytest.mark.parametrize("rules", ["none", "of another origin"])
def test_a_page_that_is_not_allowed_sees_nothing(
    service: TableServiceClient, page: PageServer, table_name: str, rules: str
) -> None:
    """Neither the answer to a read, nor is anything else even sent."""
    service.set_service_properties(cors=[] if rules == "none" else [rule(page.origin())])
    page.add("GET", "/Tables")
    page.add("POST", "/Tables", {"TableName": table_name})
    assert page.visit("localhost") == [REFUSED, REFUSED]
    assert table_name not in [table.name for table in service.list_tables()]


def test_only_the_methods_and_headers_of_the_rule_are_allowed(service: TableServiceClient, page: PageServer) -> None:
    service.set_service_properties(cors=[rule(page.origin(), methods="GET,PUT")])
    page.add("GET", "/Tables")
    page.add("DELETE", "/Tables('missing')")
    page.add("GET", "/Tables", Prefer="return-content")
    allowed, other_method, other_header = page.visit()
    assert allowed["status"] == 200
    assert other_method == REFUSED
    assert other_header == REFUSED
