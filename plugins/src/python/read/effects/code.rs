//! Code that runs other code: scripts by path, constant and computed sources, packages
//! listed at run time, attributes by computed name, mocks.

use owed_engine::facts::{ImportKind, Opaque, PathBase};
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::super::loads;
use super::super::place::Value;
use super::super::rows::{Class, Entry, TABLE, is_stdlib};
use super::super::scope::Bound;
use super::super::walk::Site;
use super::Judge;

impl<'a> Judge<'_, 'a> {
    pub(super) fn script(&mut self, path: Option<&'a Expr>, name: &str, range: TextRange, site: &Site<'a>) {
        let value = path.map_or(Value::Unknown, |p| {
            self.consumed.insert(p.range());
            self.eval.value(p, site.scope).into_path()
        });
        match value {
            Value::Place(place) => {
                if let Some(specifier) = loads::script(&place) {
                    if let Some(path) = path {
                        self.cover(path.range());
                    }
                    self.load("import", specifier, ImportKind::Script, range, site);
                } else {
                    // One of the files below a directory; what they import is not known.
                    self.opaque(name, Opaque::ComputedLoad, range, site);
                }
            }
            // Written and run by the same test; its imports are strings here.
            Value::Tmp => self.opaque(name, Opaque::Eval, range, site),
            _ => self.opaque(name, Opaque::ComputedLoad, range, site),
        }
    }

    pub(super) fn code(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        let range = call.range();
        if self.consumed.contains(&range) {
            return;
        }
        let Some(source) = call.arguments.args.first() else {
            return self.opaque(name, Opaque::Eval, range, site);
        };
        // `exec(compile(…))` is one thing.
        self.consumed.insert(source.range());
        if let Some(path) = loads::source_path(source)
            && let Value::Place(place) = self.eval.value(path, site.scope).into_path()
            && let Some(specifier) = loads::script(&place)
        {
            self.load("import", specifier, ImportKind::Script, range, site);
        }
        self.opaque(name, Opaque::Eval, range, site);
    }

    pub(super) fn package_glob(&self, path: Option<&'a Expr>, below: &str, site: &Site<'a>) -> String {
        let Some(path) = path else { return String::new() };
        if let Expr::Attribute(attribute) = path
            && attribute.attr.as_str() == "__path__"
        {
            if let Some(target) = self.names.import_of(&attribute.value, site.scope) {
                return format!("{}.{below}", loads::dotted(target));
            }
            if let Some(chain) = self.dotted_chain(&attribute.value, site) {
                return format!("{chain}.{below}");
            }
        }
        let value = match path {
            Expr::List(list) if list.elts.len() == 1 => self.eval.value(&list.elts[0], site.scope),
            path => self.eval.value(path, site.scope),
        };
        match value {
            Value::Entries(place) | Value::Place(place)
                if place.base == PathBase::Module && place.exact && place.path.is_empty() =>
            {
                format!(".{below}")
            }
            Value::Place(place)
                if place.base == PathBase::Module && place.exact && !place.path.starts_with("..") =>
            {
                format!(".{}.{below}", place.path.replace('/', "."))
            }
            _ => String::new(),
        }
    }

    /// An attribute by name: of a module, computed, it may be any member.
    pub(super) fn getattr(&mut self, call: &'a ast::ExprCall, site: &Site<'a>) {
        let [object, name, ..] = &*call.arguments.args else { return };
        let range = call.range();
        let holders = self.qualified(object, site);
        let target = self.names.import_of(object, site.scope).filter(|target| !target.type_only);
        let module = target.filter(|target| target.name.is_none());
        if let (Some(target), Expr::StringLiteral(name), true) = (target, name, holders.is_empty()) {
            // A member of a module of the project, read without a dot.
            let name = name.value.to_str();
            if is_stdlib(name) {
                self.reference(name, range, site);
            } else {
                self.members.push((format!("{}.{name}", loads::dotted(target)), range));
            }
        }
        if holders.is_empty() && module.is_none() {
            return;
        }
        self.consumed.insert(object.range());
        for name in self.eval.value(name, site.scope).each() {
            if let Value::Text { text, exact: true, package: false } = name {
                for holder in &holders {
                    let full = if holder == "builtins" { text.clone() } else { format!("{holder}.{text}") };
                    if !matches!(TABLE.entry(&full), Entry::Unlisted) || call.arguments.args.len() < 3 {
                        self.reference(&full, range, site);
                    }
                }
                continue;
            }
            for holder in &holders {
                match TABLE.entry(holder) {
                    Entry::Row(row, _) if row.handed_on.is_some() => self.handed_on(holder, range, site),
                    Entry::Row(row, operation)
                        if row.class == Class::Pure
                            && (!operation.ends_with(".*") || operation.len() - 2 != holder.len()) => {}
                    Entry::Member => {}
                    _ => self.opaque("getattr", Opaque::Eval, range, site),
                }
            }
            // All of the module, and any submodule that it loads when asked.
            if let Some(target) = module
                && holders.is_empty()
            {
                let module = loads::dotted(target);
                let site = Site { optional: true, ..*site };
                self.load("getattr", format!("{module}.*"), ImportKind::Computed, range, &site);
                self.load("getattr", module, ImportKind::Star, range, &site);
                self.opaque("getattr", Opaque::Eval, range, &site);
            }
        }
    }

    /// `setattr(module, "name", value)`.
    pub(super) fn set_attribute(&mut self, call: &'a ast::ExprCall, site: &Site<'a>) {
        let [object, name, ..] = &*call.arguments.args else { return };
        if !self.names.is_imported(object, site.scope) {
            return;
        }
        self.consumed.insert(object.range());
        let name = match self.eval.value(name, site.scope) {
            Value::Text { text, exact: true, package: false } => text,
            _ => "?".to_owned(),
        };
        for holder in self.qualified(object, site) {
            let builtin = holder == "builtins";
            let full = if builtin { name.clone() } else { format!("{holder}.{name}") };
            self.replaced(&full, false, call.range(), site);
        }
    }

    /// Reading the hints of an object evaluates those that are strings. Those that were
    /// written are code of a file; those that were computed may be anything.
    pub(super) fn type_hints(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        if name.ends_with("get_annotations")
            && call
                .arguments
                .find_keyword("eval_str")
                .is_none_or(|k| matches!(&k.value, Expr::BooleanLiteral(b) if !b.value))
        {
            return;
        }
        let written = call.arguments.args.first().is_some_and(|object| self.is_written(object, site));
        if !written || self.text.contains("__annotations__") {
            self.opaque(name, Opaque::Eval, call.range(), site);
        }
    }

    /// Whether an object is a class or function as some file writes it.
    fn is_written(&self, object: &'a Expr, site: &Site<'a>) -> bool {
        match object {
            Expr::Name(name) => {
                let names = &self.walk.names;
                let Some(symbol) = names.find(&name.id) else { return false };
                let Some(at) = names.resolve(site.scope, symbol) else { return false };
                names
                    .bindings(at, symbol)
                    .all(|b| matches!(b.bound, Bound::Class(..) | Bound::Function(..) | Bound::Import(_)))
            }
            Expr::Attribute(_) => true,
            Expr::Call(call) => {
                matches!(&*call.func, Expr::Name(n) if n.id.as_str() == "type") && call.arguments.len() == 1
            }
            _ => false,
        }
    }

    /// A call that names the flag of type checkers, other than to read it, may set it.
    pub(super) fn type_checking(&mut self, call: &'a ast::ExprCall, site: &Site<'a>) {
        const FLAG: &str = "TYPE_CHECKING";
        let sets = call.arguments.keywords.iter().any(|k| k.arg.as_ref().is_some_and(|k| k.as_str() == FLAG))
            || call.arguments.args.iter().any(|argument| match argument {
                Expr::StringLiteral(text) => text.value.to_str() == FLAG,
                _ => false,
            }) && match &*call.func {
                Expr::Name(name) => name.id.as_str() == "setattr",
                Expr::Attribute(attribute) => {
                    matches!(attribute.attr.as_str(), "setattr" | "object" | "setitem")
                }
                _ => false,
            };
        if sets {
            self.opaque("typing.TYPE_CHECKING", Opaque::Loader, call.range(), site);
        }
    }

    /// Whether a value is written out where it is made: literals in lists and dictionaries, by
    /// a name that has no other value.
    pub(super) fn is_literal(&self, value: &'a Expr, site: &Site<'a>, hops: u8) -> bool {
        let mut open = vec![value];
        while let Some(expr) = open.pop() {
            match expr {
                Expr::Dict(dict) => {
                    for item in &dict.items {
                        let Some(key) = &item.key else { return false };
                        open.extend([key, &item.value]);
                    }
                }
                Expr::List(list) => open.extend(&list.elts),
                Expr::Tuple(tuple) => open.extend(&tuple.elts),
                Expr::Name(name) if hops > 0 => {
                    let names = &self.walk.names;
                    let Some(symbol) = names.find(&name.id) else { return false };
                    let Some(at) = names.resolve(site.scope, symbol) else { return false };
                    let mut bindings = names.bindings(at, symbol);
                    let (Some(only), None) = (bindings.next(), bindings.next()) else { return false };
                    let Bound::Value(value) = only.bound else { return false };
                    if !self.is_literal(value, &Site { scope: only.scope, ..*site }, hops - 1) {
                        return false;
                    }
                }
                other if other.is_literal_expr() => {}
                _ => return false,
            }
        }
        true
    }

    /// Whether a value is an instance of a class of this file: `self`, `Own()`, or a name
    /// bound to such a call only.
    pub(super) fn is_own_object(&self, value: &'a Expr, site: &Site<'a>) -> bool {
        let names = &self.walk.names;
        let is_class = |callee: &Expr, scope| {
            let Expr::Name(name) = callee else { return false };
            let Some(symbol) = names.find(&name.id) else { return false };
            let Some(at) = names.resolve(scope, symbol) else { return false };
            let mut bindings = names.bindings(at, symbol).peekable();
            bindings.peek().is_some() && bindings.all(|b| matches!(b.bound, Bound::Class(..)))
        };
        match value {
            Expr::Call(call) => is_class(&call.func, site.scope),
            Expr::Name(name) if matches!(name.id.as_str(), "self" | "cls") => true,
            Expr::Name(name) => {
                let Some(symbol) = names.find(&name.id) else { return false };
                let Some(at) = names.resolve(site.scope, symbol) else { return false };
                let mut bindings = names.bindings(at, symbol).peekable();
                bindings.peek().is_some()
                    && bindings.all(|b| match b.bound {
                        Bound::Value(Expr::Call(call)) | Bound::Entered(Expr::Call(call)) => {
                            is_class(&call.func, b.scope)
                        }
                        Bound::Class(..) => true,
                        Bound::Parameter(Some(annotation)) => is_class(annotation, b.scope),
                        _ => false,
                    })
            }
            _ => false,
        }
    }

    pub(super) fn patch(&mut self, target: Option<&'a Expr>, name: &str, range: TextRange, site: &Site<'a>) {
        let Some(target) = target else { return };
        match self.eval.value(target, site.scope) {
            Value::Text { text, exact: true, package: false } if is_type_checking(&text) => {
                self.claimed.insert(text.clone());
                self.opaque(&text, Opaque::Loader, range, site);
            }
            Value::Text { text, exact: true, package: false } if text.contains('.') => {
                self.claimed.insert(text.clone());
                self.load("import", text, ImportKind::Mock, range, site);
            }
            Value::Text { text, exact: true, package: true } => {
                self.load("import", text, ImportKind::Mock, range, site);
            }
            Value::Text { text, exact: false, .. } if text.contains('.') => {
                let glob = text.rfind('.').map_or("", |at| &text[..at]);
                self.load("import", format!("{glob}.*"), ImportKind::Computed, range, site);
            }
            Value::Text { exact: true, .. } => {}
            _ => {
                self.consume_object(Some(target), site);
                if !matches!(target, Expr::Attribute(_)) || self.names.import_of(target, site.scope).is_none()
                {
                    self.opaque(name, Opaque::ComputedLoad, range, site);
                }
            }
        }
    }

    /// An object that a mocking tool changes and restores.
    pub(super) fn consume_object(&mut self, object: Option<&'a Expr>, site: &Site<'a>) {
        let Some(object) = object else { return };
        self.consumed.insert(object.range());
        if let Expr::StringLiteral(text) = object {
            let text = text.value.to_str();
            if is_type_checking(text) {
                return self.opaque(text, Opaque::Loader, object.range(), site);
            }
            if text.contains('.') && !is_stdlib(text) {
                self.claimed.insert(text.to_owned());
                self.load("import", text.to_owned(), ImportKind::Mock, object.range(), site);
            }
        }
    }

    pub(super) fn pytester(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        let method = name.rsplit('.').next().unwrap_or("");
        if method.starts_with("run") || method.starts_with("inline") || method.starts_with("spawn") {
            self.opaque(name, Opaque::Subprocess, call.range(), site);
        } else if method == "copy_example" {
            self.opaque(name, Opaque::ComputedLoad, call.range(), site);
        }
    }

    pub(super) fn is_own_dump(&self, call: &'a ast::ExprCall, site: &Site<'a>) -> bool {
        let Some(first) = call.arguments.args.first() else { return false };
        self.is_dump(first, site, 3)
    }

    fn is_dump(&self, expr: &'a Expr, site: &Site<'a>, hops: u8) -> bool {
        match expr {
            Expr::Call(call) => match &*call.func {
                Expr::Name(name) => name.id.as_str() == "dumps",
                Expr::Attribute(attribute) => attribute.attr.as_str() == "dumps",
                _ => false,
            },
            Expr::Name(name) if hops > 0 => {
                let names = &self.walk.names;
                let Some(symbol) = names.find(&name.id) else { return false };
                let Some(at) = names.resolve(site.scope, symbol) else { return false };
                let mut bindings = names.bindings(at, symbol).peekable();
                bindings.peek().is_some()
                    && bindings.all(|b| match b.bound {
                        Bound::Value(value) => self.is_dump(value, site, hops - 1),
                        _ => false,
                    })
            }
            _ => false,
        }
    }
}

/// The flag by which imports for type checkers are told from those that run.
pub(super) fn is_type_checking(name: &str) -> bool {
    matches!(name, "typing.TYPE_CHECKING" | "typing_extensions.TYPE_CHECKING")
}
