//! Everything that makes another module or script run: import statements, and the calls
//! that import, find, mock or start one by name or by path.
//!
//! Specifiers in Python's dialect of [`Import`]:
//! - modules keep their dots (`a.b`, `..c`); `.x` from a computed import is relative to
//!   the module's package;
//! - [`ImportKind::Computed`] and [`ImportKind::Glob`] hold a dotted glob (`pkg.plugins.*`,
//!   `.*`, `pkg.**`); what nothing bounds is an effect (`computed-load`) instead. A file
//!   beside a module is the module's dotted name, a `/`, and the path from the directory of
//!   the module's file: `pkg.data/schema.json`, `pkg.data/**`, `./x` for the own package;
//! - [`ImportKind::Script`] holds a path (`./x.py` and `../x.py` from the module's directory,
//!   `dir/x.py` and `x.py` from the working directory, `/x.py` absolute) or, without a `/`
//!   and not ending in `.py`, the dotted name of a module run by `-m`;
//! - [`ImportKind::StringRef`] holds the text as written (`pkg.mod:attr`), or an attribute
//!   chain on an imported module (`a.b.c`): any prefix may be a module. With a `/` it is a
//!   string that looks like a relative path (`data/x.json`) and may be handed to code that
//!   reads it: from the module's directory or from the working directory.

use owed_engine::facts::{Import, ImportKind, LoadMode, Name, Names as Taken, PathBase, Presence, Span};
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::TextRange;

use super::place::{Place, Value};
use super::text::Lines;
use super::walk::{Imported, Statement, Target};

/// The facts of an import statement; one for each module it names.
pub(super) fn statement(imported: &Imported<'_>, lines: &Lines<'_>) -> Import {
    let presence = if imported.optional { Presence::Optional } else { Presence::Required };
    let mut kind = if imported.type_only { ImportKind::TypeOnly } else { ImportKind::Static };
    let (specifier, names, range) = match imported.statement {
        Statement::Import(alias) => {
            let local = alias.asname.as_ref().map_or_else(
                || alias.name.split('.').next().unwrap_or_default().to_owned(),
                |local| local.as_str().to_owned(),
            );
            (alias.name.as_str().to_owned(), Taken::Namespace(local), alias.range)
        }
        Statement::From(s) => {
            let mut specifier = ".".repeat(s.level as usize);
            specifier.push_str(s.module.as_ref().map_or("", |m| m.as_str()));
            let star = s.names.iter().any(|n| n.name.as_str() == "*");
            if star && kind == ImportKind::Static {
                kind = ImportKind::Star;
            }
            let names = if star {
                Taken::Effects
            } else {
                Taken::List(
                    s.names
                        .iter()
                        .map(|n| Name {
                            imported: n.name.as_str().to_owned(),
                            local: n.asname.as_ref().unwrap_or(&n.name).as_str().to_owned(),
                        })
                        .collect(),
                )
            };
            (specifier, names, s.range)
        }
    };
    Import {
        specifier,
        kind,
        mode: LoadMode::Esm,
        presence,
        names,
        line: lines.line(range.start().to_u32()),
        span: span(range),
    }
}

/// An import that takes nothing by name.
pub(super) fn load(
    specifier: String,
    kind: ImportKind,
    optional: bool,
    range: TextRange,
    lines: &Lines<'_>,
) -> Import {
    Import {
        specifier,
        kind,
        mode: LoadMode::Esm,
        presence: if optional { Presence::Optional } else { Presence::Required },
        names: Taken::Effects,
        line: lines.line(range.start().to_u32()),
        span: span(range),
    }
}

pub(super) fn span(range: TextRange) -> Span {
    Span { start: range.start().to_u32(), end: range.end().to_u32() }
}

