// Tables, entities, queries and transactions, through the @azure/data-tables package as a user would.
// Started by ../test_azure_data_tables_js.py, which says in the environment where the server is.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";

import {
  AzureNamedKeyCredential,
  TableClient,
  TableServiceClient,
  TableTransaction,
  odata,
} from "@azure/data-tables";

const endpoint = process.env.ROWKEY_TEST_ENDPOINT;
const account = process.env.ROWKEY_TEST_ACCOUNT;
const key = process.env.ROWKEY_TEST_KEY;
const connectionString = process.env.ROWKEY_TEST_CONNECTION_STRING;

const credential = new AzureNamedKeyCredential(account, key);
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const service = new TableServiceClient(endpoint, credential, options);

const newTableName = () => `t${randomUUID().replaceAll("-", "")}`;
const newPartition = () => randomUUID();

/** Everything an asynchronous iterator yields. */
async function all(iterator) {
  const found = [];
  for await (const item of iterator) found.push(item);
  return found;
}

/** What `assert.rejects` compares a refusal with. */
const refused = (statusCode, code) => (error) => {
  assert.equal(error.statusCode, statusCode);
  assert.equal(error.details?.odataError?.code ?? error.code, code);
  return true;
};

describe("tables", () => {
  test("a table is created, listed and deleted", async () => {
    const name = newTableName();
    await service.createTable(name);
    assert.deepEqual(
      (await all(service.listTables({ queryOptions: { filter: odata`TableName eq ${name}` } }))).map((t) => t.name),
      [name],
    );
    await service.deleteTable(name);
    assert.ok(!(await all(service.listTables())).some((table) => table.name === name));
  });

  test("creating a table again is no error for this client", async () => {
    const name = newTableName();
    await service.createTable(name);
    await service.createTable(name);
    await service.deleteTable(name);
    await service.deleteTable(name);
  });

  test("tables come in pages", async () => {
    const prefix = newTableName();
    for (const suffix of ["a", "b", "c"]) await service.createTable(prefix + suffix);
    const filter = odata`TableName ge ${prefix} and TableName lt ${prefix + "{"}`;
    const pages = await all(service.listTables({ queryOptions: { filter } }).byPage({ maxPageSize: 2 }));
    assert.deepEqual(pages.map((page) => page.map((table) => table.name)), [
      [prefix + "a", prefix + "b"],
      [prefix + "c"],
    ]);
  });

  test("a connection string is enough", async () => {
    const client = TableClient.fromConnectionString(connectionString, newTableName(), options);
    await client.createTable();
    await client.createEntity({ partitionKey: "p", rowKey: "r" });
    assert.equal((await client.getEntity("p", "r")).rowKey, "r");
    await client.deleteTable();
  });

  test("a wrong key is refused", async () => {
    const stranger = new TableServiceClient(endpoint, new AzureNamedKeyCredential(account, "d3Jvbmc="), options);
    await assert.rejects(stranger.createTable(newTableName()), refused(403, "AuthenticationFailed"));
  });

  test("entities of a missing table are not found", async () => {
    const missing = new TableClient(endpoint, newTableName(), credential, options);
    await assert.rejects(missing.createEntity({ partitionKey: "p", rowKey: "r" }), refused(404, "TableNotFound"));
    await assert.rejects(all(missing.listEntities()), refused(404, "TableNotFound"));
  });
});

