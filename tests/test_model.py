"""The whole service beside a model of it in a page of dictionaries: random requests, and what each must answer.

The model knows nothing of the source: tables are dictionaries of entities, a filter is a Python function. Requests go
through `Service.handle` to a store in a data folder. A step is a request, or a query with all of its pages. The short
form takes about 1,000 steps; `ROWKEY_MODEL_STEPS=100000 pytest tests/test_model.py` takes as many as it says.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from rowkey.config import DEVELOPMENT_ACCOUNT, Settings
from rowkey.service import Service
from rowkey.store.embedded.store import EmbeddedStore
from rowkey.wire.request import Request, Response
from tests.conftest import DEVELOPMENT_KEY, Server
from tests.drawn import (
    CHANGES,
    FILTERS,
    PARTITION_KEYS,
    ROW_KEYS,
    TABLES,
    TOO_MUCH,
    Change,
    Entity,
    Predicate,
    Properties,
    string,
)

STEPS = int(os.environ.get("ROWKEY_MODEL_STEPS", "1000"))
STEPS_AT_ONCE = 40
PHASES = (Phase.explicit, Phase.generate)
"""A failure is printed as it was found: every step opens a store, and to look for a shorter one would take long."""
ACCOUNT = DEVELOPMENT_ACCOUNT.name
SIGNER = Server("", ACCOUNT, DEVELOPMENT_KEY)
JSON = {"Accept": "application/json;odata=minimalmetadata", "x-ms-version": "2019-02-02", "Host": "h"}
ANNOTATED = ("Edm.Int64", "Edm.DateTime", "Edm.Guid", "Edm.Binary")


class Outcome(NamedTuple):
    """What a request must be answered."""

    status: int
    code: str = ""


class ServiceMachine(RuleBasedStateMachine):
    """The service and its model."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = TemporaryDirectory(prefix="rowkey-")
        self.runner.get_loop().run_until_complete(self._open())
        self.tables: dict[str, dict[tuple[str, str], Entity]] = {}
        self.names: dict[str, str] = {}
        self.etags: dict[tuple[str, str, str], str] = {}

    async def _open(self) -> None:
        self.store = EmbeddedStore.open(Path(self.folder.name))
        self.service = Service(Settings(), self.store)

    def teardown(self) -> None:
        for table in list(self.tables):
            self._compare_query(table, "", lambda _entity: True, 1000)
        self.runner.run(self.store.close())
        self.runner.close()
        self.folder.cleanup()

    # Requests.

    def ask(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Response:
        """Send a signed request."""
        target = f"/{ACCOUNT}{path}"
        signed = SIGNER.sign(
            method, target, JSON | ({"Content-Type": "application/json"} if body else {}) | dict(headers or {})
        )
        request = Request(method, target, {name.lower(): value for name, value in signed.items()}, body)
        return self.runner.run(self.service.handle(request))

    def expect(self, response: Response, outcome: Outcome) -> None:
        """The answer is this one."""
        assert (response.status, code_of(response.body)) == outcome, response.body

    # Tables.

    @rule(name=TABLES)
    def create_table(self, name: str) -> None:
        response = self.ask(
            "POST", "/Tables", json.dumps({"TableName": name}).encode(), {"Prefer": "return-no-content"}
        )
        if name.lower() in self.tables:
            self.expect(response, Outcome(409, "TableAlreadyExists"))
        else:
            self.expect(response, Outcome(204))
            self.tables[name.lower()], self.names[name.lower()] = {}, name

    @rule(name=TABLES)
    def delete_table(self, name: str) -> None:
        response = self.ask("DELETE", f"/Tables('{name}')")
        self.expect(response, Outcome(204) if name.lower() in self.tables else Outcome(404, "ResourceNotFound"))
        self.tables.pop(name.lower(), None)

    @rule(top=st.integers(1, 3))
    def query_tables(self, top: int) -> None:
        found: list[str] = []
        following = ""
        while True:
            response = self.ask("GET", f"/Tables?$top={top}{following}")
            page = [table["TableName"] for table in json.loads(response.body)["value"]]
            assert len(page) <= top
            found += page
            token = response.header("x-ms-continuation-NextTableName")
            if token is None:
                break
            following = f"&NextTableName={quote(token)}"
        assert found == [self.names[name] for name in sorted(self.tables)]

    # Entities.

    @rule(table=TABLES, partition_key=PARTITION_KEYS, change=CHANGES)
    def write(self, table: str, partition_key: str, change: Change) -> None:
        expected, entity = self._apply(table, partition_key, change, dict(self.tables.get(table.lower(), {})))
        response = self.ask(*self._request(table, partition_key, change))
        self.expect(response, expected)
        if expected.status == 204:
            self._keep(table, partition_key, change, entity, response.header("ETag"))

    @rule(
        table=TABLES,
        partition_key=PARTITION_KEYS,
        changes=st.lists(CHANGES, min_size=1, max_size=6, unique_by=lambda change: change.row_key),
    )
    def write_together(self, table: str, partition_key: str, changes: list[Change]) -> None:
        """All of them, or none, and the first that failed says why."""
        contents = dict(self.tables.get(table.lower(), {}))
        entities, failure = [], None
        for number, change in enumerate(changes):  # all are read before the first is applied
            if failure is None and change.method == "DELETE" and not change.etag:
                failure = number, Outcome(400, "MissingRequiredHeader")
        for number, change in enumerate(changes):
            if failure is not None:
                break
            outcome, entity = self._apply(table, partition_key, change, contents)
            if outcome.status != 204:
                failure = number, outcome
                break
            entities.append(entity)
        parts = "".join(self._part(*self._request(table, partition_key, change)) for change in changes)
        body = f"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{parts}--c--\r\n--b--\r\n".encode()
        response = self.ask("POST", "/$batch", body, {"Content-Type": "multipart/mixed; boundary=b"})
        assert response.status == 202
        answers = response.body.split(b"HTTP/1.1 ")[1:]
        if failure is not None:
            (answer,) = answers
            assert (int(answer[:3]), code_of(answer)) == failure[1], answer
            return
        assert [int(answer[:3]) for answer in answers] == [204] * len(changes)
        for change, entity, answer in zip(changes, entities, answers, strict=True):
            etag = answer.partition(b"ETag: ")[2].partition(b"\r\n")[0].decode() or None
            self._keep(table, partition_key, change, entity, etag)

    @rule(table=TABLES, partition_key=PARTITION_KEYS, row_key=ROW_KEYS)
    def get(self, table: str, partition_key: str, row_key: str) -> None:
        response = self.ask("GET", path_of(table, partition_key, row_key))
        contents = self.tables.get(table.lower())
        if contents is None:
            self.expect(response, Outcome(404, "TableNotFound"))
        elif (partition_key, row_key) not in contents:
            self.expect(response, Outcome(404, "ResourceNotFound"))
        else:
            assert response.status == 200
            assert response.header("ETag") == self.etags[table.lower(), partition_key, row_key]
            assert shown(json.loads(response.body)) == written(contents[partition_key, row_key])

    @rule(table=TABLES, filtered=FILTERS, top=st.sampled_from([1, 2, 5, 1000]))
    def query(self, table: str, filtered: tuple[str, Predicate], top: int) -> None:
        self._compare_query(table, filtered[0], filtered[1], top)

    @rule(table=TABLES, code=st.sampled_from(sorted(TOO_MUCH)))
    def insert_what_is_beyond_a_limit(self, table: str, code: str) -> None:
        body: dict[str, object] = {"PartitionKey": "p", "RowKey": "limit", **TOO_MUCH[code]}
        response = self.ask("POST", f"/{table}", json.dumps(body).encode())
        self.expect(response, Outcome(400, code))

    @rule()
    def reopen(self) -> None:
        """Everything that was answered is there again."""
        self.runner.run(self.store.close())
        self.runner.run(self._open())

    # What must happen.

    def _apply(
        self, table: str, partition_key: str, change: Change, contents: dict[tuple[str, str], Entity]
    ) -> tuple[Outcome, Entity | None]:
        """What a change must be answered, and the entity after it; `contents` is changed as the table would be."""
        if change.method == "DELETE" and not change.etag:
            return Outcome(400, "MissingRequiredHeader"), None
        if table.lower() not in self.tables:
            return Outcome(404, "TableNotFound"), None
        key = partition_key, change.row_key
        current = contents.get(key)
        if change.method == "POST":
            if current is not None:
                return Outcome(409, "EntityAlreadyExists"), None
        elif change.etag:
            if current is None:
                return Outcome(404, "ResourceNotFound"), None
            if change.etag == "stale" or (change.etag == "current" and (table.lower(), *key) not in self.etags):
                return Outcome(412, "UpdateConditionNotSatisfied"), None
        if change.method == "DELETE":
            del contents[key]
            return Outcome(204), None
        is_merge = change.method in ("MERGE", "PATCH")
        entity = (current or {} if is_merge else {}) | change.properties
        entity |= {"PartitionKey": string(partition_key), "RowKey": string(change.row_key)}
        contents[key] = entity
        return Outcome(204), entity

    def _keep(self, table: str, partition_key: str, change: Change, entity: Entity | None, etag: str | None) -> None:
        key = partition_key, change.row_key
        place = (table.lower(), *key)
        if entity is None:
            del self.tables[table.lower()][key]
            return
        assert etag is not None
        assert etag != self.etags.get(place)
        self.tables[table.lower()][key], self.etags[place] = entity, etag

    def _compare_query(self, table: str, text: str, holds: Predicate, top: int) -> None:
        found: list[dict[str, Any]] = []
        following = ""
        option = f"&$filter={quote(text)}" if text else ""
        while True:
            response = self.ask("GET", f"/{table}()?$top={top}{option}{following}")
            if table.lower() not in self.tables:
                self.expect(response, Outcome(404, "TableNotFound"))
                return
            assert response.status == 200, response.body
            page = json.loads(response.body)["value"]
            assert len(page) <= top
            found += map(shown, page)
            tokens = [response.header(f"x-ms-continuation-Next{name}") for name in ("PartitionKey", "RowKey")]
            if tokens[0] is None:
                break
            following = f"&NextPartitionKey={quote(tokens[0])}&NextRowKey={quote(tokens[1] or '')}"
        contents = self.tables[table.lower()]
        keys = sorted(contents, key=lambda key: [part.encode("utf-16-be") for part in key])
        assert found == [written(contents[key]) for key in keys if holds(contents[key])]

    def _request(self, table: str, partition_key: str, change: Change) -> tuple[str, str, bytes, dict[str, str]]:
        headers = {"Prefer": "return-no-content"} if change.method == "POST" else {}
        etag = change.etag
        if etag and change.method != "POST":
            known = self.etags.get((table.lower(), partition_key, change.row_key))
            stale = "W/\"datetime'2001-01-01T00%3A00%3A00Z'\""
            headers["If-Match"] = etag if etag == "*" else (known if etag == "current" and known else stale)
        if change.method == "POST":
            keys = {"PartitionKey": string(partition_key), "RowKey": string(change.row_key)}
            return "POST", f"/{table}", json.dumps(written(keys | change.properties)).encode(), headers
        path = path_of(table, partition_key, change.row_key)
        body = b"" if change.method == "DELETE" else json.dumps(written(change.properties)).encode()
        return change.method, path, body, headers

    @staticmethod
    def _part(method: str, path: str, body: bytes, headers: Mapping[str, str]) -> str:
        all_headers = {"Accept": JSON["Accept"], "Content-Type": "application/json", **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in all_headers.items())
        head = "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
        return f"{head}{method} http://h/{ACCOUNT}{path} HTTP/1.1\r\n{lines}\r\n{body.decode()}\r\n"


def path_of(table: str, partition_key: str, row_key: str) -> str:
    """The path of an entity."""
    first, second = (quote(key.replace("'", "''"), safe="") for key in (partition_key, row_key))
    return f"/{table}(PartitionKey='{first}',RowKey='{second}')"


def written(properties: Properties) -> dict[str, Any]:
    """Properties as JSON has them."""
    annotations = {
        f"{name}@odata.type": value.edm_type for name, value in properties.items() if value.edm_type in ANNOTATED
    }
    return {name: value.shown for name, value in properties.items()} | annotations


def shown(entity: Mapping[str, Any]) -> dict[str, Any]:
    """What an answer says of an entity, but for what the server made of it."""
    return {name: value for name, value in entity.items() if not name.startswith("odata.") and name != "Timestamp"}


def code_of(body: bytes) -> str:
    """The code of an error, empty where there is none."""
    return body.partition(b'"code":"')[2].partition(b'"')[0].decode()


def test_the_service_does_what_the_model_does() -> None:
    run_state_machine_as_test(
        ServiceMachine,
        settings=settings(
            max_examples=max(1, STEPS // STEPS_AT_ONCE),
            stateful_step_count=STEPS_AT_ONCE,
            deadline=None,
            derandomize=STEPS <= 1000,
            phases=PHASES,
            suppress_health_check=list(HealthCheck),
        ),
    )
