//! 250 hostile files of each language: every broken one is NOT CHECKED with a reason (and a line
//! where one exists), none crashes the program, none looks clean, and valid oddities beside them
//! are checked.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::Project;

/// What must become of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Checked,
    /// NOT CHECKED for this reason, with a line or without.
    Not(&'static str, bool),
    /// Valid, and nested more deeply than anybody has to follow: measured, or NOT CHECKED for its
    /// depth.
    Deep,
}

use Fate::{Checked, Deep, Not};

const BROKEN: Fate = Not("unparsable", true);

/// Python that CPython refuses.
const BAD_PYTHON: &[&str] = &[
    "print \"x\"\n",
    "exec \"x\"\n",
    "x = `1`\n",
    "try:\n    pass\nexcept A, e as f:\n    raise\n",
    "x = 0777\n",
    "x = 10L\n",
    "x <> y\n",
    "def f((a, b)):\n    pass\n",
    "raise E, \"m\"\n",
    "if x:\n\ty = 1\n        z = 2\n",
    "def f():\nx = 1\n",
    "def f():\n",
    "return 1\n",
    "await x\n",
    "def f(a, a):\n    pass\n",
    "x = (1, 2\n",
    "x = 'abc\n",
    "x = \"\"\"abc\n",
    "class A\n    pass\n",
    "x = = 1\n",
    "f(a=1, a=1)\n",
    "f(**a, *b)\n",
    "break\n",
    "def f():\n    x: int = 1\n    global x\n",
    "  x = 1\n",
    "x = f\"{\"\n",
    "lambda: yield = 1\n",
    "del f()\n",
    "1 = x\n",
    "for x in y\n    pass\n",
    "def f():\n    nonlocal x\n",
    "nonlocal x\n",
    "def f(x):\n    global x\n",
    "class A:\n    return 1\n",
    "continue\n",
    "def f():\n    x = yield from await y\n",
    "f() = 1\n",
    "x = {1: 2, 3}\n",
    "def f(a=1, b): pass\n",
    "def f(*): pass\n",
    "def f(**a, b): pass\n",
    "f(a for a in b, c)\n",
    "import *\n",
    "from a import b,\n",
    "from __future__ import braces\n",
    "x: int: str = 1\n",
    "match x:\n    case a: pass\n    case b: pass\n",
    "match x:\n    case a | b: pass\n",
    "with a as f(): pass\n",
    "x = f'{a!z}'\n",
    "x = b'\u{fc}'\n",
    "async x = 1\n",
    "try:\n    pass\n",
    "if x:\n    pass\n  else:\n    pass\n",
    "(yield)\n",
    "x = (1 if 2)\n",
    "assert\n",
    "None = 1\n",
    "__debug__ = 1\n",
    "x = 1__0\n",
];

/// Scripts that node or TypeScript's parser refuses.
const BAD_SCRIPT: &[&str] = &[
    "let a = 1;\nlet a = 2;\n",
    "const a;\n",
    "break;\n",
    "continue;\n",
    "function f() { await x; }\n",
    "class A { constructor() {} constructor() {} }\n",
    "this.#p = 1;\n",
    "const = 1;\n",
    "if (a {\n}\n",
    "function () {}\n",
    "x = {a: 1, b: };\n",
    "x = [1, 2;\n",
    "x = 'abc\n",
    "x = `abc\n",
    "x = /abc\n",
    "/* abc\n",
    "import { a from 'b';\n",
    "export default const a = 1;\n",
    "label: label: x;\n",
    "new.target;\n",
    "super();\n",
    "a => { b\n",
    "for (let x of y z) {}\n",
    "switch (a) { case 1: case }\n",
    "try { x }\n",
    "return 1\n}\n",
    "<<<<<<< ours\nx;\n=======\ny;\n>>>>>>> theirs\n",
    "x = 1 +;\n",
    "function* f() { yield = 1 }\n",
    "\"use strict\"; with (a) {}\n",
    "export const a = 1; export const a = 2;\n",
    "import a from 'b'; import a from 'c';\n",
    "export { a as };\n",
    "class A { #p; #p; }\n",
    "class A extends B { constructor() { super(); } get constructor() {} }\n",
    "let let = 1;\n",
    "for (const x = 1 of y) {}\n",
    "var a; let a;\n",
    "function f(a) { let a; }\n",
    "function f() { 'use strict'; var public_; delete x; }\n",
    "async () => { for await (x in y) {} }\n",
    "({ a = 1 });\n",
    "a?.b = 1;\n",
    "new a?.b();\n",
    "1++;\n",
    "x = 08n;\n",
    "x = 1__0;\n",
    "x = '\\u{110000}';\n",
    "x = /(/;\n",
    "x = /a/gg;\n",
    "type A = ;\n",
    "interface A { b: ; }\n",
    "enum E { a b }\n",
    "let x: string number;\n",
    "function f(...a, b) {}\n",
    "class A { abstract m() {} async get x() {} }\n",
    "import('a', 'b', 'c');\n",
    "yield => { 'use strict'; };\nexport {};\n",
    "throw\n1;\n",
    "do x while (y) z;\nelse\n",
];

