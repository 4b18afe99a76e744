//! Modules, fixtures and builtins by the names under which the effect table knows them, and
//! which names without a row must be called unlisted.

use ruff_python_ast::{self as ast, Expr};

use super::rows::{Entry, TABLE, is_stdlib};
use super::walk::Target;

/// The qualified name of an import, when the effect table knows its top-level module.
pub(super) fn imported(target: Target<'_>) -> Option<String> {
    if target.level > 0 {
        return None;
    }
    let module = module_of(target.module);
    // Most imports end here, before anything is put together.
    let standard = is_listed(module);
    if !standard && !TABLE.knows(module) {
        return None;
    }
    match target.name {
        Some(name) => Some(format!("{module}.{name}")).filter(|full| standard || TABLE.knows(full)),
        None => Some(module.to_owned()),
    }
}

/// The module by whose name the table knows `module`.
pub(super) fn module_of(module: &str) -> &str {
    match module {
        "mock" => "unittest.mock",
        "posixpath" | "ntpath" | "genericpath" => "os.path",
        "posix" | "nt" => "os",
        "pathlib2" => "pathlib",
        "importlib_resources" => "importlib.resources",
        "importlib_metadata" => "importlib.metadata",
        "_pickle" => "pickle",
        "_io" | "_pyio" => "io",
        "_datetime" | "_pydatetime" => "datetime",
        "_socket" => "socket",
        "_ssl" => "ssl",
        "_random" => "random",
        "_weakref" | "_weakrefset" => "weakref",
        "_signal" => "signal",
        "_imp" => "imp",
        "_sqlite3" => "sqlite3",
        "_collections" => "collections",
        "_functools" => "functools",
        "_operator" => "operator",
        "__builtin__" => "builtins",
        module => module,
    }
}

/// Whether every member of the module that has an effect is in the table. Tests are often
/// in a package of the project that is named like CPython's own.
pub(super) fn is_listed(module: &str) -> bool {
    is_stdlib(module) && module != "test" && !module.starts_with("test.")
}

/// Whether `name` is a module of the standard library with operations that have effects.
pub(super) fn is_module_with_effects(name: &str) -> bool {
    TABLE.is_holder(name) && is_listed(name)
}

/// Whether an operation without a row must be named as such.
pub(super) fn is_unlisted(name: &str) -> bool {
    is_listed(name) && name.contains('.') && matches!(TABLE.entry(name), Entry::Unlisted)
}

pub(super) fn without_builtins(name: &str) -> &str {
    name.strip_prefix("builtins.").unwrap_or(name)
}

/// What the fixtures of pytest and pytest-mock stand for.
pub(super) fn fixture(name: &str) -> Option<&'static str> {
    Some(match name {
        "monkeypatch" => "pytest.MonkeyPatch",
        "mocker" | "session_mocker" | "module_mocker" | "class_mocker" | "package_mocker" => "unittest.mock",
        "testdir" | "pytester" => "pytest.Pytester",
        _ => return None,
    })
}

/// Builtins with a row that says their call is harmless at import.
pub(super) fn is_pure_builtin(name: &str) -> bool {
    matches!(
        name,
        "set"
            | "frozenset"
            | "dict"
            | "list"
            | "tuple"
            | "str"
            | "int"
            | "float"
            | "bool"
            | "bytes"
            | "bytearray"
            | "complex"
            | "range"
            | "slice"
            | "len"
            | "sorted"
            | "min"
            | "max"
            | "sum"
            | "abs"
            | "round"
            | "chr"
            | "ord"
            | "repr"
            | "type"
            | "object"
            | "staticmethod"
            | "classmethod"
            | "property"
    )
}

/// `Optional[X]`, `X | None`, `Annotated[X, …]`: the first class in an annotation.
pub(super) fn unwrapped(annotation: &Expr) -> &Expr {
    match annotation {
        Expr::Subscript(s) => match &*s.slice {
            Expr::Tuple(t) => t.elts.first().map_or(annotation, unwrapped),
            inner => unwrapped(inner),
        },
        Expr::BinOp(op) if op.op == ast::Operator::BitOr => match &*op.left {
            Expr::NoneLiteral(_) | Expr::StringLiteral(_) => unwrapped(&op.right),
            Expr::Name(name) if name.id.as_str() == "str" => unwrapped(&op.right),
            left => unwrapped(left),
        },
        other => other,
    }
}
