// Access policies, shared access signatures and service properties, through the azure-storage package for JavaScript.

const assert = require("node:assert/strict");
const azure = require("azure-storage");
const { newName, promised, refused, run, step } = require("./runner.cjs");

const endpoint = process.env.ROWKEY_TEST_ENDPOINT;
const account = process.env.ROWKEY_TEST_ACCOUNT;
const key = process.env.ROWKEY_TEST_KEY;
const connectionString = process.env.ROWKEY_TEST_CONNECTION_STRING;

const client = azure.createTableService(connectionString);
const service = promised(client);
const { TableBatch, TableQuery } = azure;
const edm = azure.TableUtilities.entityGenerator;

const TABLE = newName();
const [START, EXPIRY] = [new Date("2012-01-01T00:00:00Z"), new Date("2038-01-01T00:00:00Z")];

const entity = (partition, properties = {}, row = "r") => ({
  PartitionKey: edm.String(partition),
  RowKey: edm.String(row),
  ...properties,
});

/** The service for the holder of a signature. */
const holderOf = (token) => promised(azure.createTableServiceWithSas(endpoint, token));

/** The service for the holder of a signature for a table. */
const permitted = (Permissions, more = {}, table = TABLE) => {
  const AccessPolicy = { Permissions, Start: START, Expiry: EXPIRY, ...more };
  return holderOf(client.generateSharedAccessSignature(table, { AccessPolicy }));
};

/** The service for the holder of a signature that names a policy. */
const byPolicy = (Id, table) => holderOf(client.generateSharedAccessSignature(table, { Id }));

/** The service for the holder of a signature for the account. */
const byAccount = (ResourceTypes, Permissions) => {
  const AccessPolicy = { Services: "t", ResourceTypes, Permissions, Expiry: EXPIRY };
  return holderOf(azure.generateAccountSharedAccessSignature(account, key, { AccessPolicy }));
};

const query = async (holder, table = TABLE, condition = new TableQuery()) =>
  (await holder.queryEntities(table, condition, null)).entries;
const within = (partition) => new TableQuery().where("PartitionKey eq ?", partition);
const stored = (partition) => service.retrieveEntity(TABLE, partition, "r");
const newTable = async () => (await service.createTable(newName())).TableName;
const forbidden = (code, promise) => refused(403, code, promise);

// ---------------------------------------------------------------- policies

step("Get Table ACL", "XML", "Shared Key", "a_new_table_has_no_policies", async () => {
  assert.deepEqual((await service.getTableAcl(await newTable())).signedIdentifiers, {});
  await refused(404, "TableNotFound", service.getTableAcl(newName()));
});

step("Set Table ACL", "XML", "Shared Key", "policies_are_kept_and_taken_away", async () => {
  const table = await newTable();
  await service.setTableAcl(table, {
    readers: { Start: START, Expiry: EXPIRY, Permissions: "r" },
    writers: { Expiry: EXPIRY, Permissions: "raud" },
  });
  const { readers, writers, ...others } = (await service.getTableAcl(table)).signedIdentifiers;
  assert.deepEqual([readers.Permissions, readers.Start, readers.Expiry], ["r", START, EXPIRY]);
  assert.deepEqual([writers.Permissions, writers.Start, writers.Expiry], ["raud", undefined, EXPIRY]);
  assert.deepEqual(others, {});
  await service.setTableAcl(table, null);
  assert.deepEqual((await service.getTableAcl(table)).signedIdentifiers, {});
});

// ---------------------------------------------------------------- signatures for a table

step("Query Entities", "JSON", "table SAS", "a_signature_to_query_queries", async () => {
  const partition = newName();
  await service.insertEntity(TABLE, entity(partition, { Value: 1 }));
  assert.deepEqual((await query(permitted("r"), TABLE, within(partition))).map((found) => found.Value._), [1]);
  await forbidden("AuthorizationPermissionMismatch", query(permitted("aud")));
});

