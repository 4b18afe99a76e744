//! Calls: functions that make paths, methods of paths and strings, functions of the file.

use owed_engine::facts::PathBase;
use ruff_python_ast::{self as ast, Expr};

use super::super::loads;
use super::super::place::{Place, Value};
use super::super::scope::{Bound, ScopeId};
use super::{Eval, prefix};

impl<'a> Eval<'_, 'a> {
    pub(super) fn call(&self, call: &'a ast::ExprCall, scope: ScopeId) -> Value {
        let args = &call.arguments.args;
        let first = args.first();
        if let Expr::Name(name) = &*call.func
            && self.names.is_builtin(&name.id, scope)
        {
            return match (name.id.as_str(), first) {
                ("str" | "fspath" | "bytes" | "repr", Some(arg)) => self.eval(arg, scope),
                ("sorted" | "list" | "tuple" | "set" | "reversed" | "iter", Some(arg)) => {
                    self.eval(arg, scope)
                }
                ("next", Some(arg)) => self.element(arg, None, scope),
                ("open" | "len" | "int" | "dict" | "bytearray", _) => Value::Memory,
                _ => Value::Unknown,
            };
        }
        let mut found = None;
        self.names.each(&call.func, scope, &mut |name| {
            if found.is_none() {
                found = function(name);
            }
        });
        if let Some(function) = found {
            return self.apply(function, call, scope);
        }
        if let Expr::Attribute(attribute) = &*call.func {
            let value = self.method(attribute, call, scope);
            if value != Value::Unknown {
                return value;
            }
        }
        self.local_call(call, scope)
    }

    /// A call of a function or method of this file.
    fn local_call(&self, call: &'a ast::ExprCall, scope: ScopeId) -> Value {
        let names = &self.names.walk.names;
        let (at, attr) = match &*call.func {
            Expr::Name(name) => {
                let Some(symbol) = names.find(&name.id) else { return Value::Unknown };
                (names.resolve(scope, symbol), symbol)
            }
            Expr::Attribute(a) if matches!(&*a.value, Expr::Name(n) if matches!(n.id.as_str(), "self" | "cls")) =>
            {
                let Some(symbol) = names.find(a.attr.as_str()) else { return Value::Unknown };
                (names.class_of(scope), symbol)
            }
            _ => return Value::Unknown,
        };
        let Some(at) = at else { return Value::Unknown };
        let mut bindings = names.bindings(at, attr);
        match (bindings.next().map(|b| b.bound), bindings.next()) {
            (Some(Bound::Function(def, inner)), None) => self.returned(def, inner),
            _ => Value::Unknown,
        }
    }

    fn apply(&self, function: Function, call: &'a ast::ExprCall, scope: ScopeId) -> Value {
        let args = &call.arguments.args;
        let mut values = args.iter().map(|a| match a {
            Expr::Starred(_) => Value::Unknown,
            a => self.eval(a, scope),
        });
        match function {
            Function::Join => {
                let Some(first) = values.next() else {
                    return Value::Place(Place::new(PathBase::Cwd, ""));
                };
                values.fold(first.into_path(), Value::join)
            }
            Function::Same => match values.next() {
                Some(value) => value.into_path(),
                None => Value::Unknown,
            },
            Function::Parent => values.next().unwrap_or(Value::Unknown).parent(),
            Function::Base => match values.next() {
                Some(Value::Place(place)) if place.exact => Value::text(place.name()),
                Some(Value::Tmp) => Value::Tmp,
                _ => Value::some_text(),
            },
            Function::Cwd => Value::Place(Place::new(PathBase::Cwd, "")),
            Function::Home => Value::Home,
            Function::Expand => match values.next().unwrap_or(Value::Unknown).into_path() {
                Value::Unknown => Value::Unknown,
                value => value,
            },
            Function::Tmp => Value::Tmp,
            Function::Memory => Value::Memory,
            Function::Names => Value::some_text(),
            Function::Entries => match values.next().map(Value::into_path) {
                Some(Value::Place(place)) => Value::Entries(place),
                Some(Value::Tmp) => Value::Tmp,
                None => Value::Entries(Place::new(PathBase::Cwd, "")),
                _ => Value::Unknown,
            },
            Function::Glob => match values.next() {
                Some(value) => match value.into_path() {
                    Value::Place(place) => Value::Entries(constant_part(place)),
                    Value::Tmp => Value::Tmp,
                    _ => Value::Unknown,
                },
                None => Value::Unknown,
            },
            Function::Package => match args.first().map(|a| self.eval(a, scope)) {
                Some(Value::Text { text, exact: true, package: false }) if !text.is_empty() => {
                    Value::Package { name: text, path: String::new(), exact: true }
                }
                Some(Value::Text { text, exact: true, package: true }) if text.is_empty() => {
                    Value::Place(Place::new(PathBase::Module, ""))
                }
                None => Value::Place(Place::new(PathBase::Module, "")),
                Some(Value::Unknown) => match args.first().and_then(|a| self.names.import_of(a, scope)) {
                    Some(target) => {
                        Value::Package { name: loads::dotted(target), path: String::new(), exact: true }
                    }
                    None => Value::Unknown,
                },
                _ => Value::Unknown,
            },
        }
    }

    fn method(&self, attribute: &'a ast::ExprAttribute, call: &'a ast::ExprCall, scope: ScopeId) -> Value {
        let args = &call.arguments.args;
        let receiver = self.eval(&attribute.value, scope);
        match attribute.attr.as_str() {
            "resolve" | "absolute" | "expanduser" | "as_posix" | "__str__" | "realpath" | "strip"
            | "rstrip" | "encode" | "decode" | "relto" => match receiver {
                Value::Memory => Value::Unknown,
                value => value,
            },
            "joinpath" | "join" | "joinpaths" if !matches!(receiver, Value::Text { .. }) => {
                args.iter().map(|a| self.eval(a, scope)).fold(receiver, Value::join)
            }
            "join" => match (&receiver, args.first()) {
                // `"/".join([HERE, "x"])`
                (Value::Text { text, exact: true, .. }, Some(Expr::List(list))) if text == "/" => list
                    .elts
                    .iter()
                    .map(|e| self.eval(e, scope))
                    .reduce(Value::join)
                    .unwrap_or(Value::Unknown),
                (Value::Text { text, exact: true, .. }, Some(Expr::List(list))) => list
                    .elts
                    .iter()
                    .map(|e| self.eval(e, scope))
                    .reduce(|a, b| a.concat(Value::text(text.as_str())).concat(b))
                    .unwrap_or(Value::Unknown),
                _ => Value::Unknown,
            },
            "with_name" | "with_suffix" | "with_stem" => match receiver {
                Value::Place(place) if place.exact => {
                    let name = args.first().map_or(Value::Unknown, |a| self.eval(a, scope));
                    match (attribute.attr.as_str(), name) {
                        ("with_name", name) => Value::Place(place.parent()).join(name),
                        ("with_suffix", Value::Text { text, exact: true, .. }) => {
                            let stem =
                                place.name().rsplit_once('.').map_or(place.name(), |(s, _)| s).to_owned();
                            Value::Place(place.parent().below(&format!("{stem}{text}"), true))
                        }
                        _ => Value::Place(place.parent().inside()),
                    }
                }
                other => other,
            },
            "iterdir" | "glob" | "rglob" | "walk" | "listdir" | "visit" => match receiver.into_path() {
                Value::Place(place) => Value::Entries(place),
                Value::Tmp => Value::Tmp,
                _ => Value::Unknown,
            },
            "format" => match receiver {
                Value::Text { text, package: false, .. } => prefix(&text, '{'),
                _ => Value::Unknown,
            },
            "split" | "lower" | "upper" | "title" | "replace" | "removeprefix" | "removesuffix"
                if matches!(receiver, Value::Text { .. }) =>
            {
                Value::some_text()
            }
            "open" | "read_text" | "read_bytes" | "read"
                if matches!(receiver, Value::Place(_) | Value::Tmp | Value::Memory) =>
            {
                Value::Memory
            }
            "relative_to" if matches!(receiver, Value::Place(_)) => Value::some_text(),
            _ if receiver == Value::Tmp => Value::Tmp,
            _ => Value::Unknown,
        }
    }
}

