// Loaded into each process of jest: when the registry of a test file is taken down, the files
// that were read and transformed for it are written as one line of `loaded.jsonl` beside this
// file. jest has one registry a test file, and reads through it all that it runs.
const { appendFileSync } = require("node:fs");
const Module = require("node:module");
const { isAbsolute, join } = require("node:path");

const place = join(__dirname, "loaded.jsonl");

// The caches of one registry, as the versions of jest call them.
function caches(runtime) {
  return [
    runtime._cacheFS,
    runtime._fileTransforms,
    runtime._moduleRegistry,
    runtime._esmoduleRegistry,
    runtime.fileCache?.strings,
    runtime.fileCache?.buffers,
    runtime.transformCache?.transforms,
  ].filter((cache) => cache instanceof Map);
}

function write(runtime) {
  const file = runtime._testPath;
  const found = caches(runtime);
  if (!file || found.length === 0) return;
  const names = found.flatMap((cache) => [...cache.keys()]).filter((name) => typeof name === "string");
  const loaded = new Set(names.map((name) => name.replace(/[?#].*$/, "")).filter(isAbsolute));
  appendFileSync(place, `${JSON.stringify({ file, loaded: [...loaded], whole: true })}\n`);
}

const watched = new WeakSet();

function watch(exports) {
  const proto = (exports?.default ?? exports)?.prototype;
  if (typeof proto?.teardown !== "function" || watched.has(proto)) return;
  watched.add(proto);
  const teardown = proto.teardown;
  proto.teardown = function (...words) {
    try {
      write(this);
    } catch {
      // Nothing is observed.
    }
    return teardown.apply(this, words);
  };
}

const isRuntime = (file) => file === "jest-runtime" || /[\\/]jest-runtime[\\/]build[\\/]index\.js$/.test(file);

for (const [file, module] of Object.entries(require.cache)) {
  if (isRuntime(file)) watch(module.exports);
}
const load = Module._load;
Module._load = function (request, ...rest) {
  const exports = load.call(this, request, ...rest);
  if (isRuntime(request)) watch(exports);
  return exports;
};
