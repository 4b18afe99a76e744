//! Projects of jest, what they list and what they share.

use owed_engine::runner::{ConfigLoader, NoLoader};
use owed_engine::tree::MemoryTree;

use super::*;

/// Files, and what is shown.
type Case<'a> = (Vec<(&'a str, &'a str)>, Vec<&'a str>);

fn discover_with(files: &[(&str, &str)], loader: &dyn ConfigLoader) -> Discovery {
    let tree = MemoryTree::new(files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())));
    Jest.discover(&View { tree: &tree, facts: &|_| None, loader, only: None })
}

fn discover(files: &[(&str, &str)]) -> Discovery {
    discover_with(files, &NoLoader)
}

/// `root[name]: tests`, and `?` for each thing that is not settled.
fn show(discovery: &Discovery) -> Vec<String> {
    discovery
        .projects
        .iter()
        .map(|p| {
            let tests: Vec<&str> = p.tests.iter().map(|t| t.path.as_str()).collect();
            let name = p.name.as_ref().map_or(String::new(), |n| format!("[{n}]"));
            format!("{}{name}: {}{}", p.root, tests.join(" "), " ?".repeat(p.unsettled.len()))
        })
        .collect()
}

fn aliases(project: &RunnerProject) -> Vec<String> {
    project.resolve.aliases.iter().map(|a| format!("{:?} {}", a.find, a.replacement)).collect()
}

fn shares(project: &RunnerProject, path: &str) -> bool {
    project.shared.iter().any(|s| match &s.target {
        Target::File(file) | Target::Manifest(file) | Target::Package(file) => file == path,
        _ => false,
    })
}

#[test]
fn tests_are_listed() {
    let dep = ("package.json", "{\"devDependencies\": {\"jest\": \"^29.0.0\"}}");
    let config = |text: &'static str| ("jest.config.js", text);
    let cases: Vec<Case<'_>> = vec![
        (
            vec![
                dep,
                ("a.test.ts", ""),
                ("__tests__/b.js", ""),
                ("c.js", ""),
                ("d.test.mts", ""),
                ("e.spec.mjs", ""),
            ],
            vec![": __tests__/b.js a.test.ts"],
        ),
        (
            vec![
                config("module.exports = { testMatch: ['<rootDir>/t/**/*.js', '!**/no/**'] }"),
                ("t/a.js", ""),
                ("t/no/b.js", ""),
                ("x/t/a.js", ""),
            ],
            vec![": t/a.js"],
        ),
        (
            vec![
                config(
                    "module.exports = { testRegex: '(/__tests__/.*|\\\\.it)\\\\.ts$', moduleFileExtensions: ['ts', 'js'] }",
                ),
                ("a.it.ts", ""),
                ("__tests__/b.ts", ""),
                ("c.test.ts", ""),
            ],
            vec![": __tests__/b.ts a.it.ts"],
        ),
        (
            vec![
                config(
                    "module.exports = { testPathIgnorePatterns: ['<rootDir>/build/', 'e2e'], roots: ['<rootDir>'] }",
                ),
                ("build/a.test.js", ""),
                ("x/build/a.test.js", ""),
                ("e2e/a.test.js", ""),
                ("b.test.js", ""),
            ],
            vec![": b.test.js x/build/a.test.js"],
        ),
        (
            vec![
                config("module.exports = { roots: ['<rootDir>/src'], modulePathIgnorePatterns: ['/old/'] }"),
                ("src/a.test.js", ""),
                ("b.test.js", ""),
                ("src/old/c.test.js", ""),
            ],
            vec![": src/a.test.js"],
        ),
        (
            vec![config("module.exports = { testMatch: globs() }"), ("src/a.test.js", "")],
            vec![": src/a.test.js ? ?"],
        ),
        (
            vec![
                ("a/package.json", "{\"jest\": {\"rootDir\": \"src\"}, \"scripts\": {\"test\": \"jest\"}}"),
                ("a/src/x.test.js", ""),
                ("a/y.test.js", ""),
            ],
            vec!["a: a/src/x.test.js"],
        ),
        (
            vec![
                config(
                    "const { resolve } = require('path'); module.exports = { testMatch: [resolve(__dirname, 't') + '/*.js'] }",
                ),
                ("t/a.js", ""),
            ],
            vec![": t/a.js"],
        ),
        (
            vec![
                ("package.json", "{\"scripts\": {\"test\": \"react-scripts test\"}}"),
                ("src/App.test.tsx", ""),
                ("src/setupTests.ts", ""),
                ("other/x.test.js", ""),
            ],
            vec![": src/App.test.tsx"],
        ),
        (
            vec![
                config(
                    "const nextJest = require('next/jest'); const create = nextJest({ dir: './' }); module.exports = create({ testEnvironment: 'jsdom' })",
                ),
                ("a.test.tsx", ""),
                (".next/b.test.js", ""),
            ],
            vec![": a.test.tsx"],
        ),
        (
            vec![
                config(
                    "const create = require('next/jest')({ dir: './' }); module.exports = async () => ({ ...(await create({ testEnvironment: 'jsdom' })()), roots: ['<rootDir>/src'] })",
                ),
                ("src/a.test.tsx", ""),
                ("b.test.js", ""),
            ],
            vec![": src/a.test.tsx"],
        ),
        (
            vec![
                config("module.exports = { preset: '@vue/cli-plugin-unit-jest' }"),
                ("tests/unit/a.spec.ts", ""),
                ("b.spec.ts", ""),
            ],
            vec![": tests/unit/a.spec.ts"],
        ),
        (
            vec![config("module.exports = { preset: 'react-native' }"), ("a.test.ts", "")],
            vec![": a.test.ts ?"],
        ),
        (
            vec![
                config("module.exports = { preset: './tools' }"),
                ("tools/jest-preset.js", "module.exports = { testMatch: ['**/*.t.js'] }"),
                ("a.t.js", ""),
            ],
            vec![": a.t.js"],
        ),
        (vec![config("module.exports = { automock: true }"), ("a.test.js", "")], vec![": a.test.js ?"]),
        (
            vec![config("module.exports = { resolver: './r.js' }"), ("a.test.js", ""), ("r.js", "")],
            vec![": a.test.js ?"],
        ),
    ];
    for (files, expected) in cases {
        assert_eq!(show(&discover(&files)), expected, "{files:?}");
    }
}

