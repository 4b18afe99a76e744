//! Classes that are said to agree about a file are followed together. Here they are followed
//! each by itself, as resolvers that know nothing of each other, and nothing may differ.

use owed_engine::facts::FileFacts;
use owed_engine::language::{Language, SourceFile};
use owed_engine::project::{Plugins, Project, Reading};
use owed_engine::resolve::{ResolveOptions, Resolver};
use owed_engine::runner::NoLoader;
use owed_engine::tree::{MemoryTree, Tree};

use crate::case::Case;
use crate::store;
use crate::warm::{difference, portrait};

/// A language whose resolvers are made one by one.
struct OneByOne(&'static dyn Language);

impl Language for OneByOne {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn package_prefix(&self) -> &'static str {
        self.0.package_prefix()
    }

    fn reader_version(&self) -> &'static str {
        self.0.reader_version()
    }

    fn reads(&self, path: &str) -> bool {
        self.0.reads(path)
    }

    fn read(&self, file: SourceFile<'_>) -> FileFacts {
        self.0.read(file)
    }

    fn read_without_declarations(&self, file: SourceFile<'_>) -> FileFacts {
        self.0.read_without_declarations(file)
    }

    fn declares_encoding(&self, bytes: &[u8]) -> bool {
        self.0.declares_encoding(bytes)
    }

    fn resolver<'a>(&self, tree: &'a dyn Tree, options: &ResolveOptions) -> Box<dyn Resolver + 'a> {
        self.0.resolver(tree, options)
    }
}

/// The project of a tree, and how many classes and nodes it has.
fn project(tree: &MemoryTree, case: &Case, languages: &[&dyn Language]) -> (String, usize, usize) {
    let plugins = Plugins { languages, runners: owed_plugins::runners() };
    let mut project = Project::read(tree, plugins, case.settings.clone(), Reading::Files);
    project.discover(&NoLoader);
    project.resolve();
    (portrait(&project), project.classes.len(), project.graph.nodes().count())
}

fn differ(case: &Case, name: &str) -> usize {
    let links = case.links.iter();
    let tree = links.fold(MemoryTree::new(case.files.clone()), |tree, (from, to)| tree.with_link(from, to));
    let one_by_one: Vec<OneByOne> =
        owed_plugins::languages().iter().map(|language| OneByOne(*language)).collect();
    let one_by_one: Vec<&dyn Language> = one_by_one.iter().map(|l| l as &dyn Language).collect();
    let (together, classes, nodes) = project(&tree, case, owed_plugins::languages());
    let (apart, ..) = project(&tree, case, &one_by_one);
    assert!(together == apart, "{name}: {}", difference(&apart, &together));
    if classes > 2 { nodes } else { 0 }
}

#[test]
fn classes_that_agree_give_the_graph_of_classes_that_know_nothing_of_each_other() {
    let mut nodes = 0;
    for entry in store::cases() {
        let Ok(case) = Case::parse(&entry.text, entry.tree.clone()) else { continue };
        nodes += differ(&case, &entry.name);
    }
    assert!(nodes > 500, "only {nodes} nodes lie in projects of several classes");
}

/// Everything that the options of one class decide and those of another do not, in one file
/// that all of them reach.
#[test]
fn what_only_some_classes_rewrite_is_followed_for_each() {
    let config = |test: &str| {
        let at = "const src = new URL('./src', import.meta.url).pathname\nconst one = `${src}/one.ts`\n";
        format!("{at}export default {{ test: {{ {test} }} }}\n")
    };
    let file = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
    let mut files = vec![
        file(
            "package.json",
            r#"{"name": "root", "workspaces": ["p/*"], "devDependencies": {"vitest": "3.0.0"}}"#,
        ),
        file(
            "shared/all.ts",
            "import '@/one'\nimport '/two'\nimport './three'\nimport 'pkg'\nimport 'lonely'\n\
             import './style.css'\nimport { readFileSync } from 'node:fs'\nimport.meta.glob('./g/*.ts')\n\
             import.meta.glob('@/g/*.ts')\nreadFileSync('data.txt')\nvi.mock('pkg')\nvi.mock('./three')\n\
             export const load = (x: string) => import(`./g/${x}.ts`)\n",
        ),
        file("shared/three.ts", "import '@/four'\nexport const x = <div/>\n"),
        file("shared/__mocks__/three.ts", ""),
        file("shared/style.css", "@import '@/inner.css'; @import 'lonely.css';\n"),
        file("shared/plain.ts", "import './three'\nimport './g/a'\nimport './gone'\nprocess.env.HOME\n"),
        file("shared/g/a.ts", "import '../plain'\n"),
        file("p/pkg/package.json", r#"{"name": "pkg", "exports": {"import": "./i.ts", "odd": "./odd.ts"}}"#),
        file("p/pkg/i.ts", "import '../../shared/plain'\n"),
        file("p/pkg/odd.ts", ""),
    ];
    let options = [
        ("", "a"),
        ("", "b"),
        ("alias: { '@': src }", "c"),
        ("alias: { '@': src, pkg: one }", "d"),
        ("alias: [{ find: /^[.]\\/three$/, replacement: one }]", "e"),
        ("alias: { lonely: one }", "f"),
    ];
    for (test, name) in options {
        let at = |rest: &str| format!("p/{name}/{rest}");
        files.push((
            at("package.json"),
            br#"{"devDependencies": {"vitest": "3.0.0", "pkg": "workspace:*"}}"#.to_vec(),
        ));
        files.push((at("vitest.config.ts"), config(test).into_bytes()));
        files.push((at("a.test.ts"), b"import '../../shared/all'\nimport '../../shared/g/a'\n".to_vec()));
        files.push((at("b.test.ts"), b"import '../../shared/plain'\nimport './src/one'\n".to_vec()));
        for source in ["src/one.ts", "src/four.ts", "src/g/b.ts", "src/inner.css", "two.ts", "data.txt"] {
            files.push((at(source), b"".to_vec()));
        }
        if name != "b" {
            files.push((at("__mocks__/pkg.ts"), b"".to_vec()));
            files.push((at("lonely.ts"), b"".to_vec()));
        }
    }
    let case = Case { files: files.into_iter().collect(), ..Case::default() };
    assert!(differ(&case, "projects with options of their own") > 0);
}
