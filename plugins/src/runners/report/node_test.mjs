// A reporter for node's test runner that writes what happened in each test file, one JSON
// object a line; node puts it where its destination says. A report without its `end` line
// is truncated.
import { resolve } from "node:path";

const line = (value) => `${JSON.stringify(value)}\n`;

export default async function* report(source) {
  const files = new Map();
  const errors = [];
  const of = (file) => {
    if (!files.has(file)) {
      files.set(file, { file, passed: 0, failed: 0, skipped: 0, pending: 0, retried: 0, ms: 0, errors: [] });
    }
    return files.get(file);
  };
  yield line({ start: { runner: "node:test", version: process.version } });
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    // Each file is a test of its own, named by its path, in front of its cases.
    const isFile = data.nesting === 0 && (!data.file || resolve(data.name) === resolve(data.file));
    const file = data.file ?? (isFile ? resolve(data.name) : null);
    const failed = type === "test:fail";
    if (!file) {
      if (failed) errors.push(String(data.details?.error?.stack ?? data.name));
      continue;
    }
    const into = of(file);
    if (isFile) {
      into.ms = Math.max(into.ms, Math.round(data.details?.duration_ms ?? 0));
      if (failed) into.errors.push(String(data.details?.error?.cause ?? data.details?.error ?? data.name));
      continue;
    }
    if (data.nesting === 0) into.ms += Math.round(data.details?.duration_ms ?? 0);
    if (data.details?.type === "suite") {
      const own = data.details?.error?.failureType;
      if (failed && own !== "subtestsFailed") into.errors.push(String(data.details?.error?.cause ?? data.name));
      continue;
    }
    if (data.skip !== undefined || data.todo !== undefined) into.skipped += 1;
    else if (failed) into.failed += 1;
    else into.passed += 1;
  }
  for (const into of files.values()) {
    yield line({ ...into, state: into.failed || into.errors.length ? "fail" : "pass" });
  }
  yield line({ end: { files: files.size, interrupted: false, snapshots: 0, errors } });
}