describe("entities", () => {
  const table = new TableClient(endpoint, newTableName(), credential, options);
  before(() => table.createTable());
  after(() => table.deleteTable());

  test("every type comes back", async () => {
    const entity = {
      partitionKey: newPartition(),
      rowKey: "r",
      text: "啊 😀 'quoted' \"double\" \\ \n",
      empty: "",
      yes: true,
      int32: -2147483648,
      fraction: 0.1,
      big: 9223372036854775807n,
      small: -9223372036854775808n,
      bytes: new Uint8Array([0, 255, 127]),
      moment: new Date("2023-01-02T03:04:05.678Z"),
      guid: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
    };
    await table.createEntity(entity);
    const { etag, timestamp, "odata.metadata": _, ...found } = await table.getEntity(entity.partitionKey, "r");
    assert.match(etag, /^W\/"datetime'.*'"$/);
    assert.ok(timestamp);
    assert.deepEqual({ ...found, bytes: [...found.bytes] }, { ...entity, bytes: [0, 255, 127] });
  });

  test("types stay what they were when they are asked for", async () => {
    const partitionKey = newPartition();
    const typed = {
      whole: { type: "Double", value: "5.0" },
      infinite: { type: "Double", value: "Infinity" },
      number: { type: "Int32", value: "7" },
      big: { type: "Int64", value: "7" },
      ticks: { type: "DateTime", value: "9999-12-31T23:59:59.9999999Z" },
    };
    await table.createEntity({ partitionKey, rowKey: "r", ...typed });
    const found = await table.getEntity(partitionKey, "r", { disableTypeConversion: true });
    assert.equal(Number(found.whole.value), 5);
    assert.equal(found.infinite.value, "Infinity");
    assert.equal(Number(found.number.value), 7);
    assert.deepEqual(found.big, typed.big);
    assert.deepEqual(found.ticks, typed.ticks);
  });

  test("inserting again is refused", async () => {
    const entity = { partitionKey: newPartition(), rowKey: "r" };
    await table.createEntity(entity);
    await assert.rejects(table.createEntity(entity), refused(409, "EntityAlreadyExists"));
  });

  test("merge keeps, replace drops", async () => {
    const key = { partitionKey: newPartition(), rowKey: "r" };
    await table.createEntity({ ...key, a: 1, b: 2 });
    await table.updateEntity({ ...key, b: 3 }, "Merge");
    let found = await table.getEntity(key.partitionKey, "r");
    assert.deepEqual([found.a, found.b], [1, 3]);
    await table.updateEntity({ ...key, c: 4 }, "Replace");
    found = await table.getEntity(key.partitionKey, "r");
    assert.deepEqual([found.a, found.b, found.c], [undefined, undefined, 4]);
    await table.upsertEntity({ ...key, d: 5 }, "Merge");
    await table.upsertEntity({ ...key, rowKey: "new", d: 5 }, "Replace");
    assert.equal((await table.getEntity(key.partitionKey, "new")).d, 5);
  });

  test("a stale etag is refused, the current one is not", async () => {
    const key = { partitionKey: newPartition(), rowKey: "r" };
    const { etag: stale } = await table.createEntity(key);
    const { etag } = await table.updateEntity({ ...key, a: 1 }, "Merge", { etag: stale });
    await assert.rejects(
      table.updateEntity({ ...key, a: 2 }, "Merge", { etag: stale }),
      refused(412, "UpdateConditionNotSatisfied"),
    );
    await assert.rejects(
      table.deleteEntity(key.partitionKey, "r", { etag: stale }),
      refused(412, "UpdateConditionNotSatisfied"),
    );
    await table.deleteEntity(key.partitionKey, "r", { etag });
    await assert.rejects(table.getEntity(key.partitionKey, "r"), refused(404, "ResourceNotFound"));
  });

  test("a missing entity is not found", async () => {
    const key = { partitionKey: newPartition(), rowKey: "r" };
    await assert.rejects(table.getEntity(key.partitionKey, "r"), refused(404, "ResourceNotFound"));
    await assert.rejects(table.updateEntity(key), refused(404, "ResourceNotFound"));
    await assert.rejects(table.deleteEntity(key.partitionKey, "r"), refused(404, "ResourceNotFound"));
  });

  for (const rowKey of ["", " ", "O'Neil", "''", "100%", "%27", "a+b", "a&b=c", '"', "()", ":@,;$!*~", "啊", "😀"]) {
    test(`the key ${JSON.stringify(rowKey)} survives`, async () => {
      const partitionKey = newPartition() + rowKey;
      await table.createEntity({ partitionKey, rowKey, a: 1 });
      await table.updateEntity({ partitionKey, rowKey, b: 2 });
      const filter = odata`PartitionKey eq ${partitionKey} and RowKey eq ${rowKey}`;
      const [found] = await all(table.listEntities({ queryOptions: { filter } }));
      assert.deepEqual([found.rowKey, found.a, found.b], [rowKey, 1, 2]);
      await table.deleteEntity(partitionKey, rowKey);
    });
  }
});

