// The page: what is shown, and what its buttons do.

import { DEVELOPMENT, TableClient, TableError, readCredentials } from "./client.js";
import { TYPES, readEntities, writeCsv, writeEntity } from "./entity.js";

const KEYS = ["PartitionKey", "RowKey", "Timestamp"];
const PAGE_MAX = 1000;
const COLUMNS_MAX = 60;
const CREDENTIALS = "rowkey-credentials";

const $ = (id) => document.getElementById(id);
const results = { head: document.querySelector("#results thead"), body: document.querySelector("#results tbody") };

let client = null;
let tables = [];
/** The query whose pages are shown: its table and options, the entities so far, the columns, and where the next begins. */
let shown = null;
/** What the dialog is about: a table, the ETag of its entity (null for one that is not there yet), and all fields at first. */
let edited = null;
/** What the last click on a row asked for: an older answer that comes later is not shown. */
let opening = null;

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
      const isClosed = where.closest("dialog:not([open])"); // it may have been, meanwhile
      complain(error.code ? `${error.code}: ${error.message}` : error.message, isClosed ? $("problem") : where);
      if (!(error instanceof TableError)) throw error;
    }
  };
}

function complain(text, where) {
  where.textContent = text;
  where.hidden = false;
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
  showSignedIn(true);
  listTables();
  await openAddressed();
}

function signOut() {
  sessionStorage.removeItem(CREDENTIALS);
  history.replaceState(null, "", location.pathname);
  location.reload(); // and nothing is left of what was shown
}

function showSignedIn(isSignedIn) {
  $("signing-in").hidden = isSignedIn;
  $("signed-in").hidden = $("sign-out").hidden = !isSignedIn;
  $("table").hidden = true;
  if (!isSignedIn) $("connection").focus();
}

// ---------------------------------------------------------------- tables

/** Whether two names are those of the same table. */
function isSame(name, other) {
  return name.toLowerCase() === other?.toLowerCase();
}

