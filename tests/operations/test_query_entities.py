"""Query Entities: GET /Table()."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from rowkey.errors import AtomFormatNotSupported, InvalidInput, InvalidQuery, NotImplementedOnResource
from rowkey.model.entity import Key
from rowkey.operations.query_entities import QueryEntities
from rowkey.wire.media import Format

if TYPE_CHECKING:
    from rowkey.errors import ServiceError
    from tests.operations.conftest import Client

BASE = "http://127.0.0.1:10002/devstoreaccount1"
NO_METADATA = {"Accept": "application/json;odata=nometadata"}


class TestDecode:
    @pytest.mark.parametrize(
        ("query", "start", "top", "select"),
        [
            ("", None, 1000, None),
            ("?$top=5&$select=A,B", None, 5, ("A", "B")),
            ("?NextPartitionKey=1!4!ZXU-&NextRowKey=1!4!Mw--", Key("eu", "3"), 1000, None),
            ("?NextPartitionKey=1%214%21ZXU-", Key("eu", ""), 1000, None),
            ("?NextPartitionKey=1!4!ZXU-&NextRowKey=", Key("eu", ""), 1000, None),
            ("?nextpartitionkey=Customers&NEXTROWKEY=BONAP", Key("Customers", "BONAP"), 1000, None),
            ("?$ct=Customers/BONAP", Key("Customers", "BONAP"), 1000, None),
            ("?$ct=Customers", Key("Customers", ""), 1000, None),
            ("?$filter=", None, 1000, None),
            ("?$filter=%20+", None, 1000, None),
            ("?timeout=90&cache=buster", None, 1000, None),
        ],
    )
    @pytest.mark.parametrize("path", ["/Orders", "/Orders()", "/Orders/", "/Orders%28%29"])
    def test_options(
        self, client: Client, path: str, query: str, start: Key | None, top: int, select: tuple[str, ...] | None
    ) -> None:
        operation = client.decode("GET", path + query)
        assert isinstance(operation, QueryEntities)
        assert operation.table == "Orders"
        assert (operation.start, operation.top, operation.select) == (start, top, select)
        assert operation.format is Format.MINIMAL_METADATA

    @pytest.mark.parametrize(("query", "seconds"), [("", 5), ("?timeout=90", 5), ("?timeout=0", 5), ("?timeout=2", 2)])
    def test_a_page_takes_no_longer_than_the_client_waits(self, client: Client, query: str, seconds: float) -> None:
        operation = client.decode("GET", "/Orders" + query)
        assert isinstance(operation, QueryEntities)
        assert operation.seconds == seconds

    @pytest.mark.parametrize(
        ("query", "error"),
        [
            ("?$top=0", InvalidQuery),
            ("?$top=-1", InvalidQuery),
            ("?$top=1001", InvalidQuery),
            ("?$top=x", InvalidQuery),
            ("?$filter=aaa%20bbb%20ccc", InvalidQuery),
            ("?$filter=A%20eq%20null", InvalidQuery),
            ("?$filter=A%20eq%201%C2%A0", InvalidQuery),
            ("?$filter=%E3%80%80A%20eq%201", InvalidQuery),
            ("?$filter=length(A)%20eq%201", NotImplementedOnResource),
            ("?$filter=A%20eq%20tolower('B')", NotImplementedOnResource),
            ("?$select=a%20b", InvalidQuery),
            ("?NextPartitionKey=1!4!x", InvalidInput),
            ("?$ct=a/b&NextPartitionKey=a", InvalidInput),
            ("?$format=atom", AtomFormatNotSupported),
        ],
    )
    def test_options_that_are_refused(self, client: Client, query: str, error: type[ServiceError]) -> None:
        with pytest.raises(error):
            client.decode("GET", f"/Orders(){query}")


@pytest.fixture
async def stored(orders: Client) -> Client:
    """A client of an account with five entities in two partitions, inserted in no order."""
    for partition_key, row_key, qty in [("us", "1", 4), ("eu", "3", 3), ("eu", "1", 1), ("eu", "2", 2), ("us", "2", 5)]:
        await orders.ask("POST", "/Orders", {"PartitionKey": partition_key, "RowKey": row_key, "Qty": qty})
    return orders


async def quantities(client: Client, query: str = "") -> list[int]:
    response = await client.ask("GET", f"/Orders(){query}", headers=NO_METADATA)
    assert response.status == 200, response.body
    return [entity["Qty"] for entity in json.loads(response.body)["value"]]


class TestRun:
    async def test_no_entities(self, orders: Client) -> None:
        response = await orders.ask("GET", "/Orders()")
        assert response.body.decode() == f'{{"odata.metadata":"{BASE}/$metadata#Orders","value":[]}}'
        assert response.header("ETag") is None
        assert response.header("x-ms-continuation-NextPartitionKey") is None
        assert (await orders.ask("GET", "/Orders()", headers=NO_METADATA)).body == b'{"value":[]}'

    async def test_three_levels(self, orders: Client) -> None:
        body = {"PartitionKey": "eu", "RowKey": "1", "When@odata.type": "Edm.DateTime", "When": "2008-10-01T15:25:05Z"}
        await orders.ask("POST", "/Orders", body)
        answers = [
            (await orders.ask("GET", "/Orders()", headers={"Accept": f"application/json;odata={level}"})).body.decode()
            for level in ("nometadata", "minimalmetadata", "fullmetadata")
        ]
        metadata = f'"odata.metadata":"{BASE}/$metadata#Orders"'
        etag = '"odata.etag":"W/\\"datetime\'2026-08-03T10%3A15%3A31.1234567Z\'\\""'
        time = '"Timestamp":"2026-08-03T10:15:31.1234567Z"'
        when = '"When@odata.type":"Edm.DateTime","When":"2008-10-01T15:25:05Z"'
        link = "Orders(PartitionKey='eu',RowKey='1')"
        assert answers == [
            f'{{"value":[{{"PartitionKey":"eu","RowKey":"1",{time},"When":"2008-10-01T15:25:05Z"}}]}}',
            f'{{{metadata},"value":[{{{etag},"PartitionKey":"eu","RowKey":"1",{time},{when}}}]}}',
            f'{{{metadata},"value":[{{"odata.type":"devstoreaccount1.Orders","odata.id":"{BASE}/{link}",{etag},'
            f'"odata.editLink":"{link}","PartitionKey":"eu","RowKey":"1",'
            f'"Timestamp@odata.type":"Edm.DateTime",{time},{when}}}]}}',
        ]

    async def test_order_is_by_partition_key_then_row_key(self, stored: Client) -> None:
        assert await quantities(stored) == [1, 2, 3, 4, 5]

    async def test_order_is_that_of_utf_16(self, orders: Client) -> None:
        """A surrogate pair sorts before U+FF21, which UTF-8 would have the other way round."""
        for qty, row_key in enumerate(["", "A", "a", "é", "😀", "Ａ"]):
            await orders.ask("POST", "/Orders", {"PartitionKey": "p", "RowKey": row_key, "Qty": qty})
        assert await quantities(orders) == [0, 1, 2, 3, 4, 5]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("PartitionKey eq 'eu'", [1, 2, 3]),
            ("PartitionKey eq 'eu' and RowKey ge '2'", [2, 3]),
            ("PartitionKey eq 'eu' and RowKey eq '2'", [2]),
            ("PartitionKey gt 'eu'", [4, 5]),
            ("'us' eq PartitionKey", [4, 5]),
            ("Qty gt 3 or RowKey eq '1'", [1, 4, 5]),
            ("Qty gt 3 and RowKey eq '1' or Qty eq 2", [2, 4]),
            ("not (PartitionKey eq 'eu')", [4, 5]),
            ("Qty ge 2L and Qty lt 4.5", [2, 3, 4]),
            ("Nope eq 'x'", []),
            ("Nope ne 'x'", []),
            ("n" * 256 + " eq 1", []),
            ("é" * 256 + " eq 1", []),
            ("Timestamp ge datetime'0001-01-01T00:00:00.0000000Z'", [1, 2, 3, 4, 5]),
            ("Timestamp lt datetime'0001-01-01T00:00:00.0000000Z'", []),
            ("false", []),
            ("true", [1, 2, 3, 4, 5]),
            ("Timestamp gt datetime'2026-08-03T10:15:31.1234569Z'", [2, 5]),
        ],
    )
    async def test_filter(self, stored: Client, text: str, expected: list[int]) -> None:
        encoded = quote(text).replace("%20", "+")
        assert await quantities(stored, f"?%24filter={encoded}") == expected

    async def test_pages(self, stored: Client) -> None:
        """A token names the first entity of the next page; the last page has none (recorded)."""
        pages: list[list[int]] = []
        query = ""
        for _ in range(3):
            response = await stored.ask("GET", f"/Orders()?$top=2{query}", headers=NO_METADATA)
            pages.append([entity["Qty"] for entity in json.loads(response.body)["value"]])
            partition_key = response.header("x-ms-continuation-NextPartitionKey")
            row_key = response.header("x-ms-continuation-NextRowKey")
            query = f"&NextPartitionKey={partition_key}&NextRowKey={row_key}"
        assert pages == [[1, 2], [3, 4], [5]]
        assert (partition_key, row_key) == (None, None)

    async def test_tokens_in_the_form_of_the_service(self, stored: Client) -> None:
        response = await stored.ask("GET", "/Orders()?$top=2")
        assert response.header("x-ms-continuation-NextPartitionKey") == "1!4!ZXU-"
        assert response.header("x-ms-continuation-NextRowKey") == "1!4!Mw--"

    async def test_client_of_2008_gets_plain_keys(self, stored: Client) -> None:
        headers = {"x-ms-version": None, "Accept": "application/json"}
        response = await stored.ask("GET", "/Orders()?$top=2", headers=headers)
        assert response.header("x-ms-continuation-NextPartitionKey") == "eu"
        assert response.header("x-ms-continuation-NextRowKey") == "3"
        assert await quantities(stored, "?NextPartitionKey=eu&NextRowKey=3") == [3, 4, 5]

    async def test_page_that_ends_with_the_last_entity_has_no_token(self, stored: Client) -> None:
        response = await stored.ask("GET", "/Orders()?$top=5")
        assert response.header("x-ms-continuation-NextPartitionKey") is None

    async def test_token_stays_valid_when_its_entity_is_gone(self, stored: Client) -> None:
        await stored.ask("DELETE", "/Orders(PartitionKey='eu',RowKey='3')", headers={"If-Match": "*"})
        assert await quantities(stored, "?NextPartitionKey=1!4!ZXU-&NextRowKey=1!4!Mw--") == [4, 5]

    async def test_pages_with_a_filter_miss_nothing(self, stored: Client) -> None:
        found: list[int] = []
        query = ""
        for _ in range(10):
            response = await stored.ask("GET", f"/Orders()?$top=1&$filter=RowKey+eq+'1'{query}", headers=NO_METADATA)
            found += [entity["Qty"] for entity in json.loads(response.body)["value"]]
            if response.header("x-ms-continuation-NextPartitionKey") is None:
                break
            tokens = [response.header(f"x-ms-continuation-Next{part}Key") for part in ("Partition", "Row")]
            query = "&NextPartitionKey={}&NextRowKey={}".format(*tokens)
        assert found == [1, 4]

    async def test_a_thousand_at_once(self, orders: Client) -> None:
        for number in range(1001):
            await orders.ask("PUT", f"/Orders(PartitionKey='p',RowKey='{number:04}')", {"Qty": number})
        response = await orders.ask("GET", "/Orders()", headers=NO_METADATA)
        assert len(json.loads(response.body)["value"]) == 1000
        assert response.header("x-ms-continuation-NextRowKey") == "1!8!MTAwMA--"

    async def test_projection(self, stored: Client) -> None:
        query = "?$select=Qty,%20Nope&$filter=PartitionKey%20eq%20'us'"
        response = await stored.ask("GET", f"/Orders(){query}", headers=NO_METADATA)
        assert response.body == b'{"value":[{"Nope":null,"Qty":4},{"Nope":null,"Qty":5}]}'
        body = (await stored.ask("GET", f"/Orders(){query}")).body.decode()
        assert body.startswith(f'{{"odata.metadata":"{BASE}/$metadata#Orders&$select=Qty,%20Nope","value":[{{"odata.')

    async def test_syntax_error_in_the_words_of_the_service(self, orders: Client) -> None:
        """Recorded: test_query_invalid_filter; before a table is touched, so without Cache-Control."""
        response = await orders.ask("GET", "/Nowhere()?$filter=aaa%20bbb%20ccc")
        assert orders.refusal(response) == (400, "InvalidInput", "Syntax error at position 7 in 'aaa bbb ccc'.")
        assert response.header("Cache-Control") is None
        assert response.header("X-Content-Type-Options") == "nosniff"

    async def test_a_position_counts_the_blanks_in_front(self, orders: Client) -> None:
        text = "Syntax error at position 8 in ' aaa bbb ccc '."
        assert await orders.refused("GET", "/Orders()?$filter=%20aaa+bbb+ccc+") == (400, "InvalidInput", text)

    async def test_bad_selection_in_the_words_of_the_service(self, orders: Client) -> None:
        response = await orders.ask("GET", "/Orders()?$select=['age,%20sex']")
        assert orders.refusal(response) == (400, "InvalidInput", "An identifier was expected at position 0.")
        assert response.header("Cache-Control") is None

    async def test_missing_table(self, client: Client) -> None:
        assert await client.refused("GET", "/Orders()") == (
            404,
            "TableNotFound",
            "The table specified does not exist.",
        )

    @pytest.mark.parametrize("option", ["$orderby", "$skip", "$inlinecount", "$expand", "$skiptoken"])
    async def test_options_that_the_service_has_not(self, orders: Client, option: str) -> None:
        assert await orders.refused("GET", f"/Orders()?{option}=1") == (
            501,
            "NotImplemented",
            "The requested operation is not implemented on the specified resource.",
        )


class TestAtom:
    async def test_feed(self, stored: Client) -> None:
        response = await stored.ask_in_atom("GET", "/Orders()?$filter=PartitionKey%20eq%20'eu'&$top=2")
        assert response.status == 200
        assert response.header("Content-Type") == "application/atom+xml;charset=utf-8"
        assert response.header("x-ms-continuation-NextRowKey") == "1!4!Mw--"
        text = response.body.decode()
        assert text.count("<entry m:etag=") == 2
        assert f'<id>{BASE}/Orders</id><title type="text">Orders</title><updated>' in text
        assert f"<id>{BASE}/Orders(PartitionKey='eu',RowKey='2')</id>" in text

    async def test_no_entities(self, orders: Client) -> None:
        response = await orders.ask_in_atom("GET", "/Orders")
        assert (response.status, b"<entry" in response.body) == (200, False)

    @pytest.mark.parametrize(
        ("version", "kind"), [("2011-08-18", ""), ("2012-02-12", ""), ("2014-02-14", "type=feed;")]
    )
    async def test_content_type(self, orders: Client, version: str, kind: str) -> None:
        response = await orders.ask_in_atom("GET", "/Orders", headers={"x-ms-version": version})
        assert response.header("Content-Type") == f"application/atom+xml;{kind}charset=utf-8"

    async def test_table_as_it_was_addressed(self, stored: Client) -> None:
        response = await stored.ask_in_atom("GET", "/oRDERS")
        assert b'<link rel="self" title="oRDERS" href="oRDERS" />' in response.body

    async def test_keys_as_tokens_in_2008(self, stored: Client) -> None:
        """Raw where a header can hold them."""
        headers = {"x-ms-version": None}
        await stored.ask_in_atom(
            "POST", "/Orders", "<d:PartitionKey>é</d:PartitionKey><d:RowKey>1!x</d:RowKey>", headers
        )
        tokens = []
        for top in (1, 5):
            response = await stored.ask_in_atom("GET", f"/Orders()?$top={top}", headers=headers)
            names = ("x-ms-continuation-NextPartitionKey", "x-ms-continuation-NextRowKey")
            tokens.append([response.header(name) for name in names])
        assert tokens == [["eu", "2"], ["1!4!w6k-", "1!4!MSF4"]]
