// The page: what is shown, and what its buttons do.

import { DEVELOPMENT, TableClient, TableError, readCredentials } from "./client.js";
import { TYPES, readEntities, writeCsv, writeEntity } from "./entity.js";

const KEYS = ["PartitionKey", "RowKey", "Timestamp"];
const PAGE_MAX = 1000;
const CREDENTIALS = "rowkey-credentials";

const $ = (id) => document.getElementById(id);
const results = { head: document.querySelector("#results thead"), body: document.querySelector("#results tbody") };

let client = null;
let tables = [];
/** The query whose pages are shown: its table and options, the entities so far, the columns, and where the next begins. */
let shown = null;
/** The entity that the dialog is about; `etag` is null for one that is not there yet. */
let edited = null;

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// ---------------------------------------------------------------- problems

/** Let a button or a form do something that may fail, and show why it did. */
function act(work, where = $("problem")) {
  return async (event) => {
    event?.preventDefault();
    where.hidden = true;
    try {
      await work(event);
    } catch (error) {
      where.textContent = error.code ? `${error.code}: ${error.message}` : error.message;
      where.hidden = false;
      if (!(error instanceof TableError)) throw error;
    }
  };
}

function confirmLoss(error) {
  if (error.status !== 412) throw error;
  const text = "Somebody else has changed it since it was read. Close it and open it again to see how.";
  throw new TableError(text, error.status, error.code);
}

// ---------------------------------------------------------------- signing in

async function signIn(text) {
  const candidate = new TableClient(readCredentials(text));
  tables = await candidate.listTables();
  client = candidate;
  sessionStorage.setItem(CREDENTIALS, text);
  $("connection").value = "";
  $("account").textContent = client.account;
  show(true);
  listTables();
  await openAddressed();
}

function signOut() {
  sessionStorage.removeItem(CREDENTIALS);
  client = shown = edited = null;
  tables = [];
  for (const list of [$("tables"), results.head, results.body, $("properties")]) list.replaceChildren();
  $("account").textContent = "";
  location.hash = "";
  show(false);
}

function show(isSignedIn) {
  $("signing-in").hidden = isSignedIn;
  $("signed-in").hidden = $("sign-out").hidden = !isSignedIn;
  $("table").hidden = true;
  if (!isSignedIn) $("connection").focus();
}

// ---------------------------------------------------------------- tables

function listTables() {
  const wanted = $("table-search").value.toLowerCase();
  const items = tables
    .filter((name) => name.toLowerCase().includes(wanted))
    .map((name) => {
      const link = element("a", { href: `#${encodeURIComponent(name)}`, textContent: name });
      if (name === shown?.table) link.setAttribute("aria-current", "page");
      return element("li", {}, link);
    });
  const none = tables.length ? "None has this in its name." : "There are no tables yet.";
  $("tables").replaceChildren(...(items.length ? items : [element("li", { className: "hint", textContent: none })]));
}

async function createTable() {
  const name = $("new-table").value.trim();
  await client.createTable(name);
  $("new-table").value = "";
  tables = await client.listTables();
  location.hash = encodeURIComponent(name);
  listTables();
}

async function deleteTable() {
  if ($("confirmation").value !== shown.table) throw new TableError("This is not the name of the table.");
  await client.deleteTable(shown.table);
  $("deletion").close();
  tables = tables.filter((name) => name !== shown.table);
  shown = null;
  $("table").hidden = true;
  location.hash = "";
  listTables();
}

/** Open what the address of the page names: `#Table`, or `#Table?$filter`. */
async function openAddressed() {
  const [name, filter = ""] = location.hash.slice(1).split("?", 2).map(decodeURIComponent);
  if (!client || !name) return;
  if (name !== shown?.table) $("select").value = "";
  $("filter").value = filter;
  await query(name);
}

// ---------------------------------------------------------------- queries

