"""Tables, through the clients of `json_client.py`."""

from __future__ import annotations

from json_client import TABLE, Conflict, Missing, Refused, service
from runner import contains, equal, new_name, raised, run, step


@step("Create Table", "JSON", "Shared Key")
def a_table_is_created():
    name = new_name()
    equal(service.create_table(name, fail_on_exist=True), True)
    equal(service.exists(name), True)


@step("Create Table", "JSON", "Shared Key")
def a_table_that_exists_is_a_conflict():
    error = raised(Conflict, service.create_table, TABLE, fail_on_exist=True)
    contains(str(error), "TableAlreadyExists")
    equal(service.create_table(TABLE), False)


@step("Create Table", "JSON", "Shared Key")
def a_table_name_against_the_rules_is_refused():
    error = raised(Refused, service.create_table, "no-dash", fail_on_exist=True)
    equal(error.status_code, 400)
    contains(str(error), "InvalidResourceName")


@step("Query Tables", "JSON", "Shared Key")
def tables_come_in_pages():
    prefix = new_name()
    names = [prefix + suffix for suffix in "abc"]
    for name in names:
        service.create_table(name, fail_on_exist=True)
    found, marker = [], None
    while True:
        page = service.list_tables(num_results=2, marker=marker)
        names_of_page = [table.name for table in page]
        equal(len(names_of_page) <= 2, True)
        found += names_of_page
        marker = page.next_marker
        if not marker:
            break
    equal([name for name in found if name.startswith(prefix)], names)
    equal(found, [table.name for table in service.list_tables()])


@step("Query Tables", "JSON", "Shared Key")
def a_missing_table_does_not_exist():
    equal(service.exists(new_name()), False)


@step("Delete Table", "JSON", "Shared Key")
def a_deleted_table_is_gone():
    name = new_name()
    service.create_table(name, fail_on_exist=True)
    equal(service.delete_table(name, fail_not_exist=True), True)
    equal(service.exists(name), False)


@step("Delete Table", "JSON", "Shared Key")
def deleting_a_missing_table_is_refused():
    contains(str(raised(Missing, service.delete_table, new_name(), fail_not_exist=True)), "ResourceNotFound")
    equal(service.delete_table(new_name()), False)


if __name__ == "__main__":
    run()
