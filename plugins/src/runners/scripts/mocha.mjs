// Prints the options of a mocha configuration file as one line of JSON. It runs no test.
// Works with mocha 8 and newer, as a module or a plain script.
const request = JSON.parse(process.argv.find((a) => a.startsWith('{"owed":')));
const answer = (value) =>
  new Promise((done) => process.stdout.write(`\n${JSON.stringify({ owed: "mocha", ...value })}\n`, done));

const load = async () => {
  const { createRequire } = await import("node:module");
  const { join } = await import("node:path");
  process.env.NODE_ENV ??= "test";
  const require = createRequire(join(process.cwd(), "owed.js"));
  const { loadOptions } = require("mocha/lib/cli/options");
  const options = await loadOptions(request.config && !/package\.json$/.test(request.config) ? ["--config", request.config] : []);
  const out = {};
  for (const key of ["require", "import", "loader", "file", "spec", "ignore", "exclude", "extension", "recursive", "reporter", "ui"]) {
    if (options[key] !== undefined && options[key] !== null) out[key] = options[key];
  }
  // What a file calls `spec` comes back as the words of a command line.
  if (options._?.length) out.spec = [...(out.spec ?? []), ...options._.map(String)];
  return out;
};

load().then(
  (options) => answer({ options }),
  (error) => answer({ error: String(error?.message ?? error).split("\n")[0] }),
).then(() => process.exit(0));
