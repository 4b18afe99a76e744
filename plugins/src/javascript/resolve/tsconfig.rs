//! `tsconfig.json` and `jsconfig.json` as far as they decide what a specifier means:
//! `extends`, `references`, `baseUrl`, `paths`, `rootDirs`, and where output comes from.
//!
//! A file that is missing or broken is consulted all the same, and whatever else of its
//! chain can be read holds. Configurations inside `node_modules` are not read: they are
//! packages, and shared ones do not carry the paths of a project.

use std::collections::BTreeSet;

use owed_engine::path;
use serde_json::Value;

use super::jsonc;
use super::view::View;

/// Files of one chain; more are a loop or an attack.
const MAX_CHAIN: usize = 32;

/// A configuration with everything it extends.
#[derive(Debug, Default)]
pub(super) struct TsConfig {
    /// All files of the chain, itself first, project-relative, also those not there.
    pub(super) chain: Vec<String>,
    /// Where non-relative specifiers start.
    pub(super) base_url: Option<String>,
    /// Path mappings, the best match first.
    pub(super) paths: Vec<PathRule>,
    /// Directories that stand for one.
    pub(super) root_dirs: Vec<String>,
    /// Where output goes (`outDir`, `declarationDir`).
    pub(super) out_dirs: Vec<String>,
    /// Where the sources of the output start.
    pub(super) root_dir: Option<String>,
    /// The package whose runtime JSX loads.
    pub(super) jsx_import_source: Option<String>,
    /// Configurations it references.
    references: Vec<String>,
    /// The directories that hold its files.
    roots: Vec<String>,
}

/// One entry of `paths`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathRule {
    /// What stands before the `*`, or the whole specifier.
    pub(super) prefix: String,
    /// What stands after the `*`; `None` for an exact entry.
    pub(super) suffix: Option<String>,
    /// Where it leads: project-relative, with `*`.
    pub(super) targets: Vec<String>,
}

impl PathRule {
    /// The targets for `specifier`, when the entry matches it.
    pub(super) fn apply(&self, specifier: &str) -> Option<Vec<String>> {
        let Some(suffix) = &self.suffix else {
            return (specifier == self.prefix).then(|| self.targets.clone());
        };
        let middle = specifier.strip_prefix(self.prefix.as_str())?.strip_suffix(suffix.as_str())?;
        Some(self.targets.iter().map(|target| target.replacen('*', middle, 1)).collect())
    }

    /// Whether it matches every specifier.
    pub(super) fn is_catch_all(&self) -> bool {
        self.prefix.is_empty() && self.suffix.as_deref() == Some("")
    }
}

/// Options as written, with the directory of the file that wrote them.
#[derive(Clone, Debug, Default)]
struct Raw {
    base_url: Option<(String, String)>,
    paths: Option<(String, Value)>,
    root_dirs: Option<(String, Value)>,
    out_dir: Option<(String, String)>,
    declaration_dir: Option<(String, String)>,
    root_dir: Option<(String, String)>,
    include: Option<(String, Value)>,
    jsx_import_source: Option<String>,
}

/// Reads the configuration at `file` and all it extends. `find_package` gives the
/// project directory of a package that `extends` names, when it is one of the project's.
pub(super) fn load(view: &View<'_>, file: &str, find_package: &dyn Fn(&str) -> Option<String>) -> TsConfig {
    let mut config = TsConfig::default();
    let mut seen = BTreeSet::new();
    let (raw, json) = read(view, file, find_package, &mut config.chain, &mut seen);
    let own = path::dirname(file);
    let resolve = |value: &Option<(String, String)>| {
        let (dir, text) = value.as_ref()?;
        locate(view, own, dir, text)
    };
    config.base_url = resolve(&raw.base_url);
    config.root_dir = resolve(&raw.root_dir);
    config.out_dirs = [&raw.out_dir, &raw.declaration_dir].into_iter().filter_map(resolve).collect();
    config.jsx_import_source.clone_from(&raw.jsx_import_source);
    if let Some((dir, dirs)) = &raw.root_dirs {
        config.root_dirs = strings(dirs).filter_map(|text| locate(view, own, dir, text)).collect();
    }
    if let Some((dir, paths)) = &raw.paths {
        let base = config.base_url.as_deref().unwrap_or(dir);
        config.paths = rules(paths, |text| locate(view, own, base, text));
    }
    if config.root_dir.is_none()
        && let Some((dir, include)) = &raw.include
    {
        // Without `rootDir` it is the common directory of all inputs.
        config.root_dir =
            common_dir(strings(include).filter_map(|text| locate(view, own, dir, constant(text))));
    }
    let listed = [json.get("files"), raw.include.as_ref().map(|(_, include)| include)];
    let from = raw.include.as_ref().map_or(own, |(dir, _)| dir);
    let roots = listed.into_iter().flatten().flat_map(strings);
    config.roots = roots.filter_map(|text| locate(view, own, from, constant(text))).collect();
    if json.get("files").is_none() && raw.include.is_none() {
        config.roots.push(own.to_owned());
    }
    let references = json.get("references").and_then(Value::as_array).into_iter().flatten();
    config.references =
        references
            .filter_map(|reference| locate(view, own, own, reference.get("path")?.as_str()?))
            .map(|target| {
                if target.ends_with(".json") {
                    target
                } else {
                    super::package::below(&target, "tsconfig.json")
                }
            })
            .collect();
    config
}

