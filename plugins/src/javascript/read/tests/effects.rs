//! Effects: the input side first, then everything else, and what must stay pure.

use owed_engine::facts::{Effect, EffectClass, Opaque, PathBase, PathExpr, Pin, When};

use super::{facts, module};

fn path(path: &PathExpr) -> String {
    let base = match path.base {
        PathBase::Module => "./",
        PathBase::Cwd => "cwd:",
        PathBase::Absolute => "",
    };
    format!("{base}{}", path.path)
}

fn one(effect: &Effect) -> String {
    match &effect.class {
        EffectClass::Pinned(Pin::Env(name)) => format!("env {name}"),
        EffectClass::Pinned(Pin::File(at)) => format!("file {}", path(at)),
        EffectClass::Pinned(Pin::Listing { dir, glob }) => format!("listing {} {glob}", path(dir)),
        EffectClass::Pinned(Pin::Named(name)) => format!("pin {name}"),
        EffectClass::Bounded(at) => format!("below {}", path(at)),
        EffectClass::Opaque(reason) => format!("opaque {}", reason.word()),
    }
}

fn shown(text: &str) -> Vec<String> {
    // Names of no interest (`f`, `x`) are left out.
    let stray = |effect: &&Effect| {
        effect.class != EffectClass::Opaque(Opaque::Unlisted)
            || effect.operation.contains('.')
            || effect.operation.ends_with("__")
    };
    let mut list: Vec<String> = module(text).effects.iter().filter(stray).map(one).collect();
    list.sort();
    list.dedup();
    list
}

fn check(cases: &[(&str, &[&str])]) {
    check_after("", cases);
}

