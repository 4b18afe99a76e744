//! Calls: methods of paths, operations with rules of their own, and rows of the table.

use owed_engine::facts::{ImportKind, Opaque};
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::super::loads::{self, argument};
use super::super::place::Value;
use super::super::rows::{Class, Entry, Row, TABLE};
use super::super::scope::flag;
use super::super::walk::Site;
use super::Judge;
use super::chain::shown;

impl<'a> Judge<'_, 'a> {
    pub(super) fn call(&mut self, call: &'a ast::ExprCall, expr: &'a Expr, site: &Site<'a>) {
        if let Expr::Attribute(attribute) = &*call.func
            && let Some((row, operation)) = TABLE.path_method(attribute.attr.as_str())
            && self.path_method(row, operation, attribute, call, site)
        {
            return;
        }
        if let Expr::Attribute(attribute) = &*call.func {
            if let Expr::Call(inner) = &*attribute.value
                && let Some(namespace) = self.namespace_call(inner, site)
                && !matches!(attribute.attr.as_str(), "keys" | "copy" | "__contains__")
            {
                self.opaque(namespace, Opaque::Eval, call.range(), site);
            }
            self.sql(attribute, call, site);
            self.inside_function(&attribute.value, Some(attribute.attr.as_str()), site);
        }
        self.type_checking(call, site);
        let relevant = match site.root {
            Some(symbol) => self.walk.may_matter(symbol) || self.walk.names.flags(symbol) & flag::LOCAL != 0,
            None => matches!(&*call.func, Expr::Attribute(_) | Expr::Call(_) | Expr::Named(_)),
        };
        if relevant {
            self.member_chain(&call.func, site);
            let found = self.qualified(&call.func, site);
            for name in &found {
                if self.special(name, call, site) {
                    continue;
                }
                match TABLE.entry(name) {
                    Entry::Row(row, operation) => self.row(row, &shown(operation, name), call, site),
                    Entry::Unlisted => {
                        if let Some((holder, "__getattribute__" | "__getattr__")) = name.rsplit_once('.') {
                            self.handed_on(holder, call.range(), site);
                        } else if !self.is_instance_member(name, &call.func, site) {
                            self.unlisted(name, call.range(), site);
                        }
                    }
                    Entry::Holder | Entry::Member => {}
                }
            }
            if found.is_empty() {
                self.unknown_receiver(call, site);
            }
        } else {
            self.unknown_receiver(call, site);
        }
        if self.paths {
            self.escapes_of(call, expr, site);
        }
    }

    /// A method of a path object. True when the receiver settles the matter.
    fn path_method(
        &mut self,
        row: &'static Row,
        operation: &str,
        attribute: &'a ast::ExprAttribute,
        call: &'a ast::ExprCall,
        site: &Site<'a>,
    ) -> bool {
        let method = attribute.attr.as_str();
        if method == "replace" && call.arguments.len() > 1 {
            return false;
        }
        if let Some(symbol) = site.root
            && !row.distinct
            && !self.walk.may_matter(symbol)
            && self.walk.names.flags(symbol) & flag::SELF == 0
        {
            return false;
        }
        // A module's function of the same name: `glob.glob`, `io.open`.
        if let Some(target) = self.names.import_of(&attribute.value, site.scope)
            && (target.name.is_none() || target.level > 0)
        {
            return false;
        }
        let value = self.eval.value(&attribute.value, site.scope);
        let value = match value {
            Value::Unknown => {
                let typed = self.names.any(&attribute.value, site.scope, |n| n.starts_with("pathlib."))
                    || matches!(&*attribute.value, Expr::Name(_) | Expr::Call(_) | Expr::Attribute(_))
                        && self.names.any(&call.func, site.scope, |n| n.starts_with("pathlib."));
                let elsewhere = self.names.any(&call.func, site.scope, |n| !n.starts_with("pathlib."));
                if !typed && (!row.distinct || elsewhere || self.is_own_object(&attribute.value, site)) {
                    return false;
                }
                Value::Unknown
            }
            // A string or an open file has other methods of these names.
            Value::Text { .. } | Value::OneOf(_) | Value::Memory | Value::Entries(_) | Value::Parents(_) => {
                return false;
            }
            value => value,
        };
        self.consumed.insert(attribute.value.range());
        self.cover(attribute.value.range());
        if row.class == Class::Writes || self.is_write(row, call, site) {
            self.write(operation, &value, call.range(), site);
        } else {
            self.read(row, operation, value, call, site);
        }
        true
    }

    /// Operations that are more than a row. True when dealt with.
    fn special(&mut self, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) -> bool {
        let range = call.range();
        let first = call.arguments.args.first();
        match name {
            "importlib.import_module"
            | "__import__"
            | "importlib.__import__"
            | "django.utils.module_loading.import_module" => {
                let value =
                    argument(call, 0, "name").map_or(Value::Unknown, |a| self.eval.value(a, site.scope));
                let package = argument(call, 1, "package").map(|a| self.eval.value(a, site.scope));
                for value in value.each() {
                    let (specifier, kind) = loads::module(value, package.clone());
                    self.claimed.insert(specifier.clone());
                    self.load(name, specifier, kind, range, site);
                }
            }
            "pytest.importorskip" => {
                let value =
                    argument(call, 0, "modname").map_or(Value::Unknown, |a| self.eval.value(a, site.scope));
                let site = Site { optional: true, ..*site };
                for value in value.each() {
                    let (specifier, kind) = loads::module(value, None);
                    self.claimed.insert(specifier.clone());
                    self.load(name, specifier, kind, range, &site);
                }
            }
            "importlib.util.find_spec"
            | "importlib.find_loader"
            | "pkgutil.find_loader"
            | "imp.find_module"
            | "importlib.util.resolve_name"
            | "pkgutil.resolve_name" => {
                let value =
                    argument(call, 0, "name").map_or(Value::Unknown, |a| self.eval.value(a, site.scope));
                let package = argument(call, 1, "package").map(|a| self.eval.value(a, site.scope));
                let site = Site { optional: true, ..*site };
                for value in value.each() {
                    let (specifier, kind) = loads::module(value, package.clone());
                    let kind = if kind == ImportKind::Dynamic { ImportKind::Resolve } else { kind };
                    self.claimed.insert(specifier.clone());
                    self.load(name, specifier, kind, range, &site);
                }
            }
            "importlib.util.spec_from_file_location" | "imp.load_source" | "imp.load_module" => {
                self.script(argument(call, 1, "location"), name, range, site);
            }
            "importlib.machinery.SourceFileLoader" | "importlib.machinery.SourcelessFileLoader" => {
                self.script(argument(call, 1, "path"), name, range, site);
            }
            "importlib.machinery.ExtensionFileLoader" => self.opaque(name, Opaque::Native, range, site),
            "runpy.run_path" => self.script(argument(call, 0, "path_name"), name, range, site),
            "runpy.run_module" => {
                let value =
                    argument(call, 0, "mod_name").map_or(Value::Unknown, |a| self.eval.value(a, site.scope));
                match loads::module(value, None) {
                    (module, ImportKind::Dynamic) => {
                        self.claimed.insert(module.clone());
                        self.load(name, module, ImportKind::Script, range, site);
                    }
                    (glob, kind) => self.load(name, glob, kind, range, site),
                }
            }
            "exec" | "eval" | "compile" => {
                self.code(name, call, site);
            }
            "pkgutil.iter_modules" | "pkgutil.walk_packages" => {
                let below = if name.ends_with("walk_packages") { "**" } else { "*" };
                let specifier = self.package_glob(first, below, site);
                let kind = if specifier.is_empty() { ImportKind::Computed } else { ImportKind::Glob };
                self.load(name, specifier, kind, range, site);
            }
            "hasattr" => {
                // Whether an interpreter has it is in the identity.
                if let Some(object) = first {
                    self.consumed.insert(object.range());
                }
            }
            "setattr" | "delattr" => self.set_attribute(call, site),
            "hash" => self.hash(call, site),
            "repr" | "str" | "ascii" | "format" => return false,
            "callable" => return false,
            "getattr" => self.getattr(call, site),
            "globals" => {
                self.found.whole.push(site.unit);
                if !self.is_looked_up(range) {
                    self.namespace_escapes(name, range, site);
                }
            }
            "vars" | "locals" | "dir" if call.arguments.is_empty() => {
                // Inside a function these are its own names.
                if !site.later {
                    self.found.whole.push(site.unit);
                }
                if name != "dir" && !self.is_looked_up(range) {
                    self.namespace_escapes(name, range, site);
                }
            }
            "vars" | "dir" => {
                if name == "vars"
                    && let Some(object) = first
                {
                    for holder in self.qualified(object, site) {
                        self.handed_on(&holder, range, site);
                    }
                }
                if let Some(object) = first {
                    self.consumed.insert(object.range());
                }
                if let Some(target) = first.and_then(|f| self.names.import_of(f, site.scope))
                    && target.name.is_none()
                {
                    self.load(name, loads::dotted(target), ImportKind::Star, range, site);
                }
            }
            "unittest.mock.patch" | "unittest.mock.patch.multiple" | "unittest.mock.seal" => {
                self.patch(argument(call, 0, "target"), name, range, site);
            }
            "unittest.mock.patch.object" | "unittest.mock.spy" | "unittest.mock.patch.multiple.object" => {
                self.patch_object(call, site);
            }
            "unittest.mock.create_autospec" => self.consume_object(first, site),
            "unittest.mock.patch.dict" => self.consume_object(argument(call, 0, "in_dict"), site),
            _ if name.starts_with("unittest.mock.") => self.mock_arguments(call),
            "pytest.mark.usefixtures" => self.fixtures_by_name(call, site),
            _ if name.starts_with("pytest.MonkeyPatch.") => self.monkeypatch(name, call, site),
            _ if name.starts_with("pytest.Pytester.") => self.pytester(name, call, site),
            "flask.Flask" | "quart.Quart" => self.web_folders(first, true, call, site),
            "flask.Blueprint" | "quart.Blueprint" => {
                self.web_folders(argument(call, 1, "import_name"), false, call, site);
            }
            "os.chdir" | "os.fchdir" | "contextlib.chdir" => {
                self.chdir(name, argument(call, 0, "path"), range, site)
            }
            "os.getenv" | "os.getenvb" => self.env(name, argument(call, 0, "key"), range, site),
            _ if name.starts_with("os.environ") => self.environ_method(name, call, site),
            _ if name.starts_with("sys.path.") => self.sys_path(name, call, site),
            _ if name.starts_with("sys.modules.") => self.sys_modules_method(name, call, site),
            "typing.get_type_hints"
            | "typing_extensions.get_type_hints"
            | "inspect.get_annotations"
            | "annotationlib.get_annotations" => self.type_hints(name, call, site),
            "typing.ForwardRef" | "typing_extensions.ForwardRef" | "annotationlib.ForwardRef" => {
                if !first.is_some_and(|a| matches!(a, Expr::StringLiteral(_))) {
                    self.opaque(name, Opaque::Eval, range, site);
                }
            }
            "fileinput.input" | "fileinput.FileInput" if call.arguments.args.is_empty() => {
                self.named(name, "argv", range, site);
                self.opaque(name, Opaque::Stdin, range, site);
            }
            "logging.config.dictConfig" | "logging.config.DictConfigurator" => {
                // Handlers and filters are named by their modules.
                let config = argument(call, 0, "config");
                if !config.is_some_and(|config| self.is_literal(config, site, 3)) {
                    self.opaque(name, Opaque::ComputedLoad, range, site);
                }
            }
            "timeit.timeit" | "timeit.repeat" | "timeit.Timer" => {
                let text = |argument: &&'a Expr| {
                    matches!(self.eval.value(argument, site.scope), Value::Text { .. } | Value::OneOf(_))
                };
                if argument(call, 0, "stmt").as_ref().is_some_and(text)
                    || argument(call, 1, "setup").as_ref().is_some_and(text)
                {
                    self.opaque(name, Opaque::Eval, range, site);
                }
                return false;
            }
            "logging.Formatter" | "logging.basicConfig" => self.log_format(name, call, site),
            "hypothesis.given" => self.given(name, call, site),
            _ if self.time(name, call, site) => {}
            "site.addsitedir" => self.search_path(first, "sys.path", range, site),
            _ => {
                if let Some(row) = TABLE.row(name)
                    && row.class == Class::Opaque
                    && row.reason == Some(Opaque::Subprocess)
                {
                    self.subprocess(name, call, site);
                } else {
                    return false;
                }
            }
        }
        true
    }

    /// A call of an operation with a row.
    fn row(&mut self, row: &'static Row, name: &str, call: &'a ast::ExprCall, site: &Site<'a>) {
        let range = call.range();
        match row.class {
            Class::Pure | Class::Load | Class::Sql => {}
            Class::Environ | Class::SysPath | Class::SysModules => {}
            Class::Pinned if self.is_given(row, call, site) => {}
            Class::Pinned => self.named(name, row.pin.as_deref().unwrap_or_default(), range, site),
            Class::Opaque => {
                let reason = row.reason.unwrap_or(Opaque::Unlisted);
                if self.is_given(row, call, site) {
                    if let Some(pin) = &row.given_pin {
                        self.named(name, pin, range, site);
                    }
                } else {
                    self.opaque(name, reason, range, site);
                }
            }
            Class::Unpickle => {
                if !self.is_own_dump(call, site) {
                    self.opaque(name, row.reason.unwrap_or(Opaque::Eval), range, site);
                }
            }
            Class::Resource => self.resource(row, name, call, site),
            Class::Reads | Class::Writes => {
                let positions = std::iter::once(row.path).chain(row.also);
                for (nth, position) in positions.enumerate() {
                    let keyword = if nth == 0 { row.keyword.as_deref().unwrap_or("\0") } else { "\0" };
                    let Some(path) = argument(call, position.into(), keyword) else {
                        if loads::is_open(call) {
                            self.read(row, name, Value::Unknown, call, site);
                        } else if row.optional {
                            self.read(row, name, Value::text("."), call, site);
                        } else if row.dotenv {
                            self.read(row, name, Value::text(".env"), call, site);
                        }
                        continue;
                    };
                    match path {
                        Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                            elts.iter().for_each(|path| self.path_argument(row, name, path, call, site));
                        }
                        path => self.path_argument(row, name, path, call, site),
                    }
                }
            }
        }
    }

    fn path_argument(
        &mut self,
        row: &'static Row,
        name: &str,
        path: &'a Expr,
        call: &'a ast::ExprCall,
        site: &Site<'a>,
    ) {
        self.consumed.insert(path.range());
        if matches!(path, Expr::NumberLiteral(n) if matches!(&n.value, ast::Number::Int(i) if i.as_u8() == Some(0)))
        {
            return self.opaque(name, Opaque::Stdin, call.range(), site);
        }
        let value = self.eval.value(path, site.scope);
        if row.class == Class::Writes || self.is_write(row, call, site) {
            self.write(name, &value, call.range(), site);
        } else {
            if value != Value::Unknown {
                self.cover(path.range());
            }
            for value in value.each() {
                self.read(row, name, value, call, site);
            }
        }
    }

    /// Whether the mode of an opening call is a literal that only writes.
    pub(super) fn is_write(&self, row: &Row, call: &'a ast::ExprCall, site: &Site<'a>) -> bool {
        let Some(at) = row.mode else { return false };
        let Some(mode) = argument(call, at.into(), "mode") else { return false };
        match self.eval.value(mode, site.scope) {
            Value::Text { text, exact: true, package: false } => {
                text.contains(['w', 'x']) || (text.contains('a') && !text.contains('+'))
            }
            _ => false,
        }
    }
}
