// What the scripts for JavaScript clients share: steps, as in runner.py, which says how they are used.

const assert = require("node:assert/strict");
const { randomUUID } = require("node:crypto");

const steps = [];

/** Declare a step: it proves an operation in this format and with this authorisation, or with each of several. */
exports.step = (operation, format, authorisation, name, action) => {
  const kinds = authorisation.split(", ");
  if (kinds.length === 1) steps.push({ name, action });
  else for (const kind of kinds) steps.push({ name: `${name}, ${kind}`, action: () => action(kind) });
};

/** Declare a step that is refused as the service does. */
exports.refusal = exports.step;

/** Do all steps, and print a line of JSON for each. */
exports.run = async (prepare) => {
  await prepare();
  for (const { name, action } of steps) {
    let failure = null;
    try {
      await action();
    } catch (error) {
      failure = `${error?.stack ?? error}\n${JSON.stringify(error)}`;
    }
    process.stdout.write(`${JSON.stringify({ name, failure })}\n`);
  }
};

/** Fail unless a call is refused with this status and code; the error is returned. */
exports.refused = async (statusCode, code, promise) => {
  const error = await promise.then(
    (answer) => assert.fail(`not refused, but answered ${JSON.stringify(answer)}`),
    (refusal) => refusal,
  );
  assert.deepEqual([error.statusCode, error.code], [statusCode, code], `${error.stack}`);
  return error;
};

/** A name for a table, or a key, that nobody else has. */
exports.newName = (prefix = "t") => prefix + randomUUID().replaceAll("-", "");

/** The methods of a service that take callbacks, as methods that return promises. */
exports.promised = (service) =>
  new Proxy(service, {
    get:
      (target, method) =>
      (...parameters) =>
        new Promise((resolve, reject) => {
          target[method](...parameters, (error, result) => (error ? reject(error) : resolve(result)));
        }),
  });