function listTables() {
  const wanted = $("table-search").value.toLowerCase();
  const items = tables
    .filter((name) => name.toLowerCase().includes(wanted))
    .map((name) => {
      const link = element("a", { href: `#${encodeURIComponent(name)}`, textContent: name });
      if (isSame(name, shown?.table)) link.setAttribute("aria-current", "page");
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
  await open(name, "");
}

async function deleteTable() {
  const { table } = shown;
  if ($("confirmation").value !== table) throw new TableError("This is not the name of the table.");
  await client.deleteTable(table);
  $("deletion").close();
  tables = tables.filter((name) => !isSame(name, table));
  location.hash = "";
}

/** Show a table, and have it in the address of the page. */
async function open(name, filter) {
  const address = `#${encodeURIComponent(name)}${filter ? `?${encodeURIComponent(filter)}` : ""}`;
  if (address === location.hash) await openAddressed();
  else location.hash = address;
}

/** Show what the address of the page names: `#Table`, or `#Table?$filter`. */
async function openAddressed() {
  if (!client) return;
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const [, name, filter] = /^#?([^?]*)\??(.*)$/s.exec(location.hash).map(decode);
  if (!name) {
    shown = null;
    $("table").hidden = true;
    listTables();
    return;
  }
  if (!isSame(name, shown?.table)) $("select").value = "";
  $("filter").value = filter;
  await query(name);
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // written by hand
  }
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
  if (mine.isAsking) return;
  mine.isAsking = true;
  const began = performance.now();
  let page;
  try {
    page = await client.query(mine.table, mine.options, mine.next);
  } catch (error) {
    if (mine !== shown) return; // nobody waits for it any more
    throw error;
  } finally {
    mine.isAsking = false;
  }
  if (mine !== shown) return;
  const milliseconds = Math.round(performance.now() - began);
  const entities = readEntities(page.text);
  mine.entities.push(...entities);
  mine.next = page.next;
  const names = new Set([...mine.columns, ...entities.flatMap(({ properties }) => [...properties.keys()])]);
  const columns = [...names].slice(0, COLUMNS_MAX);
  const isWider = columns.length > mine.columns.length || !results.head.firstChild;
  mine.columns = columns;
  if (isWider) {
    results.head.replaceChildren(element("tr", {}, ...mine.columns.map((name) => element("th", { textContent: name }))));
    results.body.replaceChildren(...mine.entities.map(row));
  } else {
    results.body.append(...entities.map(row));
  }
  const count = mine.entities.length;
  const rest = page.next ? ", and there are more" : "";
  const hidden = names.size > COLUMNS_MAX ? `; the first ${COLUMNS_MAX} properties are shown` : "";
  $("status").textContent = `${count} ${count === 1 ? "entity" : "entities"}${rest}${hidden} (${milliseconds} ms)`;
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
  const show = act(() => openEntity(partitionKey, rowKey));
  made.addEventListener("click", show);
  made.addEventListener("keydown", (event) => ["Enter", " "].includes(event.key) && show(event));
  return made;
}

// ---------------------------------------------------------------- downloads

async function download(extension, write, overrides) {
  const [mine, asker] = [shown, client];
  const { table } = mine;
  const options = { ...mine.options, ...overrides, top: PAGE_MAX };
  const tell = (text) => mine === shown && ($("status").textContent = text);
  const columns = new Set(KEYS);
  const entities = [];
  let next = {};
  do {
    const page = await asker.query(table, options, next);
    const found = readEntities(page.text);
    entities.push(...found);
    for (const { properties } of found) for (const name of properties.keys()) columns.add(name);
    tell(`${entities.length} entities so far`);
    next = page.next;
  } while (next);
  const url = URL.createObjectURL(new Blob(write([...columns], entities)));
  element("a", { href: url, download: `${table}.${extension}` }).click();
  URL.revokeObjectURL(url);
  tell(`${entities.length} entities in ${table}.${extension}`);
}

const asJsonLines = (_columns, entities) => entities.map(({ properties }) => `${writeEntity(properties)}\n`);

const asCsv = (columns, entities) => {
  const names = new Map(columns.map((name) => [name, { text: name }]));
  return ["\ufeff", ...writeCsv(columns, [{ properties: names }, ...entities])]; // or spreadsheets take it for Latin-1
};

// ---------------------------------------------------------------- one entity

async function openEntity(partitionKey, rowKey) {
  const mine = (opening = { from: shown });
  const [entity] = readEntities(await client.get(mine.from.table, partitionKey, rowKey));
  if (mine === opening && mine.from === shown && !$("entity").open) edit(mine.from.table, entity);
}

/** Show an entity in the dialog; one without an ETag is to be inserted. */
function edit(table, { etag = null, properties }) {
  edited = { table, etag };
  const isNew = etag === null;
  $("entity-title").textContent = isNew ? `New entity in ${table}` : `Entity in ${table}`;
  $("entity-problem").hidden = true;
  for (const [id, name] of [["partition-key", "PartitionKey"], ["row-key", "RowKey"]]) {
    $(id).value = properties.get(name)?.text ?? "";
    $(id).readOnly = !isNew;
  }
  $("timestamp").textContent = isNew ? "" : `Written ${properties.get("Timestamp").text}`;
  $("duplicate").hidden = $("delete-entity").hidden = isNew;
  const own = [...properties].filter(([name]) => !KEYS.includes(name));
  $("properties").replaceChildren(...own.map(([name, value]) => propertyRow(name, value)));
  edited.fields = readFields();
  if (!$("entity").open) $("entity").showModal();
}

function readFields() {
  return JSON.stringify([...$("edit").querySelectorAll("input, select, textarea")].map((field) => field.value));
}

/** Escape closes the dialog, but not with something in it that is not saved. */
function cancel(event) {
  if (readFields() === edited.fields) return;
  event.preventDefault();
  complain("What has been changed is not saved: Save does that, and Close does without.", $("entity-problem"));
}

function propertyRow(name, { type, text }) {
  const types = TYPES.map((other) => element("option", { textContent: other, selected: other === type }));
  const remove = element("button", { type: "button", textContent: "Remove" });
  const made = element(
    "tr",
    {},
    element("td", {}, element("input", { className: "name", value: name, spellcheck: false, ariaLabel: "Name" })),
    element("td", {}, element("select", { className: "type", ariaLabel: "Type" }, ...types)),
    element("td", {}, element("textarea", { className: "value", value: text, rows: 1, spellcheck: false, ariaLabel: "Value" })),
    element("td", {}, remove),
  );
  const area = made.querySelector(".value");
  const untouched = area.value; // with \n for every line end: a textarea knows no other
  made.readText = () => {
    if (area.value === untouched) return text;
    return text.includes("\r\n") ? area.value.replaceAll("\n", "\r\n") : area.value;
  };
  remove.addEventListener("click", () => made.remove());
  return made;
}

/** The keys and properties that stand in the dialog. */
function readProperties() {
  const keys = { PartitionKey: $("partition-key").value, RowKey: $("row-key").value };
  const properties = new Map(Object.entries(keys).map(([name, text]) => [name, { type: "String", text }]));
  for (const made of $("properties").children) {
    const [name, type] = ["name", "type"].map((part) => made.querySelector(`.${part}`).value);
    const text = made.readText();
    if (properties.has(name) || KEYS.includes(name)) throw new TableError(`There are two properties called ${name}.`);
    properties.set(name, { type, text });
  }
  return properties;
}

async function save() {
  const mine = edited;
  const properties = readProperties();
  const [partitionKey, rowKey] = ["PartitionKey", "RowKey"].map((name) => properties.get(name).text);
  const body = writeEntity(properties);
  if (mine.etag === null) await client.insert(mine.table, body);
  else await client.replace(mine.table, partitionKey, rowKey, mine.etag, body).catch(confirmLoss);
  await closeAndReload(mine);
}

async function deleteEntity() {
  const mine = edited;
  await client.remove(mine.table, $("partition-key").value, $("row-key").value, mine.etag).catch(confirmLoss);
  await closeAndReload(mine);
}

async function closeAndReload(mine) {
  if (mine === edited) $("entity").close();
  if (mine.table === shown?.table) await query(shown.table);
}

function duplicate() {
  edit(edited.table, { properties: readProperties() });
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
on("query", "submit", () => open(shown.table, $("filter").value.trim()));
on("more", "click", nextPage);
on("new-entity", "click", () => edit(shown.table, { properties: new Map() }));
on("download-json", "click", () => download("jsonl", asJsonLines, { select: "" }));
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
$("entity").addEventListener("cancel", cancel);
addEventListener("hashchange", act(openAddressed));

const remembered = sessionStorage.getItem(CREDENTIALS);
showSignedIn(false);
if (remembered) await act(() => signIn(remembered))();
