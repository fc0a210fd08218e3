"""The page of what is compatible, made of the tests that say what they prove.

A test says it with a marker::

    @pytest.mark.proves(client="plain HTTP", operation="Get Entity", format="Atom", authorisation="table SAS")

A claim is what one marker says. It stands on the page when all tests with this claim have passed, and is a "no" when
one has not. `pytest --write-compatibility` runs these tests alone and writes the page. Every other complete run
compares it with what its tests have shown, and fails if it says anything else.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PAGE = Path(__file__).parents[1] / "docs" / "compatibility-matrix.md"
TEMPLATE = Path(__file__).with_name("compatibility-matrix.template.md")

PLAIN_HTTP, ANONYMOUS = "plain HTTP", "anonymous"
AUTHORISATIONS = {
    "Shared Key": "K",
    "Shared Key Lite": "L",
    "table SAS": "T",
    "SAS by policy": "P",
    "account SAS": "A",
    "bearer token": "B",
    ANONYMOUS: "N",
}
"""The kinds of authorisation, and what the table of the clients has for them."""
LEVELS = ("JSON no metadata", "JSON minimal metadata", "JSON full metadata")
FORMATS = (*LEVELS, "JSON", "Atom", "XML", "no body")
STATES = ("served", "refused")


class Claim(NamedTuple):
    """What a passing test shows; "refused" is a refusal that is the service's own."""

    client: str
    operation: str
    format: str
    authorisation: str
    state: str = "served"
    variant: str = ""
    """Which of several forms of the operation, where a test tells them apart."""


def read_claim(item: pytest.Item) -> Claim | None:
    """What a test says that it proves, None for one that does not say so."""
    marker = item.get_closest_marker("proves")
    if marker is None:
        return None
    claim = Claim(**marker.kwargs)
    if claim.format not in FORMATS or claim.authorisation not in AUTHORISATIONS or claim.state not in STATES:
        raise pytest.UsageError(f"{item.nodeid} proves what the page has no place for: {claim}")
    return claim


class CompatibilityPage:
    """A plugin of pytest: collects what the tests of a run have shown, and writes or compares the page at its end."""

    def __init__(self, config: pytest.Config, page: Path = PAGE) -> None:
        self._config = config
        self._page = page
        self._is_writing: bool = config.getoption("--write-compatibility")
        self._claims: dict[str, Claim] = {}
        self._outcomes: dict[str, str] = {}
        self._is_whole = config.args == config.getini("testpaths") and not any(
            config.getoption(option, None) for option in ("target", "lf", "stepwise", "ignore", "ignore_glob")
        )
        self._message = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """To write the page, run only the tests that it is made of."""
        if self._is_writing:
            others = [item for item in items if item.get_closest_marker("proves") is None]
            items[:] = [item for item in items if item.get_closest_marker("proves") is not None]
            config.hook.pytest_deselected(items=others)

    def pytest_deselected(self, items: Iterable[pytest.Item]) -> None:
        """Without one of its tests, nothing can be said about the page."""
        if any(item.get_closest_marker("proves") for item in items):
            self._is_whole = False

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Read what the tests claim."""
        claims = {item.nodeid: read_claim(item) for item in session.items}
        self._claims = {name: claim for name, claim in claims.items() if claim is not None}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember how a test went; what fails in its end has failed."""
        name = report.nodeid
        is_outcome = name in self._claims and (report.when == "call" or not report.passed)
        if is_outcome and self._outcomes.get(name) != "failed":
            self._outcomes[name] = report.outcome

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the page, or compare it; a run that was not whole does neither."""
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        self._message = self._write() if self._is_writing else self._compare()
        if self._message and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what is wrong."""
        if self._message:
            terminalreporter.section(self._page.name, red=True)
            terminalreporter.line(self._message)

    def _write(self) -> str:
        """Write the page; the reason why not, where it cannot be done."""
        if not self._is_complete():
            return "Not written: it is made of all tests with the marker `proves`, and some of them were not run."
        if missing := sorted(self._unavailable()):
            return f"Not written: every test was skipped of {', '.join(missing)}."
        self._page.write_text(render(self._shown()), encoding="utf-8")
        return ""

    def _compare(self) -> str:
        """How the page differs from what the tests have shown; clients that cannot be had are taken at their word."""
        if not self._is_complete():
            return ""
        unavailable = self._unavailable()
        shown = {claim: is_shown or claim.client in unavailable for claim, is_shown in self._shown().items()}
        written = self._page.read_text(encoding="utf-8") if self._page.exists() else ""
        texts = written.splitlines(), render(shown).splitlines()
        difference = "\n".join(difflib.unified_diff(*texts, "the page", "the tests", lineterm="", n=0))
        return f"{difference}\n\nThe two say different things. `make compatibility` writes it." if difference else ""

    def _is_complete(self) -> bool:
        """Whether every test that the page is made of was there, and came to its end."""
        return self._is_whole and self._claims.keys() == self._outcomes.keys() and bool(self._claims)

    def _unavailable(self) -> set[str]:
        """The clients of which every test was skipped: their packages cannot be had here."""
        outcomes = defaultdict(set)
        for name, claim in self._claims.items():
            outcomes[claim.client].add(self._outcomes[name])
        return {client for client, found in outcomes.items() if found == {"skipped"}} - {PLAIN_HTTP}

    def _shown(self) -> dict[Claim, bool]:
        """Every claim, and whether all of its tests have passed."""
        shown = dict.fromkeys(self._claims.values(), True)
        for name, claim in self._claims.items():
            shown[claim] &= self._outcomes[name] == "passed"
        return shown


