// Preloaded into each process that node's test runner starts for a test file: when it ends, what
// it loaded is written as one line of `loaded.jsonl` beside this file.
//
// From node 24 on each load is noted as it happens. Before that, nothing is done until the end,
// and then the inspector is asked, which costs 20 to 40 ms a process: node 22 has such hooks,
// too, but fails where a project has asynchronous ones besides. Once somebody else has hooks of
// the same kind, the inspector is asked as well: they may answer without ours.
const { appendFileSync } = require("node:fs");
const nodeModule = require("node:module");
const { join } = require("node:path");
const { fileURLToPath } = require("node:url");

const test = process.argv[1];

const pathOf = (url) => {
  const plain = url.replace(/[?#].*$/, "");
  return plain.startsWith("file:") ? fileURLToPath(plain) : plain.startsWith("/") ? plain : null;
};

// The URLs of what was loaded; null where they are not noted.
const note = () => {
  const { registerHooks } = nodeModule;
  if (typeof registerHooks !== "function" || Number.parseInt(process.versions.node, 10) < 24) return null;
  const noted = { urls: new Set(), others: false };
  registerHooks({
    load(url, context, nextLoad) {
      noted.urls.add(url);
      return nextLoad(url, context);
    },
  });
  nodeModule.registerHooks = function (...hooks) {
    noted.others = true;
    return registerHooks.apply(this, hooks);
  };
  nodeModule.syncBuiltinESMExports();
  return noted;
};

const askInspector = () => {
  const { Session } = require("node:inspector");
  const urls = [];
  const session = new Session();
  session.connect();
  session.on("Debugger.scriptParsed", ({ params }) => urls.push(params.url));
  session.post("Debugger.enable");
  session.disconnect();
  return urls;
};

if (test) {
  const noted = note();
  process.on("exit", () => {
    try {
      const urls = noted ? [...noted.urls] : [];
      if (!noted || noted.others) urls.push(...askInspector());
      const loaded = new Set([...urls.map((url) => url && pathOf(url)), ...Object.keys(require.cache)]);
      const files = [...loaded].filter((path) => path?.startsWith("/"));
      appendFileSync(join(__dirname, "loaded.jsonl"), `${JSON.stringify({ file: test, loaded: files, whole: true })}\n`);
    } catch {
      // Built without an inspector, or the parent of the test processes: nothing is observed.
    }
  });
}
