//! Specifiers that name many files: `import.meta.glob`, `require.context`, and computed
//! imports that a constant part bounds.
//!
//! Patterns are widened, never narrowed: extended globs (`@(a|b)`, `!(x)`) become `*`,
//! and exclusions are ignored.

use globset::GlobBuilder;
use owed_engine::path;
use owed_engine::resolve::{Listing, Resolution, Target, UnknownImport};
use owed_engine::tree::Kind;

use super::alias::Rewritten;
use super::package::below;
use super::specifier::{self, Specifier};
use super::{Js, finish, node_modules_package};

const WILD: [char; 5] = ['*', '?', '[', '{', '('];

impl Js<'_> {
    /// A glob of `import.meta.glob` or `require.context`.
    pub(super) fn glob(&self, dir: &str, text: &str) -> Resolution {
        let text = text.split('?').next().unwrap_or(text);
        if text.starts_with('!') {
            return Resolution::default();
        }
        self.matching(dir, text, false)
    }

    /// A computed specifier with a constant part; nothing bounds an empty one.
    pub(super) fn computed(&self, dir: &str, text: &str) -> Resolution {
        self.matching(dir, text, true)
    }

    fn matching(&self, dir: &str, text: &str, module: bool) -> Resolution {
        // A rooted pattern starts at the runner's root, an alias rewrites it.
        let own = !self.aliases.is_empty() || text.starts_with('/');
        let mut out = Resolution { own, ..Resolution::default() };
        let patterns = self.anchored(dir, text, &mut out);
        if patterns.is_empty() && out.targets.is_empty() {
            out.unknown = Some(UnknownImport::Computed);
        }
        for pattern in patterns {
            let pattern = without_extended(&pattern);
            let (base, rest) = split(&pattern);
            if let Some((name, _)) = node_modules_package(&below(base, "x")) {
                out.targets.push(Target::Package(format!("npm:{name}")));
                continue;
            }
            let rest = if module { as_module(rest) } else { rest.to_owned() };
            if rest.contains("{**") || rest.contains(",**") {
                // Within braces `**` would match no directories.
                self.subtree(base, &mut out);
                continue;
            }
            let glob = GlobBuilder::new(&rest).literal_separator(true).build();
            let Ok(glob) = glob.map(|glob| glob.compile_matcher()) else {
                // Not a glob after all: everything below its constant part.
                self.subtree(base, &mut out);
                continue;
            };
            let files = self.view.below(base).iter();
            let matching =
                files.filter(|file| path::strip(file, base).is_some_and(|rest| glob.is_match(rest)));
            out.targets.extend(matching.cloned().map(Target::File));
            // Generated files are ignored and so not in the inventory.
            for (name, kind) in self.view.dir(base).entries() {
                if *kind == Kind::File && glob.is_match(name) {
                    out.targets.push(Target::File(below(base, name)));
                }
            }
            out.targets.push(Target::Listing(Listing { dir: base.to_owned(), glob: rest }));
        }
        finish(out)
    }

    fn subtree(&self, base: &str, out: &mut Resolution) {
        out.targets.extend(self.view.below(base).iter().cloned().map(Target::File));
        out.targets.push(Target::Listing(Listing { dir: base.to_owned(), glob: "**".to_owned() }));
    }

    /// The project-relative patterns that `text` stands for; none when nothing bounds it.
    fn anchored(&self, dir: &str, text: &str, out: &mut Resolution) -> Vec<String> {
        let constant = &text[..text.find(WILD).unwrap_or(text.len())];
        let mut patterns = Vec::new();
        for alias in &self.aliases {
            // What a pattern of the alias says about the wildcard part is not known.
            if let Rewritten::To(specifiers) = alias.apply(text) {
                for specifier in specifiers {
                    patterns.extend(match specifier.strip_prefix('/') {
                        Some(rest) => path::join("", rest).into_iter().collect(),
                        None => self.anchored_plain(dir, &specifier),
                    });
                }
            }
        }
        if !patterns.is_empty() {
            return patterns;
        }
        match specifier::parse(constant) {
            Specifier::Relative(_) | Specifier::Rooted(_) => self.anchored_plain(dir, text),
            Specifier::Bare(_) | Specifier::Internal(_) => {
                let scope = self.scope(dir);
                for config in &scope.tsconfigs {
                    out.consulted.extend(config.chain.iter().cloned());
                    let mapped = config.paths.iter().find_map(|rule| rule.apply(text));
                    patterns.extend(mapped.into_iter().flatten());
                }
                if let Some((name, subpath)) = specifier::package(text) {
                    let name_is_constant = !name.contains(WILD) && constant.len() > name.len();
                    if name_is_constant {
                        out.targets.push(Target::Package(format!("npm:{name}")));
                        let members = self.workspace().named(name).iter();
                        patterns.extend(members.map(|member| format!("{}{subpath}", member.package.dir)));
                    }
                }
                if let (Some(map), Specifier::Internal(_)) = (
                    scope.packages.first().and_then(|package| package.field("imports")),
                    specifier::parse(text),
                ) {
                    out.consulted.push(scope.packages[0].manifest());
                    let targets = super::package::imports(map, text, &|_| true).targets;
                    patterns.extend(targets.iter().filter_map(|t| path::join(&scope.packages[0].dir, t)));
                }
                patterns
            }
            _ => patterns,
        }
    }

    /// A relative or rooted pattern, as project paths.
    fn anchored_plain(&self, dir: &str, text: &str) -> Vec<String> {
        let mut patterns: Vec<String> = match text.strip_prefix('/') {
            Some(rest) => {
                self.options.all_roots().chain([""]).filter_map(|root| path::join(root, rest)).collect()
            }
            None if text.starts_with('.') => path::join(dir, text).into_iter().collect(),
            None => Vec::new(),
        };
        patterns.sort();
        patterns.dedup();
        patterns
    }
}

