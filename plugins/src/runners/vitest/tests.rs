//! Projects of vitest, what they list and what they share.

use owed_engine::runner::{ConfigLoader, NoLoader};
use owed_engine::tree::MemoryTree;

use super::*;

/// Files, and what is shown.
type Case<'a> = (Vec<(&'a str, &'a str)>, Vec<&'a str>);

fn tree(files: &[(&str, &str)]) -> MemoryTree {
    MemoryTree::new(files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())))
}

fn discover_with(files: &[(&str, &str)], loader: &dyn ConfigLoader) -> Discovery {
    let tree = tree(files);
    Vitest.discover(&View { tree: &tree, facts: &|_| None, loader, only: None })
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

fn shares(project: &RunnerProject, path: &str) -> bool {
    project.shared.iter().any(|s| match &s.target {
        Target::File(file) | Target::Manifest(file) | Target::Package(file) => file == path,
        _ => false,
    })
}

const DEP: (&str, &str) = ("package.json", "{\"devDependencies\": {\"vitest\": \"^3.0.0\"}}");

#[test]
fn tests_are_listed() {
    let config = |text: &'static str| ("vitest.config.ts", text);
    let cases: Vec<Case<'_>> = vec![
        (
            vec![DEP, ("a.test.ts", ""), ("src/b.spec.jsx", ""), ("c.ts", ""), ("dist/a.test.js", "")],
            vec![": a.test.ts src/b.spec.jsx"],
        ),
        (
            vec![
                config("export default { test: { include: ['t/*.ts'], exclude: ['t/b.ts'] } }"),
                ("t/a.ts", ""),
                ("t/b.ts", ""),
                ("a.test.ts", ""),
            ],
            vec![": t/a.ts"],
        ),
        (
            vec![
                config("export default { test: { include: process.env.CI ? ['a/*.ts'] : ['b/*.ts'] } }"),
                ("a/x.ts", ""),
                ("b/x.ts", ""),
            ],
            vec![": a/x.ts b/x.ts"],
        ),
        (
            vec![config("export default { test: { include: load() } }"), ("a.test.ts", ""), ("b.ts", "")],
            vec![": a.test.ts ? ?"],
        ),
        (
            vec![
                config("export default { root: 'app', test: { dir: 'unit' } }"),
                ("app/unit/a.test.ts", ""),
                ("app/b.test.ts", ""),
                ("c.test.ts", ""),
            ],
            vec![": app/unit/a.test.ts"],
        ),
        (
            vec![
                config("export default { test: { includeSource: ['src/**/*.ts'] } }"),
                ("src/a.ts", "if (import.meta.vitest) {}"),
                ("src/b.ts", ""),
            ],
            vec![": src/a.ts"],
        ),
        (
            vec![
                config("export default { test: { typecheck: { enabled: true } } }"),
                ("tsconfig.json", "{}"),
                ("a.test-d.ts", ""),
                ("b.test.ts", ""),
            ],
            vec![": b.test.ts", ": a.test-d.ts"],
        ),
        (
            // Without a `test` key and without vitest a vite configuration is only vite's.
            vec![("vite.config.ts", "export default {}"), ("a.test.ts", "")],
            vec![],
        ),
        (vec![DEP, ("vite.config.ts", "export default {}"), ("a.test.ts", "")], vec![": a.test.ts"]),
        (
            vec![
                config("import x from './x'; export default x({ test: { include: ['a'] } })"),
                ("x.ts", "export default (c) => ({ ...c, test: { ...c.test, include: ['b.ts'] } })"),
                ("b.ts", ""),
            ],
            vec![": b.ts"],
        ),
    ];
    for (files, expected) in cases {
        assert_eq!(show(&discover(&files)), expected, "{files:?}");
    }
}

