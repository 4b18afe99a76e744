//! Which files are tests of a vitest project.

use owed_engine::path;
use owed_engine::problem::Widening;
use owed_engine::runner::View;

use super::options::Drafting;
use crate::runners::claims;
use crate::runners::config::root_of;
use crate::runners::config::value::{Unknown, Value};
use crate::runners::glob::{self, Globs, Style};
use crate::runners::shared::package_of;

/// Vitest's default `include`.
pub(super) const INCLUDE: &[&str] = &["**/*.{test,spec}.?(c|m)[jt]s?(x)"];
const TYPE_TESTS: &[&str] = &["**/*.{test,spec}-d.?(c|m)[jt]s?(x)"];
const STYLE: Style = Style { dot: true };

/// Vitest's default `exclude`; the fourth major version excludes less.
pub(super) fn exclude(major: Option<u32>) -> &'static [&'static str] {
    match major {
        Some(1..=3) => &[
            "**/node_modules/**",
            "**/dist/**",
            "**/cypress/**",
            "**/.{idea,git,cache,output,temp}/**",
            "**/{karma,rollup,webpack,vite,vitest,jest,ava,babel,nyc,cypress,tsup,build,eslint,prettier}.config.*",
        ],
        _ => &["**/node_modules/**", "**/.git/**"],
    }
}

/// How a project checks types.
#[derive(Clone, Debug, Default)]
pub(super) struct Checker {
    /// The configuration it is given; the nearest one otherwise.
    pub(super) tsconfig: Option<String>,
    /// The packages it is made of.
    pub(super) packages: Vec<String>,
    /// What is not known about it; tests that are run do not mind.
    pub(super) unknown: Vec<Unknown>,
    /// The same as reasons to check whatever changes.
    pub(super) unsettled: Vec<Widening>,
}

/// How a file is a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// It is run.
    pub(super) runs: bool,
    /// Its types are checked.
    pub(super) checked: bool,
}

/// Which files are tests.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    /// The directory below which they lie.
    pub(super) base: String,
    include: Globs,
    /// A file is out when every possible list excludes it.
    exclude: Vec<Globs>,
    in_source: Globs,
    types: Globs,
    types_exclude: Vec<Globs>,
    /// How types are checked.
    pub(super) checker: Checker,
    /// Whether anything that defines tests may be one.
    anything: bool,
}

impl Matcher {
    /// Says that the patterns may be others than those that are read.
    pub(super) fn may_be_anything(&mut self) {
        self.anything = true;
    }

    /// Whether the patterns are not known, so that anything may be a test.
    pub(super) fn anything(&self) -> bool {
        self.anything
    }

    /// Whether `file` is a test only for what stands below the code in it.
    pub(super) fn is_in_source(&self, file: &str) -> bool {
        self.in_source.is_match(file) && !self.include.is_match(file) && !self.types.is_match(file)
    }

    /// How `file` is, or may be, a test.
    pub(super) fn claims(&self, view: &View<'_>, file: &str) -> Claim {
        let out = |lists: &[Globs]| !lists.is_empty() && lists.iter().all(|l| l.excludes(file, &self.base));
        let checked = self.types.is_match(file) && !out(&self.types_exclude);
        let hit = self.include.is_match(file)
            || (self.anything && claims::defines_tests((view.facts)(file)))
            || (self.in_source.is_match(file)
                && view.tree.text_with(file, &["import.meta.vitest"]).is_some());
        Claim { runs: hit && !out(&self.exclude), checked }
    }
}

