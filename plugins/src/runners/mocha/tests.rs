//! Scripts and configurations of mocha.

use owed_engine::resolve::Target;
use owed_engine::runner::NoLoader;
use owed_engine::tree::MemoryTree;

use super::*;

/// Files, and what is shown.
type Case<'a> = (Vec<(&'a str, String)>, Vec<&'a str>);

fn discover(files: &[(&str, &str)]) -> Discovery {
    let tree = MemoryTree::new(files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())));
    Mocha.discover(&View { tree: &tree, facts: &|_| None, loader: &NoLoader, only: None })
}

fn show(discovery: &Discovery) -> Vec<String> {
    discovery
        .projects
        .iter()
        .map(|p| {
            let tests: Vec<&str> = p.tests.iter().map(|t| t.path.as_str()).collect();
            let command = &Mocha.command(p, &["X"])[0];
            let unsettled = " ?".repeat(p.unsettled.len());
            format!("{}: {}{unsettled} | {}", p.root, tests.join(" "), command.argv.join(" "))
        })
        .collect()
}

#[test]
fn tests_are_listed() {
    let script = |s: &str| format!("{{\"scripts\": {{\"test\": \"{s}\"}}}}");
    let cases: Vec<Case<'_>> = vec![
        (
            vec![
                ("package.json", script("mocha")),
                ("test/a.js", String::new()),
                ("test/sub/b.js", String::new()),
                ("test/c.ts", String::new()),
            ],
            vec![": test/a.js | npx mocha X"],
        ),
        (
            vec![
                ("package.json", script("mocha --recursive")),
                ("test/a.js", String::new()),
                ("test/sub/b.mjs", String::new()),
            ],
            vec![": test/a.js test/sub/b.mjs | npx mocha X"],
        ),
        (
            vec![
                (
                    "package.json",
                    script("nyc mocha -r ts-node/register 'test/**/*.spec.ts' --require ./setup.js --exit"),
                ),
                ("test/x/a.spec.ts", String::new()),
                ("test/b.ts", String::new()),
            ],
            vec![": test/x/a.spec.ts | npx mocha --require ts-node/register --require ./setup.js --exit X"],
        ),
        (
            vec![
                ("package.json", script("mocha")),
                (
                    ".mocharc.yml",
                    "spec:\n  - 'spec/**/*.js'\nignore: ['spec/skip/**']\nrequire: ./h.js\n".to_owned(),
                ),
                ("spec/a.js", String::new()),
                ("spec/skip/b.js", String::new()),
            ],
            vec![": spec/a.js | npx mocha X"],
        ),
        (
            vec![
                (
                    ".mocharc.json",
                    "{\"extension\": [\"ts\"], \"spec\": \"t\", \"recursive\": true}".to_owned(),
                ),
                ("t/a/b.ts", String::new()),
                ("t/c.js", String::new()),
            ],
            vec![": t/a/b.ts | npx mocha X"],
        ),
        (
            vec![
                (
                    "package.json",
                    "{\"mocha\": {\"spec\": [\"a/*.js\"]}, \"scripts\": {\"t\": \"mocha b/x.js\"}}"
                        .to_owned(),
                ),
                ("a/x.js", String::new()),
                ("b/x.js", String::new()),
            ],
            vec![": a/x.js b/x.js | npx mocha X"],
        ),
        (
            vec![
                ("package.json", script("mocha")),
                (".mocharc.js", "module.exports = { spec: find() }".to_owned()),
                ("test/a.js", String::new()),
            ],
            vec![": test/a.js ? ? | npx mocha X"],
        ),
        (
            vec![
                ("package.json", script("mocha")),
                ("test/mocha.opts", "--recursive\n--require should\n".to_owned()),
                ("test/s/a.js", String::new()),
            ],
            vec![": test/s/a.js | npx mocha X"],
        ),
        (
            vec![
                ("package.json", "{\"devDependencies\": {\"mocha\": \"10\"}}".to_owned()),
                ("test/a.js", String::new()),
            ],
            vec![": test/a.js | npx mocha X"],
        ),
        (
            vec![
                ("package.json", script("mocha")),
                (
                    ".mocharc.json",
                    "{\"spec\": [\"./build/test/**/*.test.js\"], \"file\": \"build/test/setup.js\"}"
                        .to_owned(),
                ),
                (
                    "tsconfig.json",
                    "{\"compilerOptions\": {\"outDir\": \"build\"}, \"include\": [\"src\", \"test\"]}"
                        .to_owned(),
                ),
                ("test/a.test.ts", String::new()),
                ("test/setup.ts", String::new()),
            ],
            vec![": test/a.test.ts | npx mocha X"],
        ),
        (
            vec![("package.json", script("mocha lib/test/*.js")), ("test/a.test.ts", String::new())],
            vec![":  ? ? | npx mocha X"],
        ),
        (
            vec![
                (
                    "package.json",
                    "{\"scripts\": {\"a\": \"mocha -r x t/a.js -R dot\", \"b\": \"mocha t/b.js -r x\"}}"
                        .to_owned(),
                ),
                ("t/a.js", String::new()),
                ("t/b.js", String::new()),
            ],
            vec![": t/a.js t/b.js | npx mocha --require x X"],
        ),
    ];
    for (files, expected) in cases {
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (*p, t.as_str())).collect();
        assert_eq!(show(&discover(&files)), expected, "{files:?}");
    }
}

#[test]
fn compiled_tests_are_run_by_the_name_of_the_output() {
    let project = RunnerProject {
        name: Some("--exit --sources=. --output=build".to_owned()),
        ..RunnerProject::default()
    };
    let command = Mocha.command(&project, &["test/a.test.ts"]);
    assert_eq!(command[0].argv, ["npx", "mocha", "--exit", "build/test/a.test.js"]);
}

#[test]
fn shared_inputs() {
    let discovery = discover(&[
        ("package.json", "{\"scripts\": {\"test\": \"mocha --file first.js\"}}"),
        (".mocharc.cjs", "module.exports = { require: ['ts-node/register', './hooks.ts'] }"),
        ("hooks.ts", ""),
        ("test/a.js", ""),
    ]);
    let shared: Vec<String> = discovery.projects[0]
        .shared
        .iter()
        .map(|s| match &s.target {
            Target::File(f) | Target::Manifest(f) | Target::Package(f) => f.clone(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(shared, [".mocharc.cjs", "first.js", "hooks.ts", "package.json", "npm:mocha", "npm:ts-node"]);
}
