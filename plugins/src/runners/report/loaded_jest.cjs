// Loaded into each process of jest: notes which files the registry of each test file loads, and
// writes them as one line of `loaded.jsonl` beside this file when the registry is taken down.
// jest transforms what it runs of the project, sees JSON as it requires it, and has one
// registry a test file.
const { appendFileSync } = require("node:fs");
const Module = require("node:module");
const { isAbsolute, join } = require("node:path");

const place = join(__dirname, "loaded.jsonl");
const known = new WeakMap();

function note(runtime, path) {
  if (typeof path !== "string" || !isAbsolute(path)) return;
  if (!known.has(runtime)) known.set(runtime, new Set());
  known.get(runtime).add(path);
}

function watch(Runtime) {
  const proto = Runtime?.prototype;
  if (!proto || proto.__owed) return;
  Object.defineProperty(proto, "__owed", { value: true });
  // The first argument of each that is a path is the module's own.
  const paths = { transformFile: 0, transformFileAsync: 0, transformJson: 0, readFile: 0, _loadModule: 3 };
  for (const [name, at] of Object.entries(paths)) {
    const original = proto[name];
    if (typeof original !== "function") continue;
    proto[name] = function (...words) {
      note(this, words[at]);
      return original.apply(this, words);
    };
  }
  const teardown = proto.teardown;
  if (typeof teardown !== "function") return;
  proto.teardown = function (...words) {
    try {
      const file = this._testPath;
      if (file && known.has(this)) {
        appendFileSync(place, `${JSON.stringify({ file, loaded: [...known.get(this)], whole: true })}\n`);
        known.delete(this);
      }
    } catch {
      // Nothing is observed.
    }
    return teardown.apply(this, words);
  };
}

const isRuntime = (file) => /[\\/]jest-runtime[\\/]build[\\/]index\.js$/.test(file);

for (const [file, module] of Object.entries(require.cache)) {
  if (isRuntime(file)) watch(module.exports?.default ?? module.exports);
}
const load = Module._load;
Module._load = function (request, parent, isMain) {
  const exports = load.call(this, request, parent, isMain);
  if (request === "jest-runtime" || isRuntime(request)) watch(exports?.default ?? exports);
  return exports;
};