# ---------------------------------------------------------------- the page


def render(shown: Mapping[Claim, bool]) -> str:
    """The page for these claims, each of which was shown or was not."""
    of_http = {claim: is_shown for claim, is_shown in shown.items() if claim.client == PLAIN_HTTP}
    of_clients = {claim: is_shown for claim, is_shown in shown.items() if claim.client != PLAIN_HTTP}
    kinds = [kind for kind in AUTHORISATIONS if any(claim.authorisation == kind for claim in of_http)]
    forms = dict.fromkeys((claim.operation, claim.variant) for claim in of_http)
    clients = sorted({claim.client for claim in of_clients}, key=_naturally)
    known = dict.fromkeys(claim.operation for claim in [*of_http, *of_clients])
    operations = [name for name in known if any(claim.operation == name for claim in of_clients)]
    return TEMPLATE.read_text(encoding="utf-8").format(
        operations=_table(
            ["operation", *kinds],
            [[", ".join(filter(None, form)), *(_formats(of_http, *form, kind) for kind in kinds)] for form in forms],
        ),
        letters=", ".join(f"{letter} {kind}" for kind, letter in AUTHORISATIONS.items() if kind != ANONYMOUS),
        clients=_table(
            ["operation", *clients],
            [[name, *(_kinds(of_clients, name, client) for client in clients)] for name in operations],
        ),
    )


def _formats(shown: Mapping[Claim, bool], operation: str, variant: str, kind: str) -> str:
    """A cell of the first table: the formats in which an operation is served, with one kind of authorisation."""
    served, refused, failed = (
        _in_short(claim.format for claim in claims)
        for claims in _by_outcome(
            {
                claim: is_shown
                for claim, is_shown in shown.items()
                if (claim.operation, claim.variant, claim.authorisation) == (operation, variant, kind)
            }
        )
    )
    if refused:
        refused = f"refused: {refused}" if served or failed else "refused"
    return "; ".join(filter(None, (served, refused, failed and f"**no**: {failed}"))) or "-"


def _in_short(formats: Iterable[str]) -> str:
    """Formats with the levels of JSON as one, if all are there."""
    found = set(formats)
    if found.issuperset(LEVELS):
        found = (found - set(LEVELS)) | {"JSON"}
    return ", ".join(name for name in FORMATS if name in found)


def _kinds(shown: Mapping[Claim, bool], operation: str, client: str) -> str:
    """A cell of the second table: for each format, the kinds of authorisation with which a client is served."""
    texts = []
    for name in FORMATS:
        found = {
            claim: is_shown
            for claim, is_shown in shown.items()
            if (claim.operation, claim.client, claim.format) == (operation, client, name)
        }
        served, refused, failed = (_letters(claims) for claims in _by_outcome(found))
        if found:
            parts = (name, served, refused and f"({refused})", failed and f"**no**: {failed}")
            texts.append(" ".join(filter(None, parts)))
    return "; ".join(texts) or "-"


def _letters(claims: Iterable[Claim]) -> str:
    """The kinds of authorisation of these claims, in short."""
    found = {claim.authorisation for claim in claims}
    return " ".join(letter for kind, letter in AUTHORISATIONS.items() if kind in found)


def _by_outcome(shown: Mapping[Claim, bool]) -> tuple[list[Claim], list[Claim], list[Claim]]:
    """The claims that were shown to be served and to be refused, and those that were not shown."""
    return (
        [claim for claim, is_shown in shown.items() if is_shown and claim.state == "served"],
        [claim for claim, is_shown in shown.items() if is_shown and claim.state == "refused"],
        [claim for claim, is_shown in shown.items() if not is_shown],
    )


def _table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    head, *lines = (f"| {' | '.join(line)} |" for line in (heads, *rows))
    return "\n".join([head, "|---" * len(heads) + "|", *lines])


def _naturally(text: str) -> list[tuple[int, str]]:
    """A key that puts 0.8 before 0.11."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text.lower())]