step("Get Entity", "JSON", "table SAS", "a_signature_to_query_gets", async () => {
  const partition = newName();
  await service.insertEntity(TABLE, entity(partition, { Value: 1 }));
  assert.equal((await permitted("r").retrieveEntity(TABLE, partition, "r")).Value._, 1);
  await forbidden("AuthorizationPermissionMismatch", permitted("a").retrieveEntity(TABLE, partition, "r"));
});

step("Insert Entity", "JSON", "table SAS", "a_signature_to_add_inserts", async () => {
  const partition = newName();
  await forbidden("AuthorizationPermissionMismatch", permitted("rud").insertEntity(TABLE, entity(partition)));
  await permitted("a").insertEntity(TABLE, entity(partition, { Value: 2 }));
  assert.equal((await stored(partition)).Value._, 2);
});

step("Update Entity", "JSON", "table SAS", "a_signature_to_update_updates", async () => {
  const partition = newName();
  await service.insertEntity(TABLE, entity(partition, { Value: 1 }));
  await forbidden("AuthorizationPermissionMismatch", permitted("rad").replaceEntity(TABLE, entity(partition)));
  await permitted("u").replaceEntity(TABLE, entity(partition, { Value: 2 }));
  assert.equal((await stored(partition)).Value._, 2);
});

step("Merge Entity", "JSON", "table SAS", "a_signature_to_update_merges", async () => {
  const partition = newName();
  await service.insertEntity(TABLE, entity(partition, { Value: 1 }));
  await forbidden("AuthorizationPermissionMismatch", permitted("rad").mergeEntity(TABLE, entity(partition)));
  await permitted("u").mergeEntity(TABLE, entity(partition, { Other: 2 }));
  const found = await stored(partition);
  assert.deepEqual([found.Value._, found.Other._], [1, 2]);
});

step("Insert Or Replace Entity", "JSON", "table SAS", "a_signature_to_add_and_update_inserts_or_replaces", async () => {
  const wanted = entity(newName(), { Value: 1 });
  for (const permission of ["a", "u"]) {
    await forbidden("AuthorizationPermissionMismatch", permitted(permission).insertOrReplaceEntity(TABLE, wanted));
  }
  await permitted("au").insertOrReplaceEntity(TABLE, wanted);
  assert.equal((await stored(wanted.PartitionKey._)).Value._, 1);
});

step("Insert Or Merge Entity", "JSON", "table SAS", "a_signature_to_add_and_update_inserts_or_merges", async () => {
  const partition = newName();
  await forbidden("AuthorizationPermissionMismatch", permitted("a").insertOrMergeEntity(TABLE, entity(partition)));
  await permitted("au").insertOrMergeEntity(TABLE, entity(partition, { Value: 1 }));
  await permitted("au").insertOrMergeEntity(TABLE, entity(partition, { Other: 2 }));
  const found = await stored(partition);
  assert.deepEqual([found.Value._, found.Other._], [1, 2]);
});

step("Delete Entity", "JSON", "table SAS", "a_signature_to_delete_deletes", async () => {
  const partition = newName();
  await service.insertEntity(TABLE, entity(partition));
  await forbidden("AuthorizationPermissionMismatch", permitted("rau").deleteEntity(TABLE, entity(partition)));
  await permitted("d").deleteEntity(TABLE, entity(partition));
  await refused(404, "ResourceNotFound", stored(partition));
});

step("Entity Group Transaction", "JSON", "table SAS", "a_signature_does_a_batch", async () => {
  const partition = newName();
  const batch = new TableBatch();
  batch.insertEntity(entity(partition, { Value: 1 }, "a"), { echoContent: false });
  batch.insertEntity(entity(partition, { Value: 2 }, "b"), { echoContent: false });
  await permitted("a").executeBatch(TABLE, batch);
  assert.deepEqual((await query(service, TABLE, within(partition))).map((found) => found.Value._), [1, 2]);
});

step("Query Entities", "JSON", "table SAS", "a_signature_ends_with_its_time_and_table", async () => {
  await forbidden("AuthenticationFailed", query(permitted("r", { Expiry: new Date("2013-01-01T00:00:00Z") })));
  await forbidden("AuthorizationFailure", query(permitted("raud"), await newTable()));
});

