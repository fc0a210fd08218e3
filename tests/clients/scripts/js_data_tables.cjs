// All that the @azure/data-tables package for JavaScript can do, with every kind of authorisation. With an account's key
// it signs with Shared Key Lite. What the package makes of the answers in detail is tested in ../js.

const assert = require("node:assert/strict");
const {
  AzureNamedKeyCredential,
  AzureSASCredential,
  TableClient,
  TableServiceClient,
  generateAccountSas,
  generateTableSas,
  odata,
} = require("@azure/data-tables");
const { newName, refusal, run, step } = require("./runner.cjs");

const endpoint = process.env.ROWKEY_TEST_ENDPOINT;
const key = new AzureNamedKeyCredential(process.env.ROWKEY_TEST_ACCOUNT, process.env.ROWKEY_TEST_KEY);
const token = process.env.ROWKEY_TEST_TOKEN;

const TABLE = newName();
const OWNER = "Shared Key Lite";
const [START, EXPIRY] = [new Date("2012-01-01T00:00:00Z"), new Date("2038-01-01T00:00:00Z")];
const limits = { startsOn: START, expiresOn: EXPIRY };
const onEntities = { query: true, add: true, update: true, delete: true };

/** What a client shows with each kind of authorisation. */
const credentials = {
  "Shared Key Lite": () => key,
  "table SAS": () => new AzureSASCredential(generateTableSas(TABLE, key, { permissions: onEntities, ...limits })),
  "SAS by policy": () => new AzureSASCredential(generateTableSas(TABLE, key, { identifier: "everything" })),
  "account SAS": () => {
    const permissions = { ...onEntities, write: true, list: true };
    return new AzureSASCredential(generateAccountSas(key, { permissions, ...limits }));
  },
  // What @azure/identity makes, but for where it has its token from.
  "bearer token": () => ({ getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3600_000 }) }),
};

const options = { allowInsecureConnection: endpoint.startsWith("http:"), retryOptions: { maxRetries: 0 } };
const serviceWith = (kind) => new TableServiceClient(endpoint, credentials[kind](), options);
const tableWith = (kind, name = TABLE) => new TableClient(endpoint, name, credentials[kind](), options);
const service = serviceWith(OWNER);
const table = tableWith(OWNER);

/** Everything an asynchronous iterator yields. */
async function all(iterator) {
  const found = [];
  for await (const item of iterator) found.push(item);
  return found;
}

/** Fail unless a call is refused with this status and code, which the client shows in one of three ways. */
const refused = (statusCode, code, promise) =>
  assert.rejects(promise, ({ statusCode: status, code: shown, details }) => {
    assert.deepEqual([status, details?.odataError?.code ?? shown ?? details?.errorCode], [statusCode, code]);
    return true;
  });

/** Fail unless a call is refused for what a signature can never be granted. */
const notGranted = (promise) => refused(403, "AuthorizationFailure", promise);

const entity = (partitionKey, properties = {}, rowKey = "r") => ({ partitionKey, rowKey, ...properties });
const within = (partition) => ({ queryOptions: { filter: odata`PartitionKey eq ${partition}` } });
const plain = ({ etag, timestamp, "odata.metadata": metadata, ...properties }) => properties;
const stored = async (partition) => (await all(table.listEntities(within(partition)))).map(plain);
const tableNames = async () => (await all(service.listTables())).map((item) => item.name);
const everyPolicy = async () => (await table.getAccessPolicy()).map((identifier) => identifier.id);

// ---------------------------------------------------------------- tables

step("Query Tables", "JSON", "Shared Key Lite, account SAS, bearer token", "tables_are_listed", async (kind) => {
  const filter = odata`TableName eq ${TABLE}`;
  const found = await all(serviceWith(kind).listTables({ queryOptions: { filter } }));
  assert.deepEqual(found.map((item) => item.name), [TABLE]);
});

step("Create Table", "JSON", "Shared Key Lite, account SAS, bearer token", "a_table_is_created", async (kind) => {
  const name = newName();
  await serviceWith(kind).createTable(name);
  assert.ok((await tableNames()).includes(name));
});

step("Delete Table", "JSON", "Shared Key Lite, account SAS, bearer token", "a_table_is_deleted", async (kind) => {
  const name = newName();
  await service.createTable(name);
  await serviceWith(kind).deleteTable(name);
  assert.ok(!(await tableNames()).includes(name));
});

refusal("Query Tables", "JSON", "table SAS, SAS by policy", "tables_are_not_listed", async (kind) => {
  await notGranted(all(serviceWith(kind).listTables()));
});

refusal("Create Table", "JSON", "table SAS, SAS by policy", "a_table_is_not_created", async (kind) => {
  await notGranted(serviceWith(kind).createTable(newName()));
});

refusal("Delete Table", "JSON", "table SAS, SAS by policy", "a_table_is_not_deleted", async (kind) => {
  await notGranted(serviceWith(kind).deleteTable(TABLE));
  assert.ok((await tableNames()).includes(TABLE));
});

// ---------------------------------------------------------------- entities

