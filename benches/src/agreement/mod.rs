//! Whether two readers of a language say the same about a file: what it imports, where its
//! functions are, and how many tokens each has.
//!
//! The first reader is the one that plans and checks are made with. Only what both can say is
//! compared: the tolerant reader knows no scopes, so what the first one found by evaluating
//! names (a specifier that is put together, a path handed to a process) is left out, and so is
//! what a load of a module takes from it.

pub mod corpus;
pub mod explained;
pub mod opinion;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use owed_engine::facts::{Import, ImportKind, Names, Span};
use owed_engine::function::Function;
use owed_engine::language::SourceFile;
use owed_plugins::languages;
use owed_plugins::tolerant::{self, Dialect, Read, Spanned};

/// What both readers say about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Why the first reader does not measure the file.
    pub refused: Option<String>,
    /// 1-based line of the first place that the grammar of the second reader does not
    /// understand, with the text of that line.
    pub error: Option<(u32, String)>,
    /// Imports that were compared, and those that are the same.
    pub imports: [usize; 2],
    /// Functions that were compared, those with the same place and sizes, and those of them
    /// that are called the same.
    pub functions: [usize; 3],
    /// What differs, in order.
    pub differences: Vec<Difference>,
    /// What the first reader says, for other opinions.
    pub first: opinion::Opinion,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// 1-based line.
    pub line: u32,
    /// First byte of what differs.
    pub start: u32,
    /// What differs, for a person.
    pub what: String,
}

/// Compares the readers of the file at `path`; `None` when only one reads it.
pub fn compare(path: &str, bytes: &[u8]) -> Option<Compared> {
    let dialect = Dialect::of(path)?;
    let language = languages().iter().find(|language| language.reads(path))?;
    let (text, offset) = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
        Some(rest) => (std::str::from_utf8(rest).ok()?, 3),
        None => (std::str::from_utf8(bytes).ok()?, 0),
    };
    let file = SourceFile { path, bytes };
    let facts = language.read(file);
    let functions = language.functions(file)?;
    let mut compared = Compared::default();
    if let Some(damage) = functions.damage.first().or_else(|| facts.damage.first()) {
        compared.refused = Some(format!("{}: {}", damage.line, damage.cause));
        return Some(compared);
    }
    let python = dialect == Dialect::Python;
    compared.first = opinion::Opinion::of_first(&functions.functions, &facts.imports, bytes, python);
    let Some(mut second) = tolerant::read(dialect, text) else {
        compared.error = Some((1, "takes too long".to_owned()));
        return Some(compared);
    };
    if let Some(damage) = second.damage.first() {
        let at = damage.span.start as usize;
        let from = text[..at].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let shown = text[from..].lines().next().unwrap_or_default().trim();
        compared.error = Some((damage.line, shown.chars().take(90).collect()));
    }
    shift(&mut second, offset);
    compared.functions(&functions.functions, &second.functions);
    let erased = is_declaration_file(path);
    compared.imports(dialect, &facts.imports, second.imports, erased, bytes);
    compared.differences.sort();
    Some(compared)
}

fn shift(read: &mut Read, by: u32) {
    let spans = (read.imports.iter_mut().map(|it| &mut it.span))
        .chain(read.functions.iter_mut().map(|it| &mut it.span));
    for span in spans {
        *span = Span { start: span.start + by, end: span.end + by };
    }
}

fn is_declaration_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    (name.contains(".d.") && name.ends_with("ts")) || name.ends_with(".pyi")
}

/// What the source says at a place.
fn said(span: Span, bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.get(span.start as usize..span.end as usize).unwrap_or_default())
}

impl Compared {
    fn differs(&mut self, line: u32, start: u32, what: String) {
        self.differences.push(Difference { line, start, what });
    }

