//! The options of one jest project: from a configuration value to what the engine asks
//! for, with everything that is not known kept beside it.

use owed_engine::facts::Opaque;
use owed_engine::path;
use owed_engine::resolve::Listing;
use owed_engine::runner::{RunnerEffect, RunnerProject, SharedRole};

use super::matcher::Matcher;
use super::projects::{Context, Source, root_dir};
use crate::runners::config::value::{Unknown, Value};
use crate::runners::shared::{Inputs, package_of};

/// A project with the rule that lists its tests.
pub(super) struct Draft {
    pub(super) project: RunnerProject,
    pub(super) matcher: Matcher,
    /// Whether snapshots lie beside their tests.
    pub(super) snapshots: bool,
    /// The configuration file that speaks for it.
    pub(super) config: Option<String>,
    /// `rootDir`, project-relative.
    pub(super) root: String,
    /// What its configuration leaves open.
    pub(super) unknown: Vec<Unknown>,
}

/// Reads the options of `source`.
pub(super) fn draft(context: &Context<'_>, source: &Source) -> Draft {
    let root = root_dir(context, &source.value, &source.dir).unwrap_or_else(|| source.dir.clone());
    Drafting { context, source, root, unknown: source.unknown.clone(), shared: Inputs::default() }.run()
}

/// `randomize` draws the order of the tests of each file.
fn randomized(value: &Value, config: Option<&str>) -> Vec<RunnerEffect> {
    if value.get("randomize").truthy() == Some(false) {
        return Vec::new();
    }
    vec![RunnerEffect {
        reason: Opaque::Random,
        operation: "randomize".to_owned(),
        path: config.unwrap_or_default().to_owned(),
        fix: "Take `randomize` out of the configuration.".to_owned(),
    }]
}

/// A project under construction.
pub(super) struct Drafting<'a, 'b> {
    pub(super) context: &'a Context<'b>,
    pub(super) source: &'a Source,
    pub(super) root: String,
    pub(super) unknown: Vec<Unknown>,
    pub(super) shared: Inputs,
}

impl Drafting<'_, '_> {
    fn run(mut self) -> Draft {
        let value = &self.source.value;
        if let other @ (Value::Unknown(_) | Value::Call(_) | Value::Either(_)) = value.get("rootDir") {
            self.unknown.push(other.unknown("the root directory"));
        }
        let matcher = self.matcher(value);
        self.inputs(value);
        let options = self.resolve(value, &matcher);
        if value.get("automock").truthy() != Some(false) {
            self.unknown.push(nowhere("which modules `automock` replaces"));
        }
        let moved = value.get("snapshotResolver").truthy() != Some(false);
        if moved {
            self.shared.stray_snapshots(self.context.tree, &self.root);
        }
        for config in &self.source.configs {
            if path::basename(config) != "package.json" {
                self.shared.config(config);
            }
        }
        self.shared.manifests(self.context.tree, self.context.packages, &self.root);
        self.shared.package("jest", SharedRole::Toolchain);
        for package in &self.source.packages {
            self.shared.package(package_of(package), SharedRole::Toolchain);
        }
        let name = match value.get("displayName") {
            Value::String(name) => Some(name),
            Value::Object(object) => object.get("name").as_str().map(str::to_owned),
            _ => None,
        };
        self.unknown.sort();
        self.unknown.dedup();
        Draft {
            project: RunnerProject {
                root: if self.source.listed { self.root.clone() } else { self.context.place.dir.clone() },
                name: name.filter(|_| self.source.listed),
                resolve: options,
                tests: Vec::new(),
                shared: self.shared.finish(),
                listings: matcher
                    .roots
                    .iter()
                    .map(|dir| Listing { dir: dir.clone(), glob: "**/__mocks__/**".to_owned() })
                    .collect(),
                unsettled: Vec::new(),
                effects: randomized(value, self.source.config.as_deref()),
                isolated: false,
                checked: false,
            },
            matcher,
            snapshots: !moved,
            config: self.source.config.clone(),
            root: self.root,
            unknown: self.unknown,
        }
    }

    /// `<rootDir>` in a path.
    pub(super) fn rooted(&self, written: &str) -> String {
        written.replace("<rootDir>", &self.context.reader.absolute(&self.root))
    }

    pub(super) fn inside(&self, written: &str) -> Option<String> {
        self.context.reader.inside(&self.rooted(written), &self.root)
    }

    pub(super) fn strings(&mut self, value: &Value) -> Vec<String> {
        let strings = value.strings();
        self.unknown.extend(strings.unknown);
        strings.possible
    }
}

/// Something unknown that no line shows.
pub(super) fn nowhere(reason: &str) -> Unknown {
    Unknown { reason: reason.to_owned(), path: String::new(), line: 0 }
}