async function query(table) {
  const options = { filter: $("filter").value.trim(), select: $("select").value.trim(), top: $("top").value };
  shown = { table, options, entities: [], columns: [...KEYS], next: {} };
  $("table").hidden = false;
  $("table-name").textContent = table;
  $("status").textContent = "";
  $("more").hidden = true;
  results.head.replaceChildren();
  results.body.replaceChildren();
  listTables();
  await nextPage();
}

async function nextPage() {
  const mine = shown;
  const began = performance.now();
  const page = await client.query(mine.table, mine.options, mine.next);
  if (mine !== shown) return;
  const milliseconds = Math.round(performance.now() - began);
  const entities = readEntities(page.text);
  mine.entities.push(...entities);
  mine.next = page.next;
  const names = new Set([...mine.columns, ...entities.flatMap(({ properties }) => [...properties.keys()])]);
  const isWider = names.size > mine.columns.length || !results.head.firstChild;
  mine.columns = [...names];
  if (isWider) {
    results.head.replaceChildren(element("tr", {}, ...mine.columns.map((name) => element("th", { textContent: name }))));
    results.body.replaceChildren(...mine.entities.map(row));
  } else {
    results.body.append(...entities.map(row));
  }
  const count = mine.entities.length;
  const rest = page.next ? ", and there are more" : "";
  $("status").textContent = `${count} ${count === 1 ? "entity" : "entities"}${rest} (${milliseconds} ms)`;
  $("more").hidden = !page.next;
}

function row({ properties }) {
  const cells = shown.columns.map((name) => {
    const value = properties.get(name);
    if (!value) return element("td", { className: "absent" });
    return element("td", { className: value.type, title: `${value.type}: ${value.text}`, textContent: value.text });
  });
  const [partitionKey, rowKey] = ["PartitionKey", "RowKey"].map((name) => properties.get(name)?.text);
  const made = element("tr", {}, ...cells);
  if (partitionKey === undefined || rowKey === undefined) return made; // $select left out what it is called
  made.tabIndex = 0;
  const open = act(() => openEntity(partitionKey, rowKey));
  made.addEventListener("click", open);
  made.addEventListener("keydown", (event) => event.key === "Enter" && open(event));
  return made;
}

// ---------------------------------------------------------------- downloads

async function download(extension, write) {
  const { table, options } = shown;
  const columns = new Set(KEYS);
  const entities = [];
  let next = {};
  do {
    const page = await client.query(table, { ...options, top: PAGE_MAX }, next);
    const found = readEntities(page.text);
    entities.push(...found);
    for (const { properties } of found) for (const name of properties.keys()) columns.add(name);
    $("status").textContent = `${entities.length} entities so far`;
    next = page.next;
  } while (next);
  const url = URL.createObjectURL(new Blob(write([...columns], entities)));
  element("a", { href: url, download: `${table}.${extension}` }).click();
  URL.revokeObjectURL(url);
  $("status").textContent = `${entities.length} entities in ${table}.${extension}`;
}

const asJsonLines = (_columns, entities) => entities.map(({ properties }) => `${writeEntity(properties)}\n`);

const asCsv = (columns, entities) => {
  const names = new Map(columns.map((name) => [name, { text: name }]));
  return writeCsv(columns, [{ properties: names }, ...entities]);
};

// ---------------------------------------------------------------- one entity

async function openEntity(partitionKey, rowKey) {
  const [entity] = readEntities(await client.get(shown.table, partitionKey, rowKey));
  edit(entity);
}

/** Show an entity in the dialog; one without an ETag is to be inserted. */
function edit({ etag = null, properties }) {
  edited = { etag };
  const isNew = etag === null;
  $("entity-title").textContent = isNew ? `New entity in ${shown.table}` : `Entity in ${shown.table}`;
  $("entity-problem").hidden = true;
  for (const [id, name] of [["partition-key", "PartitionKey"], ["row-key", "RowKey"]]) {
    $(id).value = properties.get(name)?.text ?? "";
    $(id).readOnly = !isNew;
  }
  $("timestamp").textContent = isNew ? "" : `Written ${properties.get("Timestamp").text}`;
  $("duplicate").hidden = $("delete-entity").hidden = isNew;
  const own = [...properties].filter(([name]) => !KEYS.includes(name));
  $("properties").replaceChildren(...own.map(([name, value]) => propertyRow(name, value)));
  if (!$("entity").open) $("entity").showModal();
}