    fn functions(&mut self, first: &[Function], second: &[Spanned]) {
        let mut others: BTreeMap<Span, &Spanned> = second.iter().map(|it| (it.span, it)).collect();
        for one in first {
            self.functions[0] += 1;
            match others.remove(&one.span) {
                Some(other) => {
                    let (ours, theirs) =
                        ((one.own_tokens, one.total_tokens), (other.own_tokens, other.total_tokens));
                    if ours == theirs && one.start_line == other.line {
                        self.functions[1] += 1;
                        self.functions[2] += usize::from(one.name == other.name);
                    } else {
                        let what = format!(
                            "{}: {} own and {} tokens from line {}, the second reader has {}, {} and {}",
                            one.name, ours.0, ours.1, one.start_line, theirs.0, theirs.1, other.line
                        );
                        self.differs(one.start_line, one.span.start, what);
                    }
                }
                None => self.differs(
                    one.start_line,
                    one.span.start,
                    format!("{}: no such function for the second reader", one.name),
                ),
            }
        }
        for other in others.into_values() {
            self.functions[0] += 1;
            let what = format!("{}: a function for the second reader only", other.name);
            self.differs(other.line, other.span.start, what);
        }
    }

    fn imports(
        &mut self,
        dialect: Dialect,
        first: &[Import],
        second: Vec<Import>,
        erased: bool,
        bytes: &[u8],
    ) {
        // A name that the file does not take from `importlib` is another function's.
        let from_importlib = second.iter().any(|it| {
            it.specifier == "importlib" && names(it).is_some_and(|it| it.contains("import_module as"))
        });
        let is_other =
            |it: &Import| !from_importlib && said(it.span, bytes).trim_start().starts_with("import_module");
        // Where a specifier is put together, the first reader may know what it can be.
        let computed: BTreeSet<Span> =
            second.iter().filter(|it| it.kind == ImportKind::Computed).map(|it| it.span).collect();
        let mut ours: BTreeMap<Written, Vec<Option<String>>> = BTreeMap::new();
        for import in first {
            if is_written(dialect, import, bytes) && !computed.contains(&import.span) {
                ours.entry(Written::of(import, false, bytes)).or_default().push(names(import));
            }
        }
        for import in second {
            if import.kind == ImportKind::Computed || (dialect == Dialect::Python && is_other(&import)) {
                continue;
            }
            self.imports[0] += 1;
            let key = Written::of(&import, erased, bytes);
            let found = ours.get_mut(&key).and_then(|list| {
                let theirs = names(&import);
                let at = list.iter().position(|it| *it == theirs || it.is_none() || theirs.is_none());
                at.map(|at| list.remove(at))
            });
            match found {
                Some(_) => self.imports[1] += 1,
                None => {
                    let what = format!("{}: an import for the second reader only", key.shown(&import));
                    self.differs(import.line, import.span.start, what);
                }
            }
        }
        for import in first {
            let key = Written::of(import, false, bytes);
            if let Some(list) = ours.get_mut(&key)
                && let Some(at) = list.iter().position(|it| *it == names(import))
            {
                list.remove(at);
                self.imports[0] += 1;
                let what = format!("{}: no such import for the second reader", key.shown(import));
                self.differs(import.line, import.span.start, what);
            }
        }
    }
}

/// An import as both readers can say it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Written {
    span: Span,
    specifier: String,
    kind: ImportKind,
}

impl Written {
    fn of(import: &Import, erased: bool, bytes: &[u8]) -> Self {
        let Import { span, specifier, kind, .. } = import;
        let text = said(*span, bytes);
        let bare = text.strip_prefix("typeof").unwrap_or(&text).trim_start();
        if bare.starts_with("import(") {
            // A type and a load are written alike, and the grammar has one node for both.
            let start = span.start + u32::try_from(text.len() - bare.len()).unwrap_or(0);
            let span = Span { start, end: start };
            return Self { span, specifier: specifier.clone(), kind: ImportKind::Dynamic };
        }
        let loads = matches!(
            kind,
            ImportKind::Static | ImportKind::ReExport | ImportKind::Star | ImportKind::Require
        );
        let kind = if erased && loads { ImportKind::TypeOnly } else { *kind };
        // The grammar makes `await` part of a call with type arguments.
        let start = match text.strip_prefix("await") {
            Some(call) => span.end - u32::try_from(call.trim_start().len()).unwrap_or(0),
            None => span.start,
        };
        Self { span: Span { start, end: span.end }, specifier: specifier.clone(), kind }
    }

