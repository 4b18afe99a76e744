//! Random edits of a small project in TypeScript and Python: whatever people do to sources,
//! manifests, configuration and installed packages, and what they do by mistake.

use std::collections::BTreeMap;

use owed_engine::tree::MemoryTree;

/// xorshift64*: the same edits for the same seed, everywhere.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(drawn).unwrap() % end.max(1)
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A project at one moment.
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) links: BTreeMap<String, String>,
}

const TS: [&str; 14] = [
    "import { m1 } from './m1'",
    "import { m2 } from './m2.js'",
    "import { dep } from 'dep'",
    "import { other } from '@app/m3'",
    "import * as barrel from './lib'",
    "import type { T } from './types'",
    "export * from './m4'",
    "import { p } from 'p1'",
    "const lazy = () => import('./m5')",
    "const old = require('./m6')",
    "import './side.css'",
    "const all = import.meta.glob('./lib/*.ts')",
    "import { gone } from './gone'",
    "const at = (name: string) => import(`./lib/${name}`)",
];

const TS_BODY: [&str; 12] = [
    "export const value = 1",
    "// a comment",
    "",
    "export const now = () => Date.now()",
    "import { readFileSync } from 'node:fs'\nexport const text = readFileSync(new URL('./data.json', import.meta.url))",
    "export const mode = process.env.MODE",
    "import { readdirSync } from 'node:fs'\nexport const list = () => readdirSync('fixtures')",
    "export function f() { return eval('1') }",
    "export class C { run() { return fetch('https://example.invalid') } }",
    "const broken = (",
    "import { test } from 'vitest'\ntest('more', () => {})",
    "/* @vitest-environment jsdom */",
];

const PY: [&str; 16] = [
    "from pkg.a import a",
    "import pkg.b",
    "from pkg import *",
    "from . import c",
    "from .sub import deep",
    "from pkg.a import sp",
    "from pkg.b import subprocess",
    "from pkg.c import *",
    "import pkg.c as taken\nrun = taken.sp.run",
    "import pkg.sub.deep as deep",
    "import yaml",
    "import gone_module",
    "try:\n    import pkg.optional\nexcept ImportError:\n    pass",
    "import importlib\nlater = importlib.import_module('pkg.d')",
    "pytest_plugins = ['pkg.plugin']",
    "from pkg.e import e",
];

const PY_BODY: [&str; 13] = [
    "value = 1",
    "# a comment",
    "",
    "import time\ndef now():\n    return time.time()",
    "import os\nmode = os.environ.get('MODE')",
    "from pathlib import Path\ntext = (Path(__file__).parent / 'data.txt').read_text()",
    "import sys\nsys.path.insert(0, 'extra')",
    "import subprocess as sp",
    "import subprocess",
    "def broken(:",
    "def test_more():\n    assert True",
    "def pytest_collection_modifyitems(items):\n    pass",
    "import pytest\n@pytest.fixture\ndef thing():\n    return 1",
];

const SOURCES: [&str; 26] = [
    "src/m0.ts",
    "src/m1.ts",
    "src/m2.ts",
    "src/m3.ts",
    "src/m4.ts",
    "src/m5.ts",
    "src/m6.js",
    "src/types.ts",
    "src/lib/index.ts",
    "src/lib/x.ts",
    "src/lib/y.ts",
    "src/m0.test.ts",
    "src/m3.test.ts",
    "src/lib/x.test.ts",
    "packages/p1/src/index.ts",
    "packages/p1/src/inner.ts",
    "packages/p1/test/p.test.ts",
    "setup.ts",
    "pkg/a.py",
    "pkg/b.py",
    "pkg/c.py",
    "pkg/sub/deep.py",
    "tests/test_a.py",
    "tests/test_b.py",
    "tests/unit/test_c.py",
    "conftest.py",
];

const OTHERS: [&str; 30] = [
    "src/m1.js",
    "src/m1.tsx",
    "src/m1/index.ts",
    "src/gone.ts",
    "src/lib.ts",
    "src/lib/new.ts",
    "src/side.css",
    "src/data.json",
    "src/new.test.ts",
    "src/m2.d.ts",
    "src/package.json",
    "src/tsconfig.json",
    "m3.ts",
    "packages/p1/src/index.test.ts",
    "packages/p1/index.ts",
    "fixtures/one.txt",
    "fixtures/two.txt",
    "pkg/__init__.py",
    "pkg/sub/__init__.py",
    "pkg/a/__init__.py",
    "pkg/d.py",
    "pkg/e.py",
    "pkg/optional.py",
    "pkg/plugin.py",
    "pkg/data.txt",
    "tests/conftest.py",
    "tests/__init__.py",
    "tests/unit/conftest.py",
    "extra/helper.py",
    "gone_module.py",
];

