"""`docs/storage-format-postgres.md` says what the database has."""

from __future__ import annotations

import re
from pathlib import Path

import asyncpg

from rowkey.model.datetimes import format_datetime, now_ticks
from rowkey.store.postgres import definitions

PAGE = (Path(__file__).parents[3] / "docs" / "storage-format-postgres.md").read_text(encoding="utf-8")


def lines_of(sql: str) -> list[str]:
    return [" ".join(line.split()) for line in sql.splitlines() if line.strip()]


def test_the_schema_is_the_one_in_the_source() -> None:
    shown = re.search(r"## Schema\n\n```sql\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    made = lines_of(definitions.MIGRATIONS[1])
    shown_lines = lines_of(shown[1])
    assert shown_lines == made[: len(shown_lines)]
    assert not [line for line in made[len(shown_lines) :] if line.startswith("CREATE") and "FUNCTION" not in line]


def test_every_function_is_described() -> None:
    table = PAGE[PAGE.index("| function |") : PAGE.index("`write` raises")].strip()
    described = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert described == set(re.findall(r"CREATE FUNCTION rowkey\.(\w+)", definitions.MIGRATIONS[1]))


def test_every_version_is_described() -> None:
    table = PAGE[PAGE.index("| version |") :]
    assert [int(number) for number in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == list(definitions.MIGRATIONS)
    assert max(definitions.MIGRATIONS) == definitions.VERSION


async def test_the_database_spells_timestamps_as_the_service_does(database: str) -> None:
    """All seven digits, for any moment that a write can have."""
    connection = await asyncpg.connect(database)
    for ticks in (116_444_736_000_000_001, now_ticks() // 10 * 10 + 7, 2_650_467_743_999_999_999):
        assert await connection.fetchval("SELECT rowkey.format_ticks($1)", ticks) == format_datetime(ticks)
    chosen = await connection.fetchval("SELECT rowkey.choose_ticks(0)")
    assert abs(chosen - now_ticks()) < 10_000_000
    assert await connection.fetchval("SELECT rowkey.choose_ticks($1)", chosen + 10**10) >= chosen + 10**10
    await connection.close()
