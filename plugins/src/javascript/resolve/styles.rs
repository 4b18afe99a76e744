//! What a style sheet is made of: the files it imports, composes from or refers to.
//!
//! Style sheets are data, and no reader of their languages is needed for that: a name in
//! quotes or in `url()` that leads to a file of the project is an input of whoever imports
//! the style sheet. A name that leads nowhere is an address or a word, and no problem.

use std::collections::BTreeSet;

use owed_engine::path;
use owed_engine::resolve::{Resolution, Target};

use super::package::below;
use super::{Class, Js, finish, specifier};

const EXTENSIONS: [&str; 7] = ["css", "scss", "sass", "less", "styl", "stylus", "pcss"];
/// Style sheets behind one import; more are a loop of names that differ.
const MOST: usize = 2_000;

/// Whether `file` is a style sheet.
pub(super) fn is_style(file: &str) -> bool {
    EXTENSIONS.contains(&path::extension(file))
}

impl Js<'_> {
    /// Adds to `out` what its style sheets are made of.
    pub(super) fn with_styles(&self, out: Resolution) -> Resolution {
        let sheets = out.targets.iter().filter_map(|target| match target {
            Target::File(file) if is_style(file) => Some(file.clone()),
            _ => None,
        });
        let mut next: Vec<String> = sheets.collect();
        if next.is_empty() {
            return out;
        }
        let mut out = out;
        let mut seen = BTreeSet::new();
        while let Some(sheet) = next.pop() {
            if seen.len() == MOST || !seen.insert(sheet.clone()) {
                continue;
            }
            let Some(text) = self.view.tree.text(&sheet) else { continue };
            for name in names(&text) {
                let before = out.targets.len();
                self.named_by_style(path::dirname(&sheet), name, &mut out);
                next.extend(out.targets[before..].iter().filter_map(|target| match target {
                    Target::File(file) if is_style(file) => Some(file.clone()),
                    _ => None,
                }));
            }
        }
        finish(out)
    }

    /// A name in a style sheet of `dir`: relative even without a dot, of a partial, or of
    /// a package.
    fn named_by_style(&self, dir: &str, name: &str, out: &mut Resolution) {
        let name = specifier::without_query(name).unwrap_or(name);
        let name = name.strip_prefix('~').unwrap_or(name);
        let here = path::join(dir, name).filter(|file| !file.is_empty());
        for file in here.into_iter().flat_map(|file| candidates(&file)) {
            if self.view.is_file(&file) {
                self.hit(&file, out);
                return;
            }
            if is_style(&file) {
                out.absent.push(file);
            }
        }
        if !name.starts_with('.') {
            let found = self.module(dir, name, Class::Esm);
            // Nobody is asked whether aliases apply to what a style sheet names.
            out.own = true;
            if found.unknown.is_none() {
                out.targets.extend(found.targets.into_iter().filter(|t| matches!(t, Target::File(_))));
                out.consulted.extend(found.consulted);
            }
        }
    }
}

/// The files that a name may mean.
fn candidates(file: &str) -> Vec<String> {
    let mut found = vec![file.to_owned()];
    let (dir, name) = (path::dirname(file), path::basename(file));
    let partial = below(dir, &format!("_{name}"));
    if path::extension(name).is_empty() || !is_style(name) {
        for extension in EXTENSIONS {
            found.push(format!("{file}.{extension}"));
            found.push(format!("{partial}.{extension}"));
            found.push(below(file, &format!("index.{extension}")));
            found.push(below(file, &format!("_index.{extension}")));
        }
    } else {
        found.push(partial);
    }
    found
}

/// The quoted strings of a style sheet, and what stands bare in `url()`.
fn names(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(at) = rest.find(['"', '\'']) {
            let quote = &rest[at..=at];
            let Some(end) = rest[at + 1..].find(quote) else { break };
            found.push(&rest[at + 1..at + 1 + end]);
            rest = &rest[at + end + 2..];
        }
        let mut rest = line;
        while let Some(at) = rest.find("url(") {
            rest = &rest[at + 4..];
            let Some(end) = rest.find(')') else { break };
            found.push(rest[..end].trim());
        }
    }
    found.retain(|name| is_name(name));
    found
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() < 300
        && !name.contains(['"', '\'', '(', '{', '\\', ';'])
        && !name.contains("//")
        && !name.starts_with(['#', '/'])
        && !name.starts_with("data:")
        && name.contains(['.', '/', '_', '-'])
        || name.chars().all(|c| c.is_ascii_alphanumeric()) && !name.is_empty()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_of_a_style_sheet() {
        let text = "@import \"./a.css\"; @import url(b.css);\n.x { composes: y from './c.module.css' }\n\
                    @use \"theme\";\n.z { background: url( 'd.png' ) url(data:image/png;base64,x) }\n\
                    .w::after { content: \"a sentence; with words\" }\n@import \"https://example.invalid/x.css\";";
        assert_eq!(names(text), ["./a.css", "b.css", "./c.module.css", "theme", "d.png"]);
    }
}
