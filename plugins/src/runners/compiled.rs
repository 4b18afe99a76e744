//! Tests that are run from compiled output which is not in the inventory: the sources
//! they are compiled from, found through `outDir` and `rootDir` of `tsconfig` files.

use owed_engine::path;
use owed_engine::tree::Tree;

use super::config::json;
use super::config::value::Value;
use super::glob;
use super::manifest::{Packages, chain};

/// Where a compiler writes, and what it reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Output {
    /// The output directory.
    pub to: String,
    /// The directory its structure mirrors.
    pub from: String,
}

/// The outputs of the `tsconfig` files of the package at `dir` and of those above.
pub fn outputs(tree: &dyn Tree, packages: &Packages, dir: &str) -> Vec<Output> {
    let package = packages.nearest(dir).map_or("", |p| p.dir.as_str());
    let mut found = Vec::new();
    let inside = path::below(tree.files(), package).iter().map(String::as_str);
    let above =
        chain(package).skip(1).filter_map(|d| path::join(d, "tsconfig.json")).filter(|f| tree.is_file(f));
    let above: Vec<String> = above.collect();
    for file in inside.chain(above.iter().map(String::as_str)) {
        let name = path::basename(file);
        if !name.starts_with("tsconfig") || !name.ends_with(".json") {
            continue;
        }
        let here = path::dirname(file);
        let (config, at) = own_or_inherited(tree, file, "outDir");
        let options = config.get("compilerOptions");
        let Some(to) = options.get("outDir").as_str().and_then(|o| path::join(&at, o)) else { continue };
        let mut roots: Vec<String> = Vec::new();
        let (config, at) = own_or_inherited(tree, file, "rootDir");
        match config.get("compilerOptions").get("rootDir").as_str() {
            Some(root) => roots.extend(path::join(&at, root)),
            None => {
                // Without one it is the common directory of the inputs: what is included,
                // or the directory itself.
                let include = json_of(tree, file).get("include").strings();
                let first: Vec<&str> =
                    include.possible.iter().map(|i| glob::base(i.trim_start_matches("./"))).collect();
                let plain = include.possible.iter().map(|i| i.trim_start_matches("./")).collect::<Vec<_>>();
                if let [only] = plain.as_slice() {
                    let only = if only.contains('*') { first[0] } else { only };
                    roots.extend(path::join(here, only));
                }
                roots.push(here.to_owned());
            }
        }
        found.extend(roots.into_iter().map(|from| Output { to: to.clone(), from }));
    }
    found.sort();
    found.dedup();
    found
}

/// The sources of the project-relative `pattern` (or path), with the output they come
/// from; empty when it names files of the inventory.
pub fn sources(tree: &dyn Tree, outputs: &[Output], pattern: &str) -> Vec<(String, Output)> {
    if !is_missing(tree, pattern) {
        return Vec::new();
    }
    outputs
        .iter()
        .filter_map(|output| {
            let rest = path::strip(pattern, &output.to)?;
            let source = path::join(&glob::escape(&output.from), &uncompiled(rest))?;
            Some((source, output.clone()))
        })
        .collect()
}

/// Whether no file of the inventory lies where `pattern` looks.
pub fn is_missing(tree: &dyn Tree, pattern: &str) -> bool {
    let base = glob::base(pattern);
    !base.is_empty() && path::below(tree.files(), base).is_empty()
}

/// The compiled file of the source `file`, if it comes from `output`.
pub fn compiled(file: &str, output: &Output) -> Option<String> {
    let rest = path::strip(file, &output.from)?;
    let (stem, extension) = rest.rsplit_once('.')?;
    let extension = match extension {
        "ts" | "tsx" | "jsx" => "js",
        "mts" => "mjs",
        "cts" => "cjs",
        other => other,
    };
    path::join(&output.to, &format!("{stem}.{extension}"))
}

/// A pattern of scripts as one of their sources: `*.test.js` as `*.test.[jt]s?(x)`.
fn uncompiled(pattern: &str) -> String {
    let (dir, name) = pattern.rsplit_once('/').map_or(("", pattern), |(d, n)| (d, n));
    let name = match name.rfind('.') {
        Some(dot) if name[dot..].contains("js") => {
            format!("{}{}", &name[..dot], name[dot..].replace("js", "[jt]s?(x)"))
        }
        _ => name.to_owned(),
    };
    if dir.is_empty() { name } else { format!("{dir}/{name}") }
}

fn json_of(tree: &dyn Tree, file: &str) -> Value {
    tree.text(file).map_or(Value::Undefined, |text| json::parse(&text, file))
}

/// The configuration in the `extends` chain of `file` that sets the compiler option
/// `key`, with its directory.
fn own_or_inherited(tree: &dyn Tree, file: &str, key: &str) -> (Value, String) {
    let mut file = file.to_owned();
    for _ in 0..8 {
        let config = json_of(tree, &file);
        let here = path::dirname(&file).to_owned();
        if config.get("compilerOptions").get(key) != Value::Undefined {
            return (config, here);
        }
        let base = config.get("extends").strings().possible.into_iter().find(|b| b.starts_with('.'));
        let Some(target) = base.and_then(|b| path::join(&here, &b)) else { break };
        file = if tree.is_file(&target) { target } else { format!("{target}.json") };
    }
    (Value::Undefined, String::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use owed_engine::tree::MemoryTree;

    #[test]
    fn output_is_traced_to_its_sources() {
        let files = [
            ("package.json", "{}"),
            (
                "tsconfig.json",
                "{\"compilerOptions\": {\"outDir\": \"build/out\"}, \"include\": [\"src\", \"test\"]}",
            ),
            ("lib/tsconfig.json", "{\"extends\": \"./tsconfig.base\", \"include\": [\"src/**/*\"]}"),
            ("lib/tsconfig.base.json", "{\"compilerOptions\": {\"outDir\": \"dist\"}}"),
            ("test/a.test.ts", ""),
        ];
        let tree = MemoryTree::new(files.map(|(p, t)| (p.to_owned(), t.as_bytes().to_vec())));
        let packages = Packages::read(&tree);
        let outputs = outputs(&tree, &packages, "");
        let of = |pattern: &str| -> Vec<String> {
            sources(&tree, &outputs, pattern).into_iter().map(|(s, _)| s).collect()
        };
        assert_eq!(of("build/out/test/**/*.test.{js,ts}"), ["test/**/*.test.{[jt]s?(x),ts}"]);
        assert_eq!(of("lib/dist/x.js"), ["lib/x.[jt]s?(x)", "lib/src/x.[jt]s?(x)"]);
        assert_eq!(of("test/*.js"), [""; 0]);
        let output = Output { to: "build/out".into(), from: String::new() };
        assert_eq!(compiled("test/a.test.ts", &output).as_deref(), Some("build/out/test/a.test.js"));
    }
}
