//! Which files are tests of a jest project.

use owed_engine::path;
use owed_engine::runner::View;

use super::options::{Drafting, nowhere};
use crate::runners::claims;
use crate::runners::config::root_of;
use crate::runners::config::value::Value;
use crate::runners::glob::{self, Globs, Style};
use crate::runners::regex::{self, Pattern};

const STYLE: Style = Style { dot: true };
/// Stands for the absolute path of the repository, so that patterns on absolute paths
/// mean the same wherever it lies.
const ROOT: &str = "/\u{1}";

fn test_match(major: Option<u32>) -> &'static [&'static str] {
    match major {
        Some(..30) => &["**/__tests__/**/*.[jt]s?(x)", "**/?(*.)+(spec|test).[tj]s?(x)"],
        _ => &["**/__tests__/**/*.?([mc])[jt]s?(x)", "**/?(*.)+(spec|test).?([mc])[jt]s?(x)"],
    }
}

const MODULE_EXTENSIONS: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json", "node"];

/// Which files are tests.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    /// The directories below which they lie.
    pub(super) roots: Vec<String>,
    /// Their extensions, without dot.
    pub(super) extensions: Vec<String>,
    /// Each possible list of patterns; in a list `true` marks a negated one.
    lists: Vec<Vec<(Globs, bool)>>,
    regexes: Vec<Pattern>,
    /// A file is ignored when every possible list ignores it.
    ignore: Vec<Vec<Pattern>>,
    ignore_modules: Vec<Pattern>,
    /// Whether anything that defines tests may be one.
    anything: bool,
}

impl Matcher {
    /// Whether the patterns are not known, so that anything may be a test.
    pub(super) fn anything(&self) -> bool {
        self.anything
    }

    /// Whether `file` is, or may be, a test.
    pub(super) fn may_match(&self, view: &View<'_>, file: &str) -> bool {
        if !self.extensions.iter().any(|e| ends_with_extension(file, e)) {
            return false;
        }
        let hit = self.lists.iter().any(|list| in_list(list, file))
            || (!self.regexes.is_empty() && {
                let absolute = format!("{ROOT}/{file}");
                self.regexes.iter().any(|r| r.is_match(&absolute))
            })
            || (self.anything && claims::defines_tests((view.facts)(file)));
        hit && !self.ignored(file)
    }

    /// Whether jest does not see `file` at all, or not as a test.
    fn ignored(&self, file: &str) -> bool {
        if self.ignore.is_empty() && self.ignore_modules.is_empty() {
            return false;
        }
        let absolute = format!("{ROOT}/{file}");
        (!self.ignore.is_empty() && self.ignore.iter().all(|l| l.iter().any(|p| p.is_match(&absolute))))
            || self.ignore_modules.iter().any(|p| p.is_match(&absolute))
    }
}

impl Drafting<'_, '_> {
    pub(super) fn matcher(&mut self, value: &Value) -> Matcher {
        let mut matcher = Matcher::default();
        let roots = value.get("roots").strings();
        self.unknown.extend(roots.unknown.iter().cloned());
        matcher.roots = roots.possible.iter().filter_map(|r| self.inside(r)).collect();
        if roots.absent || !roots.unknown.is_empty() || matcher.roots.is_empty() {
            matcher.roots.push(self.root.clone());
        }
        matcher.roots.sort();
        // A root inside another is listed once.
        let all = matcher.roots.clone();
        matcher.roots.retain(|r| !all.iter().any(|o| o != r && path::is_within(r, o)));
        matcher.roots.dedup();

        let extensions = value.get("moduleFileExtensions").strings();
        matcher.extensions = extensions.possible;
        if extensions.absent || !extensions.unknown.is_empty() {
            let old = self.context.major.is_some_and(|m| m < 30);
            let default = MODULE_EXTENSIONS.iter().filter(|e| !(old && matches!(**e, "mts" | "cts")));
            matcher.extensions.extend(default.map(|e| (*e).to_owned()));
        }
        self.unknown.extend(extensions.unknown);

        let regexes = value.get("testRegex");
        let lists = value.get("testMatch");
        let regex_strings = regexes.strings();
        for alternative in regexes.alternatives() {
            let items = match alternative {
                Value::Array(items) => items.as_slice(),
                one => std::slice::from_ref(one),
            };
            for item in items {
                match item {
                    Value::String(source) => matcher.regexes.extend(self.pattern(source, "")),
                    Value::Regex(source, flags) => matcher.regexes.extend(self.pattern(source, flags)),
                    _ => {}
                }
            }
        }
        let is_regex = |u: &Value| matches!(u, Value::Regex(..));
        if !regexes.alternatives().iter().any(is_regex) && !regex_strings.unknown.is_empty() {
            matcher.anything = true;
            self.unknown.extend(regex_strings.unknown);
        }
        for list in lists.alternatives() {
            let strings = list.strings();
            if !strings.unknown.is_empty() {
                matcher.anything = true;
                self.unknown.extend(strings.unknown);
            }
            if strings.absent {
                // The default holds unless regular expressions are given.
                if matcher.regexes.is_empty() || regex_strings.absent {
                    let default: Vec<String> =
                        test_match(self.context.major).iter().map(|s| (*s).to_owned()).collect();
                    let globs = self.globs(&default);
                    matcher.lists.push(globs);
                }
            } else {
                let globs = self.globs(&strings.possible);
                matcher.lists.push(globs);
            }
        }
        if matcher.anything {
            let default: Vec<String> = test_match(None).iter().map(|s| (*s).to_owned()).collect();
            let globs = self.globs(&default);
            matcher.lists.push(globs);
        }
        for list in value.get("testPathIgnorePatterns").alternatives() {
            let strings = list.strings();
            let mut sure = strings.sure;
            if strings.absent || !strings.unknown.is_empty() {
                sure = vec!["/node_modules/".to_owned()];
            }
            self.unknown.extend(strings.unknown);
            let patterns = sure.iter().filter_map(|p| self.pattern(p, "")).collect();
            matcher.ignore.push(patterns);
        }
        let modules = value.get("modulePathIgnorePatterns").strings();
        self.unknown.extend(modules.unknown);
        if value.get("modulePathIgnorePatterns").alternatives().len() == 1 {
            matcher.ignore_modules = modules.sure.iter().filter_map(|p| self.pattern(p, "")).collect();
        }
        matcher
    }

