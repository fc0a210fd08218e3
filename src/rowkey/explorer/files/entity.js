// Entities between the service's JSON and what the page shows: every value is its text, with its Edm type beside it.

export const TYPES = ["String", "Int32", "Int64", "Double", "Boolean", "DateTime", "Guid", "Binary"];

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = "\u0000";

/**
 * JSON whose numbers become strings behind a mark, so that they keep their spelling: `1.0` is a double, and a number of
 * this language does not remember that. A string that begins like the mark gets one, too.
 */
function parse(text) {
  const mark = (token) => {
    if (token[0] !== '"') return `"\\u0000n${token}"`;
    return token.startsWith('"\\u0000') ? `"\\u0000s${token.slice(1)}` : token;
  };
  return JSON.parse(text.replace(TOKEN, mark));
}

/** The entities of a page, or the one of an answer without `value`. */
export function readEntities(text) {
  const content = parse(text);
  return (Array.isArray(content.value) ? content.value : [content]).map(readEntity);
}

function readEntity(members) {
  const properties = new Map();
  for (const [name, value] of Object.entries(members)) {
    if (name.startsWith("odata.") || name.endsWith("@odata.type") || value === null) continue;
    properties.set(name, readValue(value, members[`${name}@odata.type`]));
  }
  return { etag: members["odata.etag"], properties };
}

function readValue(value, annotation) {
  if (typeof value === "boolean") return { type: "Boolean", text: String(value) };
  const isMarked = value[0] === MARK;
  const isNumber = isMarked && value[1] === "n";
  const text = isMarked ? value.slice(2) : value;
  if (annotation) return { type: annotation.replace("Edm.", ""), text };
  if (!isNumber) return { type: "String", text };
  return { type: /[.eE]/.test(text) ? "Double" : "Int32", text };
}

const PLAIN = {
  Boolean: /^(?:true|false)$/,
  Int32: /^-?(?:0|[1-9]\d*)$/,
  Double: /^-?(?:0|[1-9]\d*)(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)$/,
};

/** The JSON of an entity, as the service writes it; text that is no value of its type is left to the service to refuse. */
export function writeEntity(properties) {
  const members = [];
  for (const [name, { type, text }] of properties) {
    const isPlain = PLAIN[type]?.test(text);
    if (!isPlain && type !== "String") members.push(`${JSON.stringify(`${name}@odata.type`)}:"Edm.${type}"`);
    members.push(`${JSON.stringify(name)}:${isPlain ? text : JSON.stringify(text)}`);
  }
  return `{${members.join(",")}}`;
}

/** Lines of CSV (RFC 4180) with these columns, the first of which may name them. */
export function writeCsv(columns, entities) {
  const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return entities.map(
    ({ properties }) => `${columns.map((name) => quote(properties.get(name)?.text ?? "")).join(",")}\r\n`,
  );
}
