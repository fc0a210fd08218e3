"""What operations share: a table that must be there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.errors import Layer, TableNotFound
from rowkey.operations.operation import require_table

if TYPE_CHECKING:
    from tests.operations.conftest import Client


async def test_table_is_found_in_any_letter_case(orders: Client) -> None:
    assert (await require_table(orders.store, "devstoreaccount1", "oRDERS")).name == "Orders"


async def test_missing_table_is_refused_before_a_table_is_touched(client: Client) -> None:
    with pytest.raises(TableNotFound) as caught:
        await require_table(client.store, "devstoreaccount1", "Orders")
    assert caught.value.layer is Layer.LIBRARY


async def test_tables_of_another_account_are_not_found(orders: Client) -> None:
    with pytest.raises(TableNotFound):
        await require_table(orders.store, "somebodyelse", "Orders")
