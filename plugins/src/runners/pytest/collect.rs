//! Which files pytest collects, by the rules of one configuration: start directories,
//! name patterns, what is not descended into, what is ignored.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use owed_engine::path;
use owed_engine::tree::Tree;

use super::config::Config;
use crate::python::project::literal::Module;

/// The rules of one project, ready to be asked.
pub(crate) struct Rules {
    /// Files or directories pytest starts at.
    pub(crate) starts: Vec<String>,
    names: Patterns,
    skipped_dirs: Patterns,
    ignored: Vec<String>,
    ignored_globs: Patterns,
    texts: Patterns,
}

/// Patterns as pytest's `fnmatch_ex` reads them: without `/` they match the last name,
/// with one the end of the path.
pub(crate) struct Patterns {
    by_name: GlobSet,
    by_path: GlobSet,
}

impl Patterns {
    pub(crate) fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let (mut by_name, mut by_path) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let pattern = pattern.trim_start_matches("./");
            // `{arch}` is literal there, not an alternative.
            let escaped = pattern.replace('{', "[{]").replace('}', "[}]");
            let deep = escaped.contains('/');
            let text = if deep { format!("**/{}", escaped.trim_start_matches('/')) } else { escaped };
            if let Ok(glob) = GlobBuilder::new(&text).literal_separator(false).build() {
                if deep {
                    by_path.add(glob)
                } else {
                    by_name.add(glob)
                };
            }
        }
        let build = |set: GlobSetBuilder| set.build().unwrap_or_else(|_| GlobSet::empty());
        Self { by_name: build(by_name), by_path: build(by_path) }
    }

    pub(crate) fn matches(&self, path: &str) -> bool {
        self.by_name.is_match(path::basename(path)) || self.by_path.is_match(path)
    }
}

impl Rules {
    /// The rules of `config`; `extra` are paths that scripts name on pytest's command line.
    pub(crate) fn new(tree: &dyn Tree, config: &Config, extra: &[String]) -> Self {
        let dir = config.dir.as_str();
        let mut starts: Vec<String> = config.testpaths.iter().flat_map(|p| expand(tree, dir, p)).collect();
        if starts.is_empty() {
            starts.push(dir.to_owned());
        } else {
            starts.extend(extra.iter().filter(|p| path::is_within(p, dir)).cloned());
        }
        starts.sort();
        starts.dedup();
        let (ignored, globs) = conftest_ignores(tree, dir);
        let options = config.ignore.iter().filter_map(|p| path::join(dir, p));
        let ignored_globs = config.ignore_globs.iter().chain(&globs).map(String::as_str);
        Self {
            starts,
            names: Patterns::new(config.python_files.iter().map(String::as_str)),
            skipped_dirs: Patterns::new(config.norecursedirs.iter().map(String::as_str)),
            ignored: options.chain(ignored).collect(),
            ignored_globs: Patterns::new(ignored_globs),
            texts: Patterns::new(config.doctest_globs.iter().map(String::as_str)),
        }
    }

    /// Whether pytest descends to `file` and does not ignore it.
    pub(crate) fn reaches(&self, file: &str) -> bool {
        let start = self.starts.iter().filter(|s| path::is_within(file, s)).max_by_key(|s| s.len());
        let Some(start) = start else { return false };
        if self.ignored.iter().any(|ignored| path::is_within(file, ignored))
            || self.ignored_globs.matches(file)
        {
            return false;
        }
        path::ancestors(file)
            .take_while(|dir| dir.len() > start.len())
            .all(|dir| !self.skipped_dirs.matches(dir) && !self.ignored_globs.matches(dir))
    }

    /// Whether the file's name makes it a test module. A file that is a start itself
    /// always is one.
    pub(crate) fn is_test_module(&self, file: &str) -> bool {
        file.ends_with(".py") && (self.names.matches(file) || self.starts.iter().any(|start| start == file))
    }

    /// Whether the file is a text that may hold doctests.
    pub(crate) fn is_doctest_text(&self, file: &str) -> bool {
        !file.ends_with(".py") && self.texts.matches(file)
    }
}

/// `collect_ignore` and `collect_ignore_glob` of the conftests below `dir`, where they are
/// literal. A list that something may shorten is taken as empty: more is collected then.
fn conftest_ignores(tree: &dyn Tree, dir: &str) -> (Vec<String>, Vec<String>) {
    let (mut paths, mut globs) = (Vec::new(), Vec::new());
    for file in path::below(tree.files(), dir).iter().filter(|f| path::basename(f) == "conftest.py") {
        let Some(text) = tree.text_with(file, &["collect_ignore"]) else { continue };
        let Some(module) = Module::parse(&text) else { continue };
        for (name, to) in [("collect_ignore", &mut paths), ("collect_ignore_glob", &mut globs)] {
            if !may_shrink(&text, name) {
                let entries = module.constant(name).into_iter().flat_map(|value| value.texts());
                to.extend(entries.filter_map(|entry| path::join(path::dirname(file), entry)));
            }
        }
    }
    (paths, globs)
}

/// Whether `name` is assigned more than once, or entries are taken out of it.
fn may_shrink(text: &str, name: &str) -> bool {
    let mut assigned = 0;
    for (at, _) in text.match_indices(name) {
        let rest = text[at + name.len()..].trim_start_matches([' ', '\t']);
        if rest.starts_with('=') && !rest.starts_with("==") {
            assigned += 1;
        }
        if [".remove", ".clear", ".pop", "[", "-="].iter().any(|word| rest.starts_with(word)) {
            return true;
        }
    }
    assigned > 1
}

/// The existing paths a `testpaths` entry means.
fn expand(tree: &dyn Tree, dir: &str, written: &str) -> Vec<String> {
    let Some(joined) = path::join(dir, written.trim_end_matches('/')) else { return Vec::new() };
    if !joined.contains(['*', '?', '[']) {
        return tree.kind(&joined).map(|_| joined).into_iter().collect();
    }
    let Ok(glob) = GlobBuilder::new(&joined).literal_separator(true).build() else { return Vec::new() };
    let matcher = glob.compile_matcher();
    let mut found: Vec<String> = Vec::new();
    for file in path::below(tree.files(), dir) {
        let candidates = std::iter::once(file.as_str()).chain(path::ancestors(file));
        let matching = candidates.filter(|at| path::is_within(at, dir) && matcher.is_match(at));
        found.extend(matching.map(str::to_owned));
    }
    found.sort();
    found.dedup();
    found
}