    /// A regular expression on absolute paths, about [`ROOT`].
    fn pattern(&mut self, written: &str, flags: &str) -> Option<Pattern> {
        let here = if self.root.is_empty() {
            ROOT.to_owned()
        } else {
            format!("{ROOT}/{}", regex::escape(&self.root))
        };
        let absolute = root_of(self.context.tree);
        let source = written
            .replace("<rootDir>", &here)
            .replace(&regex::escape(&absolute), ROOT)
            .replace(&absolute, ROOT);
        let pattern = Pattern::new(&source, flags);
        if pattern.is_none() {
            self.unknown.push(nowhere(&format!("the pattern `{written}`")));
        }
        pattern
    }

    /// Patterns as jest matches them, on absolute paths; neighbours of one kind together.
    fn globs(&mut self, patterns: &[String]) -> Vec<(Globs, bool)> {
        let mut groups: Vec<(Vec<String>, bool)> = Vec::new();
        for written in patterns {
            let (negated, body) = match written.strip_prefix('!') {
                Some(rest) if !rest.starts_with('(') => (true, rest),
                _ => (false, written.as_str()),
            };
            let Some(inside) = self.absolute_glob(body) else { continue };
            match groups.last_mut() {
                Some((group, kind)) if *kind == negated => group.push(inside),
                _ => groups.push((vec![inside], negated)),
            }
        }
        let mut list = Vec::new();
        for (group, negated) in groups {
            let globs = Globs::new(&group, STYLE);
            for pattern in &globs.refused {
                self.unknown.push(nowhere(&format!("the pattern `{pattern}`")));
            }
            list.push((globs, negated));
        }
        list
    }

    /// A pattern on absolute paths as a project-relative one. `None` for one that matches
    /// nothing of the project: relative patterns match no absolute path.
    fn absolute_glob(&self, written: &str) -> Option<String> {
        let absolute = format!("{}/", root_of(self.context.tree));
        if let Some(rest) = written.strip_prefix("<rootDir>/") {
            return glob::at(&self.root, rest);
        }
        if let Some(rest) = written.strip_prefix(&absolute) {
            return Some(rest.to_owned());
        }
        let free = written.strip_prefix('/').filter(|rest| rest.starts_with("**"));
        free.or_else(|| written.starts_with(['*', '{', '(', '?', '+', '@']).then_some(written))
            .map(str::to_owned)
    }
}

fn ends_with_extension(file: &str, extension: &str) -> bool {
    file.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'))
}

fn in_list(list: &[(Globs, bool)], file: &str) -> bool {
    let mut kept = None;
    for (globs, negated) in list {
        if globs.is_match(file) {
            kept = Some(!negated);
        }
    }
    match kept {
        Some(kept) => kept,
        // A list of nothing but exclusions keeps the rest.
        None => !list.is_empty() && list.iter().all(|(_, negated)| *negated),
    }
}