/// Sources that are valid and odd.
const ODD_PYTHON: &[&str] = &[
    "",
    "# only a comment",
    "\u{feff}x = 1\n",
    "def f():\r    return 1\r",
    "def f():\r\n    return 1\r\n",
    "def f():\n    return 1\n\x0c\ndef g():\n    return 2\n",
    "# -*- coding: utf-8 -*-\nx = 'ü'\n",
    "x = '\u{2028}'\n",
    "def f(a, /, b, *, c): return a\n",
    "async def f():\n    async with a as b, c: yield b\n",
    "match x:\n    case {'a': 1, **rest} if rest: pass\n    case _: pass\n",
    "type A[T: int = str] = list[T]\n",
    "def f[T](a: T) -> T: return a\n",
    "x = f\"{f'{f\"{1}\"}'!r:>{10}}\"\n",
    "try: pass\nexcept* ValueError: pass\n",
    "x = (y := 1)\n",
    "x = 1 if a else 2 if b else 3\n",
    "@a.b[1](2)\ndef f(): ...\n",
    "with (a as b, c as d,): pass\n",
    "if True: x = 1; y = 2\n",
    // Valid since 3.14 (PEP 758).
    "try:\n    pass\nexcept A, B, C:\n    raise\n",
    "class A[T: (int, str), *Ts, **P]: pass\n",
    "def f():\n\tif x:\n\t\treturn 1\n",
    "#!/usr/bin/env python\n\x0c\nx = 1\n",
    "x = rb'\\x' + Rb'y'\n",
    "x = 0o777 + 0b1_0 + 1_000.0e1_0j\n",
    "x = t'{y}'\n",
    "def f():\n    with (yield): pass\n",
    "def f():\n    def g():\n        nonlocal x\n    x = 1\n",
    "async def f():\n    return [x async for x in y if await z]\n",
    "def f(*, a: int = 1, **b: str) -> None: ...\n",
    "x = a if b else lambda: (yield)\n",
    "import a.b as c; from . import d; from ..e import (f, g,)\n",
    "from __future__ import annotations\nx: y = 1\n",
    "x[1:2, ::3, *y] = z\n",
    "global x\nx = 1\n",
    "try:\n    pass\nfinally:\n    pass\n",
    "while True:\n    break\nelse:\n    pass\n",
    "print(*a, **b, sep='')\n",
    "x = {**a, 'b': 1, **c}\n",
    "def f():\n    \"\"\"only a docstring\"\"\"\n",
    "if x:\n    pass\n\\\n\n",
    "x = 'a' \\\n    'b'\n",
];

