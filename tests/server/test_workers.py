"""A server of several processes is one server: what one of them has answered, all of them know."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.server.worker_clients import ANY, ENTITY, WORKERS, Client, entity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.conftest import Server, ServerProcess

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork processes")

ROUNDS = 200


def test_all_workers_serve(clients: list[Client]) -> None:
    assert len({client.worker for client in clients}) == WORKERS


def test_what_one_worker_answered_all_others_show(clients: list[Client]) -> None:
    """The reader's request is sent after the writer has its answer: whatever is older than that is wrong."""
    for number in range(ROUNDS):
        writer = clients[number % WORKERS]
        status, headers, _ = writer.ask("PUT", ENTITY, json.dumps({"N": number}))
        assert status == 204
        for client in clients:
            status, seen, body = client.ask("GET", ENTITY)
            assert (status, seen["etag"], json.loads(body)["N"]) == (200, headers["etag"], number)
            page = json.loads(client.ask("GET", "/Things()")[2])["value"]
            assert [one["N"] for one in page] == [number]
        assert clients[(number + 1) % WORKERS].ask("DELETE", ENTITY, headers=ANY)[0] == 204
        assert [client.ask("GET", ENTITY)[0] for client in clients] == [404] * WORKERS


def test_a_pipelined_request_is_no_older_than_it_was_sent(workers: ServerProcess, clients: list[Client]) -> None:
    """While one connection is asked again and again, its worker shares read transactions between requests."""
    stop = threading.Event()
    readers = [threading.Thread(target=read_until, args=(workers.server, stop)) for _ in range(8)]
    clients[0].ask("PUT", ENTITY, json.dumps({"N": -1}))
    for reader in readers:
        reader.start()
    try:
        for number in range(ROUNDS):
            assert clients[number % WORKERS].ask("PUT", ENTITY, json.dumps({"N": number}))[0] == 204
            seen = [json.loads(client.ask("GET", ENTITY)[2])["N"] for client in clients]
            assert seen == [number] * WORKERS
    finally:
        stop.set()
        for reader in readers:
            reader.join()


def read_until(server: Server, stop: threading.Event) -> None:
    client = Client(server)
    while not stop.is_set():
        assert client.ask("GET", ENTITY)[0] == 200
    client.close()


def test_etags_guard_increments_of_all_workers(workers: ServerProcess, clients: list[Client]) -> None:
    clients[0].ask("POST", "/Things", '{"PartitionKey":"p","RowKey":"r","N":0}')
    each, conflicts = 25, Counter[int]()

    def increment() -> None:
        client = Client(workers.server)
        done = 0
        while done < each:
            _, headers, body = client.ask("GET", ENTITY)
            more = json.dumps({"N": json.loads(body)["N"] + 1})
            status, _, _ = client.ask("PATCH", ENTITY, more, {"If-Match": headers["etag"]})
            conflicts[status] += 1
            done += status == 204
        client.close()

    together([increment] * 8)
    assert json.loads(clients[0].ask("GET", ENTITY)[2])["N"] == 8 * each
    assert conflicts.keys() == {204, 412}


def test_transactions_of_several_workers_are_whole(clients: list[Client]) -> None:
    """Each writes all entities of the partition; a page always shows those of one transaction."""

    def write(client: Client) -> None:
        for number in range(30):
            assert client.ask("POST", "/$batch", batch(f"{client.worker}-{number}"), BATCH)[0] == 202

    def read(client: Client) -> None:
        for _ in range(60):
            page = json.loads(client.ask("GET", "/Things()")[2])["value"]
            assert len({one["Text"] for one in page}) <= 1
            assert len(page) in (0, 20)

    together([lambda client=client: write(client) for client in clients[:2]] + [lambda: read(clients[2])])


BATCH = {"Content-Type": "multipart/mixed; boundary=b"}


