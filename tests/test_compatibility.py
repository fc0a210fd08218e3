"""The page of what is compatible says what the tests of a run have shown, or the run fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compatibility import LEVELS, PLAIN_HTTP, Claim, render

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = ["pytester"]

CONFTEST = """
from pathlib import Path

from tests.compatibility import CompatibilityPage

def pytest_addoption(parser):
    parser.addoption("--write-compatibility", action="store_true")

def pytest_configure(config):
    config.addinivalue_line("markers", "proves: what a test shows")
    config.pluginmanager.register(CompatibilityPage(config, Path("page.md")))
"""
TESTS = """
import pytest

def proves(client, operation):
    return pytest.mark.proves(client=client, operation=operation, format="JSON", authorisation="Shared Key")

@proves("old", "Get Entity")
@pytest.mark.parametrize("number", range(2))
def test_of_old(number):
    {of_old}

@proves("new", "Get Entity")
def test_of_new():
    {of_new}

def test_of_something_else():
    pass
"""
NOT_NEEDED = ("cacheprovider", "asyncio", "hypothesispytest", "anyio")
BOTH, WRONG, NOT_NEW = "| Get Entity | JSON K | JSON K |", "| Get Entity | JSON K | JSON K B |", "JSON **no**: K"


def run(pytester: pytest.Pytester, *options: str, of_old: str = "pass", of_new: str = "pass") -> pytest.RunResult:
    """A run of two tests that claim something, and one that does not."""
    pytester.makeini("[pytest]\ntestpaths = .")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS.format(of_old=of_old, of_new=of_new))
    return pytester.runpytest_inprocess(*(f"-pno:{name}" for name in NOT_NEEDED), *options)


@pytest.fixture
def page(pytester: pytest.Pytester) -> Path:
    """The page, as the tests write it when all is well."""
    path = pytester.path / "page.md"
    assert run(pytester, "--write-compatibility").ret == pytest.ExitCode.OK
    assert BOTH in path.read_text(encoding="utf-8")
    return path


def test_written_page_is_accepted(pytester: pytest.Pytester, page: Path) -> None:
    result = run(pytester)
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=4)


def test_only_tests_that_prove_something_are_run_to_write_it(pytester: pytest.Pytester) -> None:
    run(pytester, "--write-compatibility").assert_outcomes(passed=3, deselected=1)


@pytest.mark.parametrize("changed", [WRONG, "| Get Entity | JSON K | - |", ""])
def test_page_that_says_something_else_fails_the_run(pytester: pytest.Pytester, page: Path, changed: str) -> None:
    page.write_text(page.read_text(encoding="utf-8").replace(BOTH, changed), encoding="utf-8")
    result = run(pytester)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"+{BOTH}", "*`make compatibility` writes it."])


def test_missing_page_fails_the_run(pytester: pytest.Pytester, page: Path) -> None:
    page.unlink()
    assert run(pytester).ret == pytest.ExitCode.TESTS_FAILED


def test_failed_test_is_a_no(pytester: pytest.Pytester, page: Path) -> None:
    """Even when another test with the same claim has passed."""
    result = run(pytester, of_old="assert number")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"+| Get Entity | JSON K | {NOT_NEW} |"])
    assert run(pytester, "--write-compatibility", of_new="assert False").ret == pytest.ExitCode.TESTS_FAILED
    assert f"| Get Entity | {NOT_NEW} | JSON K |" in page.read_text(encoding="utf-8")


def test_test_that_is_skipped_shows_nothing(pytester: pytest.Pytester, page: Path) -> None:
    result = run(pytester, of_old="number or pytest.skip()")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_client_that_cannot_be_had_is_left_out(pytester: pytest.Pytester, page: Path) -> None:
    """Of the comparison, but the page cannot be written without it."""
    assert run(pytester, of_new="pytest.skip()").ret == pytest.ExitCode.OK
    before = page.read_text(encoding="utf-8")
    result = run(pytester, "--write-compatibility", of_new="pytest.skip()")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["Not written: every test was skipped of new."])
    assert page.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("options", [["-k", "new"], ["--collect-only"], ["-x"], ["--ignore", "other"], ["conftest.py"]])
def test_partial_run_does_not_look_at_the_page(pytester: pytest.Pytester, page: Path, options: list[str]) -> None:
    page.unlink()
    result = run(pytester, *options, of_old="assert number")
    assert not result.stdout.str().count("make compatibility")
    assert not page.exists()


def test_partial_run_does_not_write_the_page(pytester: pytest.Pytester, page: Path) -> None:
    page.unlink()
    result = run(pytester, "--write-compatibility", "-k", "new")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["Not written: * some of them were not run."])
    assert not page.exists()


def test_cells_of_the_first_table() -> None:
    """Formats and states that are not all the same are told apart."""
    get = Claim(PLAIN_HTTP, "Get Entity", "Atom", "Shared Key")
    text = render(
        {
            **dict.fromkeys((get._replace(format=level) for level in LEVELS), True),
            get: True,
            **{get._replace(format=level, authorisation="table SAS"): level != LEVELS[1] for level in LEVELS},
            get._replace(format="XML", authorisation="table SAS", state="refused"): True,
            get._replace(authorisation="account SAS", state="refused"): True,
        }
    )
    assert "| operation | Shared Key | table SAS | account SAS |" in text
    assert (
        "| Get Entity | JSON, Atom | JSON no metadata, JSON full metadata; refused: XML; **no**: JSON minimal metadata "
        "| refused |"
    ) in text


def test_cells_of_the_second_table() -> None:
    get = Claim("azure 0.11.1", "Get Entity", "Atom", "Shared Key")
    text = render(
        {
            get: True,
            get._replace(authorisation="table SAS", state="refused"): True,
            get._replace(format="JSON", authorisation="bearer token"): False,
            get._replace(client="azure 0.8.4", operation="Query Tables"): True,
        }
    )
    assert "| operation | azure 0.8.4 | azure 0.11.1 |" in text
    assert "| Get Entity | - | JSON **no**: B; Atom K (T) |" in text
    assert "| Query Tables | Atom K | - |" in text
