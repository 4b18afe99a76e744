//! Configuration read from its source, and where reading ends.

use owed_engine::tree::MemoryTree;

use super::*;

fn tree(files: &[(&str, &str)]) -> MemoryTree {
    MemoryTree::new(files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())))
}

fn read(files: &[(&str, &str)]) -> Value {
    let tree = tree(files);
    let packages = Packages::read(&tree);
    let mut reader = Reader::new(&tree, &packages, path::dirname(files[0].0));
    reader.know("vitest/config", "configDefaults", {
        let exclude = Value::Array(vec![Value::String("**/node_modules/**".into())]);
        Value::Object(Object(vec![Entry::Key("exclude".into(), exclude)]))
    });
    reader.environment("VITEST", Value::String("true".into()));
    reader.call_with(Value::Object(Object(vec![Entry::Key("mode".into(), Value::String("test".into()))])));
    reader.load(files[0].0)
}

/// A value in a compact notation: unknown pieces are `?`, alternatives `a|b`.
fn show(value: &Value) -> String {
    match value {
        Value::Undefined => "undefined".into(),
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => n.to_string(),
        Value::String(s) => format!("'{s}'"),
        Value::Regex(s, f) => format!("/{s}/{f}"),
        Value::Array(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Object(object) => {
            let mut parts: Vec<String> =
                object.keys().into_iter().map(|k| format!("{k}: {}", show(&object.get(k)))).collect();
            if object.open().is_some() {
                parts.push("...?".into());
            }
            format!("{{{}}}", parts.join(", "))
        }
        Value::Function(_) => "fn".into(),
        Value::Package(m, n) => format!("{m}#{n}"),
        Value::Module(p) => format!("module {p}"),
        Value::Call(c) => format!("{}#{}()", c.module, c.name),
        Value::Either(values) => values.iter().map(show).collect::<Vec<_>>().join("|"),
        Value::Unknown(_) => "?".into(),
    }
}

#[test]
fn modules_are_evaluated_as_far_as_they_are_constant() {
    let cases = [
        ("export default { a: [1, 'x', `y`], b: null }", "{a: [1, 'x', 'y'], b: null}"),
        ("import { defineConfig } from 'vitest/config'; export default defineConfig({ a: 1 })", "{a: 1}"),
        (
            "import { defineConfig } from 'vite'; export default defineConfig(({ mode }) => ({ m: mode }))",
            "{m: 'test'}",
        ),
        ("export default (async () => { const a = 1; return { a } })", "{a: 1}"),
        ("const base = { a: 1, b: 2 }; export default { ...base, b: 3 } satisfies X", "{a: 1, b: 3}"),
        ("module.exports = { a: 1 }; module.exports.b = 2", "{a: 1, b: 2}"),
        ("exports.a = 1; exports.b = [2]", "{a: 1, b: [2]}"),
        ("const c = {}; c.a = 1; c.l = []; c.l.push('x'); module.exports = c", "{a: 1, l: ['x']}"),
        ("import path from 'path'; export default path.resolve(__dirname, '../src')", "'/project/src'"),
        (
            "import { join } from 'node:path'; export default join(import.meta.dirname, 'x', '..', 'y')",
            "'/project/p/y'",
        ),
        ("export default new URL('./src', import.meta.url).pathname", "'/project/p/src'"),
        (
            "import { fileURLToPath, URL } from 'node:url'; export default fileURLToPath(new URL('./src/', import.meta.url))",
            "'/project/p/src/'",
        ),
        (
            "const r = (x: string) => require('path').resolve(__dirname, x); export default { a: r('s') }",
            "{a: '/project/p/s'}",
        ),
        ("export default process.env.CI ? ['a'] : ['b']", "['a']|['b']"),
        (
            "export default { x: process.env.VITEST ? 1 : 2, ...(process.env.CI && { y: 1 }) }",
            "{x: 1}|{x: 1, y: 1}",
        ),
        ("export default [process.env.CI && 'a', 'b'].filter(Boolean)", "[false|'a', 'b']"),
        ("export default { a: 1, ...load() , b: 2 }", "{a: ?|1, b: 2, ...?}"),
        ("import x from 'pkg'; export default { p: [x(), x.y({})] }", "{p: [pkg#default(), pkg#y()]}"),
        (
            "import { configDefaults } from 'vitest/config'; export default [...configDefaults.exclude, 'e2e/*']",
            "['**/node_modules/**', 'e2e/*']",
        ),
        ("let a = 1; a = 2; export default { a, b: 1 }", "{a: 2, b: 1}"),
        ("const a = { x: 1 }; if (y) { a.x = 2 } export default { a, b: 1 }", "{a: ?, b: 1}"),
        (
            "function f(n) { if (n) { return 1 } return 2 } export default [f(true), f(false), f(q)]",
            "[1, 2, 1|2]",
        ),
        (
            "export default ['a', 'b'].map(p => ({ test: { name: p } }))",
            "[{test: {name: 'a'}}, {test: {name: 'b'}}]",
        ),
        (
            "import { mergeConfig } from 'vite'; export default mergeConfig({ t: { a: [1] }, x: 1 }, { t: { a: [2], b: 1 } })",
            "{t: {a: [1, 2], b: 1}, x: 1}",
        ),
        ("const self = { a: self }; export default self", "{a: ?}"),
        ("export { config as default }; const config = { a: 'x' + 'y' as const }", "{a: 'xy'}"),
        ("export default Object.assign({}, { a: 1 }, { b: 2 })", "{a: 1, b: 2}"),
        ("export default { a: /x\\.y/i, get b() { return 1 } }", "{a: /x\\.y/i, b: 1}"),
        ("syntax error here (", "?"),
    ];
    for (source, expected) in cases {
        assert_eq!(show(&read(&[("p/c.config.ts", source)])), expected, "{source}");
    }
}

#[test]
fn configuration_files_are_followed_through_the_project() {
    let cases: &[(&[(&str, &str)], &str)] = &[
        (
            &[
                (
                    "a/vitest.config.ts",
                    "import { mergeConfig } from 'vitest/config'; import base from '../base'; export default mergeConfig(base, { test: { x: 1 } })",
                ),
                (
                    "base.ts",
                    "import { defineConfig } from 'vitest/config'; export default defineConfig({ test: { y: __dirname } })",
                ),
            ],
            "{test: {y: '/project', x: 1}}",
        ),
        (
            &[
                (
                    "a/jest.config.js",
                    "const base = require('../jest.base'); module.exports = { ...base, a: 1 }",
                ),
                ("jest.base.js", "module.exports = { b: [1] }"),
            ],
            "{b: [1], a: 1}",
        ),
        (
            &[
                (
                    "a/jest.config.js",
                    "const pkg = JSON.parse(require('fs').readFileSync('./package.json', 'utf8')); module.exports = pkg.jest",
                ),
                ("a/package.json", "{\"jest\": {\"roots\": [\"<rootDir>/src\"]}}"),
            ],
            "{roots: ['<rootDir>/src']}",
        ),
        (
            &[
                ("a/vitest.config.ts", "import { make } from '@repo/config'; export default make(__dirname)"),
                (
                    "tools/config/package.json",
                    "{\"name\": \"@repo/config\", \"exports\": {\".\": {\"types\": \"./x.d.ts\", \"default\": \"./src/index.js\"}}}",
                ),
                ("tools/config/src/index.ts", "export * from './make.js'"),
                ("tools/config/src/make.ts", "export const make = (root: string) => ({ root })"),
            ],
            "{root: '/project/a'}",
        ),
        (
            &[
                ("a.ts", "export { default } from './b'"),
                ("b.ts", "import a from './a'; export default { a }"),
            ],
            "{a: ?}",
        ),
        (&[("a.ts", "export default (await import('./b.mjs')).default"), ("b.mjs", "export default 1")], "1"),
    ];
    for (files, expected) in cases {
        assert_eq!(show(&read(files)), *expected, "{files:?}");
    }
}

#[test]
fn a_long_chain_does_not_overflow() {
    let deep = format!("export default {}1{}", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(show(&read(&[("c.ts", &deep)])), "?");
    let calls = "const f = (n) => f(n); export default { a: f(1) }";
    assert_eq!(show(&read(&[("c.ts", calls)])), "{a: ?}");
}
