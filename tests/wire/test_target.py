"""The request target: whose account, which resource, which options."""

from __future__ import annotations

import time
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import (
    HostInformationNotPresent,
    InvalidInput,
    InvalidPath,
    InvalidQuery,
    InvalidResourceName,
    InvalidUri,
    Layer,
    RequestUrlFailedToParse,
    ResourceNotFound,
    ServiceError,
)
from rowkey.model.entity import Key
from rowkey.wire.request import Request
from rowkey.wire.target import (
    Address,
    Resource,
    ResourceKind,
    quote_key,
    read_address,
    read_options,
    read_resource,
    verify_query,
)

ACCOUNTS = frozenset({"contoso", "devstoreaccount1"})
LOCAL = "127.0.0.1:10002"
SUFFIX = "table.core.windows.net"
LOCAL_BASE = f"http://{LOCAL}/devstoreaccount1"


def address_of(target: str, host: str = LOCAL, *, signer: str | None = None, is_secure: bool = False) -> Address:
    return read_address(Request("GET", target, {"host": host}, is_secure=is_secure), ACCOUNTS, signer=signer)


class TestAddress:
    @pytest.mark.parametrize(
        ("target", "path", "query"),
        [
            ("/devstoreaccount1/Tables", "/Tables", ""),
            ("/devstoreaccount1/Orders()?$top=5&a=b?c", "/Orders()", "$top=5&a=b?c"),
            ("/devstoreaccount1/", "/", ""),
            ("/devstoreaccount1", "/", ""),
            ("/devstoreaccount1?restype=service", "/", "restype=service"),
            ("/devstoreaccount1/$batch", "/$batch", ""),
            ("/devstoreaccount1/devstoreaccount1", "/devstoreaccount1", ""),
            ("/devstoreaccount1/caf%C3%A9%2F", "/caf%C3%A9%2F", ""),
        ],
    )
    @pytest.mark.parametrize("host", [LOCAL, "localhost", "localhost:10002", "rowkey", "[::1]:10002", "table.example"])
    def test_path_style(self, target: str, path: str, query: str, host: str) -> None:
        signed = target.partition("?")[0]
        base = f"http://{host}/devstoreaccount1"
        assert address_of(target, host) == Address("devstoreaccount1", False, True, base, signed, path, query)

    @pytest.mark.parametrize(
        ("host", "is_secondary"),
        [
            (f"contoso.{SUFFIX}", False),
            (f"CONTOSO.{SUFFIX}:443", False),
            (f"contoso-secondary.{SUFFIX}", True),
            ("contoso.localhost:10002", False),
            ("contoso", False),
        ],
    )
    @pytest.mark.parametrize("target", ["/Tables", "/", "/Orders(PartitionKey='a',RowKey='b')", "/contoso/Tables"])
    def test_host_style(self, host: str, is_secondary: bool, target: str) -> None:
        assert address_of(target, host) == Address("contoso", is_secondary, False, f"http://{host}", target, target, "")

    @pytest.mark.parametrize(
        ("target", "path"),
        [
            ("/devstoreaccount1-secondary/Tables", "/Tables"),
            ("/devstoreaccount1-secondary/devstoreaccount1/Tables", "/Tables"),
            ("/devstoreaccount1-secondary/devstoreaccount1", "/"),
            ("/devstoreaccount1-secondary", "/"),
            ("/devstoreaccount1-secondary/", "/"),
            ("/devstoreaccount1-secondary/devstoreaccount12", "/devstoreaccount12"),
        ],
    )
    def test_secondary_in_path_style(self, target: str, path: str) -> None:
        """The Python SDK names the account twice; metadata keep the suffix."""
        base = f"http://{LOCAL}/devstoreaccount1-secondary"
        assert address_of(target) == Address("devstoreaccount1", True, True, base, target, path, "")

    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (f"http://{LOCAL}/devstoreaccount1/Tables?a=b", ("devstoreaccount1", "/Tables", "a=b")),
            (f"HTTPS://contoso.{SUFFIX}/Tables", ("contoso", "/Tables", "")),
            (f"https://contoso.{SUFFIX}", ("contoso", "/", "")),
            (f"https://contoso.{SUFFIX}?restype=service", ("contoso", "/", "restype=service")),
        ],
    )
    def test_absolute_form(self, target: str, expected: tuple[str, str, str]) -> None:
        """Its host counts, not that of the header."""
        address = address_of(target, "elsewhere.example")
        assert (address.account, address.path, address.query) == expected

    def test_scheme_is_that_of_the_connection(self) -> None:
        assert address_of("/devstoreaccount1/Tables", is_secure=True).base == f"https://{LOCAL}/devstoreaccount1"

    @pytest.mark.parametrize(
        ("host", "is_secure", "base"),
        [
            (f"contoso.{SUFFIX}:443", True, f"https://contoso.{SUFFIX}"),
            (f"contoso.{SUFFIX}:80", False, f"http://contoso.{SUFFIX}"),
            (f"contoso.{SUFFIX}:443", False, f"http://contoso.{SUFFIX}:443"),
            (f"contoso.{SUFFIX}:80", True, f"https://contoso.{SUFFIX}:80"),
            ("127.0.0.1:80", False, "http://127.0.0.1/devstoreaccount1"),
        ],
    )
    def test_port_of_the_scheme_is_left_out(self, host: str, is_secure: bool, base: str) -> None:
        assert address_of("/devstoreaccount1/Tables", host, is_secure=is_secure).base == base

    def test_batch_at_the_root(self) -> None:
        """The clients of 2013 name the account in the Authorization header alone."""
        expected = Address("devstoreaccount1", False, True, LOCAL_BASE, "/$batch", "/$batch", "")
        assert address_of("/$batch", signer="devstoreaccount1") == expected

    @pytest.mark.parametrize(
        ("target", "signer"),
        [
            ("/$batch", None),
            ("/$batch", "nobody"),
            ("/Tables", "devstoreaccount1"),
            ("/", "devstoreaccount1"),
            ("/nobody/Tables", None),
            ("/nobody-secondary/Tables", None),
            ("/devstoreaccount1-tertiary/Tables", None),
            ("/DEVSTOREACCOUNT1/Tables", None),
            ("//devstoreaccount1/Tables", None),
        ],
    )
    def test_account_that_is_not_served(self, target: str, signer: str | None) -> None:
        with pytest.raises(ResourceNotFound) as caught:
            address_of(target, signer=signer)
        assert caught.value.layer is Layer.FRONT_END

    @pytest.mark.parametrize(
        ("target", "host", "error"),
        [
            ("/devstoreaccount1/Tables", "", HostInformationNotPresent),
            ("http:///devstoreaccount1/Tables", LOCAL, HostInformationNotPresent),
            ("/devstoreaccount1/Tables", "a b", InvalidUri),
            ("/devstoreaccount1/Tables", 'a"b', InvalidUri),
            ("/devstoreaccount1/Tables", "a<b>", InvalidUri),
            ("*", LOCAL, RequestUrlFailedToParse),
            ("devstoreaccount1/Tables", LOCAL, RequestUrlFailedToParse),
            ("", LOCAL, RequestUrlFailedToParse),
        ],
    )
    def test_broken_address(self, target: str, host: str, error: type[ServiceError]) -> None:
        with pytest.raises(error):
            address_of(target, host)


