//! The options of one start of mocha: its command line over its configuration file.

use owed_engine::path;
use owed_engine::tree::Tree;

use super::starts::Start;
use crate::runners::compiled::{self, Output};
use crate::runners::config::Reader;
use crate::runners::config::value::{Unknown, Value};
use crate::runners::glob::{self, Globs, Style};

const EXTENSIONS: &[&str] = &["js", "cjs", "mjs"];

/// What a start and its configuration say together.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) requires: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) plugins: Vec<String>,
    pub(super) unknown: Vec<Unknown>,
    specs: Vec<String>,
    ignores: Vec<String>,
    extensions: Vec<String>,
    recursive: bool,
    anything: bool,
}

/// Which files are tests.
pub(super) struct Matcher {
    base: String,
    specs: Globs,
    /// Files of named directories: no hidden ones, but hidden directories are entered.
    dirs: Globs,
    ignores: Globs,
    /// Whether anything that defines tests may be one.
    pub(super) anything: bool,
}

impl Matcher {
    /// The directory below which they lie.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Whether `file` is one.
    pub(super) fn is_match(&self, file: &str) -> bool {
        (self.specs.is_match(file) || self.dirs.is_match(file)) && !self.ignores.is_match(file)
    }
}

impl Options {
    /// Reads `value`, the configuration, under `start`, the command line.
    pub(super) fn read(reader: &Reader<'_>, start: &Start, value: &Value) -> Self {
        let mut options = Self {
            requires: start.requires.clone(),
            files: start.files.clone(),
            plugins: start.plugins.clone(),
            specs: start.specs.clone(),
            ignores: start.ignores.clone(),
            extensions: start.extensions.clone(),
            recursive: start.recursive || value.get("recursive").truthy() != Some(false),
            ..Self::default()
        };
        // Unknown altogether: every key is.
        let all = |keys: &[&str], into: fn(&mut Self) -> &mut Vec<String>, options: &mut Self| {
            for key in keys {
                let strings = value.get(key).strings();
                if !strings.unknown.is_empty() && matches!(*key, "spec" | "extension") {
                    options.anything = true;
                }
                options.unknown.extend(strings.unknown);
                // `a,b` is a list on the command line and in files.
                let split = strings.possible.iter().flat_map(|s| {
                    if s.contains('{') || s.contains('(') { vec![s.as_str()] } else { s.split(',').collect() }
                });
                into(options).extend(split.map(str::to_owned));
            }
        };
        all(&["require", "r", "import", "loader"], |o| &mut o.requires, &mut options);
        all(&["file"], |o| &mut o.files, &mut options);
        all(&["spec"], |o| &mut o.specs, &mut options);
        all(&["ignore", "exclude"], |o| &mut o.ignores, &mut options);
        all(&["extension", "extensions"], |o| &mut o.extensions, &mut options);
        all(&["reporter", "ui"], |o| &mut o.plugins, &mut options);
        if let Value::Object(object) = value {
            options.unknown.extend(object.open().cloned());
            if let Value::String(base) = object.get("extends")
                && let Some(file) = reader.inside(&base, path::dirname(start.config.as_deref().unwrap_or("")))
                && let Some(file) = reader.existing(&file)
                && start.config.as_deref() != Some(file.as_str())
            {
                let start = Start { config: Some(file.clone()), ..start.clone() };
                let base = Self::read(reader, &start, &reader.load(&file));
                for (own, base) in [
                    (&mut options.requires, base.requires),
                    (&mut options.files, base.files),
                    (&mut options.specs, base.specs),
                    (&mut options.ignores, base.ignores),
                    (&mut options.extensions, base.extensions),
                ] {
                    own.extend(base);
                }
                options.recursive |= base.recursive;
                options.unknown.extend(base.unknown);
            }
        }
        if let Some(word) = options.specs.iter().find(|s| s.contains('$')) {
            options.unknown.push(Unknown {
                reason: format!("what `{word}` stands for in the script"),
                path: path::join(&start.dir, "package.json").unwrap_or_default(),
                line: 0,
            });
            options.anything = true;
        }
        for list in [&mut options.requires, &mut options.specs, &mut options.files] {
            let mut seen = std::collections::BTreeSet::new();
            list.retain(|item| seen.insert(item.clone()));
        }
        options.unknown.sort();
        options.unknown.dedup();
        options
    }

    /// The rule that lists the tests of a start in `dir`, and the output they are compiled
    /// to before they run.
    pub(super) fn matcher(
        &mut self,
        tree: &dyn Tree,
        dir: &str,
        outputs: &[Output],
    ) -> (Matcher, Option<Output>) {
        let extensions: Vec<String> = if self.extensions.is_empty() {
            EXTENSIONS.iter().map(|e| (*e).to_owned()).collect()
        } else {
            self.extensions.iter().map(|e| e.trim_start_matches('.').to_owned()).collect()
        };
        let list = format!("{{{}}}", extensions.join(","));
        let list = if extensions.len() == 1 { extensions[0].clone() } else { list };
        let (mut patterns, mut dirs) = (Vec::new(), Vec::new());
        let default = ["./test".to_owned()];
        let specs = if self.specs.is_empty() { &default[..] } else { &self.specs };
        for spec in specs {
            let literal = path::join(dir, spec.trim_end_matches('/'));
            match literal {
                Some(file) if tree.is_file(&file) => patterns.push(glob::escape(&file)),
                Some(file) if tree.is_dir(&file) => {
                    let below = if self.recursive { "**/[!.]*" } else { "[!.]*" };
                    let file = glob::escape(&file);
                    let slash = if file.is_empty() { "" } else { "/" };
                    dirs.push(format!("{file}{slash}{below}.{list}"));
                }
                _ => {
                    let Some(pattern) = glob::at(dir, spec) else { continue };
                    if !spec.contains(['*', '{', '[', '?', '(']) {
                        patterns.push(format!("{pattern}.{list}"));
                    }
                    // A pattern that ends in a directory names what is in it.
                    patterns.push(format!("{pattern}/*.{list}"));
                    patterns.push(pattern);
                }
            }
        }
        let mut output = None;
        for pattern in patterns.clone() {
            if !compiled::is_missing(tree, &pattern) {
                continue;
            }
            let sources = compiled::sources(tree, outputs, &pattern);
            if sources.is_empty() && !self.specs.is_empty() && !pattern.ends_with(&format!("/*.{list}")) {
                self.anything = true;
                self.unknown.push(Unknown {
                    reason: format!(
                        "what `{pattern}`, which matches no file of the repository, is built from"
                    ),
                    path: String::new(),
                    line: 0,
                });
            }
            for (source, from) in sources {
                patterns.push(source);
                output.get_or_insert(from);
            }
        }
        let ignores: Vec<String> = self.ignores.iter().filter_map(|i| glob::at(dir, i)).collect();
        let style = Style { dot: false };
        let base =
            patterns.iter().chain(&dirs).map(|p| glob::base(p)).reduce(common).unwrap_or(dir).to_owned();
        let matcher = Matcher {
            base: if self.anything { dir.to_owned() } else { base },
            specs: Globs::new(&patterns, style),
            dirs: Globs::new(&dirs, Style { dot: true }),
            ignores: Globs::new(&ignores, Style { dot: true }),
            anything: self.anything,
        };
        (matcher, output)
    }
}

fn common<'a>(a: &'a str, b: &str) -> &'a str {
    let mut dir = a;
    while !path::is_within(b, dir) {
        dir = path::dirname(dir);
    }
    dir
}
