// Runs tokens.py in CPython 3.14, compiled to WebAssembly, because the tokens of f-strings
// are those of CPython 3.12 and later. Paths on standard input, one a line.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const { loadPyodide } = createRequire(join(process.argv[2], "package.json"))("pyodide");
const python = await loadPyodide();
python.runPython(readFileSync(join(dirname(fileURLToPath(import.meta.url)), "tokens.py"), "utf8"));
const measure = python.globals.get("measure");
for await (const path of createInterface({ input: process.stdin })) {
  process.stdout.write(measure(path, readFileSync(path).toString("base64")) + "\n");
}
