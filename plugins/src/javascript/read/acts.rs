//! Operations whose arguments say which input they are: the file system, globs,
//! programs and workers.

use owed_engine::facts::{Opaque, PathBase, PathExpr, Pin};
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, Expression, ObjectExpression, ObjectPropertyKind};
use oxc_span::Span;

use super::table::Act;
use super::usage::Usage;
use super::value::{Place, Value};
use super::walk::{Walk, static_key};

/// Fields of a `Stats` object that depend on the content only.
const KINDS: &[&str] = &[
    "isFile",
    "isDirectory",
    "isSymbolicLink",
    "isBlockDevice",
    "isCharacterDevice",
    "isFIFO",
    "isSocket",
    "size",
];

impl<'a> Walk<'_, 'a> {
    /// An operation with arguments is used.
    pub(super) fn on_act(&mut self, act: Act, shown: &str, usage: Usage<'a>, span: Span, up: usize) {
        let arguments: Option<&'a [Argument<'a>]> = match usage {
            Usage::Call(call) => Some(&call.arguments),
            Usage::New(new) => Some(&new.arguments),
            _ => None,
        };
        match (act, arguments) {
            (Act::Write, _) => self.opaque(shown, Opaque::FsMeta, span),
            (Act::Worker, _) => self.worker(shown, arguments.unwrap_or(&[]), span),
            (Act::Spawn, Some(arguments)) => self.spawn(shown, arguments, span),
            (Act::Shell, Some(arguments)) => self.shell(shown, arguments, span),
            (Act::Run(at), Some(arguments)) => self.run(shown, arguments, at, span),
            (Act::Spawn | Act::Shell | Act::Run(_), None) => self.opaque(shown, Opaque::Subprocess, span),
            (Act::Read(at), Some(arguments)) => self.read(shown, arguments, at, span),
            (Act::Stat(at), Some(arguments)) => {
                self.read(shown, arguments, at, span);
                if !self.only_kinds(up) {
                    self.opaque(shown, Opaque::FsMeta, span);
                }
            }
            (Act::List(at), Some(arguments)) => self.list(shown, arguments, at, span),
            (Act::Tree(at), Some(arguments)) => self.tree(shown, arguments, at, span),
            (Act::Glob(at), Some(arguments)) => self.glob(shown, arguments, at, span),
            (Act::EnvFile, Some(arguments)) => self.env_file(shown, arguments, span),
            (
                Act::Read(_) | Act::Stat(_) | Act::List(_) | Act::Tree(_) | Act::Glob(_) | Act::EnvFile,
                None,
            ) => {
                self.opaque(shown, Opaque::ComputedLoad, span);
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
                Place::At(path) => self.pinned(shown, Pin::File(path), span),
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

    /// Whether only kind and size of a `Stats` object are read.
    fn only_kinds(&self, up: usize) -> bool {
        let mut up = up + 1;
        while matches!(self.ancestor(up + 1), Some(AstKind::AwaitExpression(_) | AstKind::ChainExpression(_)))
        {
            up += 1;
        }
        match self.ancestor(up + 1) {
            Some(AstKind::StaticMemberExpression(it)) => KINDS.contains(&it.property.name.as_str()),
            Some(AstKind::ExpressionStatement(_)) => true,
            _ => false,
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

/// Splits a pattern into the directory before its first special segment and the rest.
fn split_glob(pattern: &str) -> (String, String) {
    let mut prefix = Vec::new();
    let mut rest: Vec<&str> = pattern.split('/').collect();
    while rest.len() > 1 && !rest[0].contains(['*', '?', '[', '{', '(', '!']) {
        prefix.push(rest.remove(0));
    }
    (prefix.join("/"), rest.join("/"))
}
