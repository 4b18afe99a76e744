//! Operations whose arguments say which input they are: the file system, globs,
//! programs and workers.

use owed_engine::facts::{EffectClass, Opaque, PathBase, PathExpr, Pin};
use oxc_ast::ast::{Argument, Expression, ObjectExpression, ObjectPropertyKind};
use oxc_span::Span;

use super::class::Act;
use super::usage::Usage;
use super::value::{Place, Value};
use super::walk::{Walk, static_key};
use super::watched::Kind;

impl<'a> Walk<'_, 'a> {
    /// An operation with arguments is used.
    pub(super) fn on_act(&mut self, act: Act, shown: &str, usage: Usage<'a>, span: Span, up: usize) {
        let arguments: Option<&'a [Argument<'a>]> = match usage {
            Usage::Call(call) => Some(&call.arguments),
            Usage::New(new) => Some(&new.arguments),
            Usage::Super(call) => Some(&call.arguments),
            _ => None,
        };
        match (act, arguments) {
            (Act::Write(at), arguments) => self.write(shown, arguments.unwrap_or(&[]), at, span),
            (Act::Move, arguments) => {
                let arguments = arguments.unwrap_or(&[]);
                let at = usize::from(self.places(arguments, 0).iter().all(|place| *place == Place::Outside));
                self.write(shown, arguments, at, span);
            }
            (Act::Worker, _) => self.worker(shown, arguments.unwrap_or(&[]), span),
            (Act::Spawn, Some(arguments)) => self.spawn(shown, arguments, span),
            (Act::Shell, Some(arguments)) => self.shell(shown, arguments, span),
            (Act::Run(at), Some(arguments)) => self.run(shown, arguments, at, span),
            (Act::Spawn | Act::Shell | Act::Run(_), None) => self.opaque(shown, Opaque::Subprocess, span),
            (Act::Read(at), Some(arguments)) => self.read(shown, arguments, at, span),
            (Act::Stat(at), Some(arguments)) => {
                self.read(shown, arguments, at, span);
                self.stat(shown, arguments, span, up);
            }
            (Act::Copy, Some(arguments)) => {
                self.read(shown, arguments, 0, span);
                self.write(shown, arguments, 1, span);
            }
            (Act::CopyTree, Some(arguments)) => {
                self.tree(shown, arguments, 0, span);
                self.write(shown, arguments, 1, span);
            }
            (Act::Open, Some(arguments)) => self.open(shown, arguments, span),
            (Act::Descriptor, Some(arguments)) => match arguments.first() {
                Some(Argument::NumericLiteral(it)) if it.value == 0.0 => {
                    self.opaque(shown, Opaque::Stdin, span);
                }
                _ if shown.contains("fstat") => self.stat(shown, arguments, span, up),
                _ => {}
            },
            (Act::Descriptor, None) => self.opaque(shown, Opaque::FsMeta, span),
            (Act::List(at), Some(arguments)) => self.list(shown, arguments, at, span),
            (Act::Tree(at), Some(arguments)) => self.tree(shown, arguments, at, span),
            (Act::Glob(at), Some(arguments)) => self.glob(shown, arguments, at, span),
            (Act::EnvFile, Some(arguments)) => self.env_file(shown, arguments, span),
            (
                Act::Read(_)
                | Act::Stat(_)
                | Act::List(_)
                | Act::Tree(_)
                | Act::Glob(_)
                | Act::Copy
                | Act::CopyTree
                | Act::Open
                | Act::EnvFile,
                None,
            ) => self.opaque(shown, Opaque::ComputedLoad, span),
            (Act::Code, arguments) => {
                if !arguments.is_some_and(|arguments| self.makes_no_code(shown, arguments)) {
                    self.opaque(shown, Opaque::Eval, span);
                }
            }
            (Act::Wasm, arguments) => {
                let bytes =
                    arguments.and_then(|arguments| arguments.first()).and_then(Argument::as_expression);
                if !bytes.is_some_and(|bytes| self.is_literal_bytes(bytes, 6)) {
                    self.opaque(shown, Opaque::Eval, span);
                }
            }
            (Act::File, arguments) => {
                let given = options(arguments.unwrap_or(&[]), 2)
                    .and_then(|o| option(o, "lastModified"))
                    .is_some_and(|time| self.is_fixed_time(time, 4));
                if !given {
                    self.opaque(shown, Opaque::Clock, span);
                }
            }
            (Act::Body(at), arguments) => self.body(shown, arguments.unwrap_or(&[]), at, span),
            (Act::ParseArgs, arguments) => {
                let given = options(arguments.unwrap_or(&[]), 0).is_some_and(|o| option(o, "args").is_some());
                if !given {
                    self.named(shown, "argv", span);
                }
            }
            (Act::ConsoleTime, _) => self.console_time(shown, span),
            (Act::Snapshot | Act::InlineSnapshot, _) => {}
            (Act::StubEnv, arguments) => {
                let name = arguments.and_then(|a| a.first()).and_then(Argument::as_expression);
                if name.is_none_or(|name| self.literal(name).is_none()) {
                    self.named(shown, "whole-env", span);
                }
            }
        }
    }

    /// A directory that the program makes for itself outside the project is its own.
    fn write(&mut self, shown: &str, arguments: &'a [Argument<'a>], at: usize, span: Span) {
        if self.places(arguments, at).iter().any(|place| *place != Place::Outside) {
            self.opaque(shown, Opaque::FsMeta, span);
        }
    }

    /// `open(path, flags)`.
    fn open(&mut self, shown: &str, arguments: &'a [Argument<'a>], span: Span) {
        let flags = match arguments.get(1).and_then(Argument::as_expression) {
            None => Some("r".to_owned()),
            Some(e) if e.is_function() => Some("r".to_owned()),
            Some(e) => self.literal(e),
        };
        let (reads, writes) = match flags.as_deref() {
            Some("r" | "rs" | "sr") => (true, false),
            Some("w" | "wx" | "a" | "ax" | "as" | "sa") => (false, true),
            _ => (true, true),
        };
        if reads {
            self.read(shown, arguments, 0, span);
        }
        if writes {
            self.write(shown, arguments, 0, span);
        }
    }

    /// Kind and size of a file depend on its content, the other fields do not.
    fn stat(&mut self, shown: &str, arguments: &'a [Argument<'a>], span: Span, up: usize) {
        let otherwise = (shown.to_owned(), EffectClass::Opaque(Opaque::FsMeta), span);
        // `stat(path, (error, stats) => …)`.
        let callback = arguments.last().and_then(Argument::as_expression);
        let parameters = match callback.map(Expression::get_inner_expression) {
            Some(Expression::ArrowFunctionExpression(it)) => Some(&it.params),
            Some(Expression::FunctionExpression(it)) => Some(&it.params),
            _ => None,
        };
        match parameters.map(|parameters| parameters.items.get(1)) {
            None => self.watch(Kind::Stats, up + 1, vec![otherwise]),
            Some(None) => {}
            Some(Some(stats)) => {
                let noted = self.noted(shown, otherwise.1, span);
                match stats.pattern.get_binding_identifier().and_then(|id| id.symbol_id.get()) {
                    Some(symbol) => self.watch_symbol(Kind::Stats, symbol, vec![noted]),
                    None => self.effects.push(noted),
                }
            }
        }
    }

    /// Where an argument may lead, by all the expressions it may stand for.
    fn places(&mut self, arguments: &'a [Argument<'a>], at: usize) -> Vec<Place> {
        let before_spread = arguments.iter().take(at + 1).all(|a| !a.is_spread());
        match arguments.get(at).and_then(Argument::as_expression) {
            Some(e) if before_spread => self.values(e).iter().map(Value::place).collect(),
            _ => vec![Place::Unknown],
        }
    }

    fn read(&mut self, shown: &str, arguments: &'a [Argument<'a>], at: usize, span: Span) {
        if let Some(Argument::NumericLiteral(descriptor)) = arguments.get(at) {
            if descriptor.value == 0.0 {
                self.opaque(shown, Opaque::Stdin, span);
            }
            return;
        }
        for place in self.places(arguments, at) {
            match place {
                Place::At(path) => match special(&path) {
                    Some(reason) => self.opaque(shown, reason, span),
                    None => self.pinned(shown, Pin::File(path), span),
                },
                other => self.elsewhere(shown, other, span),
            }
        }
    }

    fn elsewhere(&mut self, shown: &str, place: Place, span: Span) {
        match place {
            Place::At(path) | Place::Below(path) => self.bounded(shown, path, span),
            Place::Outside => self.opaque(shown, Opaque::Tmp, span),
            Place::Module => {}
            Place::Unknown => self.opaque(shown, Opaque::ComputedLoad, span),
        }
    }

    fn list(&mut self, shown: &str, arguments: &'a [Argument<'a>], at: usize, span: Span) {
        let deep = options(arguments, at + 1).is_some_and(|o| {
            option(o, "recursive").is_some_and(|e| !matches!(e, Expression::BooleanLiteral(b) if !b.value))
        });
        let glob = if deep { "**" } else { "*" };
        for place in self.places(arguments, at) {
            match place {
                Place::At(dir) => {
                    self.pinned(shown, Pin::Listing { dir, glob: glob.to_owned() }, span);
                }
                other => self.elsewhere(shown, other, span),
            }
        }
    }

    fn tree(&mut self, shown: &str, arguments: &'a [Argument<'a>], at: usize, span: Span) {
        for place in self.places(arguments, at) {
            self.elsewhere(shown, place, span);
        }
    }

    /// `glob(patterns, { cwd })`, `glob({ patterns, cwd })`.
    fn glob(&mut self, shown: &str, arguments: &'a [Argument<'a>], at: usize, span: Span) {
        let first = arguments.get(at).and_then(Argument::as_expression);
        let (patterns, options) = match first.map(Expression::get_inner_expression) {
            Some(Expression::ObjectExpression(o)) => (option(o, "patterns"), Some(&**o)),
            _ => (first, options(arguments, at + 1)),
        };
        let cwd = options.and_then(|o| option(o, "cwd"));
        let dir = match cwd.map(|e| self.value(e).place()) {
            None if options.is_some_and(has_spread) => Place::Unknown,
            None => Place::At(PathExpr { base: PathBase::Cwd, path: String::new() }),
            Some(place) => place,
        };
        let dir = match dir {
            Place::At(dir) => dir,
            other => return self.elsewhere(shown, other, span),
        };
        let Some(patterns) = patterns else {
            return self.opaque(shown, Opaque::ComputedLoad, span);
        };
        let list = self.elements(patterns, 4).unwrap_or_else(|| vec![patterns]);
        for pattern in list {
            for pattern in self.alternatives(pattern) {
                self.glob_pattern(shown, &dir, &self.value(pattern), span);
            }
        }
    }

    fn glob_pattern(&mut self, shown: &str, dir: &PathExpr, pattern: &Value, span: Span) {
        let pin = match pattern.place() {
            _ if pattern.literal().is_some_and(|text| text.starts_with('!')) => return,
            Place::At(path) => {
                let inside = path.base == PathBase::Cwd;
                let (prefix, glob) = split_glob(&path.path);
                let dir = if inside {
                    let joined = format!("{}/{prefix}", dir.path);
                    PathExpr { base: dir.base, path: super::value::below(dir.base, &joined) }
                } else {
                    PathExpr { base: path.base, path: prefix }
                };
                Pin::Listing { dir, glob }
            }
            Place::Below(path) if path.base != PathBase::Cwd => {
                Pin::Listing { dir: path, glob: "**".to_owned() }
            }
            Place::Outside => return self.opaque(shown, Opaque::Tmp, span),
            _ if dir.path.is_empty() && dir.base == PathBase::Cwd => {
                return self.opaque(shown, Opaque::ComputedLoad, span);
            }
            _ => Pin::Listing { dir: dir.clone(), glob: "**".to_owned() },
        };
        self.pinned(shown, pin, span);
    }

    /// `dotenv.config({ path })`.
    fn env_file(&mut self, shown: &str, arguments: &'a [Argument<'a>], span: Span) {
        let path = options(arguments, 0).and_then(|o| option(o, "path"));
        let plain = arguments.is_empty() || options(arguments, 0).is_some_and(|o| !has_spread(o));
        match path {
            None if plain => {
                let path = PathExpr { base: PathBase::Cwd, path: ".env".to_owned() };
                self.pinned(shown, Pin::File(path), span);
            }
            None => self.opaque(shown, Opaque::ComputedLoad, span),
            Some(path) => {
                let list = self.elements(path, 4).unwrap_or_else(|| vec![path]);
                let paths: Vec<_> = list.into_iter().flat_map(|e| self.alternatives(e)).collect();
                for path in paths {
                    match self.value(path).place() {
                        Place::At(path) => self.pinned(shown, Pin::File(path), span),
                        other => self.elsewhere(shown, other, span),
                    }
                }
            }
        }
    }
}