/// The dotted name of what a binding stands for, relative ones with their dots.
pub(super) fn dotted(target: Target<'_>) -> String {
    let mut text = ".".repeat(target.level as usize);
    text.push_str(target.module);
    if let Some(name) = target.name {
        if !target.module.is_empty() {
            text.push('.');
        }
        text.push_str(name);
    }
    text
}

/// The module that a computed name may be: specifier and kind.
pub(super) fn module(value: Value, package: Option<Value>) -> (String, ImportKind) {
    let nothing = (String::new(), ImportKind::Computed);
    let Value::Text { text, exact, package: own } = value else { return nothing };
    // `f"{__package__}.x"`: the text after the package is relative to it already.
    let mut text = text;
    if own && !text.starts_with('.') {
        return if exact && text.is_empty() { (".".to_owned(), ImportKind::Dynamic) } else { nothing };
    }
    if !own && text.starts_with('.') {
        match package {
            // `import_module(".x", __package__)`
            Some(Value::Text { text: base, exact: true, package: true }) if base.is_empty() => {}
            Some(Value::Text { text: base, exact: true, package: false }) => {
                let level = text.bytes().take_while(|&b| b == b'.').count();
                let kept: Vec<&str> = base.split('.').collect();
                let Some(kept) = kept.get(..(kept.len() + 1).saturating_sub(level)) else { return nothing };
                let rest = &text[level..];
                text = if rest.is_empty() && exact {
                    kept.join(".")
                } else {
                    format!("{}.{rest}", kept.join("."))
                };
            }
            _ => return nothing,
        }
    }
    if exact {
        return (text, ImportKind::Dynamic);
    }
    match text.rfind('.') {
        // What follows may hold dots: `f"apps.{app}.models"`.
        Some(at) => (format!("{}.**", &text[..at]), ImportKind::Computed),
        None => nothing,
    }
}

/// A path as the specifier of a script; `None` when it cannot be written as one.
pub(super) fn script(place: &Place) -> Option<String> {
    if !place.exact {
        return None;
    }
    match place.base {
        PathBase::Module if place.path.starts_with("..") => Some(place.path.clone()),
        PathBase::Module => Some(format!("./{}", place.path)),
        PathBase::Absolute => Some(place.path.clone()),
        PathBase::Cwd if place.path.starts_with("..") => None,
        PathBase::Cwd if place.path.contains('/') || place.path.ends_with(".py") => Some(place.path.clone()),
        PathBase::Cwd => None,
    }
}

/// The argument of a call by position or keyword; `None` also when a `*` comes before it.
pub(super) fn argument<'a>(call: &'a ast::ExprCall, position: usize, keyword: &str) -> Option<&'a Expr> {
    if let Some(found) = call.arguments.find_keyword(keyword) {
        return Some(&found.value);
    }
    let args = &call.arguments.args;
    if args.iter().take(position + 1).any(Expr::is_starred_expr) {
        return None;
    }
    args.get(position)
}

/// Whether a call has `*` or `**` arguments, so that any argument may be given.
pub(super) fn is_open(call: &ast::ExprCall) -> bool {
    call.arguments.args.iter().any(Expr::is_starred_expr)
        || call.arguments.keywords.iter().any(|k| k.arg.is_none())
}

/// The path in `open(path).read()`, `Path(path).read_text()` and `compile(…)` of either.
pub(super) fn source_path(expr: &Expr) -> Option<&Expr> {
    let Expr::Call(call) = expr else { return None };
    match &*call.func {
        Expr::Name(name) if name.id.as_str() == "compile" => source_path(call.arguments.args.first()?),
        Expr::Attribute(read) if matches!(read.attr.as_str(), "read" | "read_text" | "read_bytes") => {
            match &*read.value {
                Expr::Call(open) if matches!(&*open.func, Expr::Name(n) if n.id.as_str() == "open") => {
                    open.arguments.args.first()
                }
                receiver if read.attr.as_str() != "read" => Some(receiver),
                _ => None,
            }
        }
        _ => None,
    }
}