describe("queries", () => {
  const table = new TableClient(endpoint, newTableName(), credential, options);
  before(async () => {
    await table.createTable();
    await table.submitTransaction(
      Array.from({ length: 10 }, (_, number) => [
        "create",
        { partitionKey: "p", rowKey: `${number}`, number, big: BigInt(number), when: new Date(number * 1000) },
      ]),
    );
  });
  after(() => table.deleteTable());

  const query = async (filter) =>
    (await all(table.listEntities({ queryOptions: { filter } }))).map((entity) => entity.rowKey).join("");

  test("filters", async () => {
    assert.equal(await query(odata`PartitionKey eq 'p' and RowKey lt ${"3"}`), "012");
    assert.equal(await query(odata`number ge ${8}`), "89");
    assert.equal(await query("big eq 7L"), "7");
    assert.equal(await query(odata`big eq ${7n}`), "7");
    assert.equal(await query(odata`when lt ${new Date(2000)}`), "01");
    assert.equal(await query("not (number gt 0)"), "0");
    await assert.rejects(query("number is 1"), refused(400, "InvalidInput"));
  });

  test("select", async () => {
    const [found] = await all(table.listEntities({ queryOptions: { filter: "RowKey eq '4'", select: ["number"] } }));
    assert.equal(found.number, 4);
    assert.equal(found.rowKey, undefined);
  });

  test("pages, and a token that goes on later", async () => {
    const pages = table.listEntities().byPage({ maxPageSize: 4 });
    const { value: first } = await pages.next();
    assert.equal(first.length, 4);
    const rest = await all(table.listEntities().byPage({ maxPageSize: 4, continuationToken: first.continuationToken }));
    assert.deepEqual(rest.map((page) => page.map((entity) => entity.rowKey).join("")), ["4567", "89"]);
  });
});

describe("transactions", () => {
  const table = new TableClient(endpoint, newTableName(), credential, options);
  before(() => table.createTable());
  after(() => table.deleteTable());

  const stored = async (partitionKey) => {
    const entities = await all(table.listEntities({ queryOptions: { filter: odata`PartitionKey eq ${partitionKey}` } }));
    return Object.fromEntries(entities.map((entity) => [entity.rowKey, entity.a]));
  };

  test("every kind of operation at once", async () => {
    const partitionKey = newPartition();
    for (const rowKey of ["merge", "replace", "delete"]) await table.createEntity({ partitionKey, rowKey, a: 1 });
    const transaction = new TableTransaction();
    transaction.createEntity({ partitionKey, rowKey: "create", a: 2 });
    transaction.updateEntity({ partitionKey, rowKey: "merge", a: 2 }, "Merge");
    transaction.updateEntity({ partitionKey, rowKey: "replace", a: 2 }, "Replace");
    transaction.upsertEntity({ partitionKey, rowKey: "upsert ü'", a: 2 }, "Merge");
    transaction.deleteEntity(partitionKey, "delete");
    const { status, subResponses } = await table.submitTransaction(transaction.actions);
    assert.equal(status, 202);
    assert.deepEqual(subResponses.map((response) => response.status), [204, 204, 204, 204, 204]);
    assert.ok(subResponses.slice(0, 4).every((response) => response.etag));
    assert.deepEqual(await stored(partitionKey), { create: 2, merge: 2, replace: 2, "upsert ü'": 2 });
  });

  test("a hundred operations", async () => {
    const partitionKey = newPartition();
    const rows = Array.from({ length: 100 }, (_, number) => ["upsert", { partitionKey, rowKey: `${number}`, a: 1 }]);
    await table.submitTransaction(rows);
    assert.equal(Object.keys(await stored(partitionKey)).length, 100);
  });

  test("a failure undoes everything", async () => {
    const partitionKey = newPartition();
    await table.createEntity({ partitionKey, rowKey: "old", a: 1 });
    await assert.rejects(
      table.submitTransaction([
        ["create", { partitionKey, rowKey: "new", a: 2 }],
        ["create", { partitionKey, rowKey: "old", a: 2 }],
      ]),
      refused(409, "EntityAlreadyExists"),
    );
    assert.deepEqual(await stored(partitionKey), { old: 1 });
  });

  test("a missing entity and a missing table", async () => {
    const partitionKey = newPartition();
    await assert.rejects(
      table.submitTransaction([["delete", { partitionKey, rowKey: "missing" }]]),
      refused(404, "ResourceNotFound"),
    );
    const missing = new TableClient(endpoint, newTableName(), credential, options);
    await assert.rejects(
      missing.submitTransaction([["create", { partitionKey, rowKey: "r" }]]),
      refused(404, "TableNotFound"),
    );
  });
});
