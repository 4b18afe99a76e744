// The functions of TypeScript and JavaScript files and their tokens, by TypeScript's own
// parser and scanner. Paths on standard input, one a line; one JSON line a file.
//
// A token is a leaf of the tree that TypeScript builds, as written: no comment, no white
// space, no missing token, and no JSX text that is white space with a line break.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ts = createRequire(join(process.argv[2], "package.json"))("typescript");

const KINDS = {
  ts: ts.ScriptKind.TS, mts: ts.ScriptKind.TS, cts: ts.ScriptKind.TS, tsx: ts.ScriptKind.TSX,
  js: ts.ScriptKind.JS, mjs: ts.ScriptKind.JS, cjs: ts.ScriptKind.JS, jsx: ts.ScriptKind.JSX,
};

function tokens(file) {
  const found = [];
  const stack = [file];
  while (stack.length > 0) {
    const node = stack.pop();
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) continue;
    if (node.kind === ts.SyntaxKind.JsxText) {
      if (!node.containsOnlyTriviaWhiteSpaces) found.push([node.pos, node.end]);
      continue;
    }
    if (node.kind === ts.SyntaxKind.EndOfFileToken) continue;
    const children = ts.isTokenKind(node.kind) ? [] : node.getChildren(file);
    if (ts.isJsxClosingElement(node) || ts.isJsxClosingFragment(node)) {
      // The scanner that the parser uses has one token here, `</`; that of getChildren two.
      const slash = children.findIndex((child) => child.kind === ts.SyntaxKind.SlashToken);
      if (slash >= 0 && children[slash - 1].end === children[slash].getStart(file, false)) children.splice(slash, 1);
    }
    if (children.length === 0) {
      // Leaves, and lists and nodes of nothing.
      if (node.end > node.getStart(file, false) && (ts.isTokenKind(node.kind) || node.kind === ts.SyntaxKind.Identifier || node.kind === ts.SyntaxKind.PrivateIdentifier)) {
        found.push([node.getStart(file, false), node.end]);
      }
      continue;
    }
    for (let at = children.length - 1; at >= 0; at--) stack.push(children[at]);
  }
  found.sort((a, b) => a[0] - b[0]);
  return found;
}

function functions(file, leaves) {
  const starts = leaves.map((leaf) => leaf[0]);
  const place = (position) => {
    let low = 0, high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle] < position) low = middle + 1; else high = middle;
    }
    return low;
  };
  const found = [];
  const stack = [[file, -1]];
  while (stack.length > 0) {
    let [node, parent] = stack.pop();
    const around = parent;
    if (ts.isFunctionLike(node) && node.body) {
      let from = node.getStart(file, false);
      for (const modifier of node.modifiers ?? []) {
        if (ts.isDecorator(modifier) || modifier.kind === ts.SyntaxKind.ExportKeyword || modifier.kind === ts.SyntaxKind.DefaultKeyword) {
          from = modifier.end;
        }
      }
      const first = place(from);
      const end = place(node.end);
      found.push({ start: starts[first], end: node.end, total: end - first, own: end - first });
      if (parent >= 0) found[parent].own -= end - first;
      parent = found.length - 1;
    }
    const children = [];
    ts.forEachChild(node, (child) => { children.push(child); });
    for (let at = children.length - 1; at >= 0; at--) {
      // The decorators of a function are of the one around it.
      const child = children[at];
      stack.push([child, ts.isDecorator(child) ? around : parent]);
    }
  }
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Import and export statements that name a module, and which. */
function imports(file) {
  const found = [];
  const stack = [file];
  while (stack.length > 0) {
    const node = stack.pop();
    let module;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) module = node.moduleSpecifier;
    if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      module = node.moduleReference.expression;
    }
    if (module && ts.isStringLiteral(module)) found.push([node.getStart(file, false), node.end, module.text]);
    ts.forEachChild(node, (child) => { stack.push(child); });
  }
  return found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
}

/** Byte offsets of UTF-16 offsets that grow. */
function bytes(text) {
  let units = 0, offset = 0;
  const table = new Uint32Array(text.length + 1);
  for (const letter of text) {
    const code = letter.codePointAt(0);
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let unit = 0; unit < letter.length; unit++) table[units + unit] = offset;
    units += letter.length;
    offset += size;
  }
  table[units] = offset;
  return table;
}

function measure(path) {
  const text = readFileSync(path, "utf8");
  const kind = KINDS[path.slice(path.lastIndexOf(".") + 1)];
  const file = ts.createSourceFile(path, text, { languageVersion: ts.ScriptTarget.ESNext }, true, kind);
  const answer = { path, fault: null, line: null, functions: [], imports: [] };
  const fault = file.parseDiagnostics[0];
  if (fault) {
    answer.fault = ts.flattenDiagnosticMessageText(fault.messageText, " ");
    answer.line = file.getLineAndCharacterOfPosition(fault.start).line + 1;
  } else {
    const table = bytes(text);
    answer.functions = functions(file, tokens(file)).map((it) => [table[it.start], table[it.end], it.own, it.total]);
    answer.imports = imports(file).map(([start, end, module]) => [table[start], table[end], module]);
  }
  return answer;
}

for await (const path of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = measure(path);
  } catch (fault) {
    if (!(fault instanceof RangeError)) throw fault;
    answer = { path, fault: fault.message, line: null, functions: [], imports: [] };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
