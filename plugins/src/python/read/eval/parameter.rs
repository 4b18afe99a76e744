//! What parameters are given: fixtures by their names, the cases of a parametrized test, and
//! the arguments of a function whose every call is seen.

use owed_engine::facts::PathBase;
use ruff_python_ast::{self as ast, Expr};

use super::super::loads;
use super::super::place::{Place, Value};
use super::super::scope::{Bound, MODULE, ScopeId, ScopeKind, Symbol};
use super::super::walk::is_fixture;
use super::Eval;

impl<'a> Eval<'_, 'a> {
    /// Whether fixtures that describe the requesting test describe this file.
    pub(super) fn is_test_file(&self) -> bool {
        let stem = self.file.rsplit_once('.').map_or(self.file, |(stem, _)| stem);
        stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests"
    }

    pub(super) fn parameter(&self, name: &'a ast::ExprName, at: ScopeId) -> Value {
        let stem = self.file.rsplit_once('.').map_or(self.file, |(stem, _)| stem);
        match name.id.as_str() {
            "tmp_path" | "tmpdir" | "tmp_path_factory" | "tmpdir_factory" | "testdir" | "pytester" => {
                Value::Tmp
            }
            "datadir" | "original_datadir" | "lazy_datadir" if self.is_test_file() => {
                Value::Place(Place::new(PathBase::Module, stem))
            }
            "shared_datadir" | "lazy_shared_datadir" if self.is_test_file() => {
                Value::Place(Place::new(PathBase::Module, "data"))
            }
            _ => {
                // A fixture of the same file or class.
                let names = &self.names.walk.names;
                let Some(symbol) = names.find(&name.id) else { return Value::Unknown };
                let class = names.class_of(at);
                for scope in class.into_iter().chain([MODULE]) {
                    for binding in names.bindings(scope, symbol) {
                        if let Bound::Function(def, inner) = binding.bound
                            && def.decorator_list.iter().any(|d| is_fixture(&d.expression))
                        {
                            return self.returned(def, inner);
                        }
                    }
                }
                self.argument_of(name, symbol, at)
            }
        }
    }

    /// What a parameter is given, when every call of its function is seen: the literal
    /// cases of a parametrized test, the calls of a function inside a function.
    fn argument_of(&self, name: &'a ast::ExprName, symbol: Symbol, at: ScopeId) -> Value {
        let names = &self.names.walk.names;
        let Some((def, around)) = names.function_with(at) else { return Value::Unknown };
        if let Some(cases) = def.decorator_list.iter().find_map(|d| cases(&d.expression, &name.id)) {
            // Unpacked or computed cases are not seen.
            return cases.iter().map(|c| self.eval(c, around)).reduce(Value::or).unwrap_or(Value::Unknown);
        }
        if names.scope(around).kind != ScopeKind::Function || !def.decorator_list.is_empty() {
            return Value::Unknown;
        }
        let Some(position) =
            def.parameters.iter_non_variadic_params().position(|p| p.name().as_str() == name.id.as_str())
        else {
            return Value::Unknown;
        };
        let Some(own) = names.find(def.name.as_str()) else { return Value::Unknown };
        let Some(calls) = self.names.walk.calls_of(own, around) else { return Value::Unknown };
        let default = def.parameters.iter_non_variadic_params().nth(position).and_then(|p| p.default());
        let _ = symbol;
        let mut result = None;
        for (call, scope) in calls {
            let given = loads::argument(call, position, &name.id).or(default);
            let value = match given {
                Some(given) if !loads::is_open(call) => self.eval(given, scope),
                _ => Value::Unknown,
            };
            result = Some(result.map_or(value.clone(), |r: Value| r.or(value)));
        }
        result.unwrap_or(Value::Unknown)
    }
}

/// The cases of `@pytest.mark.parametrize("name", [...])` for one name.
fn cases<'a>(decorator: &'a Expr, name: &str) -> Option<&'a [Expr]> {
    let Expr::Call(call) = decorator else { return None };
    if !matches!(&*call.func, Expr::Attribute(a) if a.attr.as_str() == "parametrize") {
        return None;
    }
    let [
        Expr::StringLiteral(names),
        Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }),
        ..,
    ] = &*call.arguments.args
    else {
        return None;
    };
    (names.value.to_str() == name).then_some(elts)
}