step(
  "Insert Entity", "JSON", "Shared Key Lite, table SAS, SAS by policy, account SAS, bearer token",
  "an_entity_is_inserted", async (kind) => {
    const partition = newName();
    const { etag } = await tableWith(kind).createEntity(entity(partition, { value: 1 }));
    assert.deepEqual(await stored(partition), [entity(partition, { value: 1 })]);
    assert.equal((await table.getEntity(partition, "r")).etag, etag);
  },
);

step(
  "Get Entity", "JSON", "Shared Key Lite, table SAS, SAS by policy, account SAS, bearer token",
  "an_entity_comes_back", async (kind) => {
    const partition = newName("O'Neil ");
    await table.createEntity(entity(partition, { value: 1 }));
    assert.deepEqual(plain(await tableWith(kind).getEntity(partition, "r")), entity(partition, { value: 1 }));
    await refused(404, "ResourceNotFound", tableWith(kind).getEntity(partition, "s"));
  },
);

step(
  "Query Entities", "JSON", "Shared Key Lite, table SAS, SAS by policy, account SAS, bearer token",
  "entities_are_queried", async (kind) => {
    const partition = newName();
    for (const row of ["a", "b", "c"]) await table.createEntity(entity(partition, {}, row));
    const pages = await all(tableWith(kind).listEntities(within(partition)).byPage({ maxPageSize: 2 }));
    assert.deepEqual(pages.map((page) => page.map((found) => found.rowKey)), [["a", "b"], ["c"]]);
  },
);

step(
  "Update Entity", "JSON", "Shared Key Lite, table SAS, SAS by policy, account SAS, bearer token",
  "an_entity_is_updated", async (kind) => {
    const partition = newName();
    await table.createEntity(entity(partition, { a: 1, b: 2 }));
    await tableWith(kind).updateEntity(entity(partition, { b: 3 }), "Replace");
    assert.deepEqual(await stored(partition), [entity(partition, { b: 3 })]);
  },
);

step(
  "Merge Entity", "JSON", "Shared Key Lite, table SAS, SAS by policy, account SAS, bearer token",
  "an_entity_is_merged", async (kind) => {
    const partition = newName();
    await table.createEntity(entity(partition, { a: 1, b: 2 }));
    await tableWith(kind).updateEntity(entity(partition, { b: 3 }), "Merge");
    assert.deepEqual(await stored(partition), [entity(partition, { a: 1, b: 3 })]);
  },
);

step(
  "Insert Or Replace Entity", "JSON", "Shared Key Lite, table SAS, SAS by policy, account SAS, bearer token",
  "an_entity_is_inserted_or_replaced", async (kind) => {
    const partition = newName();
    await tableWith(kind).upsertEntity(entity(partition, { a: 1, b: 2 }), "Replace");
    assert.deepEqual(await stored(partition), [entity(partition, { a: 1, b: 2 })]);
    await tableWith(kind).upsertEntity(entity(partition, { b: 3 }), "Replace");
    assert.deepEqual(await stored(partition), [entity(partition, { b: 3 })]);
  },
);

step(
  "Insert Or Merge Entity", "JSON", "Shared Key Lite, table SAS, SAS by policy, account SAS, bearer token",
  "an_entity_is_inserted_or_merged", async (kind) => {
    const partition = newName();
    await tableWith(kind).upsertEntity(entity(partition, { a: 1, b: 2 }), "Merge");
    assert.deepEqual(await stored(partition), [entity(partition, { a: 1, b: 2 })]);
    await tableWith(kind).upsertEntity(entity(partition, { b: 3 }), "Merge");
    assert.deepEqual(await stored(partition), [entity(partition, { a: 1, b: 3 })]);
  },
);

step(
  "Delete Entity", "JSON", "Shared Key Lite, table SAS, SAS by policy, account SAS, bearer token",
  "an_entity_is_deleted", async (kind) => {
    const partition = newName();
    await table.createEntity(entity(partition));
    await tableWith(kind).deleteEntity(partition, "r");
    assert.deepEqual(await stored(partition), []);
  },
);

step(
  "Entity Group Transaction", "JSON", "Shared Key Lite, table SAS, SAS by policy, account SAS, bearer token",
  "a_transaction_is_done_whole_or_not_at_all", async (kind) => {
    const partition = newName();
    for (const row of ["delete", "merge", "replace"]) await table.createEntity(entity(partition, { a: 1 }, row));
    const { subResponses } = await tableWith(kind).submitTransaction([
      ["create", entity(partition, { a: 2 }, "create")],
      ["delete", entity(partition, {}, "delete")],
      ["update", entity(partition, { b: 2 }, "merge"), "Merge"],
      ["update", entity(partition, { b: 2 }, "replace"), "Replace"],
      ["upsert", entity(partition, { a: 2 }, "upsert"), "Merge"],
    ]);
    assert.deepEqual(subResponses.map((response) => response.status), [204, 204, 204, 204, 204]);
    const done = [
      entity(partition, { a: 2 }, "create"),
      entity(partition, { a: 1, b: 2 }, "merge"),
      entity(partition, { b: 2 }, "replace"),
      entity(partition, { a: 2 }, "upsert"),
    ];
    assert.deepEqual(await stored(partition), done);
    const again = [
      ["upsert", entity(partition, { a: 3 }, "upsert")],
      ["create", entity(partition, {}, "create")],
    ];
    await refused(409, "EntityAlreadyExists", tableWith(kind).submitTransaction(again));
    assert.deepEqual(await stored(partition), done);
  },
);