/// The options object at that argument.
pub(super) fn options<'a>(arguments: &'a [Argument<'a>], at: usize) -> Option<&'a ObjectExpression<'a>> {
    match arguments.get(at).and_then(Argument::as_expression)?.get_inner_expression() {
        Expression::ObjectExpression(it) => Some(it),
        _ => None,
    }
}

/// The value of an option.
pub(super) fn option<'a>(object: &'a ObjectExpression<'a>, name: &str) -> Option<&'a Expression<'a>> {
    object.properties.iter().find_map(|property| match property {
        ObjectPropertyKind::ObjectProperty(it) if static_key(&it.key) == Some(name) => Some(&it.value),
        _ => None,
    })
}

/// Whether an object takes properties from elsewhere.
pub(super) fn has_spread(object: &ObjectExpression<'_>) -> bool {
    object.properties.iter().any(|property| matches!(property, ObjectPropertyKind::SpreadProperty(_)))
}

/// Files that are no files.
fn special(path: &PathExpr) -> Option<Opaque> {
    if path.base != PathBase::Absolute {
        return None;
    }
    match path.path.as_str() {
        "/dev/stdin" => Some(Opaque::Stdin),
        "/dev/random" | "/dev/urandom" => Some(Opaque::Random),
        path if ["/proc/", "/sys/", "/dev/"].iter().any(|dir| path.starts_with(dir)) => Some(Opaque::Host),
        _ => None,
    }
}

/// Splits a pattern into the directory before its first special segment and the rest.
pub(super) fn split_glob(pattern: &str) -> (String, String) {
    let mut prefix = Vec::new();
    let mut rest: Vec<&str> = pattern.split('/').collect();
    while rest.len() > 1 && !rest[0].contains(['*', '?', '[', '{', '(', '!']) {
        prefix.push(rest.remove(0));
    }
    (prefix.join("/"), rest.join("/"))
}
