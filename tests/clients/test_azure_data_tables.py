"""Tables and entities, through the azure-data-tables package as a user would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from azure.core import MatchConditions
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
)
from azure.data.tables import TableClient, TableServiceClient, UpdateMode

if TYPE_CHECKING:
    from tests.conftest import Server


class TestTables:
    def test_a_new_table_is_listed_and_a_deleted_one_is_not(self, service: TableServiceClient, table_name: str) -> None:
        service.create_table(table_name)
        assert table_name in [table.name for table in service.list_tables()]
        service.delete_table(table_name)
        assert table_name not in [table.name for table in service.list_tables()]

    def test_creating_a_table_again_is_refused(self, service: TableServiceClient, table_name: str) -> None:
        service.create_table(table_name)
        with pytest.raises(ResourceExistsError, match="TableAlreadyExists") as refused:
            service.create_table(table_name)
        assert refused.value.status_code == 409

    def test_a_name_in_other_letter_case_is_the_same_table(self, service: TableServiceClient, table_name: str) -> None:
        service.create_table(table_name)
        with pytest.raises(ResourceExistsError, match="TableAlreadyExists"):
            service.create_table(table_name.upper())
        service.get_table_client(table_name.upper()).create_entity({"PartitionKey": "p", "RowKey": "r"})
        assert service.get_table_client(table_name).get_entity("p", "r")["RowKey"] == "r"

    def test_create_if_not_exists_accepts_a_table_that_exists(
        self, service: TableServiceClient, table_name: str
    ) -> None:
        service.create_table_if_not_exists(table_name).create_entity({"PartitionKey": "p", "RowKey": "r"})
        again = service.create_table_if_not_exists(table_name)
        assert again.get_entity("p", "r")["PartitionKey"] == "p"

    def test_deleting_a_missing_table_is_no_error(self, service: TableServiceClient, table_name: str) -> None:
        """The server answers 404 ResourceNotFound, which this client takes for success."""
        service.delete_table(table_name)

    def test_a_deleted_table_can_be_created_again_at_once_and_is_empty(
        self, service: TableServiceClient, table_name: str
    ) -> None:
        """The service itself keeps the name for 40 seconds and more; here it is free at once, on purpose."""
        service.create_table(table_name).create_entity({"PartitionKey": "p", "RowKey": "r"})
        service.delete_table(table_name)
        assert list(service.create_table(table_name).list_entities()) == []

    def test_tables_are_queried_by_name_and_by_prefix(self, service: TableServiceClient, table_name: str) -> None:
        names = [f"{table_name}{suffix}" for suffix in "abc"]
        for name in names:
            service.create_table(name)
        exactly = service.query_tables("TableName eq @name", parameters={"name": names[1]})
        assert [table.name for table in exactly] == [names[1]]
        prefix = service.query_tables(f"TableName ge '{table_name}' and TableName lt '{table_name}{{'")
        assert [table.name for table in prefix] == names

    def test_tables_come_in_pages_sorted_without_regard_to_case(
        self, service: TableServiceClient, table_name: str
    ) -> None:
        """Upper-case letters sort before lower-case ones in ASCII, but not here; names keep their spelling."""
        names = [f"{table_name}a", f"{table_name}B", f"{table_name}c", f"{table_name}D", f"{table_name}e"]
        for name in reversed(names):
            service.create_table(name)
        query = service.query_tables(
            f"TableName ge '{table_name}' and TableName lt '{table_name}{{'", results_per_page=2
        )
        pages = [[table.name for table in page] for page in query.by_page()]
        assert [name for page in pages for name in page] == names
        assert max(len(page) for page in pages) == 2

    @pytest.mark.parametrize("name", ["with-dash", "1digit", "ab", "a" * 64], ids=lambda name: name[:9])
    def test_a_name_against_the_rules_is_refused(self, service: TableServiceClient, name: str) -> None:
        """The client raises this ValueError only for the server's exact error code and text."""
        with pytest.raises(ValueError, match="Storage table names must be alphanumeric"):
            service.create_table(name)

    def test_the_reserved_name_is_refused(self, service: TableServiceClient) -> None:
        with pytest.raises(HttpResponseError, match="InvalidResourceName"):
            service.create_table("Tables")

    def test_a_name_of_the_greatest_length_is_accepted(self, service: TableServiceClient, table_name: str) -> None:
        longest = table_name.ljust(63, "x")
        assert service.create_table(longest).table_name == longest

    def test_entities_of_a_missing_table_are_not_found(self, service: TableServiceClient, table_name: str) -> None:
        missing = service.get_table_client(table_name)
        with pytest.raises(ResourceNotFoundError, match="TableNotFound"):
            missing.create_entity({"PartitionKey": "p", "RowKey": "r"})
        with pytest.raises(ResourceNotFoundError, match="TableNotFound"):
            missing.upsert_entity({"PartitionKey": "p", "RowKey": "r"})
        with pytest.raises(ResourceNotFoundError, match="TableNotFound"):
            list(missing.list_entities())
        with pytest.raises(ResourceNotFoundError):
            missing.get_entity("p", "r")

    @pytest.mark.parametrize("name", ["my_table", "1digit", "ab", "a" * 64], ids=lambda name: name[:8])
    def test_entities_of_a_table_that_cannot_be_are_refused_for_its_name(
        self, service: TableServiceClient, name: str
    ) -> None:
        """Not as missing; the client's own live tests ask for this ValueError in every operation."""
        impossible = service.get_table_client(name)
        entity = {"PartitionKey": "p", "RowKey": "r"}
        with pytest.raises(ValueError, match="Storage table names must be alphanumeric"):
            impossible.create_entity(entity)
        with pytest.raises(ValueError, match="Storage table names must be alphanumeric"):
            impossible.upsert_entity(entity)
        with pytest.raises(ValueError, match="Storage table names must be alphanumeric"):
            impossible.submit_transaction([("upsert", entity)])

    def test_a_wrong_key_is_refused(self, server: Server, table_name: str) -> None:
        credential = AzureNamedKeyCredential(server.account, "d3Jvbmc=")
        with TableServiceClient(server.endpoint, credential=credential, retry_total=0) as stranger:
            with pytest.raises(ClientAuthenticationError, match="AuthenticationFailed"):
                stranger.create_table(table_name)
            with pytest.raises(ClientAuthenticationError, match="AuthenticationFailed"):
                list(stranger.list_tables())

    def test_an_account_url_with_a_table_name_in_it_is_refused(
        self, server: Server, table: TableClient, table_name: str
    ) -> None:
        """A common mistake, which the client explains when it sees the service's own answers."""
        credential = AzureNamedKeyCredential(server.account, server.key)
        with TableServiceClient(f"{server.endpoint}/{table_name}", credential=credential) as mistaken:
            with pytest.raises(ResourceNotFoundError, match="TableNotFound") as refused:
                mistaken.create_table(table_name)
        assert "Please check your account URL" in str(refused.value)
        with TableServiceClient(f"{server.endpoint}/{table.table_name}", credential=credential) as mistaken:
            with pytest.raises(HttpResponseError, match="PropertiesNeedValue") as refused_too:
                mistaken.create_table(table_name)
        assert "Please check your account URL" in str(refused_too.value)


