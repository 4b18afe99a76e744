//! What holds for all files of a directory: the manifests and `node_modules` on the way
//! up, and the `tsconfig` that owns it.

use std::sync::Arc;

use owed_engine::path;
use owed_engine::resolve::Resolution;
use owed_engine::tree::Kind;

use super::package::{Package, below};
use super::tsconfig::{self, TsConfig};
use super::{Class, Js};

const CONFIG_NAMES: [&str; 2] = ["tsconfig.json", "jsconfig.json"];

/// Projects of one solution; more are not looked at.
const MAX_REFERENCES: usize = 4_096;

/// What holds for all files of a directory.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Manifests on the way up, the nearest first.
    pub(super) packages: Vec<Arc<Package>>,
    /// Directories on the way up that have a `node_modules`, the nearest first.
    pub(super) node_modules: Vec<String>,
    /// The configuration that owns the directory, with those it references.
    pub(super) tsconfigs: Vec<Arc<TsConfig>>,
    /// Configurations further up, asked when nothing else knows a specifier.
    outer: Vec<Arc<TsConfig>>,
    /// Where a configuration would come before the one that owns the directory.
    absent_tsconfigs: Vec<String>,
}

/// What `tsconfig` paths made of a specifier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TsAnswer {
    /// Something is there.
    pub(super) found: bool,
    /// An entry of `paths` other than `*` matches.
    pub(super) matched: bool,
}

impl Scope {
    /// The nearest range or address that a manifest gives for `name`, with its directory.
    pub(super) fn declares(&self, name: &str) -> Option<(&Package, &str)> {
        self.packages.iter().find_map(|package| Some((&**package, package.declares(name)?)))
    }
}

impl Js<'_> {
    /// What holds in `dir`.
    pub(super) fn scope(&self, dir: &str) -> Arc<Scope> {
        self.common.scopes.get(dir, || {
            let mut scope = Scope::default();
            let own = std::iter::once(dir).chain(path::ancestors(dir));
            for at in own {
                let entries = self.view.dir(at);
                if entries.kind("package.json") == Some(Kind::File) {
                    scope.packages.push(self.package(at));
                }
                if entries.kind("node_modules") == Some(Kind::Dir) {
                    scope.node_modules.push(at.to_owned());
                }
                if self.options.tsconfig.is_none() {
                    let name = CONFIG_NAMES.into_iter().find(|name| entries.kind(name) == Some(Kind::File));
                    match name {
                        Some(name) if scope.tsconfigs.is_empty() => {
                            self.own_tsconfig(&below(at, name), dir, &mut scope.tsconfigs);
                        }
                        Some(name) => scope.outer.push(self.tsconfig(&below(at, name))),
                        None if scope.tsconfigs.is_empty() => {
                            scope.absent_tsconfigs.push(below(at, CONFIG_NAMES[0]));
                        }
                        None => {}
                    }
                }
            }
            if let Some(forced) = &self.options.tsconfig {
                self.own_tsconfig(forced, dir, &mut scope.tsconfigs);
            }
            Arc::new(scope)
        })
    }

    /// Adds the configuration at `file` and those it references that may own `dir`.
    fn own_tsconfig(&self, file: &str, dir: &str, configs: &mut Vec<Arc<TsConfig>>) {
        let all = self.references.get(file, || {
            let mut queue = vec![file.to_owned()];
            let mut all = Vec::new();
            while let Some(file) = queue.get(all.len()).filter(|_| all.len() < MAX_REFERENCES) {
                let config = self.tsconfig(file);
                let new: Vec<_> =
                    config.references().iter().filter(|other| !queue.contains(other)).cloned().collect();
                queue.extend(new);
                all.push(config);
            }
            Arc::new(all)
        });
        let own = all.iter().enumerate().filter(|(at, config)| *at == 0 || config.may_own(dir));
        configs.extend(own.map(|(_, config)| Arc::clone(config)));
    }

    /// The configuration at `file`.
    pub(super) fn tsconfig(&self, file: &str) -> Arc<TsConfig> {
        self.tsconfigs.get(file, || {
            let find = |name: &str| {
                let member = self.workspace().named(name).first().map(|member| member.package.dir.clone());
                let installed = || {
                    path::ancestors(file)
                        .find_map(|dir| self.linked(&below(dir, &format!("node_modules/{name}"))))
                };
                member.or_else(installed)
            };
            Arc::new(tsconfig::load(&self.view, file, &find))
        })
    }

    /// Follows `paths` and, when asked to, `baseUrl`.
    pub(super) fn mapped(
        &self,
        scope: &Scope,
        text: &str,
        base_url: bool,
        class: Class,
        out: &mut Resolution,
    ) -> TsAnswer {
        out.absent.extend(scope.absent_tsconfigs.iter().cloned());
        let mut answer = TsAnswer::default();
        for config in &scope.tsconfigs {
            out.consulted.extend(config.chain.iter().cloned());
            self.mapped_by(config, text, base_url, class, out, &mut answer);
        }
        answer
    }

    /// The directory of the nearest manifest; where a nearer one would lie goes to `absent`.
    pub(super) fn nearest_package(&self, dir: &str, absent: &mut Vec<String>) -> Option<String> {
        let nearest = self.scope(dir).packages.first().map(|package| package.dir.clone());
        let own = std::iter::once(dir).chain(path::ancestors(dir));
        let nearer = own.take_while(|at| nearest.as_deref() != Some(*at));
        absent.extend(nearer.map(|at| below(at, "package.json")));
        nearest
    }

    /// The configuration that owns a directory, with all that it is made of.
    pub(super) fn owning_tsconfig(&self, dir: &str, out: &mut Resolution) {
        let scope = self.scope(dir);
        out.absent.extend(scope.absent_tsconfigs.iter().cloned());
        for config in &scope.tsconfigs {
            out.consulted.extend(config.chain.iter().cloned());
        }
    }

    /// Follows the configurations further up, for a specifier nobody else knows.
    pub(super) fn mapped_outside(
        &self,
        scope: &Scope,
        text: &str,
        class: Class,
        out: &mut Resolution,
    ) -> bool {
        let mut answer = TsAnswer::default();
        for config in &scope.outer {
            out.consulted.extend(config.chain.iter().cloned());
            self.mapped_by(config, text, true, class, out, &mut answer);
        }
        answer.found
    }

    fn mapped_by(
        &self,
        config: &TsConfig,
        text: &str,
        base_url: bool,
        class: Class,
        out: &mut Resolution,
        answer: &mut TsAnswer,
    ) {
        let rule = config.paths.iter().find_map(|rule| Some((rule, rule.apply(text)?)));
        let mut found = false;
        if let Some((rule, targets)) = rule {
            answer.matched |= !rule.is_catch_all();
            found = targets.iter().any(|target| self.locate(target, class, out));
        }
        if !found
            && base_url
            && let Some(base) = &config.base_url
        {
            found = path::join(base, text).is_some_and(|target| self.locate(&target, class, out));
        }
        answer.found |= found;
    }
}