const INSTALLED: [(&str, &str); 5] = [
    ("node_modules/dep/package.json", r#"{"name": "dep", "main": "main.js"}"#),
    ("node_modules/dep/main.js", "exports.dep = 1"),
    ("node_modules/dep/index.js", "exports.dep = 2"),
    ("node_modules/vitest/package.json", r#"{"name": "vitest", "version": "3.0.0"}"#),
    ("venv/lib/python3.12/site-packages/yaml/__init__.py", "value = 1"),
];

const MANIFESTS: [(&str, &[&str]); 8] = [
    (
        "package.json",
        &[
            r#"{"name": "root", "type": "module", "workspaces": ["packages/*"], "devDependencies": {"vitest": "3", "dep": "1"}}"#,
            r#"{"name": "root", "workspaces": ["packages/*"], "devDependencies": {"vitest": "3"}}"#,
            r##"{"name": "root", "imports": {"#m": "./src/m1.ts"}, "devDependencies": {"vitest": "3", "dep": "2"}}"##,
            r#"{"name": "root", "devDependencies": {"jest": "29"}}"#,
            r#"{"name": "root", "scripts": {"test": "mocha 'src/**/*.test.ts'"}, "devDependencies": {"mocha": "10"}}"#,
            "{ broken",
        ],
    ),
    (
        "tsconfig.json",
        &[
            r#"{"compilerOptions": {"paths": {"@app/*": ["./src/*"]}}}"#,
            r#"{"compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["./*", "./src/lib/*"]}}}"#,
            r#"{"extends": "./tsconfig.base.json"}"#,
            "{",
        ],
    ),
    ("tsconfig.base.json", &[r#"{"compilerOptions": {"paths": {"@app/*": ["./src/lib/*"]}}}"#, "{}"]),
    (
        "vitest.config.ts",
        &[
            "export default {}",
            "export default { test: { include: ['src/**/*.test.ts'], setupFiles: ['./setup.ts'] } }",
            "export default { resolve: { alias: { '@app': '/src/lib' } }, test: { projects: ['packages/*', '.'] } }",
            "export default { test: { include: [compute()] } }",
            "export default { test: { include: [compute()] } } // why\n\n",
            "/* jest, mocha */ export default { test: { include: [compute()] } }",
            "/* node:testing*/ export default { test: { include: [compute()] } }",
            "// one line more\nexport default { test: { include: [compute()] } }",
            "export default { test: { include: ['src/**/*.test.ts', '// */'] /* , */ } }",
            "import { shared } from './src/m1'\nexport default shared",
        ],
    ),
    (
        "packages/p1/package.json",
        &[
            r#"{"name": "p1", "main": "dist/index.js", "types": "src/index.ts"}"#,
            r#"{"name": "p1", "exports": {".": "./src/inner.ts"}}"#,
            r#"{"name": "p1", "exports": {".": {"import": "./dist/index.js"}}}"#,
        ],
    ),
    (
        "pyproject.toml",
        &[
            "[project]\nname = \"pkg\"\ndependencies = [\"pyyaml\"]\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n",
            "[project]\nname = \"pkg\"\n[tool.pytest.ini_options]\npythonpath = [\".\", \"extra\"]\n",
            "[tool.pytest.ini_options]\naddopts = \"--doctest-modules\"\n",
            "[broken",
        ],
    ),
    ("pytest.ini", &["[pytest]\npython_files = check_*.py test_*.py\n", "[pytest]\n"]),
    ("setup.cfg", &["[tool:pytest]\nnorecursedirs = unit\n", "[metadata]\nname = pkg\n"]),
];

impl State {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut state = Self::default();
        for (path, texts) in &MANIFESTS[..6] {
            state.put(path, texts[0]);
        }
        for path in SOURCES.iter().chain(["pkg/__init__.py", "src/data.json", "fixtures/one.txt"].iter()) {
            let text = source(path, random);
            state.put(path, &text);
        }
        for (path, text) in INSTALLED.iter().take(2) {
            state.put(path, text);
        }
        state.links.insert("node_modules/p1".to_owned(), "packages/p1".to_owned());
        state
    }

    pub(super) fn tree(&self) -> MemoryTree {
        let tree = MemoryTree::new(self.files.clone());
        self.links.iter().fold(tree, |tree, (from, to)| tree.with_link(from, to))
    }

    fn put(&mut self, path: &str, text: &str) {
        // A file where a folder is, or below a file, is no state of a disk.
        let inside = format!("{path}/");
        let blocked = self.files.keys().any(|file| {
            file.starts_with(&inside)
                || path.strip_prefix(file.as_str()).is_some_and(|rest| rest.starts_with('/'))
        });
        if !blocked {
            self.files.insert(path.to_owned(), text.as_bytes().to_vec());
        }
    }

    /// Edits something, and says what.
    pub(super) fn edit(&mut self, random: &mut Random) -> String {
        match random.below(40) {
            // Mostly sources that are there: what people do.
            0..=19 => self.edit_source(random),
            20..=23 => {
                let path = *random.one(&SOURCES);
                let text = source(path, random);
                self.put(path, &text);
                format!("{path} written anew")
            }
            24..=27 => {
                let path = *random.one(&OTHERS);
                if self.files.remove(path).is_some() {
                    return format!("{path} removed");
                }
                let text = source(path, random);
                self.put(path, &text);
                format!("{path} added")
            }
            28 => {
                let paths: Vec<String> = self.files.keys().cloned().collect();
                let path = random.one(&paths);
                self.files.remove(path);
                format!("{path} removed")
            }
            29..=30 => {
                let from = *random.one(&SOURCES);
                let to = *random.one(&OTHERS);
                if let Some(bytes) = self.files.remove(from) {
                    self.put(to, &String::from_utf8_lossy(&bytes));
                }
                format!("{from} renamed to {to}")
            }
            31..=34 => {
                let (path, texts) = random.one(&MANIFESTS);
                let text = *random.one(texts);
                self.put(path, text);
                format!("{path} is {text}")
            }
            35..=36 => {
                let (path, text) = *random.one(&INSTALLED);
                if self.files.remove(path).is_none() {
                    self.put(path, text);
                }
                format!("{path} installed or removed")
            }
            37 => {
                let link = *random.one(&["node_modules/p1", "src/linked", "tests/linked"]);
                if self.links.remove(link).is_none() {
                    self.links.insert(
                        link.to_owned(),
                        (*random.one(&["packages/p1", "pkg", "src/lib"])).to_owned(),
                    );
                }
                format!("{link} linked or not")
            }
            _ => self.edit_source(random),
        }
    }

    fn edit_source(&mut self, random: &mut Random) -> String {
        let sources: Vec<String> = self
            .files
            .keys()
            .filter(|path| is_source(path) && !path.starts_with("node_modules"))
            .cloned()
            .collect();
        if sources.is_empty() {
            return "nothing is left".to_owned();
        }
        let path = random.one(&sources).clone();
        let text = String::from_utf8_lossy(&self.files[&path]).into_owned();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = random.below(lines.len() + 1);
        match random.below(6) {
            0 | 1 if at < lines.len() => drop(lines.remove(at)),
            2 => lines.insert(at, String::new()),
            3 | 4 => lines.insert(0, line(&path, true, random)),
            _ => lines.push(line(&path, false, random)),
        }
        let mut text = lines.join("\n");
        text.push('\n');
        self.put(&path, &text);
        format!("{path} edited")
    }
}

fn is_source(path: &str) -> bool {
    [".ts", ".tsx", ".js", ".py"].iter().any(|extension| path.ends_with(extension))
}

fn line(path: &str, import: bool, random: &mut Random) -> String {
    let pool: &[&str] = match (path.ends_with(".py"), import) {
        (true, true) => &PY,
        (true, false) => &PY_BODY,
        (false, true) => &TS,
        (false, false) => &TS_BODY,
    };
    (*random.one(pool)).to_owned()
}

/// A first content for `path`.
fn source(path: &str, random: &mut Random) -> String {
    if path.ends_with(".json") {
        return (*random.one(&["{}", r#"{"type": "commonjs"}"#, r#"{"compilerOptions": {"paths": {}}}"#]))
            .to_owned();
    }
    if !is_source(path) {
        return "data".to_owned();
    }
    let mut lines = Vec::new();
    for _ in 0..=random.below(3) {
        lines.push(line(path, true, random));
    }
    for _ in 0..=random.below(2) {
        lines.push(line(path, false, random));
    }
    if path.contains(".test.") {
        lines.insert(0, "import { it, expect } from 'vitest'".to_owned());
        lines.push("it('works', () => expect(1).toBe(1))".to_owned());
    }
    if path.starts_with("tests/") && path.contains("test_") {
        lines.push("def test_it(thing=None):\n    assert True".to_owned());
    }
    lines.join("\n") + "\n"
}