#[test]
fn projects_are_listed() {
    let cases: Vec<Case<'_>> = vec![
        (
            vec![
                ("jest.config.js", "module.exports = { projects: ['<rootDir>/packages/*'] }"),
                ("packages/a/jest.config.js", "module.exports = { displayName: 'a' }"),
                ("packages/a/x.test.js", ""),
                ("packages/b/package.json", "{\"name\": \"b\"}"),
                ("packages/b/y.test.js", ""),
            ],
            vec!["packages/a[a]: packages/a/x.test.js", "packages/b: packages/b/y.test.js"],
        ),
        (
            vec![
                (
                    "package.json",
                    "{\"jest\": {\"projects\": [{\"displayName\": \"u\", \"testMatch\": [\"**/*.u.js\"]}, {\"displayName\": {\"name\": \"i\", \"color\": \"red\"}, \"testMatch\": [\"**/*.i.js\"]}]}}",
                ),
                ("a.u.js", ""),
                ("a.i.js", ""),
            ],
            vec!["[i]: a.i.js", "[u]: a.u.js"],
        ),
        (
            vec![
                (
                    "jest.config.ts",
                    "import { getJestProjectsAsync } from '@nx/jest'; export default async () => ({ projects: await getJestProjectsAsync() })",
                ),
                (
                    "jest.preset.js",
                    "const nx = require('@nx/jest/preset').default; module.exports = { ...nx }",
                ),
                (
                    "libs/a/jest.config.ts",
                    "export default { displayName: 'a', preset: '../../jest.preset.js', testEnvironment: 'node' }",
                ),
                ("libs/a/src/x.spec.ts", ""),
            ],
            vec!["libs/a[a]: libs/a/src/x.spec.ts"],
        ),
        (
            vec![
                (
                    "package.json",
                    "{\"scripts\": {\"e2e\": \"jest --config ./test/jest-e2e.json\"}, \"jest\": {\"rootDir\": \"src\"}}",
                ),
                ("test/jest-e2e.json", "{\"rootDir\": \".\", \"testRegex\": \".e2e-spec.ts$\"}"),
                ("src/a.spec.ts", ""),
                ("test/b.e2e-spec.ts", ""),
            ],
            vec![": src/a.spec.ts", ": test/b.e2e-spec.ts"],
        ),
    ];
    for (files, expected) in cases {
        assert_eq!(show(&discover(&files)), expected, "{files:?}");
    }
}

