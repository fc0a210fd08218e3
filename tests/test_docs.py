"""The documents say what the source says: tables are compared with it, and links lead somewhere.

Where a test fails because the source has something new, its message shows what the document lacks.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import apsw
import orjson
import pytest

from rowkey import config, errors
from rowkey.auth import shared_key
from rowkey.model import limits
from rowkey.model.entity import Key, compose_entity, members_of
from rowkey.odata import parser, planner
from rowkey.router import OWN_ROUTES, ROUTES, Route
from rowkey.server import refusals
from rowkey.server.limits import Limits
from rowkey.store import interface
from rowkey.store.embedded.key_code import TABLE_BYTES, read_key, table_prefix, write_key
from rowkey.store.embedded.statements import APPLICATION_ID, FORMAT, SCHEMA

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
DOCUMENTS = sorted(DOCS.rglob("*.md"))
RECORDS = sorted(path for path in (DOCS / "adr").glob("*.md") if path.name != "README.md")


def name_of(path: Path) -> str:
    """A document as a test's id."""
    return str(path.relative_to(ROOT))


def read(document: str) -> str:
    """The text of a document."""
    return (DOCS / document).read_text(encoding="utf-8")


def table(document: str, *heads: str) -> list[list[str]]:
    """The cells of the first table that begins with these column heads."""
    lines = iter(read(document).splitlines())
    for line in lines:
        if cells(line)[: len(heads)] == list(heads):
            next(lines)
            rows = []
            for row in lines:
                if not row.startswith("|"):
                    break
                rows.append(cells(row))
            return rows
    pytest.fail(f"docs/{document} has no table with the columns {heads}")


def cells(line: str) -> list[str]:
    """What stands between the bars of a line."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []


def code(cell: str) -> str:
    """A cell without its back quotes."""
    return cell.strip("`")


# ---------------------------------------------------------------- links


def anchors(path: Path) -> set[str]:
    """What a link may name within a document: its headings, as GitHub turns them into anchors."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(path: Path) -> list[str]:
    """The targets of a document's links, but for those to other sites."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("https://")]


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document: Path) -> None:
    for link in links(document):
        file, _, anchor = link.partition("#")
        target = (document.parent / file) if file else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_document_is_listed(document: Path) -> None:
    """Each from the index of its folder, or of the whole."""
    if document != DOCS / "README.md":
        indexes = [DOCS / "README.md", document.parent / "README.md"]
        listed = {(index.parent / link).resolve() for index in indexes if index.exists() for link in links(index)}
        assert document.resolve() in listed, f"docs/README.md does not list {name_of(document)}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_named_files_exist(document: Path) -> None:
    """A name in back quotes that has a folder and ends in .py or .toml is a file of the repository."""
    for name in re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|toml))`", document.read_text(encoding="utf-8")):
        if "yours" not in name:
            assert (ROOT / "src" / "rowkey" / name).exists() or (ROOT / name).exists(), name


def test_documents_named_in_the_source_exist() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        for name in re.findall(r"`(docs/[\w./-]+)`", path.read_text(encoding="utf-8")):
            assert (ROOT / name).exists(), f"{path.relative_to(ROOT)} names {name}"


# ---------------------------------------------------------------- decisions


def test_decisions_are_listed_with_their_titles() -> None:
    listed = dict(re.findall(r"^\| \[\d{4}\]\((.+?)\) \| (.+?) \|$", read("adr/README.md"), re.MULTILINE))
    titles = {path.name: path.read_text(encoding="utf-8").splitlines()[0] for path in RECORDS}
    assert {name: f"# {name[:4]}: {title}" for name, title in listed.items()} == titles


def test_decisions_are_numbered_without_gaps() -> None:
    assert [int(path.name[:4]) for path in RECORDS] == list(range(1, len(RECORDS) + 1))


# ---------------------------------------------------------------- the command and its settings


def test_every_option_of_serve_is_explained() -> None:
    command = [sys.executable, "-m", "rowkey", "serve", "--help"]
    usage = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout
    options = set(re.findall(r"--[a-z][a-z-]*", usage)) - {"--help"}
    explained = {code(row[0]).split()[0] for row in table("how-to/run.md", "option")}
    assert explained == options


def test_every_setting_is_explained() -> None:
    named = {code(row[2]) for row in table("how-to/run.md", "option") if row[2]}
    assert named == {field.name for field in fields(config.Settings)}


def test_every_bound_of_a_connection_is_explained() -> None:
    explained = {code(row[0]): row[1].split()[0] for row in table("how-to/run.md", "bound")}
    assert explained == {field.name: f"{getattr(Limits(), field.name):,}" for field in fields(Limits)}


def test_every_limit_is_in_the_table() -> None:
    """All of the data model, and those that are ours alone."""
    wanted = {name: value for name, value in vars(limits).items() if name.isupper()}
    for module, names in (
        (parser, ("FILTER_LENGTH_MAX", "PARENTHESES_MAX", "DEPTH_MAX")),
        (planner, ("RANGES_MAX",)),
        (shared_key, ("SKEW_SECONDS_MAX",)),
    ):
        wanted |= {name: getattr(module, name) for name in names}
    rows = {code(row[3]): row[1] for row in table("compatibility.md", "limit", "value")}
    assert rows == {name: f"{value:,.0f}" for name, value in wanted.items()}


# ---------------------------------------------------------------- operations


def words_of(route: Route) -> str:
    """The operation's name in the words of the REST reference: `InsertOrMergeEntity` is Insert Or Merge Entity."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", route.operation.__name__)


