// Bearer tokens: the client sends them by https only, and follows the challenge to the tenant.

import assert from "node:assert/strict";
import { test } from "node:test";

import { TableClient, TableServiceClient } from "@azure/data-tables";

const endpoint = process.env.ROWKEY_TEST_ENDPOINT;
const tokens = JSON.parse(process.env.ROWKEY_TEST_TOKENS);
const asked = [];

// What @azure/identity makes, but for where it gets its tokens: one after the other.
const credential = {
  async getToken(scopes, options) {
    asked.push([[scopes].flat(), options?.tenantId]);
    const token = tokens.length > 1 ? tokens.shift() : tokens[0];
    return { token, expiresOnTimestamp: Date.now() + 3600_000 };
  },
};

// A version in which the service challenges a token that it does not accept; the client's own is older.
const policy = {
  name: "version",
  sendRequest(request, next) {
    request.headers.set("x-ms-version", "2020-12-06");
    return next(request);
  },
};

test("a challenged client comes back with a token of the tenant", async () => {
  const options = { additionalPolicies: [{ position: "perCall", policy }] };
  await new TableServiceClient(endpoint, credential, options).createTable("Orders");
  const scopes = ["https://storage.azure.com/.default"];
  assert.deepEqual(asked, [
    [scopes, undefined],
    [scopes, process.env.ROWKEY_TEST_TENANT],
  ]);
});

test("entities and transactions", async () => {
  const table = new TableClient(endpoint, "Orders", credential);
  await table.createEntity({ partitionKey: "p", rowKey: "0", n: 1 });
  await table.submitTransaction([
    ["create", { partitionKey: "p", rowKey: "1", n: 2 }],
    ["update", { partitionKey: "p", rowKey: "0", n: 3 }, "Merge"],
  ]);
  const numbers = [];
  for await (const entity of table.listEntities()) numbers.push(entity.n);
  assert.deepEqual(numbers, [3, 2]);
});

test("access policies are not there", async () => {
  const table = new TableClient(endpoint, "Orders", credential);
  await assert.rejects(table.getAccessPolicy(), { statusCode: 404 });
});
