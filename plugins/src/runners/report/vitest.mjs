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

// The modules behind a test file in vite's graph that were transformed, which is done when they
// are loaded. The graph is that of all tests of a project: what another test loads through a
// module of this one counts for both.
function loadedBy(graph, test) {
  const loaded = new Set();
  const seen = new Set();
  const open = [...(graph.getModulesByFile(test) ?? [])];
  while (open.length > 0) {
    const at = open.pop();
    if (seen.has(at)) continue;
    seen.add(at);
    const isLoaded = at.transformResult || at.ssrTransformResult || at.ssrModule;
    if (!isLoaded) continue;
    if (at.file) loaded.add(at.file.replace(/[?#].*$/, ""));
    open.push(...(at.importedModules ?? []), ...(at.ssrImportedModules ?? []));
  }
  return loaded;
}

function graphsOf(module, context) {
  const project = module?.project ?? context;
  const server = project?.vite ?? project?.server ?? context?.vite ?? context?.server;
  const environments = Object.values(server?.environments ?? {}).map((it) => it.moduleGraph);
  return [...environments, server?.moduleGraph].filter((it) => it?.getModulesByFile);
}

export default class {
  onInit(context) {
    this.context = context;
    writeFileSync(place, "");
    line({ start: { runner: "vitest", version: context?.version ?? null } });
  }

  onTestRunEnd(modules, errors, reason) {
    this.write(modules.map((module) => module.task), errors, reason === "interrupted", modules);
  }

  onFinished(files, errors) {
    this.write(files ?? [], errors ?? [], false);
  }

  writeLoaded(files, modules) {
    const lines = files.map((file, at) => {
      const loaded = new Set();
      for (const graph of graphsOf(modules?.[at], this.context)) {
        for (const path of loadedBy(graph, file.filepath)) loaded.add(path);
      }
      return `${JSON.stringify({ file: file.filepath, loaded: [...loaded], whole: false })}\n`;
    });
    writeFileSync(new URL("./loaded.jsonl", import.meta.url), lines.join(""));
  }

  write(files, errors, interrupted, modules) {
    if (this.done) return;
    this.done = true;
    try {
      this.writeLoaded(files, modules);
    } catch {
      // Nothing is observed.
    }
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