// ---------------------------------------------------------------- access policies

step("Get Table ACL", "XML", "Shared Key Lite", "access_policies_are_shown", async () => {
  const [{ id, accessPolicy }] = await table.getAccessPolicy();
  assert.deepEqual([id, accessPolicy.permission], ["everything", "raud"]);
  assert.deepEqual([accessPolicy.start, accessPolicy.expiry], [START, EXPIRY]);
});

step("Set Table ACL", "XML", "Shared Key Lite", "access_policies_are_kept_and_taken_away", async () => {
  const name = newName();
  await service.createTable(name);
  const own = tableWith(OWNER, name);
  await own.setAccessPolicy([{ id: "readers", accessPolicy: { start: START, expiry: EXPIRY, permission: "r" } }]);
  const [{ id, accessPolicy }] = await own.getAccessPolicy();
  assert.deepEqual([id, accessPolicy.permission, accessPolicy.expiry], ["readers", "r", EXPIRY]);
  await own.setAccessPolicy([]);
  assert.deepEqual([...(await own.getAccessPolicy())], []);
});

refusal("Get Table ACL", "XML", "table SAS, SAS by policy, account SAS", "policies_are_not_shown", async (kind) => {
  await notGranted(tableWith(kind).getAccessPolicy());
});

refusal("Set Table ACL", "XML", "table SAS, SAS by policy, account SAS", "policies_are_not_set", async (kind) => {
  await notGranted(tableWith(kind).setAccessPolicy([]));
  assert.deepEqual(await everyPolicy(), ["everything"]);
});

refusal("Get Table ACL", "XML", "bearer token", "policies_are_not_there_for_a_bearer", async () => {
  await refused(404, "ResourceNotFound", tableWith("bearer token").getAccessPolicy());
});

refusal("Set Table ACL", "XML", "bearer token", "policies_are_not_there_for_a_bearer_to_set", async () => {
  await refused(404, "ResourceNotFound", tableWith("bearer token").setAccessPolicy([]));
  assert.deepEqual(await everyPolicy(), ["everything"]);
});

// ---------------------------------------------------------------- the service

const rule = (allowedOrigins) => ({
  allowedOrigins, allowedMethods: "GET", allowedHeaders: "", exposedHeaders: "", maxAgeInSeconds: 5,
});
const origins = async () => ((await service.getProperties()).cors ?? []).map((found) => found.allowedOrigins);

step(
  "Get Table Service Properties", "XML", "Shared Key Lite, account SAS, bearer token",
  "properties_of_the_service_are_there", async (kind) => {
    assert.equal((await serviceWith(kind).getProperties()).logging.version, "1.0");
  },
);

step(
  "Set Table Service Properties", "XML", "Shared Key Lite, account SAS, bearer token",
  "properties_of_the_service_are_kept", async (kind) => {
    const origin = `http://${newName()}.example`;
    await serviceWith(kind).setProperties({ cors: [rule(origin)] });
    assert.deepEqual(await origins(), [origin]);
    await serviceWith(kind).setProperties({ cors: [] });
    assert.deepEqual(await origins(), []);
  },
);

step(
  "Get Table Service Stats", "XML", "Shared Key Lite, account SAS, bearer token",
  "statistics_say_that_the_secondary_is_live", async (kind) => {
    const { geoReplication } = await serviceWith(kind).getStatistics();
    assert.equal(geoReplication.status, "live");
    assert.ok(Math.abs(Date.now() - geoReplication.lastSyncTime) < 300_000, geoReplication.lastSyncTime);
  },
);

refusal(
  "Get Table Service Properties", "XML", "table SAS, SAS by policy",
  "properties_of_the_service_are_not_for_a_signature_of_a_table", async (kind) => {
    await notGranted(serviceWith(kind).getProperties());
  },
);

refusal(
  "Set Table Service Properties", "XML", "table SAS, SAS by policy",
  "properties_of_the_service_are_not_set_by_a_signature_of_a_table", async (kind) => {
    await notGranted(serviceWith(kind).setProperties({ cors: [rule("*")] }));
    assert.deepEqual(await origins(), []);
  },
);

refusal(
  "Get Table Service Stats", "XML", "table SAS, SAS by policy",
  "statistics_are_not_for_a_signature_of_a_table", async (kind) => {
    await notGranted(serviceWith(kind).getStatistics());
  },
);

run(async () => {
  await service.createTable(TABLE);
  const accessPolicy = { start: START, expiry: EXPIRY, permission: "raud" };
  await table.setAccessPolicy([{ id: "everything", accessPolicy }]);
});
