// A mocha reporter: the spec reporter, which also writes what happened in each test file,
// one JSON object a line, to `report.jsonl` beside itself. A report without its `end` line
// is truncated.
const { appendFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { join } = require("node:path");

const place = join(__dirname, "report.jsonl");
const line = (value) => appendFileSync(place, `${JSON.stringify(value)}\n`);

// The reporter lies outside the project; the mocha that loads it is the project's.
function mocha() {
  const loaded = Object.keys(require.cache).find((file) => /[\\/]mocha[\\/]index\.js$/.test(file));
  if (loaded) return require(loaded);
  return createRequire(join(process.cwd(), "x.js"))("mocha");
}

function fileOf(runnable) {
  for (let at = runnable; at; at = at.parent) if (at.file) return at.file;
  return null;
}

// What each test file required, as node's cache has it. Modules of the other kind are in no
// cache, so that a file may have loaded more.
function writeLoaded(tests) {
  const lines = [];
  for (const test of tests) {
    const top = require.cache[test];
    if (!top) continue;
    const loaded = new Set();
    const open = [top];
    while (open.length > 0) {
      const at = open.pop();
      if (!at.filename || loaded.has(at.filename)) continue;
      loaded.add(at.filename);
      open.push(...(at.children ?? []));
    }
    lines.push(JSON.stringify({ file: test, loaded: [...loaded], whole: false }));
  }
  writeFileSync(join(__dirname, "loaded.jsonl"), lines.map((it) => `${it}\n`).join(""));
}

const { Spec } = mocha().reporters;

module.exports = class extends Spec {
  constructor(runner, options) {
    super(runner, options);
    const files = new Map();
    const errors = [];
    const of = (runnable) => {
      const file = fileOf(runnable);
      if (!files.has(file)) {
        files.set(file, { file, passed: 0, failed: 0, skipped: 0, pending: 0, retried: 0, ms: 0, errors: [] });
      }
      return files.get(file);
    };
    writeFileSync(place, "");
    line({ start: { runner: "mocha", version: mocha().prototype?.version ?? null } });
    runner.on("pass", (test) => {
      const into = of(test);
      into.passed += 1;
      into.ms += test.duration ?? 0;
      if (test.currentRetry?.() > 0) into.retried += 1;
    });
    runner.on("pending", (test) => {
      of(test).skipped += 1;
    });
    runner.on("fail", (test, error) => {
      const said = String(error?.stack || error?.message || error);
      const into = of(test);
      if (into.file === null) errors.push(said);
      if (test.type === "test") {
        into.failed += 1;
        into.ms += test.duration ?? 0;
      } else {
        into.errors.push(said);
      }
    });
    runner.once("end", () => {
      files.delete(null);
      try {
        writeLoaded(files.keys());
      } catch {
        // Nothing is observed.
      }
      for (const into of files.values()) {
        line({ ...into, ms: Math.round(into.ms), state: into.failed || into.errors.length ? "fail" : "pass" });
      }
      line({
        end: { files: files.size, interrupted: Boolean(runner._abort && !runner.suite.bail()), snapshots: 0, errors },
      });
    });
  }
};