/// Checks texts that follow `head`.
fn check_after(head: &str, cases: &[(&str, &[&str])]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let found = shown(&format!("{head}{text}"));
        if found != *expected {
            wrong.push(format!("{text}\n  found {found:?}\n  not   {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files() {
    let fs = "import fs, { readFileSync as rf, promises } from 'node:fs'; import * as path from 'path'; import { fileURLToPath } from 'url'; import fsp from 'fs/promises';";
    let cases: &[(&str, &[&str])] = &[
        ("fs.readFileSync('a.txt')", &["file cwd:a.txt"]),
        ("rf('./x/../a.txt')", &["file cwd:a.txt"]),
        ("fs.promises.readFile('/etc/x')", &["file /etc/x"]),
        ("promises.readFile('a')", &["file cwd:a"]),
        ("fsp.readFile(path.join(__dirname, 'f', 'a.txt'))", &["file ./f/a.txt"]),
        ("rf(__dirname + '/a.txt')", &["file ./a.txt"]),
        ("rf(`${__dirname}/../a.txt`)", &["file ./../a.txt"]),
        ("rf(new URL('./a.txt', import.meta.url))", &["file ./a.txt"]),
        ("rf(fileURLToPath(new URL('../a.txt', import.meta.url)))", &["file ./../a.txt"]),
        ("rf(path.resolve('a.txt'))", &["file cwd:a.txt", "pin cwd"]),
        ("rf(path.join(process.cwd(), 'a.txt'))", &["file cwd:a.txt", "pin cwd"]),
        (
            "const here = path.dirname(fileURLToPath(import.meta.url)); rf(path.join(here, 'a.txt'))",
            &["file ./a.txt"],
        ),
        ("const up = new URL('..', import.meta.url); rf(new URL('a.txt', up))", &["file ./../a.txt"]),
        ("rf(path.join(import.meta.dirname, 'a.txt'))", &["file ./a.txt"]),
        ("rf(path.join(__dirname, 'f', name))", &["below ./f"]),
        ("rf(path.join(__dirname, `f/${name}.txt`))", &["below ./f"]),
        ("rf(`f/${name}`)", &["below cwd:f"]),
        ("rf(name)", &["opaque computed-load"]),
        ("function read(p) { return rf(p) }", &["opaque computed-load"]),
        ("const p = 'a.txt'; rf(p)", &["file cwd:a.txt"]),
        ("let p = 'a.txt'; p = q(); rf(p)", &["opaque computed-load"]),
        ("rf(c ? 'a' : 'b')", &["file cwd:a", "file cwd:b"]),
        ("for (const n of ['a', 'b']) rf(n)", &["file cwd:a", "file cwd:b"]),
        ("for (const n of ['a', 'b']) rf(path.join(__dirname, n))", &["file ./a", "file ./b"]),
        (
            "function f() { function g() { h.readFileSync('a') } const h = fs; g() }",
            &["opaque computed-load"],
        ),
        ("fs.existsSync('a'); fs.accessSync('b')", &["file cwd:a", "file cwd:b"]),
        ("fs.readdirSync('d')", &["listing cwd:d *"]),
        ("fs.readdirSync('d', { recursive: true })", &["listing cwd:d **"]),
        (
            "fs.readdirSync(path.join(__dirname, 'd')).map((n) => rf(path.join(__dirname, 'd', n)))",
            &["below ./d", "listing ./d *"],
        ),
        ("fs.globSync('src/**/*.ts')", &["listing cwd:src **/*.ts"]),
        ("fs.statSync('a').isFile()", &["file cwd:a"]),
        ("fs.statSync('a').mtimeMs", &["file cwd:a", "opaque fs-meta"]),
        ("fs.writeFileSync(p, '')", &["opaque fs-meta"]),
        ("fs.cpSync('d', p)", &["below cwd:d", "opaque fs-meta"]),
        ("fs.readFileSync(0)", &["opaque stdin"]),
        ("fs.mkdtempSync('x')", &["opaque tmp"]),
        ("fs.watch('a')", &["opaque clock"]),
        ("f(fs)", &["opaque computed-load"]),
        ("fs[m]('a')", &["opaque computed-load"]),
        ("const { readFileSync: r } = fs; r('a')", &["file cwd:a"]),
        ("const { readFileSync: r, ...rest } = fs; r('a')", &["file cwd:a", "opaque computed-load"]),
        ("const g = fs; g.readFileSync('a')", &["file cwd:a"]),
        ("const r = fs.readFileSync.bind(fs); r('a')", &["file cwd:a"]),
        ("list.map(rf)", &["opaque computed-load"]),
        ("vi.spyOn(fs, 'readFileSync'); expect(fs.readFileSync).toHaveBeenCalled(); vi.mocked(rf)", &[]),
        (
            "let d; beforeEach(() => { d = fs.mkdtempSync('x') }); afterEach(() => { d = undefined }); rf(path.join(d, 'a'))",
            &["opaque tmp"],
        ),
        (
            "let d; d = fs.mkdtempSync('x'); d = q(); rf(path.join(d, 'a'))",
            &["opaque computed-load", "opaque tmp"],
        ),
        ("let p; beforeAll(() => { p = path.join(__dirname, 'a.txt') }); rf(p)", &["file ./a.txt"]),
        (
            "const here = typeof __dirname === 'string' ? __dirname : path.dirname(fileURLToPath(import.meta.url)); rf(path.join(here, 'a'))",
            &["file ./a"],
        ),
        ("fs.newThing('a')", &["opaque unlisted"]),
        ("rf(require.resolve('x'))", &["pin resolution"]),
    ];
    check_after(fs, cases);
    check(&[
        (
            "import { readFile } from 'fs'; import { promisify } from 'util'; const r = promisify(readFile); r('a')",
            &["file cwd:a"],
        ),
        ("export { readFileSync } from 'fs'", &["opaque computed-load"]),
        ("import { readFileSync } from 'fs'; export { readFileSync }", &["opaque computed-load"]),
        ("import { readFileSync } from './mine'; readFileSync(p)", &[]),
        ("function f(fs) { fs.readFileSync(p) }", &[]),
        ("import fs from 'graceful-fs'; fs.readFileSync(p)", &["opaque computed-load"]),
        (
            "import fse from 'fs-extra'; fse.readJsonSync('a.json'); fse.outputFileSync(p, '')",
            &["file cwd:a.json", "opaque fs-meta"],
        ),
        (
            "import os from 'os'; import fs from 'fs'; fs.readFileSync(os.tmpdir() + '/x')",
            &["env TEMP", "env TMP", "env TMPDIR", "opaque tmp"],
        ),
        ("const { readFileSync } = require('fs'); readFileSync('a')", &["file cwd:a"]),
        ("require('node:fs').readFileSync('a')", &["file cwd:a"]),
        ("const fs = await import('node:fs'); fs.readFileSync('a')", &["file cwd:a"]),
        ("process.getBuiltinModule('fs').readFileSync('a')", &["file cwd:a"]),
    ]);
}

#[test]
fn packages() {
    check(&[
        (
            "import fg from 'fast-glob'; fg(['src/**/*.ts', '!x'], { cwd: __dirname })",
            &["listing ./src **/*.ts"],
        ),
        (
            "import { globSync } from 'tinyglobby'; globSync({ patterns: ['*.md'], cwd: 'docs' })",
            &["listing cwd:docs *.md"],
        ),
        ("import { glob } from 'glob'; glob(p)", &["opaque computed-load"]),
        ("import dotenv from 'dotenv'; dotenv.config()", &["file cwd:.env"]),
        ("import { config } from 'dotenv'; config({ path: '.env.test' })", &["file cwd:.env.test"]),
        ("import { execa } from 'execa'; execa('git', ['log'])", &["opaque subprocess"]),
        ("import { execa } from 'execa'; execa('node', ['./x.js'])", &["opaque host"]),
        ("import { JSDOM } from 'jsdom'; JSDOM.fromFile('a.html'); new JSDOM('<p>')", &["file cwd:a.html"]),
    ]);
}

#[test]
fn programs() {
    let cp = "import cp from 'child_process';";
    let cases: &[(&str, &[&str])] = &[
        ("cp.execSync('git log')", &["opaque subprocess"]),
        ("cp.execSync('node x.js && rm y')", &["opaque subprocess"]),
        ("cp.spawn('node', ['-e', code])", &["opaque subprocess"]),
        ("cp.fork(p)", &["opaque subprocess"]),
        ("cp.fork('./x.js')", &["opaque host"]),
        ("cp.spawnSync(process.execPath, ['x.js'])", &["opaque host", "pin executable"]),
        ("cp.spawnSync('node', ['x.js'], { cwd: d })", &["opaque subprocess"]),
        ("f(cp.exec)", &["opaque subprocess"]),
    ];
    check_after(cp, cases);
}

#[test]
fn environment() {
    check(&[
        ("process.env.A", &["env A"]),
        ("process.env['A']; const { B, C: c } = process.env", &["env A", "env B", "env C"]),
        ("'A' in process.env", &["env A"]),
        ("const k = 'A'; process.env[k]", &["env A"]),
        ("process.env[k]", &["pin whole-env"]),
        ("f({ ...process.env })", &["pin whole-env"]),
        ("Object.keys(process.env)", &["pin whole-env"]),
        ("process.env.A = '1'; delete process.env.B", &[]),
        ("const e = process.env; e.A", &["env A"]),
        ("const { A, ...rest } = process.env", &["pin whole-env"]),
        ("import { env } from 'node:process'; env.A", &["env A"]),
        ("globalThis.process.env.A", &["env A"]),
        ("import.meta.env.VITE_A", &["env VITE_A", "pin import-meta-env"]),
        ("f(import.meta.env)", &["pin import-meta-env", "pin whole-env"]),
        ("const e = process.env.A ?? 'x'", &["env A"]),
    ]);
}

#[test]
fn counter_examples_are_opaque() {
    let cases: &[(&str, &str)] = &[
        ("const { random } = Math; random()", "random"),
        ("const M = Math; M.random()", "random"),
        ("Math/**/.random()", "random"),
        ("Math?.random()", "random"),
        ("Math['random']()", "random"),
        ("Reflect.get(Math, 'random')()", "random"),
        ("Object.getOwnPropertyDescriptors(Math)", "random"),
        ("new Intl.DateTimeFormat('en').format()", "clock"),
        ("const f = new Intl.DateTimeFormat('en'); f.format(undefined)", "clock"),
        ("Temporal.Now.instant()", "clock"),
        ("new Event('a').timeStamp", "clock"),
        ("new File([], 'a').lastModified", "clock"),
        ("(() => {}).constructor('return 1')()", "eval"),
        ("setImmediate(f)", "concurrency"),
        ("AbortSignal.timeout(1)", "clock"),
        ("navigator.hardwareConcurrency", "host"),
        ("new WeakRef(o).deref()", "gc"),
        ("new SharedArrayBuffer(1)", "concurrency"),
        ("new Worker(p)", "concurrency"),
        ("new XMLHttpRequest()", "network"),
        ("URL.createObjectURL(b)", "random"),
        ("localStorage.getItem('a')", "fs-meta"),
        ("new Date()", "clock"),
        ("Date()", "clock"),
        ("new Date(undefined)", "clock"),
        ("new Date(...a)", "clock"),
        ("export class D extends Date {}", "clock"),
        ("class D extends Date {} new D()", "clock"),
        ("class D extends Date {}", "clock"),
        ("list.map(Date.now)", "clock"),
        ("eval('1')", "eval"),
        ("(0, eval)('1')", "eval"),
        ("new Function('return 1')", "eval"),
        ("const F = Function; F('x')", "eval"),
        ("import vm from 'vm'; vm.runInThisContext('1')", "eval"),
        ("crypto.randomUUID()", "random"),
        ("import { randomBytes } from 'crypto'; randomBytes(1)", "random"),
        ("fetch('x')", "network"),
        ("setTimeout(f, 1)", "clock"),
        ("globalThis.setTimeout(f, 1)", "clock"),
        ("performance.now()", "clock"),
        ("Date.now = f", "mutate-global"),
        ("Array.prototype.x = f", "mutate-global"),
        ("globalThis.x = 1", "mutate-global"),
        ("require.cache", "loader"),
        ("process.hrtime()", "clock"),
        ("process.chdir('x')", "cwd"),
        ("import net from 'net'; net.connect(1)", "network"),
    ];
    let missed: Vec<String> = cases
        .iter()
        .map(|(text, reason)| (text, reason, shown(text)))
        .filter(|(_, reason, found)| !found.contains(&format!("opaque {reason}")))
        .map(|(text, reason, found)| format!("{text}: {found:?}, not {reason}"))
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let sloppy: Vec<String> = facts("a.js", "this.setTimeout(1)").effects.iter().map(one).collect();
    assert_eq!(sloppy, ["opaque clock"]);
}

#[test]
fn pinned_by_name() {
    let cases: &[(&str, &[&str])] = &[
        ("new Date(x)", &["pin TZ"]),
        (
            "a.localeCompare(b)",
            &["env LANG", "env LANGUAGE", "env LC_ALL", "env LC_MESSAGES", "env NODE_ICU_DATA", "pin icu"],
        ),
        ("a.localeCompare(b, 'en')", &["pin icu"]),
        (
            "n.toLocaleString()",
            &[
                "env LANG",
                "env LANGUAGE",
                "env LC_ALL",
                "env LC_MESSAGES",
                "env NODE_ICU_DATA",
                "pin TZ",
                "pin icu",
            ],
        ),
        ("new Intl.NumberFormat('en').format(1)", &["pin icu"]),
        ("new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(d)", &["pin icu"]),
        (
            "new Intl.DateTimeFormat().resolvedOptions().timeZone",
            &[
                "env LANG",
                "env LANGUAGE",
                "env LC_ALL",
                "env LC_MESSAGES",
                "env NODE_ICU_DATA",
                "pin TZ",
                "pin icu",
            ],
        ),
        ("new Error().stack", &["pin project-root"]),
        ("process.argv[2]", &["pin argv"]),
        ("if (__DEV__) f()", &["opaque unlisted"]),
        ("g(__dirname)", &["pin project-root"]),
    ];
    check(cases);
}

#[test]
fn pure_things_are_pure() {
    let texts = [
        "// the Date column\nlet a",
        "const s = 'process the order'",
        "function f(o) { return o.process.env.A }",
        "function f(performance) { return performance.now() }",
        "new Date(0).getTime()",
        "new Date('2020-01-01').toISOString()",
        "type T = typeof process; let x: Date; interface P { d: Date }",
        "typeof window === 'undefined'; typeof setTimeout",
        "x instanceof Date; expect.any(Date); expect.any(Function)",
        "Math.max(1, 2); JSON.stringify({}); new Map(); Object.keys({})",
        "console.log('x'); process.platform; process.exitCode = 1",
        "import path from 'path'; path.join('a', 'b')",
        "import { EventEmitter } from 'events'; class E extends EventEmitter {}",
        "import assert from 'node:assert'; assert.equal(1, 1)",
        "const prop = { type: Function }; const o = { props: { f: [Function, String], d: Date } }",
        "class A { m() { return new this.constructor(1) } }",
        "var __x = (this && this.__x) || ((a) => a); const path = __importStar(require('path')); path.join('a')",
        "x.constructor.name; x.constructor === Object",
        "describe('a', () => { it('b', () => { expect(1).toBe(1) }) })",
    ];
    check(&texts.map(|text| (text, [].as_slice())));
    assert_eq!(facts("a.d.ts", "declare const x: number; export { x }; fetch").effects, []);
}

#[test]
fn paths_handed_to_unknown_code() {
    check(&[
        (
            "import { join } from 'path'; import { load } from 'x'; load(join(__dirname, 'a.graphql'))",
            &["file ./a.graphql", "pin project-root"],
        ),
        (
            "import { join } from 'path'; import { load } from 'x'; load({ dir: join(__dirname, 'schema') })",
            &["below ./schema", "pin project-root"],
        ),
        ("const u = new URL('./a.png', import.meta.url)", &["file ./a.png"]),
        ("import { join } from 'path'; export const root = join(__dirname, '..')", &["pin project-root"]),
    ]);
    let config = "import { resolve } from 'path'; export default { a: f(resolve(__dirname, 'src')) }";
    let found: Vec<String> = facts("vitest.config.ts", config).effects.iter().map(one).collect();
    assert_eq!(found, ["opaque unlisted"]);
}

#[test]
fn when_they_happen() {
    let when = |text: &str| module(text).effects.first().map(|e| e.when.clone());
    assert_eq!(when("function f() { return Date.now() }"), Some(When::Call("f".to_owned())));
    assert_eq!(when("const f = () => Date.now()"), Some(When::Call("f".to_owned())));
    assert_eq!(when("class A { m() { return Date.now() } }"), Some(When::Call("A".to_owned())));
    assert_eq!(when("const t = Date.now()"), Some(When::Import));
    assert!(when("f(() => Date.now())").is_some());
    assert_eq!(when("if (Date.now() > 1) {}"), Some(When::Import));
}