def batch(text: str, condition: str = "") -> str:
    """A transaction that writes twenty entities."""
    url = "http://x/devstoreaccount1/Things(PartitionKey='p',RowKey='{:02}')"
    head = f"--c\r\nContent-Type: application/http\r\n\r\nPUT {url} HTTP/1.1\r\n{condition}"
    body = json.dumps({"Text": text})
    parts = [f"{head.format(row)}Content-Type: application/json\r\n\r\n{body}\r\n" for row in range(20)]
    return f"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{''.join(parts)}--c--\r\n--b--\r\n"


def test_a_transaction_that_fails_changes_nothing_and_says_where(clients: list[Client]) -> None:
    for client in clients:
        _, _, answer = client.ask("POST", "/$batch", batch("x", "If-Match: *\r\n"), BATCH)
        assert b"HTTP/1.1 404" in answer
        assert b"0:The specified resource does not exist" in answer
        assert json.loads(client.ask("GET", "/Things()")[2])["value"] == []


def test_tables_come_and_go_for_all_at_once(clients: list[Client]) -> None:
    for number in range(ROUNDS // 4):
        first, second = clients[number % WORKERS], clients[(number + 1) % WORKERS]
        assert first.ask("POST", "/Tables", '{"TableName":"Fleeting"}')[0] == 201
        for client in clients:
            assert client.ask("POST", "/Tables", '{"TableName":"fleeting"}')[0] == 409
            assert client.ask("GET", "/Tables('Fleeting')")[0] == 200
            assert client.ask("GET", "/FLEETING()")[0] == 200
            assert b'"Fleeting"' in client.ask("GET", "/Tables")[2]
        assert second.ask("POST", "/Fleeting", entity())[0] == 201
        assert first.ask("GET", ENTITY.replace("Things", "Fleeting"))[0] == 200
        assert second.ask("DELETE", "/Tables('Fleeting')")[0] == 204
        for client in clients:
            assert client.ask("GET", "/Fleeting()")[0] == 404
            assert b"TableNotFound" in client.ask("GET", ENTITY.replace("Things", "Fleeting"))[2]
            assert b"TableNotFound" in client.ask("POST", "/Fleeting", entity())[2]
            assert b"Fleeting" not in client.ask("GET", "/Tables")[2]


def test_access_policies_are_the_same_for_all_at_once(clients: list[Client]) -> None:
    for number in range(ROUNDS // 4):
        policy = (
            '<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers><SignedIdentifier>'
            f"<Id>id{number}</Id><AccessPolicy><Permission>r</Permission></AccessPolicy>"
            "</SignedIdentifier></SignedIdentifiers>"
        )
        assert clients[number % WORKERS].ask("PUT", "/Things?comp=acl", policy, XML)[0] == 204
        assert all(f"<Id>id{number}<" in client.ask("GET", "/Things?comp=acl")[2].decode() for client in clients)


def test_service_properties_are_the_same_for_all_at_once(clients: list[Client]) -> None:
    for number in range(ROUNDS // 4):
        properties = (
            '<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties><Cors><CorsRule>'
            f"<AllowedOrigins>http://a{number}</AllowedOrigins><AllowedMethods>GET</AllowedMethods>"
            "<MaxAgeInSeconds>1</MaxAgeInSeconds><ExposedHeaders>x</ExposedHeaders><AllowedHeaders>x</AllowedHeaders>"
            "</CorsRule></Cors></StorageServiceProperties>"
        )
        assert clients[number % WORKERS].ask("PUT", SERVICE_PROPERTIES, properties, XML)[0] == 202
        for client in clients:
            assert f"http://a{number}<" in client.ask("GET", SERVICE_PROPERTIES)[2].decode()
            headers = client.ask("GET", "/Tables", headers={"Origin": f"http://a{number}"})[1]
            assert headers["access-control-allow-origin"] == f"http://a{number}"


SERVICE_PROPERTIES = "/?restype=service&comp=properties"
XML = {"Content-Type": "application/xml"}


def together(steps: Sequence[Callable[[], object]]) -> None:
    """Run all in threads of their own; the first failure is raised."""
    failures: list[BaseException] = []

    def run(step: Callable[[], object]) -> None:
        try:
            step()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
