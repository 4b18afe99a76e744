//! Every way to load another file.

use owed_engine::facts::{Import, ImportKind, Names, Presence};

use super::{facts, module};

/// `kind specifier [names]`, one line an import.
fn shown(imports: &[Import]) -> Vec<String> {
    imports.iter().map(one).collect()
}

fn one(import: &Import) -> String {
    let names = match &import.names {
        Names::Effects => String::new(),
        Names::Namespace(local) => format!(" * as {local}"),
        Names::List(list) => {
            let list: Vec<String> = list
                .iter()
                .map(|n| {
                    if n.imported == n.local {
                        n.local.clone()
                    } else {
                        format!("{} as {}", n.imported, n.local)
                    }
                })
                .collect();
            format!(" {{{}}}", list.join(", "))
        }
    };
    let optional = if import.presence == Presence::Optional { "?" } else { "" };
    format!("{:?}{optional} {}{names}", import.kind, import.specifier)
}

fn check(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(shown(&module(text).imports), *expected, "{text}");
    }
}

#[test]
fn statements() {
    check(&[
        ("import './a'", &["Static ./a"]),
        ("import a, { b as c, type D } from './a'; a(c)", &["Static ./a {default as a, b as c, D}"]),
        ("import type { A } from './a'", &["TypeOnly ./a {A}"]),
        ("import { type A } from './a'", &["Static ./a {A}"]),
        ("import * as n from './a'; n.x(); n.y", &["Static ./a {x as n.x, y as n.y}"]),
        ("import * as n from './a'; f(n)", &["Static ./a * as n"]),
        ("import * as n from './a'; n.x = 1", &["Static ./a * as n"]),
        ("import * as n from './a'; n[k]", &["Static ./a * as n"]),
        ("import * as n from './a'; export { n }", &["Static ./a * as n"]),
        ("import * as n from './a'; export { n }; n.x()", &["Static ./a {x as n.x}", "Static ./a * as n"]),
        ("import d, * as n from './a'; d(n)", &["Static ./a * as n", "Static ./a {default as d}"]),
        ("export { a as b } from './a'", &["ReExport ./a {a as b}"]),
        ("export * from './a'", &["Star ./a * as *"]),
        ("export * as n from './a'", &["ReExport ./a * as n"]),
        ("export type * from './a'", &["TypeOnly ./a * as *"]),
        ("export type { A } from './a'", &["TypeOnly ./a {A}"]),
        ("import x = require('./a'); x.y()", &["Require ./a {y as x.y}"]),
        ("import t from './a.json' with { type: 'json' }; t", &["Static ./a.json {default as t}"]),
        ("import defer * as n from './a'; n.x", &["Static ./a {x as n.x}"]),
        ("import s from './a.css?inline'; s", &["Static ./a.css?inline {default as s}"]),
        ("let t: import('./a').T", &["TypeOnly ./a"]),
        (
            "declare module 'x' { import { y } from './y'; export * from './z' }",
            &["TypeOnly ./y", "TypeOnly ./z"],
        ),
        (
            "/// <reference path=\"b.d.ts\" />\n/// <reference types='node' />\nimport './a'",
            &["TypeOnly ./b.d.ts", "TypeOnly node", "Static ./a"],
        ),
    ]);
}

#[test]
fn a_member_of_a_namespace_in_jsx_is_a_member() {
    let found = facts("a.tsx", "import * as n from './a'; export const e = <n.X/>");
    assert_eq!(shown(&found.imports), ["Static ./a {X as n.X}", "StringRef react/jsx-runtime"]);
    let found = facts("a.tsx", "/** @jsxImportSource preact */ export const e = <a/>");
    assert_eq!(shown(&found.imports), ["StringRef preact/jsx-runtime"]);
}

