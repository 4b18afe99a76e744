//! 250 hostile files: every broken one is NOT CHECKED with a reason (and a line where one
//! exists), none crashes the program, none looks clean, and valid oddities beside them are
//! checked.

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
    ] {
        for (at, text) in list.iter().enumerate() {
            let kind = if fate == Checked { "odd" } else { "bad" };
            put(format!("{kind}/{extension}/f{at:02}.{extension}"), text.as_bytes().to_vec(), fate);
        }
    }
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
    for extension in ["java", "rb", "c", "php", "swift", "kt", "cs", "scala"] {
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
    assert!(expected.len() >= 250, "there are {}", expected.len());

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