#[test]
fn projects_and_workspaces() {
    let cases: Vec<Case<'_>> = vec![
        (
            vec![
                ("vitest.config.ts", "export default { test: { projects: ['packages/*', '!packages/c'] } }"),
                ("packages/a/package.json", "{\"name\": \"@x/a\"}"),
                ("packages/a/a.test.ts", ""),
                (
                    "packages/b/vitest.config.ts",
                    "export default { test: { name: 'bee', include: ['t/*.ts'] } }",
                ),
                ("packages/b/t/x.ts", ""),
                ("packages/b/b.test.ts", ""),
                ("packages/c/c.test.ts", ""),
                ("root.test.ts", ""),
            ],
            vec!["packages/a[@x/a]: packages/a/a.test.ts", "packages/b[bee]: packages/b/t/x.ts"],
        ),
        (
            vec![
                (
                    "vitest.config.ts",
                    "export default { test: { setupFiles: ['./s.ts'], projects: [\
                     { extends: true, test: { name: 'unit', include: ['u/*.ts'] } },\
                     { test: { name: 'int', include: ['i/*.ts'] } }] } }",
                ),
                ("u/a.ts", ""),
                ("i/a.ts", ""),
            ],
            vec!["[int]: i/a.ts", "[unit]: u/a.ts"],
        ),
        (
            vec![
                (
                    "vitest.workspace.ts",
                    "import { defineWorkspace } from 'vitest/config'; export default defineWorkspace(['a', './b/vitest.unit.config.ts'])",
                ),
                ("a/x.test.ts", ""),
                ("b/vitest.unit.config.ts", "export default { test: { name: 'u' } }"),
                ("b/y.test.ts", ""),
            ],
            vec!["a[a]: a/x.test.ts", "b[u]: b/y.test.ts"],
        ),
        (
            // Each package on its own: the root lists what is not theirs.
            vec![
                ("vitest.config.ts", "export default { test: {} }"),
                ("a/vitest.config.ts", "export default { test: {} }"),
                ("a/x.test.ts", ""),
                ("b/y.test.ts", ""),
            ],
            vec![": b/y.test.ts", "a: a/x.test.ts"],
        ),
        (
            // A script that runs vitest at the root runs everything.
            vec![
                ("package.json", "{\"scripts\": {\"test\": \"vitest run\"}}"),
                ("vitest.config.ts", "export default { test: {} }"),
                ("a/vitest.config.ts", "export default { test: {} }"),
                ("a/x.test.ts", ""),
            ],
            vec![": a/x.test.ts", "a: a/x.test.ts"],
        ),
        (
            // A dependency alone makes the files of its own package tests.
            vec![
                DEP,
                ("a.test.ts", ""),
                ("b/package.json", "{}"),
                ("b/c.test.ts", ""),
                ("d/vitest.config.ts", "export default {}"),
                ("d/e.test.ts", ""),
            ],
            vec![": a.test.ts", "d: d/e.test.ts"],
        ),
        (
            vec![
                ("package.json", "{\"scripts\": {\"t\": \"vitest --typecheck\", \"w\": \"vitest\"}}"),
                ("tsconfig.json", "{}"),
                ("a.test-d.ts", ""),
            ],
            vec![": a.test-d.ts"],
        ),
        (
            vec![
                ("package.json", "{\"scripts\": {\"e2e\": \"vitest --config e2e/vitest.e2e.config.ts\"}}"),
                ("e2e/vitest.e2e.config.ts", "export default { test: { include: ['e2e/*.e2e.ts'] } }"),
                ("e2e/x.e2e.ts", ""),
            ],
            vec![": e2e/x.e2e.ts"],
        ),
    ];
    for (files, expected) in cases {
        assert_eq!(show(&discover(&files)), expected, "{files:?}");
    }
}

#[test]
fn shared_inputs() {
    let discovery = discover(&[
        DEP,
        (
            "vitest.config.ts",
            "import react from '@vitejs/plugin-react'; import paths from 'vite-tsconfig-paths';\
             import path from 'path';\
             export default { plugins: [react(), paths()],\
               resolve: { alias: { '@': path.resolve(__dirname, 'src'), '~': '/lib', x: 'y' } },\
               test: { environment: './env.ts', setupFiles: ['./setup.ts'], globalSetup: 'global', alias: [{ find: /^z(.*)/, replacement: './z$1' }] } }",
        ),
        ("global.ts", ""),
        ("lib/x.ts", ""),
        ("tsconfig.json", "{\"extends\": \"./base.json\"}"),
        ("base.json", "{}"),
        ("sub/tsconfig.json", "{}"),
        ("sub/a.test.ts", "// @vitest-environment happy-dom"),
    ]);
    let project = &discovery.projects[0];
    assert_eq!(project.unsettled, []);
    for path in [
        "vitest.config.ts",
        "env.ts",
        "setup.ts",
        "global.ts",
        "tsconfig.json",
        "base.json",
        "package.json",
        ".env.test",
        "npm:vitest",
        "npm:@vitejs/plugin-react",
    ] {
        assert!(shares(project, path), "{path}: {:#?}", project.shared);
    }
    let aliases: Vec<String> =
        project.resolve.aliases.iter().map(|a| format!("{:?} {}", a.find, a.replacement)).collect();
    assert_eq!(
        aliases,
        ["Regex(\"^z(.*)\") /z$1", "Prefix(\"@\") /src", "Prefix(\"~\") /lib", "Prefix(\"x\") y",]
    );
    assert!(project.resolve.tsconfig_paths);
    let test: Vec<String> = project.tests[0].shared.iter().map(|s| format!("{:?}", s.target)).collect();
    assert_eq!(
        test,
        [
            "File(\"sub/__snapshots__/a.test.ts.snap\")",
            "Manifest(\"sub/tsconfig.json\")",
            "Package(\"npm:happy-dom\")",
        ]
    );
}

