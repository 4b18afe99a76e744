//! Agreement with `oxc_resolver` on small trees made at random: whatever file it takes is
//! among our targets, and whatever file name it passed over is among our absent ones.
//!
//! It is the oracle for one loader at a time (`import` and `require`), with vite's order
//! of extensions. What it cannot say (several loaders, sources of output) has tables.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use owed_engine::facts::ImportKind;
use owed_engine::path;
use owed_engine::resolve::{ResolveOptions, Target};
use owed_engine::tree::{Kind, MemoryTree, Tree};
use oxc_resolver::{FileMetadata, FileSystem, ResolveContext, ResolveError, ResolverGeneric};

use super::super::resolver;
use super::{import, short, tree};

struct Memory(MemoryTree);

impl Memory {
    fn inside(&self, path: &Path) -> io::Result<String> {
        let inside = path.strip_prefix(self.0.root()).ok().and_then(Path::to_str);
        inside.map(str::to_owned).ok_or(io::ErrorKind::NotFound.into())
    }
}

impl FileSystem for Memory {
    fn new() -> Self {
        Self(MemoryTree::default())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.read(&self.inside(path)?).map_err(|_| io::ErrorKind::NotFound.into())
    }

    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        Ok(String::from_utf8(self.read(path)?).expect("the trees of this test are text"))
    }

    fn metadata(&self, path: &Path) -> io::Result<FileMetadata> {
        let kind = self.0.kind(&self.inside(path)?).ok_or(io::ErrorKind::NotFound)?;
        Ok(FileMetadata::new(kind == Kind::File, kind == Kind::Dir, false))
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<FileMetadata> {
        self.metadata(path)
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, ResolveError> {
        Ok(path.to_owned())
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        let real = self.0.real(&self.inside(path)?).ok_or(io::ErrorKind::NotFound)?;
        Ok(self.0.root().join(real))
    }
}

fn oracle(tree: MemoryTree, conditions: &[&str]) -> ResolverGeneric<Memory> {
    let list = |items: &[&str]| items.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let alias = |from: &str, to: &[&str]| (from.to_owned(), list(to));
    let options = oxc_resolver::ResolveOptions {
        condition_names: list(conditions),
        extensions: list(&[".mjs", ".js", ".mts", ".ts", ".jsx", ".tsx", ".json"]),
        extension_alias: vec![
            alias(".js", &[".js", ".ts", ".tsx"]),
            alias(".jsx", &[".jsx", ".tsx", ".ts"]),
            alias(".mjs", &[".mjs", ".mts"]),
            alias(".cjs", &[".cjs", ".cts"]),
        ],
        node_path: false,
        ..oxc_resolver::ResolveOptions::default()
    };
    ResolverGeneric::new_with_file_system(Memory(tree), options)
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

const DIRS: &[&str] = &["", "src", "src/a", "src/a/b", "lib", "lib/index"];
const NAMES: &[&str] = &["a", "b", "index", "c.d", "a.test"];
const ENDINGS: &[&str] =
    &["", ".js", ".ts", ".tsx", ".mjs", ".mts", ".cjs", ".jsx", ".json", ".d.ts", ".css"];

fn random_files(numbers: &mut Numbers) -> Vec<(String, String)> {
    let mut files = vec![("src/main.ts".to_owned(), String::new())];
    for _ in 0..6 + numbers.below(24) {
        let name = format!("{}{}", numbers.pick(NAMES), numbers.pick(ENDINGS));
        files.push((super::super::package::below(numbers.pick(DIRS), &name), "{}".to_owned()));
    }
    // A path cannot be a file and a directory.
    let all = files.clone();
    files.retain(|(file, _)| !all.iter().any(|(other, _)| other != file && path::is_within(other, file)));
    files
}

/// Asks both; returns whether the oracle found something.
fn agree(files: &[(String, String)], from: &str, specifier: &str, kind: ImportKind) -> bool {
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    let tree = tree(&borrowed);
    let conditions: &[&str] = if kind == ImportKind::Require {
        &["node", "require", "module-sync"]
    } else {
        &["node", "import", "module-sync"]
    };
    let mut context = ResolveContext::default();
    let dir = tree.root().join(path::dirname(from));
    let theirs = oracle(tree.clone(), conditions).resolve_with_context(dir, specifier, None, &mut context);
    let ours = resolver(&tree, &ResolveOptions::default()).resolve(from, &import(kind, specifier));
    let say = || format!("{specifier:?} in {from}: {theirs:?}, ours {} of {files:?}", short(&ours));
    if let Ok(found) = &theirs {
        let found =
            found.path().strip_prefix(tree.root()).expect("only the tree is known").to_str().expect("UTF-8");
        assert!(ours.targets.contains(&Target::File(found.to_owned())), "target: {}", say());
        assert_eq!(ours.unknown, None, "{}", say());
    }
    // Where we found more (declarations, sources of output) there is nothing to compare. A
    // trailing slash asks Node.js for a directory, so files of that name are no candidates.
    if specifier.starts_with('.')
        && !specifier.ends_with(['/', '.'])
        && (theirs.is_ok() || ours.targets.is_empty())
    {
        for missing in context.missing_dependencies.iter().collect::<BTreeSet<_>>() {
            let Some(missing) = missing.strip_prefix(tree.root()).ok().and_then(Path::to_str) else {
                continue;
            };
            // It also says which directories and which manifests further up are not there.
            let candidate = path::basename(missing) != "package.json" && tree.kind(missing).is_none();
            assert!(
                !candidate || ours.absent.iter().any(|absent| absent == missing),
                "absent {missing}: {}, absent {:?}",
                say(),
                ours.absent
            );
        }
    }
    theirs.is_ok()
}

#[test]
fn relative_specifiers() {
    let mut numbers = Numbers(1);
    let mut found = 0;
    for _ in 0..1_500 {
        let files = random_files(&mut numbers);
        let up = numbers.pick(&["./", "../", "../src/", "./a/", "../lib/", "./", "."]);
        let rest = format!("{}{}", numbers.pick(NAMES), numbers.pick(ENDINGS));
        let specifier = match numbers.below(8) {
            0 => up.trim_end_matches('/').to_owned(),
            1 => format!("{}/", up.trim_end_matches('/')),
            _ => format!("{}/{rest}", up.trim_end_matches('/')),
        };
        found += usize::from(agree(&files, "src/main.ts", &specifier, ImportKind::Static));
    }
    assert!(found > 200, "the trees must not be too thin: {found}");
}

#[test]
fn manifests() {
    let mut numbers = Numbers(7);
    let mut found = 0;
    for _ in 0..1_500 {
        let mut files = random_files(&mut numbers);
        let existing = files.clone();
        let target = |numbers: &mut Numbers| match numbers.below(4) {
            0 => numbers.pick(&["./src/a.js", "./src/b.ts", "./gone.js", "./lib"]).to_owned(),
            _ => format!("./{}", existing[numbers.below(existing.len())].0),
        };
        let conditions = |numbers: &mut Numbers| {
            let names = ["import", "require", "node", "default", "types", "browser"];
            let entry = |numbers: &mut Numbers| format!("{:?}: {:?}", numbers.pick(&names), target(numbers));
            let list: Vec<String> = (0..1 + numbers.below(3)).map(|_| entry(numbers)).collect();
            // The same condition twice is no manifest that both would read alike.
            let mut seen = BTreeSet::new();
            let list: Vec<String> =
                list.into_iter().filter(|e| seen.insert(e.split(':').next().map(str::to_owned))).collect();
            format!("{{{}}}", list.join(", "))
        };
        let exports = match numbers.below(4) {
            0 => conditions(&mut numbers),
            1 => format!(r#"{{".": {}, "./x/*": "./src/*.js", "./x/b": null}}"#, conditions(&mut numbers)),
            2 => format!(r#"{{".": [{}, "./src/a.js"], "./*": "./lib/*"}}"#, conditions(&mut numbers)),
            _ => "\"./src/a.js\"".to_owned(),
        };
        let manifest = format!(
            r##"{{"name": "own", "main": "./lib", "exports": {exports}, "imports": {{"#a": {}, "#s/*": "./src/*"}}}}"##,
            conditions(&mut numbers)
        );
        files.push(("package.json".to_owned(), manifest));
        let specifier =
            numbers.pick(&["own", "own/x/a", "own/x/b", "own/index/index.js", "#a", "#s/a.js", "#none"]);
        let kind = if numbers.below(2) == 0 { ImportKind::Static } else { ImportKind::Require };
        found += usize::from(agree(&files, "src/main.ts", specifier, kind));
    }
    assert!(found > 100, "the trees must not be too thin: {found}");
}

#[test]
fn directories_with_manifests() {
    let mut numbers = Numbers(3);
    let mut found = 0;
    for _ in 0..1_000 {
        let mut files = random_files(&mut numbers);
        let main = numbers.pick(&["index.js", "./a", "a/b", ".", "./", "../lib", "gone", "", "index"]);
        files.push(("lib/package.json".to_owned(), format!(r#"{{"main": {main:?}}}"#)));
        files.push((
            "src/a/package.json".to_owned(),
            numbers.pick(&["{}", "{", "[]", r#"{"main": 1}"#]).to_owned(),
        ));
        let specifier = numbers.pick(&["../lib", "../lib/", "./a", "../lib/index"]);
        found += usize::from(agree(&files, "src/main.ts", specifier, ImportKind::Require));
    }
    assert!(found > 100, "the trees must not be too thin: {found}");
}