impl Drafting<'_, '_> {
    pub(super) fn matcher(&mut self, test: &Value) -> Matcher {
        let dir = match test.get("dir") {
            Value::String(dir) => self.inside(&dir, &self.root),
            Value::Undefined | Value::Null => None,
            other => {
                self.unknown.push(other.unknown("the directory of the tests"));
                None
            }
        };
        let dir = dir.or_else(|| self.context.place.only.clone()).unwrap_or_else(|| self.root.clone());
        let include = test.get("include").strings();
        let mut patterns = include.possible.clone();
        let anything = !include.unknown.is_empty();
        if include.absent || anything {
            patterns.extend(INCLUDE.iter().map(|s| (*s).to_owned()));
        }
        self.unknown.extend(include.unknown);
        let default = exclude(self.context.major);
        let types = test.get("typecheck");
        let enabled = self.context.place.typecheck || types.get("enabled").truthy() != Some(false);
        let mut matcher = Matcher {
            include: self.globs(&dir, &patterns),
            exclude: self.excludes(&dir, &test.get("exclude"), default),
            anything,
            ..Matcher::default()
        };
        let in_source = self.strings(&test.get("includeSource"));
        matcher.in_source = self.globs(&dir, &in_source);
        let mut all = patterns;
        all.extend(in_source);
        if enabled {
            let list = types.get("include").strings();
            let mut patterns = list.possible;
            if list.absent {
                patterns.extend(TYPE_TESTS.iter().map(|s| (*s).to_owned()));
            }
            self.unknown.extend(list.unknown);
            matcher.types = self.globs(&dir, &patterns);
            matcher.types_exclude = self.excludes(&dir, &types.get("exclude"), default);
            matcher.checker = self.checker(&types);
            all.extend(patterns);
            if types.get("only").truthy() == Some(true) && types.get("enabled").truthy() == Some(true) {
                matcher.include = Globs::default();
                matcher.anything = false;
            }
        }
        // A pattern may start above the directory (`../shared/**`).
        matcher.base = self
            .patterns(&dir, &all)
            .iter()
            .map(|p| glob::base(p).to_owned())
            .reduce(|a, b| common(&a, &b).to_owned())
            .filter(|base| !path::is_within(base, &dir))
            .unwrap_or(dir);
        matcher
    }

    /// The checker, as far as it is known.
    fn checker(&self, types: &Value) -> Checker {
        let mut unknown = Vec::new();
        let tsconfig = match types.get("tsconfig") {
            Value::Undefined | Value::Null => None,
            Value::String(written) => {
                let file = self.inside(&written, &self.root);
                if file.is_none() {
                    unknown.push(Unknown {
                        reason: format!("`{written}`, the types' configuration outside of the repository,"),
                        path: String::new(),
                        line: 0,
                    });
                }
                file
            }
            other => {
                unknown.push(other.unknown("the configuration of the type checker"));
                None
            }
        };
        let program = types.get("checker");
        let packages: &[&str] = match &program {
            Value::Undefined | Value::Null => &["typescript"],
            Value::String(name) if name == "tsc" => &["typescript"],
            Value::String(name) if name == "vue-tsc" => &["typescript", "vue-tsc"],
            Value::String(name) if name == "tsgo" => &["@typescript/native-preview"],
            Value::String(path) => match path.rsplit_once("node_modules/") {
                Some((_, package)) => &["typescript", package_of(package)],
                None => {
                    unknown.push(program.unknown("the type checker"));
                    &["typescript"]
                }
            },
            other => {
                unknown.push(other.unknown("the type checker"));
                &["typescript"]
            }
        };
        Checker {
            tsconfig,
            packages: packages.iter().map(|p| (*p).to_owned()).collect(),
            unknown,
            unsettled: Vec::new(),
        }
    }

    fn patterns(&mut self, dir: &str, patterns: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for pattern in patterns.iter().filter(|p| !p.starts_with('!')) {
            let inside = if pattern.starts_with('/') {
                let root = format!("{}/", root_of(self.context.tree));
                pattern.strip_prefix(&root).map(str::to_owned)
            } else {
                glob::at(dir, pattern)
            };
            match inside {
                Some(pattern) => found.push(pattern),
                // Nothing of the project matches a pattern outside it.
                None => continue,
            }
        }
        found
    }

    fn globs(&mut self, dir: &str, patterns: &[String]) -> Globs {
        let globs = Globs::new(self.patterns(dir, patterns), STYLE);
        for pattern in &globs.refused {
            self.unknown.push(Unknown {
                reason: format!("the pattern `{pattern}`"),
                path: String::new(),
                line: 0,
            });
        }
        globs
    }

    /// One set of globs for each list that is possible; nothing is excluded for sure by
    /// a list that is not known.
    fn excludes(&mut self, dir: &str, value: &Value, default: &[&str]) -> Vec<Globs> {
        let mut lists = Vec::new();
        for one in value.alternatives() {
            let strings = one.strings();
            let known = strings.unknown.is_empty();
            self.unknown.extend(strings.unknown);
            let mut patterns = strings.sure;
            if strings.absent {
                patterns = default.iter().map(|s| (*s).to_owned()).collect();
            }
            if !known {
                patterns.push("**/node_modules/**".to_owned());
            }
            // Older versions take `e2e/` for nothing at all.
            if self.context.major.is_some_and(|m| m >= 3) {
                patterns.iter_mut().for_each(|p| p.truncate(p.trim_end_matches('/').len()));
            }
            lists.push(self.globs(dir, &patterns));
        }
        lists
    }
}

fn common<'a>(a: &'a str, b: &str) -> &'a str {
    let mut dir = a;
    while !path::is_within(b, dir) {
        dir = path::dirname(dir);
    }
    dir
}