#[test]
fn calls() {
    check(&[
        ("import('./a')", &["Dynamic ./a"]),
        ("f(import('./a'))", &["Dynamic ./a * as import(\"./a\")"]),
        ("import(`./a`)", &["Dynamic ./a"]),
        ("import('./a' + '.js')", &["Dynamic ./a.js"]),
        ("const { b, c: d } = await import('./a')", &["Dynamic ./a {b, c as d}"]),
        ("const m = await import('./a'); m.x()", &["Dynamic ./a {x as m.x}"]),
        (
            "async function f() { const m = await import('./a'); m.x() }",
            &["Dynamic ./a {x as import(\"./a\").x}"],
        ),
        ("import('./a').then((m) => m.x)", &["Dynamic ./a {x as import(\"./a\").x}"]),
        ("import('./a').then(({ x }) => x)", &["Dynamic ./a {x as import(\"./a\").x}"]),
        ("import('./a').then(f)", &["Dynamic ./a * as import(\"./a\")"]),
        ("import('./a').catch(() => {})", &["Dynamic? ./a"]),
        ("import('./a').then((m) => m.x).catch(() => {})", &["Dynamic? ./a {x as import(\"./a\").x}"]),
        ("const p = './a'; import(p)", &["Dynamic ./a"]),
        ("const d = './x'; const p = `${d}/a`; import(p)", &["Dynamic ./x/a"]),
        (
            "import(c ? './a' : './b')",
            &["Dynamic ./a * as import(\"./a\")", "Dynamic ./b * as import(\"./b\")"],
        ),
        (
            "for (const n of ['a', 'b']) import(n)",
            &["Dynamic a * as import(\"a\")", "Dynamic b * as import(\"b\")"],
        ),
        (
            "for (const n of ['a', 'b']) import('./' + n)",
            &["Dynamic ./a * as import(\"./a\")", "Dynamic ./b * as import(\"./b\")"],
        ),
        (
            "['a', 'b'].forEach((n) => import(`./${n}.js`))",
            &["Dynamic ./a.js * as import(\"./a.js\")", "Dynamic ./b.js * as import(\"./b.js\")"],
        ),
        ("import.meta.resolve('./a')", &["Resolve ./a * as resolve(\"./a\")"]),
        ("let p = './a'; p = q; import(p)", &["Computed  * as import(\"\")"]),
    ]);
}

#[test]
fn common_js() {
    let cases: &[(&str, &[&str])] = &[
        ("const x = require('./a'); x.b()", &["Require ./a {b as x.b}"]),
        ("const x = require('./a'); x()", &["Require ./a * as x"]),
        ("const { a, b: c } = require('./a')", &["Require ./a {a, b as c}"]),
        ("const x = require('./a').b", &["Require ./a {b as x}"]),
        (
            "const x = require('./a'); x.y(); module.exports = { x }",
            &["Require ./a {y as x.y}", "Require ./a * as x"],
        ),
        ("require('./a')", &["Require ./a"]),
        ("require('./a')(1)", &["Require ./a * as require(\"./a\")"]),
        ("function f() { return require('./a').b() }", &["Require ./a {b as require(\"./a\").b}"]),
        ("try { require('./a') } catch {}", &["Require? ./a"]),
        ("try { f(function () { require('./a') }) } catch {}", &["Require ./a"]),
        ("require.resolve('./a')", &["Resolve ./a * as resolve(\"./a\")"]),
        ("module.require('./a')", &["Require ./a"]),
        ("function f(require) { require('./a') }", &[]),
        ("const r = require; r('./a')", &["Require ./a"]),
        (
            "require(['./a', './b'], f)",
            &["Require ./a * as require(\"./a\")", "Require ./b * as require(\"./b\")"],
        ),
        ("define(['require', './a'], function () {})", &["Require ./a * as require(\"./a\")"]),
        (
            "const pq = require('proxyquire').noCallThru(); pq('./a', {})",
            &[
                "Require proxyquire {noCallThru as require(\"proxyquire\").noCallThru}",
                "Require ./a * as require(\"./a\")",
            ],
        ),
        ("require.context('./x', true, /js$/)", &["Glob ./x/** * as glob(\"./x/**\")"]),
        ("require.context('./x', false)", &["Glob ./x/* * as glob(\"./x/*\")"]),
        ("new Worker('./w.js')", &["Script /w.js * as run(\"/w.js\")"]),
    ];
    for (text, expected) in cases {
        let found = facts("a.cjs", text);
        assert_eq!(found.damage, [], "{text}");
        assert_eq!(shown(&found.imports), *expected, "{text}");
    }
}

#[test]
fn create_require() {
    check(&[(
        "import { createRequire } from 'node:module'; const r = createRequire(import.meta.url); r('./a'); r.resolve('./b')",
        &["Static node:module {createRequire}", "Require ./a", "Resolve ./b * as resolve(\"./b\")"],
    )]);
}