def test_every_route_is_in_the_table() -> None:
    """And nothing is in it that is not there."""
    if_match = {None: "-", True: "with", False: "without"}
    routes = {(words_of(route), f"{route.method} {route.kind.value}", if_match[route.has_if_match]) for route in ROUTES}
    rows = table("compatibility.md", "operation", "request")
    assert {(row[0], code(row[1]), row[2]) for row in rows} == routes


def test_every_addition_is_in_the_table() -> None:
    rows = table("compatibility.md", "addition", "request")
    assert {(row[0], code(row[1])) for row in rows} == {
        (words_of(route), f"{route.method} {route.kind.value}") for route in OWN_ROUTES
    }


def test_every_operation_is_in_the_matrix_and_none_has_failed() -> None:
    """What else the page says is compared with the tests' outcomes at the end of every complete run."""
    rows = table("compatibility-matrix.md", "operation", "Shared Key")
    assert {row[0].partition(",")[0] for row in rows} == {words_of(route) for route in ROUTES}
    assert "**no**" not in read("compatibility-matrix.md")


def test_deviations_are_numbered_and_those_referred_to_exist() -> None:
    text = read("compatibility.md")
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    for reference in re.findall(r"\[deviations? ([^\]]+)\]", text):
        assert {int(number) for number in re.findall(r"\d+", reference)} <= set(numbers)


# ---------------------------------------------------------------- errors


class ErrorLine(NamedTuple):
    """What a client sees of an error class."""

    code: str
    status: int
    layer: str
    text: str


def error_lines(*modules: ModuleType) -> set[ErrorLine]:
    """The error classes of these modules."""
    return {
        ErrorLine(value.code, value.status, value.default_layer.value, value.message)
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, errors.ServiceError)
    }


def test_every_error_is_in_the_table() -> None:
    rows = table("errors.md", "code", "status")
    documented = {ErrorLine(code(row[0]), int(row[1]), row[2], row[3]) for row in rows}
    raised = error_lines(errors, refusals, interface)
    missing = "\n".join(
        f"| `{line.code}` | {line.status} | {line.layer} | {line.text} | |" for line in raised - documented
    )
    assert raised <= documented, f"docs/errors.md lacks:\n{missing}"
    assert documented <= raised, documented - raised
    assert len(rows) == len(documented)


def test_every_error_says_when() -> None:
    for row in table("errors.md", "code", "status"):
        assert row[4], row[0]


def test_every_layer_is_described() -> None:
    described = {code(row[0]) for row in table("architecture.md", "`Layer`")}
    assert described == {layer.name for layer in errors.Layer}


# ---------------------------------------------------------------- the format on disk


def sql_of(text: str) -> list[str]:
    """SQL with its white space evened out, a line for each statement's line."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_the_schema_is_the_one_in_the_source() -> None:
    shown = re.search(r"## Schema\n\n```sql\n(.*?)```", read("storage-format.md"), re.DOTALL)
    assert shown is not None
    assert sql_of(shown[1]) == sql_of(SCHEMA)


def test_the_versions_are_those_in_the_source() -> None:
    rows = {code(row[0]): row[1] for row in table("storage-format.md", "field of the database header")}
    assert rows["application_id"].startswith(f"0x{APPLICATION_ID:X},")
    assert rows["user_version"] == str(FORMAT)


def test_the_examples_of_the_key_code_are_right() -> None:
    rows = table("storage-format.md", "PartitionKey", "RowKey")
    assert rows
    for row in rows:
        key = Key(*(json.loads(code(cell)) for cell in row[:2]))
        shown = bytes.fromhex("".join(code(cell) for cell in row[2:] if cell != "-"))
        written = write_key(table_prefix(1), key)
        assert written[TABLE_BYTES:] == shown, key
        if "\0" not in key.row_key:
            assert read_key(written) == key


def test_the_example_of_an_entity_is_right() -> None:
    text = read("storage-format.md")
    shown = re.search(r"```json\n(.*?)\n```", text, re.DOTALL)
    assert shown is not None
    values = orjson.loads(shown[1])
    key = Key(values["PartitionKey"], values["RowKey"])
    ticks = re.search(r"The timestamp of the example is (\d+)\.", text)
    assert ticks is not None
    assert shown[1] == compose_entity(key, int(ticks[1]), members_of(shown[1])).text

    body: bytes = apsw.Connection(":memory:").execute("SELECT jsonb(?)", (shown[1],)).get
    assert f"takes {len(body)} bytes instead of {len(shown[1])}" in text
    dump = re.search(r"```text\nCC (.*?)```", text, re.DOTALL)
    assert dump is not None
    for element in re.split(r"^ {3}(?! )", dump[1], flags=re.MULTILINE)[1:]:
        shown_bytes = " ".join(re.findall(r"^ *((?:[0-9A-F]{2} ?)+)(?: {2}|\.\.\.|$)", element, re.MULTILINE))
        assert bytes.fromhex(shown_bytes) in body, element


# ---------------------------------------------------------------- code


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_python_code_can_be_read(document: Path) -> None:
    """And imports only what there is."""
    for block in re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom):
                module = __import__(str(node.module), fromlist=[name.name for name in node.names])
                assert all(hasattr(module, name.name) for name in node.names)
