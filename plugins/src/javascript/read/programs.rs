//! Programs and workers: when the script is a literal path of the project, it is an
//! import of kind [`ImportKind::Script`]; otherwise anything may run.
//!
//! A script named by a module-relative path keeps `./`; one relative to the working
//! directory starts with `/`, which stands for the runner's root.

use owed_engine::facts::{ImportKind, LoadMode, Names, Opaque, PathBase};
use oxc_ast::ast::{Argument, Expression};
use oxc_span::Span;

use super::acts::{has_spread, option, options};
use super::value::{Piece, Place, Value, below};
use super::walk::Walk;

/// Programs that run the script that follows them.
const INTERPRETERS: &[&str] = &["node", "tsx", "ts-node", "bun"];

/// Options of an interpreter that take the next word as their value.
const WITH_VALUE: &[&str] = &["-r", "--require", "--import", "--loader", "--experimental-loader"];

impl<'a> Walk<'_, 'a> {
    /// `spawn(command, arguments, options)`.
    pub(super) fn spawn(&mut self, shown: &str, arguments: &'a [Argument<'a>], span: Span) {
        let script = self.script_of(arguments);
        self.started(shown, script, span);
    }

    fn script_of(&self, arguments: &'a [Argument<'a>]) -> Option<Value> {
        let command = arguments.first().and_then(Argument::as_expression)?;
        if !self.is_interpreter(command) {
            return None;
        }
        let list = arguments.get(1).and_then(Argument::as_expression)?;
        let words = match list.get_inner_expression() {
            // A spread after the script only adds arguments.
            Expression::ArrayExpression(it) => it.elements.iter().map_while(|e| e.as_expression()).collect(),
            _ => self.elements(list, 4)?,
        };
        let moved = options(arguments, 2).is_some_and(|o| option(o, "cwd").is_some() || has_spread(o));
        for word in words {
            let value = self.value(word);
            match value.literal() {
                Some(text) if WITH_VALUE.contains(&text.as_str()) => return None,
                Some(text) if text.starts_with('-') => {
                    if matches!(
                        text.as_str(),
                        "-e" | "--eval" | "-p" | "--print" | "-pe" | "--test" | "--run"
                    ) {
                        return None;
                    }
                }
                Some(_) if moved => return None,
                _ => return Some(value),
            }
        }
        None
    }

    fn is_interpreter(&self, command: &'a Expression<'a>) -> bool {
        if let Some(op) = self.operation(command) {
            return op.root.name == "process" && matches!(op.path.as_slice(), ["execPath" | "argv0"]);
        }
        self.literal(command).is_some_and(|text| INTERPRETERS.contains(&text.as_str()))
    }

    /// `exec("node ./script.js")`.
    pub(super) fn shell(&mut self, shown: &str, arguments: &'a [Argument<'a>], span: Span) {
        let text = arguments.first().and_then(Argument::as_expression).and_then(|e| self.literal(e));
        let moved = options(arguments, 1).is_some_and(|o| option(o, "cwd").is_some() || has_spread(o));
        let script = text.filter(|_| !moved).and_then(|text| {
            let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b" ._/-@".contains(&b));
            let mut words = text.split_ascii_whitespace();
            let interpreter = words.next().is_some_and(|word| INTERPRETERS.contains(&word));
            let script = words.next()?;
            (plain && interpreter && !script.starts_with('-'))
                .then(|| Value::Text(vec![Piece::Text(script.to_owned())]))
        });
        self.started(shown, script, span);
    }

    /// `fork(script)`.
    pub(super) fn run(&mut self, shown: &str, arguments: &'a [Argument<'a>], at: usize, span: Span) {
        let moved = options(arguments, at + 1)
            .or_else(|| options(arguments, at + 2))
            .is_some_and(|o| option(o, "cwd").is_some() || has_spread(o));
        let value = arguments.get(at).and_then(Argument::as_expression).map(|e| self.value(e));
        let script = value.filter(|value| !(moved && matches!(value, Value::Text(_))));
        self.started(shown, script, span);
    }

    /// `new Worker(script)`.
    pub(super) fn worker(&mut self, shown: &str, arguments: &'a [Argument<'a>], span: Span) {
        self.opaque(shown, Opaque::Concurrency, span);
        let Some(script) = arguments.first().and_then(Argument::as_expression) else { return };
        if options(arguments, 1).is_some_and(|o| option(o, "eval").is_some()) {
            return self.opaque(shown, Opaque::Eval, span);
        }
        if !self.script(&self.value(script), span) {
            self.opaque(shown, Opaque::ComputedLoad, span);
        }
    }

    /// A program was started; `script` is what it runs when that is known.
    fn started(&mut self, shown: &str, script: Option<Value>, span: Span) {
        if script.is_some_and(|script| self.script(&script, span)) {
            // The script's closure is an input now; what it does outside is not known.
            self.opaque(shown, Opaque::Host, span);
        } else {
            self.opaque(shown, Opaque::Subprocess, span);
        }
    }

    /// Adds the script as an import; false when its path is not bounded.
    pub(super) fn script(&mut self, value: &Value, span: Span) -> bool {
        let (specifier, kind) = match value.place() {
            Place::At(path) => (anchored(path.base, &path.path), ImportKind::Script),
            Place::Below(path) => (
                format!("{}/**", anchored(path.base, &path.path).trim_end_matches('/')),
                ImportKind::Computed,
            ),
            Place::Module => return true,
            Place::Outside | Place::Unknown => return false,
        };
        let local = format!("run({specifier:?})");
        let import = self.add_import(&specifier, kind, Names::Namespace(local.clone()), span);
        self.imports[import].mode = LoadMode::Cjs;
        self.units.refer_text(local);
        true
    }
}

/// A path as a specifier: `./x` from the module, `/x` from the runner's root.
pub(super) fn anchored(base: PathBase, path: &str) -> String {
    let path = below(base, path);
    match base {
        PathBase::Module if path.starts_with("..") => path,
        PathBase::Module if path.is_empty() => ".".to_owned(),
        PathBase::Module => format!("./{path}"),
        PathBase::Cwd => format!("/{path}"),
        PathBase::Absolute => path,
    }
}
