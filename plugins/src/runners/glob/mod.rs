//! Globs as JavaScript tools read them (picomatch, minimatch): braces, extended globs,
//! classes, `**`. Patterns are made project-relative and compiled into one automaton, so
//! that a hundred thousand paths cost one pass.
//!
//! It walks no directory: the inventory is what there is.

mod translate;

use owed_engine::path;
use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;

use translate::translate;

/// What differs between the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether `*` matches names that start with a dot.
    pub dot: bool,
}

/// Compiled patterns.
#[derive(Debug, Default)]
pub struct Globs {
    fast: Option<Regex>,
    /// Patterns with `!(…)`, which need look-ahead.
    slow: Vec<regress::Regex>,
    /// Patterns that could not be read, as written.
    pub refused: Vec<String>,
}

impl Globs {
    /// Compiles project-relative `patterns`.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>, style: Style) -> Self {
        let mut globs = Self::default();
        let mut fast = Vec::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let Some(translated) = translate(pattern, style) else {
                globs.refused.push(pattern.to_owned());
                continue;
            };
            if translated.ahead {
                match regress::Regex::new(&translated.text) {
                    Ok(regex) => globs.slow.push(regex),
                    Err(_) => globs.refused.push(pattern.to_owned()),
                }
            } else {
                fast.push(translated.text);
            }
        }
        if !fast.is_empty() {
            match compile(&fast) {
                Some(regex) => globs.fast = Some(regex),
                // One that does not compile must not take the others with it.
                None => {
                    for text in fast {
                        match regress::Regex::new(&text) {
                            Ok(regex) => globs.slow.push(regex),
                            Err(_) => globs.refused.push(text),
                        }
                    }
                }
            }
        }
        globs
    }

    /// Whether one of them matches `path`.
    pub fn is_match(&self, path: &str) -> bool {
        self.fast.as_ref().is_some_and(|r| r.is_match(path))
            || self.slow.iter().any(|r| r.find(path).is_some())
    }

    /// Whether one of them matches `path` or a directory on the way to it from `root`:
    /// tools do not enter a directory that is excluded.
    pub fn excludes(&self, path: &str, root: &str) -> bool {
        if self.fast.is_none() && self.slow.is_empty() {
            return false;
        }
        if self.is_match(path) {
            return true;
        }
        path::ancestors(path)
            .take_while(|dir| dir.len() > root.len() && path::is_within(dir, root))
            .any(|dir| self.is_match(dir))
    }
}

/// Paths are matched as bytes: tables of Unicode would make every `[^/]` large.
fn compile(patterns: &[String]) -> Option<Regex> {
    Regex::builder()
        .syntax(syntax::Config::new().unicode(false).utf8(false).dot_matches_new_line(true))
        .configure(Config::new().utf8_empty(false))
        .build_many(patterns)
        .ok()
}

/// `pattern`, written relative to the directory `dir`, as a project-relative one. `None`
/// when it starts outside the project.
pub fn at(dir: &str, pattern: &str) -> Option<String> {
    let pattern = pattern.trim_start_matches("./");
    if dir.is_empty() && !pattern.contains("..") {
        return Some(pattern.to_owned());
    }
    // `..` may only stand before the first wildcard; after it, it is a name like another.
    path::join(&escape(dir), pattern)
}

/// The directory a pattern's constant part names: `a/b/**/*.ts` gives `a/b`.
pub fn base(pattern: &str) -> &str {
    let wild = pattern.find(['*', '?', '[', '{', '(', '!', '+', '@']).unwrap_or(pattern.len());
    pattern[..wild].rfind('/').map_or("", |i| &pattern[..i])
}

/// `text` with everything special in globs escaped.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '(' | ')' | '!' | '+' | '@' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let globs = Globs::new([pattern], Style { dot: true });
        assert!(globs.refused.is_empty(), "{pattern}");
        globs.is_match(path)
    }

    #[test]
    fn patterns_of_the_runners() {
        let vitest = "**/*.{test,spec}.?(c|m)[jt]s?(x)";
        let jest = "**/__tests__/**/*.?([mc])[jt]s?(x)";
        let cases = [
            (vitest, "a.test.ts", true),
            (vitest, "x/y/a.spec.mjs", true),
            (vitest, "x/.y/a.spec.cjsx", true),
            (vitest, "a.test.tsx", true),
            (vitest, "a.tests.ts", false),
            (vitest, "atest.ts", false),
            (jest, "__tests__/a.js", true),
            (jest, "a/__tests__/b/c.mts", true),
            (jest, "a/tests/c.ts", false),
            ("**/?(*.)+(spec|test).[jt]s?(x)", "a/test.js", true),
            ("**/?(*.)+(spec|test).[jt]s?(x)", "a/b.spec.jsx", true),
            ("**/?(*.)+(spec|test).[jt]s?(x)", "a/bspec.js", false),
            ("src/*", "src/a.ts", true),
            ("src/*", "src/a/b.ts", false),
            ("src/**", "src/a/b.ts", true),
            ("**/node_modules/**", "a/node_modules/b/c.js", true),
            ("**/node_modules/**", "node_modules/b", true),
            ("**/.{idea,git,cache}/**", ".git/x", true),
            ("test/{a,b/{c,d}}/*.js", "test/b/d/x.js", true),
            ("test/{a,b/{c,d}}/*.js", "test/b/x.js", false),
            ("a/!(b|c).ts", "a/d.ts", true),
            ("a/!(b|c).ts", "a/b.ts", false),
            ("a/!(b)*.ts", "a/x.ts", true),
            ("packages/!(x)/test/*.ts", "packages/y/test/a.ts", true),
            ("packages/!(x)/test/*.ts", "packages/x/test/a.ts", false),
            ("packages/!(x)/test/*.ts", "packages/xy/test/a.ts", true),
            ("[[]x].ts", "[x].ts", true),
            ("\\[x\\].ts", "[x].ts", true),
            ("f{1..3}.ts", "f2.ts", true),
            ("(a|b).ts", "b.ts", true),
            ("*.(spec|test).ts", "x.spec.ts", true),
            ("a?.ts", "ab.ts", true),
            ("**.ts", "ab.ts", true),
            ("**/*", "a/b", true),
            ("*", "", false),
            ("a/?.ts", "a/ü.ts", true),
            ("a/[äö].ts", "a/ö.ts", true),
            ("ä/**", "ä/x", true),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
        }
        let hidden = Globs::new(["test/**/*.js", "*.js"], Style { dot: false });
        assert!(hidden.is_match("test/a/b.js") && hidden.is_match("a.js"));
        assert!(!hidden.is_match("test/.a/b.js") && !hidden.is_match(".a.js"));
    }

    #[test]
    fn an_excluded_directory_excludes_what_is_below() {
        let globs = Globs::new(["a/e2e", "**/dist"], Style { dot: true });
        assert!(globs.excludes("a/e2e/x/y.ts", ""));
        assert!(globs.excludes("a/b/dist/y.ts", "a"));
        assert!(!globs.excludes("a/e2e2/x.ts", ""));
    }

    #[test]
    fn patterns_become_project_relative() {
        assert_eq!(at("a/b", "../x/*.ts").as_deref(), Some("a/x/*.ts"));
        assert_eq!(at("", "./x/*.ts").as_deref(), Some("x/*.ts"));
        assert_eq!(at("a", "../../x"), None);
        assert_eq!(base("a/b/**/*.ts"), "a/b");
        assert_eq!(base("a/b.ts"), "a");
    }
}