/// The same for scripts.
const ODD_SCRIPT: &[&str] = &[
    "",
    "// only a comment",
    "\u{feff}export const x = 1;\n",
    "export function f() {\r  return 1;\r}\r",
    "export function f() {\r\n  return 1;\r\n}\r\n",
    "export const s = 'a\u{2028}b';\n",
    "export type * from './b';\n",
    "interface A<in out T> { x: T }\n",
    "export class C { static { } accessor x = 1; #p = 1; }\n",
    "export const t = tag<{ a: string }>`x`;\ndeclare function tag<T>(s: TemplateStringsArray): T;\n",
    "export const a = x! as unknown as y satisfies z;\n",
    "export abstract class D { abstract m(): void; declare x: number }\n",
    "enum E { A = 1 << 2, B = A | 1 }\n",
    "namespace N.M { export const a = 1 }\n",
    "export = 1;\n",
    "import fs = require('fs');\n",
    "export const r = /[\\p{L}--[a-z]]/v;\n",
    "a?.b?.[c]?.(d) ?? e;\n",
    "for await (const x of y) {}\n",
    "export {};\nusing x = y;\n",
    "export type * as ns from './b';\n",
    "export type F<out T> = () => T;\n",
    "export class S { static readonly [k: string]: number }\n",
    "export declare function g(): <A>(a: A) => void;\n",
    "export const v = f`a${`b${c}`}d`;\n",
    "export type X = import('./b').Y & {};\n",
    "@dec() export class G { @dec p = 1; @dec m() {} get x() { return 1 } set x(v) {} }\n",
    "export function assertIs(x: unknown): asserts x is string { }\n",
    "export const o = { async *[Symbol.iterator]() { yield* x }, get a() { return 1 }, __proto__: null };\n",
    "label: for (;;) { continue label }\n",
    "export class H { #a = 1; has(o: object) { return #a in o } }\n",
    "export const big = 1_000n ** 2n;\n",
    "#!/usr/bin/env node\nexport {};\n",
    "export const n = <T,>(x: T) => x;\n",
    "export let d!: number;\n",
    "export type L = `a${string}b` extends infer U extends string ? U : never;\n",
    "export default class {}\n",
    "export { x as 'string name' } from './b';\nimport j from './a.json' with { type: 'json' };\n",
    "export const re = /(?<year>\\d{4})-\\k<year>/dgimsuy;\n",
    "if (a) ; else ;\n",
    "var await_ = 1, of = 2, get = 3, type = 4, async = 5;\n",
];

/// The same for scripts with elements.
const ODD_ELEMENTS: &[&str] = &[
    "export const a = <B c=\"d&e=f\" />;\n",
    "export const a = <><b.c />{/* nothing */}{x}</>;\n",
    "export const a = <A<string> b={<c />} {...d}>text &amp; more</A>;\n",
    "export class V { render() { return x && <a>{y.map(z => <b key={z} />)}</a> } }\n",
    "export const a = <div>\u{2028}</div>;\n",
];