EU_1 = Key("eu", "1")


class TestResource:
    @pytest.mark.parametrize(
        ("path", "resource"),
        [
            ("/", Resource(ResourceKind.SERVICE)),
            ("/$batch", Resource(ResourceKind.BATCH)),
            ("/%24batch", Resource(ResourceKind.BATCH)),
            ("/$metadata", Resource(ResourceKind.METADATA)),
            ("/Tables", Resource(ResourceKind.TABLES)),
            ("/Tables()", Resource(ResourceKind.TABLES)),
            ("/tables", Resource(ResourceKind.TABLES)),
            ("/Tables/", Resource(ResourceKind.TABLES)),
            ("/Tables('Orders')", Resource(ResourceKind.TABLE, "Orders")),
            ("/Tables%28%27Orders%27%29", Resource(ResourceKind.TABLE, "Orders")),
            ("/Tables( 'Orders' )", Resource(ResourceKind.TABLE, "Orders")),
            ("/Tables(TableName='Orders')", Resource(ResourceKind.TABLE, "Orders")),
            ("/Tables('')", Resource(ResourceKind.TABLE, "")),
            ("/Tables('O''Neil')", Resource(ResourceKind.TABLE, "O'Neil")),
            ("/Orders", Resource(ResourceKind.ENTITIES, "Orders")),
            ("/Orders()", Resource(ResourceKind.ENTITIES, "Orders")),
            ("/Orders( )", Resource(ResourceKind.ENTITIES, "Orders")),
            ("/Orders%28%29", Resource(ResourceKind.ENTITIES, "Orders")),
            ("/Orders/", Resource(ResourceKind.ENTITIES, "Orders")),
            ("/Orders()/", Resource(ResourceKind.ENTITIES, "Orders")),
            (
                "/$MetricsHourPrimaryTransactionsTable",
                Resource(ResourceKind.ENTITIES, "$MetricsHourPrimaryTransactionsTable"),
            ),
            ("/Orders/$batch", Resource(ResourceKind.BATCH_BELOW_TABLE, "Orders")),
            ("/Orders/Tables", Resource(ResourceKind.TABLES_BELOW_TABLE, "Orders")),
            ("/Orders/Tables('x')", Resource(ResourceKind.KEYS_BELOW_TABLE, "Orders")),
        ],
    )
    def test_resource(self, path: str, resource: Resource) -> None:
        assert read_resource(path) == resource

    @pytest.mark.parametrize(
        ("keys", "key"),
        [
            ("(PartitionKey='eu',RowKey='1')", EU_1),
            ("(RowKey='1',PartitionKey='eu')", EU_1),
            ("(PartitionKey='eu', RowKey='1')", EU_1),
            ("(PartitionKey='eu',%20RowKey='1')", EU_1),
            ("( PartitionKey = 'eu' , RowKey = '1' )", EU_1),
            ("%28PartitionKey=%27eu%27,RowKey=%271%27%29", EU_1),
            ("%28PartitionKey%3D%27eu%27%2CRowKey%3D%271%27%29", EU_1),
            ("(PartitionKey='eu%27,RowKey=%271%27)", EU_1),
            ("(PartitionKey='eu',RowKey='1')/", EU_1),
            ("(PartitionKey='',RowKey='')", Key("", "")),
            ("(PartitionKey='O''Neil',RowKey='O%27%27Neil')", Key("O'Neil", "O'Neil")),
            ("(PartitionKey='''',RowKey='''''')", Key("'", "''")),
            ("(PartitionKey='A%27%27aaa%22',RowKey='')", Key("A'aaa\"", "")),
            ("(PartitionKey='a+b',RowKey='a%2Bb')", Key("a+b", "a+b")),
            ("(PartitionKey='100%25',RowKey='%2525')", Key("100%", "%25")),
            ("(PartitionKey='a,b=(c)',RowKey='d&e%26@:;$!*~^[]{}<>')", Key("a,b=(c)", "d&e&@:;$!*~^[]{}<>")),
            ("(PartitionKey='caf%C3%A9',RowKey='%F0%9F%98%80')", Key("café", "😀")),
            ("(PartitionKey='café',RowKey='😀')", Key("café", "😀")),
            ("(PartitionKey=',RowKey=',RowKey=',PartitionKey=')", Key(",RowKey=", ",PartitionKey=")),
            ("(PartitionKey=''',RowKey=''',RowKey='x')", Key("',RowKey='", "x")),
            ("(PartitionKey='%0A',RowKey='%00')", Key("\n", "\0")),
            ("(PartitionKey='a%zz',RowKey='%')", Key("a%zz", "%")),
        ],
    )
    @pytest.mark.parametrize("table", ["Orders", "orders", "Tables2"])
    def test_entity(self, table: str, keys: str, key: Key) -> None:
        assert read_resource(f"/{table}{keys}") == Resource(ResourceKind.ENTITY, table, key)

    @pytest.mark.parametrize(
        "keys",
        [
            "(PartitionKey='a/b',RowKey='1')", "(PartitionKey='a',RowKey='%2F')", "(PartitionKey='a')", "(RowKey='a')",
            "('a')", "('a','b')", "(PartitionKey='a',PartitionKey='b')", "(RowKey='a',RowKey='b')",
            "(PartitionKey='a',RowKey='b',Other='c')", "(partitionkey='a',rowkey='b')", '(PartitionKey="a",RowKey="b")',
            "(PartitionKey=%22a%22,RowKey=%22b%22)", "(PartitionKey=a,RowKey=b)", "(PartitionKey=1,RowKey=2)",
            "(PartitionKey='a'b',RowKey='c')", "(PartitionKey='a,RowKey='b')", "(PartitionKey='a'RowKey='b')",
            "(PartitionKey='a';RowKey='b')", "(PartitionKey='a',RowKey='b'", "(PartitionKey='a',RowKey='b'))", "(",
            "(PartitionKey='a',RowKey='b',)", "(,)", "('')",
        ],
    )  # fmt: skip
    def test_keys_that_are_none(self, keys: str) -> None:
        with pytest.raises(InvalidPath) as caught:
            read_resource(f"/Orders{keys}")
        assert caught.value.text == "Bad Request - Error in query syntax."

    @pytest.mark.parametrize("path", ["/(retry)", "/%28retry%29", "/()", "//", "//Orders", "/a/b/c", "/'", "/)"])
    def test_path_that_names_nothing(self, path: str) -> None:
        """Recorded: storage-go-classic Test_doRetry, an answer of the front end."""
        with pytest.raises(ResourceNotFound) as caught:
            read_resource(path)
        assert caught.value.layer is Layer.FRONT_END

    @pytest.mark.parametrize("path", ["/a//", "/a//(PartitionKey='p',RowKey='r')", "/a%2F%2F"])
    def test_table_whose_name_ends_in_slashes(self, path: str) -> None:
        """Asserted by the tests of azure-data-tables."""
        with pytest.raises(InvalidResourceName):
            read_resource(path)

    @pytest.mark.parametrize("path", ["/%FF", "/Orders(PartitionKey='%ED%A0%80',RowKey='')", "/%C3", "/%C0%AF"])
    def test_path_that_is_no_utf_8(self, path: str) -> None:
        with pytest.raises(RequestUrlFailedToParse):
            read_resource(path)

    @pytest.mark.parametrize(
        "path",
        [
            "/T" + "'" * 100_000,
            "/T" + "(" * 100_000,
            "/T(PartitionKey='" + "''" * 100_000,
            "/T(PartitionKey='" + "' " * 100_000,
            "/T(PartitionKey='a'," + " " * 100_000,
            "/T(" + " " * 100_000,
            "/Tables(" + " " * 100_000,
            "/T" + "/" * 100_000,
            "/T/x(" + " " * 100_000,
        ],
        ids=range(9),
    )
    def test_hostile_path_takes_no_time(self, path: str) -> None:
        begun = time.process_time()
        with pytest.raises(ServiceError):
            read_resource(path)
        assert time.process_time() - begun < 0.25