    fn shown(&self, import: &Import) -> String {
        let names = names(import).unwrap_or_else(|| "…".to_owned());
        format!("{:?} {:?} of {names}", self.kind, self.specifier)
    }
}

/// Names that a statement lists; `None` where only scopes tell what is taken.
fn names(import: &Import) -> Option<String> {
    let statement = matches!(
        import.kind,
        ImportKind::Static | ImportKind::ReExport | ImportKind::Star | ImportKind::TypeOnly
    );
    match &import.names {
        Names::List(list) if statement => {
            // `ns.member` is what is used of a namespace.
            let members = list.iter().any(|name| name.local.contains('.'));
            let names = list.iter().map(|name| format!("{} as {}", name.imported, name.local));
            (!members).then(|| names.collect::<Vec<_>>().join(", "))
        }
        Names::Effects if statement && import.kind != ImportKind::TypeOnly => Some("nothing".to_owned()),
        _ => None,
    }
}

/// Whether an import of the first reader is one that can be read off its own text.
fn is_written(dialect: Dialect, import: &Import, bytes: &[u8]) -> bool {
    let text = said(import.span, bytes);
    let plain: String = text.chars().filter(|it| !it.is_whitespace() && *it != '\\').collect();
    let specifier: String = import.specifier.chars().filter(|it| !it.is_whitespace()).collect();
    let specifier = specifier.as_str();
    let starts = |words: &[&str]| words.iter().any(|word| plain.starts_with(word));
    // The first argument of the call is the literal itself; with type arguments, one is.
    let (callee, rest) = plain.split_at(plain.find(['(', '<']).unwrap_or(plain.len()));
    let callee = callee.strip_prefix("await").unwrap_or(callee);
    let callee = callee.strip_suffix("?.").unwrap_or(callee);
    let argument = |callees: &[&str]| {
        let opened = rest.strip_prefix('(').map(|rest| rest.strip_prefix("import(").unwrap_or(rest));
        let quoted = ["\"", "'", "`"].map(|quote| format!("{quote}{specifier}"));
        callees.contains(&callee)
            && quoted.iter().any(|it| match opened {
                Some(opened) => opened.starts_with(it.as_str()),
                None => rest.contains(it.as_str()),
            })
    };
    match (dialect, import.kind) {
        (Dialect::Python, ImportKind::Static | ImportKind::TypeOnly | ImportKind::Star) => {
            starts(&["from", specifier])
        }
        (Dialect::Python, ImportKind::Dynamic) => {
            argument(&["importlib.import_module", "import_module", "__import__"])
        }
        (Dialect::Python, _) => false,
        (_, ImportKind::Static | ImportKind::TypeOnly | ImportKind::ReExport | ImportKind::Star) => {
            starts(&["import", "export", "typeofimport("])
        }
        (_, ImportKind::Require) => {
            (starts(&["import"]) && plain.contains(specifier)) || argument(&["require", "jest.requireActual"])
        }
        (_, ImportKind::Dynamic) => argument(&["import", "vi.importActual", "vitest.importActual"]),
        (_, ImportKind::Resolve) => argument(&["require.resolve", "import.meta.resolve"]),
        (_, ImportKind::Mock) => starts(&["vi.", "vitest.", "jest."]) && argument(&[callee]),
        (_, ImportKind::StringRef | ImportKind::Script | ImportKind::Computed | ImportKind::Glob) => false,
    }
}
