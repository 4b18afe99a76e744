//! Declarations: kinds, references, effects at import, digests.

use owed_engine::facts::{Declaration, DeclarationKind, FileFacts};

use super::{facts, module};

fn find<'f>(facts: &'f FileFacts, name: &str) -> &'f Declaration {
    facts.declarations.iter().find(|d| d.name == name).unwrap_or_else(|| panic!("{name} in {facts:#?}"))
}

#[test]
fn kinds_and_effects_at_import() {
    use DeclarationKind::{Class, Function, Type, Value};
    let cases: &[(&str, &str, DeclarationKind, bool)] = &[
        ("function f() { g() }", "f", Function, false),
        ("const f = () => g()", "f", Function, false),
        ("class A extends B { m() { g() } x = g() }", "A", Class, false),
        ("class A { static x = g() }", "A", Class, true),
        ("class A { static { g() } }", "A", Class, true),
        ("class A extends mix(B) {}", "A", Class, true),
        ("@d class A {}", "A", Class, true),
        ("class A { @d() x: string }", "A", Class, true),
        ("const a = 1", "a", Value, false),
        ("const a = { b: [1, 'x'], c() {} }", "a", Value, false),
        ("const a = g()", "a", Value, true),
        ("const a = new Map([['a', 1]])", "a", Value, false),
        ("const a = new Map(b)", "a", Value, true),
        ("const a = b.c", "a", Value, true),
        ("enum E { A = 1 } const a = E.A", "a", Value, false),
        ("const { a } = b", "a", Value, true),
        ("const a = `x${b}`", "a", Value, false),
        ("import path from 'node:path'; const a = path.join(__dirname, 'x')", "a", Value, false),
        ("import R from 'react'; class A extends R.Component {}", "A", Class, false),
        ("import R from './react'; class A extends R.Component {}", "A", Class, true),
        ("const a = Object.freeze({ x: 1 })", "a", Value, false),
        ("let a", "a", Value, false),
        ("enum E { A = g() }", "E", Value, true),
        ("interface I {}", "I", Type, false),
        ("type T = 1", "T", Type, false),
        ("declare const x: number", "x", Type, false),
        ("namespace N { export const a = 1 }", "N", Value, true),
        ("export default g()", "default", Value, true),
        ("export default class {}", "default", Class, false),
    ];
    for (text, name, kind, effects) in cases {
        let found = module(text);
        let d = find(&found, name);
        assert_eq!((d.kind, d.effects_at_import), (*kind, *effects), "{text}");
    }
}

#[test]
fn references() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("import { x } from './x'; const y = 1; function f(z) { return x(y, z) }", "f", &["x", "y"]),
        ("function f() { return f() }", "f", &[]),
        ("import { T } from './x'; function f(a: T) { let y: T; return a as T }", "f", &[]),
        ("import { T } from './x'; type U = T[]", "U", &["T"]),
        ("import { T } from './x'; @d class A { constructor(a: T) {} }", "A", &["T"]),
        ("const a = 1; function f(a) { return a }", "f", &[]),
        ("const a = 1; g(a)", "<module>", &["a"]),
        ("import './x'; g()", "<module>", &["<links>"]),
        ("import * as n from './x'; function f() { return n.a() + n.b }", "f", &["n.a", "n.b"]),
        ("import * as n from './x'; function f() { return n.a(n) }", "f", &["n"]),
        ("async function f() { return (await import('./x')).a }", "f", &["import(\"./x\").a"]),
        ("const b = 1; const { a, c } = g(b)", "c", &["b"]),
        ("import * as n from './x'; export { n }; g()", "<module>", &["<links>"]),
        ("if (c) { var x = 1 } function f() { return x }", "f", &["<module>"]),
        ("let n = 0; export const f = () => { n += 1 }", "f", &["n"]),
    ];
    for (text, name, expected) in cases {
        assert_eq!(find(&module(text), name).references, *expected, "{text}");
    }
}