fn files() -> BTreeMap<String, (Vec<u8>, Fate)> {
    let mut files: BTreeMap<String, (Vec<u8>, Fate)> = BTreeMap::new();
    let mut put = |path: String, bytes: Vec<u8>, fate| {
        assert!(files.insert(path.clone(), (bytes, fate)).is_none(), "{path} twice");
    };
    for (list, extension, fate) in [
        (BAD_PYTHON, "py", BROKEN),
        (BAD_SCRIPT, "ts", BROKEN),
        (ODD_PYTHON, "py", Checked),
        (ODD_SCRIPT, "ts", Checked),
        (ODD_ELEMENTS, "tsx", Checked),
    ] {
        for (at, text) in list.iter().enumerate() {
            let kind = if fate == Checked { "odd" } else { "bad" };
            put(format!("{kind}/{extension}/f{at:02}.{extension}"), text.as_bytes().to_vec(), fate);
        }
    }
    // The same errors dressed otherwise: after good code, after a byte order mark, with other
    // line ends.
    for (list, extension, good) in [
        (BAD_PYTHON, "py", "def good(a):\n    return [b for b in a if b]\n\n\n"),
        (BAD_SCRIPT, "ts", "export function good(a: number[]) {\n  return a.map((b) => b + 1);\n}\n"),
    ] {
        for (at, text) in list.iter().enumerate() {
            let after = format!("{good}{text}");
            put(format!("after/{extension}/f{at:02}.{extension}"), after.into_bytes(), BROKEN);
            let marked = format!("\u{feff}{text}");
            put(format!("marked/{extension}/f{at:02}.{extension}"), marked.into_bytes(), BROKEN);
            let crlf = text.replace('\n', "\r\n");
            put(format!("crlf/{extension}/f{at:02}.{extension}"), crlf.into_bytes(), BROKEN);
        }
    }
    // Encodings that Python files may declare.
    let declared = |name: &str, text: &[u8]| [format!("# coding: {name}\n").as_bytes(), text].concat();
    put("coding/latin.py".to_owned(), declared("latin-1", b"x = 'caf\xe9'\n"), Checked);
    put("coding/cp1252.py".to_owned(), declared("cp1252", b"x = '\x80'\n"), Checked);
    put("coding/unknown.py".to_owned(), declared("klingon", b"x = 1\n"), BROKEN);
    // A module of JavaScript exports what it has; in TypeScript it may be a type.
    put("bad/export.mjs".to_owned(), b"export { missing };\n".to_vec(), BROKEN);
    // More names in more scopes than anybody can follow.
    let names: Vec<String> = (0..60_000).map(|at| format!("n{at}")).collect();
    let scopes = format!("x = {}[{}];\n", "a => ".repeat(5_000), names.join(","));
    put("scopes/names.js".to_owned(), scopes.into_bytes(), Not("timeout", true));
    // A good source, cut off anywhere in its brackets: never clean with less in it.
    let whole =
        "export function f(a) {\n  if (a) {\n    return [a, { b: `x${a}` }];\n  }\n  return g(a);\n}\n";
    for cut in 22..whole.len() - 3 {
        put(format!("cut/f{cut:03}.ts"), whole.as_bytes()[..cut].to_vec(), BROKEN);
    }
    let whole = "x = f(a, [1, {2: 3}], (4, 'five'), lambda b: b)\n";
    for cut in 7..whole.len() - 3 {
        put(format!("cut/p{cut:03}.py"), whole.as_bytes()[..cut].to_vec(), BROKEN);
    }
    // Bytes that are no text.
    for (at, extension) in ["ts", "tsx", "js", "jsx", "mjs", "cjs", "py", "vue"].iter().enumerate() {
        let good = if *extension == "py" { "x = 1\n" } else { "var x = 1;\n" };
        let with = |bytes: &[u8]| [good.as_bytes(), bytes].concat();
        put(format!("bytes/nul{at}.{extension}"), with(b"\0\0\0"), Not("binary", false));
        put(format!("bytes/latin{at}.{extension}"), with(b"caf\xe9\n"), Not("not-utf8", false));
        put(format!("bytes/cut{at}.{extension}"), with(b"\xe2\x82"), Not("not-utf8", false));
        put(format!("bytes/utf16{at}.{extension}"), b"\xff\xfev\0a\0r\0".to_vec(), Not("binary", false));
    }
    // Nesting of every kind, 100,000 deep.
    for (at, (open, close)) in
        [("(", ")"), ("[", "]"), ("{a:", "}"), ("!", ""), ("- ", ""), ("f(", ")"), ("a?", ":b")]
            .iter()
            .enumerate()
    {
        let text = format!("x = {}1{};\n", open.repeat(100_000), close.repeat(100_000));
        put(format!("deep/s{at}.ts"), text.into_bytes(), Deep);
    }
    for (at, (open, close)) in
        [("(", ")"), ("[", "]"), ("{1:", "}"), ("not ", ""), ("f(", ")"), ("-", "")].iter().enumerate()
    {
        let text = format!("x = {}1{}\n", open.repeat(100_000), close.repeat(100_000));
        put(format!("deep/p{at}.py"), text.into_bytes(), Deep);
    }
    let blocks: String = (0..3_000).map(|at| format!("{}if x:\n", " ".repeat(at))).collect();
    put("deep/blocks.py".to_owned(), (blocks + &" ".repeat(3_000) + "y\n").into_bytes(), Deep);
    put("deep/blocks.ts".to_owned(), "{".repeat(100_000).into_bytes(), Not("depth", true));
    put("deep/jsx.tsx".to_owned(), ("<a>".repeat(50_000) + &"</a>".repeat(50_000)).into_bytes(), Deep);
    put("deep/else.ts".to_owned(), ("if (a) b; else ".repeat(50_000) + "c;").into_bytes(), Deep);
    put(
        "deep/types.ts".to_owned(),
        format!("type A = {}1{};", "[".repeat(100_000), "]".repeat(100_000)).into_bytes(),
        Deep,
    );
    // One line of many megabytes.
    put(
        "large/line.ts".to_owned(),
        format!("x('{}');", "a".repeat(50_000_000)).into_bytes(),
        Not("too-large", false),
    );
    put("large/many.py".to_owned(), "x = 1\n".repeat(1_000_000).into_bytes(), Not("too-large", false));
    // Other languages.
    for extension in ["go", "rs", "java", "rb", "c", "php", "swift", "kt"] {
        put(format!("other/a.{extension}"), b"x\n".to_vec(), Not("unsupported-language", false));
    }
    files
}