/// Functions whose result is a path or known not to be one.
#[derive(Clone, Copy)]
enum Function {
    Join,
    Same,
    Parent,
    Base,
    Cwd,
    Home,
    Expand,
    Tmp,
    Memory,
    Names,
    Entries,
    Glob,
    Package,
}

fn function(name: &str) -> Option<Function> {
    Some(match name {
        "pathlib.Path"
        | "pathlib.PurePath"
        | "pathlib.PosixPath"
        | "pathlib.WindowsPath"
        | "pathlib.PurePosixPath"
        | "pathlib.PureWindowsPath"
        | "os.path.join"
        | "py.path.local"
        | "anyio.Path"
        | "trio.Path"
        | "upath.UPath" => Function::Join,
        "os.path.abspath" | "os.path.realpath" | "os.path.normpath" | "os.path.normcase" | "os.fspath"
        | "os.fsencode" | "os.fsdecode" | "os.path.relpath" => Function::Same,
        "os.path.dirname" => Function::Parent,
        "os.path.basename" => Function::Base,
        "os.getcwd" | "os.getcwdb" | "pathlib.Path.cwd" => Function::Cwd,
        "pathlib.Path.home" => Function::Home,
        "os.path.expanduser" => Function::Expand,
        "os.listdir" | "os.path.splitext" | "os.path.split" => Function::Names,
        "os.scandir" => Function::Entries,
        "glob.glob" | "glob.iglob" => Function::Glob,
        "importlib.resources.files" | "importlib.resources.path" => Function::Package,
        "importlib.resources.as_file" => Function::Same,
        "io.StringIO"
        | "io.BytesIO"
        | "io.open"
        | "zipfile.ZipFile"
        | "tarfile.open"
        | "os.open"
        | "io.TextIOWrapper"
        | "tempfile.gettempprefix"
        | "subprocess.Popen"
        | "urllib.request.urlopen" => Function::Memory,
        name if name.starts_with("tempfile.") => Function::Tmp,
        name if name.starts_with("unittest.mock.") => Function::Memory,
        _ => return None,
    })
}

/// The directory before the first wildcard segment.
fn constant_part(place: Place) -> Place {
    match place.path.split('/').position(|s| s.contains(['*', '?', '['])) {
        Some(at) => {
            let path = place.path.split('/').take(at).collect::<Vec<_>>().join("/");
            Place { path, ..place }
        }
        None => place,
    }
}
