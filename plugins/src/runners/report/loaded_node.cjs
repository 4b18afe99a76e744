// Preloaded into each process that node's test runner starts for a test file: when it ends, the
// scripts that it loaded are written as one line of `loaded.jsonl` beside this file. Until then
// nothing is done, so that nothing runs otherwise than without it. Asking the inspector at the
// end names modules of both kinds, which no cache of node's does.
const { appendFileSync } = require("node:fs");
const { join } = require("node:path");
const { fileURLToPath } = require("node:url");

const test = process.argv[1];

const pathOf = (url) => {
  const plain = url.replace(/[?#].*$/, "");
  return plain.startsWith("file:") ? fileURLToPath(plain) : plain.startsWith("/") ? plain : null;
};

if (test) {
  process.on("exit", () => {
    try {
      const { Session } = require("node:inspector");
      const loaded = new Set(Object.keys(require.cache));
      const session = new Session();
      session.connect();
      session.on("Debugger.scriptParsed", ({ params }) => {
        const path = params.url && pathOf(params.url);
        if (path) loaded.add(path);
      });
      session.post("Debugger.enable");
      session.disconnect();
      const line = { file: test, loaded: [...loaded].filter((path) => path.startsWith("/")), whole: true };
      appendFileSync(join(__dirname, "loaded.jsonl"), `${JSON.stringify(line)}\n`);
    } catch {
      // Built without an inspector, or the parent of the test processes: nothing is observed.
    }
  });
}