impl TsConfig {
    /// The configurations it references, as paths.
    pub(super) fn references(&self) -> &[String] {
        &self.references
    }

    /// Whether files of `dir` may belong to it.
    pub(super) fn may_own(&self, dir: &str) -> bool {
        self.roots.iter().any(|root| path::is_within(dir, root))
    }
}

/// Reads one file and merges it over what it extends.
fn read(
    view: &View<'_>,
    file: &str,
    find_package: &dyn Fn(&str) -> Option<String>,
    chain: &mut Vec<String>,
    seen: &mut BTreeSet<String>,
) -> (Raw, Value) {
    if !seen.insert(file.to_owned()) || seen.len() > MAX_CHAIN {
        return (Raw::default(), Value::Null);
    }
    chain.push(file.to_owned());
    let json = view.tree.text(file).and_then(|text| jsonc::parse(&text).ok()).unwrap_or_default();
    let dir = path::dirname(file);
    let mut raw = Raw::default();
    let bases: Vec<&str> = match json.get("extends") {
        Some(Value::String(base)) => vec![base],
        Some(Value::Array(bases)) => bases.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for base in bases {
        if let Some(base) = extended(view, dir, base, find_package) {
            let (over, _) = read(view, &base, find_package, chain, seen);
            raw.merge(over);
        }
    }
    let options = json.get("compilerOptions").unwrap_or(&Value::Null);
    let text = |key: &str| Some((dir.to_owned(), options.get(key)?.as_str()?.to_owned()));
    let any = |from: &Value, key: &str| Some((dir.to_owned(), from.get(key)?.clone()));
    raw.merge(Raw {
        base_url: text("baseUrl"),
        paths: any(options, "paths"),
        root_dirs: any(options, "rootDirs"),
        out_dir: text("outDir"),
        declaration_dir: text("declarationDir"),
        root_dir: text("rootDir"),
        include: any(&json, "include"),
        jsx_import_source: options.get("jsxImportSource").and_then(Value::as_str).map(str::to_owned),
    });
    (raw, json)
}

impl Raw {
    /// Takes every option that `over` sets.
    fn merge(&mut self, over: Self) {
        self.base_url = over.base_url.or(self.base_url.take());
        self.paths = over.paths.or(self.paths.take());
        self.root_dirs = over.root_dirs.or(self.root_dirs.take());
        self.out_dir = over.out_dir.or(self.out_dir.take());
        self.declaration_dir = over.declaration_dir.or(self.declaration_dir.take());
        self.root_dir = over.root_dir.or(self.root_dir.take());
        self.include = over.include.or(self.include.take());
        self.jsx_import_source = over.jsx_import_source.or(self.jsx_import_source.take());
    }
}

/// The file that `extends` means; it need not exist. `None` for packages outside.
fn extended(
    view: &View<'_>,
    dir: &str,
    base: &str,
    find_package: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let target = if base.starts_with('.') || base.starts_with('/') {
        locate(view, dir, dir, base)?
    } else {
        let (name, rest) = super::specifier::package(base)?;
        let package = find_package(name)?;
        if rest.is_empty() {
            super::package::below(&package, "tsconfig.json")
        } else {
            path::join(&package, &rest[1..])?
        }
    };
    let with_json = format!("{target}.json");
    let exact = target.ends_with(".json") || (view.is_file(&target) && !view.is_file(&with_json));
    Some(if exact { target } else { with_json })
}

/// A path of an option, written in `dir` and used for a project in `own`.
fn locate(view: &View<'_>, own: &str, dir: &str, text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix("${configDir}") {
        return path::join(own, rest.trim_start_matches('/'));
    }
    if text.starts_with('/') {
        let root = view.tree.root().to_str()?.trim_start_matches('/');
        return path::join("", path::strip(text.trim_start_matches('/'), root)?);
    }
    path::join(dir, text)
}

