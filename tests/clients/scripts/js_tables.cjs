// Tables and entities, through the azure-storage package for JavaScript.

const assert = require("node:assert/strict");
const azure = require("azure-storage");
const { newName, promised, refused, run, step } = require("./runner.cjs");

const service = promised(azure.createTableService(process.env.ROWKEY_TEST_CONNECTION_STRING));
const { PayloadFormat, entityGenerator: edm } = azure.TableUtilities;
const { TableBatch, TableQuery } = azure;

const TABLE = newName();

/** An entity as a batch takes it: the keys with their type. Elsewhere either form will do. */
const entity = (partition, row = "r", properties = {}) => ({
  PartitionKey: edm.String(partition),
  RowKey: edm.String(row),
  ...properties,
});

/** What an entity has besides what the server adds to it, without types. */
const values = (found) =>
  Object.fromEntries(
    Object.entries(found)
      .filter(([name]) => name !== ".metadata" && name !== "Timestamp")
      .map(([name, property]) => [name, property._]),
  );

const insert = async (partition, row, properties) =>
  (await service.insertEntity(TABLE, entity(partition, row, properties)))[".metadata"].etag;
const retrieve = (partition, row = "r", options = {}) => service.retrieveEntity(TABLE, partition, row, options);
const stored = async (partition, row = "r") => values(await retrieve(partition, row));
const within = (partition) => new TableQuery().where("PartitionKey eq ?", partition);
const query = async (tableQuery, options = {}) =>
  (await service.queryEntities(TABLE, tableQuery, null, options)).entries;

// ---------------------------------------------------------------- tables

step("Create Table", "JSON", "Shared Key", "a_table_is_created", async () => {
  const name = newName();
  assert.equal((await service.createTable(name)).TableName, name);
  assert.equal((await service.doesTableExist(name)).exists, true);
});

step("Create Table", "JSON", "Shared Key", "a_table_that_exists_is_a_conflict", async () => {
  await refused(409, "TableAlreadyExists", service.createTable(TABLE));
  assert.equal((await service.createTableIfNotExists(TABLE)).created, false);
});

step("Query Tables", "JSON", "Shared Key", "tables_come_in_pages_by_prefix", async () => {
  const prefix = newName();
  for (const suffix of ["a", "b", "c"]) await service.createTable(prefix + suffix);
  const pages = [];
  let token = null;
  do {
    const page = await service.listTablesSegmentedWithPrefix(prefix, token, { maxResults: 2 });
    pages.push(page.entries);
    token = page.continuationToken;
  } while (token);
  assert.deepEqual(pages, [[prefix + "a", prefix + "b"], [prefix + "c"]]);
});

step("Query Tables", "JSON", "Shared Key", "a_missing_table_does_not_exist", async () => {
  assert.equal((await service.doesTableExist(newName())).exists, false);
});

step("Delete Table", "JSON", "Shared Key", "a_deleted_table_is_gone", async () => {
  const name = newName();
  await service.createTable(name);
  await service.deleteTable(name);
  assert.equal((await service.doesTableExist(name)).exists, false);
});

step("Delete Table", "JSON", "Shared Key", "deleting_a_missing_table_is_refused", async () => {
  await refused(404, "ResourceNotFound", service.deleteTable(newName()));
  assert.equal(await service.deleteTableIfExists(newName()), false);
});

// ---------------------------------------------------------------- reading entities

