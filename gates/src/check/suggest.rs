//! A bounded check for a change, from what the project itself declares.
//!
//! One suggestion for each package that the change touches: the package's own test
//! script, never the suite of the whole repository. A change of documentation only asks
//! for a check of documentation, and where there is none that is the answer. Nothing is
//! run, nothing is claimed about what the scripts do, and continuous integration is not
//! read.

use std::collections::BTreeMap;

use serde_json::Value;

/// What is suggested for one package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The package's directory, project-relative; `""` is the root.
    pub package: String,
    /// The command, to be run at the root; `None` when there is no useful bounded check.
    pub command: Option<String>,
    /// Where that comes from, or why there is nothing.
    pub reason: String,
    /// The changed files it is for.
    pub paths: Vec<String>,
}

/// Names of scripts that check documentation, best first.
const DOCS_SCRIPTS: [&str; 9] = [
    "docs:check",
    "check:docs",
    "docs:test",
    "test:docs",
    "docs:lint",
    "lint:docs",
    "lint:md",
    "docs:build",
    "build:docs",
];

/// Names of scripts that run a package's tests, best first: those that end by themselves.
const TEST_SCRIPTS: [&str; 4] = ["test:unit", "test:ci", "test:run", "test"];

/// Suggests checks for changed files. `read` gives the text of a file of the project.
pub fn suggest(read: &dyn Fn(&str) -> Option<String>, changed: &[String]) -> Vec<Suggestion> {
    let mut packages: BTreeMap<(String, bool), Vec<String>> = BTreeMap::new();
    for path in changed {
        let package = package_of(read, path);
        packages.entry((package, is_docs(path))).or_default().push(path.clone());
    }
    // Where code changes too, its check is the one; documentation alone has its own.
    let code: Vec<String> =
        packages.keys().filter(|(_, docs)| !docs).map(|(package, _)| package.clone()).collect();
    packages
        .into_iter()
        .filter(|((package, docs), _)| !docs || !code.contains(package))
        .map(|((package, docs), paths)| {
            let (command, reason) = match docs {
                true => docs_check(read, &package),
                false => test_check(read, &package, &paths),
            };
            Suggestion { package, command, reason, paths }
        })
        .collect()
}

fn is_docs(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["md", "mdx", "rst", "adoc", "txt"].contains(&extension)
        && name != "requirements.txt"
        && name != "CMakeLists.txt"
        || ["LICENSE", "NOTICE", "AUTHORS"].contains(&name)
}

/// The nearest directory above a file that holds a manifest.
fn package_of(read: &dyn Fn(&str) -> Option<String>, path: &str) -> String {
    let mut dir = path;
    loop {
        dir = dir.rsplit_once('/').map_or("", |(dir, _)| dir);
        let is_package = ["package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod"]
            .iter()
            .any(|manifest| read(&join(dir, manifest)).is_some());
        if is_package || dir.is_empty() {
            return dir.to_owned();
        }
    }
}

fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

fn test_check(
    read: &dyn Fn(&str) -> Option<String>,
    package: &str,
    paths: &[String],
) -> (Option<String>, String) {
    if package.is_empty() {
        // The root's own script is the whole suite; the plan is what bounds it.
        let words: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
        let has_any = ["package.json", "pyproject.toml", "setup.py"].iter().any(|name| read(name).is_some());
        return if has_any {
            let command = format!("owed run {}", words.join(" "));
            (Some(command), "the tests that these files owe, instead of the root's whole suite".to_owned())
        } else {
            (None, "no manifest around these files names a test".to_owned())
        };
    }
    let place = quoted(package);
    if let Some(scripts) = scripts(read, package) {
        let name =
            TEST_SCRIPTS.into_iter().find(|name| scripts.get(*name).is_some_and(|script| is_real(script)));
        if let Some(name) = name {
            let command = format!("cd {place} && {} run {name}", manager(read));
            return (Some(command), format!("the script `{name}` of {}", join(package, "package.json")));
        }
        return (None, format!("{} has no script that runs tests once", join(package, "package.json")));
    }
    if read(&join(package, "pyproject.toml")).or_else(|| read(&join(package, "setup.py"))).is_some() {
        let command = format!("cd {place} && python -m pytest");
        return (Some(command), format!("{package} is a Python package"));
    }
    if read(&join(package, "Cargo.toml")).is_some() {
        return (Some(format!("cd {place} && cargo test")), format!("{package} is a Rust package"));
    }
    (Some(format!("cd {place} && go test ./...")), format!("{package} is a Go module"))
}

fn docs_check(read: &dyn Fn(&str) -> Option<String>, package: &str) -> (Option<String>, String) {
    for dir in [package, ""] {
        let scripts = scripts(read, dir).unwrap_or_default();
        if let Some(name) =
            DOCS_SCRIPTS.into_iter().find(|name| scripts.get(*name).is_some_and(|one| is_real(one)))
        {
            let enter = if dir.is_empty() { String::new() } else { format!("cd {} && ", quoted(dir)) };
            let command = format!("{enter}{} run {name}", manager(read));
            return (Some(command), format!("the script `{name}` of {}", join(dir, "package.json")));
        }
        if read(&join(dir, "mkdocs.yml")).is_some() {
            let command =
                format!("mkdocs build --strict -f {} -d \"$TMPDIR/site\"", quoted(&join(dir, "mkdocs.yml")));
            return (
                Some(command),
                format!("{} builds with its warnings as errors", join(dir, "mkdocs.yml")),
            );
        }
    }
    (None, "only documentation changed, and the project declares no check of it".to_owned())
}

fn scripts(read: &dyn Fn(&str) -> Option<String>, package: &str) -> Option<BTreeMap<String, String>> {
    let manifest: Value = serde_json::from_str(&read(&join(package, "package.json"))?).ok()?;
    let scripts = manifest.get("scripts").and_then(Value::as_object);
    let text = |(name, script): (&String, &Value)| Some((name.clone(), script.as_str()?.to_owned()));
    Some(scripts.into_iter().flatten().filter_map(text).collect())
}

/// What `npm init` writes is no test, and what watches does not end.
fn is_real(script: &str) -> bool {
    !script.contains("no test specified") && !script.contains("--watch") && !script.trim().is_empty()
}

fn manager(read: &dyn Fn(&str) -> Option<String>) -> &'static str {
    let locks =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    locks.into_iter().find(|(lock, _)| read(lock).is_some()).map_or("npm", |(_, manager)| manager)
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@' | '+');
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