#[test]
fn every_broken_file_is_named_and_none_looks_clean() {
    let files = files();
    let project = Project::bare(&[]);
    for (path, (bytes, _)) in &files {
        project.write_bytes(path, bytes);
    }
    project.write("links/README.md", "# links\n");
    project.link("loop-b.ts", "links/loop-a.ts");
    project.link("loop-a.ts", "links/loop-b.ts");
    project.link("nowhere.py", "links/dangling.py");
    project.link("../odd", "links/folder.ts");
    project.git(&["init", "-q"]);
    project.commit("hostile");
    let mut expected: BTreeMap<String, Fate> =
        files.iter().map(|(path, (_, fate))| (path.clone(), *fate)).collect();
    for link in ["links/loop-a.ts", "links/loop-b.ts", "links/dangling.py"] {
        expected.insert(link.to_owned(), Not("unreadable", false));
    }
    let of = |extensions: &[&str]| {
        let is = |path: &&String| path.rsplit('.').next().is_some_and(|end| extensions.contains(&end));
        expected.keys().filter(is).count()
    };
    let (python, script) = (of(&["py"]), of(&["ts", "tsx", "js", "jsx", "mjs", "cjs", "vue"]));
    assert!(python >= 250 && script >= 250, "there are {python} and {script}");

    let ran = project.owed(&["check", "--across", "files", "--advice", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    let mut found: BTreeMap<String, (String, bool)> = BTreeMap::new();
    for file in answer["files"]["not_checked"].as_array().unwrap() {
        let of = (file["reason"].as_str().unwrap().to_owned(), file["line"].is_u64());
        found.insert(file["path"].as_str().unwrap().to_owned(), of);
    }
    let mut faults = Vec::new();
    let mut good = 0;
    for (path, fate) in &expected {
        match (fate, found.remove(path)) {
            (Checked, None) => good += 1,
            (Checked, Some((reason, _))) => {
                faults.push(format!("{path} is valid, and is said to be {reason}"))
            }
            (Not(..), None) => faults.push(format!("{path} looks clean")),
            (Deep, None) => good += 1,
            (Deep, Some((reason, has_line))) => {
                if reason != "depth" || !has_line {
                    faults.push(format!("{path} is {reason}, line: {has_line}"));
                }
            }
            (Not(right, line), Some((reason, has_line))) => {
                if *right != reason || *line != has_line {
                    faults.push(format!("{path} is {reason} (line: {has_line}), and should be {right}"));
                }
            }
        }
    }
    faults.extend(found.into_keys().map(|path| format!("{path} was not expected")));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(answer["files"]["checked"], good);
    let gate = project.owed(&["check", "--gate"]);
    assert_eq!(gate.code, 3, "{}", gate.err);
}
