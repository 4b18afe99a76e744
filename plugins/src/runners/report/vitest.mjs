// A vitest reporter that writes what happened in each test file, one JSON object a line,
// to `report.jsonl` beside itself. A report without its `end` line is truncated.
import { appendFileSync, writeFileSync } from "node:fs";

const place = new URL("./report.jsonl", import.meta.url);
const line = (value) => appendFileSync(place, `${JSON.stringify(value)}\n`);
const message = (error) => String(error?.stack || error?.message || error);

function count(tasks, into) {
  for (const task of tasks ?? []) {
    if (task.tasks) {
      into.errors.push(...(task.result?.errors ?? []).map(message));
      count(task.tasks, into);
      continue;
    }
    const state = task.result?.state;
    if (state === "pass") into.passed += 1;
    else if (state === "fail") into.failed += 1;
    else if (task.mode === "skip" || task.mode === "todo" || state === "skip") into.skipped += 1;
    else into.pending += 1;
    if (task.result?.retryCount) into.retried += 1;
  }
}

export default class {
  onInit(context) {
    this.context = context;
    writeFileSync(place, "");
    line({ start: { runner: "vitest", version: context?.version ?? null } });
  }

  onTestRunEnd(modules, errors, reason) {
    this.write(modules.map((module) => module.task), errors, reason === "interrupted");
  }

  onFinished(files, errors) {
    this.write(files ?? [], errors ?? [], false);
  }

  write(files, errors, interrupted) {
    if (this.done) return;
    this.done = true;
    for (const file of files) {
      const into = { file: file.filepath, passed: 0, failed: 0, skipped: 0, pending: 0, retried: 0, errors: [] };
      into.errors.push(...(file.result?.errors ?? []).map(message));
      count(file.tasks, into);
      into.state = file.result?.state ?? file.mode;
      into.ms = Math.round((file.result?.duration ?? 0) + (file.collectDuration ?? 0));
      line(into);
    }
    const snapshots = this.context?.snapshot?.summary ?? {};
    line({
      end: {
        files: files.length,
        interrupted,
        snapshots: (snapshots.added ?? 0) + (snapshots.updated ?? 0) + (snapshots.filesRemoved ?? 0),
        errors: errors.map(message),
      },
    });
  }
}