#[test]
fn the_global_setup_of_the_root_is_shared_by_its_projects() {
    let discovery = discover(&[
        (
            "vitest.config.ts",
            "export default { test: { globalSetup: './g.ts', setupFiles: './s.ts', projects: ['a'] } }",
        ),
        ("a/x.test.ts", ""),
        ("g.ts", ""),
        ("s.ts", ""),
    ]);
    assert!(shares(&discovery.projects[0], "g.ts"));
    assert!(!shares(&discovery.projects[0], "s.ts"));
}

#[test]
fn sveltekit_brings_aliases() {
    let discovery = discover(&[
        (
            "vite.config.ts",
            "import { sveltekit } from '@sveltejs/kit/vite'; export default { plugins: [sveltekit()], test: {} }",
        ),
        ("svelte.config.js", "export default { kit: { alias: { '$c/*': 'src/components/*' } } }"),
        ("src/a.test.ts", ""),
    ]);
    let project = &discovery.projects[0];
    assert_eq!(project.unsettled, []);
    let aliases: Vec<&str> = project.resolve.aliases.iter().map(|a| a.replacement.as_str()).collect();
    assert_eq!(aliases, ["/src/lib", "/src/components"]);
    assert!(shares(project, "svelte.config.js"));
}

#[test]
fn commands_name_the_project_and_the_configuration() {
    let discovery = discover(&[
        ("vitest.config.ts", "export default { test: { projects: ['packages/*'] } }"),
        ("packages/a/package.json", "{\"name\": \"@x/a\"}"),
        ("packages/a/a.test.ts", ""),
        ("e2e/vitest.e2e.config.ts", "export default {}"),
        ("e2e/x.test.ts", ""),
        ("z/package.json", "{\"scripts\": {\"a\": \"vitest -c ../e2e/vitest.z.config.ts\"}}"),
        ("e2e/vitest.z.config.ts", "export default {}"),
        ("z/z.test.ts", ""),
    ]);
    let commands: Vec<String> = discovery
        .projects
        .iter()
        .map(|p| {
            let tests: Vec<&str> = p.tests.iter().map(|t| t.path.as_str()).collect();
            let one = &Vitest.command(p, &tests)[0];
            format!("{}: {}", one.cwd, one.argv.join(" "))
        })
        .collect();
    assert_eq!(
        commands,
        [
            "e2e: npx vitest run --config vitest.e2e.config.ts x.test.ts",
            ": npx vitest run --project @x/a packages/a/a.test.ts",
            "z: npx vitest run --config ../e2e/vitest.z.config.ts z.test.ts",
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
        ("node_modules/vitest/package.json", "{\"version\": \"3.2.0\"}"),
        ("vitest.config.ts", "import x from 'unknown'; export default x()"),
        ("t/a.ts", ""),
        ("a.test.ts", ""),
    ];
    let loader = Canned(
        "noise\n{\"owed\":\"vitest\",\"projects\":[{\"root\":\"/project\",\"configFile\":\"/project/vitest.config.ts\",\
         \"test\":{\"include\":[\"t/*.ts\"],\"exclude\":[]},\"resolve\":{\"alias\":[]},\"plugins\":[{\"name\":\"odd\",\"hooks\":[\"transform\"]}]}]}\n",
    );
    assert_eq!(show(&discover_with(&files, &loader)), [": t/a.ts"]);
    let odd = Canned(
        "{\"owed\":\"vitest\",\"projects\":[{\"root\":\"/project\",\"test\":{},\"plugins\":[{\"name\":\"odd\",\"hooks\":[\"resolveId\"]}]}]}",
    );
    assert_eq!(show(&discover_with(&files, &odd)), [": a.test.ts ?"]);
    let discovery = discover(&files);
    assert!(!discovery.projects[0].unsettled.is_empty());
    assert_eq!(discovery.projects[0].unsettled[0].reason, "config-not-loaded");
    assert_eq!(discovery.projects[0].unsettled[0].path, "vitest.config.ts");
}