class TestWrites:
    def test_an_inserted_entity_is_read_back_with_its_etag_and_timestamp(
        self, table: TableClient, partition: str
    ) -> None:
        metadata = table.create_entity({"PartitionKey": partition, "RowKey": "r", "Name": "Marker", "Price": 5.0})
        entity = table.get_entity(partition, "r")
        assert dict(entity) == {"PartitionKey": partition, "RowKey": "r", "Name": "Marker", "Price": 5.0}
        assert entity.metadata["etag"] == metadata["etag"]
        timestamp: Any = entity.metadata["timestamp"]
        assert metadata["etag"] == etag_of(timestamp.tables_service_value)

    def test_the_metadata_of_a_write_is_what_the_client_documents(self, table: TableClient, partition: str) -> None:
        """No Preference-Applied, which would show here as two more keys, unless it was asked for."""
        entity = {"PartitionKey": partition, "RowKey": "r"}
        assert set(table.create_entity(entity)) == {"date", "etag", "version"}
        assert set(table.update_entity(entity)) == {"date", "etag", "version"}
        assert set(table.upsert_entity(entity, UpdateMode.REPLACE)) == {"date", "etag", "version"}

    def test_a_preference_is_honoured_and_confirmed(self, table: TableClient, partition: str) -> None:
        quiet = table.create_entity(
            {"PartitionKey": partition, "RowKey": "1", "N": 1}, headers={"Prefer": "return-no-content"}
        )
        assert (quiet["preference_applied"], quiet["content"]) == ("return-no-content", None)
        echo = table.create_entity(
            {"PartitionKey": partition, "RowKey": "2", "N": 1}, headers={"Prefer": "return-content"}
        )
        assert (echo["preference_applied"], echo["content"]["N"]) == ("return-content", 1)

    def test_inserting_an_entity_again_is_refused(self, table: TableClient, partition: str) -> None:
        table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": 1})
        with pytest.raises(ResourceExistsError, match="EntityAlreadyExists"):
            table.create_entity({"PartitionKey": partition, "RowKey": "r", "Value": 2})
        assert table.get_entity(partition, "r")["Value"] == 1

    def test_inserting_without_a_key_is_refused(self, table: TableClient, partition: str) -> None:
        """The client raises this ValueError for the server's PropertiesNeedValue."""
        with pytest.raises(ValueError, match="RowKey must be present"):
            table.create_entity({"PartitionKey": partition})
        with pytest.raises(ValueError, match="PartitionKey must be present"):
            table.create_entity({"RowKey": "r"})

    def test_a_missing_entity_is_not_found(self, table: TableClient, partition: str) -> None:
        with pytest.raises(ResourceNotFoundError, match="ResourceNotFound") as refused:
            table.get_entity(partition, "r")
        assert refused.value.status_code == 404

    def test_merge_keeps_the_other_properties_and_replace_does_not(self, table: TableClient, partition: str) -> None:
        key = {"PartitionKey": partition, "RowKey": "r"}
        table.create_entity({**key, "A": 1, "B": 2})
        table.update_entity({**key, "B": "two", "C": 3}, UpdateMode.MERGE)
        assert dict(table.get_entity(partition, "r")) == {**key, "A": 1, "B": "two", "C": 3}
        table.update_entity({**key, "D": 4}, UpdateMode.REPLACE)
        assert dict(table.get_entity(partition, "r")) == {**key, "D": 4}

    @pytest.mark.parametrize("mode", [UpdateMode.MERGE, UpdateMode.REPLACE])
    def test_upsert_inserts_what_is_missing(self, table: TableClient, partition: str, mode: UpdateMode) -> None:
        table.upsert_entity({"PartitionKey": partition, "RowKey": "r", "A": 1}, mode)
        assert table.get_entity(partition, "r")["A"] == 1

    def test_upsert_merges_or_replaces_what_is_there(self, table: TableClient, partition: str) -> None:
        key = {"PartitionKey": partition, "RowKey": "r"}
        table.upsert_entity({**key, "A": 1})
        table.upsert_entity({**key, "B": 2}, UpdateMode.MERGE)
        assert dict(table.get_entity(partition, "r")) == {**key, "A": 1, "B": 2}
        table.upsert_entity({**key, "C": 3}, UpdateMode.REPLACE)
        assert dict(table.get_entity(partition, "r")) == {**key, "C": 3}

    @pytest.mark.parametrize("mode", [UpdateMode.MERGE, UpdateMode.REPLACE])
    def test_updating_a_missing_entity_is_refused(self, table: TableClient, partition: str, mode: UpdateMode) -> None:
        with pytest.raises(ResourceNotFoundError, match="ResourceNotFound"):
            table.update_entity({"PartitionKey": partition, "RowKey": "r"}, mode)

    @pytest.mark.parametrize("mode", [UpdateMode.MERGE, UpdateMode.REPLACE])
    def test_an_update_with_a_stale_etag_is_refused(self, table: TableClient, partition: str, mode: UpdateMode) -> None:
        key = {"PartitionKey": partition, "RowKey": "r"}
        first = table.create_entity({**key, "A": 1})["etag"]
        only_if_first: dict[str, Any] = {"etag": first, "match_condition": MatchConditions.IfNotModified}
        second = table.update_entity({**key, "A": 2}, mode, **only_if_first)["etag"]
        assert second != first
        with pytest.raises(ResourceModifiedError, match="UpdateConditionNotSatisfied") as refused:
            table.update_entity({**key, "A": 3}, mode, **only_if_first)
        assert refused.value.status_code == 412
        assert table.get_entity(partition, "r")["A"] == 2

    def test_a_delete_with_a_stale_etag_is_refused(self, table: TableClient, partition: str) -> None:
        key = {"PartitionKey": partition, "RowKey": "r"}
        stale = table.create_entity(key)["etag"]
        current = table.upsert_entity(key)["etag"]
        with pytest.raises(ResourceModifiedError, match="UpdateConditionNotSatisfied"):
            table.delete_entity(key, etag=stale, match_condition=MatchConditions.IfNotModified)
        table.delete_entity(key, etag=current, match_condition=MatchConditions.IfNotModified)
        with pytest.raises(ResourceNotFoundError):
            table.get_entity(partition, "r")

    def test_deleting_a_missing_entity_is_no_error(self, table: TableClient, partition: str) -> None:
        """The server answers 404 ResourceNotFound, which this client takes for success."""
        table.delete_entity(partition, "r")

    def test_an_etag_of_another_form_does_not_match(self, table: TableClient, partition: str) -> None:
        """ConditionNotMet for a weak etag that is no datetime; recorded of the service in 2016."""
        key = {"PartitionKey": partition, "RowKey": "r"}
        table.create_entity(key)
        with pytest.raises(ResourceModifiedError, match="ConditionNotMet"):
            table.update_entity(key, etag='W/"0x5B168C7B6E589D2"', match_condition=MatchConditions.IfNotModified)

    def test_every_write_changes_the_etag(self, table: TableClient, partition: str) -> None:
        key = {"PartitionKey": partition, "RowKey": "r"}
        etags = [table.upsert_entity({**key, "A": 1})["etag"] for _ in range(20)]
        assert len(set(etags)) == 20

    def test_properties_stay_as_inserted_and_are_sorted_by_an_update(self, table: TableClient, partition: str) -> None:
        """The order after POST is the request's; after PUT, MERGE and PATCH it is ordinal. Recorded of the service."""
        key = {"PartitionKey": partition, "RowKey": "r"}
        table.create_entity({**key, "b": 1, "a": 2, "C": 3})
        assert list(table.get_entity(partition, "r")) == ["PartitionKey", "RowKey", "b", "a", "C"]
        table.update_entity({**key, "B": 4})
        assert list(table.get_entity(partition, "r")) == ["PartitionKey", "RowKey", "B", "C", "a", "b"]