step("Insert Entity", "JSON", "Shared Key", "an_inserted_entity_is_answered_with_its_etag", async () => {
  const partition = newName();
  const etag = await insert(partition, "r", { Name: "Ada" });
  assert.match(etag, /^W\/"datetime'/);
  assert.equal((await retrieve(partition))[".metadata"].etag, etag);
});

step("Insert Entity", "JSON", "Shared Key", "an_inserted_entity_is_echoed", async () => {
  const partition = newName();
  const echoed = await service.insertEntity(TABLE, entity(partition, "r", { Age: 36 }), { echoContent: true });
  assert.deepEqual(values(echoed), { PartitionKey: partition, RowKey: "r", Age: 36 });
});

step("Insert Entity", "JSON", "Shared Key", "inserting_an_entity_again_is_a_conflict", async () => {
  const partition = newName();
  await insert(partition, "r", { Value: 1 });
  await refused(409, "EntityAlreadyExists", insert(partition, "r", { Value: 2 }));
  assert.deepEqual(await stored(partition), { PartitionKey: partition, RowKey: "r", Value: 1 });
});

step("Insert Entity", "JSON", "Shared Key", "inserting_into_a_missing_table_is_not_found", async () => {
  await refused(404, "TableNotFound", service.insertEntity(newName(), entity("p")));
});

const ALL_TYPES = {
  Text: edm.String("  two spaces, <&> \u{1f600} and\nlines  "),
  Empty: edm.String(""),
  Yes: edm.Boolean(true),
  No: edm.Boolean(false),
  Small: edm.Int32(-(2 ** 31)),
  Large: edm.Int64("9007199254740993"),
  Half: edm.Double(2.5),
  Whole: edm.Double(5),
  Endless: edm.Double(-Infinity),
  Guid: edm.Guid("c9da6455-213d-42c9-9a79-3e9149a57833"),
  Binary: edm.Binary(Buffer.from([0, 255, 16])),
  Moment: edm.DateTime(new Date("2008-07-10T12:30:05.123Z")),
};

/** Fail unless all values have come back, and these types by name. */
const hasAllTypes = (found, types) => {
  const { PartitionKey, RowKey, ...rest } = values(found);
  assert.deepEqual(rest, Object.fromEntries(Object.entries(ALL_TYPES).map(([name, property]) => [name, property._])));
  for (const [name, type] of Object.entries(types)) assert.equal(found[name].$, type, name);
};

const TYPES = { Large: "Edm.Int64", Guid: "Edm.Guid", Binary: "Edm.Binary", Moment: "Edm.DateTime" };

step("Insert Entity", "JSON", "Shared Key", "all_types_come_back_as_they_were", async () => {
  const partition = newName();
  await insert(partition, "r", ALL_TYPES);
  hasAllTypes(await retrieve(partition), TYPES);
});

step("Get Entity", "JSON", "Shared Key", "full_metadata_tells_all_types", async () => {
  const partition = newName();
  await insert(partition, "r", ALL_TYPES);
  const found = await retrieve(partition, "r", { payloadFormat: PayloadFormat.FULL_METADATA });
  hasAllTypes(found, TYPES);
  assert.match(found[".metadata"].editLink, new RegExp(`^${TABLE}\\(PartitionKey='${partition}',RowKey='r'\\)$`));
});

step("Get Entity", "JSON", "Shared Key", "no_metadata_leaves_types_to_the_client", async () => {
  const partition = newName();
  await insert(partition, "r", { Large: edm.Int64("9007199254740993"), Half: 2.5, Count: 3 });
  const found = await retrieve(partition, "r", { payloadFormat: PayloadFormat.NO_METADATA });
  assert.deepEqual(values(found), {
    PartitionKey: partition, RowKey: "r", Large: "9007199254740993", Half: 2.5, Count: 3,
  });
  assert.equal(found.Large.$, undefined);
});

step("Get Entity", "JSON", "Shared Key", "an_entity_comes_back_whole", async () => {
  const partition = newName();
  await insert(partition, "r", { Name: "Ada", Age: 36 });
  const found = await retrieve(partition);
  assert.deepEqual(values(found), { PartitionKey: partition, RowKey: "r", Name: "Ada", Age: 36 });
  assert.ok(found.Timestamp._ instanceof Date);
});

step("Get Entity", "JSON", "Shared Key", "a_missing_entity_is_not_found", async () => {
  await refused(404, "ResourceNotFound", retrieve(newName()));
});

step("Get Entity", "JSON", "Shared Key", "keys_with_unicode_and_quotes_are_found", async () => {
  const [partition, row] = [newName("Zoë's 日本 \u{1f600} \"'' "), "100% of a+b & c=d;e@f"];
  await insert(partition, row, { Value: 1 });
  assert.deepEqual(await stored(partition, row), { PartitionKey: partition, RowKey: row, Value: 1 });
});

step("Query Entities", "JSON", "Shared Key", "entities_come_in_pages", async () => {
  const partition = newName();
  for (const row of ["a", "b", "c", "d", "e"]) await insert(partition, row);
  const pages = [];
  let token = null;
  do {
    const page = await service.queryEntities(TABLE, within(partition).top(2), token);
    pages.push(page.entries.map((found) => found.RowKey._));
    token = page.continuationToken;
  } while (token);
  assert.deepEqual(pages, [["a", "b"], ["c", "d"], ["e"]]);
});

step("Query Entities", "JSON", "Shared Key", "a_filter_chooses", async () => {
  const partition = newName("Zoë's ");
  for (const [number, row] of ["a", "b", "c"].entries()) {
    const Moment = edm.DateTime(new Date(Date.UTC(2001 + number, 0, 1)));
    await insert(partition, row, { Number: number, Long: edm.Int64(`${number}`), Moment, Even: number % 2 === 0 });
  }
  const rows = async (...condition) =>
    (await query(within(partition).and(...condition))).map((found) => found.RowKey._);
  assert.deepEqual(await rows("Number >= ?", 1), ["b", "c"]);
  assert.deepEqual(await rows("Long > ?int64?", "1"), ["c"]);
  assert.deepEqual(await rows("Moment < ?", new Date(Date.UTC(2002, 0, 1))), ["a"]);
  assert.deepEqual(await rows("Even == ? && RowKey != ?", true, "a"), ["c"]);
});

step("Query Entities", "JSON", "Shared Key", "a_query_selects_properties", async () => {
  const partition = newName();
  await insert(partition, "a", { A: 1, B: 2 });
  await insert(partition, "b", { A: 3 });
  const found = await query(within(partition).select("RowKey", "A"));
  assert.deepEqual(found.map(values), [{ RowKey: "a", A: 1 }, { RowKey: "b", A: 3 }]);
});

step("Query Entities", "JSON", "Shared Key", "a_filter_that_cannot_be_read_is_refused", async () => {
  await refused(400, "InvalidInput", query(new TableQuery().where("Number ge")));
});

// ---------------------------------------------------------------- writing entities

step("Update Entity", "JSON", "Shared Key", "an_update_replaces_all_properties", async () => {
  const partition = newName();
  const old = await insert(partition, "r", { A: 1, B: 2 });
  const update = { ...entity(partition, "r", { B: 3 }), ".metadata": { etag: old } };
  const answer = await service.replaceEntity(TABLE, update);
  const found = await retrieve(partition);
  assert.deepEqual(values(found), { PartitionKey: partition, RowKey: "r", B: 3 });
  assert.equal(answer[".metadata"].etag, found[".metadata"].etag);
  await refused(412, "UpdateConditionNotSatisfied", service.replaceEntity(TABLE, update));
});

step("Update Entity", "JSON", "Shared Key", "an_update_of_a_missing_entity_is_not_found", async () => {
  await refused(404, "ResourceNotFound", service.replaceEntity(TABLE, entity(newName())));
});

step("Merge Entity", "JSON", "Shared Key", "a_merge_keeps_other_properties", async () => {
  const partition = newName();
  const old = await insert(partition, "r", { A: 1, B: 2 });
  const merge = { ...entity(partition, "r", { B: 3 }), ".metadata": { etag: old } };
  const answer = await service.mergeEntity(TABLE, merge);
  const found = await retrieve(partition);
  assert.deepEqual(values(found), { PartitionKey: partition, RowKey: "r", A: 1, B: 3 });
  assert.equal(answer[".metadata"].etag, found[".metadata"].etag);
  await refused(412, "UpdateConditionNotSatisfied", service.mergeEntity(TABLE, merge));
});

step("Merge Entity", "JSON", "Shared Key", "a_merge_of_a_missing_entity_is_not_found", async () => {
  await refused(404, "ResourceNotFound", service.mergeEntity(TABLE, entity(newName())));
});

step("Insert Or Replace Entity", "JSON", "Shared Key", "insert_or_replace_inserts_and_replaces", async () => {
  const partition = newName();
  await service.insertOrReplaceEntity(TABLE, entity(partition, "r", { A: 1, B: 2 }));
  assert.deepEqual(await stored(partition), { PartitionKey: partition, RowKey: "r", A: 1, B: 2 });
  const answer = await service.insertOrReplaceEntity(TABLE, entity(partition, "r", { B: 3 }));
  assert.deepEqual(await stored(partition), { PartitionKey: partition, RowKey: "r", B: 3 });
  assert.equal(answer[".metadata"].etag, (await retrieve(partition))[".metadata"].etag);
});

step("Insert Or Merge Entity", "JSON", "Shared Key", "insert_or_merge_inserts_and_merges", async () => {
  const partition = newName();
  await service.insertOrMergeEntity(TABLE, entity(partition, "r", { A: 1, B: 2 }));
  assert.deepEqual(await stored(partition), { PartitionKey: partition, RowKey: "r", A: 1, B: 2 });
  const answer = await service.insertOrMergeEntity(TABLE, entity(partition, "r", { B: 3 }));
  assert.deepEqual(await stored(partition), { PartitionKey: partition, RowKey: "r", A: 1, B: 3 });
  assert.equal(answer[".metadata"].etag, (await retrieve(partition))[".metadata"].etag);
});

step("Delete Entity", "JSON", "Shared Key", "a_deleted_entity_is_gone", async () => {
  const partition = newName();
  const old = await insert(partition, "r", { A: 1 });
  await service.mergeEntity(TABLE, entity(partition, "r", { A: 2 }));
  const outdated = { ...entity(partition), ".metadata": { etag: old } };
  await refused(412, "UpdateConditionNotSatisfied", service.deleteEntity(TABLE, outdated));
  assert.deepEqual(await stored(partition), { PartitionKey: partition, RowKey: "r", A: 2 });
  await service.deleteEntity(TABLE, entity(partition));
  await refused(404, "ResourceNotFound", retrieve(partition));
  await refused(404, "ResourceNotFound", service.deleteEntity(TABLE, entity(partition)));
});

// ---------------------------------------------------------------- batches

step("Entity Group Transaction", "JSON", "Shared Key", "a_batch_does_all_of_its_operations", async () => {
  const partition = newName("Zoë ");
  const old = await insert(partition, "update", { A: 1 });
  for (const row of ["merge", "delete", "replace"]) await insert(partition, row, { A: 1 });
  const batch = new TableBatch();
  batch.insertEntity(entity(partition, "insert", { A: 2, Text: "Zoë <&>" }), { echoContent: true });
  batch.replaceEntity({ ...entity(partition, "update", { B: 2 }), ".metadata": { etag: old } });
  batch.mergeEntity(entity(partition, "merge", { B: 2 }));
  batch.deleteEntity(entity(partition, "delete"));
  batch.insertOrReplaceEntity(entity(partition, "replace", { B: 2 }));
  batch.insertOrMergeEntity(entity(partition, "new", { B: 2 }));
  const answers = await service.executeBatch(TABLE, batch);
  assert.deepEqual(answers.map((answer) => answer.response.statusCode), [201, 204, 204, 204, 204, 204]);
  assert.equal(answers[0].entity.Text._, "Zoë <&>");
  const found = await query(within(partition));
  assert.deepEqual(found.map(values), [
    { PartitionKey: partition, RowKey: "insert", A: 2, Text: "Zoë <&>" },
    { PartitionKey: partition, RowKey: "merge", A: 1, B: 2 },
    { PartitionKey: partition, RowKey: "new", B: 2 },
    { PartitionKey: partition, RowKey: "replace", B: 2 },
    { PartitionKey: partition, RowKey: "update", B: 2 },
  ]);
  assert.equal(answers[1].entity[".metadata"].etag, found[4][".metadata"].etag);
});

step("Entity Group Transaction", "JSON", "Shared Key", "a_failed_batch_leaves_nothing_behind", async () => {
  const partition = newName();
  await insert(partition, "b", { A: 1 });
  const batch = new TableBatch();
  for (const row of ["a", "b", "c"]) batch.insertEntity(entity(partition, row), { echoContent: false });
  const error = await refused(409, "EntityAlreadyExists", service.executeBatch(TABLE, batch));
  assert.match(error.message, /^1:The specified entity already exists\./);
  assert.deepEqual((await query(within(partition))).map(values), [{ PartitionKey: partition, RowKey: "b", A: 1 }]);
});

step("Entity Group Transaction", "JSON", "Shared Key", "a_batch_may_be_a_query", async () => {
  const partition = newName();
  await insert(partition, "r", { A: 1 });
  const batch = new TableBatch();
  batch.retrieveEntity(partition, "r");
  const [answer] = await service.executeBatch(TABLE, batch);
  assert.deepEqual(values(answer.entity), { PartitionKey: partition, RowKey: "r", A: 1 });
});

run(() => service.createTable(TABLE));
