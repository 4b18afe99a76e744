//! Which file an import of a configuration file means. Only files of the project are
//! followed; a package outside it stays a name.

use owed_engine::path;

use super::module::Module;
use super::value::Value;
use super::{Reader, normal, relative, unknown};

const EXTENSIONS: &[&str] = &["ts", "mts", "cts", "js", "mjs", "cjs", "json", "tsx", "jsx"];

impl Reader<'_> {
    /// The value of the name `name` imported from `specifier` in `module`.
    pub(super) fn import(&self, module: &Module<'_, '_>, specifier: &str, name: &str) -> Value {
        if specifier.starts_with('.') || specifier.starts_with('/') {
            return match self.beside(&module.dir(), specifier) {
                Some(path) => self.export(&path, name),
                None => unknown(format!("`{specifier}`, which is not in the project"), module.path, 1),
            };
        }
        let specifier = specifier.strip_prefix("node:").unwrap_or(specifier);
        if let Some(value) = self.known.get(&(specifier.to_owned(), name.to_owned())) {
            return value.clone();
        }
        match self.package_file(specifier) {
            Some(path) => self.export(&path, name),
            None => Value::Package(specifier.to_owned(), name.to_owned()),
        }
    }

    /// The file that `specifier` means beside the absolute directory `dir`.
    pub(super) fn beside(&self, dir: &str, specifier: &str) -> Option<String> {
        let target = if specifier.starts_with('/') {
            normal(specifier)
        } else {
            normal(&format!("{dir}/{specifier}"))
        };
        let target = relative(&self.root, &target)?;
        self.existing(&target)
    }

    /// `target`, `target` with an extension, or an index file in it.
    pub fn existing(&self, target: &str) -> Option<String> {
        if self.tree.is_file(target) {
            return Some(target.to_owned());
        }
        for extension in EXTENSIONS {
            let candidate = format!("{target}.{extension}");
            if self.tree.is_file(&candidate) {
                return Some(candidate);
            }
        }
        // TypeScript sources are imported by the name of what they compile to.
        for (from, to) in [(".js", [".ts", ".tsx"]), (".mjs", [".mts", ""]), (".cjs", [".cts", ""])] {
            if let Some(stem) = target.strip_suffix(from) {
                for to in to.into_iter().filter(|to| !to.is_empty()) {
                    let candidate = format!("{stem}{to}");
                    if self.tree.is_file(&candidate) {
                        return Some(candidate);
                    }
                }
            }
        }
        if self.tree.is_dir(target) {
            for extension in EXTENSIONS {
                let candidate = path::join(target, &format!("index.{extension}"))?;
                if self.tree.is_file(&candidate) {
                    return Some(candidate);
                }
            }
        }
        None
    }

    /// The file of a workspace package that `specifier` means.
    pub fn package_file(&self, specifier: &str) -> Option<String> {
        let (package, rest) = split(specifier);
        let dir = self.packages.dir_of(package)?;
        let manifest = self.tree.text(&path::join(dir, "package.json")?)?;
        let manifest: serde_json::Value = serde_json::from_str(&manifest).ok()?;
        if rest.is_empty() {
            let exported = manifest.get("exports").and_then(|e| export_of(e, "."));
            let fields =
                ["main", "module"].iter().filter_map(|f| manifest.get(*f)?.as_str().map(str::to_owned));
            for candidate in exported.into_iter().chain(fields) {
                if let Some(file) = path::join(dir, &candidate).and_then(|p| self.existing(&p)) {
                    return Some(file);
                }
            }
            return self.existing(dir).or_else(|| self.existing(&path::join(dir, "src")?));
        }
        let key = format!("./{rest}");
        manifest
            .get("exports")
            .and_then(|e| export_of(e, &key))
            .and_then(|target| self.existing(&path::join(dir, &target)?))
            .or_else(|| self.existing(&path::join(dir, rest)?))
    }
}

/// The package's name and the rest of a specifier: `@a/b/c` gives `@a/b` and `c`.
pub fn split(specifier: &str) -> (&str, &str) {
    let slash = if specifier.starts_with('@') {
        specifier.find('/').and_then(|i| specifier[i + 1..].find('/').map(|j| i + 1 + j))
    } else {
        specifier.find('/')
    };
    slash.map_or((specifier, ""), |i| (&specifier[..i], &specifier[i + 1..]))
}

fn export_of(exports: &serde_json::Value, key: &str) -> Option<String> {
    match exports {
        serde_json::Value::String(s) => (key == ".").then(|| s.clone()),
        serde_json::Value::Object(map) if map.keys().any(|k| k.starts_with('.')) => {
            map.get(key).and_then(condition)
        }
        other => (key == ".").then(|| condition(other)).flatten(),
    }
}

fn condition(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(s) => Some(s.clone()),
        serde_json::Value::Object(map) => {
            map.iter().filter(|(k, _)| *k != "types").find_map(|(_, v)| condition(v))
        }
        _ => None,
    }
}