function propertyRow(name, { type, text }) {
  const types = TYPES.map((other) => element("option", { textContent: other, selected: other === type }));
  const remove = element("button", { type: "button", textContent: "Remove", ariaLabel: `Remove ${name}` });
  const made = element(
    "tr",
    {},
    element("td", {}, element("input", { className: "name", value: name, spellcheck: false, ariaLabel: "Name" })),
    element("td", {}, element("select", { className: "type", ariaLabel: `Type of ${name}` }, ...types)),
    element("td", {}, element("textarea", { className: "value", value: text, rows: 1, spellcheck: false, ariaLabel: `Value of ${name}` })),
    element("td", {}, remove),
  );
  remove.addEventListener("click", () => made.remove());
  return made;
}

function readProperties() {
  const properties = new Map();
  for (const made of $("properties").children) {
    const [name, type, text] = ["name", "type", "value"].map((part) => made.querySelector(`.${part}`).value);
    if (properties.has(name) || KEYS.includes(name)) throw new TableError(`There are two properties called ${name}.`);
    properties.set(name, { type, text });
  }
  return properties;
}

async function save() {
  const [partitionKey, rowKey] = [$("partition-key").value, $("row-key").value];
  const keys = { PartitionKey: partitionKey, RowKey: rowKey };
  const all = new Map(Object.entries(keys).map(([name, text]) => [name, { type: "String", text }]));
  for (const [name, value] of readProperties()) all.set(name, value);
  if (edited.etag === null) await client.insert(shown.table, writeEntity(all));
  else await client.replace(shown.table, partitionKey, rowKey, edited.etag, writeEntity(all)).catch(confirmLoss);
  await closeAndReload();
}

async function deleteEntity() {
  await client.remove(shown.table, $("partition-key").value, $("row-key").value, edited.etag).catch(confirmLoss);
  await closeAndReload();
}

async function closeAndReload() {
  $("entity").close();
  await query(shown.table);
}

function duplicate() {
  const keys = { PartitionKey: $("partition-key").value, RowKey: $("row-key").value };
  const all = new Map(Object.entries(keys).map(([name, text]) => [name, { text }]));
  for (const [name, value] of readProperties()) all.set(name, value);
  edit({ properties: all });
}

// ---------------------------------------------------------------- what is clicked

function on(id, event, work, where) {
  $(id).addEventListener(event, act(work, where));
}

on("sign-in", "submit", () => signIn($("connection").value));
on("development", "click", () => signIn(DEVELOPMENT));
on("sign-out", "click", signOut);
on("table-search", "input", listTables);
on("create-table", "submit", createTable);
on("query", "submit", () => {
  const filter = $("filter").value.trim();
  const address = `#${encodeURIComponent(shown.table)}${filter ? `?${encodeURIComponent(filter)}` : ""}`;
  if (address === location.hash) return query(shown.table);
  location.hash = address;
});
on("more", "click", nextPage);
on("new-entity", "click", () => edit({ properties: new Map() }));
on("download-json", "click", () => download("jsonl", asJsonLines));
on("download-csv", "click", () => download("csv", asCsv));
on("delete-table", "click", () => {
  $("confirmation").value = "";
  $("deletion-problem").hidden = true;
  $("deletion").showModal();
});
on("confirm", "submit", deleteTable, $("deletion-problem"));
on("keep", "click", () => $("deletion").close());
on("add-property", "click", () => $("properties").append(propertyRow("", { type: "String", text: "" })));
on("edit", "submit", save, $("entity-problem"));
on("duplicate", "click", duplicate, $("entity-problem"));
on("delete-entity", "click", deleteEntity, $("entity-problem"));
on("close-entity", "click", () => $("entity").close());
addEventListener("hashchange", act(openAddressed));

const remembered = sessionStorage.getItem(CREDENTIALS);
show(false);
if (remembered) await act(() => signIn(remembered))();