#[test]
fn exports() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("export const a = 1, b = 2", &[("a", "a"), ("b", "b")]),
        ("const a = 1; export { a as b, a as default }", &[("b", "a"), ("default", "a")]),
        ("export default function f() {}", &[("default", "f")]),
        ("function f() {} export default f", &[("default", "f")]),
        ("export default () => 1", &[("default", "default")]),
        ("import { x } from './x'; export { x as y }", &[("y", "x")]),
        ("export { x } from './x'", &[]),
        ("export const { a, b: [c] } = d", &[("a", "a"), ("c", "c")]),
        ("export class A {} export enum E {} export type T = 1", &[("A", "A"), ("E", "E"), ("T", "T")]),
    ];
    for (text, expected) in cases {
        let found = module(text);
        let shown: Vec<_> = found.exports.iter().map(|e| (e.name.as_str(), e.local.as_str())).collect();
        assert_eq!(shown, *expected, "{text}");
    }
}

#[test]
fn common_js_exports_are_split_when_understood() {
    let exports = |text: &str| -> Vec<(String, String)> {
        facts("a.cjs", text).exports.into_iter().map(|e| (e.name, e.local)).collect()
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        exports("exports.a = () => 1; module.exports.b = 2"),
        [pair("a", "exports.a"), pair("b", "exports.b"),]
    );
    assert_eq!(
        exports("function a() {} module.exports = { a, b: 1 }"),
        [pair("a", "a"), pair("b", "exports.b"),]
    );
    assert_eq!(exports("function a() {} module.exports = a"), [pair("default", "a")]);
    assert_eq!(exports("if (x) exports.a = 1"), []);
    assert_eq!(exports("module.exports = { a() { return this.b() }, b() {} }").len(), 1);
    assert_eq!(exports("exports.a = 1; f(module)"), []);
    let twice = facts("a.cjs", "exports.a = 1; exports.a = 2");
    assert_eq!(twice.declarations.iter().filter(|d| d.name == "exports.a").count(), 1);
}

#[test]
fn digests() {
    let digest = |text: &str, name: &str| find(&module(text), name).digest;
    let same: &[(&str, &str, &str)] = &[
        ("function f() { return 1 }", "/* c */ function f()\n{ // x\n return 1\n}", "f"),
        ("function f(a: number): string { return a as any }", "function f(a) { return a }", "f"),
        ("const f = <T,>(a: T) => a!", "const f = (a) => a", "f"),
        ("class A implements I { declare x: number; m(a?: 1): void; m(a?) {} }", "class A { m(a?) {} }", "A"),
        ("const a = b satisfies C", "const a = b", "a"),
        (
            "import { T, x } from './x'; function f(a: T) { x() }",
            "import { x } from './x'; function f(a) { x() }",
            "<links>",
        ),
    ];
    for (one, two, name) in same {
        assert!(digest(one, name) == digest(two, name), "{one} | {two}");
    }
    let different: &[(&str, &str, &str)] = &[
        ("function f() { return 1 }", "function f() { return 2 }", "f"),
        ("function f() { return a() }", "function f() { return\na() }", "f"),
        ("function f() { return 'a b' }", "function f() { return 'a  b' }", "f"),
        (
            "import { x } from './x'; function f() { x() }",
            "import { x } from './y'; function f() { x() }",
            "f",
        ),
        (
            "import { x } from './x'; function f() { x() }",
            "import { y as x } from './x'; function f() { x() }",
            "f",
        ),
        ("import './x'", "import './y'", "<links>"),
        ("export { a } from './x'", "export { b as a } from './x'", "<links>"),
        ("const a = 1", "export const a = 1", "a"),
        ("const a = 1; export { a as b }", "const a = 1; export { a as c }", "a"),
        ("@d class A { x: number }", "@d class A { x: string }", "A"),
        ("type T = 1", "type T = 2", "T"),
        ("g(1)", "g(2)", "<module>"),
    ];
    for (one, two, name) in different {
        assert_ne!(digest(one, name), digest(two, name), "{one} | {two}");
    }
}

#[test]
fn a_comment_changes_no_digest_but_lines() {
    let one = module("import { x } from './x';\nexport function f() { return x }\nf();");
    let two =
        module("// head\nimport { x } from './x';\n\n/** doc */\nexport function f() {\n  return x\n}\nf();");
    let digests =
        |facts: &FileFacts| -> Vec<[u8; 16]> { facts.declarations.iter().map(|d| d.digest).collect() };
    assert_eq!(digests(&one), digests(&two));
    assert_eq!(find(&two, "f").line, 5);
}
