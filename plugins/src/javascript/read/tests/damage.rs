//! What is not understood is named, and imports survive.

use super::facts;

#[test]
fn a_syntax_error_is_damage_and_keeps_imports() {
    let found = facts("a.ts", "import a from './a'\nimport { b } from './b'\nconst x = = 1\nimport('./c')\n");
    assert_eq!(found.damage.len(), 1);
    assert_eq!(found.damage[0].line, 3);
    let specifiers: Vec<_> = found.imports.iter().map(|i| i.specifier.as_str()).collect();
    assert_eq!(specifiers, ["./a", "./b", "./c"]);
}

#[test]
fn dialects_are_no_damage() {
    let cases = [
        ("a.js", "return 1"),
        ("a.js", "with (o) { x }"),
        ("a.js", "const e = <div>{x}</div>"),
        ("a.js", "// @flow\nfunction f(a: number): string { return a }"),
        ("a.js", "await f(); export {}"),
        ("a.ts", "await f()"),
        ("a.cjs", "return 1"),
        ("a.cjs", "export const a = 1"),
        ("a.mjs", "const e = <div/>"),
        ("a.ts", "const a = <string>b; var public = 1"),
        ("a.tsx", "const f = <T,>(a: T) => <div>{a}</div>"),
        ("a.js", "#!/usr/bin/env node\r\nf()\r\n"),
        ("a.cts", "import x = require('x'); export = x"),
        ("a.d.ts", "declare function f(): void; export {}"),
        ("a.ts", "export type * from './a'; class A<in T, out U> {} import defer * as n from './b'"),
    ];
    for (path, text) in cases {
        assert_eq!(facts(path, text).damage, [], "{path} {text}");
    }
}

#[test]
fn depth_is_bounded() {
    let cases = [
        ("(", ")", 3_000, false),
        ("[", "]", 3_000, false),
        ("!", "", 3_000, false),
        ("f(", ")", 3_000, false),
        ("{", "}", 3_000, false),
    ];
    for (open, close, times, damaged) in cases {
        let middle = if open == "{" { "" } else { "1" };
        let text = format!("import './a'\n;{}{middle}{}", open.repeat(times), close.repeat(times));
        let found = facts("a.ts", &text);
        assert_eq!(!found.damage.is_empty(), damaged, "{open}");
        assert_eq!(found.imports.len(), 1, "{open}");
    }
    let chains = [
        format!("x = {}1", "a + ".repeat(20_000)),
        format!("x = a{}", ".b".repeat(20_000)),
        format!("x = a{}", "()".repeat(20_000)),
        format!("{};", "if (a) b; else ".repeat(5_000)),
        format!("x = {}1", "a ? b : ".repeat(5_000)),
        format!("x = {}1", "a => ".repeat(5_000)),
    ];
    for text in chains {
        assert_eq!(facts("a.ts", &text).damage, [], "{}", &text[..20]);
    }
    let found = facts("a.ts", &format!("import './a'\n{}", "(".repeat(200_000)));
    assert_eq!(found.damage.len(), 1);
    assert!(found.damage[0].cause.contains("nested deeper"), "{:?}", found.damage);
    assert_eq!(found.imports.len(), 1);
}

#[test]
fn bytes_that_are_no_text() {
    let found = super::super::read(owed_engine::language::SourceFile { path: "a.ts", bytes: b"a\xFF" });
    assert_eq!(found.damage[0].cause, "not valid UTF-8");
}