#[test]
fn mocks() {
    check(&[
        ("vi.mock('./a')", &["Mock ./a * as mock(\"./a\")"]),
        (
            "vi.mock(import('./a'), () => ({}))",
            &["Mock ./a * as mock(\"./a\")", "Dynamic ./a * as import(\"./a\")"],
        ),
        (
            "import { vi } from 'vitest'; vi.doMock('./a')",
            &["Static vitest {vi}", "Mock ./a * as mock(\"./a\")"],
        ),
        (
            "jest.mock('./a', () => jest.requireActual('./b'))",
            &["Mock ./a * as mock(\"./a\")", "Require ./b * as requireActual(\"./b\")"],
        ),
        ("await vi.importActual('./a')", &["Dynamic ./a"]),
        (
            "import { mock } from 'node:test'; mock.module('./a', {})",
            &["Static node:test {mock}", "Mock ./a * as mock(\"./a\")"],
        ),
        ("o.mock('./a')", &[]),
        ("vi.mock(p)", &["Computed  * as mock(\"\")"]),
    ]);
}

#[test]
fn globs_and_computed() {
    check(&[
        ("import.meta.glob('./x/*.ts')", &["Glob ./x/*.ts * as glob(\"./x/*.ts\")"]),
        (
            "import.meta.glob(['./x/*.ts', '!./x/b.ts'], { query: '?raw' })",
            &["Glob ./x/*.ts * as glob(\"./x/*.ts\")", "Glob !./x/b.ts * as glob(\"!./x/b.ts\")"],
        ),
        ("import(`./l/${x}.ts`)", &["Computed ./l/**/*.* * as import(\"./l/**/*.*\")"]),
        ("import(`./l/${x}.json`)", &["Computed ./l/**/*.json * as import(\"./l/**/*.json\")"]),
        ("import(`./l/${x}.svg?raw`)", &["Computed ./l/**/*.svg * as import(\"./l/**/*.svg\")"]),
        ("import(`./l/${c ? `a${x}` : `b${y}`}`)", &["Computed ./l/** * as import(\"./l/**\")"]),
        ("import('./p/' + x)", &["Computed ./p/** * as import(\"./p/**\")"]),
        (
            "import(`./l-${x}.json`)",
            &[
                "Computed ./l-*.json * as import(\"./l-*.json\")",
                "Computed ./l-*/**/*.json * as import(\"./l-*/**/*.json\")",
            ],
        ),
        ("import(`./[id]/${x}`)", &["Computed ./[[]id[]]/** * as import(\"./[[]id[]]/**\")"]),
        ("import(`${x}/a`)", &["Computed  * as import(\"\")"]),
        (
            "import path from 'node:path'; require(path.join(__dirname, 'plugins', n))",
            &["Static node:path {default as path}", "Computed ./plugins/** * as require(\"./plugins/**\")"],
        ),
        (
            "require(path.join(__dirname, '../a')); import path from 'path'",
            &["Require ../a", "Static path {default as path}"],
        ),
    ]);
}

#[test]
fn scripts() {
    check(&[
        ("new Worker(new URL('./w.js', import.meta.url))", &["Script ./w.js * as run(\"./w.js\")"]),
        (
            "import { fork } from 'child_process'; fork('./c.js')",
            &["Static child_process {fork}", "Script /c.js * as run(\"/c.js\")"],
        ),
        (
            "import { fork } from 'child_process'; import { join } from 'path'; fork(join(__dirname, 'c.js'))",
            &["Static child_process {fork}", "Static path {join}", "Script ./c.js * as run(\"./c.js\")"],
        ),
        (
            "import { spawn } from 'child_process'; spawn(process.execPath, ['--no-warnings', 'c.js', ...more])",
            &["Static child_process {spawn}", "Script /c.js * as run(\"/c.js\")"],
        ),
        (
            "import { execSync } from 'child_process'; execSync('node ./c.js a')",
            &["Static child_process {execSync}", "Script /c.js * as run(\"/c.js\")"],
        ),
    ]);
}

#[test]
fn lines_and_kinds_of_declaration_files() {
    let found = facts("a.d.ts", "import { A } from './a';\nexport * from './b'");
    let kinds: Vec<_> = found.imports.iter().map(|i| (i.kind, i.line)).collect();
    assert_eq!(kinds, [(ImportKind::TypeOnly, 1), (ImportKind::TypeOnly, 2)]);
}