step("Query Entities", "JSON", "table SAS", "a_signature_for_a_range_shows_the_range", async () => {
  const prefix = newName();
  for (const suffix of ["a", "b", "c", "d"]) await service.insertEntity(TABLE, entity(prefix + suffix));
  const holder = permitted("ra", { StartPk: prefix + "b", StartRk: "r", EndPk: prefix + "c", EndRk: "r" });
  assert.deepEqual((await query(holder)).map((found) => found.PartitionKey._), [prefix + "b", prefix + "c"]);
  await forbidden("AuthorizationFailure", holder.insertEntity(TABLE, entity(prefix + "e")));
});

step("Query Entities", "JSON", "table SAS", "a_signature_permits_an_address", async () => {
  const table = await newTable();
  assert.deepEqual(await query(permitted("r", { IPAddressOrRange: "127.0.0.0-127.0.0.255" }, table), table), []);
  const elsewhere = permitted("r", { IPAddressOrRange: "203.0.113.1" }, table);
  await forbidden("AuthorizationSourceIPMismatch", query(elsewhere, table));
});

// ---------------------------------------------------------------- signatures by policy

step("Query Entities", "JSON", "SAS by policy", "a_policy_permits_as_long_as_it_is_there", async () => {
  const table = await newTable();
  await service.insertEntity(table, entity("p", { Value: 1 }));
  await service.setTableAcl(table, { readers: { Expiry: EXPIRY, Permissions: "r" } });
  const holder = byPolicy("readers", table);
  assert.deepEqual((await query(holder, table)).map((found) => found.Value._), [1]);
  await service.setTableAcl(table, null);
  await forbidden("AuthenticationFailed", query(holder, table));
});

step("Insert Entity", "JSON", "SAS by policy", "a_policy_permits_no_more_than_it_says", async () => {
  const table = await newTable();
  await service.setTableAcl(table, {
    readers: { Expiry: EXPIRY, Permissions: "r" },
    adders: { Expiry: EXPIRY, Permissions: "a" },
  });
  const read = byPolicy("readers", table);
  await forbidden("AuthorizationPermissionMismatch", read.insertEntity(table, entity("p")));
  await byPolicy("adders", table).insertEntity(table, entity("p", { Value: 1 }));
  assert.deepEqual((await query(service, table)).map((found) => found.Value._), [1]);
});

// ---------------------------------------------------------------- signatures for the account

step("Create Table", "JSON", "account SAS", "a_signature_for_containers_creates_a_table", async () => {
  const table = newName();
  await forbidden("AuthorizationResourceTypeMismatch", byAccount("so", "rwdlacu").createTable(table));
  await forbidden("AuthorizationPermissionMismatch", byAccount("c", "rl").createTable(table));
  await byAccount("c", "c").createTable(table);
  assert.equal((await service.doesTableExist(table)).exists, true);
});

step("Query Tables", "JSON", "account SAS", "a_signature_for_containers_lists_tables", async () => {
  const table = await newTable();
  assert.deepEqual((await byAccount("c", "l").listTablesSegmentedWithPrefix(table, null)).entries, [table]);
  const others = byAccount("c", "rwdacu").listTablesSegmented(null);
  await forbidden("AuthorizationPermissionMismatch", others);
});

step("Delete Table", "JSON", "account SAS", "a_signature_for_containers_deletes_a_table", async () => {
  const table = await newTable();
  await forbidden("AuthorizationPermissionMismatch", byAccount("c", "rwlacu").deleteTable(table));
  await byAccount("c", "d").deleteTable(table);
  assert.equal((await service.doesTableExist(table)).exists, false);
});

step("Query Entities", "JSON", "account SAS", "a_signature_for_objects_queries", async () => {
  const partition = newName();
  await service.insertEntity(TABLE, entity(partition, { Value: 1 }));
  const found = await query(byAccount("o", "r"), TABLE, within(partition));
  assert.deepEqual(found.map((each) => each.Value._), [1]);
  await forbidden("AuthorizationResourceTypeMismatch", query(byAccount("sc", "r")));
});

