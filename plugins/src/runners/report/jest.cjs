// A jest reporter that writes what happened in each test file, one JSON object a line, to
// `report.jsonl` beside itself. A report without its `end` line is truncated.
const { appendFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

// Processes that jest starts for its tests are started as this one was, so they load it, too.
// What the tests see as arguments of node is the same either way: jest makes them a process
// of their own making.
const watcher = join(__dirname, "loaded_jest.cjs");
process.execArgv.push("--require", watcher);
require(watcher);

const place = join(__dirname, "report.jsonl");
const line = (value) => appendFileSync(place, `${JSON.stringify(value)}\n`);

module.exports = class {
  constructor() {
    this.snapshots = 0;
    this.files = 0;
  }

  onRunStart() {
    writeFileSync(place, "");
    line({ start: { runner: "jest", version: null } });
  }

  onTestResult(_test, result) {
    const snapshot = result.snapshot ?? {};
    const written = (snapshot.added ?? 0) + (snapshot.updated ?? 0) + (snapshot.fileDeleted ? 1 : 0);
    const cases = result.testResults ?? [];
    this.snapshots += written;
    this.files += 1;
    const failed = cases.filter((it) => it.status === "failed").length;
    line({
      file: result.testFilePath,
      passed: cases.filter((it) => it.status === "passed").length,
      failed,
      skipped: cases.filter((it) => ["pending", "todo", "skipped", "disabled"].includes(it.status)).length,
      pending: 0,
      retried: cases.filter((it) => (it.invocations ?? 1) > 1).length,
      snapshots: written,
      state: result.testExecError || failed > 0 ? "fail" : result.skipped ? "skip" : "pass",
      ms: Math.round(result.perfStats?.runtime ?? 0),
      errors: result.testExecError
        ? [String(result.testExecError.stack || result.testExecError.message || result.failureMessage)]
        : [],
    });
  }

  onRunComplete(_contexts, results) {
    const error = results.runExecError;
    line({
      end: {
        files: this.files,
        interrupted: Boolean(results.wasInterrupted),
        snapshots: this.snapshots + (results.snapshot?.filesRemoved ?? 0),
        errors: error ? [String(error.stack || error.message)] : [],
      },
    });
  }
};