class TestKeys:
    @pytest.mark.parametrize(
        "key",
        [
            *("", " ", "'", "''", "O'Neil", '"', "%", "%25", "%2F", "+", "&", "=", ",", ";", ":", "@", "$", "<>", "*"),
            *("!", "~", "^", "[]", "{}", "()", "|", "`", "-._", "a b", "a  b ", "RowKey='x'", "(PartitionKey='a'"),
            *("ä", "啊齄丂狛狜", "ﾃｽﾄ", "😀", "😀ﬁ", "e\u0301", "\u00a0", "\u200b", "\ufffd", "é" * 512),
        ],
        ids=ascii,
    )
    def test_any_legal_key_survives(self, table: TableClient, partition: str, key: str) -> None:
        partition_key = f"{partition[:8]}{key}"[:512]
        entity = {"PartitionKey": partition_key, "RowKey": key, "A": 1}
        created = table.create_entity(entity)
        assert dict(table.get_entity(partition_key, key)) == entity
        table.update_entity(entity, etag=created["etag"], match_condition=MatchConditions.IfNotModified)
        query = table.query_entities("PartitionKey eq @p and RowKey eq @r", parameters={"p": partition_key, "r": key})
        assert [dict(entity) for entity in query] == [entity]
        table.delete_entity(partition_key, key)
        with pytest.raises(ResourceNotFoundError):
            table.get_entity(partition_key, key)

    def test_both_keys_may_be_empty(self, service: TableServiceClient, table_name: str) -> None:
        table = service.create_table(table_name)
        entity = {"PartitionKey": "", "RowKey": "", "A": 1}
        table.create_entity(entity)
        assert dict(table.get_entity("", "")) == entity
        table.update_entity({**entity, "A": 2})
        assert [found["A"] for found in table.query_entities("PartitionKey eq '' and RowKey eq ''")] == [2]
        table.delete_entity("", "")
        assert list(table.list_entities()) == []

    @pytest.mark.parametrize(
        "key", ["a/b", "a\\b", "a#b", "a?b", "a\tb", "a\nb", "a\x00b", "a\x7fb", "a\x9fb"], ids=ascii
    )
    def test_a_forbidden_character_is_refused(self, table: TableClient, partition: str, key: str) -> None:
        with pytest.raises(HttpResponseError, match="OutOfRangeInput") as refused:
            table.create_entity({"PartitionKey": partition, "RowKey": key})
        assert refused.value.status_code == 400

    def test_a_key_longer_than_one_kibibyte_is_refused(self, table: TableClient, partition: str) -> None:
        with pytest.raises(HttpResponseError, match="KeyValueTooLarge"):
            table.create_entity({"PartitionKey": partition, "RowKey": "k" * 513})

    def test_an_insert_takes_only_strings_for_keys_and_an_update_those_of_its_address(
        self, table: TableClient, partition: str
    ) -> None:
        """The client sends `PartitionKey@odata.type: Edm.Guid` here; what an update's body says of keys is ignored."""
        entity = {"PartitionKey": UUID(partition), "RowKey": b"raw", "A": 1}
        with pytest.raises(HttpResponseError) as refused:
            table.create_entity(entity)
        assert refused.value.status_code == 400
        table.upsert_entity({"PartitionKey": str(UUID(partition)), "RowKey": "r"})
        table.update_entity({**entity, "RowKey": "r"}, UpdateMode.REPLACE)
        assert dict(table.get_entity(str(UUID(partition)), "r")) == {
            "PartitionKey": str(UUID(partition)),
            "RowKey": "r",
            "A": 1,
        }

    def test_keys_differ_by_letter_case(self, table: TableClient, partition: str) -> None:
        table.create_entity({"PartitionKey": partition, "RowKey": "r", "A": "small"})
        table.create_entity({"PartitionKey": partition, "RowKey": "R", "A": "capital"})
        assert table.get_entity(partition, "r")["A"] == "small"
        assert table.get_entity(partition, "R")["A"] == "capital"


def etag_of(timestamp: str) -> str:
    """The etag of an entity with this Timestamp: the same text, with the colons encoded."""
    return f"W/\"datetime'{timestamp.replace(':', '%3A')}'\""