/// The entries of `paths`: exact ones first, then by the length of what precedes `*`.
fn rules(paths: &Value, locate: impl Fn(&str) -> Option<String>) -> Vec<PathRule> {
    let rule = |(key, targets): (&String, &Value)| {
        let (prefix, suffix) = match key.split_once('*') {
            Some((prefix, suffix)) => (prefix, Some(suffix.to_owned())),
            None => (key.as_str(), None),
        };
        let targets = strings(targets).filter_map(&locate).collect();
        PathRule { prefix: prefix.to_owned(), suffix, targets }
    };
    let mut rules: Vec<PathRule> = paths.as_object().into_iter().flatten().map(rule).collect();
    rules.sort_by_key(|rule| (rule.suffix.is_some(), std::cmp::Reverse(rule.prefix.len())));
    rules
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The directory before the first wildcard of a glob.
fn constant(glob: &str) -> &str {
    match glob.find(['*', '?', '{']) {
        Some(at) => path::dirname(&glob[..at]),
        None if path::extension(glob).is_empty() => glob,
        None => path::dirname(glob),
    }
}

fn common_dir(dirs: impl Iterator<Item = String>) -> Option<String> {
    dirs.reduce(|a, b| {
        let same = a.split('/').zip(b.split('/')).take_while(|(x, y)| x == y).map(|(x, _)| x);
        same.collect::<Vec<_>>().join("/")
    })
}

#[cfg(test)]
mod tests {
    use owed_engine::tree::MemoryTree;

    use super::*;

    fn config(files: &[(&str, &str)], file: &str) -> TsConfig {
        let tree = MemoryTree::new(files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())));
        load(&View::new(&tree), file, &|name| (name == "@org/base").then(|| "packages/base".to_owned()))
    }

    #[test]
    fn three_levels_arrays_packages_and_config_dir() {
        let got = config(
            &[
                (
                    "app/tsconfig.json",
                    r#"{"extends": ["@org/base", "../mid"], /* c */ "compilerOptions": {"outDir": "dist"},}"#,
                ),
                (
                    "mid.json",
                    r#"{"extends": "./root.json", "compilerOptions": {"rootDirs": ["${configDir}/src", "gen"]}}"#,
                ),
                (
                    "root.json",
                    r#"{"extends": "./gone", "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["x/*"]}}}"#,
                ),
                (
                    "packages/base/tsconfig.json",
                    r#"{"compilerOptions": {"paths": {"lost": ["y"]}}, "include": ["src/**/*"]}"#,
                ),
            ],
            "app/tsconfig.json",
        );
        assert_eq!(
            got.chain,
            ["app/tsconfig.json", "packages/base/tsconfig.json", "mid.json", "root.json", "gone.json"]
        );
        assert_eq!(got.base_url.as_deref(), Some(""));
        assert_eq!(got.root_dirs, ["app/src", "gen"]);
        assert_eq!(got.out_dirs, ["app/dist"]);
        assert_eq!(got.root_dir.as_deref(), Some("packages/base/src"));
        assert_eq!(got.paths.len(), 1);
        assert_eq!(got.paths[0].apply("@/a").unwrap(), ["x/a"]);
    }

    #[test]
    fn best_rule_first_and_both_sides_of_the_star() {
        let got = config(
            &[(
                "tsconfig.json",
                r#"{"compilerOptions": {"paths": {"*": ["a/*"], "x/*/y": ["b/*/z"], "x/*": ["c/*"], "x": ["d"]}}}"#,
            )],
            "tsconfig.json",
        );
        let apply = |s: &str| got.paths.iter().find_map(|rule| rule.apply(s)).unwrap();
        assert_eq!((apply("x"), apply("q")), (vec!["d".to_owned()], vec!["a/q".to_owned()]));
        assert_eq!(apply("x/1/y"), ["b/1/z"]);
        assert_eq!(apply("x/1"), ["c/1"]);
    }

    #[test]
    fn broken_missing_and_circular() {
        for text in [
            "{",
            "[]",
            r#"{"extends": "./tsconfig.json"}"#,
            r#"{"extends": 1, "compilerOptions": 2, "references": 3}"#,
        ] {
            let got = config(&[("tsconfig.json", text)], "tsconfig.json");
            assert_eq!(got.chain, ["tsconfig.json"], "{text}");
            assert!(got.paths.is_empty());
        }
        let got = config(
            &[(
                "tsconfig.json",
                r#"{"references": [{"path": "./app"}, {"path": "tsconfig.node.json"}], "files": ["../x.ts"]}"#,
            )],
            "tsconfig.json",
        );
        assert_eq!(got.references, ["app/tsconfig.json", "tsconfig.node.json"]);
    }
}
