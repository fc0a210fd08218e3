"""Tables, through the clients of `atom_client.py`."""

from __future__ import annotations

from atom_client import TABLE, Conflict, Missing, Refused, service
from runner import contains, equal, new_name, raised, run, step


@step("Create Table", "Atom", "Shared Key")
def a_table_is_created():
    name = new_name()
    equal(service.create_table(name, fail_on_exist=True), True)
    equal([table.name for table in service.query_tables(name)], [name])


@step("Create Table", "Atom", "Shared Key")
def a_table_that_exists_is_a_conflict():
    raised(Conflict, service.create_table, TABLE, fail_on_exist=True)
    equal(service.create_table(TABLE), False)


@step("Create Table", "Atom", "Shared Key")
def a_table_name_against_the_rules_is_refused():
    contains(str(raised(Refused, service.create_table, "no-dash", fail_on_exist=True)), "InvalidResourceName")


@step("Query Tables", "Atom", "Shared Key")
def tables_come_in_pages():
    prefix = new_name()
    names = [prefix + suffix for suffix in "abc"]
    for name in names:
        service.create_table(name, fail_on_exist=True)
    found, token = [], None
    while True:
        page = service.query_tables(top=2, next_table_name=token)
        equal(len(page) <= 2, True)
        found += [table.name for table in page]
        if not hasattr(page, "x_ms_continuation"):
            break
        token = page.x_ms_continuation["NextTableName"]
    equal([name for name in found if name.startswith(prefix)], names)


@step("Query Tables", "Atom", "Shared Key")
def a_missing_table_is_not_found():
    raised(Missing, service.query_tables, new_name())


@step("Delete Table", "Atom", "Shared Key")
def a_deleted_table_is_gone():
    name = new_name()
    service.create_table(name, fail_on_exist=True)
    equal(service.delete_table(name, fail_not_exist=True), True)
    raised(Missing, service.query_tables, name)


@step("Delete Table", "Atom", "Shared Key")
def deleting_a_missing_table_is_refused():
    raised(Missing, service.delete_table, new_name(), fail_not_exist=True)
    equal(service.delete_table(new_name()), False)


if __name__ == "__main__":
    run()