/// The directory before the first wildcard, and the rest.
fn split(pattern: &str) -> (&str, &str) {
    let wild = pattern.find(WILD).unwrap_or(pattern.len());
    match pattern[..wild].rfind('/') {
        Some(at) => (&pattern[..at], &pattern[at + 1..]),
        None => ("", pattern),
    }
}

/// A glob of specifiers as a glob of the files they may mean: with an extension, as a
/// TypeScript source, as a directory.
fn as_module(glob: &str) -> String {
    // `**` keeps its meaning only outside of braces.
    let (directories, glob) = match glob.rfind("**/") {
        Some(at) => glob.split_at(at + 3),
        None => ("", glob),
    };
    if glob.ends_with("**") {
        return format!("{directories}{glob}");
    }
    let written = [(".js", "[jt]s"), (".jsx", "[jt]sx"), (".mjs", "m[jt]s"), (".cjs", "c[jt]s")];
    for (ending, widened) in written {
        if let Some(stem) = glob.strip_suffix(ending) {
            let extra = if ending == ".js" { format!(",{stem}.tsx") } else { String::new() };
            return format!("{directories}{{{stem}.{widened}{extra}}}");
        }
    }
    format!("{directories}{{{glob},{glob}.*,{glob}/index.*,{glob}/package.json}}")
}

/// `pattern` with `@(…)`, `!(…)`, `+(…)`, `*(…)` and `?(…)` replaced by `*`.
fn without_extended(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut depth = 0usize;
    for c in pattern.chars() {
        match c {
            '(' => {
                if depth == 0 && out.ends_with(['@', '!', '+', '*', '?']) {
                    out.pop();
                    out.push('*');
                    depth = 1;
                } else if depth > 0 {
                    depth += 1;
                } else {
                    out.push(c);
                }
            }
            ')' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening() {
        for (pattern, want) in
            [("a/@(b|c(d)).ts", "a/*.ts"), ("!(x).ts", "*.ts"), ("a(b).ts", "a(b).ts"), ("a/**", "a/**")]
        {
            assert_eq!(without_extended(pattern), want);
        }
        assert_eq!(split("a/b/*.ts"), ("a/b", "*.ts"));
        assert_eq!(split("*.ts"), ("", "*.ts"));
        assert_eq!(split("a/b.ts"), ("a", "b.ts"));
        assert_eq!(as_module("*.js"), "{*.[jt]s,*.tsx}");
        assert_eq!(as_module("**"), "**");
        assert_eq!(as_module("x-*/**"), "x-*/**");
        assert_eq!(as_module("**/*.js"), "**/{*.[jt]s,*.tsx}");
        assert_eq!(as_module("**/a*"), "**/{a*,a*.*,a*/index.*,a*/package.json}");
    }
}