#[test]
fn shared_inputs_and_resolution() {
    let discovery = discover(&[
        ("p/package.json", "{\"dependencies\": {\"lodash\": \"4\"}}"),
        (
            "p/jest.config.ts",
            "import { pathsToModuleNameMapper } from 'ts-jest'; import { compilerOptions } from './tsconfig.json';\
             export default { preset: 'ts-jest', setupFilesAfterEnv: ['<rootDir>/setup.ts'], globalSetup: './g',\
               testEnvironment: '<rootDir>/env.js', transform: { x: ['./t.js', {}] }, moduleDirectories: ['node_modules', 'lib', '<rootDir>/deps'],\
               moduleNameMapper: { '\\\\.css$': 'identity-obj-proxy', '^~/(.*)$': '<rootDir>/src/$1', ...pathsToModuleNameMapper(compilerOptions.paths, { prefix: '<rootDir>' }) } }",
        ),
        ("p/tsconfig.json", "{\"compilerOptions\": {\"paths\": {\"@app/*\": [\"./app/*\"]}}}"),
        ("p/g.ts", ""),
        ("p/__mocks__/fs-extra.js", ""),
        ("p/src/__mocks__/lodash.js", ""),
        ("p/src/__mocks__/own.js", ""),
        ("p/a.test.ts", "/** @jest-environment ./other.js */"),
    ]);
    let project = &discovery.projects[0];
    assert_eq!(project.unsettled, []);
    assert_eq!(
        aliases(project),
        [
            "Regex(\"\\\\.css$\") identity-obj-proxy",
            "Regex(\"^~/(.*)$\") /p/src/$1",
            "Regex(\"^@app/(.*)$\") /p/app/$1",
        ]
    );
    assert_eq!(project.resolve.module_directories, ["node_modules", "lib"]);
    assert_eq!(project.resolve.module_paths, ["p/deps"]);
    assert_eq!(project.resolve.conditions, ["node", "node-addons"]);
    for path in [
        "p/setup.ts",
        "p/g.ts",
        "p/env.js",
        "p/t.js",
        "p/jest.config.ts",
        "p/package.json",
        "p/tsconfig.json",
        "p/__mocks__/fs-extra.js",
        "p/src/__mocks__/lodash.js",
        "npm:jest",
        "npm:ts-jest",
    ] {
        assert!(shares(project, path), "{path}: {:#?}", project.shared);
    }
    assert!(!shares(project, "p/src/__mocks__/own.js"));
    assert_eq!(project.listings[0].glob, "**/__mocks__/**");
    let test: Vec<String> = project.tests[0].shared.iter().map(|s| format!("{:?}", s.target)).collect();
    assert_eq!(test, ["File(\"p/__snapshots__/a.test.ts.snap\")", "File(\"p/other.js\")"]);
}

#[test]
fn commands() {
    let discovery = discover(&[
        ("jest.config.js", "module.exports = { projects: ['a'] }"),
        ("a/jest.config.js", "module.exports = { displayName: 'A' }"),
        ("a/x.test.js", ""),
        ("b/package.json", "{\"scripts\": {\"t\": \"jest -c conf/jest.unit.config.js\"}}"),
        ("b/conf/jest.unit.config.js", "module.exports = { rootDir: '..' }"),
        ("b/y.test.js", ""),
        ("c/package.json", "{\"scripts\": {\"t\": \"react-scripts test\"}}"),
        ("c/src/z.test.js", ""),
        (
            "d/package.json",
            "{\"scripts\": {\"t\": \"node --experimental-vm-modules node_modules/jest/bin/jest.js\"}}",
        ),
        ("d/w.test.js", ""),
    ]);
    let commands: Vec<String> = discovery
        .projects
        .iter()
        .map(|p| {
            let tests: Vec<&str> = p.tests.iter().map(|t| t.path.as_str()).collect();
            let one = &Jest.command(p, &tests)[0];
            format!("{}: {}", one.cwd, one.argv.join(" "))
        })
        .collect();
    assert_eq!(
        commands,
        [
            ": npx jest --selectProjects A --runTestsByPath a/x.test.js",
            "b: npx jest --config conf/jest.unit.config.js --runTestsByPath y.test.js",
            "c: npx react-scripts test --watchAll=false --runTestsByPath src/z.test.js",
            "d: env NODE_OPTIONS=--experimental-vm-modules npx jest --runTestsByPath w.test.js",
        ]
    );
}

struct Canned(&'static str);

impl ConfigLoader for Canned {
    fn load(&self, _: &str, _: &str, _: &str, _: &[&str]) -> Result<String, String> {
        Ok(self.0.to_owned())
    }
}

#[test]
fn what_is_not_constant_is_asked_for() {
    let files = [
        ("node_modules/jest/package.json", "{\"version\": \"29.0.0\"}"),
        ("jest.config.js", "module.exports = require('somewhere')()"),
        ("t/a.js", ""),
    ];
    let loader = Canned(
        "{\"owed\":\"jest\",\"projects\":[{\"rootDir\":\"/project\",\"roots\":[\"/project\"],\"testMatch\":[\"/project/t/*.js\"],\
         \"testRegex\":[],\"moduleNameMapper\":{\"^x$\":\"/project/x.js\"},\"automock\":false}]}",
    );
    let discovery = discover_with(&files, &loader);
    assert_eq!(show(&discovery), [": t/a.js"]);
    assert_eq!(aliases(&discovery.projects[0]), ["Regex(\"^x$\") /x.js"]);
    let discovery = discover(&files);
    assert_eq!(discovery.projects[0].unsettled[0].reason, "config-not-loaded");
}

#[test]
fn the_global_setup_of_the_root_is_shared_by_its_projects() {
    let discovery = discover(&[
        ("jest.config.js", "module.exports = { globalSetup: '<rootDir>/g.js', projects: ['a'] }"),
        ("a/jest.config.js", "module.exports = {}"),
        ("a/x.test.js", ""),
        ("g.js", ""),
    ]);
    assert!(shares(&discovery.projects[0], "g.js"));
}
