// The table service as a browser asks it. Requests are signed here; keys never leave the page.

const VERSION = "2019-02-02";
const DEVELOPMENT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

export const DEVELOPMENT = `AccountName=devstoreaccount1;AccountKey=${DEVELOPMENT_KEY}`;

/** What the service refused, or what cannot even be asked; `status` is 0 where there was no answer. */
export class TableError extends Error {
  constructor(message, status = 0, code = "") {
    super(message);
    Object.assign(this, { status, code });
  }
}

/** The credentials that a text gives: `account` and `key`, or `account`, `signature` and perhaps the one `table`. */
export function readCredentials(text) {
  const trimmed = text.trim();
  if (/^https?:/i.test(trimmed)) return readSignedUrl(trimmed);
  const fields = new Map();
  for (const field of trimmed.split(";")) {
    const [, name, value] = /^\s*([^=]+)=(.*)$/.exec(field) ?? [];
    if (name) fields.set(name.toLowerCase(), value.trim());
  }
  if (fields.get("usedevelopmentstorage")?.toLowerCase() === "true") return readCredentials(DEVELOPMENT);
  const signature = fields.get("sharedaccesssignature");
  const endpoint = fields.get("tableendpoint");
  const account = fields.get("accountname") ?? (endpoint && accountOf(endpoint));
  if (!account) throw new TableError("The connection string names no account: it has no AccountName.");
  if (signature) {
    const query = signature.replace(/^\?/, "");
    return { account, signature: query, table: new URLSearchParams(query).get("tn") };
  }
  const key = fields.get("accountkey");
  if (!key) throw new TableError("The connection string has neither AccountKey nor SharedAccessSignature.");
  return { account, key };
}

function readSignedUrl(text) {
  const url = parseUrl(text);
  if (!url.searchParams.has("sig")) throw new TableError("The URL has no shared access signature: no sig in its query.");
  const table = url.searchParams.get("tn") ?? segmentsOf(url)[1];
  return { account: accountOf(text), signature: url.search.slice(1), table };
}

function accountOf(endpoint) {
  return segmentsOf(parseUrl(endpoint))[0];
}

/** What a URL names: the account, which its host or its path may say, and a table. */
function segmentsOf({ hostname, pathname }) {
  const segments = pathname.split("/").slice(1);
  const isInPath = !hostname.includes(".") || /^[\d.]+$/.test(hostname) || hostname === location.hostname;
  return isInPath ? segments : [hostname.split(".")[0], ...segments];
}

function parseUrl(text) {
  if (!URL.canParse(text)) throw new TableError(`This is not the URL of a server: ${text}`);
  return new URL(text);
}

/** The tables of one account, on the server that this page is from. */
export class TableClient {
  constructor(credentials) {
    this.account = credentials.account;
    this.table = credentials.table ?? null;
    this.signature = credentials.signature ?? null;
    this.key = credentials.key ? importKey(credentials.key) : null;
  }

  /** The names of all tables; those of a signature for one table are that one. */
  async listTables() {
    if (this.table) return [this.table];
    const names = [];
    let next = {};
    do {
      const answer = await this.#ask("GET", "/Tables", { query: next });
      names.push(...JSON.parse(answer.text).value.map((table) => table.TableName));
      next = continuation(answer, "NextTableName");
    } while (next);
    return names;
  }

  createTable(name) {
    return this.#ask("POST", "/Tables", { body: JSON.stringify({ TableName: name }), prefer: "return-no-content" });
  }

  deleteTable(name) {
    return this.#ask("DELETE", `/Tables('${encode(name)}')`);
  }

  /** One page of a query: its JSON as text, and what to ask for the next one with, null behind the last. */
  async query(table, { filter, select, top }, next = {}) {
    const query = { ...next };
    if (filter) query.$filter = filter;
    if (select) query.$select = select;
    if (top) query.$top = top;
    const answer = await this.#ask("GET", `/${encode(table)}()`, { query });
    return { text: answer.text, next: continuation(answer, "NextPartitionKey", "NextRowKey") };
  }

  async get(table, partitionKey, rowKey) {
    return (await this.#ask("GET", entityPath(table, partitionKey, rowKey))).text;
  }

  insert(table, body) {
    return this.#ask("POST", `/${encode(table)}`, { body, prefer: "return-no-content" });
  }

  replace(table, partitionKey, rowKey, etag, body) {
    return this.#ask("PUT", entityPath(table, partitionKey, rowKey), { body, etag });
  }

  remove(table, partitionKey, rowKey, etag) {
    return this.#ask("DELETE", entityPath(table, partitionKey, rowKey), { etag });
  }

  async #ask(method, path, { query = {}, body, etag, prefer } = {}) {
    const url = new URL(`/${this.account}${path}`, location.origin);
    const options = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`);
    if (this.signature) options.push(this.signature);
    url.search = options.join("&");
    const headers = {
      Accept: "application/json;odata=minimalmetadata",
      "x-ms-version": VERSION,
      "x-ms-date": new Date().toUTCString(),
    };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (etag) headers["If-Match"] = etag;
    if (prefer) headers.Prefer = prefer;
    if (this.key) headers.Authorization = await this.#authorize(url, headers["x-ms-date"]);
    let response;
    try {
      response = await fetch(url, { method, headers, body, cache: "no-store", credentials: "omit" });
    } catch {
      throw new TableError(`${location.origin} does not answer: is the server still running?`);
    }
    const text = await response.text();
    if (!response.ok) throw readError(response.status, text);
    return { headers: response.headers, text };
  }

  /** Shared Key Lite: the date, a line end, and the path behind the account's name. */
  async #authorize(url, date) {
    const key = await this.key;
    const signed = new TextEncoder().encode(`${date}\n/${this.account}${url.pathname}`);
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
    return `SharedKeyLite ${this.account}:${btoa(String.fromCharCode(...mac))}`;
  }
}

async function importKey(text) {
  if (!globalThis.crypto?.subtle) {
    throw new TableError(
      "Browsers sign only on pages that came over https or from this machine. " +
        "Start the server with --tls auto, or sign in with a shared access signature.",
    );
  }
  let bytes;
  try {
    bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new TableError("The account's key is not Base64.");
  }
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

function readError(status, text) {
  try {
    const error = JSON.parse(text)["odata.error"];
    const hint = error.code === "AuthenticationFailed" ? " Compare the key, and the clocks of the two machines." : "";
    return new TableError(error.message.value.split("\n")[0] + hint, status, error.code);
  } catch {
    const code = /<(?:\w+:)?code>([^<]*)/i.exec(text)?.[1] ?? "";
    const message = /<(?:\w+:)?message[^>]*>([^<\n]*)/i.exec(text)?.[1];
    return new TableError(message ?? `The server answered ${status}.`, status, code);
  }
}

function continuation({ headers }, ...names) {
  const found = names.map((name) => [name, headers.get(`x-ms-continuation-${name}`)]).filter(([, value]) => value);
  return found.length ? Object.fromEntries(found) : null;
}

function entityPath(table, partitionKey, rowKey) {
  const [first, second] = [partitionKey, rowKey].map((key) => encode(key.replaceAll("'", "''")));
  return `/${encode(table)}(PartitionKey='${first}',RowKey='${second}')`;
}

function encode(text) {
  return encodeURIComponent(text);
}
