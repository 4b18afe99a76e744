//! `package.json` files of the inventory: names, dependencies, scripts, workspaces.

use std::collections::BTreeMap;

use owed_engine::path;
use owed_engine::tree::Tree;

use super::config::json;
use super::config::value::Value;

/// One `package.json`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Package {
    /// The directory it is in.
    pub dir: String,
    /// Its whole content; [`Value::Unknown`] when it cannot be read.
    pub value: Value,
}

/// Every `package.json` of the inventory.
#[derive(Clone, Debug, Default)]
pub struct Packages {
    /// By directory.
    by_dir: BTreeMap<String, Package>,
    by_name: BTreeMap<String, String>,
}

impl Package {
    /// Its name, when it has one.
    pub fn name(&self) -> Option<String> {
        self.value.get("name").as_str().map(str::to_owned)
    }

    /// Its scripts: name and command.
    pub fn scripts(&self) -> Vec<(String, String)> {
        let Value::Object(scripts) = self.value.get("scripts") else { return Vec::new() };
        scripts
            .keys()
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), scripts.get(name).as_str()?.to_owned())))
            .collect()
    }

    /// The range with which it declares the package `name`.
    pub fn declares(&self, name: &str) -> Option<String> {
        ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"].iter().find_map(
            |field| match self.value.simply(field).map(|field| field.simply(name)) {
                Some(Some(range)) => range.as_str().map(str::to_owned),
                _ => self.value.get(field).get(name).as_str().map(str::to_owned),
            },
        )
    }
}

impl Packages {
    /// Reads every `package.json` of the inventory of `tree`.
    pub fn read(tree: &dyn Tree) -> Self {
        let mut packages = Self::default();
        for file in tree.files() {
            if path::basename(file) != "package.json" {
                continue;
            }
            let dir = path::dirname(file).to_owned();
            let value = tree.text(file).map_or_else(Value::default, |text| json::parse(&text, file));
            let package = Package { dir: dir.clone(), value };
            if let Some(name) = package.name() {
                packages.by_name.entry(name).or_insert_with(|| dir.clone());
            }
            packages.by_dir.insert(dir, package);
        }
        packages
    }

    /// Those whose scripts count: all but the ones among fixtures of a package above.
    pub fn running(&self) -> impl Iterator<Item = &Package> {
        self.by_dir.values().filter(|p| {
            let fixture = p.dir.split('/').any(super::outcome::is_fixture);
            !(fixture && chain(&p.dir).skip(1).any(|d| self.by_dir.contains_key(d)))
        })
    }

    /// All of them, by directory.
    pub fn all(&self) -> impl Iterator<Item = &Package> {
        self.by_dir.values()
    }

    /// The one in the directory `dir`.
    pub fn at(&self, dir: &str) -> Option<&Package> {
        self.by_dir.get(dir)
    }

    /// The directory of the package called `name`.
    pub fn dir_of(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).map(String::as_str)
    }

    /// The nearest one at `dir` or above.
    pub fn nearest(&self, dir: &str) -> Option<&Package> {
        chain(dir).find_map(|d| self.by_dir.get(d))
    }

    /// Whether a package at `dir` or above declares `name`, and how.
    pub fn declared(&self, dir: &str, name: &str) -> Option<String> {
        chain(dir).find_map(|d| self.by_dir.get(d)?.declares(name))
    }
}

/// `dir` and every directory above it, nearest first.
pub fn chain(dir: &str) -> impl Iterator<Item = &str> {
    std::iter::once(dir).chain(path::ancestors(dir))
}

/// The major version of the package `name` as seen from `dir`: the installed one, or what
/// the manifests ask for. `None` when neither says.
pub fn major(tree: &dyn Tree, packages: &Packages, dir: &str, name: &str) -> Option<u32> {
    for dir in chain(dir) {
        if let Some(manifest) = path::join(dir, &format!("node_modules/{name}/package.json"))
            && let Some(text) = tree.text(&manifest)
            && let Some(version) = json::parse(&text, &manifest).get("version").as_str()
        {
            return first_number(version);
        }
    }
    let range = packages.declared(dir, name)?;
    if let Some(catalog) = range.strip_prefix("catalog:") {
        return first_number(&from_catalog(tree, packages, catalog, name)?);
    }
    // `>=2`, `*` and `latest` do not say which.
    if range.starts_with(['^', '~', '=']) || range.starts_with(|c: char| c.is_ascii_digit()) {
        first_number(&range)
    } else {
        range.rsplit_once('@').and_then(|(_, r)| first_number(r))
    }
}

fn from_catalog(tree: &dyn Tree, packages: &Packages, catalog: &str, name: &str) -> Option<String> {
    let file = "pnpm-workspace.yaml";
    let workspace = match tree.text(file) {
        Some(text) => super::config::yaml::parse(&text, file),
        None => packages.at("")?.value.get("workspaces"),
    };
    let entry = if catalog.is_empty() || catalog == "default" {
        workspace.at(&["catalog", name])
    } else {
        workspace.at(&["catalogs", catalog, name])
    };
    entry.as_str().map(str::to_owned).or_else(|| match entry {
        Value::Number(n) => Some(n.to_string()),
        _ => None,
    })
}

fn first_number(version: &str) -> Option<u32> {
    let digits: String = version
        .trim_start_matches(|c: char| !c.is_ascii_digit())
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}