class TestOptions:
    @pytest.mark.parametrize(
        ("query", "options"),
        [
            ("", {}),
            ("$top=5", {"$top": "5"}),
            ("%24filter=A+eq+'b%2Bc'", {"$filter": "A eq 'b+c'"}),
            ("$filter=A%20eq%20'a=b'&$select=", {"$filter": "A eq 'a=b'", "$select": ""}),
            ("$filter=A eq 'café'", {"$filter": "A eq 'café'"}),
            ("$filter=%E5%95%8A", {"$filter": "啊"}),
            ("a", {"a": ""}),
            ("a=1&a=2", {"a": "2"}),
            ("$Top=1&$top=2", {"$Top": "1", "$top": "2"}),
            ("NextRowKey=1!12!QmVuMTg5OA--", {"NextRowKey": "1!12!QmVuMTg5OA--"}),
            (
                "$format=application%2Fjson%3Bodata%3Dminimalmetadata",
                {"$format": "application/json;odata=minimalmetadata"},
            ),
            ("x=%zz", {"x": "%zz"}),
        ],
    )
    def test_options(self, query: str, options: dict[str, str]) -> None:
        assert read_options(query) == options

    @pytest.mark.parametrize("query", ["$top=1&$top=1", "$filter=a&%24filter=a", "$x&$x"])
    def test_option_given_twice(self, query: str) -> None:
        assert len(read_options(query)) == 1
        with pytest.raises(InvalidQuery):
            verify_query(query)

    @pytest.mark.parametrize("query", ["$filter=%FF", "%FF=1", "a=%ED%A0%80"])
    def test_option_that_is_no_utf_8(self, query: str) -> None:
        assert read_options(query) == {}
        with pytest.raises(InvalidInput):
            verify_query(query)

    def test_nothing_is_wrong(self) -> None:
        verify_query("")
        verify_query("$top=1&$Top=1&a=1&a=2&$filter=A eq 1&b=%C3%A9")

    def test_answer_is_the_callers_own(self) -> None:
        read_options("a=1")["a"] = "changed"
        assert read_options("a=1") == {"a": "1"}


class TestQuoteKey:
    @pytest.mark.parametrize(
        ("key", "quoted"),
        [
            ("", ""),
            ("aB9-._~", "aB9-._~"),
            ("O'Neil", "O''Neil"),
            (":@", "%3A%40"),
            ("+,$", "%2B%2C%24"),
            ("=& ", "%3D%26%20"),
            ('"', "%22"),
            ("()!*", "%28%29%21%2A"),
            ("%", "%25"),
            ("é", "%C3%A9"),
            ("😀", "%F0%9F%98%80"),
            ("١", "%D9%A1"),
        ],
    )
    def test_as_recorded(self, key: str, quoted: str) -> None:
        assert quote_key(key) == quoted

    @given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
    def test_link_leads_back(self, partition_key: str, row_key: str) -> None:
        link = f"/Orders(PartitionKey='{quote_key(partition_key)}',RowKey='{quote_key(row_key)}')"
        assert link.isascii()
        assert unquote(quote_key(row_key)) == row_key.replace("'", "''")
        if "/" in partition_key + row_key:
            with pytest.raises(InvalidPath):
                read_resource(link)
        else:
            assert read_resource(link) == Resource(ResourceKind.ENTITY, "Orders", Key(partition_key, row_key))
