//! How the files of a jest project resolve imports.

use std::collections::BTreeSet;

use owed_engine::resolve::{Alias, AliasFind, ResolveOptions};
use owed_engine::runner::SharedRole;

use super::matcher::Matcher;
use super::options::{Drafting, nowhere};
use crate::runners::babel;
use crate::runners::config::value::Value;
use crate::runners::shared::package_of;

impl Drafting<'_, '_> {
    pub(super) fn resolve(&mut self, value: &Value, matcher: &Matcher) -> ResolveOptions {
        let mut module_paths = self.context.place.module_paths.clone();
        for written in self.strings(&value.get("modulePaths")) {
            module_paths.extend(self.inside(&written));
        }
        let mut module_directories = Vec::new();
        for written in self.strings(&value.get("moduleDirectories")) {
            let rooted = self.rooted(&written);
            if rooted.starts_with('/') {
                module_paths.extend(self.inside(&written));
            } else {
                module_directories.push(rooted.trim_start_matches("./").trim_end_matches('/').to_owned());
            }
        }
        let mut aliases = self.aliases(value);
        let mut dirs = vec![self.root.clone(), self.context.place.dir.clone(), String::new()];
        dirs.sort();
        dirs.dedup();
        // Babel writes imports anew before jest sees them.
        for dir in dirs.iter().rev() {
            let context = self.context;
            let found = babel::rewrites(context.tree, &context.reader, context.packages, dir);
            aliases.splice(0..0, found.aliases);
            module_paths.extend(found.roots);
            self.unknown.extend(found.unknown);
            for package in &found.packages {
                self.shared.package(package_of(package), SharedRole::Toolchain);
            }
            for file in found.files.iter().filter_map(|f| context.reader.existing(f)) {
                self.shared.file(&file, SharedRole::Plugin);
            }
        }
        ResolveOptions {
            root: self.root.clone(),
            conditions: self.conditions(value),
            aliases,
            extensions: matcher.extensions.iter().map(|e| format!(".{e}")).collect(),
            module_paths,
            module_directories,
            tsconfig_paths: self.source.tsconfig_paths,
            mock_roots: matcher.roots.clone(),
            ..ResolveOptions::default()
        }
    }

    fn aliases(&mut self, value: &Value) -> Vec<Alias> {
        let mut aliases = Vec::new();
        for one in value.get("moduleNameMapper").alternatives() {
            match one {
                Value::Undefined | Value::Null => {}
                Value::Object(object) => {
                    self.unknown.extend(object.open().cloned());
                    for key in object.keys() {
                        let targets = object.get(key).strings();
                        self.unknown.extend(targets.unknown);
                        for target in targets.possible {
                            let rooted = self.rooted(&target);
                            let replacement = match rooted.starts_with('/') {
                                true => match self.inside(&target) {
                                    Some(inside) => match inside.rsplit_once("node_modules/") {
                                        Some((_, package)) => package.to_owned(),
                                        None => format!("/{inside}"),
                                    },
                                    None => match rooted.rsplit_once("node_modules/") {
                                        Some((_, package)) => package.to_owned(),
                                        None => {
                                            self.unknown.push(nowhere(&format!(
                                                "the module `{key}` is mapped to, outside the repository,"
                                            )));
                                            continue;
                                        }
                                    },
                                },
                                false => rooted,
                            };
                            aliases.push(Alias { find: AliasFind::Regex(key.to_owned()), replacement });
                        }
                    }
                }
                other => self.unknown.push(other.unknown("`moduleNameMapper`")),
            }
        }
        aliases
    }

    fn conditions(&mut self, value: &Value) -> Vec<String> {
        let custom = value.at(&["testEnvironmentOptions", "customExportConditions"]);
        let strings = custom.strings();
        if !strings.absent || !strings.unknown.is_empty() {
            self.unknown.extend(strings.unknown);
            return strings.possible;
        }
        let mut conditions = Vec::new();
        for one in value.get("testEnvironment").alternatives() {
            let name = one.as_str().unwrap_or("node");
            let list: &[&str] = if name.contains("jsdom") || name.contains("happy-dom") {
                &["browser"]
            } else {
                &["node", "node-addons"]
            };
            conditions.extend(list.iter().map(|c| (*c).to_owned()));
        }
        let mut seen = BTreeSet::new();
        conditions.retain(|c: &String| seen.insert(c.clone()));
        conditions
    }
}
