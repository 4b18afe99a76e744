//! Scripts that start node's own runner.

use std::collections::BTreeMap;

use owed_engine::facts::{FileFacts, Import, ImportKind, LoadMode, Names, Presence, Span, Test, TestKind};
use owed_engine::resolve::Target;
use owed_engine::runner::NoLoader;
use owed_engine::tree::MemoryTree;

use super::*;

/// The manifest, other files, and what is shown.
type Case<'a> = (String, Vec<(&'a str, &'a str)>, Vec<&'a str>);

/// Facts of a test file that imports `module`.
fn facts(module: &str) -> FileFacts {
    FileFacts {
        imports: vec![Import {
            specifier: module.to_owned(),
            kind: ImportKind::Static,
            mode: LoadMode::Esm,
            presence: Presence::Required,
            names: Names::Effects,
            line: 3,
            span: Span::default(),
        }],
        tests: vec![Test {
            name: vec!["x".to_owned()],
            kind: TestKind::Case,
            skipped: false,
            only: false,
            line: 4,
            span: Span::default(),
        }],
        ..FileFacts::default()
    }
}

/// Files whose text is the module that they import; empty for none.
fn discover(files: &[(&str, &str)]) -> Discovery {
    let tree = MemoryTree::new(files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())));
    let facts: BTreeMap<&str, FileFacts> = files
        .iter()
        .filter(|(p, t)| !p.ends_with(".json") && !t.is_empty())
        .map(|(p, t)| (*p, facts(t)))
        .collect();
    NodeTest.discover(&View { tree: &tree, facts: &|p| facts.get(p), loader: &NoLoader, only: None })
}

fn show(discovery: &Discovery) -> Vec<String> {
    discovery
        .projects
        .iter()
        .map(|p| {
            let tests: Vec<&str> = p.tests.iter().map(|t| t.path.as_str()).collect();
            let command = &NodeTest.command(p, &["X"])[0];
            let unsettled = " ?".repeat(p.unsettled.len());
            format!("{}: {}{unsettled} | {}", p.root, tests.join(" "), command.argv.join(" "))
        })
        .collect()
}

#[test]
fn tests_are_listed() {
    let script = |s: &str| {
        format!(
            "{{\"scripts\": {{\"test\": \"{s}\"}}, \"devDependencies\": {{\"vitest\": \"3\", \"tsx\": \"4\"}}}}"
        )
    };
    let cases: Vec<Case<'_>> = vec![
        (
            script("node --test"),
            vec![
                ("a.test.js", ""),
                ("b-test.mjs", ""),
                ("test/x/y.cjs", ""),
                ("test-z.ts", ""),
                ("contest.js", ""),
                ("v.test.ts", "vitest"),
            ],
            vec![": a.test.js b-test.mjs test-z.ts test/x/y.cjs | node --test X"],
        ),
        (
            script("node --import ./setup.mjs --env-file=.env --test 'src/**/*.spec.js'"),
            vec![("src/a/b.spec.js", ""), ("a.test.js", "")],
            vec![": src/a/b.spec.js | node --import=./setup.mjs --env-file=.env --test X"],
        ),
        (script("tsx --test t/*.ts"), vec![("t/a.ts", "")], vec![": t/a.ts | npx tsx --test X"]),
        (
            script("glob -c \\\"tsx --test\\\" \\\"t/**/*.ts\\\""),
            vec![("t/x/a.ts", "")],
            vec![": t/x/a.ts | npx tsx --test X"],
        ),
        (
            script("echo"),
            vec![("a.ts", "node:test"), ("b.ts", "vitest"), ("c.js", "")],
            vec![": a.ts | node --import tsx --test X"],
        ),
        (script("node --test $FILES"), vec![("a.js", "node:test")], vec![": a.js ? ? | node --test X"]),
    ];
    for (manifest, mut files, expected) in cases {
        files.push(("package.json", &manifest));
        assert_eq!(show(&discover(&files)), expected, "{files:?}");
    }
}

#[test]
fn tests_of_other_runners_are_named() {
    let discovery = discover(&[
        ("e2e/a.spec.ts", "@playwright/test"),
        ("b.test.ts", "bun:test"),
        ("c.cy.ts", ""),
        ("d.test.ts", "vitest"),
    ]);
    let problems: Vec<String> =
        discovery.problems.iter().map(|p| format!("{} {} {:?}", p.code, p.path, p.line)).collect();
    assert_eq!(
        problems,
        [
            "runner-not-supported b.test.ts Some(3)",
            "runner-not-supported c.cy.ts None",
            "runner-not-supported e2e/a.spec.ts Some(3)",
        ]
    );
    assert_eq!(discovery.projects, []);
}

#[test]
fn shared_inputs() {
    let discovery = discover(&[
        (
            "package.json",
            "{\"scripts\": {\"test\": \"node --import tsx --require ./s.cjs --test-reporter ./r.mjs --env-file .env --test\"}}",
        ),
        ("s.cjs", ""),
        ("r.mjs", ""),
        ("a.test.js", ""),
    ]);
    let shared: Vec<String> = discovery.projects[0]
        .shared
        .iter()
        .map(|s| match &s.target {
            Target::File(f) | Target::Manifest(f) | Target::Package(f) => f.clone(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(shared, [".env", "r.mjs", "s.cjs", "package.json", "npm:tsx"]);
}