step("Get Table Service Properties", "XML", "account SAS", "a_signature_for_the_service_reads_its_properties", async () => {
  assert.equal((await byAccount("s", "r").getServiceProperties()).Logging.Version, "1.0");
  await forbidden("AuthorizationResourceTypeMismatch", byAccount("co", "r").getServiceProperties());
});

// ---------------------------------------------------------------- the service

step("Set Table Service Properties", "XML", "Shared Key", "logging_metrics_and_cors_are_kept", async () => {
  const wanted = {
    Logging: {
      Version: "1.0", Delete: true, Read: false, Write: true, RetentionPolicy: { Enabled: true, Days: 5 },
    },
    HourMetrics: {
      Version: "1.0", Enabled: true, IncludeAPIs: true, RetentionPolicy: { Enabled: true, Days: 7 },
    },
    MinuteMetrics: { Version: "1.0", Enabled: false, RetentionPolicy: { Enabled: false } },
    Cors: {
      CorsRule: [
        {
          AllowedMethods: ["GET", "PUT"],
          AllowedOrigins: ["http://www.contoso.example"],
          AllowedHeaders: ["x-ms-meta-xyz", "x-ms-meta-data*"],
          ExposedHeaders: ["x-ms-meta-abc", "x-ms-meta-source*"],
          MaxAgeInSeconds: 500,
        },
        {
          AllowedMethods: ["GET"], AllowedOrigins: ["*"], AllowedHeaders: [], ExposedHeaders: [], MaxAgeInSeconds: 0,
        },
      ],
    },
  };
  await service.setServiceProperties(wanted);
  assert.deepEqual(await service.getServiceProperties(), wanted);
});

step("Set Table Service Properties", "XML", "Shared Key", "what_is_not_set_stays", async () => {
  const RetentionPolicy = { Enabled: false };
  await service.setServiceProperties({
    Logging: { Version: "1.0", Delete: false, Read: true, Write: false, RetentionPolicy },
  });
  await service.setServiceProperties({ MinuteMetrics: { Version: "1.0", Enabled: false, RetentionPolicy } });
  const found = await service.getServiceProperties();
  assert.deepEqual([found.Logging.Read, found.MinuteMetrics.Enabled], [true, false]);
});

step("Set Table Service Properties", "XML", "Shared Key", "too_long_a_retention_is_refused", async () => {
  const RetentionPolicy = { Enabled: true, Days: 366 };
  const wanted = { Logging: { Version: "1.0", Delete: false, Read: true, Write: false, RetentionPolicy } };
  await refused(400, "InvalidXmlDocument", service.setServiceProperties(wanted));
});

step("Get Table Service Properties", "XML", "Shared Key", "properties_of_the_service_are_there", async () => {
  const found = await service.getServiceProperties();
  assert.deepEqual(
    [found.Logging.Version, found.HourMetrics.Version, found.MinuteMetrics.Version],
    ["1.0", "1.0", "1.0"],
  );
});

/** Fail unless statistics say that the secondary keeps up. */
const isLive = ({ GeoReplication }) => {
  assert.equal(GeoReplication.Status, "live");
  assert.ok(Math.abs(Date.now() - new Date(GeoReplication.LastSyncTime)) < 300_000, GeoReplication.LastSyncTime);
};

step("Get Table Service Stats", "XML", "Shared Key", "the_secondary_tells_that_it_is_live", async () => {
  const host = { primaryHost: endpoint, secondaryHost: `${endpoint}-secondary` };
  const locationMode = azure.StorageUtilities.LocationMode.SECONDARY_ONLY;
  isLive(await promised(azure.createTableService(account, key, host)).getServiceStats({ locationMode }));
});

step("Get Table Service Stats", "XML", "Shared Key", "the_primary_tells_it_where_no_secondary_is_known", async () => {
  isLive(await service.getServiceStats());
});

run(() => service.createTable(TABLE));
