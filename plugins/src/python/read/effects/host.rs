//! The process around the program: environment, search path, loaded modules, children.

use owed_engine::facts::{EffectClass, ImportKind, Opaque, PathBase, Pin};
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::super::loads::{self, argument};
use super::super::place::Value;
use super::super::walk::Site;
use super::Judge;

impl<'a> Judge<'_, 'a> {
    pub(super) fn env(&mut self, name: &str, key: Option<&'a Expr>, range: TextRange, site: &Site<'a>) {
        match key.map(|k| self.eval.value(k, site.scope)) {
            Some(Value::Text { text, exact: true, package: false }) => {
                self.effect(name, EffectClass::Pinned(Pin::Env(text)), range, site);
            }
            _ => self.named(name, "whole-env", range, site),
        }
    }

    pub(super) fn environ_method(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        let range = call.range();
        match name.rsplit('.').next().unwrap_or("") {
            "get" | "pop" | "setdefault" | "__getitem__" | "__contains__" => {
                self.env("os.environ", call.arguments.args.first(), range, site);
            }
            "update" | "clear" | "__setitem__" | "__delitem__" => {}
            _ => self.named("os.environ", "whole-env", range, site),
        }
    }

    pub(super) fn sys_path(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        let range = call.range();
        let args = &call.arguments.args;
        match name.rsplit('.').next().unwrap_or("") {
            "insert" => self.search_path(args.get(1), "sys.path", range, site),
            "append" => self.search_path(args.first(), "sys.path", range, site),
            "extend" => self.search_path(args.first(), "sys.path", range, site),
            // Only takes places away that imports might have been found in.
            "remove" | "pop" => self.opaque("sys.path", Opaque::MutateGlobal, range, site),
            _ => self.opaque("sys.path", Opaque::Loader, range, site),
        }
    }

    /// A directory that joins the module search path.
    pub(super) fn search_path(
        &mut self,
        path: Option<&'a Expr>,
        name: &str,
        range: TextRange,
        site: &Site<'a>,
    ) {
        let Some(path) = path else { return self.opaque(name, Opaque::Loader, range, site) };
        if let Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) = path {
            for element in elts {
                self.search_path(Some(element), name, range, site);
            }
            return;
        }
        self.consumed.insert(path.range());
        match self.eval.value(path, site.scope).into_path() {
            Value::Place(place) if place.exact => {
                self.cover(path.range());
                self.effect(name, EffectClass::Bounded(place.expr()), range, site);
                // What later imports find depends on it, for every test of the process;
                // the fixture puts it back.
                if name == "sys.path" {
                    self.opaque(name, Opaque::MutateGlobal, range, site);
                }
            }
            Value::Tmp => self.opaque(name, Opaque::Tmp, range, site),
            _ => self.opaque(name, Opaque::Loader, range, site),
        }
    }

    /// Another working directory: relative paths read from now on are below it.
    pub(super) fn chdir(&mut self, name: &str, path: Option<&'a Expr>, range: TextRange, site: &Site<'a>) {
        let value = path.map_or(Value::Unknown, |p| {
            self.consumed.insert(p.range());
            self.eval.value(p, site.scope).into_path()
        });
        match value {
            Value::Tmp => {}
            Value::Place(place) => {
                if let Some(path) = path {
                    self.cover(path.range());
                }
                // Going back to where the program started changes nothing.
                if place.exact && place.base == PathBase::Cwd && place.path.is_empty() {
                    return;
                }
                self.effect(name, EffectClass::Bounded(place.expr()), range, site);
            }
            _ => self.opaque(name, Opaque::ComputedLoad, range, site),
        }
        self.opaque(name, Opaque::Cwd, range, site);
    }

    pub(super) fn sys_modules_method(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        let range = call.range();
        match name.rsplit('.').next().unwrap_or("") {
            "get" | "__getitem__" => self.sys_module(call.arguments.args.first(), range, site),
            "setdefault" => {
                self.sys_module(call.arguments.args.first(), range, site);
                self.opaque("sys.modules", Opaque::MutateGlobal, range, site);
            }
            // What is taken away is loaded again from where it was.
            "pop" | "__delitem__" | "clear" => self.opaque("sys.modules", Opaque::MutateGlobal, range, site),
            // The names of what is loaded: the state of the process, nothing of their files.
            "keys" | "__contains__" | "__len__" => self.opaque("sys.modules", Opaque::Host, range, site),
            _ => self.opaque("sys.modules", Opaque::Loader, range, site),
        }
    }

    /// A loaded module by its name. It was loaded by somebody else: nothing new is read.
    pub(super) fn sys_module(&mut self, key: Option<&'a Expr>, range: TextRange, site: &Site<'a>) {
        match key.map(|k| self.eval.value(k, site.scope)) {
            // `sys.modules[__name__]` is this module.
            Some(Value::Text { exact: true, package: true, .. }) => {
                self.found.whole.push(site.unit);
                self.opaque("sys.modules", Opaque::Host, range, site);
            }
            Some(Value::Text { text, exact: true, package: false }) => {
                self.claimed.insert(text.clone());
                self.load("sys.modules", text, ImportKind::StringRef, range, site);
                self.opaque("sys.modules", Opaque::Host, range, site);
            }
            // `sys.modules[cls.__module__]`: loaded by whoever made the object.
            _ if key.is_some_and(|k| matches!(k, Expr::Attribute(a) if a.attr.as_str() == "__module__")) => {
                self.opaque("sys.modules", Opaque::Host, range, site);
            }
            _ => self.opaque("sys.modules", Opaque::Loader, range, site),
        }
    }

    pub(super) fn subprocess(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        let range = call.range();
        match self.program(call, site) {
            Some(specifier) => {
                self.load("import", specifier, ImportKind::Script, range, site);
                self.cover(range);
                // Its closure is known; that its verdict may differ is not.
                self.opaque(name, Opaque::Host, range, site);
            }
            None => self.opaque(name, Opaque::Subprocess, range, site),
        }
    }

    /// The Python program that a call starts with this interpreter, when its arguments
    /// say so literally.
    fn program(&self, call: &'a ast::ExprCall, site: &Site<'a>) -> Option<String> {
        if call.arguments.find_keyword("cwd").is_some() || call.arguments.find_keyword("executable").is_some()
        {
            return None;
        }
        let first = argument(call, 0, "args")?;
        let words: Vec<Word> = match first {
            Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                elts.iter().map(|e| self.word(e, site)).collect()
            }
            Expr::StringLiteral(text) => text.value.to_str().split_whitespace().map(Word::of).collect(),
            // `create_subprocess_exec(sys.executable, "x.py")`
            _ if call.arguments.args.len() > 1 => {
                call.arguments.args.iter().map(|e| self.word(e, site)).collect()
            }
            _ => return None,
        };
        let mut words = words.into_iter();
        if !matches!(words.next()?, Word::Python) {
            return None;
        }
        loop {
            match words.next()? {
                Word::Text(flag) if flag == "-m" => match words.next()? {
                    Word::Text(module) if !module.starts_with("-") => return Some(module),
                    _ => return None,
                },
                Word::Text(flag)
                    if matches!(flag.as_str(), "-u" | "-B" | "-I" | "-E" | "-s" | "-S" | "-O" | "-OO") => {}
                Word::Text(text) if text.starts_with('-') => return None,
                Word::Text(text) => match Value::text(text).into_path() {
                    Value::Place(place) => return loads::script(&place),
                    _ => return None,
                },
                Word::Path(value) => match value {
                    Value::Place(place) => return loads::script(&place),
                    _ => return None,
                },
                Word::Python => return None,
            }
        }
    }

    fn word(&self, expr: &'a Expr, site: &Site<'a>) -> Word {
        if self.names.is(expr, site.scope, "sys.executable") {
            return Word::Python;
        }
        match self.eval.value(expr, site.scope) {
            Value::Text { text, exact: true, package: false } => Word::of(&text),
            value => Word::Path(value),
        }
    }
}

/// A word of a command line.
enum Word {
    /// The interpreter.
    Python,
    Text(String),
    /// Anything else.
    Path(Value),
}

impl Word {
    fn of(text: &str) -> Self {
        match text {
            "python" | "python3" => Self::Python,
            text => Self::Text(text.to_owned()),
        }
    }
}
